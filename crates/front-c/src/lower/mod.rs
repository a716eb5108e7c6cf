//! Lowering: declarations, constants and function bodies become IR.
//!
//! `files.rs` goes through the files, `library.rs` through the models of what they call, `text.rs` through one of either.
//! `unit.rs` takes declarations in document order, with constants (`consts.rs`, `long_const.rs`), initialisers (`init.rs`,
//! `strings.rs`), constructors (`starters.rs`) and array parameters as declared (`arrays.rs`). `func.rs` is the state of one
//! body; `stmt.rs`, `decide.rs`, `expr.rs`, `place.rs`, `aggregate.rs` and `call.rs` are what most bodies are made of, the
//! other files one kind of value or one extension each.
//!
//! `unit.rs`, `consts.rs`, `func.rs`, `lifetimes.rs`, `place.rs`, `bits.rs` and `vla.rs` are one circle on purpose: they are
//! parts of one `impl Unit` and one `impl Lowerer`. A body is lowered where its declaration is read, and a body declares
//! and has constants, so neither comes first. There is no other circle here.
//!
//! Points are made in `points/`, by methods of the same `Lowerer` that are called here; nothing here imports it, and what
//! lowering has to keep for it is in `marks.rs`.

mod aggregate;
mod arrays;
mod assembly;
mod assumed;
mod atomic;
mod behind_void;
mod bit_width;
mod bits;
mod call;
mod complex;
pub(crate) mod consts;
mod decide;
mod expr;
pub(crate) mod files;
pub(crate) mod floats;
pub(crate) mod func;
mod hangs;
mod init;
mod library;
mod lifetimes;
mod long_const;
mod long_double;
mod long_math;
pub(crate) mod marks;
mod math;
mod overflow;
mod place;
mod starters;
mod stmt;
mod strings;
mod text;
mod unit;
mod variadic;
mod vector;
mod vla;
mod volatile;
mod wide;
