//! Reading the program under test.
//!
//! `reader.rs` reads programs of both languages. `companion.rs` adds generated C to a program: preconditions
//! (`precondition.rs`) and specifications of external functions. `old_program.rs` reads the old version, `shown_reachable.rs`
//! says which states of tests callers can reach, `subject.rs` selects the functions under test, and `error.rs` has the errors of planning and running.

pub(crate) mod companion;
mod error;
mod old_program;
pub(crate) mod precondition;
mod reader;
mod shown_reachable;
pub(crate) mod subject;

pub use error::{CampaignError, ExplainError, HelperParameters, PlanError, SubjectError};
pub use reader::{Program, ReadError, Reader};
