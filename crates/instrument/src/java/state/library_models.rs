//! Calls that are assertions, and library methods that change what they are called on.

use crate::state::StateRules;
use touchstone_front_java::classfile::MemberRef;

/// What is thrown where a test fails.
const FAILURES: [&str; 7] = [
    "java/lang/AssertionError",
    "junit/framework/AssertionFailedError",
    "junit/framework/ComparisonFailure",
    "org/junit/ComparisonFailure",
    "org/opentest4j/AssertionFailedError",
    "org/opentest4j/MultipleFailuresError",
    "org/hamcrest/AssertionError",
];

/// Packages whose objects are assertions that wait for what is asked of them: AssertJ, Truth, FEST.
const FLUENT: [&str; 3] = ["org/assertj/", "com/google/common/truth/", "org/fest/assertions/"];

/// What only describes such an assertion, or looks at a part of what it is about.
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

/// Whether a class is thrown where a test fails.
pub(super) fn is_failure(class: &str) -> bool {
    FAILURES.contains(&class)
}

/// Whether a call reports that a test failed.
pub(super) fn reports_failure(method: &MemberRef, rules: &StateRules) -> bool {
    &*method.name == "fail" || rules.names(&rules.assertions, &method.class, &method.name)
}

/// What a call of a method that is not followed is for a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AssertionRole {
    /// Nothing.
    No,
    /// It asserts something of all that it is given.
    All,
    /// The next call of the object that it is given asserts something.
    Next,
}

/// What a call is for a test.
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

/// Names of methods of libraries that change what they are called on, if they give something back; those that give nothing back do.
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

/// Classes whose objects never change: what their methods are called has no meaning.
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

/// Whether a method that is not followed changes what it is called on, or, if it is called on nothing, what it is given.
pub(super) fn modifies(method: &MemberRef, gives_nothing: bool, rules: &StateRules) -> bool {
    let (class, name) = (&*method.class, &*method.name);
    let is_fixed = FIXED.iter().any(|fixed| match fixed.strip_suffix('/') {
        Some(_) => class.starts_with(fixed),
        None => class == *fixed,
    });
    let listed = rules.names(&rules.modifies, class, name);
    let by_name = MODIFIES.iter().any(|pattern| StateRules::fits(pattern, name));
    listed || (!is_fixed && (gives_nothing || by_name) && name != "<init>")
}

/// What a method of the JDK's containers does to the element that its first argument names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ElementAccess {
    /// It asks for it.
    Asks,
    /// It puts another in its place, or none.
    Replaces,
    /// It makes another of it.
    Changes,
}

/// What a method does to one element; `None` if it is not about one that is named.
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

/// Whether a method gives back what it is given, in a box or out of one.
pub(super) fn boxes(method: &MemberRef) -> bool {
    const BOXES: [&str; 4] = ["Integer", "Short", "Byte", "Character"];
    let is_box = method.class.strip_prefix("java/lang/").is_some_and(|class| BOXES.contains(&class));
    is_box && &*method.name == "valueOf" && matches!(&*method.desc, desc if !desc.starts_with("(L"))
}

/// Whether what is changed is a container, which is state also where no field holds it.
pub(super) fn is_container(method: &MemberRef, rules: &StateRules) -> bool {
    let class = &*method.class;
    let is_collection = class.starts_with("java/util/")
        && !["Iterator", "Scanner", "Random", "Timer", "Formatter"].iter().any(|name| class.ends_with(name));
    is_collection || rules.names(&rules.modifies, class, &method.name)
}
