//! A suite in C: one file per function, written while tests are found.
//!
//! The first [`TESTS_BEFORE_TABLES`] tests are written as functions. Of the others, those that differ only in their
//! numbers are rows of a table, which compile forty times as fast. A file is split where its compilation would take
//! about a second, because the parts compile concurrently: `test_match.c`, `test_match.002.c`, … Each part is a program
//! of its own. During a run, only the end of a table is rewritten: a test is appended by one write, so the file is
//! complete after each. A later run overwrites the files, and removes parts that it has no tests for. Files that their
//! user edited (`checksum.rs`) are kept, and the tests are written to additional files (`edited_suites.rs`).
//!
//! Suites for other frameworks ([`CTestForm`]) are the same files with other checks and without tables. Their list of
//! tests and their `main` are written by [`CSuite::finish`].

use crate::EmitError;
use crate::c::build::configuration::Build;
use crate::c::build::runtime_files::{
    ALLOCATIONS, ENVIRONMENT, FILES, GTEST_GLUE, GTEST_HEADER, HEADER, REGISTERS, RUNNER, STUBS,
};
use crate::c::files::checksum::{ChecksummedFile, checksum_line, with_checksum_line, write_checksummed};
use crate::c::files::edited_suites::{
    RetainedSuites, files, first_unedited_suite, remove_other_suites, text_of_earlier_suites,
};
use crate::c::files::prologue::{prologue, undefined_macros};
use crate::c::files::staged_suite::{SuiteDestination, delivered_path};
use crate::c::files::suite_file::{
    SUITE_START, begin_file, begin_registry, chunk_path, file_name, refuse_foreign, remove_generated,
};
use crate::c::syntax::comment::{comment_text, covers_comment};
use crate::c::syntax::declarations::CTypes;
use crate::c::syntax::names::source_name;
use crate::c::text::form::CTestForm;
use crate::c::text::process_isolation::{ProcessIsolation, RegisteredTest};
use crate::c::text::shared_process::is_side_effect_free;
use crate::c::text::stubs::has_stubs;
use crate::c::text::table_row::{RowTable, TestRow, table_row};
use crate::c::text::test_body::test_text;
use crate::c::text::test_macros::clashing_macros;
use crate::c::text::tested_program::{ProgramFacts, TestedProgram};
use crate::c::text::visibility::Visibility;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_base::check_confined;
use touchstone_criteria::{CoveredObjective, TestCase};
use touchstone_ir::{FuncId, InputSource, Module};

/// The number of tests that are written as functions before tables begin.
const TESTS_BEFORE_TABLES: usize = 100;
/// The maximum size of a file, in rows; a test that is a function counts as [`ROWS_PER_TEST`].
const MAX_ROWS_PER_FILE: usize = 10_000;
/// The size of a test that is a function, in rows.
const ROWS_PER_TEST: usize = 10;

/// The tests of one function, as C files that grow.
pub struct CSuite<'m> {
    program: TestedProgram<'m>,
    path: PathBuf,
    file: ChecksummedFile,
    prologue: String,
    /// The tests in the current file.
    tests: Vec<RegisteredTest>,
    /// The isolation that the tests of the current file need.
    processes: ProcessIsolation,
    /// The file that registers the tests, for GoogleTest.
    registry: Option<ChecksummedFile>,
    /// True if the file contains the program's `main`.
    own_main: bool,
    /// True if edited files contain the function's other tests.
    is_additional: bool,
    /// The text of those files.
    edited_text: String,
    chunks: usize,
    /// The size of the current file, in rows.
    weight: usize,
    /// The number of tests so far.
    added: usize,
    /// The table at the end of the current file, to which rows can be added.
    open_table: Option<RowTable>,
    tables: usize,
    /// The declarations in the current file.
    declared: BTreeSet<String>,
    /// The shapes of rows in the current file, with their numbers.
    shapes: BTreeMap<String, usize>,
    /// The macros of the program that the current file undefines.
    undefined_macros: BTreeSet<String>,
    /// The tests that are written but not run, with the reasons.
    skipped: Vec<(String, String)>,
}

/// The place of a suite among the existing suites of its function.
#[derive(Clone, Debug, Default)]
pub struct SuitePlace {
    /// The suites that stay.
    pub retained: RetainedSuites,
    /// The files to which the tests are written.
    pub destination: SuiteDestination,
    /// The output directory, which no link may lead out of.
    pub root: Option<PathBuf>,
}

/// The effect of adding a test: a test that an edited file already contains is not added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Added {
    Yes,
    No,
}

impl<'m> CSuite<'m> {
    /// Creates the suite of a function in `dir`, which is created if needed. An older suite of the function is
    /// overwritten, unless its user edited it.
    pub fn create(
        dir: &Path,
        module: &'m Module,
        function: FuncId,
        target: &Build,
        form: CTestForm,
    ) -> Result<CSuite<'m>, EmitError> {
        let facts = Arc::new(ProgramFacts::new(module));
        let place = SuitePlace::default();
        CSuite::create_in(dir, module, &facts, function, target, form, &place)
    }

    /// Creates a suite, with known facts about the program, at a place among the existing suites of the function.
    pub fn create_in(
        dir: &Path,
        module: &'m Module,
        facts: &Arc<ProgramFacts>,
        function: FuncId,
        target: &Build,
        form: CTestForm,
        place: &SuitePlace,
    ) -> Result<CSuite<'m>, EmitError> {
        if let Some(root) = &place.root {
            check_confined(root, dir).map_err(EmitError::io(dir))?;
        }
        fs::create_dir_all(dir).map_err(EmitError::io(dir))?;
        match form {
            CTestForm::Touchstone => {
                write_checksummed(&dir.join("touchstone_test.h"), &with_checksum_line(HEADER))?;
                write_checksummed(&dir.join("touchstone_test.c"), &with_checksum_line(RUNNER))?;
            }
            CTestForm::Gtest => {
                write_checksummed(&dir.join("touchstone_gtest.h"), &with_checksum_line(GTEST_HEADER))?;
                write_checksummed(&dir.join("touchstone_gtest.cc"), &with_checksum_line(GTEST_GLUE))?;
            }
            CTestForm::Unity | CTestForm::Cmocka => {}
        }
        let is_side_effect_free = is_side_effect_free(module, function);
        let has_stubs = has_stubs(module, function);
        let function = &module.functions[function];
        if has_stubs {
            write_checksummed(&dir.join("touchstone_stubs.h"), &with_checksum_line(STUBS))?;
        }
        if facts.allocates {
            write_checksummed(&dir.join("touchstone_allocations.h"), &with_checksum_line(ALLOCATIONS))?;
        }
        let unit = target.unit_defining(module, function)?;
        let delivered = first_unedited_suite(dir, &function.name, &place.retained)?;
        let is_additional = delivered != dir.join(file_name(&function.name));
        let path = place.destination.path_of(&delivered);
        files(&path).iter().skip_while(|file| **file == path).try_for_each(|file| remove_generated(file))?;
        match place.destination {
            SuiteDestination::InPlace => remove_other_suites(dir, &function.name, &place.retained, &delivered)?,
            SuiteDestination::Staged => {
                for file in files(&delivered) {
                    refuse_foreign(&file)?;
                    check_confined(dir, &file).map_err(EmitError::io(&file))?;
                }
            }
        }
        // The tests that an edited suite of our own form lacks are determined by measurement; of other forms only the
        // text is known.
        let edited_text = match form {
            CTestForm::Touchstone => String::new(),
            CTestForm::Unity | CTestForm::Cmocka | CTestForm::Gtest => {
                text_of_earlier_suites(dir, &function.name, &delivered)?
            }
        };
        let program = TestedProgram {
            form,
            module,
            function,
            name: source_name(&function.name).to_string(),
            ctypes: CTypes::new(module),
            facts: Arc::clone(facts),
            visibility: Visibility::new(module, target, unit),
            has_stubs,
            is_side_effect_free,
        };
        let prologue = prologue(&program, dir, target, unit)?;
        let own_main = target.defines_main(module, unit);
        let processes = ProcessIsolation::required_by(module, function);
        let file = begin_file(&path, &prologue)?;
        let registry = begin_registry(form, &path)?;
        let (tests, declared, shapes) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        let undefined_macros = undefined_macros(&prologue);
        Ok(CSuite {
            program,
            path,
            file,
            prologue,
            tests,
            processes,
            registry,
            own_main,
            is_additional,
            edited_text,
            chunks: 1,
            weight: 0,
            added: 0,
            open_table: None,
            tables: 0,
            declared,
            shapes,
            undefined_macros,
            skipped: Vec::new(),
        })
    }

    /// Writes a comment with the reason for which a test is left out.
    pub fn leave_out(&mut self, test: &TestCase, why: &str) -> Result<(), EmitError> {
        self.skipped.push((test.id.clone(), format!("it does not compile: {why}")));
        let text = format!("\n/* {} is left out, it does not compile: {} */\n", test.id, comment_text(why));
        self.open_table = None;
        self.file.append(&text)
    }

    /// Replaces the file by a comment with the reason for which it contains no tests.
    pub fn give_up(&mut self, why: &str) -> Result<(), EmitError> {
        let all = std::mem::take(&mut self.tests);
        self.skipped = all.into_iter().map(|test| (test.id, format!("it does not compile: {why}"))).collect();
        let (name, why) = (&self.program.name, comment_text(why));
        let sum = checksum_line();
        let text = format!(
            "{SUITE_START}{name}, written by Touchstone: there are none, they do not compile: {why}\n{sum} */\n"
        );
        self.file = begin_file(&self.path, &text)?;
        self.open_table = None;
        self.registry = begin_registry(self.program.form, &self.path)?;
        Ok(())
    }

    /// Returns lines that undefine macros of the program that would replace identifiers of a text.
    fn undefine_clashing(&mut self, text: &str) -> String {
        let names = clashing_macros(self.program.visibility.preprocessed(), text);
        let new = names.filter(|name| self.undefined_macros.insert(name.to_string()));
        new.map(|name| format!("\n#undef {name}")).collect()
    }

    /// Appends a test, with a comment about the objectives that it covers (rows of a table have none). After this call,
    /// it is on disk.
    pub fn add(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<(), EmitError> {
        if self.weight >= MAX_ROWS_PER_FILE {
            self.next_file()?;
        }
        let as_row = self.added >= TESTS_BEFORE_TABLES && self.program.form == CTestForm::Touchstone;
        let row = if as_row { table_row(&self.program, test, &mut self.shapes) } else { None };
        let added = match row {
            Some(row) => self.add_row(row)?,
            None => self.write_out(test, covers)?,
        };
        if added == Added::No {
            return Ok(());
        }
        self.added += 1;
        if test.needs_initial_state || has_input_from(test, InputSource::Register) || uses_streams(test) {
            self.processes = ProcessIsolation::PerTest;
        }
        self.tests.push(self.program.form.registered(test));
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
        self.open_table = None;
        self.declared.clear();
        self.shapes.clear();
        self.undefined_macros = undefined_macros(&self.prologue);
        Ok(())
    }

    fn write_out(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<Added, EmitError> {
        let comment = covers_comment(self.program.module, self.program.function.span, covers);
        let written = test_text(&self.program, test);
        if self.edited_text.contains(written.text.trim()) {
            return Ok(Added::No);
        }
        let headers = self.headers_for(test, &written.text)?;
        self.skipped.extend(written.skipped.map(|why| (test.id.clone(), why)));
        let text = self.declare(written.declarations) + &written.text;
        let names: String = headers.iter().map(|(_, text)| *text).collect();
        let undefined_macros = self.undefine_clashing(&format!("{names}{text}"));
        let lines = headers.iter().map(|(name, _)| format!("#include \"{name}\"\n")).collect();
        let header = self.declare(lines);
        self.weight += ROWS_PER_TEST;
        self.open_table = None;
        self.file.append(&format!("{undefined_macros}{header}{comment}{text}"))?;
        Ok(Added::Yes)
    }

    /// Writes the headers that a test needs, and returns them.
    fn headers_for(&self, test: &TestCase, text: &str) -> Result<Vec<(&'static str, &'static str)>, EmitError> {
        let mut headers = Vec::new();
        headers.extend(has_input_from(test, InputSource::Register).then_some(REGISTERS));
        headers.extend((uses_streams(test) || text.contains(" = STREAM();")).then_some(FILES));
        let is_ours = self.program.form == CTestForm::Touchstone;
        headers.extend((has_input_from(test, InputSource::Variable) && !is_ours).then_some(ENVIRONMENT));
        for (name, text) in &headers {
            write_checksummed(&self.path.with_file_name(name), &with_checksum_line(text))?;
        }
        Ok(headers)
    }

    /// Adds a row to the table at the end of the file if it belongs there, and to a new table otherwise.
    fn add_row(&mut self, row: TestRow) -> Result<Added, EmitError> {
        self.weight += 1;
        let before = self.declare(row.declarations) + &row.shape_text;
        let undefined_macros = self.undefine_clashing(&format!("{before}{}", row.text));
        let before = undefined_macros + &before;
        if before.is_empty() && self.open_table.as_ref() == Some(&row.table) {
            self.file.append_before_end(&row.text)?;
            return Ok(Added::Yes);
        }
        self.tables += 1;
        let (number, table) = (self.tables, row.table);
        let head = format!("{before}{}{}", table.begin(number), row.text);
        self.file.append_with_end(&head, &table.end(number))?;
        self.open_table = Some(table);
        Ok(Added::Yes)
    }

    /// Returns the declarations that the file does not contain yet.
    fn declare(&mut self, declarations: BTreeSet<String>) -> String {
        let new = declarations.into_iter().filter(|declaration| self.declared.insert(declaration.clone()));
        new.map(|declaration| format!("\n{declaration}")).collect()
    }

    /// Ends the current file with the `main` that runs its tests, if the framework needs one.
    pub fn finish(&mut self) -> Result<(), EmitError> {
        let tests = std::mem::take(&mut self.tests);
        if self.is_additional && self.chunks == 1 && tests.is_empty() {
            // The edited suite already covers everything.
            return remove_generated(&self.path).and_then(|()| remove_generated(&self.path.with_extension("cc")));
        }
        if let Some(registry) = &mut self.registry {
            let lines = tests.iter().map(|test| CTestForm::registration(&self.program.name, test, self.processes));
            registry.append(&lines.collect::<String>())?;
        }
        let text = self.program.form.runner(&tests, self.own_main, self.processes);
        self.file.append(&text)
    }

    /// Returns the number of tests that were added, and those of them that are not run, with the reasons.
    pub fn runs(&self) -> (usize, &[(String, String)]) {
        (self.added, &self.skipped)
    }

    /// Returns the first file of the suite as it is now, which may be staged.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the first file of the suite after its delivery.
    pub fn delivered_path(&self) -> PathBuf {
        delivered_path(&self.path)
    }
}

/// Returns true if a test provides a file, or a failing output stream.
fn uses_streams(test: &TestCase) -> bool {
    has_input_from(test, InputSource::File) || test.output_fails()
}

/// Returns true if a test provides an input from this source.
fn has_input_from(test: &TestCase, source: InputSource) -> bool {
    test.answers.iter().any(|input| input.source == source)
}
