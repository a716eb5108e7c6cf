//! The location of the older version that `--since` or `--old` names.

use crate::plan::args::Generate;
use crate::plan::git;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use touchstone_campaign::OldVersion;

/// Returns the older version as a directory.
pub fn find(options: &Generate) -> Result<Option<OldVersion>> {
    match (&options.since, &options.old) {
        (Some(revision), _) => since(options, revision).map(Some),
        (None, Some(directory)) => beside(options, directory).map(Some),
        (None, None) => Ok(None),
    }
}

fn since(options: &Generate, revision: &str) -> Result<OldVersion> {
    git::check_revision(revision)?;
    let near = options.files.first().and_then(|file| file.parent()).filter(|parent| !parent.as_os_str().is_empty());
    let of = git::root(near.unwrap_or(Path::new(".")))?;
    let root = options.out.join("old").join("version");
    git::check_out(&of, revision, &root)?;
    Ok(OldVersion { name: revision.to_string(), root, of })
}

/// Pairs files with the same path relative to the current directory, or to the common directory of all files.
fn beside(options: &Generate, directory: &Path) -> Result<OldVersion> {
    if !directory.is_dir() {
        bail!("--old {}: no directory is there; it has the files of the older version", directory.display());
    }
    let there = |of: &Path| {
        let inside = |file: &PathBuf| std::path::absolute(file).ok()?.strip_prefix(of).ok().map(Path::to_path_buf);
        options.files.iter().filter_map(inside).any(|file| directory.join(file).exists())
    };
    let here = std::env::current_dir()?;
    let own = options.files.first().and_then(|file| std::path::absolute(file).ok());
    let parents = own.iter().flat_map(|file| file.ancestors().skip(1));
    let of = std::iter::once(here.as_path()).chain(parents).find(|of| there(of)).unwrap_or(&here).to_path_buf();
    Ok(OldVersion { name: directory.display().to_string(), root: directory.to_path_buf(), of })
}
