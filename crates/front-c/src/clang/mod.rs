//! clang: how it is invoked, and its AST as typed nodes.
//!
//! `options.rs` and `flags.rs` define how a file is compiled, `flag_effects.rs` what flags change, `compiler_version.rs`
//! which version of GNU C clang claims. `process.rs` runs clang (`watchdog.rs` ends it at a deadline), `clang_server.rs`
//! keeps one resident, `dump_pair.rs` requests the ASTs of two texts in one call and `dump.rs` holds an AST in serialised
//! form. `ast_reader.rs` reads it (JSON, or the format of `compact.rs`; `json_keys.rs`) as a
//! stream of nodes (`node.rs`) with typed attributes (`kind.rs`, `ast_enums.rs`). `ast_queries.rs` answers questions about
//! one node, `source_text.rs` maps positions to spans and source text.
//!
//! There is no circle here, and nothing uses a later folder. Deliberately not here: the meaning of any node.

pub(crate) mod ast_enums;
pub(crate) mod ast_queries;
pub(crate) mod ast_reader;
pub(crate) mod clang_server;
mod compact;
pub(crate) mod compiler_version;
pub(crate) mod dump;
pub(crate) mod dump_pair;
pub(crate) mod flag_effects;
pub(crate) mod flags;
pub(crate) mod fuzzing;
mod json_keys;
pub(crate) mod kind;
pub(crate) mod node;
pub(crate) mod options;
pub(crate) mod process;
pub(crate) mod source_text;
pub(crate) mod watchdog;
