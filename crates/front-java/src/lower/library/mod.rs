//! Intrinsics: methods of the JDK that the JVM implements, and those that depend on the environment, as IR.

mod array_copy;
pub(crate) mod boxing;
mod environment;
mod natives;
mod number_formats;
mod raw_memory;
mod reflection;
mod standard_streams;
mod system;
mod var_handles;
