//! Java class files to IR: a program is loaded class by class and lowered method by method, as a run or a search meets it.
//!
//! The bytecode is the specification of what happens; the JDK's own classes are lowered like the program's. The folders, each
//! of which uses only those before it:
//!
//! - [`path`]: where classes come from: the JDK's image, directories and jars;
//! - `classes`: the class table: loaded classes, their hierarchy, members and layouts;
//! - `coverage`: the source's view of a method's code: decisions, statements, expressions, switch labels;
//! - `lower`: bytecode to IR, with `lower/library` for methods that the JVM implements, and `lower/points` for the program
//!   points that coverage criteria need;
//! - `fixtures`: how tests construct the receiver and the arguments of a method, and how they observe the outcome;
//! - `program`: the program as its users see it: methods under test, growth, the JDK's compiler.
//!
//! Deliberately not here: any execution. An executor asks [`LazyProgram`] for functions as it calls them.

#![warn(missing_docs)]

mod classes;
mod coverage;
mod fixtures;
mod lower;
pub mod path;
mod program;

pub use classes::{MethodSpec, SpecifiedMethod};
pub use coverage::{
    ImplicitException, InstructionPredicate, JumpCounts, PointLocation, PointPosition, SourceMarks, ValueLocation,
    ValuePointLocation,
};
pub use fixtures::{
    ObjectObservers, ObservableType, ObservedObject, ObserverAccess, ObserverEffect, PassedValue, PreparedCall,
    SetUpCall, StateObserver, WrapperClass,
};
pub use program::{
    CodeLocations, CompileOptions, CompiledSources, ConditionJump, InitialiserEffect, Jdk, JdkError, LABELS_DIR,
    LazyProgram, LoadedFunctions, MemberVisibility, MethodKind, MethodUnderTest, ProgramError, ProgramSetup, SpecError,
    StaticField, release_of,
};
pub use touchstone_classfile as classfile;
