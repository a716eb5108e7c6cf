//! Which classes and methods are tests, as far as class files tell.

use std::path::Path;
use touchstone_classfile::{Attribute, ClassFile, Constant, Member, access};

/// Directories that compilers put tests into: what tests do to check a program is no part of it.
pub const TEST_CLASS_DIRECTORIES: [&str; 4] = ["test-classes", "classes/java/test", "classes/kotlin/test", "bin/test"];

/// What is written above the methods of tests.
const ANNOTATIONS: [&str; 7] = [
    "Lorg/junit/Test;",
    "Lorg/junit/jupiter/api/Test;",
    "Lorg/junit/jupiter/api/RepeatedTest;",
    "Lorg/junit/jupiter/api/TestFactory;",
    "Lorg/junit/jupiter/api/TestTemplate;",
    "Lorg/junit/jupiter/params/ParameterizedTest;",
    "Lorg/testng/annotations/Test;",
];

/// What else the classes of tests name.
const MARKS: [&str; 2] = ["junit/framework/TestCase", "Lorg/junit/runner/RunWith;"];

/// Whether a class that came from a place is one of tests: what is its own is no state of the program.
pub fn is_test_class(class: &ClassFile, place: &Path) -> bool {
    let marked = |index: u16| match class.pool.get(index) {
        Ok(Constant::Utf8(text)) => ANNOTATIONS.iter().chain(&MARKS).any(|mark| &**text.text() == *mark),
        _ => false,
    };
    let in_tests = TEST_CLASS_DIRECTORIES.iter().any(|tests| place.ends_with(tests));
    in_tests || (1..u16::try_from(class.pool.len()).unwrap_or(u16::MAX)).any(marked)
}

/// Whether a method of such a class is a test: by what is written above it, or, as in JUnit 3, by its name.
pub fn is_test_method(class: &ClassFile, method: &Member) -> bool {
    if method.is(access::STATIC) || !method.desc.ends_with(")V") {
        return false;
    }
    (method.name.starts_with("test") && &*method.desc == "()V") || is_marked(class, method, &ANNOTATIONS)
}

/// What annotations of tests call the exception that a test is to end with: JUnit 4 and TestNG.
const EXPECTED: [&str; 2] = ["expected", "expectedExceptions"];

/// Whether a test has to end with an exception: what is written above it says so.
pub fn expects_exception(class: &ClassFile, method: &Member) -> bool {
    is_marked(class, method, &ANNOTATIONS) && is_marked(class, method, &EXPECTED)
}

/// Whether what is written above a method has one of these names in it.
fn is_marked(class: &ClassFile, method: &Member, names: &[&str]) -> bool {
    let is_name = |number: &[u8]| {
        let name = class.pool.text(u16::from_be_bytes([number[0], number[1]]));
        name.is_ok_and(|name| names.contains(&&**name.text()))
    };
    let marked = |attribute: &Attribute| match attribute {
        // Whatever else is in there, numbers of these constants are numbers of annotations and of their parts.
        Attribute::Other { name, bytes } if &**name == "RuntimeVisibleAnnotations" => bytes.windows(2).any(is_name),
        _ => false,
    };
    method.attributes.iter().any(marked)
}
