//! Reading a Java program: source is compiled with the user's javac, initialisers run once, and what methods under test may
//! call becomes a module.

mod class_sources;
mod error;
mod java_program;
mod load_budget;
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
pub(crate) use reading::{ReadFor, read};
pub(crate) use short_sequences::FirstInputs;
pub(crate) use symbolic_heap::{AnyHeap, unmakeable};
