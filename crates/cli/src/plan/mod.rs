//! The command line: options, the additions of `touchstone.toml`, and the request that they become. Uses only
//! `output/`.

pub mod args;
pub mod cache_location;
pub mod config_trust;
pub mod git;
pub mod old_version;
pub mod project_file;
mod request;
