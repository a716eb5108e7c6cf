//! The location of the result cache: the command line, the environment, or the user's cache directory.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use touchstone_base::user_cache_dir;
use touchstone_campaign::CacheLocation;

/// The value that disables the cache.
pub const OFF: &str = "off";

/// Returns the cache directory, or `None` if the cache is disabled. `given` is the value of `--cache`.
pub fn directory(given: Option<&Path>) -> Option<PathBuf> {
    let said = given.map(Path::to_path_buf).or_else(|| path("TOUCHSTONE_CACHE"));
    match said {
        Some(said) if said == Path::new(OFF) => None,
        Some(said) => Some(said),
        None => user_cache_dir().map(|home| home.join("touchstone")),
    }
}

/// Returns the cache of `generate` and `prove`. There is none if the build has no fingerprint.
pub fn of_campaigns(given: Option<&Path>) -> Option<CacheLocation> {
    let directory = std::path::absolute(directory(given)?).ok()?;
    let program = std::env::current_exe().and_then(|program| program.metadata()).ok()?;
    let built = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let build = format!("{} {} {built}", env!("TOUCHSTONE_VERSION"), program.len());
    Some(CacheLocation { directory, build })
}

fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
