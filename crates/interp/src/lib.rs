//! The concrete reference interpreter: small, evidently correct, and the oracle for everything else.
//!
//! A [`Machine`] runs functions of a module on concrete values and memory. It reports to an [`Observer`] the outcome of
//! every branch, the points that it passes and the output of the program, and ends with an [`End`]: a result, an exit
//! status, an error with its location, a limit, or the name of an unsupported operation. At a point and at the entry of
//! a function, an observer can evaluate pure expressions in a [`StateView`]. Calls use a frame stack of their own,
//! never the host's.
//!
//! The module must be free of [`touchstone_ir::verify`] errors; running another one may panic.
//!
//! Decisions that the instruction documentation leaves open:
//! - An undefined register may be copied and returned. Every other use, also as an argument or in a store, is
//!   [`touchstone_ir::ErrorKind::Uninitialised`].
//! - In a copy the source is checked before the destination. Checks of one access are in this order: null or invalid
//!   pointer, dead object, bounds, constant object, undefined bytes (or undefined value).
//! - A global that the module only declares has undefined bytes; reading them, or accessing memory beyond its size, is
//!   unsupported.
//! - A point counts no step: a run is the same with and without points.
//! - A pointer comparison or difference between objects compares addresses, except that different objects are never
//!   equal.
//!
//! One circle: `machine.rs` with the files that extend it (`builtins.rs`, `unwinding.rs`, `startup.rs`, `late_globals.rs`,
//! `device_registers.rs`, `environment_taint.rs`, `java.rs`, `c`) and with `state_view.rs` and `observer.rs`: a machine
//! shows its state to an observer.
//!
//! Deliberately not here: symbolic values, I/O, and rules of a source language, except for builtins that only one
//! language has (`c`, `java.rs`).

#![warn(missing_docs)]

pub mod arith;
mod builtins;
mod c;
mod decoded_code;
mod device_registers;
mod environment_taint;
mod java;
mod late_globals;
mod machine;
mod memory;
mod object_records;
mod observer;
mod startup;
mod state_view;
mod stores;
mod unsupported_operation;
mod unwinding;
mod value;

pub use c::printf::float_text;
pub use machine::{End, ExternalEffect, InputRequest, LimitKind, Limits, Machine, Provided};
pub use memory::{AddressLayout, ObjectInfo, ObjectKind};
pub use observer::{Event, NullObserver, Observer, PathRecorder};

pub use startup::{Startup, StartupOwner, started};
pub use state_view::StateView;
pub use touchstone_ir::PathHash;
pub use unsupported_operation::UnsupportedOperation;
pub use value::{ObjectId, Pointer, Value};
