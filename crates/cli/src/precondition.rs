//! `--pre EXPR`: a C expression over the parameters becomes a precondition function beside the user's code.
//!
//! The expression is compiled by the user's compiler rules, in a wrapper file that includes the unmodified source, so
//! macros, types and helper functions of the source can be used in it.

use crate::program::{Program, Reader};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use touchstone_ir::FuncId;

/// What the made function's name ends with.
pub const SUFFIX: &str = "__touchstone_pre";

/// Reads the program again with the preconditions added.
pub fn add(
    reader: &Reader,
    program: Program,
    files: &[PathBuf],
    preconditions: &[(FuncId, String)],
    directory: &Path,
) -> Result<Program> {
    if preconditions.is_empty() {
        return Ok(program);
    }
    let mut wrapped: Vec<PathBuf> = files.to_vec();
    for (func, expression) in preconditions {
        let function = &program.module.functions[*func];
        let source = program.module.files.get(function.span.file).cloned().unwrap_or_default();
        let Some(index) = files.iter().position(|file| same_file(file, Path::new(&source))) else {
            bail!("--pre: `{}` is not defined in one of the given files but in {source}", function.name);
        };
        let parameters = touchstone_emit::parameter_list(&program.module, *func)?;
        let name = &function.name;
        let made = directory.join(format!("pre_{index}.c"));
        let mut text = match std::fs::read_to_string(&made) {
            Ok(text) if wrapped[index] == made => text,
            _ => {
                let source = std::path::absolute(&files[index])?;
                format!("#include \"{}\"\n", source.display())
            }
        };
        text += &format!("#line 1 \"--pre {name}\"\nint {name}{SUFFIX}({parameters}) {{ return !!({expression}); }}\n");
        std::fs::write(&made, text).with_context(|| format!("can't write {}", made.display()))?;
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
