//! Java to IR: class files, where they come from, and what their code does.
//!
//! Bytecode says what happens; every class, the JDK's own included, is read when it is needed and lowered method by method.
//! Deliberately not here: any execution. Whoever runs the IR asks [`Program`] for functions as it meets them.

#![warn(missing_docs)]

mod described;
mod jdk;
mod located;
mod lower;
mod made;
mod marks;
pub mod path;
mod program;
mod tested;
mod world;

pub use described::Unspoken;
pub use jdk::{Compiled, Compiling, Jdk, JdkError, LABELS};
pub use located::{Located, LocatedJump};
pub use lower::{
    Asked, BoxClass, Effect, Gives, Implicit, Looks, Passed, Placed, Prepared, Preparing, Probe, Reads, Source, Valued,
    When, Whose,
};
pub use marks::{Jumps, Marks};
pub use program::{Program, ProgramError, Setup, release_of};
pub use tested::{Field, Kind, Loaded, Method, Shows, Visible};
pub use touchstone_classfile as classfile;
pub use world::{DescribedMethod, SpokenOf};
