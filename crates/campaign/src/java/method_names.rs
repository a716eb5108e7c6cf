//! Names of methods and classes as users write them.

use crate::request::Subject;
use touchstone_front_java::MethodUnderTest;

/// Whether a method is to be tested.
pub(super) fn is_meant(method: &MethodUnderTest, subject: &Subject) -> bool {
    match subject {
        Subject::EveryFunction => true,
        Subject::Functions(names) => names.iter().any(|name| is_called(method, name) || is_of_class(method, name)),
        Subject::Program(name) => is_called(method, name),
    }
}

/// Whether somebody who writes this name means the method: packages, and parameter types, may be left out.
pub(super) fn is_called(method: &MethodUnderTest, name: &str) -> bool {
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

/// Whether somebody who writes this name means the class of a method: packages may be left out.
pub(super) fn is_of_class(method: &MethodUnderTest, name: &str) -> bool {
    ends(&format!("{}.{}", method.package, method.class), name.trim())
}

/// Whether a name is another one, or what is behind a point of it.
fn ends(text: &str, end: &str) -> bool {
    text == end || text.strip_suffix(end).is_some_and(|front| front.ends_with('.'))
}
