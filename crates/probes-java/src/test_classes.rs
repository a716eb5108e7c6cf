//! Recognition of test classes and test methods in class files.

use std::path::Path;
use touchstone_classfile::{Attribute, ClassFile, Constant, Member, access};

/// Directories into which build tools compile tests. Their classes are not measured.
pub const TEST_CLASS_DIRECTORIES: [&str; 4] = ["test-classes", "classes/java/test", "classes/kotlin/test", "bin/test"];

/// The extensions of source files whose classes are measured. Of Kotlin, only the bytecode is read.
pub const SOURCE_EXTENSIONS: [&str; 2] = ["java", "kt"];

/// Returns true if a class names a source file in a measured language.
pub fn has_known_source(class: &ClassFile) -> bool {
    let extension = class.source_file().and_then(|file| file.rsplit_once('.').map(|(_, extension)| extension));
    extension.is_some_and(|extension| SOURCE_EXTENSIONS.contains(&extension))
}

/// Annotations of test methods.
const ANNOTATIONS: [&str; 7] = [
    "Lorg/junit/Test;",
    "Lorg/junit/jupiter/api/Test;",
    "Lorg/junit/jupiter/api/RepeatedTest;",
    "Lorg/junit/jupiter/api/TestFactory;",
    "Lorg/junit/jupiter/api/TestTemplate;",
    "Lorg/junit/jupiter/params/ParameterizedTest;",
    "Lorg/testng/annotations/Test;",
];

/// Other names that only test classes refer to.
const OTHER_TEST_NAMES: [&str; 2] = ["junit/framework/TestCase", "Lorg/junit/runner/RunWith;"];

/// Returns true if a class from a directory or jar is a test class. Its fields are no state of the program.
pub fn is_test_class(class: &ClassFile, source: &Path) -> bool {
    let refers = |index: u16| match class.pool.get(index) {
        Ok(Constant::Utf8(text)) => ANNOTATIONS.iter().chain(&OTHER_TEST_NAMES).any(|name| &**text.text() == *name),
        _ => false,
    };
    let in_tests = TEST_CLASS_DIRECTORIES.iter().any(|directory| source.ends_with(directory));
    in_tests || (1..u16::try_from(class.pool.len()).unwrap_or(u16::MAX)).any(refers)
}

/// Returns true if a method of a test class is a test: by its annotations or, as in JUnit 3, by its name.
pub fn is_test_method(class: &ClassFile, method: &Member) -> bool {
    if method.is(access::STATIC) || !method.desc.ends_with(")V") {
        return false;
    }
    (method.name.starts_with("test") && &*method.desc == "()V") || has_annotation_name(class, method, &ANNOTATIONS)
}

/// The element of JUnit 4's and TestNG's annotations that names the expected exception.
const EXPECTED: [&str; 2] = ["expected", "expectedExceptions"];

/// Returns true if a test expects an exception by its annotation.
pub fn expects_exception(class: &ClassFile, method: &Member) -> bool {
    has_annotation_name(class, method, &ANNOTATIONS) && has_annotation_name(class, method, &EXPECTED)
}

/// Returns true if an annotation of a method refers to one of these names.
fn has_annotation_name(class: &ClassFile, method: &Member, names: &[&str]) -> bool {
    let is_name = |number: &[u8]| {
        let name = class.pool.text(u16::from_be_bytes([number[0], number[1]]));
        name.is_ok_and(|name| names.contains(&&**name.text()))
    };
    let refers = |attribute: &Attribute| match attribute {
        // The bytes are not parsed: a match of two bytes with the index of such a constant is almost certainly a
        // reference to it.
        Attribute::Other { name, bytes } if &**name == "RuntimeVisibleAnnotations" => bytes.windows(2).any(is_name),
        _ => false,
    };
    method.attributes.iter().any(refers)
}
