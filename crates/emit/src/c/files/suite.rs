//! The files of a suite: one C file a function, written as tests are found.
//!
//! The first [`WRITTEN_OUT`] tests are written out; of the others those that differ only in their numbers are rows of a table,
//! which compile forty times as fast. A file is split where it would take a compiler about a second, because parts compile at the
//! same time: `test_match.c`, `test_match.002.c`, … Each part is a program of its own. While a run finds tests nothing is
//! rewritten but the end of a table: a test is appended in one write, so the file is whole after every one. A later run begins
//! its files anew, and removes parts that it has no tests for.
//! Files that their user edited (`owned.rs`) stay as they are, and the tests go to a file beside them (`kept.rs`).
//!
//! Suites for other frameworks ([`Form`]) are the same files with other checks, each test written out. They have their
//! list of tests and their `main` only after [`CSuite::finish`].

use crate::EmitError;
use crate::c::build::configuration::{Build, relative_path};
use crate::c::build::preprocessor::{inline_definitions, replaced};
use crate::c::files::checksum::{Beginnings, OwnedFile, Whose, checksum_line, with_checksum, write_stamped};
use crate::c::files::edited_suites::{free_suite, text_before};
use crate::c::syntax::comment::{comment_text, covers_comment};
use crate::c::syntax::ctype::CTypes;
use crate::c::syntax::names::{program_names, source_name};
use crate::c::text::body::{TestedProgram, main_prototype, test_text};
use crate::c::text::form::Form;
use crate::c::text::process_isolation::{Listed, Processes};
use crate::c::text::side_effects::keeps_to_itself;
use crate::c::text::stubs::{has_stubs, own_names, stub_text};
use crate::c::text::table_row::{Row, Table, row};
use crate::c::text::visibility::Visibility;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_criteria::{Covered, TestCase};
use touchstone_ir::{Builtin, CBuiltin, DataType, FuncId, Function, Global, InputSource, InstKind, Linkage, Module};

/// How many tests are written out before tables begin.
const WRITTEN_OUT: usize = 100;
/// What a file has at most, in rows; a test that is written out counts as several.
const CHUNK: usize = 10_000;
/// How many rows a test is that is written out.
const ROWS_A_TEST: usize = 10;

/// The header that test files include.
pub(crate) const HEADER: &str = include_str!("../../../runtime/touchstone_test.h");
/// The runner that test files are linked with.
pub(crate) const RUNNER: &str = include_str!("../../../runtime/touchstone_test.c");
/// What tests of every form need where the program calls what nobody defines.
const STUBS: &str = include_str!("../../../runtime/touchstone_stubs.h");
/// What tests of every form need where allocations fail.
const ALLOCATIONS: &str = include_str!("../../../runtime/touchstone_allocations.h");
/// What tests of every form need that have registers, and those that have files: the name of a header, and its text.
const REGISTERS: (&str, &str) = ("touchstone_registers.h", include_str!("../../../runtime/touchstone_registers.h"));
const ENVIRONMENT: (&str, &str) =
    ("touchstone_environment.h", include_str!("../../../runtime/touchstone_environment.h"));
const FILES: (&str, &str) = ("touchstone_files.h", include_str!("../../../runtime/touchstone_files.h"));
/// What tests for GoogleTest include, and are linked with.
const GTEST_HEADER: &str = include_str!("../../../runtime/touchstone_gtest.h");
const GTEST_GLUE: &str = include_str!("../../../runtime/touchstone_gtest.cc");

/// The tests of one function, as C files that grow.
pub struct CSuite<'m> {
    program: TestedProgram<'m>,
    path: PathBuf,
    file: OwnedFile,
    prologue: String,
    /// Tests in the current file.
    tests: Vec<Listed>,
    /// What each test of the current file finds.
    processes: Processes,
    /// The file beside it that registers its tests, for GoogleTest.
    registry: Option<OwnedFile>,
    /// The file has the program's `main`.
    own_main: bool,
    /// Files that their user edited have the other tests.
    is_beside: bool,
    /// What those files have.
    known: String,
    chunks: usize,
    /// What the current file has, in rows.
    weight: usize,
    /// All tests so far.
    added: usize,
    /// The table at the end of the current file that rows can be added to.
    open: Option<Table>,
    tables: usize,
    /// Declarations that the current file already has.
    declared: BTreeSet<String>,
    /// The shapes of rows that the current file already has, with their numbers.
    shapes: BTreeMap<String, usize>,
    /// Macros of the program that are taken back in the current file.
    taken_back: BTreeSet<String>,
    /// Tests that are written and do not run, and why.
    skipped: Vec<(String, String)>,
}

/// Whether a test was added: one that a user's file has already is not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Added {
    Yes,
    No,
}

impl<'m> CSuite<'m> {
    /// Begins the suite of a function in `dir`, which is made if needed; an older suite of the function is
    /// replaced, unless its user edited it.
    pub fn create(
        dir: &Path,
        module: &'m Module,
        function: FuncId,
        target: &Build,
        form: Form,
    ) -> Result<CSuite<'m>, EmitError> {
        CSuite::create_after(dir, module, function, target, form, 0)
    }

    /// The same, where so many suites of the function stay whoever wrote them, because another form of them was edited.
    pub fn create_after(
        dir: &Path,
        module: &'m Module,
        function: FuncId,
        target: &Build,
        form: Form,
        staying: usize,
    ) -> Result<CSuite<'m>, EmitError> {
        fs::create_dir_all(dir).map_err(EmitError::io(dir))?;
        match form {
            Form::Touchstone => {
                write_stamped(&dir.join("touchstone_test.h"), &with_checksum(HEADER))?;
                write_stamped(&dir.join("touchstone_test.c"), &with_checksum(RUNNER))?;
            }
            Form::Gtest => {
                write_stamped(&dir.join("touchstone_gtest.h"), &with_checksum(GTEST_HEADER))?;
                write_stamped(&dir.join("touchstone_gtest.cc"), &with_checksum(GTEST_GLUE))?;
            }
            Form::Unity | Form::Cmocka => {}
        }
        let keeps_to_itself = keeps_to_itself(module, function);
        let has_stubs = has_stubs(module, function);
        let function = &module.functions[function];
        if has_stubs {
            write_stamped(&dir.join("touchstone_stubs.h"), &with_checksum(STUBS))?;
        }
        let allocates = allocates(module);
        if allocates {
            write_stamped(&dir.join("touchstone_allocations.h"), &with_checksum(ALLOCATIONS))?;
        }
        let unit = unit_with(module, function, target)?;
        let path = free_suite(dir, &function.name, staying)?;
        let is_beside = path != dir.join(file_name(&function.name));
        // What a suite in our own form lacks is measured; of others only the text is known.
        let known = match form {
            Form::Touchstone => String::new(),
            Form::Unity | Form::Cmocka | Form::Gtest => text_before(dir, &function.name, &path)?,
        };
        let program = TestedProgram {
            form,
            module,
            function,
            name: source_name(&function.name).to_string(),
            ctypes: CTypes::new(module),
            names: program_names(module),
            visibility: Visibility::new(module, target, unit),
            has_stubs,
            allocates,
            keeps_to_itself,
        };
        let prologue = prologue(&program, dir, target, unit)?;
        let own_main = target.defines_main(module, unit);
        let processes = Processes::of(module, function);
        let file = begin_file(&path, &prologue)?;
        let registry = begin_registry(form, &path)?;
        let (tests, declared, shapes) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        let taken_back = taken_back(&prologue);
        Ok(CSuite {
            program,
            path,
            file,
            prologue,
            tests,
            processes,
            registry,
            own_main,
            is_beside,
            known,
            chunks: 1,
            weight: 0,
            added: 0,
            open: None,
            tables: 0,
            declared,
            shapes,
            taken_back,
            skipped: Vec::new(),
        })
    }

    /// Says instead of a test why it is left out.
    pub fn leave_out(&mut self, test: &TestCase, why: &str) -> Result<(), EmitError> {
        self.skipped.push((test.id.clone(), format!("it does not compile: {why}")));
        let text = format!("\n/* {} is left out, it does not compile: {} */\n", test.id, comment_text(why));
        self.open = None;
        self.file.append(&text)
    }

    /// Says instead of the whole file why there are no tests in it.
    pub fn give_up(&mut self, why: &str) -> Result<(), EmitError> {
        let all = std::mem::take(&mut self.tests);
        self.skipped = all.into_iter().map(|test| (test.id, format!("it does not compile: {why}"))).collect();
        let (name, why) = (&self.program.name, comment_text(why));
        let sum = checksum_line();
        let text =
            format!("{BEGIN}{name}, written by Touchstone: there are none, they do not compile: {why}\n{sum} */\n");
        self.file = begin_file(&self.path, &text)?;
        self.open = None;
        self.registry = begin_registry(self.program.form, &self.path)?;
        Ok(())
    }

    /// Lines that take back macros of the program which would replace names in a text.
    fn take_back(&mut self, text: &str) -> String {
        let names = replaced(self.program.visibility.surface(), text);
        let new = names.filter(|name| self.taken_back.insert(name.to_string()));
        new.map(|name| format!("\n#undef {name}")).collect()
    }

    /// Appends a test, with a comment that says what it covers (rows of a table have none). After this call it is on
    /// disk.
    pub fn add(&mut self, test: &TestCase, covers: &[Covered<'_>]) -> Result<(), EmitError> {
        if self.weight >= CHUNK {
            self.next_file()?;
        }
        let as_row = self.added >= WRITTEN_OUT && self.program.form == Form::Touchstone;
        let row = if as_row { row(&self.program, test, &mut self.shapes) } else { None };
        let added = match row {
            Some(row) => self.add_row(row)?,
            None => self.write_out(test, covers)?,
        };
        if added == Added::No {
            return Ok(());
        }
        self.added += 1;
        if !test.earlier().is_empty() || has(test, InputSource::Register) || uses_streams(test) {
            self.processes = Processes::OneEach;
        }
        self.tests.push(Listed::of(self.program.form, test));
        Ok(())
    }

    fn next_file(&mut self) -> Result<(), EmitError> {
        self.finish()?;
        self.chunks += 1;
        let path = chunk_path(&self.path, self.chunks);
        self.file = begin_file(&path, &self.prologue)?;
        self.registry = begin_registry(self.program.form, &path)?;
        self.weight = 0;
        self.tables = 0;
        self.open = None;
        self.declared.clear();
        self.shapes.clear();
        self.taken_back = taken_back(&self.prologue);
        Ok(())
    }

    fn write_out(&mut self, test: &TestCase, covers: &[Covered<'_>]) -> Result<Added, EmitError> {
        let comment = covers_comment(self.program.module, self.program.function.span, covers);
        let written = test_text(&self.program, test);
        if self.known.contains(written.text.trim()) {
            return Ok(Added::No);
        }
        let headers = self.headers_for(test, &written.text)?;
        self.skipped.extend(written.skipped.map(|why| (test.id.clone(), why)));
        let text = self.declare(written.declarations) + &written.text;
        let names: String = headers.iter().map(|(_, text)| *text).collect();
        let taken_back = self.take_back(&format!("{names}{text}"));
        let lines = headers.iter().map(|(name, _)| format!("#include \"{name}\"\n")).collect();
        let header = self.declare(lines);
        self.weight += ROWS_A_TEST;
        self.open = None;
        self.file.append(&format!("{taken_back}{header}{comment}{text}"))?;
        Ok(Added::Yes)
    }

    /// The headers that a test needs, which are there from now on.
    fn headers_for(&self, test: &TestCase, text: &str) -> Result<Vec<(&'static str, &'static str)>, EmitError> {
        let mut headers = Vec::new();
        headers.extend(has(test, InputSource::Register).then_some(REGISTERS));
        headers.extend((uses_streams(test) || text.contains(" = STREAM();")).then_some(FILES));
        let is_ours = self.program.form == Form::Touchstone;
        headers.extend((has(test, InputSource::Variable) && !is_ours).then_some(ENVIRONMENT));
        for (name, text) in &headers {
            write_stamped(&self.path.with_file_name(name), &with_checksum(text))?;
        }
        Ok(headers)
    }

    /// A row goes into the table that the file ends in, if it fits there, else into a new one.
    fn add_row(&mut self, row: Row) -> Result<Added, EmitError> {
        self.weight += 1;
        let before = self.declare(row.declarations) + &row.shape_text;
        let taken_back = self.take_back(&format!("{before}{}", row.text));
        let before = taken_back + &before;
        if before.is_empty() && self.open.as_ref() == Some(&row.table) {
            self.file.append_before_end(&row.text)?;
            return Ok(Added::Yes);
        }
        self.tables += 1;
        let (number, table) = (self.tables, row.table);
        let head = format!("{before}{}{}", table.begin(number), row.text);
        self.file.append_with_end(&head, &table.end(number))?;
        self.open = Some(table);
        Ok(Added::Yes)
    }

    /// Declarations that the file does not have yet.
    fn declare(&mut self, declarations: BTreeSet<String>) -> String {
        let new = declarations.into_iter().filter(|declaration| self.declared.insert(declaration.clone()));
        new.map(|declaration| format!("\n{declaration}")).collect()
    }

    /// Ends the current file with the `main` that runs its tests, where the framework wants one.
    pub fn finish(&mut self) -> Result<(), EmitError> {
        let tests = std::mem::take(&mut self.tests);
        if self.is_beside && self.chunks == 1 && tests.is_empty() {
            // What is there covers everything.
            return remove_ours(&self.path).and_then(|()| remove_ours(&self.path.with_extension("cc")));
        }
        if let Some(registry) = &mut self.registry {
            let lines = tests.iter().map(|test| Form::registration(&self.program.name, test, self.processes));
            registry.append(&lines.collect::<String>())?;
        }
        let text = self.program.form.runner(&tests, self.own_main, self.processes);
        self.file.append(&text)
    }

    /// How many tests were added, and which of them do not run, with the reason.
    pub fn runs(&self) -> (usize, &[(String, String)]) {
        (self.added, &self.skipped)
    }

    /// The first file of the suite.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// How a test file begins, from its first byte on.
const BEGIN: &str = "/* Tests of ";
/// How one begins that registers its tests.
const REGISTRATION: &str = "/* Registers the tests of ";
/// How our files are known. One without tests had other words once.
pub(crate) const OURS: Beginnings = Beginnings {
    starts: &[BEGIN, REGISTRATION],
    marks: &["written by Touchstone", REGISTRATION],
    empty: "/* No tests of ",
};

/// Refuses a file that is there and that we did not write: a user's directory may have tests that are called like ours.
fn check_ours(path: &Path) -> Result<(), EmitError> {
    match OURS.whose(path)? {
        Whose::Nobodys | Whose::Ours => Ok(()),
        Whose::Edited | Whose::Foreign => Err(EmitError::NotOurs { path: path.to_path_buf() }),
    }
}

/// Removes a file of ours, if it is there.
pub(crate) fn remove_ours(path: &Path) -> Result<(), EmitError> {
    check_ours(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(EmitError::io(path)(error)),
        _ => Ok(()),
    }
}

/// Stands in the prologue for the name of the file.
const OWN_NAME: &str = "\u{1}";
/// Stands in the prologue for the name of the file that registers its tests.
const REGISTRY: &str = "\u{2}";

fn begin_file(path: &Path, prologue: &str) -> Result<OwnedFile, EmitError> {
    check_ours(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    OwnedFile::create(path, &prologue.replace(OWN_NAME, &name).replace(REGISTRY, &format!("{name}c")))
}

fn begin_registry(form: Form, path: &Path) -> Result<Option<OwnedFile>, EmitError> {
    if form != Form::Gtest {
        return Ok(None);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let head = format!("{REGISTRATION}{name}.\n{} */\n#include <gtest/gtest.h>\n", checksum_line());
    begin_file(&path.with_extension("cc"), &head).map(Some)
}

/// `test_max3.c`; a function that shares its name with one of another file gets that file's name too.
pub(crate) fn file_name(function: &str) -> String {
    let own = source_name(function);
    let rest: String = function[own.len()..]
        .chars()
        .enumerate()
        .map(|(index, char)| match char {
            _ if index == 0 => '.',
            char if char.is_ascii_alphanumeric() => char,
            _ => '_',
        })
        .collect();
    format!("test_{own}{rest}.c")
}

/// The `number`th file of a suite, from 1.
fn chunk_path(first: &Path, number: usize) -> PathBuf {
    if number == 1 { first.to_path_buf() } else { first.with_extension(format!("{number:03}.c")) }
}

/// All files that a suite may have, in order.
pub(crate) fn chunk_paths(first: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    (1..).map(|number| chunk_path(first, number))
}

/// The unit to include: the one that defines the function, or one that includes the header that does; that which its name says, where
/// several have another one of it, or else the first.
pub(crate) fn unit_with(module: &Module, function: &Function, target: &Build) -> Result<usize, EmitError> {
    if let Some(unit) = target.unit_of_file(module, function.span.file) {
        return Ok(unit);
    }
    let file = module.files.get(function.span.file).cloned().unwrap_or_default();
    let name = Path::new(&file).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let includes = |unit: &crate::SourceUnit| {
        let mut command = Command::new(&target.cc);
        command.args(&unit.flags).arg("-I").arg(&target.include_dir).args(["-w", "-M"]).arg(&unit.path);
        let list = command.output().map(|output| output.stdout).unwrap_or_default();
        // Blanks in names are written with a backslash.
        let list = String::from_utf8_lossy(&list).replace("\\\n", " ").replace("\\ ", "\u{1}").replace("\\#", "#");
        list.split_whitespace().any(|path| Path::new(&path.replace('\u{1}', " ")).ends_with(&name))
    };
    let is_named = |unit: &crate::SourceUnit| {
        function
            .name
            .split_once('@')
            .is_some_and(|(_, said)| unit.path.ends_with(said.split('$').next().unwrap_or(said)))
    };
    let with_header = |unit: &crate::SourceUnit| !name.is_empty() && includes(unit);
    let named = target.units.iter().position(|unit| is_named(unit) && with_header(unit));
    let found = named.or_else(|| target.units.iter().position(with_header));
    found.ok_or(EmitError::NoUnit { function: function.name.clone(), file })
}

/// The words that build a file, for the comment at its top.
fn build_command(program: &TestedProgram, dir: &Path, target: &Build, unit: usize) -> String {
    let ours = [target.cc.clone(), "-fwrapv".to_string(), "-fno-strict-aliasing".to_string()];
    let own_flags = &target.units[unit].flags;
    let mut words: Vec<String> = ours.iter().chain(own_flags).cloned().collect();
    words.push(dir.join(OWN_NAME).display().to_string());
    match program.form {
        Form::Touchstone => words.push(dir.join("touchstone_test.c").display().to_string()),
        Form::Gtest => {
            words.push(dir.join(REGISTRY).display().to_string());
            words.push(dir.join("touchstone_gtest.cc").display().to_string());
        }
        Form::Unity | Form::Cmocka => {}
    }
    let mut before = String::new();
    for (index, other) in target.units.iter().enumerate().filter(|(index, _)| *index != unit) {
        let path = other.path.display().to_string();
        let has_main = target.defines_main(program.module, index);
        if !has_main && other.flags == *own_flags {
            words.push(path);
            continue;
        }
        // Compiled in another way than the rest.
        let object = format!("unit_{index}.o");
        let renamed = has_main.then(|| "-Dmain=touchstone_program_main".to_string());
        let rest = ["-c".to_string(), path, "-o".to_string(), object.clone()];
        let compile: Vec<String> = ours.iter().chain(&other.flags).cloned().chain(renamed).chain(rest).collect();
        before.push_str(&format!("{} && ", shell_words(&compile)));
        words.push(object);
    }
    words.extend(own_flags.iter().filter(|flag| flag.starts_with("-l")).cloned());
    let (words, libraries) = (shell_words(&words), program.form.libraries().join(" "));
    format!("{before}{words} {libraries} -lm -o tests && ./tests").replace("  ", " ").replace("*/", "* /")
}

/// Words as a shell reads them.
fn shell_words(words: &[String]) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./=+:,@%\u{1}\u{2}".contains(char);
    let quoted = words
        .iter()
        .map(|word| if word.chars().all(plain) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) });
    quoted.collect::<Vec<_>>().join(" ")
}

fn prologue(program: &TestedProgram, given: &Path, target: &Build, unit: usize) -> Result<String, EmitError> {
    let dir = given.canonicalize().map_err(EmitError::io(given))?;
    let path = &target.units[unit].path;
    let source = relative_path(&path.canonicalize().map_err(EmitError::io(path))?, &dir);
    let source = includable(&source).ok_or_else(|| EmitError::NotIncludable { path: path.clone() })?;
    let name = &program.name;
    let build = build_command(program, given, target, unit);
    let hint = match program.form {
        Form::Unity => " (UNITY_DIR has unity.c)",
        Form::Touchstone | Form::Cmocka | Form::Gtest => "",
    };
    let mut text = format!(
        "{BEGIN}{name} in {}, written by Touchstone. To build and run them where Touchstone ran{hint}:\n *     {build}\n{} */\n",
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
        text.push_str(&own_names(program));
    }
    text.push_str(&format!(
        "#include \"{source}\"\n{}",
        inline_definitions(program.module, program.visibility.surface())
    ));
    text.push_str(&elsewhere(program));
    let allocations = if program.allocates { "#include \"touchstone_allocations.h\"\n" } else { "" };
    let rest = format!("{}{allocations}{}", program.form.includes(), stub_text(program));
    let surface = program.visibility.surface();
    let own = match program.form {
        Form::Touchstone => HEADER,
        Form::Gtest => GTEST_HEADER,
        Form::Unity | Form::Cmocka => "",
    };
    let stubs = if program.has_stubs { STUBS } else { "" };
    let failing = if program.allocates { ALLOCATIONS } else { "" };
    let names: BTreeSet<&str> =
        [rest.as_str(), own, stubs, failing].into_iter().flat_map(|text| replaced(surface, text)).collect();
    names.iter().for_each(|name| text.push_str(&format!("#undef {name}\n")));
    Ok(text + &rest)
}

/// Bytes of an array whose length no given file says.
const UNKNOWN_LENGTH: u64 = 64;

/// Definitions of variables that no given file defines. They are weak: whoever links the file that has them gets that one's. One
/// that is constant to the program is no constant here, since tests differ in it; C has no words for that.
fn elsewhere(program: &TestedProgram) -> String {
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
    // Of an array without a length tests use the address at most.
    let size = |global: &Global| if global.size == 0 { UNKNOWN_LENGTH } else { global.size };
    let lines: String =
        missing.map(|global| format!("ELSEWHERE({}, {});\n", source_name(&global.name), size(global))).collect();
    if lines.is_empty() { lines } else { format!("{DEFINITION}{lines}") }
}

/// Whether a test makes streams, or one that fails.
fn uses_streams(test: &TestCase) -> bool {
    has(test, InputSource::File) || test.output_fails()
}

/// Whether a test gives the program something that comes in there.
fn has(test: &TestCase, source: InputSource) -> bool {
    test.answers.iter().any(|input| input.source == source)
}

/// Whether the program allocates, and has no allocator of its own.
fn allocates(module: &Module) -> bool {
    const ALLOCATORS: [&str; 7] = ["malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "strdup", "strndup"];
    let is_own = |function: &Function| {
        function.is_defined() && !function.is_library() && ALLOCATORS.contains(&function.name.as_str())
    };
    let asks = |function: &Function| {
        let mut insts = function.blocks.values().flat_map(|block| &block.insts);
        insts.any(|inst| {
            let InstKind::Builtin { builtin: Builtin::C(builtin), .. } = inst.kind else { return false };
            matches!(builtin, CBuiltin::Malloc | CBuiltin::Calloc)
        })
    };
    !module.functions.values().any(is_own) && module.functions.values().any(asks)
}

/// The macros that a prologue takes back.
fn taken_back(prologue: &str) -> BTreeSet<String> {
    prologue.lines().filter_map(|line| line.strip_prefix("#undef ")).map(str::to_string).collect()
}

/// The path as it can stand in a line that includes it.
pub(crate) fn includable(path: &Path) -> Option<String> {
    path.to_str().filter(|text| !text.contains(['"', '\n', '\r'])).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_different_functions_never_clash() {
        let check = |function: &str, expected: &str| assert_eq!(file_name(function), expected);
        check("max3", "test_max3.c");
        check("help@b.c", "test_help.b_c.c");
        check("help$2", "test_help.2.c");
        assert_eq!(chunk_path(Path::new("d/test_max3.c"), 1), Path::new("d/test_max3.c"));
        assert_eq!(chunk_path(Path::new("d/test_max3.c"), 2), Path::new("d/test_max3.002.c"));
    }
}
