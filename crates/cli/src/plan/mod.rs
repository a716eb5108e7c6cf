//! What the user wants: options as clap sees them, and the request that they become. Uses `output/` (options of reports) only.

pub mod args;
mod request;
