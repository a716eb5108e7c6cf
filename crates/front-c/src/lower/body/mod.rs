//! Function bodies: statements, decisions, expressions and calls.
//!
//! `stmt.rs` lowers statements, `decide.rs` decisions, `expr.rs` scalar expressions, `call.rs` calls, `assumptions.rs` the
//! arguments of assumptions and assertions, `assembly.rs` inline assembly. `void_pointers.rs` infers the pointee type of a
//! `void *` from its casts.
//!
//! There is no circle of imports; the files call each other's methods on `Lowerer`, as the grammar does.

mod assembly;
mod assumptions;
mod call;
mod decide;
mod expr;
mod stmt;
mod void_pointers;
