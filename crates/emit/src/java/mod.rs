//! Tests of Java: JUnit classes, one for each class under test, and their replay on the user's JVM.

pub(crate) mod confined;
pub(crate) mod filled;
pub(crate) mod jvm;
pub(crate) mod kept;
pub(crate) mod literal;
pub(crate) mod making;
pub(crate) mod names;
pub(crate) mod noticed;
pub(crate) mod objects;
pub(crate) mod replay;
pub(crate) mod suite;
pub(crate) mod target;
