//! The sources of a project, and the source of a class.

use super::loaded_classes::LoadedClass;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use touchstone_instrument::SOURCE_EXTENSIONS;

/// The sources of a project, by file name.
pub(super) struct ProjectSources {
    root: PathBuf,
    by_name: BTreeMap<String, Vec<PathBuf>>,
}

/// Directories in which builds generate sources.
const GENERATED: [&str; 2] = ["target/generated-sources", "build/generated"];

/// The source of a class.
pub(super) enum ClassSource {
    Source(PathBuf),
    /// The class is a test.
    Test(PathBuf),
    /// The build generated the source.
    Generated,
    Nothing,
}

impl ProjectSources {
    pub fn below(root: &Path, out: &Path) -> ProjectSources {
        let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let is_source =
            |name: &str| name.rsplit_once('.').is_some_and(|(_, extension)| SOURCE_EXTENSIONS.contains(&extension));
        let mut waiting = vec![root.to_path_buf()];
        while let Some(directory) = waiting.pop() {
            for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !name.starts_with('.') && path != *out => waiting.push(path),
                    Ok(kind) if kind.is_file() && is_source(&name) => found.entry(name).or_default().push(path),
                    _ => {}
                }
            }
        }
        found.values_mut().for_each(|paths| paths.sort_unstable());
        ProjectSources { root: root.to_path_buf(), by_name: found }
    }

    /// Returns true if a file is in the project.
    pub fn has_root_of(&self, file: &Path) -> bool {
        file.starts_with(&self.root)
    }

    /// Returns the source of a class: of several, the one nearest to the origin of the class.
    pub fn of(&self, loaded: &LoadedClass) -> ClassSource {
        let Some(name) = loaded.class.source_file() else { return ClassSource::Nothing };
        let package = loaded.class.name.rsplit_once('/').map_or("", |(package, _)| package);
        let in_package = |path: &&PathBuf| has_package(path, package);
        let all: Vec<&PathBuf> = self.by_name.get(&**name).into_iter().flatten().filter(in_package).collect();
        let is_generated =
            |path: &Path| path.ancestors().any(|folder| GENERATED.iter().any(|own| folder.ends_with(own)));
        let is_test = |path: &Path| path.ancestors().any(|folder| folder.ends_with("src/test"));
        let from = loaded.from.as_deref().unwrap_or(Path::new(""));
        let shared = |path: &Path| path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
        let nearest = all.iter().max_by_key(|path| shared(path));
        match nearest {
            Some(path) if is_generated(path) => ClassSource::Generated,
            Some(path) if is_test(path) => ClassSource::Test((*path).clone()),
            Some(path) => ClassSource::Source((*path).clone()),
            None => ClassSource::Nothing,
        }
    }
}

/// Returns true if a source file declares a package.
fn has_package(path: &Path, package: &str) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    let own = line.and_then(|rest| rest.split(';').next()).map_or("", str::trim);
    own.replace('.', "/") == package
}
