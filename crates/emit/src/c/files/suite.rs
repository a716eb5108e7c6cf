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
use crate::c::build::configuration::Build;
use crate::c::build::runtime_files::{
    ALLOCATIONS, ENVIRONMENT, FILES, GTEST_GLUE, GTEST_HEADER, HEADER, REGISTERS, RUNNER, STUBS,
};
use crate::c::files::checksum::{OwnedFile, checksum_line, with_checksum, write_stamped};
use crate::c::files::edited_suites::{free_suite, text_before};
use crate::c::files::prologue::{allocates, prologue, taken_back};
use crate::c::files::suite_file::{BEGIN, begin_file, begin_registry, chunk_path, file_name, remove_ours};
use crate::c::syntax::comment::{comment_text, covers_comment};
use crate::c::syntax::ctype::CTypes;
use crate::c::syntax::names::{program_names, source_name};
use crate::c::text::body::test_text;
use crate::c::text::form::Form;
use crate::c::text::process_isolation::{Listed, Processes};
use crate::c::text::side_effects::keeps_to_itself;
use crate::c::text::stubs::has_stubs;
use crate::c::text::table_row::{Row, Table, row};
use crate::c::text::test_macros::replaced;
use crate::c::text::tested_program::TestedProgram;
use crate::c::text::visibility::Visibility;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use touchstone_criteria::{Covered, TestCase};
use touchstone_ir::{FuncId, InputSource, Module};

/// How many tests are written out before tables begin.
const WRITTEN_OUT: usize = 100;
/// What a file has at most, in rows; a test that is written out counts as several.
const CHUNK: usize = 10_000;
/// How many rows a test is that is written out.
const ROWS_A_TEST: usize = 10;

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
        let unit = target.unit_with(module, function)?;
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
        self.tests.push(self.program.form.listed(test));
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

/// Whether a test makes streams, or one that fails.
fn uses_streams(test: &TestCase) -> bool {
    has(test, InputSource::File) || test.output_fails()
}

/// Whether a test gives the program something that comes in there.
fn has(test: &TestCase, source: InputSource) -> bool {
    test.answers.iter().any(|input| input.source == source)
}
