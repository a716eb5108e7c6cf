//! A precondition that is a C expression over the parameters becomes a function beside the user's code.
//!
//! The expression is compiled by the user's compiler rules, in a wrapper file that includes the unmodified source, so
//! macros, types and helper functions of the source can be used in it.

use crate::error::PlanError;
use crate::program::{Program, Reader};
use std::path::{Path, PathBuf};
use touchstone_ir::FuncId;

/// What the made function's name ends with.
pub(crate) const SUFFIX: &str = "__touchstone_pre";

/// Reads the program again with the preconditions added.
pub(crate) fn add(
    reader: &Reader,
    program: Program,
    files: &[PathBuf],
    preconditions: &[(FuncId, String)],
    directory: &Path,
) -> Result<Program, PlanError> {
    if preconditions.is_empty() {
        return Ok(program);
    }
    let mut wrapped: Vec<PathBuf> = files.to_vec();
    for (func, expression) in preconditions {
        let function = &program.module.functions[*func];
        let name = &function.name;
        let file = program.module.files.get(function.span.file).cloned().unwrap_or_default();
        let Some(index) = files.iter().position(|given| same_file(given, Path::new(&file))) else {
            return Err(PlanError::PreconditionElsewhere { function: name.clone(), file });
        };
        let parameters = touchstone_emit::parameter_list(&program.module, *func)?;
        let made = directory.join(format!("pre_{index}.c"));
        let mut text = match std::fs::read_to_string(&made) {
            Ok(text) if wrapped[index] == made => text,
            _ => {
                let path = &files[index];
                let source =
                    std::path::absolute(path).map_err(|source| PlanError::NoPath { path: path.clone(), source })?;
                format!("#include \"{}\"\n", source.display())
            }
        };
        text += &format!("#line 1 \"--pre {name}\"\nint {name}{SUFFIX}({parameters}) {{ return !!({expression}); }}\n");
        std::fs::write(&made, text).map_err(|source| PlanError::NotWritten { path: made.clone(), source })?;
        wrapped[index] = made;
    }
    let mut again = reader.read(&wrapped)?;
    // Reports and tests speak of the user's file, not of the wrapper.
    for path in again.module.files.values_mut() {
        if let Some(original) = files.iter().find(|file| same_file(file, Path::new(path.as_str()))) {
            *path = original.display().to_string();
        }
    }
    again.units = program.units;
    Ok(again)
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
