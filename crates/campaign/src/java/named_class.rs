//! Classes that are given by name instead of a file: `java.util.TreeMap`. They come from the JDK or from the class
//! path.
//!
//! The JDK's own source is used where it is installed (`lib/src.zip`). It is compiled as a part of its module, and
//! provides source decisions for every method that compiles to the same code.

use super::class_sources::ClassSet;
use super::error::JavaError;
use std::path::{Path, PathBuf};
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::path::{ClassPath, Jar};
use touchstone_front_java::{CompileOptions, Jdk, ProgramError};

/// The directories for sources of the JDK and for their compiled classes.
const SOURCES: &str = "touchstone-jdk-sources";
const CLASSES: &str = "touchstone-jdk-classes";

/// Returns the internal name of a class that is given instead of a file: a package, and a name that begins with a
/// capital letter.
pub(super) fn class(file: &Path) -> Option<String> {
    let text = file.to_str().filter(|_| !file.exists())?;
    let (package, name) = text.rsplit_once('.')?;
    let is_name = |part: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && part.chars().all(plain)
    };
    let is_class = name.starts_with(|c: char| c.is_ascii_uppercase()) && is_name(name);
    (is_class && package.split('.').all(is_name)).then(|| text.replace('.', "/"))
}

impl ClassSet {
    /// Adds the named classes. If their source does not compile, they have no source decisions.
    pub(super) fn add_named_classes(&mut self, tools: &Jdk, directory: &Path) -> Result<(), JavaError> {
        if self.named.is_empty() {
            return Ok(());
        }
        let path = ClassPath::new(&tools.home, &[]).map_err(|error| JavaError::Program(ProgramError::Path(error)))?;
        let of_jdk: Vec<(String, String)> =
            self.named.iter().filter_map(|class| Some((path.image().module_of_class(class)?, class.clone()))).collect();
        self.classes.append(&mut self.named);
        let modules: Vec<&String> = of_jdk.iter().map(|(module, _)| module).collect();
        // One compilation covers one module, and must not replace marks of other sources.
        let is_one = modules.windows(2).all(|pair| pair[0] == pair[1]) && self.marks.is_none();
        let Some(module) = modules.first().filter(|_| is_one) else { return Ok(()) };
        let within = directory.with_file_name(SOURCES);
        let sources = tools.sources().map_or(Vec::new(), |zip| unpacked(&zip, &of_jdk, &within));
        let compiled_to = directory.with_file_name(CLASSES);
        let how = CompileOptions { module: Some((module, &within)), ..CompileOptions::default() };
        if sources.is_empty() {
            return Ok(());
        }
        let Ok(compiled) = tools.compile(&sources, &[], &how, &compiled_to) else { return Ok(()) };
        let mut marks = compiled.marks;
        for (_, class) in &of_jdk {
            let used = path.find(class).ok().flatten().and_then(|found| ClassFile::read(&found.bytes).ok());
            let own = std::fs::read(compiled_to.join(format!("{class}.class"))).ok();
            let own = own.and_then(|bytes| ClassFile::read(&bytes).ok());
            if let (Some(used), Some(own)) = (used, own) {
                self.mismatched_methods += marks.keep_matching(&used, &own);
                self.with_source.insert(class.clone());
            }
        }
        self.marks = Some(marks);
        Ok(())
    }
}

/// Writes the sources of classes to a directory, as far as the archive has them.
fn unpacked(zip: &Path, classes: &[(String, String)], to: &Path) -> Vec<PathBuf> {
    let _ = std::fs::remove_dir_all(to);
    let Ok(zip) = Jar::open(zip) else { return Vec::new() };
    let mut sources = Vec::new();
    for (module, class) in classes {
        let outermost = class.split('$').next().unwrap_or(class);
        let file = to.join(format!("{outermost}.java"));
        let Ok(Some(text)) = zip.read(&format!("{module}/{outermost}.java")) else { continue };
        let folder = file.parent().unwrap_or(to);
        if std::fs::create_dir_all(folder).is_ok() && std::fs::write(&file, text).is_ok() && !sources.contains(&file) {
            sources.push(file);
        }
    }
    sources
}
