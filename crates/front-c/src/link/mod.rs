//! The linked program and its environment.
//!
//! `linked_program.rs` holds the program under construction; `models.rs` lists the models of the C library; `externals.rs`
//! turns external functions and variables into inputs, `external_specs.rs` gives specified ones a body; `memory_rules.rs`
//! computes the objects that a pointer may point to; `program_startup.rs` runs constructors and destructors (`constructor.rs`)
//! around `main`; `cleanup.rs` removes unreferenced data types and files.
//!
//! There is no circle here; `program_startup.rs` is a part of `impl LinkedProgram`.

pub(crate) mod build_assumptions;
pub(crate) mod cleanup;
pub(crate) mod constructor;
pub(crate) mod external_specs;
pub(crate) mod externals;
pub(crate) mod linked_program;
pub(crate) mod memory_rules;
pub(crate) mod models;
mod program_startup;
