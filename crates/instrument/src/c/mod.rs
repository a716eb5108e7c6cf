//! Probes and labels in C: the compiler wrapper (`wrappers.rs`, `cc.rs`, `command.rs`, `toolchain.rs`, `trial.rs`, `clang_text.rs`, `system_headers.rs`), probes in preprocessed text (`probe.rs`,
//! `implied.rs`, `pieces.rs`, `errors.rs`, `state/`), labels in the user's text (`annotate.rs`), and the C that goes with them (`runtime.rs`).

pub(crate) mod annotate;
pub(crate) mod cc;
pub(crate) mod clang_text;
pub(crate) mod command;
pub(crate) mod errors;
pub(crate) mod frameworks;
pub(crate) mod implied;
pub(crate) mod messages;
pub(crate) mod one_run;
pub(crate) mod pieces;
pub(crate) mod probe;
pub(crate) mod refusals;
pub(crate) mod responses;
pub(crate) mod runtime;
pub(crate) mod state;
pub(crate) mod suggest;
pub(crate) mod system_headers;
pub(crate) mod toolchain;
pub(crate) mod trial;
pub(crate) mod wrappers;
