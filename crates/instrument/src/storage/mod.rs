//! What measurements keep on disk.

mod content_cache;
mod output_directory;

pub(crate) use content_cache::Kept;
pub use content_cache::prune_kept;
pub use output_directory::{check_own, clear_own, make_own};
