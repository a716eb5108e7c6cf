//! Calls as one term: `fold.rs` executes all paths of a call and merges them, `composition.rs` uses that at call sites.

mod composition;
mod fold;
