//! Types: clang spells them as text; what they mean, their layout, their data types in the IR.
//!
//! `tokens.rs` cuts the text, `typename.rs` parses it in a scope (`scope.rs`), `ctype.rs` is the result with its layout
//! (`pack.rs`). `operand_type.rs` and `offsetof.rs` are for what clang's JSON leaves as text: `typeof` in a declarator and
//! members by name. `compatible.rs` compares two types.
//!
//! Uses `clang/` only for options. Deliberately not here: nodes.

pub(crate) mod compatible;
pub(crate) mod ctype;
pub(crate) mod offsetof;
mod operand_type;
pub(crate) mod pack;
pub(crate) mod scope;
pub(crate) mod tokens;
pub(crate) mod typename;
