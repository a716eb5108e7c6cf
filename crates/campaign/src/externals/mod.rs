//! What files say of functions that nobody defines (`--world`), on its way into the program.
//!
//! `specification.rs` reads it; `c.rs` makes functions beside a C program of it, whose expressions the compiler reads; `java.rs` a class beside a Java
//! program; `check.rs` finds calls that no case or two cases are for. Without a file, what such functions do is an input.

mod c;
mod check;
pub(crate) mod java;
mod specification;

use crate::request::{Notice, nearest_name};
use std::path::PathBuf;
use touchstone_front_java::SpecError;
use touchstone_ir::{FunctionRole, Module};

pub(crate) use c::Helpers;
pub(crate) use java::Spoken;
pub use specification::WorldError;
pub(crate) use specification::{Said, World};

impl World {
    /// Translates the specifications of external functions of a C program.
    pub fn in_c(&self, module: &Module, files: &[PathBuf]) -> Result<Vec<Helpers>, WorldError> {
        let mut found = Vec::new();
        for said in &self.said {
            let Some(id) = module.function_named(&said.function) else { continue };
            let function = &module.functions[id];
            if !function.is_defined() || is_stub(function.role) {
                found.push(c::translate(module, files, said, id)?);
            }
        }
        Ok(found)
    }

    /// What is said and changes nothing.
    pub fn notices(&self, module: &Module, java: Option<&Spoken>) -> Vec<Notice> {
        let mut notices = Vec::new();
        for (index, said) in self.said.iter().enumerate() {
            let place = format!("{}:{}", said.file.display(), said.line);
            if let Some(java) = java {
                let unused = java.unused.iter().find(|(at, _)| *at == index);
                let told = |(_, why): &(usize, SpecError)| Notice::NotDescribed {
                    place,
                    function: said.function.clone(),
                    why: unspoken(*why).to_string(),
                };
                notices.extend(unused.map(told));
                continue;
            }
            let why = match module.function_named(&said.function).map(|id| &module.functions[id]) {
                Some(function) if function.is_described() => continue,
                Some(function) if function.is_defined() && !is_stub(function.role) => {
                    "the program has its code, which counts".to_string()
                }
                Some(_) => "tests of this program can't replace it".to_string(),
                None => {
                    let names = module.functions.values().filter(|function| is_stub(function.role));
                    let near = nearest_name(&said.function, names.map(|function| function.name.as_str()));
                    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                    format!("the program does not call it{hint}")
                }
            };
            notices.push(Notice::NotDescribed { place, function: said.function.clone(), why });
        }
        notices
    }
}

/// Why what is said of a method is not used.
fn unspoken(why: SpecError) -> &'static str {
    match why {
        SpecError::NoClass => "its class is not there; write it with its package: example.Sensor.read(channel)",
        SpecError::NoMethod => "its class has no method of this name with so many parameters",
        SpecError::Ambiguous => "its class has several methods of this name with so many parameters",
        SpecError::HasCode => "the program has its code, which counts",
        SpecError::NotOverridable => "tests can't replace it: nobody can override it",
    }
}

fn is_stub(role: FunctionRole) -> bool {
    matches!(role, FunctionRole::External | FunctionRole::Library)
}
