//! A precondition that is a C expression over the parameters becomes a function beside the user's code.

use super::companion::Beside;
use super::error::PlanError;
use super::reader::Program;
use crate::request::index_of;
use std::path::PathBuf;
use touchstone_ir::FuncId;

/// What the made function's name ends with.
pub(crate) const SUFFIX: &str = "__touchstone_pre";

/// Adds the preconditions of some functions.
pub(crate) fn add(
    beside: &mut Beside,
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
        beside.add(
            index,
            format!("#line 1 \"--pre {name}\"\nint {name}{SUFFIX}({parameters}) {{ return !!({expression}); }}\n"),
        );
    }
    Ok(())
}
