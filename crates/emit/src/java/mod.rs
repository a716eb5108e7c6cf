//! Tests of Java: JUnit classes, one for each class under test, and their replay on the user's JVM.

pub(crate) mod assertions;
pub(crate) mod existing_classes;
pub(crate) mod fixture_writer;
pub(crate) mod jvm;
pub(crate) mod jvm_sandbox;
pub(crate) mod literal;
pub(crate) mod names;
pub(crate) mod objects;
pub(crate) mod reflection;
pub(crate) mod replay;
pub(crate) mod suite;
pub(crate) mod target;
