//! Lowering: declarations, constants and function bodies become IR.
//!
//! Folders, each of which uses only those before it:
//!
//! - `context/`: the translation unit and the function under construction, constant evaluation, lvalues, initialisers;
//! - `numbers/`: arithmetic types that no register holds, and the builtins of arithmetic;
//! - `objects/`: objects that need more than loads and stores: aggregates, variable-length arrays, variadic arguments,
//!   volatile and atomic objects;
//! - `body/`: statements, decisions, expressions and calls;
//! - `driver/`: files and models of the C library, each lowered as one translation unit.
//!
//! Most files are parts of one `impl Lowerer` or one `impl Unit`. Methods call each other across folders without an import;
//! the order is that of types and free functions.
//!
//! Program points are emitted by `points/`, with methods of the same `Lowerer` that are called from here. Nothing here
//! imports that folder; the state that lowering keeps for it is in `context/point_table.rs`.

pub(crate) mod body;
pub(crate) mod context;
pub(crate) mod driver;
pub(crate) mod numbers;
mod objects;
