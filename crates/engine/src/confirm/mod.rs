//! From inputs to a test: the reference interpreter runs them (`concrete.rs`), watched for goals (`watcher.rs`), and what
//! it saw is what the test expects (`testcase.rs`; `following.rs`: what more calls show), under a title (`description.rs`). Which of many inputs are taken is a little matter of taste (`fitting.rs`,
//! `rounding.rs`).

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
