//! Suites that their users edited: they stay, and new tests go to files beside them.
//!
//! `test_f.c` that is edited is kept, and what it lacks goes to `test_f.more.c`; if that one is edited, too, to
//! `test_f.more2.c`, and so on. A suite of several parts is kept as a whole.
//!
//! Deliberately not here: what a kept suite covers, and whether it still passes (`touchstone_campaign`'s).

use crate::EmitError;
use crate::c::files::checksum::FileOwnership;
use crate::c::files::chunk::Chunk;
use crate::c::files::suite_file::{SUITE_SIGNATURE, chunk_paths, file_name, remove_generated};
use std::fs;
use std::path::{Path, PathBuf};
use touchstone_base::Span;
use touchstone_criteria::{Expected, Outcome, Replay, TestCase, TestKind};
use touchstone_ir::ErrorKind;

/// How many suites of one function may stand beside each other.
const MAX_SUITES_PER_FUNCTION: usize = 50;

/// A suite that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExistingSuite {
    /// Its first file.
    pub path: PathBuf,
    /// Its user edited it.
    pub edited: bool,
}

/// The first files of all suites that a function may have.
fn suites(dir: &Path, function: &str) -> impl Iterator<Item = PathBuf> {
    let first = dir.join(file_name(function));
    (0..MAX_SUITES_PER_FUNCTION).map(move |number| match number {
        0 => first.clone(),
        1 => first.with_extension("more.c"),
        _ => first.with_extension(format!("more{number}.c")),
    })
}

/// All files of a suite that are there, those that register its tests included.
fn files(first: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // The first one may have been removed.
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

/// The suites of a function that a directory has.
pub fn existing_suites(dir: &Path, function: &str) -> Result<Vec<ExistingSuite>, EmitError> {
    let there = suites(dir, function).filter(|path| path.exists());
    there.map(|path| Ok(ExistingSuite { edited: is_edited(&path)?, path })).collect()
}

/// How many suites of a function, from the first on, are edited.
pub fn edited_suite_count(dir: &Path, function: &str) -> Result<usize, EmitError> {
    let mut count = 0;
    for path in suites(dir, function) {
        if !is_edited(&path)? {
            break;
        }
        count += 1;
    }
    Ok(count)
}

/// Where tests of a function go: the first suite that nobody edited, after so many that stay anyway. What stands behind it
/// is removed, and so are its parts.
pub(crate) fn first_unedited_suite(dir: &Path, function: &str, after: usize) -> Result<PathBuf, EmitError> {
    let mut free = None;
    for path in suites(dir, function).skip(after) {
        if is_edited(&path)? {
            continue;
        }
        match free {
            None => {
                files(&path).iter().skip_while(|file| **file == path).try_for_each(|file| remove_generated(file))?;
                free = Some(path);
            }
            Some(_) => files(&path).iter().try_for_each(|file| remove_generated(file))?,
        }
    }
    free.ok_or_else(|| EmitError::NotOurs { path: dir.join(file_name(function)) })
}

/// The text of all suites of a function that come before the one that begins with this file.
pub(crate) fn text_of_earlier_suites(dir: &Path, function: &str, first: &Path) -> Result<String, EmitError> {
    let before = suites(dir, function).take_while(|path| path != first);
    let texts = before.flat_map(|path| files(&path)).map(|file| read(&file));
    Ok(texts.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The names of a suite's tests, in all files and forms.
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

/// The tests of a suite in our own form, as far as the replay must know them: what they are called, and how they end.
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

/// How a test says that it ends. Where in the program an error was is true for what it was written for only.
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
        older: None,
        replayed: Replay::NotRun,
    }
}
