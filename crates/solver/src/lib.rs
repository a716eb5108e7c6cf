//! Bit-vector terms and the questions a symbolic executor asks about them.
//!
//! [`Terms`] holds hash-consed, eagerly simplified terms. A [`Path`] is a satisfiable set of constraints that always
//! carries concrete models; [`Solver::branch`] splits it by a condition. Concrete models come first, as a method and
//! not as a cache only: a side that has a model is feasible at no cost, and where the models at hand are *all* models, a
//! side without one is proved infeasible. The SAT solver is asked last.
//!
//! ```
//! use touchstone_solver::{Config, Path, Rel, Side, Solver, Terms};
//! let mut terms = Terms::new();
//! let mut solver = Solver::new(Config::default());
//! let x = terms.var(32, "x");
//! let ten = terms.constant(32, 10);
//! let small = terms.cmp(Rel::Slt, x, ten);
//! let (Side::Feasible(yes), Side::Feasible(_)) = solver.branch(&mut terms, &Path::new(), small) else { panic!() };
//! assert_eq!(yes.model().eval(&terms, small), 1);
//! ```
//!
//! A float is its bit pattern, and its operations are terms like others ([`Terms::float`], [`Terms::fadd`] and so on).
//!
//! Not here: programs, memory objects with addresses, files, printing.

mod blast;
mod bounds;
mod circuit;
mod comparisons;
mod display;
mod enumerate;
mod facts;
mod float_circuit;
mod float_facts;
mod float_guess;
mod float_order;
mod float_rewrite;
mod float_search;
mod float_split;
mod guess;
mod memory;
mod model;
mod order;
mod partial;
mod path;
mod program;
mod rewrite;
mod sat;
mod search;
mod semantics;
mod solver;
mod term;
mod terms;
mod view;

pub use display::DisplayTerm;
pub use facts::Facts;
pub use model::Model;
pub use path::Path;
pub use solver::{Answer, Config, Range, Side, Solver, Stats, Values, Why};
pub use term::{Array, ArrayId, Element, Op, Rel, Term, TermId, VarId};
pub use terms::Terms;
pub use touchstone_base::float::{Format as FloatFormat, Op as FloatOp, Rounding};
