//! Nodes of clang's AST with the attributes that are used.
//!
//! Deliberately not here: how they are read (`ast_reader.rs`), and their meaning.

use crate::clang::ast_enums::{CastKind, Opcode, Storage, TagKind};
use crate::clang::kind::NodeKind;
use std::rc::Rc;

/// A position as clang prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RawLoc {
    /// An index into [`PositionReader::files`](crate::clang::ast_reader::Positions::files).
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub offset: u32,
    /// The length of the token at this position.
    pub token: u32,
}

/// A position with its macro expansion.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct AstPosition {
    /// The position that the user sees; `None` for synthesised code.
    pub expansion: Option<RawLoc>,
    /// The spelling location, if it is inside a macro or an argument of one.
    pub spelling: Option<Box<RawLoc>>,
    /// True if the spelling location is in an argument of the macro call at `expansion`.
    pub macro_argument: bool,
}

/// A type in clang's spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TypeText {
    /// As written.
    pub written: Rc<str>,
    /// The spelling without outer typedefs, where it differs.
    pub desugared: Option<Rc<str>>,
}

/// A reference to a declaration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct DeclRef {
    pub id: u64,
    pub kind: NodeKind,
    pub name: String,
    pub ty: Option<TypeText>,
}

/// A node of the AST.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct AstNode {
    pub id: u64,
    pub kind: NodeKind,
    pub loc: AstPosition,
    pub begin: AstPosition,
    pub end: AstPosition,
    pub name: String,
    /// The name for the linker.
    pub mangled: String,
    pub ty: Option<TypeText>,
    /// `argType` of `sizeof`, or the fixed underlying type of an enumeration.
    pub arg_type: Option<TypeText>,
    pub compute_lhs: Option<TypeText>,
    pub compute_result: Option<TypeText>,
    pub opcode: Opcode,
    pub cast: CastKind,
    pub value: Option<String>,
    pub storage: Storage,
    pub tag: TagKind,
    pub decl: Option<Box<DeclRef>>,
    /// `referencedMemberDecl`, `targetLabelDeclId`, `declId`, `ownedTagDecl.id` or `previousDecl`, depending on the
    /// kind.
    pub link: u64,
    pub has_init: bool,
    pub is_arrow: bool,
    pub is_postfix: bool,
    pub is_bitfield: bool,
    pub is_complete: bool,
    pub is_gnu_range: bool,
    pub is_inline: bool,
    pub is_implicit: bool,
    pub is_variadic: bool,
    pub is_thread_local: bool,
    pub is_selected: bool,
    pub has_else: bool,
    pub filler: Vec<AstNode>,
    pub inner: Vec<AstNode>,
}

impl AstNode {
    /// Returns the child at an index; `None` if it is absent.
    pub fn child(&self, index: usize) -> Option<&AstNode> {
        self.inner.get(index).filter(|node| !node.kind.is_absent())
    }
}
