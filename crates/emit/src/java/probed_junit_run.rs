//! Runs JUnit classes once more on classes with probes, to observe the probes that each test hits.
//!
//! All suites are compiled together. If the compiler rejects one of them, each is compiled alone. The JVM is that of the
//! replay, where every test has classes of its own, and so has the class with the hits. Only classes of the JDK need
//! another JVM: they are the same for all tests, so each test runs twice there, and only the hits of the second run
//! count, during which no class is loaded for the first time.

use crate::java::java_target::{JavaTarget, absolute, class_path};
use crate::java::junit_replay::suite_class;
use crate::java::junit_suite::test_method;
use crate::java::jvm::Jvm;
use crate::{EmitError, ProbeHits, ProbedRun};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use touchstone_criteria::TestCase;

/// The classes with probes.
pub struct ProbedClassPath {
    /// The beginning of the names of the classes with the hits.
    pub hits: String,
    /// The files.
    pub classes: ProbedClassFiles,
}

/// The files of classes with probes.
pub enum ProbedClassFiles {
    /// A directory that precedes the class path.
    Directory(PathBuf),
    /// For each module of the JDK, a directory with the classes that it replaces.
    Modules(Vec<(String, PathBuf)>),
}

/// The tests of a method to run.
pub struct ProbedJUnitSuite<'a> {
    /// The file with its tests.
    pub suite: PathBuf,
    /// The function that the tests call.
    pub function: &'a str,
    /// The tests.
    pub tests: Vec<&'a TestCase>,
}

/// Compiles and runs suites on classes with probes, and returns the result of each.
pub fn run_junit_with_probes(
    target: &JavaTarget,
    probed: &ProbedClassPath,
    suites: &[ProbedJUnitSuite<'_>],
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Vec<ProbedRun>, EmitError> {
    let scratch = target.jvm.scratch()?;
    let patched;
    let jvm = match &probed.classes {
        ProbedClassFiles::Directory(_) => &target.jvm,
        ProbedClassFiles::Modules(modules) => {
            patched = target.jvm.patched(modules);
            &patched
        }
    };
    let mut path = vec![scratch.path().display().to_string()];
    if let ProbedClassFiles::Directory(directory) = &probed.classes {
        path.push(absolute(directory));
    }
    path.extend(class_path(target));
    let run = Run { target, jvm, scratch: scratch.path(), path: path.join(":"), hits: &probed.hits };
    let to_run = suites.iter().filter(|suite| !suite.tests.is_empty());
    let files: BTreeSet<&Path> = to_run.map(|suite| suite.suite.as_path()).collect();
    let rejected = run.compile(&files)?;
    let began = Instant::now();
    let limit = Duration::from_secs(u64::from(target.limits.total_seconds) * suites.len() as u64);
    let mut results = Vec::new();
    for suite in suites {
        let no_time = began.elapsed() > limit || is_interrupted();
        results.push(match rejected.get(suite.suite.as_path()) {
            Some(why) => ProbedRun::stopped(why.clone()),
            None if no_time => ProbedRun::stopped("there was no time to run its tests with probes".to_string()),
            None => run.run(suite)?,
        });
    }
    Ok(results)
}

/// The context of a run.
struct Run<'a> {
    target: &'a JavaTarget,
    /// The JVM that runs tests.
    jvm: &'a Jvm,
    /// The directory for the compiled tests.
    scratch: &'a Path,
    /// The class path of the tests, in which classes with probes precede the others.
    path: String,
    /// The beginning of the names of the classes with the hits.
    hits: &'a str,
}

impl Run<'_> {
    /// Compiles files. Returns those that the compiler rejects, with its messages.
    fn compile<'f>(&self, files: &BTreeSet<&'f Path>) -> Result<BTreeMap<&'f Path, String>, EmitError> {
        if files.is_empty() {
            return Ok(BTreeMap::new());
        }
        let Some(why) = self.rejection(files)? else { return Ok(BTreeMap::new()) };
        if let (1, Some(only)) = (files.len(), files.first()) {
            return Ok(BTreeMap::from([(*only, why)]));
        }
        let mut rejected = BTreeMap::new();
        for file in files {
            rejected.extend(self.rejection(&BTreeSet::from([*file]))?.map(|why| (*file, why)));
        }
        Ok(rejected)
    }

    /// Compiles files together. Returns the compiler's message if it rejects them.
    fn rejection(&self, files: &BTreeSet<&Path>) -> Result<Option<String>, EmitError> {
        let sources: Vec<PathBuf> = files.iter().map(|file| file.to_path_buf()).collect();
        self.target.compile(&sources, self.scratch)
    }

    /// Runs the tests of a suite.
    fn run(&self, suite: &ProbedJUnitSuite<'_>) -> Result<ProbedRun, EmitError> {
        let mut result = ProbedRun::default();
        let Some(method) = self.target.methods.get(suite.function) else { return Ok(result) };
        let ids: BTreeMap<String, &str> =
            suite.tests.iter().map(|test| (test_method(method, test), test.id.as_str())).collect();
        let limit = Duration::from_secs(self.target.limits.seconds.into());
        let mut open: BTreeSet<&str> = ids.keys().map(String::as_str).collect();
        while !open.is_empty() {
            let request = [
                self.scratch.display().to_string(),
                self.path.clone(),
                suite_class(&suite.suite, method),
                limit.as_millis().to_string(),
                open.iter().copied().collect::<Vec<_>>().join(","),
                self.hits.to_string(),
            ];
            // A test may run twice.
            let response = self.jvm.ask(&request.join("\t"), 2 * limit, |_| {}).map_err(no_java)?;
            let before = open.len();
            for answer in &response.answers {
                let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let Some(id) = ids.get(name) else { continue };
                // The test that ended the JVM does not run again.
                open.remove(name);
                match word {
                    "hits" => drop(result.hits.insert(id.to_string(), probe_hits(text))),
                    "begin" | "ok" => {}
                    word => {
                        let why = format!("{name} fails with probes: {word} {text}").trim().to_string();
                        result.obstacle.get_or_insert(why);
                    }
                }
            }
            if !response.done {
                result.obstacle.get_or_insert_with(|| "the JVM ended".to_string());
            }
            if open.len() == before {
                break;
            }
        }
        Ok(result)
    }
}

/// Parses hits: for each class with hits, its number, a colon and the numbers of its probes.
fn probe_hits(text: &str) -> ProbeHits {
    let of_class = |word: &str| {
        let (class, probes) = word.split_once(':')?;
        let class: u64 = class.parse().ok()?;
        Some(
            probes
                .split(',')
                .filter_map(|probe| probe.parse().ok())
                .map(move |probe| (class, probe))
                .collect::<Vec<_>>(),
        )
    };
    text.split(' ').filter_map(of_class).flatten().collect()
}

fn no_java(source: std::io::Error) -> EmitError {
    EmitError::CannotRun { program: "java".into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_numbers_of_classes_and_probes() {
        assert_eq!(probe_hits("0:1,5 12:7"), ProbeHits::from([(0, 1), (0, 5), (12, 7)]));
        assert!(probe_hits("").is_empty());
    }
}
