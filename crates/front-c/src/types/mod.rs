//! C types: parsed from clang's spelling, with their layouts and their data types in the IR.
//!
//! `tokens.rs` splits a spelling, `typename.rs` parses it in a scope (`scope.rs`), `ctype.rs` defines the result and its
//! layout (`packing.rs`). `operand_type.rs` and `offsetof.rs` parse what clang's JSON contains only as source text: `typeof`
//! in a declarator, and members by name. `compatibility.rs` compares two types.
//!
//! Uses `clang/` only for options. Deliberately not here: nodes of the AST.

pub(crate) mod compatibility;
pub(crate) mod ctype;
pub(crate) mod offsetof;
mod operand_type;
pub(crate) mod packing;
pub(crate) mod scope;
pub(crate) mod tokens;
pub(crate) mod typename;
