//! The beginning of a test file: the comment with the build command, the included source, headers, stubs and missing variables.

use crate::EmitError;
use crate::c::build::configuration::Build;
use crate::c::build::include_path::{include_name, relative_path};
use crate::c::build::portable_path::ProjectPaths;
use crate::c::build::preprocessor::inline_definitions;
use crate::c::build::runtime_files::{ALLOCATIONS, GTEST_HEADER, HEADER, STUBS};
use crate::c::files::checksum::checksum_line;
use crate::c::files::suite_file::{FILE_NAME_MARK, REGISTRY_NAME_MARK, SUITE_START};
use crate::c::syntax::comment::comment_text;
use crate::c::syntax::names::source_name;
use crate::c::text::form::CTestForm;
use crate::c::text::stubs::{stub_symbol_names, stub_text};
use crate::c::text::test_body::main_prototype;
use crate::c::text::test_macros::clashing_macros;
use crate::c::text::tested_program::TestedProgram;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_ir::{DataType, Global, Linkage};

/// Returns the command that builds and runs a file, for the comment at its top.
fn build_command(program: &TestedProgram, dir: &Path, target: &Build, unit: usize) -> String {
    let ours = [target.cc.clone(), "-fwrapv".to_string(), "-fno-strict-aliasing".to_string()];
    let project = ProjectPaths::of(dir, target);
    let own_flags = &target.units[unit].flags;
    let mut words: Vec<String> = ours.iter().cloned().chain(project.flags(own_flags)).collect();
    let dir = PathBuf::from(project.path(&dir.display().to_string()));
    words.push(dir.join(FILE_NAME_MARK).display().to_string());
    match program.form {
        CTestForm::Touchstone => words.push(dir.join("touchstone_test.c").display().to_string()),
        CTestForm::Gtest => {
            words.push(dir.join(REGISTRY_NAME_MARK).display().to_string());
            words.push(dir.join("touchstone_gtest.cc").display().to_string());
        }
        CTestForm::Unity | CTestForm::Cmocka => {}
    }
    let mut before = String::new();
    for (index, other) in target.units.iter().enumerate().filter(|(index, _)| *index != unit) {
        let path = project.path(&other.path.display().to_string());
        let has_main = target.defines_main(program.module, index);
        if !has_main && other.flags == *own_flags {
            words.push(path);
            continue;
        }
        // A unit with other flags, or with `main`, is compiled separately.
        let object = format!("unit_{index}.o");
        let renamed = has_main.then(|| "-Dmain=touchstone_program_main".to_string());
        let rest = ["-c".to_string(), path, "-o".to_string(), object.clone()];
        let compile: Vec<String> =
            ours.iter().cloned().chain(project.flags(&other.flags)).chain(renamed).chain(rest).collect();
        before.push_str(&format!("{} && ", shell_words(&compile)));
        words.push(object);
    }
    words.extend(own_flags.iter().filter(|flag| flag.starts_with("-l")).cloned());
    let (words, libraries) = (shell_words(&words), program.form.libraries().join(" "));
    format!("{before}{words} {libraries} -lm -o tests && ./tests").replace("  ", " ").replace("*/", "* /")
}

/// Quotes arguments for a shell.
fn shell_words(words: &[String]) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./=+:,@%\u{1}\u{2}".contains(char);
    let quoted = words
        .iter()
        .map(|word| if word.chars().all(plain) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) });
    quoted.collect::<Vec<_>>().join(" ")
}

pub(crate) fn prologue(
    program: &TestedProgram,
    given: &Path,
    target: &Build,
    unit: usize,
) -> Result<String, EmitError> {
    let dir = given.canonicalize().map_err(EmitError::io(given))?;
    let path = &target.units[unit].path;
    let source = relative_path(&path.canonicalize().map_err(EmitError::io(path))?, &dir);
    let source = include_name(&source).ok_or_else(|| EmitError::NotIncludable { path: path.clone() })?;
    let name = &program.name;
    let build = build_command(program, given, target, unit);
    let hint = match program.form {
        CTestForm::Unity => " (UNITY_DIR has unity.c)",
        CTestForm::Touchstone | CTestForm::Cmocka | CTestForm::Gtest => "",
    };
    let mut text = format!(
        "{SUITE_START}{name} in {}, written by Touchstone. To build and run them where Touchstone ran{hint}:\n *     {build}\n{} */\n",
        comment_text(&source),
        checksum_line()
    );
    let own_main = target.defines_main(program.module, unit);
    if own_main && let Some(main) = program.module.function_named("main") {
        let main = &program.module.functions[main];
        let flags = &target.units[unit].flags;
        let void = matches!(program.module.types[main.result_data], DataType::Void);
        text.push_str(&main_prototype(&program.ctypes, main, flags, void));
        text.push_str(" /* the runner has the other main */\n");
    }
    if target.units.len() == 1 {
        text.push_str(&stub_symbol_names(program));
    }
    text.push_str(&format!(
        "#include \"{source}\"\n{}",
        inline_definitions(program.module, program.visibility.preprocessed())
    ));
    text.push_str(&missing_variables(program));
    let allocations = if program.facts.allocates { "#include \"touchstone_allocations.h\"\n" } else { "" };
    let rest = format!("{}{allocations}{}", program.form.includes(), stub_text(program));
    let preprocessed = program.visibility.preprocessed();
    let own = match program.form {
        CTestForm::Touchstone => HEADER,
        CTestForm::Gtest => GTEST_HEADER,
        CTestForm::Unity | CTestForm::Cmocka => "",
    };
    let stubs = if program.has_stubs { STUBS } else { "" };
    let failing = if program.facts.allocates { ALLOCATIONS } else { "" };
    let names: BTreeSet<&str> =
        [rest.as_str(), own, stubs, failing].into_iter().flat_map(|text| clashing_macros(preprocessed, text)).collect();
    names.iter().for_each(|name| text.push_str(&format!("#undef {name}\n")));
    Ok(text + &rest)
}

/// The size in bytes of an array of unknown length.
const BYTES_OF_UNSIZED_ARRAY: u64 = 64;

/// Returns weak definitions of variables that none of the given files defines, so that a definition in a linked file
/// takes precedence. Variables that are constant in the program are writable here, because tests set them; C has no
/// notation for that, so they are defined in assembly.
fn missing_variables(program: &TestedProgram) -> String {
    const DEFINITION: &str = r#"
/* Variables that no given file defines, for the tests to set. */
#define ELSEWHERE(name, size) \
    __asm__(".pushsection .data\n.balign 64\n.weak " #name "\n.type " #name ", %object\n.size " #name ", " #size "\n" \
            #name ": .zero " #size "\n.popsection")
"#;
    let missing = program
        .module
        .globals
        .values()
        .filter(|global| global.linkage == Linkage::Undefined && global.function.is_none());
    // Tests use at most the address of an array of unknown length.
    let size = |global: &Global| if global.size == 0 { BYTES_OF_UNSIZED_ARRAY } else { global.size };
    let lines: String =
        missing.map(|global| format!("ELSEWHERE({}, {});\n", source_name(&global.name), size(global))).collect();
    if lines.is_empty() { lines } else { format!("{DEFINITION}{lines}") }
}

/// Returns the macros that a prologue undefines.
pub(crate) fn undefined_macros(prologue: &str) -> BTreeSet<String> {
    prologue.lines().filter_map(|line| line.strip_prefix("#undef ")).map(str::to_string).collect()
}
