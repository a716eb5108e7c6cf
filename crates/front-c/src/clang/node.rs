//! Nodes of clang's AST, with the attributes that somebody looks at.
//!
//! Deliberately not here: how they are read (`read.rs`), and any meaning.

use crate::clang::ast_enums::{CastKind, Opcode, Storage, TagKind};
use crate::clang::kind::NodeKind;
use std::rc::Rc;

/// A position as clang tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RawLoc {
    /// Index in [`Positions::files`](crate::clang::ast_reader::Positions::files).
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub offset: u32,
    /// Length of the token that starts here.
    pub token: u32,
}

/// A position with its macro history.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Position {
    /// Where the user sees it; `None` for synthesised code.
    pub expansion: Option<RawLoc>,
    /// Where it is written, if that is inside a macro (or an argument of one).
    pub spelling: Option<Box<RawLoc>>,
    /// It is written in an argument of the macro that stands at `expansion`.
    pub macro_argument: bool,
}

/// A type as clang spells it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TypeText {
    /// As written.
    pub written: Rc<str>,
    /// Without outer typedefs, where that differs.
    pub desugared: Option<Rc<str>>,
}

/// A mention of a declaration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct DeclRef {
    pub id: u64,
    pub kind: NodeKind,
    pub name: String,
    pub ty: Option<TypeText>,
}

/// A node of the AST, with the attributes that lowering looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Node {
    pub id: u64,
    pub kind: NodeKind,
    pub loc: Position,
    pub begin: Position,
    pub end: Position,
    pub name: String,
    /// The name that the linker sees.
    pub mangled: String,
    pub ty: Option<TypeText>,
    /// `argType` of sizeof, or the type that an enumeration is declared to have.
    pub arg_type: Option<TypeText>,
    pub compute_lhs: Option<TypeText>,
    pub compute_result: Option<TypeText>,
    pub opcode: Opcode,
    pub cast: CastKind,
    pub value: Option<String>,
    pub storage: Storage,
    pub tag: TagKind,
    pub decl: Option<Box<DeclRef>>,
    /// `referencedMemberDecl`, `targetLabelDeclId`, `declId`, `ownedTagDecl.id` or `previousDecl`: whichever the kind has.
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
    pub filler: Vec<Node>,
    pub inner: Vec<Node>,
}

impl Node {
    /// The child at an index; an absent one is `None`.
    pub fn child(&self, index: usize) -> Option<&Node> {
        self.inner.get(index).filter(|node| !node.kind.is_absent())
    }
}
