//! Preprocessed translation units: the identifiers, functions and types of a unit, and the macros that are defined at
//! its end, where emitted tests follow.

use crate::c::build::configuration::Build;
use crate::c::syntax::names::{is_identifier, source_name};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::process::Command;
use std::sync::{Arc, Mutex};
use touchstone_base::WideHasher;
use touchstone_ir::Module;

/// The preprocessed units of a run; each unit is preprocessed at most once.
#[derive(Clone, Debug, Default)]
pub struct PreprocessedUnits {
    units: Arc<Mutex<BTreeMap<usize, Arc<PreprocessedUnit>>>>,
}

/// A translation unit after preprocessing.
#[derive(Debug, Default)]
pub(crate) struct PreprocessedUnit {
    /// The hash of the preprocessed text, or `None` if the compiler rejected the unit.
    pub(crate) text: Option<u128>,
    /// All identifiers.
    pub(crate) words: BTreeSet<String>,
    /// The functions that are declared or defined at file scope.
    pub(crate) functions: BTreeSet<String>,
    /// The structures, unions and enumerations that are defined at file scope, and the typedef names.
    pub(crate) types: BTreeSet<String>,
    /// The functions that a declaration calls `inline`.
    pub(crate) inline: BTreeSet<String>,
    /// The macros that the unit or the command line defines.
    pub(crate) macros: BTreeSet<String>,
}

impl PreprocessedUnits {
    /// Returns a unit after preprocessing.
    pub(crate) fn unit(&self, target: &Build, unit: usize) -> Arc<PreprocessedUnit> {
        let mut units = match self.units.lock() {
            Ok(units) => units,
            Err(poisoned) => poisoned.into_inner(),
        };
        Arc::clone(units.entry(unit).or_insert_with(|| Arc::new(preprocess(target, unit))))
    }
}

fn preprocess(target: &Build, unit: usize) -> PreprocessedUnit {
    let unit = &target.units[unit];
    let mut command = Command::new(&target.cc);
    command.args(&unit.flags).arg("-I").arg(&target.include_dir).args(["-w", "-E", "-P", "-dD"]).arg(&unit.path);
    let output = command.output().ok();
    let whole = output.as_ref().filter(|output| output.status.success()).map(|output| {
        let mut hasher = WideHasher::default();
        hasher.write(&output.stdout);
        hasher.wide()
    });
    let text = output.map(|output| output.stdout).unwrap_or_default();
    PreprocessedUnit { text: whole, ..PreprocessedUnit::new(&String::from_utf8_lossy(&text)) }
}

impl PreprocessedUnit {
    pub(crate) fn new(text: &str) -> PreprocessedUnit {
        let mut preprocessed = PreprocessedUnit::default();
        let mut rest = String::new();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("#define ") {
                preprocessed.macros.extend(identifiers_of(name).next().map(str::to_string));
            } else if let Some(name) = line.strip_prefix("#undef ") {
                preprocessed.macros.remove(name.trim());
            } else if !line.starts_with('#') {
                rest.push_str(line);
                rest.push('\n');
            }
        }
        preprocessed.words = identifiers_of(&rest).map(str::to_string).collect();
        preprocessed.find_functions(&rest);
        preprocessed.find_types(&rest);
        preprocessed
    }

    /// Returns true if the unit mentions a mathematical function: it includes `math.h`, or declares the function itself.
    pub(crate) fn mentions_math(&self) -> bool {
        const COMMON: [&str; 12] =
            ["sqrt", "sin", "cos", "exp", "log", "pow", "floor", "ceil", "fmod", "fabs", "csqrt", "feraiseexcept"];
        COMMON.iter().any(|name| self.words.contains(*name))
    }

    /// Collects functions. At file scope, a name before a parenthesis is a function (or an attribute, which does no
    /// harm), also if it is parenthesised itself, which prevents macro expansion.
    fn find_functions(&mut self, text: &str) {
        let (mut depth, mut inline) = (0_usize, false);
        let mut before = ["", "", ""];
        for token in tokens_of(text) {
            let name = match before {
                ["(", name, ")"] | [_, _, name] => name,
            };
            match token {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    inline &= depth > 0;
                }
                ";" if depth == 0 => inline = false,
                "inline" | "__inline" | "__inline__" if depth == 0 => inline = true,
                "(" if depth == 0 && is_identifier(name) => {
                    self.functions.insert(name.to_string());
                    if inline {
                        self.inline.insert(name.to_string());
                    }
                }
                _ => {}
            }
            before = [before[1], before[2], token];
        }
    }
}

impl PreprocessedUnit {
    /// Collects types. At file scope, a tag before a brace is defined, and identifiers of a `typedef` outside of braces
    /// are types.
    fn find_types(&mut self, text: &str) {
        let (mut depth, mut named) = (0_usize, false);
        let mut before = ["", ""];
        for token in tokens_of(text) {
            match token {
                "{" => {
                    if depth == 0 && matches!(before[0], "struct" | "union" | "enum") {
                        self.types.insert(before[1].to_string());
                    }
                    depth += 1;
                }
                "}" => depth = depth.saturating_sub(1),
                ";" if depth == 0 => named = false,
                "typedef" if depth == 0 => named = true,
                // A tag that is only mentioned may belong to an incomplete type.
                word if depth == 0
                    && named
                    && is_identifier(word)
                    && !matches!(before[1], "struct" | "union" | "enum") =>
                {
                    self.types.insert(word.to_string());
                }
                _ => {}
            }
            before = [before[1], token];
        }
    }
}

/// Returns the identifiers of a text.
pub(crate) fn identifiers_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_').filter(|word| is_identifier(word))
}

/// Returns the identifiers, numbers and single punctuators of a text, without literals and comments.
pub(crate) fn tokens_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            let first = rest.chars().next()?;
            let length = match first {
                '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
                '"' | '\'' => literal_length(rest, first),
                _ if first.is_ascii_alphanumeric() || first == '_' => {
                    rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(rest.len())
                }
                _ => first.len_utf8(),
            };
            let (token, after) = rest.split_at(length);
            rest = after;
            if first != '"' && first != '\'' && !token.starts_with("/*") {
                return Some(token);
            }
        }
    })
}

fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            _ if char == quote => return at + char.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Returns external declarations of the unit's inline functions. An `inline` function has an external definition only
/// if one of its declarations lacks `inline` (C11 6.7.4). The program may have one in another file, so ours is weak.
pub(crate) fn inline_definitions(module: &Module, preprocessed: &PreprocessedUnit) -> String {
    if preprocessed.inline.is_empty() {
        return String::new();
    }
    let own = module.functions.values();
    let own = own.filter(|function| function.is_defined() && !function.internal && !function.is_library());
    let names: BTreeSet<&str> = own.map(|function| source_name(&function.name)).collect();
    let inline = names.into_iter().filter(|name| preprocessed.inline.contains(*name));
    inline.map(|name| format!("#pragma weak {name}\nextern __typeof__({name}) {name};\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_macros_are_those_at_the_end_of_a_file() {
        let preprocessed = PreprocessedUnit::new(
            "#define unused\n#define gone 1\n#undef gone\n#define max(a, b) (a)\nextern int printf(const char *, ...);\n\
             static inline int twice(int x) { if (x) inner(x); return 2; }\ninline int once(int);\nint plain(void) { char c = '{'; }\n\
             int after(void);\nextern const char *(guarded)(int);\n",
        );
        assert!(
            preprocessed.macros.contains("unused")
                && preprocessed.macros.contains("max")
                && !preprocessed.macros.contains("gone")
        );
        for name in ["printf", "twice", "once", "plain", "after", "guarded"] {
            assert!(preprocessed.functions.contains(name), "{name}");
        }
        assert!(!preprocessed.functions.contains("inner"));
        let other = PreprocessedUnit::new(
            "struct outer { struct inner { int a; } i; };\ntypedef struct named { int b; } name_t, *other_t;\ntypedef struct later later_t;\n\
             enum color { RED };\nint f(void) { struct local { int c; } l; typedef int mine; return 0; }\ntypedef int row[4];\n",
        );
        for name in ["outer", "named", "name_t", "other_t", "later_t", "color", "row"] {
            assert!(other.types.contains(name), "{name}");
        }
        for name in ["inner", "later", "local", "mine", "RED"] {
            assert!(!other.types.contains(name), "{name}");
        }
        assert_eq!(preprocessed.inline.iter().collect::<Vec<_>>(), ["once", "twice"]);
    }
}
