//! The files of a suite: one C file a function, written as tests are found.
//!
//! The first [`WRITTEN_OUT`] tests are written out; of the others those that differ only in their numbers are rows of a table,
//! which compile forty times as fast. A file is split where it would take a compiler about a second, because parts compile at the
//! same time: `test_match.c`, `test_match.002.c`, … Each part is a program of its own. While a run finds tests nothing is
//! rewritten but the end of a table: a test is appended in one write, so the file is whole after every one. A later run begins its files anew, and removes parts that it has no tests for.
//!
//! Suites for other frameworks ([`Form`]) are the same files with other checks, each test written out. They have their
//! list of tests and their `main` only after [`CSuite::finish`].

use crate::EmitError;
use crate::c::alone::keeps_to_itself;
use crate::c::body::{TestedProgram, main_prototype, test_text};
use crate::c::build::{Build, relative_path};
use crate::c::comment::{comment_text, covers_comment};
use crate::c::ctype::CTypes;
use crate::c::form::Form;
use crate::c::names::{program_names, source_name};
use crate::c::preprocessed::{inline_definitions, replaced};
use crate::c::row::{Row, Table, row};
use crate::c::stubs::{has_stubs, stub_text};
use crate::c::visibility::Visibility;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_criteria::{Covered, TestCase};
use touchstone_ir::{DataType, FuncId, Function, Module};

/// How many tests are written out before tables begin.
const WRITTEN_OUT: usize = 100;
/// What a file has at most, in rows; a test that is written out counts as several.
const CHUNK: usize = 10_000;
/// How many rows a test is that is written out.
const ROWS_A_TEST: usize = 10;

/// The header that test files include.
pub(crate) const HEADER: &str = include_str!("../../runtime/touchstone_test.h");
/// The runner that test files are linked with.
pub(crate) const RUNNER: &str = include_str!("../../runtime/touchstone_test.c");
/// What tests of every form need where the program calls what nobody defines.
const STUBS: &str = include_str!("../../runtime/touchstone_stubs.h");
/// What tests for GoogleTest include, and are linked with.
const GTEST_HEADER: &str = include_str!("../../runtime/touchstone_gtest.h");
const GTEST_GLUE: &str = include_str!("../../runtime/touchstone_gtest.cc");

/// The tests of one function, as C files that grow.
pub struct CSuite<'m> {
    program: TestedProgram<'m>,
    path: PathBuf,
    file: File,
    prologue: String,
    /// Tests in the current file.
    tests: Vec<String>,
    /// The file beside it that registers its tests, for GoogleTest.
    registry: Option<File>,
    /// The file has the program's `main`.
    own_main: bool,
    chunks: usize,
    /// What the current file has, in rows.
    weight: usize,
    /// All tests so far.
    added: usize,
    /// The table at the end of the current file that rows can be added to.
    open: Option<OpenTable>,
    tables: usize,
    /// Declarations that the current file already has.
    declared: BTreeSet<String>,
    /// The shapes of rows that the current file already has, with their numbers.
    shapes: BTreeMap<String, usize>,
    /// Macros of the program that are taken back in the current file.
    taken_back: BTreeSet<String>,
}

/// A table that the file ends in.
struct OpenTable {
    table: Table,
    number: usize,
    /// Where its last lines begin.
    end: u64,
}

impl<'m> CSuite<'m> {
    /// Begins the suite of a function in `dir`, which is made if needed; an older suite of the function is replaced.
    pub fn create(
        dir: &Path,
        module: &'m Module,
        function: FuncId,
        target: &Build,
        form: Form,
    ) -> Result<CSuite<'m>, EmitError> {
        fs::create_dir_all(dir).map_err(EmitError::io(dir))?;
        match form {
            Form::Touchstone => {
                write_file(&dir.join("touchstone_test.h"), HEADER)?;
                write_file(&dir.join("touchstone_test.c"), RUNNER)?;
            }
            Form::Gtest => {
                write_file(&dir.join("touchstone_gtest.h"), GTEST_HEADER)?;
                write_file(&dir.join("touchstone_gtest.cc"), GTEST_GLUE)?;
            }
            Form::Unity | Form::Cmocka => {}
        }
        let keeps_to_itself = keeps_to_itself(module, function);
        let function = &module.functions[function];
        let has_stubs = has_stubs(module, function);
        if has_stubs {
            write_file(&dir.join("touchstone_stubs.h"), STUBS)?;
        }
        let unit = unit_with(module, function, target)?;
        let path = dir.join(file_name(&function.name));
        for old in chunk_paths(&path).skip(1).take_while(|old| old.exists()) {
            remove_ours(&old)?;
            let registry = old.with_extension("cc");
            if registry.exists() {
                remove_ours(&registry)?;
            }
        }
        let program = TestedProgram {
            form,
            module,
            function,
            name: source_name(&function.name).to_string(),
            ctypes: CTypes::new(module),
            names: program_names(module),
            visibility: Visibility::new(module, target, unit),
            has_stubs,
            keeps_to_itself,
        };
        let prologue = prologue(&program, dir, target, unit)?;
        let own_main = target.defines_main(module, unit);
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
            registry,
            own_main,
            chunks: 1,
            weight: 0,
            added: 0,
            open: None,
            tables: 0,
            declared,
            shapes,
            taken_back,
        })
    }

    /// Says instead of a test why it is left out.
    pub fn leave_out(&mut self, test: &TestCase, why: &str) -> Result<(), EmitError> {
        let text = format!("\n/* {} is left out, it does not compile: {} */\n", test.id, comment_text(why));
        self.open = None;
        self.append(&text)
    }

    /// Says instead of the whole file why there are no tests in it.
    pub fn give_up(&mut self, why: &str) -> Result<(), EmitError> {
        let (name, why) = (&self.program.name, comment_text(why));
        let text = format!("{BEGIN}{name}, written by Touchstone: there are none, they do not compile: {why} */\n");
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
        self.added += 1;
        match row {
            Some(row) => self.add_row(row)?,
            None => self.write_out(test, covers)?,
        }
        if let Some(registry) = &mut self.registry {
            let text = Form::registration(&self.program.name, test);
            registry.write_all(text.as_bytes()).map_err(EmitError::io(&self.path))?;
        }
        self.tests.push(test.id.clone());
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

    fn write_out(&mut self, test: &TestCase, covers: &[Covered<'_>]) -> Result<(), EmitError> {
        let comment = covers_comment(self.program.module, self.program.function.span, covers);
        let written = test_text(&self.program, test);
        let text = self.declare(written.declarations) + &written.text;
        let taken_back = self.take_back(&text);
        self.weight += ROWS_A_TEST;
        self.open = None;
        self.append(&format!("{taken_back}{comment}{text}"))
    }

    /// A row goes into the table that the file ends in, if it fits there, else into a new one.
    fn add_row(&mut self, row: Row) -> Result<(), EmitError> {
        self.weight += 1;
        let before = self.declare(row.declarations) + &row.shape_text;
        let taken_back = self.take_back(&format!("{before}{}", row.text));
        let before = taken_back + &before;
        if let Some(open) = self.open.as_mut().filter(|open| open.table == row.table && before.is_empty()) {
            let text = row.text + &open.table.end(open.number);
            self.file.seek(SeekFrom::Start(open.end)).map_err(EmitError::io(&self.path))?;
            open.end += (text.len() - open.table.end(open.number).len()) as u64;
            return self.append(&text);
        }
        self.tables += 1;
        let (number, table) = (self.tables, row.table);
        let head = format!("{before}{}{}", table.begin(number), row.text);
        let end = self.file.stream_position().map_err(EmitError::io(&self.path))? + head.len() as u64;
        let text = head + &table.end(number);
        self.open = Some(OpenTable { table, number, end });
        self.append(&text)
    }

    /// Declarations that the file does not have yet.
    fn declare(&mut self, declarations: BTreeSet<String>) -> String {
        let new = declarations.into_iter().filter(|declaration| self.declared.insert(declaration.clone()));
        new.map(|declaration| format!("\n{declaration}")).collect()
    }

    fn append(&mut self, text: &str) -> Result<(), EmitError> {
        self.file.write_all(text.as_bytes()).map_err(EmitError::io(&self.path))
    }

    /// Ends the current file with the `main` that runs its tests, where the framework wants one.
    pub fn finish(&mut self) -> Result<(), EmitError> {
        let tests = std::mem::take(&mut self.tests);
        let text = self.program.form.runner(&tests, self.own_main);
        self.file.write_all(text.as_bytes()).map_err(EmitError::io(&self.path))
    }

    /// The first file of the suite.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), EmitError> {
    // Left alone if it is there already: another suite of the same directory may be compiling.
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    touchstone_base::write_whole(path, text).map_err(EmitError::io(path))
}

/// How a test file begins, from its first byte on.
const BEGIN: &str = "/* Tests of ";
/// How one begins that registers its tests.
const REGISTERS: &str = "/* Registers the tests of ";
/// How the first lines of our files say whose they are. One without tests had other words once.
const OURS: [&str; 3] = ["written by Touchstone", REGISTERS, "/* No tests of "];

/// Refuses a file that is there and that we did not write: a user's directory may have tests that are called like ours.
fn check_ours(path: &Path) -> Result<(), EmitError> {
    let Ok(file) = File::open(path) else { return Ok(()) };
    let mut head = Vec::new();
    file.take(4096).read_to_end(&mut head).map_err(EmitError::io(path))?;
    let head = String::from_utf8_lossy(&head);
    // What a full disk or the end of the machine left may be torn anywhere.
    let torn = [BEGIN, REGISTERS].iter().any(|begin| begin.starts_with(&*head))
        || (head.starts_with(BEGIN) && !head.contains('\n'));
    let ours = torn || OURS.iter().any(|ours| head.contains(ours));
    if ours { Ok(()) } else { Err(EmitError::NotOurs { path: path.to_path_buf() }) }
}

fn remove_ours(path: &Path) -> Result<(), EmitError> {
    check_ours(path)?;
    fs::remove_file(path).map_err(EmitError::io(path))
}

/// Stands in the prologue for the name of the file.
const OWN_NAME: &str = "\u{1}";
/// Stands in the prologue for the name of the file that registers its tests.
const REGISTRY: &str = "\u{2}";

fn begin_file(path: &Path, prologue: &str) -> Result<File, EmitError> {
    check_ours(path)?;
    let mut file = File::create(path).map_err(EmitError::io(path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prologue = prologue.replace(OWN_NAME, &name).replace(REGISTRY, &format!("{name}c"));
    file.write_all(prologue.as_bytes()).map_err(EmitError::io(path))?;
    Ok(file)
}

fn begin_registry(form: Form, path: &Path) -> Result<Option<File>, EmitError> {
    if form != Form::Gtest {
        return Ok(None);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let head = format!("{REGISTERS}{name}. */\n#include <gtest/gtest.h>\n");
    begin_file(&path.with_extension("cc"), &head).map(Some)
}

/// `test_max3.c`; a function that shares its name with one of another file gets that file's name too.
fn file_name(function: &str) -> String {
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

/// The unit to include: the one that defines the function, or the first that includes the header that does.
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
    let found = target.units.iter().position(|unit| !name.is_empty() && includes(unit));
    found.ok_or(EmitError::NoUnit { function: function.name.clone(), file })
}

/// The words that build a file, for the comment at its top.
fn build_command(dir: &Path, target: &Build, unit: usize, form: Form) -> String {
    let mut words = vec![target.cc.clone(), "-fwrapv".to_string(), "-fno-strict-aliasing".to_string()];
    words.extend(target.units[unit].flags.iter().cloned());
    words.push(dir.join(OWN_NAME).display().to_string());
    match form {
        Form::Touchstone => words.push(dir.join("touchstone_test.c").display().to_string()),
        Form::Gtest => {
            words.push(dir.join(REGISTRY).display().to_string());
            words.push(dir.join("touchstone_gtest.cc").display().to_string());
        }
        Form::Unity | Form::Cmocka => {}
    }
    let others = target.units.iter().enumerate().filter(|(index, _)| *index != unit);
    words.extend(others.map(|(_, unit)| unit.path.display().to_string()));
    words.extend(form.libraries().iter().map(|word| word.to_string()));
    words.extend(["-o", "tests", "&&", "./tests"].map(str::to_string));
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./=+:,@%&\u{1}\u{2}".contains(char);
    let words = words
        .iter()
        .map(|word| if word.chars().all(plain) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) });
    words.collect::<Vec<_>>().join(" ").replace("*/", "* /")
}

fn prologue(program: &TestedProgram, given: &Path, target: &Build, unit: usize) -> Result<String, EmitError> {
    let dir = given.canonicalize().map_err(EmitError::io(given))?;
    let path = &target.units[unit].path;
    let source = relative_path(&path.canonicalize().map_err(EmitError::io(path))?, &dir);
    let source = includable(&source).ok_or_else(|| EmitError::NotIncludable { path: path.clone() })?;
    let name = &program.name;
    let build = build_command(given, target, unit, program.form);
    let mut text = format!(
        "{BEGIN}{name} in {}, written by Touchstone. To build and run them where Touchstone ran:\n *     {build}\n */\n",
        comment_text(&source)
    );
    let own_main = target.defines_main(program.module, unit);
    if own_main && let Some(main) = program.module.function_named("main") {
        let main = &program.module.functions[main];
        let flags = &target.units[unit].flags;
        let void = matches!(program.module.types[main.result_data], DataType::Void);
        text.push_str(&main_prototype(&program.ctypes, main, flags, void));
        text.push_str(" /* the runner has the other main */\n");
    }
    text.push_str(&format!(
        "#include \"{source}\"\n{}",
        inline_definitions(program.module, program.visibility.surface())
    ));
    let rest = format!("{}{}", program.form.includes(), stub_text(program));
    let surface = program.visibility.surface();
    let own = match program.form {
        Form::Touchstone => HEADER,
        Form::Gtest => GTEST_HEADER,
        Form::Unity | Form::Cmocka => "",
    };
    let stubs = if program.has_stubs { STUBS } else { "" };
    let names: BTreeSet<&str> =
        [rest.as_str(), own, stubs].into_iter().flat_map(|text| replaced(surface, text)).collect();
    names.iter().for_each(|name| text.push_str(&format!("#undef {name}\n")));
    Ok(text + &rest)
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
