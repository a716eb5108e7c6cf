//! The claims of Touchstone about the functions of a program, and the suites that belong to them.

use crate::judges::coverage::{Llvm, Share, gcov, llvm};
use crate::judges::toolchain::{Judge, Kit, Workshop};
use crate::support;
use crate::support::lowering::lower_once;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program to judge.
pub struct JudgedProgram {
    pub name: String,
    pub files: Vec<PathBuf>,
    /// True if the program is run from its main.
    pub whole: bool,
}

/// The claim about a function.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// Conditions, of all decisions.
    pub conditions: usize,
    /// Conditions of decisions with more than one, which is where others speak of MC/DC.
    pub together: usize,
    /// The number of them that some objective says cannot be shown.
    pub not_together: usize,
    /// Values of conditions that are claimed to be impossible.
    pub not_taken: usize,
    /// A test goes wrong: where there are no sanitizers it runs on, and may reach what it never should.
    pub goes_wrong: bool,
}

/// A program's suites, and the claims by function under test.
pub struct Suites {
    pub out: tempfile::TempDir,
    /// Each with the functions that it is for.
    pub files: Vec<(PathBuf, Vec<String>)>,
    pub claims: BTreeMap<String, Claim>,
}

/// Runs `touchstone generate`. Nothing is replayed: the judges' builds run the tests.
pub fn generate(program: &JudgedProgram, functions: &[&str], criteria: &str) -> Suites {
    let out = tempfile::tempdir().expect("a scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(support::root()).arg("generate").args(&program.files).args(["-c", criteria]);
    command.args(["--quiet", "--no-replay", "--timeout", "20", "--format", "json", "-o"]).arg(out.path());
    if program.whole {
        command.args(["--entry", "main"]);
    }
    command.args(functions.iter().flat_map(|name| ["-f", name]));
    let output = command.output().expect("touchstone runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{stderr}", program.name, output.status);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let claims = claims(program, &report);
    let under_test = |value: &Value| value["name"].as_str().expect("a name").to_string();
    let mut tested: Vec<String> = report["functions"].as_array().expect("functions").iter().map(under_test).collect();
    tested.dedup();
    let judged = |name: &String| if program.whole { claims.keys().cloned().collect() } else { vec![name.clone()] };
    let files = tested.iter().map(|name| (out.path().join(format!("test_{name}.c")), judged(name))).collect();
    Suites { out, files, claims }
}

fn claims(program: &JudgedProgram, report: &Value) -> BTreeMap<String, Claim> {
    let module = lower_once(&program.files, Vec::new());

    let mut open: BTreeMap<(&str, &str), Vec<bool>> = BTreeMap::new();
    for objective in report["objectives"].as_array().expect("objectives") {
        let key = (objective["function"].as_str().expect("a name"), objective["criterion"].as_str().expect("a name"));
        let status = objective["status"].as_str().expect("a status");
        // The length of an object behind a pointer is a bound that a judge knows nothing of.
        let by_length = objective["why"].as_str().is_some_and(|why| why.contains("--len"));
        assert!(status != "unknown" || by_length, "{} {}: {objective}", program.name, key.0);
        open.entry(key).or_default().push(status != "covered");
    }
    let mut claims: BTreeMap<String, Claim> = BTreeMap::new();
    for function in report["functions"].as_array().expect("functions") {
        claims.entry(function["name"].as_str().expect("a name").to_string()).or_default();
    }
    for (name, _) in open.keys() {
        claims.entry(name.to_string()).or_default();
    }
    let goes_wrong = report["tests"].as_array().expect("tests").iter().any(|test| test["outcome"] == "error");
    for (name, claim) in &mut claims {
        let function = &module.functions[module.function_named(name).expect("the function")];
        let of = |criterion: &'static str| open.get(&(name.as_str(), criterion)).map_or(&[][..], Vec::as_slice);
        // Two objectives a condition, in the order of decisions and their conditions.
        let sizes = function.decisions.values().flat_map(|decision| {
            let size = decision.conditions.len();
            std::iter::repeat_n(size, size)
        });
        for (index, size) in sizes.enumerate() {
            let unshown = of("mcdc").chunks(2).nth(index).is_some_and(|pair| pair.contains(&true));
            claim.conditions += 1;
            claim.together += usize::from(size > 1);
            claim.not_together += usize::from(size > 1 && unshown);
        }
        claim.not_taken = of("condition").iter().filter(|open| **open).count();
        let own = |test: &Value| program.whole || test["function"] == name.as_str();
        claim.goes_wrong = goes_wrong
            && report["tests"].as_array().expect("tests").iter().any(|test| own(test) && test["outcome"] == "error");
    }
    claims
}

impl Suites {
    /// All suites in one file, which is built once instead of once a function. For programs whose functions don't call
    /// each other, small helpers aside, which the others' tests then cover as well.
    pub fn joined(mut self) -> Suites {
        let joined = self.out.path().join("joined.c");
        let (mut text, mut functions) = (String::new(), Vec::new());
        for (file, names) in &self.files {
            let own = std::fs::read_to_string(file).expect("readable");
            let (head, tests) = own.split_once("#include \"touchstone_test.h\"\n").expect("the tests' header");
            if text.is_empty() {
                text = format!("{head}#include \"touchstone_test.h\"\n");
            }
            text += tests;
            functions.extend(names.iter().cloned());
        }
        std::fs::write(&joined, text).expect("writable");
        self.files = vec![(joined, functions)];
        self
    }
}

/// The answers of both judges about a function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Judgement {
    pub llvm: Llvm,
    pub gcov: Share,
}

/// Both judges.
pub struct Court {
    llvm: Kit,
    gcov: Kit,
}

impl Court {
    pub fn new() -> Court {
        Court { llvm: Kit::new(Judge::Llvm), gcov: Kit::new(Judge::Gcov) }
    }

    /// Builds and runs a suite with both judges: what they say of the functions, or which tests failed.
    pub fn judge(
        &self,
        program: &JudgedProgram,
        out: &Path,
        suite: &Path,
        functions: &[String],
    ) -> Result<BTreeMap<String, Judgement>, String> {
        let by_llvm = self.judge_by_llvm(program, out, suite, &[])?;
        let by_gcov = build(&self.gcov, program, out, suite, &[], |workshop, object, _| gcov(workshop, object))?;
        let judgement = |name: &String| {
            let unknown = |judge: Judge| -> ! { panic!("{}: {judge:?} knows no {name}", suite.display()) };
            let llvm = *by_llvm.get(name).unwrap_or_else(|| unknown(Judge::Llvm));
            Judgement { llvm, gcov: *by_gcov.get(name).unwrap_or_else(|| unknown(Judge::Gcov)) }
        };
        Ok(functions.iter().map(|name| (name.clone(), judgement(name))).collect())
    }

    /// llvm-cov's view alone, with further flags for the compiler.
    pub fn judge_by_llvm(
        &self,
        program: &JudgedProgram,
        out: &Path,
        suite: &Path,
        flags: &[&str],
    ) -> Result<BTreeMap<String, Llvm>, String> {
        build(&self.llvm, program, out, suite, flags, |workshop, _, built| llvm(workshop, built))
    }
}

fn build<T>(
    kit: &Kit,
    program: &JudgedProgram,
    out: &Path,
    suite: &Path,
    flags: &[&str],
    read: impl Fn(&Workshop<'_>, &Path, &Path) -> T,
) -> Result<T, String> {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let include = out.join("include");
    let workshop = kit.workshop(dir.path(), &include);
    let object = workshop.instrument(suite, "suite.o", flags);
    let mut objects = vec![object.clone()];
    let text = std::fs::read_to_string(suite).expect("readable");
    let included = |file: &Path| {
        let end = format!("{}\"", file.file_name().expect("a file").to_string_lossy());
        text.lines().any(|line| line.starts_with("#include") && line.ends_with(&end))
    };
    for (index, other) in program.files.iter().filter(|file| !included(file)).enumerate() {
        objects.push(workshop.compile(other, &format!("other{index}.o"), &["-Dmain=touchstone_program_main"]));
    }
    let built = workshop.link(&objects);
    workshop.run(&built)?;
    Ok(read(&workshop, &object, &built))
}
