//! Concrete confirmation: from inputs to a test case.
//!
//! The reference interpreter executes the inputs (`concrete_run.rs`), in machines that `machine_setup.rs` prepares and
//! `machine_readback.rs` reads, with objects at two sets of addresses (`layout_independence.rs`); `goal_observer.rs`
//! observes goals, `run_record.rs` holds the result. `test_builder.rs` turns a path and its run into a test case, under
//! a title (`description.rs`); `call_session.rs` continues a test with more calls. Among many inputs of a path,
//! `length_preference.rs` and `minimisation.rs` prefer readable ones. `case.rs` renders a path as a case of its
//! function, `mutants.rs` creates mutants of a function.
//!
//! `machine_setup.rs` and `machine_readback.rs` are parts of one `impl Run`.

pub(crate) mod call_session;
pub(crate) mod case;
pub(crate) mod concrete_run;
pub(crate) mod description;
pub(crate) mod goal_observer;
mod layout_independence;
pub(crate) mod length_preference;
mod machine_readback;
mod machine_setup;
pub(crate) mod minimisation;
pub(crate) mod mutants;
pub(crate) mod run_record;
mod test_builder;
