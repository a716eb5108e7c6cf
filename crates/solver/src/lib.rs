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
//! Folders, each using only those before it: `terms/`, `models/` (assignments, domains, guesses), `sat/`, `search/` (paths and
//! how questions are answered), `float/` (search among floats).
//!
//! Queries that reach the SAT solver are recorded by a [`QueryLog`] and written as [`SmtScript`]s.
//!
//! Not here: programs, memory objects with addresses, files, printing.

mod float;
mod models;
mod random;
mod sat;
mod search;
mod terms;
mod unknown_reason;

pub use models::model::Model;
pub use search::constraint_path::Path;
pub use search::query_log::{LoggedQuery, QueryLog, Satisfiability};
pub use search::solver::{Answer, Config, Range, Side, Solver, Stats, Values};
pub use terms::display::DisplayTerm;
pub use terms::facts::Facts;
pub use terms::infix::Signedness;
pub use terms::smt_script::SmtScript;
pub use terms::term::{Array, ArrayId, Element, Op, Rel, Term, TermId, VarId};
pub use terms::term_store::Terms;
pub use touchstone_base::float::{FloatOp, Format as FloatFormat, Rounding};
pub use unknown_reason::Why;
