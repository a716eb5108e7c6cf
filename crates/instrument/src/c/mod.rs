//! C.

pub(crate) mod annotate;
pub(crate) mod probes;
pub(crate) mod state;
pub(crate) mod suggest;
pub(crate) mod text;
pub(crate) mod wrapper;
