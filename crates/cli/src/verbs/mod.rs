//! The commands, one file each: from options to an exit code. They use `plan/` and `output/`; libraries do the work.
//!
//! One circle: `run.rs` and `run_java.rs`. Both are the command `run`, one for each language, with one form of output.

pub mod annotate;
pub mod cache;
pub mod cc;
pub mod explain;
pub mod generate;
pub mod init;
pub mod instrument;
mod interrupt;
pub mod measure;
pub mod objectives;
pub mod plan_classes;
pub mod report;
pub mod run;
mod run_java;
pub mod summary;
