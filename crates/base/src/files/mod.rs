//! The only IO of this crate: the way in which files are written, and the location of the user's cache directory.

mod atomic_write;
mod user_cache;

pub use atomic_write::{check_confined, remove_partial_files, write_atomically, write_beside, write_confined};
pub use user_cache::user_cache_dir;
