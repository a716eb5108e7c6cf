//! Frameworks of tests, by the classes through which they say that a test begins or ends. These classes get a call of a class of ours,
//! whose methods are the functions here.

use crate::class_writer::{Written, access};
use crate::jvm_interface::{Jni, Object, Table};
use crate::running_tests;
use crate::test_attribution;
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use touchstone_classfile::ClassFile;
use touchstone_probes_java::{Call, with_calls};

/// Who runs tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framework {
    /// JUnit 3.
    JUnit3,
    /// JUnit 4.
    JUnit4,
    /// JUnit 5 and 6, and whatever runs on their platform.
    Platform,
    /// TestNG.
    TestNg,
}

/// The class that is told. Every class can see it, as holders.
const TOLD: &str = "java/lang/TouchstoneTests";
const DESC: &str = "(Ljava/lang/Object;)V";

/// What the JVM calls for a static method that takes an object.
type Native = extern "C" fn(Table, Object, Object);

/// A method of a framework that is called with a test: its class, its name, what its descriptor begins with, and what is to be done.
struct Hook(&'static str, &'static str, &'static str, &'static str, Native);

const HOOKS: [Hook; 8] = [
    Hook("junit/framework/TestResult", "startTest", "(Ljunit/framework/Test;)", "junit3Begins", junit3_begins),
    Hook("junit/framework/TestResult", "endTest", "(Ljunit/framework/Test;)", "junit3Ends", junit3_ends),
    Hook(RUN_NOTIFIER, "fireTestStarted", "(Lorg/junit/runner/Description;)", "junit4Begins", junit4_begins),
    Hook(RUN_NOTIFIER, "fireTestFinished", "(Lorg/junit/runner/Description;)", "junit4Ends", junit4_ends),
    Hook(
        LISTENER,
        "executionStarted",
        "(Lorg/junit/platform/engine/TestDescriptor;",
        "platformBegins",
        platform_begins,
    ),
    Hook(LISTENER, "executionFinished", "(Lorg/junit/platform/engine/TestDescriptor;", "platformEnds", platform_ends),
    // Up to TestNG 6, and since then.
    Hook("org/testng/internal/Invoker", "runTestListeners", TESTNG_RESULT, "testngSays", testng_says),
    Hook("org/testng/internal/TestListenerHelper", "runTestListeners", TESTNG_RESULT, "testngSays", testng_says),
];

const RUN_NOTIFIER: &str = "org/junit/runner/notification/RunNotifier";
const LISTENER: &str = "org/junit/platform/launcher/core/ExecutionListenerAdapter";
const TESTNG_RESULT: &str = "(Lorg/testng/ITestResult;Ljava/util/List;)";

/// Defines the class that frameworks tell; whether that worked.
pub fn prepare(jni: Jni) -> bool {
    if !test_attribution::prepare(jni) {
        return false;
    }
    let made = jni.within_frame(|| {
        let class = jni.define(TOLD, &told())?;
        let natives: Vec<_> = hooks().map(|Hook(.., name, does)| ((*name, DESC), *does as *const c_void)).collect();
        // SAFETY: all of them are functions of the type that the JVM calls for static methods with one object.
        unsafe { jni.register(class, &natives) }.then_some(())
    });
    made.is_some()
}

/// Hooks with different methods of ours.
fn hooks() -> impl Iterator<Item = &'static Hook> {
    let is_first = |index: usize| !HOOKS[..index].iter().any(|other| other.3 == HOOKS[index].3);
    HOOKS.iter().enumerate().filter(move |(index, _)| is_first(*index)).map(|(_, hook)| hook)
}

/// A class of a framework, with calls of ours.
pub fn listened(name: &CStr, bytes: &[u8]) -> Option<Vec<u8>> {
    let name = name.to_str().ok()?;
    let calls: Vec<Call<'_>> = HOOKS
        .iter()
        .filter(|hook| hook.0 == name)
        .map(|Hook(_, name, desc, method, _)| Call { name, desc, told: TOLD, method })
        .collect();
    if calls.is_empty() {
        return None;
    }
    with_calls(bytes, &ClassFile::read(bytes).ok()?, &calls)
}

/// A class with native methods only.
fn told() -> Vec<u8> {
    let mut class = Written::new(TOLD, "java/lang/Object");
    hooks().for_each(|hook| class.native(access::PUBLIC | access::STATIC, hook.3, DESC));
    class.bytes()
}

/// What is to be done with the name of a test, if it has one. Nothing here may leave a trace in the program.
fn with_name<N>(jni: Table, test: Object, name: fn(Jni, Object) -> Option<N>, then: impl FnOnce(Jni, N)) {
    let jni = Jni(jni);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if !test.is_null()
            && let Some(name) = jni.within_frame(|| name(jni, test))
        {
            then(jni, name);
        }
    }));
}

extern "C" fn junit3_begins(jni: Table, _class: Object, test: Object) {
    with_name(jni, test, junit3_name, |jni, name| running_tests::begin(jni, Framework::JUnit3, name, None));
}

extern "C" fn junit3_ends(jni: Table, _class: Object, test: Object) {
    with_name(jni, test, junit3_name, |jni, name| running_tests::end(jni, Framework::JUnit3, &name));
}

extern "C" fn junit4_begins(jni: Table, _class: Object, test: Object) {
    with_name(jni, test, junit4_name, |jni, name| running_tests::begin(jni, Framework::JUnit4, name, None));
}

extern "C" fn junit4_ends(jni: Table, _class: Object, test: Object) {
    with_name(jni, test, junit4_name, |jni, name| running_tests::end(jni, Framework::JUnit4, &name));
}

extern "C" fn platform_begins(jni: Table, _class: Object, test: Object) {
    let identity = |jni: Jni| jni.within_frame(|| platform_identity(jni, test));
    with_name(jni, test, platform_name, |jni, name| match name {
        Some(name) => running_tests::begin(jni, Framework::Platform, name, identity(jni).as_deref()),
        None => identity(jni).into_iter().for_each(|group| running_tests::begin_group(jni, group)),
    });
}

extern "C" fn platform_ends(jni: Table, _class: Object, test: Object) {
    with_name(jni, test, platform_name, |jni, name| match name {
        Some(name) => running_tests::end(jni, Framework::Platform, &name),
        None => {
            jni.within_frame(|| platform_identity(jni, test)).iter().for_each(|group| running_tests::end_group(group))
        }
    });
}

/// TestNG has one method for all that becomes of a test.
extern "C" fn testng_says(jni: Table, _class: Object, result: Object) {
    const STARTED: i32 = 16;
    with_name(jni, result, testng_name, |jni, name| match jni.number(result, c"getStatus") {
        Some(STARTED) => running_tests::begin(jni, Framework::TestNg, name, None),
        _ => running_tests::end(jni, Framework::TestNg, &name),
    });
}

const STRING: &CStr = c"()Ljava/lang/String;";
const OPTIONAL: &CStr = c"()Ljava/util/Optional;";

fn asked(jni: Jni, object: Object, name: &CStr) -> Option<String> {
    jni.text(jni.call(object, name, STRING)?)
}

fn class_name(jni: Jni, object: Object) -> Option<String> {
    asked(jni, jni.call(object, c"getClass", c"()Ljava/lang/Class;")?, c"getName")
}

/// A test case has a name; others say what they are.
fn junit3_name(jni: Jni, test: Object) -> Option<String> {
    match asked(jni, test, c"getName") {
        Some(name) => Some(format!("{}.{name}", class_name(jni, test)?)),
        None => Some(turned(asked(jni, test, c"toString")?)),
    }
}

fn junit4_name(jni: Jni, description: Object) -> Option<String> {
    Some(turned(asked(jni, description, c"getDisplayName")?))
}

/// `method(class)` as all other names are.
fn turned(name: String) -> String {
    match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((method, class)) if !class.is_empty() => format!("{class}.{method}"),
        _ => name,
    }
}

/// The method, and what is shown of one of several calls of it. Groups of tests have none.
fn platform_name(jni: Jni, test: Object) -> Option<Option<String>> {
    const DEEPEST: usize = 20;
    if !jni.says(test, c"isTest")? {
        return Some(None);
    }
    let method_of = |of: Object| {
        let source = jni.call(jni.call(of, c"getSource", OPTIONAL)?, c"get", c"()Ljava/lang/Object;")?;
        Some(format!("{}.{}", asked(jni, source, c"getClassName")?, asked(jni, source, c"getMethodName")?))
    };
    let parent_of = |of: Object| jni.call(jni.call(of, c"getParent", OPTIONAL)?, c"get", c"()Ljava/lang/Object;");
    let (mut here, mut method) = (test, method_of(test));
    let mut shown = Vec::new();
    for _ in 0..DEEPEST {
        let above = parent_of(here);
        let above_method = above.and_then(&method_of);
        if method.is_some() && above_method != method {
            break;
        }
        shown.extend(asked(jni, here, c"getDisplayName"));
        let Some(above) = above else { break };
        (here, method) = (above, above_method);
    }
    shown.extend(method);
    shown.reverse();
    Some(Some(shown.join(" ")))
}

/// What tells a test or a group from all others: it begins with that of the group around it.
fn platform_identity(jni: Jni, test: Object) -> Option<String> {
    asked(jni, jni.call(test, c"getUniqueId", c"()Lorg/junit/platform/engine/UniqueId;")?, c"toString")
}

/// The method, and its parameters as far as showing them runs nothing of the program.
fn testng_name(jni: Jni, result: Object) -> Option<String> {
    let method = jni.call(result, c"getMethod", c"()Lorg/testng/ITestNGMethod;")?;
    let class = asked(jni, jni.call(method, c"getRealClass", c"()Ljava/lang/Class;")?, c"getName")?;
    let name = format!("{class}.{}", asked(jni, method, c"getMethodName")?);
    let parameters = jni.call(result, c"getParameters", c"()[Ljava/lang/Object;");
    let parameters = parameters.map(|array| jni.elements(array)).unwrap_or_default();
    let shown = parameters.iter().map(|parameter| {
        let Some(object) = parameter else { return "null".to_string() };
        let class = class_name(jni, *object).unwrap_or_default();
        match class.starts_with("java.lang.") {
            true => asked(jni, *object, c"toString").unwrap_or(class),
            false => class,
        }
    });
    let shown: Vec<String> = shown.collect();
    Some(if shown.is_empty() { name } else { format!("{name} [{}]", shown.join(", ")) })
}

#[cfg(test)]
mod tests_of_names {
    use super::*;

    #[test]
    fn the_class_that_is_told_is_a_class_file() {
        let class = ClassFile::read(&told()).expect("a class file");
        assert_eq!((&*class.name, class.methods.len()), (TOLD, 7));
    }

    #[test]
    fn names_of_methods_stand_behind_their_classes() {
        assert_eq!(turned("adds(com.acme.SumTest)".to_string()), "com.acme.SumTest.adds");
        assert_eq!(turned("adds[f(x) = 2](com.acme.SumTest)".to_string()), "com.acme.SumTest.adds[f(x) = 2]");
        assert_eq!(turned("anything".to_string()), "anything");
    }
}
