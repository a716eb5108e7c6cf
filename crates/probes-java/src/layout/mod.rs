//! The probes of a class: which are requested, their numbers, and what a hit of each implies.

pub(crate) mod probe_layout;
pub(crate) mod probe_request;
pub(crate) mod statement_ends;
