//! Suites on disk: C files that grow with every test, Test-Comp archives, files that build and run them, and the rule by which
//! files that their user edited are kept.

pub(crate) mod build_files;
pub(crate) mod c_suite;
pub(crate) mod checksum;
pub(crate) mod chunk;
pub(crate) mod edited_suites;
pub(crate) mod prologue;
pub(crate) mod staged_suite;
pub(crate) mod suite_file;
pub(crate) mod testcomp;
pub(crate) mod unity_replay;
