//! Facts about functions and modules that are computed from their code.

pub mod callgraph;
pub mod cfg;
pub mod global_uses;
