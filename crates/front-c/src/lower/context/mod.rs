//! The translation unit and the function body under construction.
//!
//! `unit.rs` reads declarations in document order, those of types with `type_declarations.rs`, with constant expressions (`constants.rs`), initialisers
//! (`initialisers.rs`, `string_literals.rs`) and attributes (`constructors.rs`, `attributes.rs`). `func.rs` holds the state of
//! one body: blocks, registers, slots. `lvalue.rs` and `bit_fields.rs` lower designators of objects, `lifetimes.rs` ends
//! objects with their block, `empty_loops.rs` marks loops without an exit, `point_table.rs` registers program points.
//!
//! `unit.rs`, `type_declarations.rs`, `attributes.rs`, `constants.rs`, `func.rs`, `lifetimes.rs`, `empty_loops.rs`, `lvalue.rs` and `bit_fields.rs` form one circle:
//! a body is lowered where its declaration is read, and a body contains declarations and constant expressions.

pub(crate) mod attributes;
mod bit_fields;
pub(crate) mod constants;
mod constructors;
mod empty_loops;
pub(crate) mod func;
pub(crate) mod initialisers;
pub(crate) mod lifetimes;
pub(crate) mod lvalue;
pub(crate) mod point_table;
mod string_literals;
mod type_declarations;
pub(crate) mod unit;
