//! Adds the library to a program: models of external functions, lowered like the program's own files.

use crate::clang::options::EnvironmentInputs;
use crate::clang::process::{Clang, ClangInput};
use crate::error::FrontError;
use crate::link::linked_program::LinkedProgram;
use crate::link::models::{DESCRIPTORS, MODELS, NONDETERMINISTIC};
use crate::lower::context::unit::UnitSelection;
use crate::lower::driver::translation::{SourceText, lower_unit};
use std::collections::BTreeSet;
use std::path::Path;
use touchstone_base::fault::{Fault, is_injected};

/// The maximum number of bytes of a file that is an input.
const MAX_FILE_BYTES: u32 = 32;

/// Adds the models of functions that the program uses but does not define, and transitively of those that the models
/// use.
pub(crate) fn add(program: &mut LinkedProgram, clang: &Clang, given: EnvironmentInputs) -> Result<(), FrontError> {
    program.resolve_library();
    let world = if given.externals { &NONDETERMINISTIC } else { &DESCRIPTORS };
    let mut flags = vec!["-ffreestanding".to_string(), "-fno-builtin".to_string()];
    flags.extend(given.stdin.map(|most| format!("-DTOUCHSTONE_STDIN={most}")));
    flags.extend(given.environment.map(|most| format!("-DTOUCHSTONE_ENVIRONMENT={most}")));
    flags.extend(given.externals.then(|| format!("-DTOUCHSTONE_FILES={MAX_FILE_BYTES}")));
    flags.extend(program.has_quiet_output().then(|| "-DTOUCHSTONE_QUIET_OUTPUT".to_string()));
    flags.extend(program.redirects().then(|| "-DTOUCHSTONE_REDIRECTED".to_string()));
    if is_injected(Fault::WrongModel) {
        flags.push("-D__builtin_memcpy(to,from,size)=__builtin_memset(to,1,size)".to_string());
    }
    let mut tried = BTreeSet::new();
    loop {
        let mut undefined: BTreeSet<String> = program.undefined_functions().into_iter().collect();
        undefined.extend(program.undefined_variables());
        let known = |name: &str| MODELS.iter().chain([world]).any(|model| model.provides(name));
        let wanted: BTreeSet<String> = undefined.difference(&tried).filter(|name| known(name)).cloned().collect();
        if wanted.is_empty() {
            return Ok(());
        }
        for model in MODELS.iter().chain([world]) {
            let replaced = |name: &str| !std::ptr::eq(model, world) && world.provides(name);
            let mine = |name: &&String| model.provides(name) && !replaced(name);
            let names: Vec<String> = wanted.iter().filter(mine).cloned().collect();
            if names.is_empty() {
                continue;
            }
            program.sources.insert(model.name, model.text);
            let source = SourceText {
                input: ClangInput::Text(model.text),
                name: model.name,
                path: Path::new(model.name),
                flags: &flags,
                dump: None,
            };
            lower_unit(program, clang, &source, UnitSelection::Library(names, model.role()))?;
        }
        tried.extend(wanted);
    }
}
