//! Selection of the classes that get probes: those of the user's project.

use std::path::{Path, PathBuf};
use touchstone_probes_java::TEST_CLASS_DIRECTORIES;

/// The origin of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassOrigin {
    /// The user's program.
    Program,
    /// The user's tests.
    Tests,
    /// A library.
    Library,
}

/// Returns the origin of the classes from a code source (a URL). The user's classes are in class directories and in jars of the project. A
/// class without a code source was compiled in memory.
pub fn origin_of(source: Option<&str>, root: Option<&Path>) -> ClassOrigin {
    let Some(source) = source else { return ClassOrigin::Program };
    let Some(path) = path_of(source) else { return ClassOrigin::Library };
    if source.ends_with('/') || path.extension().is_some_and(|extension| extension == "java") {
        return match TEST_CLASS_DIRECTORIES.iter().any(|tests| path.ends_with(tests)) {
            true => ClassOrigin::Tests,
            false => ClassOrigin::Program,
        };
    }
    if root.is_some_and(|root| path.starts_with(root)) { ClassOrigin::Program } else { ClassOrigin::Library }
}

/// Returns the path of a `file:` or `jar:file:` URL.
pub fn path_of(source: &str) -> Option<PathBuf> {
    let source = source.strip_prefix("jar:").map_or(source, |inner| inner.split("!/").next().unwrap_or(inner));
    let path = source.strip_prefix("file:")?;
    decoded(path.strip_prefix("//").unwrap_or(path))
}

/// Returns the class path in the manifest of a jar: URLs that are relative to the jar.
pub fn manifest_class_path(jar: &Path, urls: &str) -> Vec<PathBuf> {
    let folder = jar.parent().unwrap_or(Path::new("/"));
    let path = |url: &str| path_of(url).or_else(|| Some(folder.join(decoded(url)?)));
    urls.split_whitespace().filter_map(path).collect()
}

/// Decodes the path of a URL.
fn decoded(path: &str) -> Option<PathBuf> {
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

/// The beginning of the names of classes that probes call.
const PROBE_CLASSES: &[u8] = b"java/lang/Touchstone";

/// Returns true if a class has probes.
pub fn has_probes(bytes: &[u8]) -> bool {
    bytes.windows(PROBE_CLASSES.len()).any(|window| window == PROBE_CLASSES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_directories_and_jars_of_the_project_are_the_users() {
        let root = Some(Path::new("/home/me/a project"));
        let is_program = |source, root| origin_of(source, root) == ClassOrigin::Program;
        assert!(is_program(Some("file:/home/me/out/"), root));
        assert!(is_program(Some("file:/tmp/Main.java"), None));
        assert!(is_program(None, root));
        assert!(is_program(Some("file:/home/me/a%20project/core/target/core-1.jar"), root));
        assert!(is_program(Some("jar:file:/home/me/a%20project/app.jar!/"), root));
        assert!(!is_program(Some("file:/home/me/.m2/repository/junit-4.jar"), root));
        assert_eq!(origin_of(Some("file:/home/me/a%20project/target/test-classes/"), root), ClassOrigin::Tests);
        assert!(!is_program(Some("jrt:/java.compiler"), root));
        let found = manifest_class_path(Path::new("/tmp/boot.jar"), "file:/a%20b/c.jar ../lib/d.jar x/");
        assert_eq!(found, ["/a b/c.jar", "/tmp/../lib/d.jar", "/tmp/x/"].map(PathBuf::from));
    }
}
