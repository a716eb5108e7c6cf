//! Replay of JUnit tests on the user's JVM, and comparison with the predictions.

use crate::java::existing_classes::after_test_annotation;
use crate::java::java_target::{JavaMethod, JavaTarget};
use crate::java::junit_suite::{test_class, test_method, why_omitted};
use crate::{EmitError, Replayed};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use touchstone_criteria::{Disagreement, NotCheckable, Replay, TestCase};

/// Compiles the class with the tests of a method, and runs them in one JVM.
pub fn replay_java(
    suite: &Path,
    function: &str,
    target: &JavaTarget,
    tests: &[TestCase],
    progress: &mut dyn FnMut(usize),
) -> Result<Replayed, EmitError> {
    let Some(method) = target.methods.get(function) else { return Ok(Replayed::default()) };
    let names: Vec<String> = tests.iter().map(|test| test_method(method, test)).collect();
    let left_out = tests.iter().zip(&names).filter_map(|(test, name)| Some((name.clone(), why_omitted(test)?)));
    let known =
        left_out.map(|(name, why)| (name, Replay::NotCheckable(NotCheckable::NotWritten(why.to_string())))).collect();
    let RunTests { verdicts, rejected, only_without_assertions } =
        run_tests(suite, method, target, &names, known, progress)?;
    let rejected = |(name, verdict): (&String, &Replay)| match verdict {
        Replay::Disagreed(why) => Some(why.to_string()),
        _ => rejected.get(name).cloned(),
    };
    let results = names.iter().zip(&verdicts);
    let left_out = tests.iter().zip(results).filter_map(|(test, result)| Some((test.id.clone(), rejected(result)?)));
    let left_out = left_out.collect();
    let only_without_assertions = tests.iter().zip(&names).filter(|(_, name)| only_without_assertions.contains(*name));
    let only_without_assertions = only_without_assertions.map(|(test, _)| test.id.clone()).collect();
    Ok(Replayed { verdicts, left_out, given_up: None, only_without_assertions })
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

/// Runs tests of a suite by name; `known` contains the verdicts on tests that need no run.
pub(crate) fn run_tests(
    suite: &Path,
    method: &JavaMethod,
    target: &JavaTarget,
    names: &[String],
    known: BTreeMap<String, Replay>,
    progress: &mut dyn FnMut(usize),
) -> Result<RunTests, EmitError> {
    let scratch = target.jvm.scratch().map_err(EmitError::io(suite))?;
    let (class, path) = (suite_class(suite, method), class_path(target));
    let limit = Duration::from_secs(target.limits.seconds.into());
    let mut verdicts = known;
    let (mut given_up, mut left_out, began) = (None, BTreeMap::new(), Instant::now());
    let mut only_without_assertions = BTreeSet::new();
    // Tests of other methods may be added to the file concurrently.
    let mut source = Source::copied(suite, scratch.path())?;
    loop {
        let open: Vec<&str> = names.iter().map(String::as_str).filter(|name| !verdicts.contains_key(*name)).collect();
        if open.is_empty() || given_up.is_some() {
            break;
        }
        if began.elapsed() > Duration::from_secs(target.limits.total_seconds.into()) {
            open.iter()
                .for_each(|name| drop(verdicts.insert(name.to_string(), Replay::NotCheckable(NotCheckable::Timeout))));
            break;
        }
        let request = [
            absolute(&source.path),
            scratch.path().display().to_string(),
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
        let (mut begun, mut again) = (None, false);
        for answer in &said.answers {
            let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
            let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let verdict = match word {
                "begin" => {
                    begun = Some(name.to_string());
                    continue;
                }
                "compile" => {
                    let wrong = source.leave_out(rest)?;
                    let why = rest.replace(&format!("{}/", source.directory().display()), "");
                    again = !wrong.is_empty();
                    for name in names.iter().filter(|name| wrong.contains(*name)) {
                        left_out.insert(name.clone(), why.clone());
                        let why = NotCheckable::TestDoesNotCompile(why.clone());
                        verdicts.insert(name.clone(), Replay::NotCheckable(why));
                    }
                    given_up = (!again).then_some(why);
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
        } else if !again && given_up.is_none() && open.iter().any(|name| !verdicts.contains_key(*name)) {
            given_up = Some("the runner left tests out".to_string());
        }
    }
    let of = |name: &String| match (verdicts.get(name), &given_up) {
        (Some(verdict), _) => verdict.clone(),
        (None, Some(why)) => Replay::NotCheckable(NotCheckable::TestDoesNotCompile(why.clone())),
        (None, None) => Replay::NotRun,
    };
    Ok(RunTests { verdicts: names.iter().map(of).collect(), rejected: left_out, only_without_assertions })
}

/// Returns an absolute path: the JVM has another working directory.
pub(crate) fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}

/// Returns the class path of tests.
pub(crate) fn class_path(target: &JavaTarget) -> Vec<String> {
    target.class_path.iter().chain([&target.shim]).map(|part| absolute(part)).collect()
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
    fn copied(suite: &Path, scratch: &Path) -> Result<Source, EmitError> {
        let directory = scratch.join("source");
        let path = directory.join(suite.file_name().unwrap_or_default());
        let text = std::fs::read_to_string(suite).map_err(EmitError::io(suite))?;
        std::fs::create_dir_all(&directory).map_err(EmitError::io(&directory))?;
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
