//! Lowers files to a module: translation units, then models of the library, then external functions.

use crate::clang::compiler_version;
use crate::clang::flag_effects::{self, FlagEffects};
use crate::clang::flags::{flags_for, predefined_macros};
use crate::clang::options::{LibraryMode, OffsetofMode, Options};
use crate::clang::process::{self, Clang, ClangInput};
use crate::error::FrontError;
use crate::link::linked_program::LinkedProgram;
use crate::link::{external_specs, externals, models};
use crate::lower::context::unit::UnitSelection;
use crate::lower::driver::library;
use crate::lower::driver::translation::{SourceText, lower_unit};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_ir::Module;

/// Reads C files and links them into one module.
pub fn lower_files(files: &[PathBuf], options: &Options) -> Result<Module, FrontError> {
    touchstone_base::on_deep_stack(|| lower_all(files, options))
}

fn lower_all(files: &[PathBuf], options: &Options) -> Result<Module, FrontError> {
    for file in files {
        check_readable(file)?;
    }
    let clang = process::find(options)?;
    let mut own = BTreeSet::new();
    let mut options = options.clone();
    loop {
        let program = match lower_program(files, &options, &clang, &own) {
            // `offsetof(struct s { int x; }, x)` defines a type and can't be duplicated by a macro.
            Err(FrontError::DoesNotCompile { .. }) if options.offsets == OffsetofMode::Spelled => {
                options.offsets = OffsetofMode::FromText;
                continue;
            }
            program => program?,
        };
        // A later file defines a recognised name: lowering is repeated with the name excluded.
        let mut conflicts: Vec<String> =
            program.recognised.iter().filter(|name| program.overrides(name)).cloned().collect();
        if program.redirects() {
            conflicts.extend(
                models::CONSOLE_OUTPUT.iter().filter(|name| !own.contains(**name)).map(|name| name.to_string()),
            );
        }
        if conflicts.is_empty() {
            return Ok(program.finish());
        }
        own.extend(conflicts);
    }
}

fn check_readable(file: &Path) -> Result<(), FrontError> {
    let not_readable = |source| FrontError::NotReadable { file: file.to_path_buf(), source };
    if file.to_str().is_none() {
        // Positions, reports and tests contain the name.
        let why = "its name is not UTF-8; rename it, or read it through a link";
        return Err(not_readable(std::io::Error::new(std::io::ErrorKind::InvalidInput, why)));
    }
    if std::fs::metadata(file).map_err(not_readable)?.is_dir() {
        return Err(FrontError::IsDirectory { file: file.to_path_buf() });
    }
    std::fs::File::open(file).map(drop).map_err(not_readable)
}

/// Returns true for a flag of the compiler's command that clang understands, too. Others may be those of another compiler.
fn is_known_to_clang(word: &str) -> bool {
    const BEGINNINGS: [&str; 10] = [
        "-D",
        "-U",
        "-I/",
        "-std=",
        "-ansi",
        "-fsigned-char",
        "-fno-signed-char",
        "-funsigned-char",
        "-fno-unsigned-char",
        "-fgnu89-inline",
    ];
    // What is separated from its operand is not known to be complete.
    let honoured = flag_effects::effects(&[word.to_string()]).is_ok_and(|found| {
        FlagEffects { unknown: Vec::new(), ..found.clone() } != FlagEffects::default() && found.unknown.is_empty()
    });
    word.len() > 2 && (honoured || BEGINNINGS.iter().any(|start| word.starts_with(start)))
}

fn lower_program(
    files: &[PathBuf],
    options: &Options,
    clang: &Clang,
    own: &BTreeSet<String>,
) -> Result<LinkedProgram, FrontError> {
    let mut program = LinkedProgram::new(own.clone());
    for file in files {
        program.sources.file_id(&mut program.files, &file.to_string_lossy());
    }
    program.given_files = program.files.len();
    program.types.fresh_volatile = options.environment_inputs.volatile;
    program.types.offsets = options.offsets;
    // The hooks are irrelevant if the program is only analysed, and so are flags.
    let executes = options.library == LibraryMode::Modelled;
    program.executes = executes;
    let given = options.compiler.as_deref().unwrap_or_default().split_whitespace();
    let given: Vec<String> = given.skip_while(|word| !word.starts_with('-')).map(str::to_string).collect();
    let claimed = options.compiler.as_deref().and_then(compiler_version::gnu_version);
    for file in files {
        let mut flags = flags_for(file, options)?;
        flags.splice(0..0, claimed.iter().chain(given.iter().filter(|word| is_known_to_clang(word))).cloned());
        program.instruments_functions |= executes && flags.iter().any(|flag| flag == "-finstrument-functions");
        if executes {
            let effects = flag_effects::effects(&[given.as_slice(), &flags].concat())?;
            program.any_aliasing |= effects.any_aliasing;
            program.fused.extend(effects.fused);
            effects.unknown.iter().for_each(|flag| program.assume_flag(flag));
        }
        flags.extend(predefined_macros(options));
        let name = file.to_string_lossy().into_owned();
        let dump = options.dump.as_ref().filter(|_| files.len() == 1);
        let source = SourceText { input: ClangInput::File(file), name: &name, path: file, flags: &flags, dump };
        lower_unit(&mut program, clang, &source, UnitSelection::Program)?;
    }
    program.types.fresh_volatile = false;
    if options.library == LibraryMode::Modelled {
        library::add(&mut program, clang, options.environment_inputs)?;
    }
    external_specs::add_spec_bodies(&mut program, &options.external_specs);
    if options.environment_inputs.callbacks {
        externals::add_callbacks(&mut program);
    }
    if options.environment_inputs.externals {
        externals::add_external_inputs(&mut program);
    }
    Ok(program)
}
