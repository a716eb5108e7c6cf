//! Specifications of external functions, which users write in files (`--world`).
//!
//! `specification.rs` parses them; `c.rs` translates them to C helper functions; `java.rs` to a Java class; `check.rs`
//! finds calls for which no case, or two cases, hold. Without a specification, the results of an external function are
//! inputs.
//!
//! There is no circle here: `check.rs` uses the translations, and these use `specification.rs`.

mod c;
mod check;
pub(crate) mod java;
mod specification;

use crate::request::{Notice, nearest_name};
use std::path::PathBuf;
use touchstone_front_java::SpecError;
use touchstone_ir::{FunctionRole, Module};

pub(crate) use c::CHelpers;
pub(crate) use java::JavaSpecs;
pub use specification::SpecificationError;
pub(crate) use specification::{ExternalSpecs, FunctionSpec};

impl ExternalSpecs {
    /// Translates the specifications of external functions of a C program.
    pub fn in_c(&self, module: &Module, files: &[PathBuf]) -> Result<Vec<CHelpers>, SpecificationError> {
        let mut found = Vec::new();
        for spec in &self.functions {
            let Some(id) = module.function_named(&spec.function) else { continue };
            let function = &module.functions[id];
            if !function.is_defined() || is_stub(function.role) {
                found.push(c::translate(module, files, spec, id)?);
            }
        }
        Ok(found)
    }

    /// Returns a notice for every specification that has no effect.
    pub fn notices(&self, module: &Module, java: Option<&JavaSpecs>) -> Vec<Notice> {
        let mut notices = Vec::new();
        for (index, spec) in self.functions.iter().enumerate() {
            let place = format!("{}:{}", spec.file.display(), spec.line);
            if let Some(java) = java {
                let unused = java.unused.iter().find(|(at, _)| *at == index);
                let told = |(_, why): &(usize, SpecError)| Notice::NotDescribed {
                    place,
                    function: spec.function.clone(),
                    why: why_unused(*why).to_string(),
                };
                notices.extend(unused.map(told));
                continue;
            }
            let why = match module.function_named(&spec.function).map(|id| &module.functions[id]) {
                Some(function) if function.is_described() => continue,
                Some(function) if function.is_defined() && !is_stub(function.role) => {
                    "the program defines it".to_string()
                }
                Some(_) => "tests of this program can't replace it".to_string(),
                None => {
                    let names = module.functions.values().filter(|function| is_stub(function.role));
                    let near = nearest_name(&spec.function, names.map(|function| function.name.as_str()));
                    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                    format!("the program does not call it{hint}")
                }
            };
            notices.push(Notice::NotDescribed { place, function: spec.function.clone(), why });
        }
        notices
    }
}

/// Explains why the specification of a method has no effect.
fn why_unused(why: SpecError) -> &'static str {
    match why {
        SpecError::NoClass => "its class was not found; write it with its package: example.Sensor.read(channel)",
        SpecError::NoMethod => "its class has no method of this name with this number of parameters",
        SpecError::Ambiguous => "its class has several methods of this name with this number of parameters",
        SpecError::HasCode => "the program defines it",
        SpecError::NotOverridable => "tests cannot replace it: it cannot be overridden",
    }
}

fn is_stub(role: FunctionRole) -> bool {
    matches!(role, FunctionRole::External | FunctionRole::Library)
}
