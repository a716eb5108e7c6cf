//! Function bodies: statements, decisions, expressions and calls.
//!
//! `statements.rs` lowers statements, `decide.rs` decisions, `expr.rs` scalar expressions, `call.rs` calls,
//! `builtin_calls.rs` calls of recognised functions (`builtin_table.rs`), `assumptions.rs` the arguments of assumptions and
//! assertions, `assembly.rs` inline assembly. `void_pointers.rs` infers the pointee type of a
//! `void *` from its casts.
//!
//! There is no circle of imports. The files call each other's methods on `Lowerer`, since the grammar is recursive.

mod assembly;
mod assumptions;
mod builtin_calls;
mod builtin_table;
mod call;
mod decide;
mod expr;
mod statements;
mod void_pointers;
