//! Tests of Java: JUnit classes, one for each class under test, and their replay on the user's JVM.
//!
//! There is no circle here: `java_target.rs` comes first, then the writers, `junit_suite.rs`, `junit_replay.rs`,
//! `existing_classes.rs` and `probed_junit_run.rs`.

pub(crate) mod assertions;
pub(crate) mod called_behaviour;
pub(crate) mod class_names;
pub(crate) mod existing_classes;
pub(crate) mod fixture_writer;
pub(crate) mod java_target;
pub(crate) mod junit_replay;
pub(crate) mod junit_suite;
pub(crate) mod jvm;
pub(crate) mod jvm_sandbox;
pub(crate) mod literal;
pub(crate) mod objects;
pub(crate) mod probed_junit_run;
pub(crate) mod reflective_construction;
