//! Fingerprints of a replay: equal fingerprints imply equal results. For C, a fingerprint covers the sources, their
//! preprocessed text, their flags and the compiler's file; for Java, all classes and the JVM's file. The suite of a
//! function has a fingerprint of its own.
//!
//! A fingerprint is `None` if one of its inputs cannot be read.

use crate::c::build::object_cache::executable_path;
use crate::c::files::suite_file::chunk_paths;
use crate::{Build, JavaTarget, Target};
use std::hash::{Hash, Hasher};
use std::path::Path;
use touchstone_base::WideHasher;

impl Target {
    /// Returns the fingerprint of the program that all suites are compiled against and run on.
    pub fn fingerprint(&self) -> Option<u128> {
        let mut hasher = WideHasher::default();
        match self {
            Target::C(build) => program_in_c(build, &mut hasher)?,
            Target::Java(target) => program_in_java(target, &mut hasher)?,
        }
        Some(hasher.wide())
    }

    /// Returns the fingerprint of the tests of a function, in the suite that begins with a file.
    pub fn suite_fingerprint(&self, suite: &Path, function: &str) -> Option<u128> {
        let mut hasher = WideHasher::default();
        match self {
            Target::C(_) => {
                for file in chunk_paths(suite).take_while(|file| file.exists()) {
                    contents(&file, &mut hasher)?;
                }
            }
            // Other methods add tests to the same file concurrently, so only the function's own tests count.
            Target::Java(target) => target.written_for(suite, function)?.hash(&mut hasher),
        }
        Some(hasher.wide())
    }
}

fn program_in_c(build: &Build, hasher: &mut WideHasher) -> Option<()> {
    program_file(Path::new(&build.cc), hasher)?;
    hasher.debug(&build.limits);
    for (index, unit) in build.units.iter().enumerate() {
        (&unit.flags, &unit.path).hash(hasher);
        contents(&unit.path, hasher)?;
        build.preprocessed.unit(build, index).text?.hash(hasher);
    }
    Some(())
}

fn program_in_java(target: &JavaTarget, hasher: &mut WideHasher) -> Option<()> {
    program_file(target.jvm.program(), hasher)?;
    hasher.debug(&target.limits);
    target.class_path.iter().chain([&target.shim]).try_for_each(|part| all_files(part, hasher))
}

/// Adds an executable by its path, size and modification time; reading it would take too long.
fn program_file(command: &Path, hasher: &mut WideHasher) -> Option<()> {
    let file = executable_path(command.to_str()?)?.canonicalize().ok()?;
    let data = file.metadata().ok()?;
    (file, data.len(), data.modified().ok()).hash(hasher);
    Some(())
}

/// Adds the contents of a file, or of all files of a directory in the order of their names.
fn all_files(path: &Path, hasher: &mut WideHasher) -> Option<()> {
    if !path.is_dir() {
        return contents(path, hasher);
    }
    let mut names: Vec<_> =
        std::fs::read_dir(path).ok()?.map(|entry| Some(entry.ok()?.file_name())).collect::<Option<_>>()?;
    names.sort();
    for name in names {
        name.hash(hasher);
        all_files(&path.join(name), hasher)?;
    }
    Some(())
}

fn contents(file: &Path, hasher: &mut WideHasher) -> Option<()> {
    let bytes = std::fs::read(file).ok()?;
    hasher.write_usize(bytes.len());
    hasher.write(&bytes);
    Some(())
}
