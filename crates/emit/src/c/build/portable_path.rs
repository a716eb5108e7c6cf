//! Paths in files that users commit: paths inside of the project are relative to the working directory of the run, so
//! that the project can be moved and renamed. Paths outside of it, for example of the system, stay absolute.

use crate::c::build::configuration::Build;
use crate::c::build::include_path::relative_path;
use std::path::{Component, Path, PathBuf};

/// The options that take a directory, in the same argument or in the next one.
pub(crate) const DIRECTORY_OPTIONS: [&str; 5] = ["-I", "-isystem", "-iquote", "-idirafter", "-L"];

/// The options that take a file in the next argument.
const FILE_OPTIONS: [&str; 2] = ["-include", "-imacros"];

/// Returns true if the next argument is a path.
pub(crate) fn takes_path(flag: &str) -> bool {
    DIRECTORY_OPTIONS.contains(&flag) || FILE_OPTIONS.contains(&flag)
}

/// The minimum number of components of a project's root: `/` and `/home` contain everything.
const MIN_ROOT_COMPONENTS: usize = 3;

/// The project that a program belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ProjectPaths {
    /// The working directory of the run.
    here: PathBuf,
    /// The root of the project.
    root: PathBuf,
}

impl ProjectPaths {
    /// Returns the project of a program with suites in a directory: the directory that contains the working directory,
    /// the suites and all sources, or the root of its working tree in git.
    pub(crate) fn of(suites: &Path, target: &Build) -> ProjectPaths {
        let here = Path::new(".").canonicalize().unwrap_or_default();
        let files = target.units.iter().map(|unit| unit.path.as_path()).chain([suites]);
        let common = files.filter_map(|path| path.canonicalize().ok()).fold(here.clone(), |root, path| {
            root.components().zip(path.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
        });
        let root = if common.components().count() < MIN_ROOT_COMPONENTS { here.clone() } else { common };
        let tree = root.ancestors().find(|directory| directory.join(".git").exists()).map(Path::to_path_buf);
        ProjectPaths { here, root: tree.unwrap_or(root) }
    }

    /// Returns a path as committed files contain it.
    pub(crate) fn path(&self, path: &str) -> String {
        let given = Path::new(path);
        if !given.is_absolute() {
            return path.to_string();
        }
        let absolute = given.canonicalize().unwrap_or_else(|_| normalised(given));
        // A link out of the project is still named inside of it.
        let inside = [absolute, normalised(given)].into_iter().find(|path| path.starts_with(&self.root));
        match inside.map(|path| relative_path(&path, &self.here)) {
            Some(relative) if relative.as_os_str().is_empty() => ".".to_string(),
            Some(relative) => relative.display().to_string(),
            None => path.to_string(),
        }
    }

    /// Returns compiler flags as committed files contain them.
    pub(crate) fn flags(&self, flags: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        let mut is_path = false;
        for flag in flags {
            let joined =
                DIRECTORY_OPTIONS.iter().find(|option| flag.len() > option.len() && flag.starts_with(**option));
            found.push(match (joined, flag.split_once('=')) {
                _ if is_path => self.path(flag),
                (Some(option), _) => format!("{option}{}", self.path(&flag[option.len()..])),
                (None, Some((option, value))) if option.starts_with("--") => format!("{option}={}", self.path(value)),
                // Mapped prefixes only concern the names of sources in objects and messages.
                (None, Some((option, _))) if option.ends_with("-prefix-map") => continue,
                _ => self.path(flag),
            });
            is_path = takes_path(flag);
        }
        found
    }
}

/// Returns a path without `.` and `..`.
fn normalised(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                found.pop();
            }
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_project_are_relative_and_others_stay() {
        let project = ProjectPaths { here: PathBuf::from("/no/where/p/build"), root: PathBuf::from("/no/where/p") };
        let check = |flags: &[&str], expected: &[&str]| {
            let flags: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
            assert_eq!(project.flags(&flags), expected);
        };
        check(
            &["-I/no/where/p/include", "-I/usr/include", "-I", "/no/where/p/x"],
            &["-I../include", "-I/usr/include", "-I", "../x"],
        );
        check(&["-include", "/no/where/p/build/../a.h", "-DX=/no/where/p"], &["-include", "../a.h", "-DX=/no/where/p"]);
        check(&["-fdebug-prefix-map=/no/where/p=.", "--sysroot=/no/where/p/root"], &["--sysroot=../root"]);
        check(&["-Iinclude", "/no/where/p/build"], &["-Iinclude", "."]);
        check(&["-isystem/no/where/p/sys", "-include-pch"], &["-isystem../sys", "-include-pch"]);
    }
}
