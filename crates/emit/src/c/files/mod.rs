//! TODO

pub(crate) mod build_files;
pub(crate) mod checksum;
pub(crate) mod chunk;
pub(crate) mod edited_suites;
pub(crate) mod suite;
pub(crate) mod testcomp;
