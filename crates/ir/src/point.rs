//! Points: places of the source that coverage speaks of.
//!
//! A point is marked by an [`crate::InstKind::Point`] instruction that does nothing. Criteria hang their labels on points
//! (Bardin et al.: a label is a location and a predicate); executing a program is the same with and without them.

use crate::{CondTag, Expr};
use std::sync::Arc;
use touchstone_base::{Span, define_id};

define_id! {
    /// A point of a function.
    PointId, "p"
}

/// A place of the source that coverage speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// The construct at the point.
    pub kind: PointKind,
    /// The source position.
    pub span: Span,
    /// Its source text (one line, white space folded, shortened).
    pub text: String,
    /// The variables that the source could read here, all initialised, if the creator of the point knows them; else
    /// those that points of the function read.
    pub variables: Option<Arc<[Expr]>>,
}

impl Point {
    /// Creates a point without a list of readable variables.
    pub fn new(kind: PointKind, span: Span, text: String) -> Point {
        Point { kind, span, text, variables: None }
    }
}

impl PointKind {
    /// The expressions of a point.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            PointKind::Statement | PointKind::TooDeep => vec![],
            PointKind::Value(expr)
            | PointKind::Decision(expr)
            | PointKind::Condition { value: expr, .. }
            | PointKind::Hazard(expr)
            | PointKind::Label { predicate: expr, .. } => vec![expr],
            PointKind::Store { address, value } => vec![address, value],
        }
    }
}

/// The construct at a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PointKind {
    /// A statement begins.
    Statement,
    /// The value of a side-effect-free expression is about to be computed for something that keeps or uses it: an
    /// assignment, an initialiser, a return, an argument, a switch.
    Value(Expr),
    /// A side-effect-free decision of several conditions that control flow asks for is about to be evaluated: its
    /// truth, `i1`. (One whose value is kept is a `Value`.)
    Decision(Expr),
    /// A value is about to be stored at a computed place, an element or what a pointer points to; neither side of the
    /// assignment has an effect.
    Store {
        /// The address.
        address: Expr,
        /// The stored value.
        value: Expr,
    },
    /// A side-effect-free condition is about to be evaluated.
    Condition {
        /// The condition.
        tag: CondTag,
        /// The condition, `i1`.
        value: Expr,
    },
    /// Something is about to be computed that has no defined value if this holds, `i1`.
    Hazard(Expr),
    /// A side-effect-free expression is about to be evaluated that is nested deeper than expressions of points are: criteria
    /// about expressions have to say that they left it out.
    TooDeep,
    /// A label that the program itself asks for.
    Label {
        /// Its name or number in the source.
        name: String,
        /// The predicate, of type `i1`.
        predicate: Expr,
    },
}
