//! Adds the library to a program: models of external functions, lowered like the program's own files.

use crate::clang::options::Surroundings;
use crate::clang::process::{Clang, Input};
use crate::error::FrontError;
use crate::link::linked_program::LinkedProgram;
use crate::link::models::{DESCRIPTORS, MODELS, WORLD};
use crate::lower::context::unit::Selection;
use crate::lower::driver::translation::{Source, lower_unit};
use std::collections::BTreeSet;
use std::path::Path;

/// The maximum number of bytes of a file that is an input.
const FILE_BYTES: u32 = 32;

/// Adds the models of functions that the program uses but does not define, and transitively of those that the models
/// use.
pub(crate) fn add(program: &mut LinkedProgram, clang: &Clang, given: Surroundings) -> Result<(), FrontError> {
    program.settle_library();
    let world = if given.externals { &WORLD } else { &DESCRIPTORS };
    let mut flags = vec!["-ffreestanding".to_string(), "-fno-builtin".to_string()];
    flags.extend(given.stdin.map(|most| format!("-DTOUCHSTONE_STDIN={most}")));
    flags.extend(given.environment.map(|most| format!("-DTOUCHSTONE_ENVIRONMENT={most}")));
    flags.extend(given.externals.then(|| format!("-DTOUCHSTONE_FILES={FILE_BYTES}")));
    flags.extend(program.prints_quietly().then(|| "-DTOUCHSTONE_QUIET_OUTPUT".to_string()));
    flags.extend(program.redirects().then(|| "-DTOUCHSTONE_REDIRECTED".to_string()));
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
            let source = Source {
                input: Input::Text(model.text),
                name: model.name,
                path: Path::new(model.name),
                flags: &flags,
                dump: None,
            };
            lower_unit(program, clang, &source, Selection::Library(names, model.role()))?;
        }
        tried.extend(wanted);
    }
}
