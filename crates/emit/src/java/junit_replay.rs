//! Replay of JUnit tests on the user's JVM, and comparison with the predictions.

use crate::java::java_target::{JavaMethod, JavaTarget, class_path};
use crate::java::junit_suite::{test_class, test_method, why_omitted};
use crate::{EmitError, Replayed, SuiteToReplay};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use touchstone_criteria::{Disagreement, NotCheckable, Replay};

/// Compiles the classes with the tests of methods, and runs the tests in one JVM. Returns one result for each suite. `progress`
/// is called with the number of a suite and the number of its tests that are done.
pub fn replay_java_suites(
    suites: &[SuiteToReplay<'_>],
    target: &JavaTarget,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Replayed>, EmitError> {
    let methods = suites.iter().filter_map(|suite| target.methods.get(suite.function));
    if methods.count() == 0 {
        return Ok(suites.iter().map(|_| Replayed::default()).collect());
    }
    let files: BTreeSet<&Path> = suites.iter().map(|suite| suite.suite).collect();
    let compiled = CompiledClasses::of(&files, target)?;
    let mut replayed = Vec::new();
    for (number, suite) in suites.iter().enumerate() {
        replayed.push(compiled.replay(suite, target, &mut |done| progress(number, done))?);
    }
    Ok(replayed)
}

/// The result of a run of tests.
pub(crate) struct RunTests {
    /// One verdict per test, in the order of the tests.
    pub verdicts: Vec<Replay>,
    /// The tests that do not compile, with the compiler's errors.
    pub rejected: BTreeMap<String, String>,
    /// The tests that fail if assertions are enabled.
    pub only_without_assertions: BTreeSet<String>,
}

/// Runs tests of a suite by name.
pub(crate) fn run_tests(
    suite: &Path,
    method: &JavaMethod,
    target: &JavaTarget,
    names: &[String],
) -> Result<RunTests, EmitError> {
    let compiled = CompiledClasses::of(&BTreeSet::from([suite]), target)?;
    compiled.run(suite, method, target, names, BTreeMap::new(), &mut |_| {})
}

/// Test classes that were compiled for a replay.
struct CompiledClasses {
    /// The directory with the sources and the classes.
    scratch: tempfile::TempDir,
    files: BTreeMap<PathBuf, CompiledFile>,
}

/// A test class after its compilation.
#[derive(Default)]
struct CompiledFile {
    /// The tests that do not compile, with the compiler's errors.
    rejected: BTreeMap<String, String>,
    /// The reason for which no test compiles.
    given_up: Option<String>,
}

impl CompiledClasses {
    /// Compiles files together. If the compiler rejects one of them, each is compiled alone, without the tests that it rejects.
    fn of(files: &BTreeSet<&Path>, target: &JavaTarget) -> Result<CompiledClasses, EmitError> {
        let scratch = target.jvm.scratch()?;
        let mut compiled = CompiledClasses { files: BTreeMap::new(), scratch };
        // Tests of other methods may be added to the files concurrently.
        let mut sources = Vec::new();
        for (number, file) in files.iter().enumerate() {
            sources.push(Source::copied(file, &compiled.scratch.path().join(format!("source{number}")))?);
        }
        let paths: Vec<PathBuf> = sources.iter().map(|source| source.path.clone()).collect();
        let together = paths.len() > 1 && target.compile(&paths, compiled.scratch.path())?.is_none();
        for (file, source) in files.iter().zip(&mut sources) {
            let result = match together {
                true => CompiledFile::default(),
                false => CompiledFile::of(source, target, compiled.scratch.path())?,
            };
            compiled.files.insert(file.to_path_buf(), result);
        }
        Ok(compiled)
    }

    /// Runs the tests of a suite, and returns their results.
    fn replay(
        &self,
        suite: &SuiteToReplay<'_>,
        target: &JavaTarget,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Replayed, EmitError> {
        let Some(method) = target.methods.get(suite.function) else { return Ok(Replayed::default()) };
        let tests = suite.tests;
        let names: Vec<String> = tests.iter().map(|test| test_method(method, test)).collect();
        let left_out = tests.iter().zip(&names).filter_map(|(test, name)| Some((name.clone(), why_omitted(test)?)));
        let not_written = |why: &str| Replay::NotCheckable(NotCheckable::NotWritten(why.to_string()));
        let known = left_out.map(|(name, why)| (name, not_written(why))).collect();
        let RunTests { verdicts, rejected, only_without_assertions } =
            self.run(suite.suite, method, target, &names, known, progress)?;
        let rejected = |(name, verdict): (&String, &Replay)| match verdict {
            Replay::Disagreed(why) => Some(why.to_string()),
            _ => rejected.get(name).cloned(),
        };
        let results = names.iter().zip(&verdicts);
        let left_out =
            tests.iter().zip(results).filter_map(|(test, result)| Some((test.id.clone(), rejected(result)?)));
        let left_out = left_out.collect();
        let only_without_assertions =
            tests.iter().zip(&names).filter(|(_, name)| only_without_assertions.contains(*name));
        let only_without_assertions = only_without_assertions.map(|(test, _)| test.id.clone()).collect();
        Ok(Replayed { verdicts, left_out, given_up: None, only_without_assertions })
    }

    /// Runs tests by name; `known` contains the verdicts on tests that need no run.
    fn run(
        &self,
        suite: &Path,
        method: &JavaMethod,
        target: &JavaTarget,
        names: &[String],
        known: BTreeMap<String, Replay>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<RunTests, EmitError> {
        let (class, path) = (suite_class(suite, method), class_path(target));
        let limit = Duration::from_secs(target.limits.seconds.into());
        let file = self.files.get(suite);
        let mut given_up = file.and_then(|file| file.given_up.clone());
        let rejected = file.map(|file| &file.rejected).into_iter().flatten();
        let rejected: BTreeMap<String, String> =
            rejected.filter(|(name, _)| names.contains(name)).map(|(name, why)| (name.clone(), why.clone())).collect();
        let does_not_compile = |why: &String| Replay::NotCheckable(NotCheckable::TestDoesNotCompile(why.clone()));
        let mut verdicts: BTreeMap<String, Replay> =
            rejected.iter().map(|(name, why)| (name.clone(), does_not_compile(why))).chain(known).collect();
        let began = Instant::now();
        let mut only_without_assertions = BTreeSet::new();
        loop {
            let open: Vec<&str> =
                names.iter().map(String::as_str).filter(|name| !verdicts.contains_key(*name)).collect();
            if open.is_empty() || given_up.is_some() {
                break;
            }
            if began.elapsed() > Duration::from_secs(target.limits.total_seconds.into()) {
                open.iter().for_each(|name| {
                    drop(verdicts.insert(name.to_string(), Replay::NotCheckable(NotCheckable::Timeout)))
                });
                break;
            }
            let request = [
                self.scratch.path().display().to_string(),
                path.join(":"),
                class.clone(),
                limit.as_millis().to_string(),
                open.join(","),
                String::new(),
            ];
            let mut done = verdicts.len();
            let said = target.jvm.ask(&request.join("\t"), limit, |line| {
                if !line.starts_with("begin ") {
                    done += 1;
                    progress(done.min(names.len()));
                }
            });
            let said = said.map_err(|source| EmitError::CannotRun { program: "java".into(), source })?;
            let mut begun = None;
            for answer in &said.answers {
                let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let verdict = match word {
                    "begin" => {
                        begun = Some(name.to_string());
                        continue;
                    }
                    "ok" => Replay::Agreed,
                    "asserts" => {
                        only_without_assertions.insert(name.to_string());
                        Replay::Agreed
                    }
                    "late" => {
                        let why = format!("it did not end within {} s", limit.as_secs());
                        Replay::Disagreed(Disagreement::CheckFailed(why))
                    }
                    _ => Replay::Disagreed(Disagreement::CheckFailed(text.to_string())),
                };
                verdicts.insert(name.to_string(), verdict);
            }
            if !said.done {
                // The running test has ended the JVM; if none was running, nothing can be run.
                match begun.filter(|name| !verdicts.contains_key(name)) {
                    Some(name) => {
                        let why = "the JVM ended while it ran".to_string();
                        verdicts.insert(name, Replay::Disagreed(Disagreement::CheckFailed(why)));
                    }
                    None => given_up = Some("the JVM ended".to_string()),
                }
            } else if open.iter().any(|name| !verdicts.contains_key(*name)) {
                given_up = Some("the runner left tests out".to_string());
            }
        }
        let of = |name: &String| match (verdicts.get(name), &given_up) {
            (Some(verdict), _) => verdict.clone(),
            (None, Some(why)) => does_not_compile(why),
            (None, None) => Replay::NotRun,
        };
        Ok(RunTests { verdicts: names.iter().map(of).collect(), rejected, only_without_assertions })
    }
}

impl CompiledFile {
    /// Compiles a class without the tests that the compiler rejects.
    fn of(source: &mut Source, target: &JavaTarget, to: &Path) -> Result<CompiledFile, EmitError> {
        let mut compiled = CompiledFile::default();
        while let Some(messages) = target.compile(std::slice::from_ref(&source.path), to)? {
            let wrong = source.leave_out(&messages)?;
            let why = messages.replace(&format!("{}/", source.directory().display()), "");
            if wrong.is_empty() {
                compiled.given_up = Some(why);
                break;
            }
            compiled.rejected.extend(wrong.into_iter().map(|name| (name, why.clone())));
        }
        Ok(compiled)
    }
}

/// Returns the rest of a line that begins with JUnit's annotation of a test, simple or fully qualified, without
/// arguments.
pub(crate) fn after_test_annotation(line: &str) -> Option<&str> {
    const ANNOTATIONS: [&str; 3] = ["@Test", "@org.junit.Test", "@org.junit.jupiter.api.Test"];
    let is_end = |rest: &&str| rest.chars().next().is_none_or(char::is_whitespace);
    ANNOTATIONS.iter().filter_map(|annotation| line.strip_prefix(annotation)).find(is_end).map(str::trim)
}

/// Returns the class in the file of a suite, with its package.
pub(crate) fn suite_class(suite: &Path, method: &JavaMethod) -> String {
    match method.package.is_empty() {
        true => test_class(suite),
        false => format!("{}.{}", method.package, test_class(suite)),
    }
}

/// The class of a suite as it is compiled: without the rejected tests.
struct Source {
    path: PathBuf,
    lines: Vec<String>,
}

impl Source {
    fn copied(suite: &Path, directory: &Path) -> Result<Source, EmitError> {
        let path = directory.join(suite.file_name().unwrap_or_default());
        let text = std::fs::read_to_string(suite).map_err(EmitError::io(suite))?;
        std::fs::create_dir_all(directory).map_err(EmitError::io(directory))?;
        std::fs::write(&path, &text).map_err(EmitError::io(&path))?;
        Ok(Source { path, lines: text.lines().map(str::to_string).collect() })
    }

    fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Leaves out the tests that the compiler rejects, and returns their names.
    fn leave_out(&mut self, said: &str) -> Result<BTreeSet<String>, EmitError> {
        let file = format!("{}:", self.path.display());
        let places = said.split(&file).skip(1).filter_map(|rest| rest.split(':').next()?.parse::<usize>().ok());
        let mut names = BTreeSet::new();
        for line in places.filter_map(|line| line.checked_sub(1)) {
            let Some(test) = self.test_at(line) else { continue };
            let name = |line: &String| {
                let line = line.trim();
                let method = line.strip_prefix("public ").unwrap_or(line).strip_prefix("void ")?;
                Some(method.split('(').next()?.to_string())
            };
            names.extend(self.lines[test.clone()].iter().find_map(name));
            // Other lines keep their numbers.
            self.lines[test].iter_mut().for_each(String::clear);
        }
        std::fs::write(&self.path, self.lines.join("\n")).map_err(EmitError::io(&self.path))?;
        Ok(names)
    }

    /// Returns the lines of the test that contains a line.
    fn test_at(&self, line: usize) -> Option<Range<usize>> {
        let begins = self.lines.get(..=line)?.iter().rposition(|line| after_test_annotation(line.trim()).is_some())?;
        let ends = begins + self.lines[begins..].iter().position(|line| line == "    }")?;
        (line <= ends).then_some(begins..ends + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_do_not_compile_are_left_out_by_name() {
        let scratch = tempfile::tempdir().expect("a directory");
        let suite = scratch.path().join("XTest.java");
        let test = |annotation: &str, name: &str| {
            format!("    @Test\n{annotation}    void {name}() throws Throwable {{\n        call({name});\n    }}\n")
        };
        let named = "    @DisplayName(\"void when(empty)\")\n";
        let text = ["class XTest {\n", &test("", "a_1"), &test(named, "b_1"), &test("", "c_1"), "}\n"].concat();
        std::fs::write(&suite, &text).expect("a file");
        let mut source = Source::copied(&suite, scratch.path()).expect("a copy");
        let at = |line: usize| format!("{}:{line}: error: no", source.path.display());
        let wrong = text.lines().position(|line| line.contains("call(b_1)")).expect("a line") + 1;
        let said = format!("{} {}", at(wrong), at(1));
        assert_eq!(source.leave_out(&said).expect("a copy"), BTreeSet::from(["b_1".to_string()]));
        let left = std::fs::read_to_string(&source.path).expect("a copy");
        assert!(left.contains("a_1") && left.contains("c_1") && !left.contains("b_1"), "{left}");
        assert_eq!(
            left.lines().position(|line| line.contains("call(c_1)")),
            text.lines().position(|line| line.contains("call(c_1)"))
        );
        assert!(source.leave_out("something else").expect("a copy").is_empty());
    }
}
