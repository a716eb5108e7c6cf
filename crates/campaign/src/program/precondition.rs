//! Translates a precondition, a C expression over the parameters, to a function in the companion source.

use super::companion::CompanionCode;
use super::error::PlanError;
use super::reader::Program;
use crate::request::index_of;
use std::path::PathBuf;
use touchstone_ir::FuncId;

/// The suffix of the generated function's name.
pub(crate) const SUFFIX: &str = "__touchstone_pre";

/// Adds the preconditions of some functions.
pub(crate) fn add(
    companion: &mut CompanionCode,
    program: &Program,
    files: &[PathBuf],
    preconditions: &[(FuncId, String)],
) -> Result<(), PlanError> {
    for (func, expression) in preconditions {
        let function = &program.module.functions[*func];
        let name = &function.name;
        let file = program.module.files.get(function.span.file).cloned().unwrap_or_default();
        let Some(index) = index_of(files, &file) else {
            return Err(PlanError::PreconditionElsewhere { function: name.clone(), file });
        };
        let parameters = touchstone_emit::parameter_list(&program.module, *func)?;
        companion.add(
            index,
            format!("#line 1 \"--pre {name}\"\nint {name}{SUFFIX}({parameters}) {{ return !!({expression}); }}\n"),
        );
    }
    Ok(())
}
