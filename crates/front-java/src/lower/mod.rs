//! Lowering: what each function of the program is, and its body.
//!
//! Everything is a function of the IR: methods, dispatches, casts, class initialisers, what natives do. Nothing here runs
//! anything; functions are made when somebody asks for them.

mod array_copy;
mod arrays;
mod assigned;
mod body;
mod boxes;
mod builder;
mod callers;
mod cases;
mod contracts;
mod data;
mod described;
mod dispatch;
mod expression;
mod generics;
mod handles;
mod hazards;
mod heaps;
mod init;
mod insn;
mod known_classes;
mod logic;
mod looking;
mod making;
mod many;
mod marked;
mod natives;
mod origin;
mod outer;
mod planning;
mod present;
mod purity;
mod raw_memory;
mod reflect;
mod scenario;
mod sites;
mod sources;
mod streams;
mod stubs;
mod surroundings;
mod system;
mod throwing;
mod types;
mod values;
mod ways;
mod wide_texts;
mod world;

pub(crate) use boxes::Boxes;
pub use hazards::Implicit;
pub use looking::{BoxClass, Effect, Gives, Looks, Passed, Prepared, Preparing, Probe, Reads, Whose};
pub use marked::{Asked, Placed};
pub(crate) use origin::type_text;
pub(crate) use planning::Planned;
pub(crate) use present::{MADE, is_lambda};
pub use sources::{Source, Valued, When};
pub(crate) use types::STRING;
pub(crate) use world::{Data, Func, World, empty_module};
