//! Where results of earlier runs are: what the command line or the environment says, else the user's cache directory.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use touchstone_campaign::CacheIn;

/// The word for no cache at all.
pub const OFF: &str = "off";

/// The directory of the cache, if there is to be one; `given` is what `--cache` says.
pub fn directory(given: Option<&Path>) -> Option<PathBuf> {
    let said = given.map(Path::to_path_buf).or_else(|| path("TOUCHSTONE_CACHE"));
    match said {
        Some(said) if said == Path::new(OFF) => None,
        Some(said) => Some(said),
        None => {
            let home = path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")));
            home.filter(|home| home.is_absolute()).map(|home| home.join("touchstone"))
        }
    }
}

/// The same for a campaign. Without anything that tells this program from one that was built before it there is none.
pub fn of_campaigns(given: Option<&Path>) -> Option<CacheIn> {
    let directory = std::path::absolute(directory(given)?).ok()?;
    let program = std::env::current_exe().and_then(|program| program.metadata()).ok()?;
    let built = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let build = format!("{} {} {built}", env!("TOUCHSTONE_VERSION"), program.len());
    Some(CacheIn { directory, build })
}

fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
