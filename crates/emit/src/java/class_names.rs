//! Class names in tests: as short as possible, with imports of frequently used JDK classes.

use crate::java::java_target::JavaTarget;
use std::collections::HashSet;
use std::fmt::Write;

/// The context that determines short names.
pub(crate) struct ShortClassNames<'t> {
    /// The package of the test.
    pub package: &'t str,
    pub target: &'t JavaTarget,
}

/// The classes that tests import, by package.
const IMPORTED: [(&str, &[&str]); 2] = [
    (
        "java.util",
        &[
            "ArrayDeque",
            "ArrayList",
            "Arrays",
            "Collection",
            "Collections",
            "Comparator",
            "Deque",
            "HashMap",
            "HashSet",
            "Hashtable",
            "LinkedHashMap",
            "LinkedHashSet",
            "LinkedList",
            "List",
            "Map",
            "NavigableMap",
            "NavigableSet",
            "PriorityQueue",
            "Queue",
            "Set",
            "SortedMap",
            "SortedSet",
            "Stack",
            "TreeMap",
            "TreeSet",
            "Vector",
        ],
    ),
    (
        "java.util.function",
        &[
            "BiConsumer",
            "BiFunction",
            "BiPredicate",
            "BinaryOperator",
            "BooleanSupplier",
            "Consumer",
            "DoubleUnaryOperator",
            "Function",
            "IntBinaryOperator",
            "IntConsumer",
            "IntFunction",
            "IntPredicate",
            "IntSupplier",
            "IntUnaryOperator",
            "Predicate",
            "Supplier",
            "ToIntFunction",
            "UnaryOperator",
        ],
    ),
];

impl ShortClassNames<'_> {
    /// Returns the shortest name of a class in the context.
    pub fn short(&self, class: &str) -> String {
        let (package, name) = class.rsplit_once('.').unwrap_or(("", class));
        let known = |(from, names): &(&str, &[&str])| *from == package && names.contains(&name);
        let imported = package == "java.lang" || IMPORTED.iter().any(known);
        if imported && !self.is_taken(name) {
            return name.to_string();
        }
        let own = format!("{}.", self.package);
        let short = class.strip_prefix(&own).filter(|name| own.len() > 1 && !self.is_in_subpackage(name));
        short.unwrap_or(class).to_string()
    }

    /// Returns true if a name relative to the package may begin with a package: those have no relative names.
    fn is_in_subpackage(&self, name: &str) -> bool {
        let Some((first, _)) = name.split_once('.') else { return false };
        let is_class = |class: &str| class.split('.').next() == Some(first);
        !self.target.methods.values().any(|method| method.home == self.package && is_class(&method.class))
    }

    /// Returns true if a class of the program has this name.
    fn is_taken(&self, name: &str) -> bool {
        self.target.methods.values().any(|method| method.class == name && method.home == self.package)
    }

    /// Returns a source text with the shortest names of all of its classes.
    pub fn shortened(&self, text: &str) -> String {
        let mut short = String::new();
        let mut word = String::new();
        for character in text.chars().chain(['\0']) {
            if character.is_alphanumeric() || matches!(character, '_' | '$' | '.') {
                word.push(character);
                continue;
            }
            // The last part may be a method of the class before it.
            short += &match word.rsplit_once('.') {
                Some((class, method)) if is_method(method) && !is_package_with_class(class, method) => {
                    format!("{}.{method}", self.short(class))
                }
                _ => self.short(&word),
            };
            word.clear();
            if character != '\0' {
                short.push(character);
            }
        }
        short
    }
}

/// Returns true if a name in capitals is rather a class than a constant, by the convention for names of packages.
fn is_package_with_class(before: &str, name: &str) -> bool {
    let last = before.rsplit('.').next().unwrap_or_default();
    last.starts_with(char::is_lowercase) && !name.starts_with(char::is_lowercase)
}

/// Returns true if the last part of a name is not a class.
fn is_method(name: &str) -> bool {
    name.starts_with(char::is_lowercase) || name.chars().all(|c| c.is_uppercase() || c == '_' || c.is_numeric())
}

/// Returns the import declarations for the tests of a class.
pub(crate) fn imports(parts: &[String]) -> String {
    let mut text = String::new();
    let known: HashSet<&str> = IMPORTED.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let used: HashSet<&str> = parts.iter().flat_map(|part| words(part)).filter(|word| known.contains(word)).collect();
    for (package, names) in IMPORTED {
        if names.iter().any(|name| used.contains(name)) {
            let _ = writeln!(text, "import {package}.*;");
        }
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// Returns the words of a text that do not follow a dot.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric();
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        loop {
            let start = at + bytes.get(at..)?.iter().position(|byte| is_word(*byte))?;
            let length = bytes[start..].iter().position(|byte| !is_word(*byte)).unwrap_or(bytes.len() - start);
            at = start + length;
            if start == 0 || bytes[start - 1] != b'.' {
                return text.get(start..at);
            }
        }
    })
}
