//! Git commands: revisions and their files.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rejects a revision that git would read as an option.
pub fn check_revision(revision: &str) -> Result<()> {
    if revision.starts_with('-') || revision.is_empty() {
        bail!("`{revision}` is not a revision; try for example --since main");
    }
    Ok(())
}

/// Runs git in a directory and returns its output.
pub fn git(directory: &Path, arguments: &[&str]) -> Result<String> {
    run(Command::new("git").current_dir(directory).args(arguments), arguments[0])
}

/// Returns the root of the repository that contains a directory.
pub fn root(directory: &Path) -> Result<PathBuf> {
    let root = git(directory, &["rev-parse", "--show-toplevel"])?;
    Ok(PathBuf::from(root.trim_end_matches('\n')))
}

/// Writes all files of a revision to a directory. It uses an index of its own, so the user's index is not touched.
pub fn check_out(root: &Path, revision: &str, to: &Path) -> Result<()> {
    check_revision(revision)?;
    let tree = format!("{revision}^{{tree}}");
    let tree = git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &tree])
        .with_context(|| format!("`{revision}` is no revision of {}", root.display()))?;
    let to = std::path::absolute(to)?;
    if to.exists() {
        std::fs::remove_dir_all(&to).with_context(|| format!("can't remove {}", to.display()))?;
    }
    std::fs::create_dir_all(&to).with_context(|| format!("can't make {}", to.display()))?;
    let index = to.with_extension("index");
    let own = |arguments: &[&str]| {
        run(Command::new("git").current_dir(root).env("GIT_INDEX_FILE", &index).args(arguments), arguments[0])
    };
    own(&["read-tree", tree.trim_end()])?;
    let done = own(&["checkout-index", "--all", "--quiet", &format!("--prefix={}/", to.display())]);
    let _ = std::fs::remove_file(&index);
    done.map(|_| ())
}

fn run(command: &mut Command, verb: &str) -> Result<String> {
    let output = command.output().context("can't run git, which --since needs")?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        bail!("git {verb} failed: {}", error.trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
