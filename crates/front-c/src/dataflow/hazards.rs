//! Run-time hazards of a unit: divisions and memory accesses, as byte ranges of the preprocessed text.
//!
//! Probes for run-time errors are inserted around these ranges. Each hazard has the range of the instructions that it
//! is lowered to (`lower/body/expr.rs`, `lower/objects/aggregate.rs`), by which it is matched with an objective. The
//! order of evaluation matters, since an error ends a run: a division comes after both operands, a write after its
//! right side.
//!
//! Deliberately not here: probes, and accesses by calls and builtins.

use super::ast_walk::{body, preorder, read};
use super::body_walk::{has_temporary, range};
use super::object_names::{bare, plain, spelled};
use crate::clang::ast_enums::{CastKind as Cast, Opcode, Storage};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::clang::options::Options;
use crate::error::FrontError;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// An operation that can fail at run time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// The range to which its instructions are attributed.
    pub at: Range<usize>,
    /// The operation, or the reason why no probe can be inserted before it.
    pub kind: Result<HazardKind, HazardObstacle>,
}

/// A reason why no probe can be inserted before an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HazardObstacle {
    /// It contains a compound literal, which would not live long enough.
    Temporary,
    /// Both sides contain calls, in an order that the compiler chooses.
    OrderOfCalls,
    /// It accesses a part of a vector.
    VectorPart,
    /// A bit-field is in parentheses.
    BitFieldInParentheses,
}

/// An operation that can fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HazardKind {
    /// A division or remainder.
    Division {
        /// The whole expression and its left side, if the left side must be evaluated first.
        left: Option<(Range<usize>, Range<usize>)>,
        /// The divisor.
        right: Range<usize>,
    },
    /// A read or write of an object.
    Access {
        /// The lvalue; for a bit-field, the expression that it is a member of.
        object: Range<usize>,
        /// True if `object` is a pointer to the object.
        is_pointer: bool,
        /// The object that it is a part of.
        root: AccessBase,
        /// The assignment that is evaluated before the access, if any.
        after: Option<PrecedingAssignment>,
    },
    /// A read or write of a variable, or of a part at a constant offset: it can't fail.
    Fixed,
}

/// The object that an accessed object is a part of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccessBase {
    /// A variable of known size.
    Variable(String),
    /// The pointee of a pointer.
    Pointer,
    /// An unnamed object, or one of unknown size.
    Unknown,
}

/// An assignment with a right side that may end the run: its target is checked afterwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrecedingAssignment {
    /// The range of the assignment.
    pub whole: Range<usize>,
    /// The range of its right side.
    pub right: Range<usize>,
    /// True if the right side is a number.
    pub number: bool,
    /// True if it divides by the right side.
    pub divides: bool,
}

/// Returns the hazards of the wanted functions of a preprocessed text.
pub fn hazards(
    (file, options): (&Path, &Options),
    wanted: &BTreeSet<String>,
) -> Result<BTreeMap<String, Vec<Hazard>>, FrontError> {
    touchstone_base::on_deep_stack(|| {
        let mut found = BTreeMap::new();
        let mut bits = BTreeSet::new();
        read(file, options, |_, node| {
            preorder(node, &mut |node| {
                if node.kind == K::FieldDecl && node.is_bitfield {
                    bits.insert(node.id);
                }
            });
            if let Some(body) = body(node).filter(|_| wanted.contains(&node.name)) {
                let mut walk = Walk { bits: &bits, found: Vec::new(), seen: BTreeSet::new() };
                walk.node(body);
                found.insert(node.name.clone(), walk.found);
            }
        })?;
        Ok(found)
    })
}

struct Walk<'a> {
    /// The ids of bit-fields.
    bits: &'a BTreeSet<u64>,
    found: Vec<Hazard>,
    seen: BTreeSet<u64>,
}

impl Walk<'_> {
    fn node(&mut self, node: &AstNode) {
        if node.kind.is_absent() || !self.seen.insert(node.id) {
            return;
        }
        match &node.kind {
            // Not evaluated, or constant, or evaluated more than once.
            K::UnaryExprOrTypeTraitExpr
            | K::OffsetOfExpr
            | K::SpelledOffset
            | K::ConstantExpr
            | K::GenericSelectionExpr
            | K::ChooseExpr
            | K::GCCAsmStmt
            | K::MSAsmStmt
            | K::AtomicExpr => return,
            K::VarDecl if matches!(node.storage, Storage::Static | Storage::Extern) => return,
            K::CallExpr if is_unevaluated(node) => return,
            K::ImplicitCastExpr if node.cast == Cast::LValueToRValue => self.access(node, node.inner.first(), None),
            K::UnaryOperator if node.opcode.is_step() => {
                self.access(node, node.inner.first(), None);
            }
            K::BinaryOperator if matches!(node.opcode, Opcode::Slash | Opcode::Percent) => self.division(node),
            K::BinaryOperator if node.opcode == Opcode::Assign => self.assignment(node),
            K::CompoundAssignOperator => self.assignment(node),
            _ => {}
        }
        node.inner.iter().for_each(|child| self.node(child));
    }

    fn add(&mut self, at: &AstNode, kind: Result<HazardKind, HazardObstacle>) {
        if let Some(at) = range(at) {
            self.found.push(Hazard { at, kind });
        }
    }

    fn division(&mut self, node: &AstNode) {
        let [left, right] = node.inner.as_slice() else { return };
        let kind = match (range(node), range(left), range(right)) {
            _ if has_temporary(node) => Err(HazardObstacle::Temporary),
            _ if calls(left) && calls(right) => Err(HazardObstacle::OrderOfCalls),
            (Some(whole), Some(first), Some(right)) => {
                Ok(HazardKind::Division { left: (!is_quiet(left)).then_some((whole, first)), right })
            }
            _ => return,
        };
        self.add(node, kind);
    }

    fn assignment(&mut self, node: &AstNode) {
        let [left, right] = node.inner.as_slice() else { return };
        let divides = matches!(node.opcode, Opcode::SlashAssign | Opcode::PercentAssign);
        let copies = is_record(left) && right.kind == K::ImplicitCastExpr && right.cast == Cast::LValueToRValue;
        let at = if copies { right } else { node };
        if let Some((AccessBase::Variable(_), false)) = root(left) {
            self.add(at, Ok(HazardKind::Fixed));
            if let (true, Some(divisor)) = (divides, range(right)) {
                let division = HazardKind::Division { left: None, right: divisor };
                self.add(node, if has_temporary(right) { Err(HazardObstacle::Temporary) } else { Ok(division) });
            }
            return;
        }
        let after = (divides || !is_quiet(right)).then_some((node, right, divides));
        match after {
            Some(_) if has_temporary(node) => self.add(at, Err(HazardObstacle::Temporary)),
            Some(_) if calls(left) && calls(right) => self.add(at, Err(HazardObstacle::OrderOfCalls)),
            _ => self.access(at, Some(left), after),
        }
    }

    fn access(&mut self, at: &AstNode, lvalue: Option<&AstNode>, after: Option<(&AstNode, &AstNode, bool)>) {
        let Some(lvalue) = lvalue else { return };
        let root = match root(lvalue) {
            None => return,
            Some((AccessBase::Variable(_), false)) => return self.add(at, Ok(HazardKind::Fixed)),
            Some((root, _)) => root,
        };
        if has_temporary(lvalue) {
            return self.add(at, Err(HazardObstacle::Temporary));
        }
        if spelled(lvalue.ty.as_ref()).contains("__vector_size__") {
            return self.add(at, Err(HazardObstacle::VectorPart));
        }
        let member = bare(lvalue);
        let is_bits = |node: &AstNode| node.kind == K::MemberExpr && self.bits.contains(&node.link);
        let (object, is_pointer) = match member.inner.first().filter(|_| is_bits(member)) {
            Some(base) => (range(base), member.is_arrow),
            None => (range(lvalue), false),
        };
        // The address is saved at the beginning of the assignment.
        let begins =
            |whole: &AstNode| range(whole).map(|whole| whole.start) == object.as_ref().map(|object| object.start);
        let after = match after {
            None => None,
            Some((whole, ..)) if !begins(whole) => return self.add(at, Err(HazardObstacle::BitFieldInParentheses)),
            Some((whole, right, divides)) => match (range(whole), range(right)) {
                (Some(whole), Some(at)) => {
                    Some(PrecedingAssignment { whole, right: at, number: divides || is_bits(plain(right)), divides })
                }
                _ => return,
            },
        };
        if let Some(object) = object {
            self.add(at, Ok(HazardKind::Access { object, is_pointer, root, after }));
        }
    }
}

/// Returns true if the arguments of a call are not evaluated.
fn is_unevaluated(call: &AstNode) -> bool {
    let callee = call.inner.first().and_then(|callee| plain(callee).decl.as_ref());
    callee.is_some_and(|decl| {
        matches!(
            decl.name.as_str(),
            "__builtin_constant_p" | "__builtin_object_size" | "__builtin_dynamic_object_size" | "__builtin_va_start"
        )
    })
}

fn is_record(node: &AstNode) -> bool {
    let ty = spelled(node.ty.as_ref());
    let ty = ty.trim_start_matches("const ").trim_start_matches("volatile ");
    (ty.starts_with("struct ") || ty.starts_with("union ")) && !ty.contains(['*', '['])
}

/// Returns true if an expression runs code that need not return.
fn calls(node: &AstNode) -> bool {
    let mut found = false;
    preorder(node, &mut |node| found |= matches!(node.kind, K::CallExpr | K::StmtExpr | K::AtomicExpr));
    found
}

/// Returns true if evaluating an expression can't fail.
fn is_quiet(node: &AstNode) -> bool {
    let mut quiet = !calls(node);
    preorder(node, &mut |node| {
        quiet &= match &node.kind {
            K::ArraySubscriptExpr | K::VAArgExpr => false,
            K::MemberExpr => !node.is_arrow,
            K::UnaryOperator => node.opcode != Opcode::Star,
            K::BinaryOperator | K::CompoundAssignOperator => {
                !matches!(node.opcode.computed(), Opcode::Slash | Opcode::Percent)
            }
            _ => true,
        }
    });
    quiet
}

/// Returns the object that an lvalue is a part of, and true if the offset is computed; `None` for an rvalue.
fn root(lvalue: &AstNode) -> Option<(AccessBase, bool)> {
    let node = bare(lvalue);
    let child = node.inner.first();
    match &node.kind {
        K::DeclRefExpr => {
            let decl = node.decl.as_ref()?;
            let variable = matches!(decl.kind, K::VarDecl | K::ParmVarDecl);
            let ty = spelled(node.ty.as_ref());
            let root = if variable && !ty.contains("[]") {
                AccessBase::Variable(decl.name.clone())
            } else {
                AccessBase::Unknown
            };
            Some((root, false))
        }
        K::MemberExpr if node.is_arrow => behind(child?),
        K::MemberExpr => {
            let (of, computed) = root(child?)?;
            // There may be more elements than the size of the structure includes.
            let open = spelled(node.ty.as_ref()).ends_with("[]") && matches!(of, AccessBase::Variable(_));
            Some((if open { AccessBase::Unknown } else { of }, computed))
        }
        K::ArraySubscriptExpr => {
            let is_pointer = |node: &&AstNode| spelled(node.ty.as_ref()).contains(['*', '[']);
            let base = node.inner.iter().find(is_pointer)?;
            behind(base).map(|(of, _)| (of, true))
        }
        K::UnaryOperator if node.opcode == Opcode::Star => behind(child?).map(|(of, _)| (of, true)),
        K::UnaryOperator if node.opcode == Opcode::Extension => root(child?),
        K::ImplicitCastExpr | K::CStyleCastExpr if matches!(node.cast, Cast::NoOp | Cast::LValueBitCast) => {
            root(child?)
        }
        K::StringLiteral | K::PredefinedExpr | K::CompoundLiteralExpr => Some((AccessBase::Unknown, true)),
        _ => None,
    }
}

/// Returns the object that a pointee is a part of, and true if the offset is computed.
fn behind(pointer: &AstNode) -> Option<(AccessBase, bool)> {
    let node = bare(pointer);
    let child = node.inner.first();
    match (&node.kind, child) {
        (K::ImplicitCastExpr, Some(array)) if node.cast == Cast::ArrayToPointerDecay => root(array),
        (K::ImplicitCastExpr | K::CStyleCastExpr, Some(inner)) if matches!(node.cast, Cast::NoOp | Cast::BitCast) => {
            behind(inner)
        }
        (K::BinaryOperator, Some(left)) if matches!(node.opcode, Opcode::Plus | Opcode::Minus) => {
            let is_pointer = |node: &AstNode| spelled(node.ty.as_ref()).contains(['*', '[']);
            let of = if is_pointer(left) { left } else { node.inner.get(1)? };
            behind(of).map(|(root, _)| (root, true))
        }
        (K::UnaryOperator, Some(inner)) if node.opcode == Opcode::Amp => root(inner),
        _ => Some((AccessBase::Pointer, true)),
    }
}
