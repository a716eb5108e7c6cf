//! The decision table: every decision of the source as a tree over its atomic conditions (Whalen et al., section III).
//!
//! A decision is an outermost boolean expression: what `if`, a loop or a ternary asks, or a boolean operator's value
//! that is only stored. Its leaves are conditions, numbered left to right in evaluation order. A leaf is lowered to one
//! branch that carries `(decision, condition)`. Different from the paper: the tree also has exclusive or, equivalence
//! and a conditional operator, so that MC/DC graphs can be computed for them.

use touchstone_base::{IndexMap, Span, define_id};

define_id! {
    /// A decision of a function.
    DecisionId, "d"
}
define_id! {
    /// A condition of a decision.
    CondId, "c"
}

/// One decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The construct that evaluates the decision.
    pub kind: DecisionKind,
    /// The source position.
    pub span: Span,
    /// Its source text (one line, white space folded).
    pub text: String,
    /// Its structure.
    pub tree: BoolTree,
    /// Its conditions, in evaluation order.
    pub conditions: IndexMap<CondId, Condition>,
}

/// The construct that evaluates a decision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DecisionKind {
    /// An `if`.
    If,
    /// A loop that tests before its body.
    While,
    /// A counting loop.
    For,
    /// A loop that tests after its body.
    DoWhile,
    /// A conditional operator.
    Ternary,
    /// Nothing: the value is stored, passed or returned.
    Value,
}

/// An atomic condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The source position.
    pub span: Span,
    /// Its source text.
    pub text: String,
}

/// The structure of a decision.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BoolTree {
    /// A leaf.
    Cond(CondId),
    /// A constant that the compiler folded: it has no condition and no branch.
    Const(bool),
    /// Negation.
    Not(Box<BoolTree>),
    /// Short-circuit and.
    And(Box<BoolTree>, Box<BoolTree>),
    /// Short-circuit or.
    Or(Box<BoolTree>, Box<BoolTree>),
    /// Exclusive or (also `!=` between truth values); both sides are evaluated.
    Xor(Box<BoolTree>, Box<BoolTree>),
    /// Equivalence (`==` between truth values); both sides are evaluated.
    Iff(Box<BoolTree>, Box<BoolTree>),
    /// A conditional operator inside a decision.
    Ite(Box<BoolTree>, Box<BoolTree>, Box<BoolTree>),
}

/// The decision and the condition that a branch evaluates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CondTag {
    /// The decision, in the branch's own function.
    pub decision: DecisionId,
    /// The condition.
    pub condition: CondId,
}
