//! Reading a Java program: sources are compiled with the user's javac, initialisers run once, and everything that
//! methods under test may call becomes a module.
//!
//! `class_sources.rs` finds and compiles the classes under test (`named_class.rs`: those given by name); `reading.rs`
//! makes a module of them, for which `loading.rs` loads the needed part of the JDK within a budget of work time.
//! The result is a [`JavaProgram`]; `symbolic_heap.rs`, `short_sequences.rs` and `observer_dependencies.rs` answer
//! questions about the fixtures of its methods.
//!
//! One circle: `class_sources.rs` and `named_class.rs`. Classes given by name are added to those given as files, and a
//! path that is no file may be such a name.

mod class_sources;
mod error;
mod java_program;
mod loading;
mod method_names;
mod named_class;
mod observer_dependencies;
mod reading;
mod short_sequences;
mod symbolic_heap;

pub(crate) use class_sources::{JavaFiles, is_java};
pub use error::JavaError;
pub(crate) use java_program::JavaProgram;
pub(crate) use reading::{ReadPurpose, read};
pub(crate) use short_sequences::InitialInputs;
pub(crate) use symbolic_heap::{SymbolicHeapRound, unmakeable};
