//! Identifiers in tests: the source names of functions and variables, and local names that shadow none of them.

use std::collections::BTreeSet;
use touchstone_ir::{DataType, Module};

/// Returns the name in the source. The module distinguishes several definitions of `count` as `count@b.c` or `count$2`.
pub(crate) fn source_name(name: &str) -> &str {
    if let Some((own, _)) = name.split_once('@') {
        return own;
    }
    match name.rsplit_once('$') {
        Some((own, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => own,
        _ => name,
    }
}

/// Returns true if the string is an identifier.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

const KEYWORDS: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "bool", "true", "false",
    "asm", "typeof", "NULL", "main", "row",
];

/// Returns every name of the program that a local variable of a test must not shadow.
pub(crate) fn program_names(module: &Module) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = KEYWORDS.iter().map(|word| word.to_string()).collect();
    names.extend(module.functions.values().map(|function| source_name(&function.name).to_string()));
    names.extend(module.globals.values().map(|global| source_name(&global.name).to_string()));
    for ty in module.types.values() {
        match ty {
            DataType::Int { name, .. }
            | DataType::Float { name, .. }
            | DataType::Bool { name }
            | DataType::Struct { name, .. } => {
                names.insert(name.clone());
            }
            DataType::Opaque { name, .. } | DataType::Union { name, .. } | DataType::OneOf { name, .. } => {
                names.insert(name.clone());
            }
            DataType::Enum { name, items, .. } => {
                names.insert(name.clone());
                names.extend(items.iter().map(|item| item.name.clone()));
            }
            DataType::Void | DataType::Bits { .. } | DataType::Pointer { .. } | DataType::Array { .. } => {}
        }
    }
    names
}

/// Allocates the local names of one test.
pub(crate) struct Locals<'a> {
    program: &'a BTreeSet<String>,
    taken: BTreeSet<String>,
}

impl<'a> Locals<'a> {
    pub(crate) fn new(program: &'a BTreeSet<String>) -> Self {
        Locals { program, taken: BTreeSet::new() }
    }

    /// Returns `wanted`, or the first of `wanted_2`, `wanted_3`, … that is free.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let wanted = if is_identifier(wanted) { wanted } else { "value" };
        let mut name = wanted.to_string();
        let mut number = 1;
        while self.program.contains(&name) || self.taken.contains(&name) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        self.taken.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_name_has_no_marks_of_the_module() {
        let check = |name: &str, expected: &str| assert_eq!(source_name(name), expected);
        check("count", "count");
        check("count@b.c", "count");
        check("count$2", "count");
        check("cash$", "cash$");
    }

    #[test]
    fn a_local_never_hides_a_name_of_the_program() {
        let program: BTreeSet<String> = ["count".to_string()].into();
        let mut locals = Locals::new(&program);
        assert_eq!(locals.fresh("count"), "count_2");
        assert_eq!(locals.fresh("x"), "x");
        assert_eq!(locals.fresh("x"), "x_2");
        assert_eq!(locals.fresh(""), "value");
    }
}
