//! Visibility of the program's names in a test file, which includes one source file and is only linked with the others.

use crate::c::build::configuration::Build;
use crate::c::build::preprocessor::{PreprocessedUnit, identifiers_of};
use crate::c::syntax::declarations::CTypes;
use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::names::source_name;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use touchstone_base::FileId;
use touchstone_ir::{Function, Global, Linkage, Module};

/// The words that need no declaration.
const BUILT_IN: &[&str] = &[
    "int",
    "char",
    "short",
    "long",
    "unsigned",
    "signed",
    "void",
    "const",
    "struct",
    "union",
    "enum",
    "float",
    "double",
    "_Bool",
    "__int128",
    "__typeof__",
];

/// The visibility of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NameVisibility {
    /// It is declared.
    Visible,
    /// It is usable after this declaration.
    Declared(String),
    /// It is inaccessible.
    Hidden,
}

/// The names that are visible after including one source file.
pub(crate) struct Visibility<'m> {
    module: &'m Module,
    target: Build,
    unit: usize,
    /// The preprocessed unit, computed at its first use.
    preprocessed: OnceCell<Arc<PreprocessedUnit>>,
}

impl<'m> Visibility<'m> {
    pub(crate) fn new(module: &'m Module, target: &Build, unit: usize) -> Self {
        Visibility { module, target: target.clone(), unit, preprocessed: OnceCell::new() }
    }

    /// Returns the visibility of a global.
    pub(crate) fn global(&self, global: &Global, types: &CTypes) -> NameVisibility {
        let name = source_name(&global.name);
        match global.linkage {
            Linkage::Local | Linkage::Literal => NameVisibility::Hidden,
            Linkage::Internal => self.reach(global.span.file, name, || None),
            Linkage::External | Linkage::Undefined => {
                self.reach(global.span.file, name, || types.declare(global.data, name).ok())
            }
        }
    }

    /// Returns the visibility of a function.
    pub(crate) fn function(&self, function: &Function, types: &CTypes) -> NameVisibility {
        let name = source_name(&function.name);
        let declare = || {
            let params: Result<Vec<String>, EmitLimitation> =
                function.own_params().iter().map(|param| types.declare(param.data, "")).collect();
            let mut params = params.ok()?.join(", ");
            if function.variadic {
                params.push_str(", ...");
            }
            if params.is_empty() {
                params.push_str("void");
            }
            types.declare(function.result_data, &format!("{name}({params})")).ok()
        };
        self.reach(function.span.file, name, || if function.internal { None } else { declare() })
    }

    fn reach(&self, file: FileId, name: &str, declare: impl FnOnce() -> Option<String>) -> NameVisibility {
        let unit = self.target.unit_of_file(self.module, file);
        if unit == Some(self.unit) {
            return NameVisibility::Visible;
        }
        let declaration = declare();
        // A private name of another file may denote something else in this file.
        if self.words().contains(name) && (declaration.is_some() || unit.is_none()) {
            return NameVisibility::Visible;
        }
        match declaration {
            Some(text) if self.knows_types_of(&text, name) => NameVisibility::Declared(format!("extern {text};")),
            _ => NameVisibility::Hidden,
        }
    }

    /// Returns true if the file declares a function of this name.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.preprocessed().functions.contains(name)
    }

    /// Returns true if the file declares every word of a declaration of `name`.
    pub(crate) fn knows_types_of(&self, declaration: &str, name: &str) -> bool {
        identifiers_of(declaration).all(|word| word == name || BUILT_IN.contains(&word) || self.words().contains(word))
    }

    /// Returns true if the declaration uses only types that are defined at file scope.
    pub(crate) fn knows_types_at_file_level(&self, declaration: &str) -> bool {
        identifiers_of(declaration).all(|word| BUILT_IN.contains(&word) || self.preprocessed().types.contains(word))
    }

    fn words(&self) -> &BTreeSet<String> {
        &self.preprocessed().words
    }

    /// Returns the file after preprocessing.
    pub(crate) fn preprocessed(&self) -> &PreprocessedUnit {
        self.preprocessed.get_or_init(|| self.target.preprocessed.unit(&self.target, self.unit))
    }
}
