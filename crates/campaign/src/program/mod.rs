//! Reads the program under test.

pub(crate) mod companion;
mod error;
mod old_program;
pub(crate) mod precondition;
mod reader;
pub(crate) mod subject;

pub use error::{CampaignError, ExplainError, PlanError, SubjectError, Takes};
pub use reader::{Program, ReadError, Reader};
