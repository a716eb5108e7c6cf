//! What the user wants: options as clap sees them, what `touchstone.toml` adds to them, and the request that they become. Uses `output/` (options of reports) only.

pub mod args;
pub mod cache;
pub mod git;
pub mod old_version;
pub mod project_file;
mod request;
