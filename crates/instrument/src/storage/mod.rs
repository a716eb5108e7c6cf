//! Files that a measurement writes: its output directories and its cache.

mod content_cache;
mod output_directory;

pub(crate) use content_cache::ContentCache;
pub use content_cache::prune_content_cache;
pub use output_directory::{check_output_directory, clear_output_directory, create_output_directory};
