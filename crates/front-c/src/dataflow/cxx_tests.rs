//! GoogleTest tests in C++, as far as they consist of C.
//!
//! Their bodies and fixtures (`SetUp`, `TearDown`) are analysed like functions of C. A statement that is not C is
//! skipped and not instrumented. An assertion is recognised by the function that its macro calls; its arguments are
//! analysed if they are numbers or pointers.

use super::actions::{NodeOrigins, UnitDataFlow};
use super::ast_walk::{body, preorder};
use super::body_walk::{UnitFacts, asks, range};
use super::object_names::{plain, spelled};
use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_reader::{PositionReader, read_each};
use crate::clang::flags::flags_for;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::clang::options::Options;
use crate::clang::process::{self, ClangInput};
use crate::error::FrontError;
use std::path::Path;

/// The methods of tests and fixtures.
const METHODS: [&str; 3] = ["TestBody", "SetUp", "TearDown"];

/// Analyses the tests of a preprocessed C++ text, which is also in `file`.
pub fn test_data_flow(file: &Path, text: &str, options: &Options) -> Result<UnitDataFlow, FrontError> {
    touchstone_base::on_deep_stack(|| {
        let clang = process::find(options)?;
        let mut unit = UnitFacts::cxx(lines(text));
        let own = own_lines(text);
        for method in METHODS.into_iter().filter(|method| *method == "TestBody" || own.contains(&format!("{method}(")))
        {
            let mut flags = flags_for(file, options)?;
            flags.extend(["-Xclang".to_string(), format!("-ast-dump-filter={method}"), "-ferror-limit=0".to_string()]);
            let mut run = process::start(&clang, "-ast-dump=json", &flags, ClangInput::Cxx(file))?;
            let mut positions = PositionReader::default();
            let read = match run.output() {
                Some(output) => read_each(output, &mut positions, |node| {
                    if node.kind == K::CXXMethodDecl && node.name == method && body(&node).is_some() {
                        let name =
                            range(&node).map_or(String::new(), |at| class(text.get(at).unwrap_or_default(), method));
                        unit.test(&simplified(node), &name, &NodeOrigins::new());
                    }
                }),
                None => Ok(()),
            };
            // Errors in headers that only gcc understands are tolerated: tests that depend on them are not C.
            if let (Err(stderr), true) = (run.finish()?, unit.is_empty()) {
                return Err(FrontError::DoesNotCompile { file: file.to_path_buf(), stderr });
            }
            read.map_err(|error| FrontError::UnexpectedAst {
                file: file.to_path_buf(),
                what: error.to_string(),
                at: format!("line {} of clang's output", error.line()),
            })?;
        }
        Ok(unit.finish())
    })
}

/// Returns the class in `void Class::method()`; the method itself inside of its class.
fn class(text: &str, method: &str) -> String {
    // Line markers may occur inside a macro's expansion.
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let head = lines.take_while(|line| !line.starts_with('{')).collect::<Vec<_>>().concat();
    let before = head.split_once(&format!("::{method}")).map(|(before, _)| before);
    let name = before.and_then(|before| before.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
    name.map_or_else(|| method.to_string(), str::to_string)
}

/// Returns for each line marker the offset of the following line, its number in the source, and the marker's own line.
fn lines(text: &str) -> Vec<(usize, u32, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    for (count, line) in text.split_inclusive('\n').enumerate() {
        at += line.len();
        let number = line.strip_prefix("# ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        found.extend(number.map(|number| (at, number, count + 1)));
    }
    found
}

/// Returns the lines that are not from a system header.
fn own_lines(text: &str) -> String {
    let mut own = true;
    let mut made = String::new();
    for line in text.lines() {
        if line.starts_with("# ") {
            own = !line.rsplit('"').next().unwrap_or_default().split(' ').any(|flag| flag == "3");
        } else if own {
            made += line;
            made.push('\n');
        }
    }
    made
}

/// Removes the nodes that C++ puts around values of C.
fn simplified(mut node: AstNode) -> AstNode {
    while matches!(node.kind, K::ExprWithCleanups | K::MaterializeTemporaryExpr | K::CXXBindTemporaryExpr)
        && node.inner.len() == 1
    {
        node = node.inner.remove(0);
    }
    if matches!(node.kind, K::CXXStaticCastExpr | K::CXXReinterpretCastExpr | K::CXXConstCastExpr) {
        node.kind = K::CStyleCastExpr;
    }
    // A static method is no function of C, either.
    let callee = node.inner.first().and_then(|callee| plain(callee).decl.as_ref());
    if node.kind == K::CallExpr && callee.is_some_and(|decl| decl.kind == K::CXXMethodDecl) {
        node.kind = K::CXXMemberCallExpr;
    }
    // A structure of C has no constructor.
    if node.kind == K::VarDecl {
        let constructed = |child: &AstNode| child.kind == K::CXXConstructExpr && child.inner.is_empty();
        if node.inner.iter().any(constructed) {
            node.has_init = false;
            node.inner.retain(|child| !constructed(child));
        }
    }
    node.inner = node.inner.into_iter().map(simplified).collect();
    node
}

fn is_c_type(node: &AstNode) -> bool {
    let ty = spelled(node.ty.as_ref());
    !ty.contains("::") && !ty.contains(['&', '<', '(']) || node.kind == K::DeclRefExpr && !ty.contains(['&', '<'])
}

/// Returns true if an expression could be C. A method's result also counts as a value, of unknown origin.
pub(super) fn is_c(node: &AstNode) -> bool {
    match &node.kind {
        K::Absent
        | K::IntegerLiteral
        | K::CharacterLiteral
        | K::FloatingLiteral
        | K::StringLiteral
        | K::CXXBoolLiteralExpr
        | K::CXXNullPtrLiteralExpr
        | K::GNUNullExpr
        | K::UnaryExprOrTypeTraitExpr
        | K::ConstantExpr => return true,
        K::CXXMemberCallExpr => return is_c_type(node),
        K::DeclStmt | K::NullStmt | K::ReturnStmt | K::ImplicitValueInitExpr => {}
        K::ImplicitCastExpr if node.cast == Cast::FunctionToPointerDecay => {}
        // A bit-field has no address.
        K::MemberExpr if node.is_bitfield => return false,
        K::CallExpr
        | K::ImplicitCastExpr
        | K::VarDecl
        | K::CStyleCastExpr
        | K::ParenExpr
        | K::DeclRefExpr
        | K::MemberExpr
        | K::ArraySubscriptExpr
        | K::UnaryOperator
        | K::BinaryOperator
        | K::CompoundAssignOperator
        | K::ConditionalOperator
        | K::InitListExpr
        | K::CXXThisExpr
            if is_c_type(node) => {}
        _ => return false,
    }
    node.inner.iter().all(is_c)
}

/// An assertion of GoogleTest: the name of its macro, true if it compares strings, and its arguments.
pub(super) struct GtestAssertion<'n> {
    pub name: String,
    pub strings: bool,
    pub arguments: Vec<&'n AstNode>,
}

/// Recognises an assertion. All of them expand to `switch (0) case 0: default: if (const AssertionResult …) ; else …`.
pub(super) fn assertion(statement: &AstNode) -> Option<GtestAssertion<'_>> {
    let inside = |node: &AstNode, kind: K| node.kind == kind;
    let case = statement.inner.get(1).filter(|case| inside(statement, K::SwitchStmt) && inside(case, K::CaseStmt))?;
    let default = case.inner.last().filter(|default| inside(default, K::DefaultStmt))?;
    let asks = default.inner.last().filter(|asks| inside(asks, K::IfStmt))?;
    let declared = asks.inner.first().filter(|declared| inside(declared, K::DeclStmt))?;
    let result = declared.inner.first().filter(|variable| spelled(variable.ty.as_ref()).contains("AssertionResult"))?;
    let mut found = None;
    preorder(result, &mut |node| {
        if found.is_some() {
            return;
        }
        if node.kind == K::CXXConstructExpr && spelled(node.ty.as_ref()).contains("AssertionResult") {
            let arguments = node.inner.iter().take(1).collect();
            found = Some(GtestAssertion { name: "EXPECT_TRUE".to_string(), strings: false, arguments });
        } else if matches!(node.kind, K::CallExpr | K::CXXMemberCallExpr)
            && let Some((callee, arguments)) = node.inner.split_first()
            && let Some(decl) = plain(callee).decl.as_ref()
        {
            let kind = match decl.name.as_str() {
                "Compare" => "EQ",
                name => name.strip_prefix("CmpHelper").unwrap_or("THAT"),
            };
            let strings = kind.starts_with("STR");
            found =
                Some(GtestAssertion { name: format!("EXPECT_{kind}"), strings, arguments: arguments.iter().collect() });
        }
    });
    found
}

/// Returns an argument of an assertion as a value that is read; `None` if it is no value of C.
pub(super) fn passed(argument: &AstNode, strings: bool) -> Option<AstNode> {
    let mut node = argument;
    while node.kind == K::ImplicitCastExpr && node.cast == Cast::NoOp {
        node = node.inner.first()?;
    }
    let ty = spelled(node.ty.as_ref());
    let record = ty.starts_with("struct ") || ty.starts_with("union ") || ty.starts_with("class ");
    let bare = ty.trim_start_matches("const ").trim_start_matches("volatile ");
    let number = bare.contains('*')
        || bare.starts_with("enum ")
        || ["char", "short", "int", "long", "float", "double", "bool"].iter().any(|name| bare.ends_with(name));
    if !is_c(node) || (record && !ty.contains('*')) || !number {
        return None;
    }
    let is_object = match &node.kind {
        K::DeclRefExpr => node.decl.as_ref().is_some_and(|decl| decl.kind.is_variable()),
        K::MemberExpr | K::ArraySubscriptExpr => true,
        K::UnaryOperator => node.opcode == Opcode::Star,
        K::ParenExpr => {
            return node
                .inner
                .first()
                .and_then(|inner| passed(inner, strings))
                .map(|inner| AstNode { inner: vec![inner], ..node.clone() });
        }
        _ => false,
    };
    if !is_object {
        let text = |node: &AstNode| strings && matches!(plain(node).kind, K::DeclRefExpr | K::MemberExpr);
        return Some(node.clone()).filter(|node| asks(node) || text(node));
    }
    // It is bound to a reference, which is where it is read.
    let mut read = AstNode { kind: K::ImplicitCastExpr, cast: Cast::LValueToRValue, ..AstNode::default() };
    (read.id, read.ty) = (u64::MAX - node.id, node.ty.clone());
    (read.begin, read.end, read.inner) = (node.begin.clone(), node.end.clone(), vec![node.clone()]);
    Some(read)
}
