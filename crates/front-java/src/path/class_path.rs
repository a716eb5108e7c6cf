//! Class lookup: the first entry of the class path that defines a class wins; the JDK comes first.

use super::{Image, Jar, PathError};
use std::path::{Path, PathBuf};

/// A class path.
#[derive(Debug)]
pub struct ClassPath {
    image: Image,
    entries: Vec<PathEntry>,
}

#[derive(Debug)]
enum PathEntry {
    Directory(PathBuf),
    Jar(Jar),
}

/// A class file that the lookup found.
#[derive(Debug)]
pub struct FoundClass {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The file, or the jar and its entry, for messages.
    pub origin: String,
    /// True if the class is the JDK's.
    pub of_jdk: bool,
}

impl ClassPath {
    /// Opens the JDK in a directory, and these directories and jars.
    ///
    /// # Errors
    /// If an entry is neither a directory nor a jar, or can't be read.
    pub fn new(java_home: &Path, entries: &[PathBuf]) -> Result<ClassPath, PathError> {
        let image = Image::open(&java_home.join("lib").join("modules"))?;
        let mut found = Vec::new();
        for entry in entries {
            if entry.is_dir() {
                found.push(PathEntry::Directory(entry.clone()));
            } else if entry.is_file() {
                let jar = Jar::open(entry)?;
                let more = jar.manifest("Class-Path")?.unwrap_or_default();
                found.push(PathEntry::Jar(jar));
                let beside = |name: &str| entry.parent().unwrap_or(Path::new("")).join(name);
                for more in more.split_whitespace().map(beside).filter(|path| path.exists() && !entries.contains(path))
                {
                    found.push(match more.is_dir() {
                        true => PathEntry::Directory(more),
                        false => PathEntry::Jar(Jar::open(&more)?),
                    });
                }
            } else {
                return Err(PathError::Missing(entry.clone()));
            }
        }
        Ok(ClassPath { image, entries: found })
    }

    /// Returns the JDK's image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Finds a class file by the internal name of the class.
    ///
    /// # Errors
    /// If an entry can't be read.
    pub fn find(&self, name: &str) -> Result<Option<FoundClass>, PathError> {
        if let Some(bytes) = self.image.class(name)? {
            let origin = format!("{}: {name}.class", self.image.file().display());
            return Ok(Some(FoundClass { bytes, origin, of_jdk: true }));
        }
        if name.split('/').any(|part| part.is_empty() || part == "..") {
            return Ok(None);
        }
        let file = format!("{name}.class");
        for entry in &self.entries {
            let (bytes, origin) = match entry {
                PathEntry::Directory(directory) => {
                    let path = directory.join(&file);
                    match std::fs::read(&path) {
                        Ok(bytes) => (Some(bytes), path.display().to_string()),
                        Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                        Err(source) => return Err(PathError::Unreadable { file: path, source }),
                    }
                }
                PathEntry::Jar(jar) => (jar.read(&file)?, format!("{}: {file}", jar.file().display())),
            };
            if let Some(bytes) = bytes {
                return Ok(Some(FoundClass { bytes, origin, of_jdk: false }));
            }
        }
        Ok(None)
    }
}
