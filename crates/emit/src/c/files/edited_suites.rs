//! Suites that their users edited: they are kept, and new tests are written to additional files.
//!
//! If `test_f.c` is edited, further tests are written to `test_f.more.c`; if that file is edited as well, to
//! `test_f.more2.c`, and so on. A suite of several files is kept as a whole.
//!
//! Deliberately not here: the coverage of a kept suite, and whether it still passes (`touchstone_campaign`).

use crate::EmitError;
use crate::c::files::checksum::{FileOwnership, with_valid_checksum};
use crate::c::files::chunk::Chunk;
use crate::c::files::suite_file::{SUITE_SIGNATURE, chunk_paths, file_name, remove_generated};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use touchstone_base::Span;
use touchstone_criteria::{Expected, Outcome, Replay, TestCase, TestKind};
use touchstone_ir::ErrorKind;

/// The maximum number of suites of one function in a directory.
const MAX_SUITES_PER_FUNCTION: usize = 50;

/// The maximum number of successive suites that a user may have removed, with others behind them. A larger number
/// costs system calls for every function.
const MAX_MISSING_SUITES: usize = 4;

/// A suite that exists on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExistingSuite {
    /// Its first file.
    pub path: PathBuf,
    /// True if the user edited it.
    pub edited: bool,
}

/// Returns the first files of all suites that a function has, with missing ones among them and a few behind them.
fn suites(dir: &Path, function: &str) -> impl Iterator<Item = PathBuf> {
    let first = dir.join(file_name(function));
    let all = (0..MAX_SUITES_PER_FUNCTION).map(move |number| match number {
        0 => first.clone(),
        1 => first.with_extension("more.c"),
        _ => first.with_extension(format!("more{number}.c")),
    });
    let mut missing = 0;
    all.take_while(move |path| {
        let is_near = missing < MAX_MISSING_SUITES;
        missing = if files(path).is_empty() { missing + 1 } else { 0 };
        is_near
    })
}

/// Returns all existing files of a suite, including those that register its tests.
pub(crate) fn files(first: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // The user may have removed the first file.
    for (index, part) in chunk_paths(first).enumerate() {
        let registry = part.with_extension("cc");
        if !part.exists() && index > 0 {
            break;
        }
        found.extend([part, registry].into_iter().filter(|file| file.exists()));
    }
    found
}

fn is_edited(first: &Path) -> Result<bool, EmitError> {
    for file in files(first) {
        if SUITE_SIGNATURE.ownership(&file)? == FileOwnership::Edited {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the existing suites of a function in a directory.
pub fn existing_suites(dir: &Path, function: &str) -> Result<Vec<ExistingSuite>, EmitError> {
    let there = suites(dir, function).filter(|path| path.exists());
    there.map(|path| Ok(ExistingSuite { edited: is_edited(&path)?, path })).collect()
}

/// The suites of a function that stay, besides those that are edited where the tests are written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RetainedSuites {
    /// The number of suites that stay in any case, because their counterparts in another form stay.
    pub counterparts: usize,
    /// The first files of suites without edits that contain passing tests which no run can write again.
    pub unedited: BTreeSet<PathBuf>,
}

impl RetainedSuites {
    /// Returns true if a suite stays.
    fn contains(&self, suite: &Path) -> Result<bool, EmitError> {
        Ok(self.unedited.contains(suite) || is_edited(suite)?)
    }
}

/// Returns the number of consecutive suites of a function that stay, from the first on.
pub fn retained_suite_count(dir: &Path, function: &str, retained: &RetainedSuites) -> Result<usize, EmitError> {
    let mut count = 0;
    for path in suites(dir, function) {
        if !retained.contains(&path)? {
            break;
        }
        count += 1;
    }
    Ok(count)
}

/// Returns the first file of the suite that receives the tests of a function: the first one that does not stay.
pub(crate) fn first_unedited_suite(
    dir: &Path,
    function: &str,
    retained: &RetainedSuites,
) -> Result<PathBuf, EmitError> {
    for path in suites(dir, function).skip(retained.counterparts) {
        if !retained.contains(&path)? {
            return Ok(path);
        }
    }
    Err(EmitError::NotOurs { path: dir.join(file_name(function)) })
}

/// Removes the suites of a function behind the given one that do not stay.
pub(crate) fn remove_other_suites(
    dir: &Path,
    function: &str,
    retained: &RetainedSuites,
    suite: &Path,
) -> Result<(), EmitError> {
    for path in suites(dir, function).skip(retained.counterparts).skip_while(|path| path != suite).skip(1) {
        if !retained.contains(&path)? {
            files(&path).iter().try_for_each(|file| remove_generated(file))?;
        }
    }
    Ok(())
}

/// Removes tests from the files of a suite without edits.
pub fn remove_tests(first: &Path, tests: &BTreeSet<String>) -> Result<(), EmitError> {
    let removed: BTreeMap<String, String> = tests.iter().map(|test| (test.clone(), String::new())).collect();
    for file in files(first) {
        let text = read(&file)?;
        let chunk = Chunk::new(&text);
        if chunk.names().any(|name| removed.contains_key(name)) {
            let text = with_valid_checksum(&chunk.without(&removed));
            touchstone_base::write_beside(&file, text).map_err(EmitError::io(&file))?;
        }
    }
    Ok(())
}

/// Returns the text of all suites of a function before the given one.
pub(crate) fn text_of_earlier_suites(dir: &Path, function: &str, first: &Path) -> Result<String, EmitError> {
    let before = suites(dir, function).take_while(|path| path != first);
    let texts = before.flat_map(|path| files(&path)).map(|file| read(&file));
    Ok(texts.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns the names of a suite's tests, in all files and forms.
pub fn suite_test_names(first: &Path) -> Result<Vec<String>, EmitError> {
    let mut names = Vec::new();
    for file in files(first) {
        let text = read(&file)?;
        let framework = |line: &str| {
            let rest = line.strip_prefix("static ").unwrap_or(line).strip_prefix("void test_")?;
            rest.split_once('(').map(|(name, _)| name.to_string())
        };
        names.extend(Chunk::new(&text).names().map(str::to_string));
        names.extend(text.lines().filter_map(framework));
    }
    Ok(names)
}

/// Returns the tests of a suite in our own form, as far as the replay needs them: name and outcome.
pub fn existing_tests(first: &Path, function: &str) -> Result<Vec<TestCase>, EmitError> {
    let mut tests = Vec::new();
    for file in files(first).iter().filter(|file| file.extension().is_some_and(|extension| extension == "c")) {
        let text = read(file)?;
        let bodies = Chunk::new(&text);
        tests.extend(bodies.bodies().map(|(name, body)| existing_test(name, function, outcome(&body))));
    }
    Ok(tests)
}

fn read(path: &Path) -> Result<String, EmitError> {
    let bytes = fs::read(path).map_err(EmitError::io(path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the outcome that a test expects. The location of an error is unknown, because the program may have changed
/// since.
fn outcome(body: &[&str]) -> Outcome {
    let said = body.iter().find_map(|line| line.trim().strip_prefix("EXPECT_ERROR(\"")?.split('"').next());
    let Some(said) = said else {
        let hangs = body.iter().any(|line| line.trim().starts_with("MUST_HANG("));
        return if hangs { Outcome::Hung } else { Outcome::Returned };
    };
    let kind = ErrorKind::ALL.into_iter().find(|kind| kind.to_string() == said);
    Outcome::Error { kind: kind.unwrap_or(ErrorKind::Abort), span: Span::none() }
}

fn existing_test(name: &str, function: &str, outcome: Outcome) -> TestCase {
    TestCase {
        id: name.to_string(),
        function: function.to_string(),
        kind: TestKind::Function { earlier: Vec::new(), params: Vec::new(), globals: Vec::new(), objects: Vec::new() },
        answers: Vec::new(),
        outcome,
        expected: Expected::default(),
        oracle: None,
        description: String::new(),
        path: 0,
        covers: Vec::new(),
        heap: touchstone_criteria::HeapOrigin::Made,
        needs_initial_state: false,
        older: None,
        replayed: Replay::NotRun,
    }
}
