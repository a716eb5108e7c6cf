//! Goals on symbolic paths: which are open, what is near them, what was reached. Watching itself is in `exec/watch.rs`.

pub(crate) mod coverage;
pub(crate) mod distance;
pub(crate) mod tracker;
