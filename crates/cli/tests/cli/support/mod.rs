//! Shared code of the tests over `examples/`: the programs and the expectations written in them.

pub mod domain;
pub mod forms;
pub mod lowering;
pub mod rng;
pub mod verdicts;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of `examples/`.
pub struct Example {
    pub name: String,
    pub files: Vec<PathBuf>,
    pub expectations: Vec<Expectation>,
    /// `// inputs: FUNCTION OPTION…`: what a function that others call needs to know when it is tested by itself.
    pub inputs: Vec<(String, Vec<String>)>,
    /// `// run: status=N`.
    pub run_status: Option<i32>,
}

/// `// expect: FUNCTION [OPTION…] tests=N [errors=K]` with the domains below it.
#[derive(Clone, Debug)]
pub struct Expectation {
    pub function: String,
    pub options: Vec<String>,
    pub tests: u64,
    pub at_least: bool,
    pub errors: u64,
    pub domains: Vec<(String, Vec<i128>)>,
}

impl Expectation {
    /// The compiler flags among the options.
    pub fn defines(&self) -> Vec<String> {
        self.options.windows(2).filter(|pair| pair[0] == "-D").map(|pair| format!("-D{}", pair[1])).collect()
    }
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|given| given == option)
    }
}

/// Returns a command that runs the Java compiler.
pub fn javac() -> Command {
    javac_of(Path::new("javac"))
}

/// Returns a command that runs a Java compiler. Its JVM optimises little: compiling a small file takes 40 % less time.
pub fn javac_of(program: &Path) -> Command {
    let mut javac = Command::new(program);
    javac.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
    javac
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository's root")
}

/// Returns the seeds to try: `TOUCHSTONE_SEED=N` or `N..M`, else `slow` in the long run and `fast` otherwise.
pub fn seeds(fast: std::ops::Range<u64>, slow: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let Ok(asked) = std::env::var("TOUCHSTONE_SEED") else { return if long() { slow } else { fast } };
    let number = |text: &str| text.parse().expect("TOUCHSTONE_SEED is a number or a range");
    match asked.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => number(&asked)..number(&asked) + 1,
    }
}

/// Returns true if the long tests were requested.
pub fn long() -> bool {
    std::env::var_os("TOUCHSTONE_LONG").is_some()
}

/// All programs of `examples/`.
pub fn examples() -> Vec<Example> {
    let folder = root().join("examples");
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "c");
    let mut programs: Vec<Vec<PathBuf>> = Vec::new();
    for path in sorted(&folder) {
        if path.is_dir() {
            // One that only has folders is a project with its own build.
            let files: Vec<PathBuf> = sorted(&path).into_iter().filter(is_source).collect();
            programs.extend((!files.is_empty()).then_some(files));
        } else if is_source(&path) {
            programs.push(vec![path]);
        }
    }
    assert!(programs.len() >= 15, "only {} examples found", programs.len());
    programs.into_iter().map(read).collect()
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a readable folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

fn read(files: Vec<PathBuf>) -> Example {
    let mut example = Example {
        name: files[0].file_name().expect("a file").to_string_lossy().into_owned(),
        files: files.clone(),
        expectations: Vec::new(),
        inputs: Vec::new(),
        run_status: None,
    };
    for file in &files {
        let text = std::fs::read_to_string(file).expect("readable");
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("// expect: ") {
                example.expectations.push(expectation(rest));
            } else if let Some(rest) = line.strip_prefix("// domain: ") {
                let last = example.expectations.last_mut().expect("a domain follows its expectation");
                last.domains.extend(rest.split_whitespace().map(domain));
            } else if let Some(rest) = line.strip_prefix("// inputs: ") {
                let mut words = rest.split_whitespace().map(str::to_string);
                example.inputs.push((words.next().expect("a function"), words.collect()));
            } else if let Some(rest) = line.strip_prefix("// run: status=") {
                example.run_status = Some(rest.trim().parse().expect("a status"));
            }
        }
    }
    example
}

fn expectation(text: &str) -> Expectation {
    let mut words = text.split_whitespace().map(str::to_string);
    let function = words.next().expect("a function");
    let mut made =
        Expectation { function, options: Vec::new(), tests: 0, at_least: false, errors: 0, domains: Vec::new() };
    for word in words {
        if let Some(count) = word.strip_prefix("tests=") {
            made.tests = count.parse().expect("a number of tests");
        } else if let Some(count) = word.strip_prefix("tests>=") {
            made.tests = count.parse().expect("a number of tests");
            made.at_least = true;
        } else if let Some(count) = word.strip_prefix("errors=") {
            made.errors = count.parse().expect("a number of errors");
        } else {
            made.options.push(word);
        }
    }
    made
}

fn domain(text: &str) -> (String, Vec<i128>) {
    let (name, values) = text.split_once('=').expect("NAME=VALUES");
    let mut all = Vec::new();
    for part in values.split(',') {
        match part.split_once("..") {
            Some((low, high)) => {
                all.extend(low.parse::<i128>().expect("a number")..=high.parse::<i128>().expect("a number"));
            }
            None => all.push(part.parse().expect("a number")),
        }
    }
    (name.to_string(), all)
}
