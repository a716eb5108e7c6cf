//! Test frameworks, and the methods by which they report that a test begins or ends. These methods get a call of the class
//! `java/java/lang/TouchstoneTestEvents.java`, whose native methods are the functions here.

use crate::jvm_interface::{FunctionTable, JObject, Jni};
use crate::{running_tests, test_attribution};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use touchstone_classfile::ClassFile;
use touchstone_probes_java::{EntryCall, insert_entry_calls, instantiate};

/// A test framework.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framework {
    /// JUnit 3.
    JUnit3,
    /// JUnit 4.
    JUnit4,
    /// JUnit 5 and 6, and other frameworks on the JUnit platform.
    Platform,
    /// TestNG.
    TestNg,
}

const TEMPLATE: &[u8] = include_bytes!("../java/java/lang/TouchstoneTestEvents.class");
const CLASS: &str = "java/lang/TouchstoneTestEvents";
const DESC: &str = "(Ljava/lang/Object;)V";

/// The type of functions that the JVM calls for a static method with descriptor `DESC`.
type Native = extern "C" fn(FunctionTable, JObject, JObject);

/// A method of a framework whose first argument is a test, and the native method that it calls.
struct Hook {
    class: &'static str,
    method: &'static str,
    /// The beginning of the descriptor.
    desc: &'static str,
    native_name: &'static str,
    native: Native,
}

const RUN_NOTIFIER: &str = "org/junit/runner/notification/RunNotifier";
const LISTENER_ADAPTER: &str = "org/junit/platform/launcher/core/ExecutionListenerAdapter";
const PLATFORM_DESCRIPTOR: &str = "(Lorg/junit/platform/engine/TestDescriptor;";
const TESTNG_RESULT: &str = "(Lorg/testng/ITestResult;Ljava/util/List;)";

const HOOKS: [Hook; 8] = [
    Hook {
        class: "junit/framework/TestResult",
        method: "startTest",
        desc: "(Ljunit/framework/Test;)",
        native_name: "junit3Started",
        native: junit3_started,
    },
    Hook {
        class: "junit/framework/TestResult",
        method: "endTest",
        desc: "(Ljunit/framework/Test;)",
        native_name: "junit3Finished",
        native: junit3_finished,
    },
    Hook {
        class: RUN_NOTIFIER,
        method: "fireTestStarted",
        desc: "(Lorg/junit/runner/Description;)",
        native_name: "junit4Started",
        native: junit4_started,
    },
    Hook {
        class: RUN_NOTIFIER,
        method: "fireTestFinished",
        desc: "(Lorg/junit/runner/Description;)",
        native_name: "junit4Finished",
        native: junit4_finished,
    },
    Hook {
        class: LISTENER_ADAPTER,
        method: "executionStarted",
        desc: PLATFORM_DESCRIPTOR,
        native_name: "platformStarted",
        native: platform_started,
    },
    Hook {
        class: LISTENER_ADAPTER,
        method: "executionFinished",
        desc: PLATFORM_DESCRIPTOR,
        native_name: "platformFinished",
        native: platform_finished,
    },
    // Up to TestNG 6.
    Hook {
        class: "org/testng/internal/Invoker",
        method: "runTestListeners",
        desc: TESTNG_RESULT,
        native_name: "testngStatus",
        native: testng_status,
    },
    // Since TestNG 7.
    Hook {
        class: "org/testng/internal/TestListenerHelper",
        method: "runTestListeners",
        desc: TESTNG_RESULT,
        native_name: "testngStatus",
        native: testng_status,
    },
];

/// Defines the class that receives test events. Returns true if it is defined.
pub fn define(jni: Jni) -> bool {
    if !test_attribution::define_once(jni) {
        return false;
    }
    let defined = jni.with_local_frame(|| {
        let class = jni.define(CLASS, &instantiate(TEMPLATE, &[])?)?;
        let mut natives: Vec<((&str, &str), *const c_void)> = Vec::new();
        for hook in &HOOKS {
            if !natives.iter().any(|((name, _), _)| *name == hook.native_name) {
                natives.push(((hook.native_name, DESC), hook.native as *const c_void));
            }
        }
        // SAFETY: all functions have the type that the JVM calls for static methods with this descriptor.
        unsafe { jni.register(class, &natives) }.then_some(())
    });
    defined.is_some()
}

/// Returns a class of a framework with calls of the native methods, or `None` if it is no such class.
pub fn with_hooks(name: &CStr, bytes: &[u8]) -> Option<Vec<u8>> {
    let name = name.to_str().ok()?;
    let calls: Vec<EntryCall<'_>> = HOOKS
        .iter()
        .filter(|hook| hook.class == name)
        .map(|hook| EntryCall { name: hook.method, desc: hook.desc, callee_class: CLASS, callee: hook.native_name })
        .collect();
    if calls.is_empty() {
        return None;
    }
    insert_entry_calls(bytes, &ClassFile::read(bytes).ok()?, &calls)
}

/// Runs an action with the name of a test, if it has one. Neither exceptions nor panics reach the program.
fn with_name<N>(jni: FunctionTable, test: JObject, name: fn(Jni, JObject) -> Option<N>, action: impl FnOnce(Jni, N)) {
    let jni = Jni(jni);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if !test.is_null()
            && let Some(name) = jni.with_local_frame(|| name(jni, test))
        {
            action(jni, name);
        }
    }));
}

extern "C" fn junit3_started(jni: FunctionTable, _class: JObject, test: JObject) {
    with_name(jni, test, junit3_name, |jni, name| running_tests::begin(jni, Framework::JUnit3, name, None));
}

extern "C" fn junit3_finished(jni: FunctionTable, _class: JObject, test: JObject) {
    with_name(jni, test, junit3_name, |jni, name| running_tests::end(jni, Framework::JUnit3, &name));
}

extern "C" fn junit4_started(jni: FunctionTable, _class: JObject, test: JObject) {
    with_name(jni, test, junit4_name, |jni, name| running_tests::begin(jni, Framework::JUnit4, name, None));
}

extern "C" fn junit4_finished(jni: FunctionTable, _class: JObject, test: JObject) {
    with_name(jni, test, junit4_name, |jni, name| running_tests::end(jni, Framework::JUnit4, &name));
}

extern "C" fn platform_started(jni: FunctionTable, _class: JObject, test: JObject) {
    let identity = |jni: Jni| jni.with_local_frame(|| platform_identity(jni, test));
    with_name(jni, test, platform_name, |jni, name| match name {
        Some(name) => running_tests::begin(jni, Framework::Platform, name, identity(jni).as_deref()),
        None => identity(jni).into_iter().for_each(|group| running_tests::begin_group(jni, group)),
    });
}

extern "C" fn platform_finished(jni: FunctionTable, _class: JObject, test: JObject) {
    let identity = |jni: Jni| jni.with_local_frame(|| platform_identity(jni, test));
    with_name(jni, test, platform_name, |jni, name| match name {
        Some(name) => running_tests::end(jni, Framework::Platform, &name),
        None => identity(jni).iter().for_each(|group| running_tests::end_group(group)),
    });
}

/// Handles all events of TestNG: it has one method for them.
extern "C" fn testng_status(jni: FunctionTable, _class: JObject, result: JObject) {
    const STARTED: i32 = 16;
    with_name(jni, result, testng_name, |jni, name| match jni.call_int(result, c"getStatus") {
        Some(STARTED) => running_tests::begin(jni, Framework::TestNg, name, None),
        _ => running_tests::end(jni, Framework::TestNg, &name),
    });
}

const STRING: &CStr = c"()Ljava/lang/String;";
const OPTIONAL: &CStr = c"()Ljava/util/Optional;";

/// Calls a method that returns a string.
fn call_string(jni: Jni, object: JObject, name: &CStr) -> Option<String> {
    jni.string(jni.call(object, name, STRING)?)
}

fn class_name(jni: Jni, object: JObject) -> Option<String> {
    call_string(jni, jni.call(object, c"getClass", c"()Ljava/lang/Class;")?, c"getName")
}

/// Returns the name of a test case; other tests have only a string form.
fn junit3_name(jni: Jni, test: JObject) -> Option<String> {
    match call_string(jni, test, c"getName") {
        Some(name) => Some(format!("{}.{name}", class_name(jni, test)?)),
        None => Some(class_first(call_string(jni, test, c"toString")?)),
    }
}

fn junit4_name(jni: Jni, description: JObject) -> Option<String> {
    Some(class_first(call_string(jni, description, c"getDisplayName")?))
}

/// Turns `method(class)` into `class.method`, the form of all other names.
fn class_first(name: String) -> String {
    match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((method, class)) if !class.is_empty() => format!("{class}.{method}"),
        _ => name,
    }
}

/// Returns the method, and the display names of one of its several invocations. A test group has no name.
fn platform_name(jni: Jni, test: JObject) -> Option<Option<String>> {
    const MAX_DEPTH: usize = 20;
    if !jni.call_boolean(test, c"isTest")? {
        return Some(None);
    }
    let method_of = |of: JObject| {
        let source = jni.call(jni.call(of, c"getSource", OPTIONAL)?, c"get", c"()Ljava/lang/Object;")?;
        Some(format!("{}.{}", call_string(jni, source, c"getClassName")?, call_string(jni, source, c"getMethodName")?))
    };
    let parent_of = |of: JObject| jni.call(jni.call(of, c"getParent", OPTIONAL)?, c"get", c"()Ljava/lang/Object;");
    let (mut here, mut method) = (test, method_of(test));
    let mut shown = Vec::new();
    for _ in 0..MAX_DEPTH {
        let parent = parent_of(here);
        let parent_method = parent.and_then(&method_of);
        if method.is_some() && parent_method != method {
            break;
        }
        shown.extend(call_string(jni, here, c"getDisplayName"));
        let Some(parent) = parent else { break };
        (here, method) = (parent, parent_method);
    }
    shown.extend(method);
    shown.reverse();
    Some(Some(shown.join(" ")))
}

/// Returns the unique identity of a test or group. It begins with the identity of the enclosing group.
fn platform_identity(jni: Jni, test: JObject) -> Option<String> {
    call_string(jni, jni.call(test, c"getUniqueId", c"()Lorg/junit/platform/engine/UniqueId;")?, c"toString")
}

/// Returns the method and its arguments. Only strings of JDK classes are used: `toString` of others would run code of the program.
fn testng_name(jni: Jni, result: JObject) -> Option<String> {
    let method = jni.call(result, c"getMethod", c"()Lorg/testng/ITestNGMethod;")?;
    let class = call_string(jni, jni.call(method, c"getRealClass", c"()Ljava/lang/Class;")?, c"getName")?;
    let name = format!("{class}.{}", call_string(jni, method, c"getMethodName")?);
    let parameters = jni.call(result, c"getParameters", c"()[Ljava/lang/Object;");
    let parameters = parameters.map(|array| jni.elements(array)).unwrap_or_default();
    let shown = parameters.iter().map(|parameter| {
        let Some(object) = parameter else { return "null".to_string() };
        let class = class_name(jni, *object).unwrap_or_default();
        match class.starts_with("java.lang.") {
            true => call_string(jni, *object, c"toString").unwrap_or(class),
            false => class,
        }
    });
    let shown: Vec<String> = shown.collect();
    Some(if shown.is_empty() { name } else { format!("{name} [{}]", shown.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::access;

    #[test]
    fn the_class_has_a_native_method_for_each_hook() {
        let file = ClassFile::read(TEMPLATE).expect("a class file");
        assert_eq!(&*file.name, CLASS);
        for hook in &HOOKS {
            let method = file.method(hook.native_name, DESC).map(|index| &file.methods[index]);
            assert!(method.is_some_and(|method| method.is(access::NATIVE)), "{}", hook.native_name);
        }
    }

    #[test]
    fn names_of_methods_follow_their_classes() {
        assert_eq!(class_first("adds(com.acme.SumTest)".to_string()), "com.acme.SumTest.adds");
        assert_eq!(class_first("adds[f(x) = 2](com.acme.SumTest)".to_string()), "com.acme.SumTest.adds[f(x) = 2]");
        assert_eq!(class_first("anything".to_string()), "anything");
    }
}
