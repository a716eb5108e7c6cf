//! The environment of the function under test.
//!
//! Tests are searched in an environment that tests can create: first calls, allocations that succeed, symbolic pointers
//! to whole objects. A proof must not rest on that. In [`Environment::Any`](crate::exec::executor::policy::Environment)
//! the same executor excludes nothing: the state left by earlier calls is an input (`inputs/globals.rs`), allocations
//! may fail (`allocation_failure.rs`), a write through one input pointer may change the pointees of others
//! (`overlap.rs`), and an external function may write everything that it can reach (`external_calls.rs`). The caveats
//! that a path rests on there are recorded with it (`caveats.rs`), so that a verdict can name the reason why it is open.
//!
//! The rules of the language hold in every environment: memory is accessed by types that may alias (the module's table
//! says which), and nothing is claimed about runs with undefined behaviour.
//!
//! Deliberately not here: the searches in that environment (`search/environment_check.rs`, `prover/induction.rs`).

mod allocation_failure;
mod caveats;
mod external_calls;
mod overlap;
