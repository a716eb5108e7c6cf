//! clang: how it is run, and what it says.
//!
//! `options.rs` and `flags.rs` say how a file is compiled, `run.rs` runs clang (`watch.rs` ends it in time; `resident.rs` is one that stays),
//! `pair.rs` asks for two texts at once and
//! `dump.rs` keeps an answer. `read.rs` reads the answer (JSON, or what `compact.rs` reads as such; `keys.rs`) as a stream of nodes (`node.rs`),
//! whose words are types from then on
//! (`kind.rs`, `words.rs`); `shape.rs` is what a node says by itself, `source.rs` where it stands.
//!
//! No circle here, and nothing of the folders behind this one. Deliberately not here: what anything means.

mod compact;
pub(crate) mod dump;
pub(crate) mod flags;
pub(crate) mod fuzzing;
mod keys;
pub(crate) mod kind;
pub(crate) mod node;
pub(crate) mod options;
pub(crate) mod pair;
pub(crate) mod read;
pub(crate) mod resident;
pub(crate) mod run;
pub(crate) mod shape;
pub(crate) mod source;
pub(crate) mod watch;
pub(crate) mod words;
