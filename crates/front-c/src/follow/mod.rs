//! What a text does to data and where it can go wrong, for probes: no IR, only places in the text.
//!
//! `text.rs` follows a preprocessed text of C, `cxx.rs` the tests of a C++ one; both go through bodies with `walk.rs`.
//! `followed.rs` is the result, which names no node; `visible.rs` says what can be looked at where a function ends, `naming.rs` what people call an object, `tree.rs` reads and goes
//! through trees. `hazards.rs` finds divisions and accesses of memory.
//!
//! `walk.rs` and `cxx.rs` know each other: the bodies of C++ tests are C but for a few nodes, which `cxx.rs` explains.

pub(crate) mod cxx;
pub(crate) mod followed;
pub(crate) mod hazards;
mod naming;
pub(crate) mod text;
mod tree;
mod visible;
mod walk;
