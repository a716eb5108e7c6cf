//! What files say of functions that nobody defines (`--world`), on its way into the program.
//!
//! `text.rs` reads it; `c.rs` makes functions beside a C program of it, whose expressions the compiler reads; `java.rs` a class beside a Java
//! program; `check.rs` finds calls that no case or two cases are for. Without a file, what such functions do is an input.

mod c;
mod check;
pub(crate) mod java;
mod text;

use crate::beside::Beside;
use crate::error::PlanError;
use crate::notice::Notice;
use crate::options_file::nearest_name;
use crate::program::Program;
use std::path::PathBuf;
use touchstone_front_java::Unspoken;
use touchstone_ir::FunctionRole;

pub use text::WorldError;
pub(crate) use text::{Said, World};

impl World {
    /// Adds what is said of functions of a program of these files that it does not define.
    pub fn add(&self, beside: &mut Beside, program: &Program, files: &[PathBuf]) -> Result<(), PlanError> {
        for said in &self.said {
            let Some(id) = program.module.function_named(&said.function) else { continue };
            let function = &program.module.functions[id];
            let open = !function.is_defined() || is_stub(function.role);
            if open && program.java.is_none() {
                c::add(beside, program, files, said, id)?;
            }
        }
        Ok(())
    }

    /// What is said and changes nothing.
    pub fn notices(&self, program: &Program) -> Vec<Notice> {
        let mut notices = Vec::new();
        for (index, said) in self.said.iter().enumerate() {
            let place = format!("{}:{}", said.file.display(), said.line);
            if let Some(java) = &program.java {
                let unused = java.spoken.unused.iter().find(|(at, _)| *at == index);
                let told = |(_, why): &(usize, Unspoken)| Notice::NotDescribed {
                    place,
                    function: said.function.clone(),
                    why: unspoken(*why).to_string(),
                };
                notices.extend(unused.map(told));
                continue;
            }
            let why = match program.module.function_named(&said.function).map(|id| &program.module.functions[id]) {
                Some(function) if function.is_described() => continue,
                Some(function) if function.is_defined() && !is_stub(function.role) => {
                    "the program has its code, which counts".to_string()
                }
                Some(_) => "tests of this program can't replace it".to_string(),
                None => {
                    let names = program.module.functions.values().filter(|function| is_stub(function.role));
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
fn unspoken(why: Unspoken) -> &'static str {
    match why {
        Unspoken::NoClass => "its class is not there; write it with its package: example.Sensor.read(channel)",
        Unspoken::NoMethod => "its class has no method of this name with so many parameters",
        Unspoken::Several => "its class has several methods of this name with so many parameters",
        Unspoken::HasCode => "the program has its code, which counts",
        Unspoken::Fixed => "tests can't replace it: nobody can override it",
    }
}

fn is_stub(role: FunctionRole) -> bool {
    matches!(role, FunctionRole::External | FunctionRole::Library)
}
