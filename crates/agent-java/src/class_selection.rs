//! Which classes get probes: the user's own.

use std::path::{Path, PathBuf};
use touchstone_classfile::ClassFile;
use touchstone_probes_java::TEST_PLACES;

/// Whose classes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// The user's program.
    Program,
    /// The user's tests.
    Tests,
    /// Libraries.
    Others,
}

/// Whose the classes from a place are: the user's are in directories of classes, and in jars of the project. What has no place was
/// compiled in memory.
pub fn whose(place: Option<&str>, root: Option<&Path>) -> Whose {
    let Some(place) = place else { return Whose::Program };
    let Some(path) = path_of(place) else { return Whose::Others };
    if place.ends_with('/') || path.extension().is_some_and(|extension| extension == "java") {
        return match TEST_PLACES.iter().any(|tests| path.ends_with(tests)) {
            true => Whose::Tests,
            false => Whose::Program,
        };
    }
    if root.is_some_and(|root| path.starts_with(root)) { Whose::Program } else { Whose::Others }
}

/// The file or directory that an address names.
pub fn path_of(place: &str) -> Option<PathBuf> {
    let place = place.strip_prefix("jar:").map_or(place, |inner| inner.split("!/").next().unwrap_or(inner));
    let path = place.strip_prefix("file:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        match byte {
            b'%' => bytes.push((digit(rest.next())? * 16 + digit(rest.next())?) as u8),
            other => bytes.push(other),
        }
    }
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

/// Whether a class was made of Java source.
pub fn is_of_source(class: &ClassFile) -> bool {
    class.source_file().is_some_and(|file| file.ends_with(".java"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_classes_and_jars_of_the_project_are_the_users() {
        let root = Some(Path::new("/home/me/a project"));
        let is_program = |place, root| whose(place, root) == Whose::Program;
        assert!(is_program(Some("file:/home/me/out/"), root));
        assert!(is_program(Some("file:/tmp/Main.java"), None));
        assert!(is_program(None, root));
        assert!(is_program(Some("file:/home/me/a%20project/core/target/core-1.jar"), root));
        assert!(is_program(Some("jar:file:/home/me/a%20project/app.jar!/"), root));
        assert!(!is_program(Some("file:/home/me/.m2/repository/junit-4.jar"), root));
        assert_eq!(whose(Some("file:/home/me/a%20project/target/test-classes/"), root), Whose::Tests);
        assert!(!is_program(Some("jrt:/java.compiler"), root));
    }
}
