//! Models of library methods: which of them assert, and which modify their receiver.

use crate::state::StateRules;
use touchstone_front_java::classfile::MemberRef;

/// The exceptions that report a failed test.
const FAILURES: [&str; 7] = [
    "java/lang/AssertionError",
    "junit/framework/AssertionFailedError",
    "junit/framework/ComparisonFailure",
    "org/junit/ComparisonFailure",
    "org/opentest4j/AssertionFailedError",
    "org/opentest4j/MultipleFailuresError",
    "org/hamcrest/AssertionError",
];

/// The packages of fluent assertions: AssertJ, Truth, FEST.
const FLUENT: [&str; 3] = ["org/assertj/", "com/google/common/truth/", "org/fest/assertions/"];

/// The methods of fluent assertions that only describe them or select a part of the subject.
const DESCRIBES: [&str; 22] = [
    "assertThat*",
    "as",
    "describedAs",
    "withFailMessage",
    "overridingErrorMessage",
    "withMessage",
    "named",
    "that",
    "about",
    "extracting*",
    "using*",
    "asInstanceOf",
    "asList",
    "asString",
    "first",
    "last",
    "element",
    "size",
    "filteredOn*",
    "flatExtracting",
    "expect",
    "and",
];

/// Returns true if an exception reports a failed test.
pub(super) fn is_failure(class: &str) -> bool {
    FAILURES.contains(&class)
}

/// Returns true if a method reports a failed test.
pub(super) fn reports_failure(method: &MemberRef, rules: &StateRules) -> bool {
    &*method.name == "fail" || rules.names(&rules.assertions, &method.class, &method.name)
}

/// The role of a library call in the assertions of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AssertionRole {
    /// It asserts nothing.
    No,
    /// It asserts something about all of its arguments.
    All,
    /// The next call on its argument is the assertion.
    Next,
}

/// Determines the role of a call.
pub(super) fn assertion_role(method: &MemberRef, has_receiver: bool, rules: &StateRules) -> AssertionRole {
    let (class, name) = (&*method.class, &*method.name);
    let is_fluent = FLUENT.iter().any(|package| class.starts_with(package));
    if rules.names(&rules.assertions, class, name) {
        return AssertionRole::All;
    }
    if is_fluent {
        let describes = DESCRIBES.iter().any(|pattern| StateRules::fits(pattern, name));
        return if has_receiver && !describes { AssertionRole::All } else { AssertionRole::No };
    }
    if class.starts_with("org/mockito/") {
        return match name {
            "verify" | "then" | "should" => AssertionRole::Next,
            _ if name.starts_with("verify") => AssertionRole::All,
            _ => AssertionRole::No,
        };
    }
    if name.starts_with("assert") { AssertionRole::All } else { AssertionRole::No }
}

/// The names of library methods with a result that modify their receiver. Methods without a result do, except for
/// [`KEEPS`] of the JDK.
const MODIFIES: [&str; 40] = [
    "add*",
    "put*",
    "remove*",
    "set*",
    "append*",
    "insert*",
    "delete*",
    "push*",
    "pop*",
    "poll*",
    "offer*",
    "clear*",
    "retain*",
    "replace*",
    "write*",
    "next*",
    "increment*",
    "decrement*",
    "getAnd*",
    "compareAnd*",
    "accumulate*",
    "update*",
    "compute*",
    "merge*",
    "reverse*",
    "sort*",
    "fill*",
    "addAll",
    "drain*",
    "take*",
    "register*",
    "print*",
    "format",
    "store*",
    "flip*",
    "read*",
    "close",
    "submit",
    "swap*",
    "with*",
];

/// Immutable classes and packages, whose methods modify nothing.
const FIXED: [&str; 9] = [
    "java/lang/String",
    "java/lang/Math",
    "java/math/",
    "java/time/",
    "java/util/Optional",
    "java/util/UUID",
    "java/util/stream/",
    "java/lang/Integer",
    "java/lang/Long",
];

/// The methods of the JDK without a result that modify neither their receiver nor a container.
const KEEPS: [&str; 35] = [
    "accept*",
    "await*",
    "check*",
    "config",
    "copyInto",
    "ensureCapacity",
    "entering",
    "execute",
    "exiting",
    "fine*",
    "forEach",
    "forEachEntry",
    "forEachKey",
    "forEachOrdered",
    "forEachValue",
    "getBytes",
    "getChars",
    "ifPresent*",
    "info",
    "join",
    "list",
    "lock*",
    "log*",
    "notify",
    "notifyAll",
    "printStackTrace",
    "publish",
    "run*",
    "save",
    "severe",
    "signal*",
    "trimToSize",
    "unlock*",
    "wait",
    "warning",
];

/// The methods of libraries that keep a function object and do not call it.
const KEEPS_FUNCTIONS: [&str; 12] = [
    "<init>",
    "add*",
    "andThen",
    "compose",
    "of*",
    "offer*",
    "push*",
    "put*",
    "register*",
    "requireNonNull*",
    "set*",
    "store*",
];

/// The functional interfaces of the JDK that are not in `java.util.function`.
const FUNCTIONAL: [&str; 4] =
    ["java/lang/Runnable", "java/util/concurrent/Callable", "java/util/Comparator", "java/util/concurrent/Executor"];

/// Returns true if calls of a method on a JDK interface only call a function.
pub(super) fn is_functional(class: &str) -> bool {
    class.starts_with("java/util/function/") || FUNCTIONAL.contains(&class)
}

/// Returns true if a library method calls the function objects that it receives.
pub(super) fn calls_functions(method: &MemberRef) -> bool {
    !KEEPS_FUNCTIONS.iter().any(|pattern| StateRules::fits(pattern, &method.name))
}

/// Returns true if a method returns a copy of its receiver, whose fields or elements are those of the receiver.
pub(super) fn copies_receiver(method: &MemberRef) -> bool {
    let is_plain = &*method.class == "java/lang/Object" || method.class.starts_with('[');
    is_plain && &*method.name == "clone" && method.desc.starts_with("()")
}

/// Returns true if a library method modifies its receiver, or its arguments if it is static.
pub(super) fn modifies(method: &MemberRef, gives_nothing: bool, rules: &StateRules) -> bool {
    let (class, name) = (&*method.class, &*method.name);
    let is_fixed = FIXED.iter().any(|fixed| match fixed.strip_suffix('/') {
        Some(_) => class.starts_with(fixed),
        None => class == *fixed,
    });
    let listed = rules.names(&rules.modifies, class, name);
    let matches = |patterns: &[&str]| patterns.iter().any(|pattern| StateRules::fits(pattern, name));
    let is_of_jdk = class.starts_with("java/") || class.starts_with("javax/");
    let by_result = gives_nothing && !(is_of_jdk && matches(&KEEPS));
    listed || (!is_fixed && (by_result || matches(&MODIFIES)) && name != "<init>")
}

/// The access of a JDK container's method to the element that its first argument selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ElementAccess {
    /// Reads it.
    Asks,
    /// Overwrites or removes it.
    Replaces,
    /// Computes it from its old value.
    Changes,
}

/// Returns the access of a method to one element, or `None` if it has no key.
pub(super) fn element_access(method: &MemberRef) -> Option<ElementAccess> {
    const LISTS: [&str; 6] = ["List", "ArrayList", "LinkedList", "Vector", "AbstractList", "CopyOnWriteArrayList"];
    let class = method.class.strip_prefix("java/util/")?;
    let class = class.strip_prefix("concurrent/").unwrap_or(class);
    let is_map = class.ends_with("Map") || matches!(class, "Hashtable" | "Dictionary" | "Properties");
    let is_list = LISTS.contains(&class);
    match &*method.name {
        "get" | "containsKey" | "getOrDefault" | "getProperty" if is_map => Some(ElementAccess::Asks),
        "put" | "remove" | "setProperty" if is_map => Some(ElementAccess::Replaces),
        "putIfAbsent" | "replace" | "merge" | "compute" | "computeIfAbsent" | "computeIfPresent" if is_map => {
            Some(ElementAccess::Changes)
        }
        "get" if is_list => Some(ElementAccess::Asks),
        "set" if is_list => Some(ElementAccess::Replaces),
        _ => None,
    }
}

/// Returns true if a method boxes its argument.
pub(super) fn boxes(method: &MemberRef) -> bool {
    const BOXES: [&str; 4] = ["Integer", "Short", "Byte", "Character"];
    let is_box = method.class.strip_prefix("java/lang/").is_some_and(|class| BOXES.contains(&class));
    is_box && &*method.name == "valueOf" && matches!(&*method.desc, desc if !desc.starts_with("(L"))
}

/// Returns true if the receiver is a container, whose contents are state even if no field refers to it.
pub(super) fn is_container(method: &MemberRef, rules: &StateRules) -> bool {
    let class = &*method.class;
    let is_collection = class.starts_with("java/util/")
        && !["Iterator", "Scanner", "Random", "Timer", "Formatter"].iter().any(|name| class.ends_with(name));
    is_collection || rules.names(&rules.modifies, class, &method.name)
}
