//! Names of objects for messages.

use super::actions::WrittenObject;
use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::{AstNode, TypeText};
use std::collections::BTreeSet;

/// Removes parentheses and casts.
pub(crate) fn plain(node: &AstNode) -> &AstNode {
    let mut node = node;
    while matches!(node.kind, K::ParenExpr | K::ImplicitCastExpr | K::CStyleCastExpr | K::ConstantExpr) {
        match node.inner.last() {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// Removes parentheses.
pub(crate) fn bare(node: &AstNode) -> &AstNode {
    let mut node = node;
    while let (K::ParenExpr, Some(inner)) = (&node.kind, node.inner.first()) {
        node = inner;
    }
    node
}

pub(crate) fn spelled(ty: Option<&TypeText>) -> &str {
    ty.map_or("", |ty| ty.desugared.as_deref().unwrap_or(&ty.written))
}

/// The context in which a function's objects are named.
pub(super) struct ObjectNaming<'a> {
    /// Variables with static storage.
    pub statics: &'a BTreeSet<u64>,
    /// The name of the function.
    pub function: &'a str,
}

impl ObjectNaming<'_> {
    /// Returns the object that an lvalue designates.
    pub fn target(&self, lvalue: &AstNode) -> WrittenObject {
        let node = bare(lvalue);
        let child = node.inner.first();
        match (&node.kind, child) {
            (K::DeclRefExpr, _) => {
                let decl = node.decl.as_deref();
                let name = decl.map_or(String::new(), |decl| decl.name.clone());
                WrittenObject { is_state: decl.is_some_and(|decl| self.statics.contains(&decl.id)), name }
            }
            // Members of the fixture belong to the test.
            (K::MemberExpr, Some(base)) if plain(base).kind == K::CXXThisExpr => {
                WrittenObject { is_state: false, name: member(node) }
            }
            (K::MemberExpr, Some(base)) if node.is_arrow => {
                WrittenObject { is_state: true, name: format!("{}{}", owner(base), member(node)) }
            }
            (K::MemberExpr, Some(base)) => {
                let outer = self.target(base);
                let name = match &bare(base).kind {
                    // A structure is named after its type, since its name is unknown through pointers.
                    K::DeclRefExpr | K::UnaryOperator => owner(base),
                    _ => outer.name,
                };
                WrittenObject { is_state: outer.is_state, name: format!("{name}{}", member(node)) }
            }
            (K::ArraySubscriptExpr, Some(base)) => self.behind(base, "[]"),
            (K::UnaryOperator, Some(pointer)) if node.opcode == Opcode::Star => self.behind(pointer, ""),
            (K::UnaryOperator, Some(inner)) => self.target(inner),
            _ => WrittenObject { is_state: false, name: String::new() },
        }
    }

    /// Returns the pointee of a pointer expression.
    pub fn behind(&self, pointer: &AstNode, index: &str) -> WrittenObject {
        let array = bare(pointer);
        if array.kind == K::ImplicitCastExpr
            && array.cast == Cast::ArrayToPointerDecay
            && let Some(inner) = array.inner.first()
        {
            let target = self.target(inner);
            return WrittenObject { name: format!("{}[]", target.name), ..target };
        }
        let node = plain(pointer);
        let through = |name: String| WrittenObject { is_state: true, name };
        match (&node.kind, node.inner.first()) {
            (K::DeclRefExpr, _) => {
                let decl = node.decl.as_deref();
                let name = decl.map_or("", |decl| decl.name.as_str());
                let of = match decl {
                    Some(decl) if self.statics.contains(&decl.id) => String::new(),
                    _ => format!(" of {}", self.function),
                };
                through(if index.is_empty() { format!("*{name}{of}") } else { format!("{name}{index}{of}") })
            }
            (K::UnaryOperator, Some(inner)) if node.opcode == Opcode::Amp => self.target(inner),
            (K::UnaryOperator, Some(inner)) if node.opcode.is_step() => self.behind(inner, index),
            (K::BinaryOperator | K::CompoundAssignOperator, Some(left)) => {
                let is_pointer = |node: &AstNode| spelled(node.ty.as_ref()).contains(['*', '[']);
                match node.inner.last() {
                    Some(right) if !is_pointer(left) && is_pointer(right) => self.behind(right, "[]"),
                    _ => self.behind(left, "[]"),
                }
            }
            (K::CallExpr, Some(callee)) => {
                let name = plain(callee).decl.as_ref().map_or("", |decl| decl.name.as_str()).to_string();
                through(format!("*{name}()"))
            }
            (K::StringLiteral | K::CompoundLiteralExpr, _) => WrittenObject { is_state: false, name: String::new() },
            _ => {
                let name = self.target(node).name;
                through(if index.is_empty() { format!("*{name}") } else { format!("{name}{index}") })
            }
        }
    }
}

fn member(node: &AstNode) -> String {
    // An anonymous struct or union has no name; its members belong to the enclosing one.
    if node.name.is_empty() { String::new() } else { format!(".{}", node.name.trim_start_matches("->")) }
}

/// Returns the type that an expression's members belong to, or that it points to: `stack` for `struct stack *`.
pub(super) fn owner(node: &AstNode) -> String {
    let written = node.ty.as_ref().map_or("", |ty| &*ty.written);
    let spelled =
        if written.contains('*') || spelled(node.ty.as_ref()) == written { written } else { spelled(node.ty.as_ref()) };
    let spelled = spelled.split(['*', '[']).next().unwrap_or_default();
    let words = spelled.split_whitespace();
    let words = words.filter(|word| !matches!(*word, "const" | "volatile" | "struct" | "union" | "restrict"));
    words.collect::<Vec<_>>().join(" ")
}
