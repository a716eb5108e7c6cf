//! Names of methods and classes as users write them.

use crate::request::Subject;
use touchstone_front_java::MethodUnderTest;

/// Returns true if a method is under test.
pub(super) fn is_under_test(method: &MethodUnderTest, subject: &Subject) -> bool {
    match subject {
        Subject::EveryFunction => true,
        Subject::Functions(names) => names.iter().any(|name| is_named(method, name) || is_of_class(method, name)),
        Subject::Program(name) => is_named(method, name),
    }
}

/// Returns true if a user's name denotes the method. Packages and parameter types may be omitted.
pub(super) fn is_named(method: &MethodUnderTest, name: &str) -> bool {
    let (plain, params) = match name.split_once('(') {
        Some((plain, params)) => (plain, Some(params.trim_end().trim_end_matches(')'))),
        None => (name, None),
    };
    let own = method.name.split('(').next().unwrap_or(&method.name);
    ends(own, plain.trim())
        && params.is_none_or(|params| {
            let written: Vec<String> = params
                .split(',')
                .map(|param| param.trim().replace("...", "[]"))
                .filter(|param| !param.is_empty())
                .collect();
            written.len() == method.params.len()
                && method.params.iter().zip(&written).all(|(param, end)| ends(param, end))
        })
}

/// Returns true if a user's name denotes the class of a method. Packages may be omitted.
pub(super) fn is_of_class(method: &MethodUnderTest, name: &str) -> bool {
    ends(&format!("{}.{}", method.package, method.class), name.trim())
}

/// Returns true if a name equals another one, or its part behind a dot.
fn ends(text: &str, end: &str) -> bool {
    text == end || text.strip_suffix(end).is_some_and(|front| front.ends_with('.'))
}
