//! Intrinsics: methods of the JDK that the JVM implements, and those that depend on the environment, as IR.

mod array_copy;
pub(crate) mod boxing;
mod core_reflection;
mod natives;
mod nondeterminism;
mod number_formats;
mod raw_memory;
mod standard_streams;
mod system;
mod var_handles;
