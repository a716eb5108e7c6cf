//! The answer of a judge about one function.

use crate::judges::toolchain::{Workshop, succeed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A number of covered entities and their total.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    pub found: usize,
    pub total: usize,
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.found, self.total)
    }
}

/// llvm-cov's view of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Llvm {
    /// Conditions of decisions with more than one, for which it found an independence pair. Folded ones don't count, as
    /// in llvm-cov's own summary.
    pub mcdc: Share,
    /// Sides of branches.
    pub branches: Share,
}

/// Kinds of regions in llvm-cov's export.
const MCDC_BRANCH: u64 = 6;

/// Reads the counters of a program that ran: llvm-cov's view by function.
pub fn llvm(workshop: &Workshop<'_>, program: &Path) -> BTreeMap<String, Llvm> {
    let raw = std::fs::read_dir(workshop.dir).expect("readable").map(|entry| entry.expect("readable").path());
    let raw: Vec<_> = raw.filter(|path| path.extension().is_some_and(|extension| extension == "profraw")).collect();
    assert!(!raw.is_empty(), "{}: no process saved its counters", program.display());
    let merged = workshop.dir.join("profdata");
    succeed(Command::new("llvm-profdata-19").arg("merge").args(raw).arg("-o").arg(&merged));
    let mut export = Command::new("llvm-cov-19");
    export.arg("export").arg(program).arg("-instr-profile").arg(&merged);
    let export: Value = serde_json::from_slice(&succeed(&mut export).stdout).expect("llvm-cov prints JSON");
    let functions = list(&export["data"][0]["functions"]);
    functions.iter().map(|function| (own_name(text(&function["name"])), llvm_function(function))).collect()
}

fn llvm_function(function: &Value) -> Llvm {
    let mut seen = Llvm::default();
    // line, column, line, column, times true, times false, file, expanded file, kind
    for region in list(&function["branches"]) {
        let sides = [number(&region[4]), number(&region[5])];
        seen.branches.total += 2;
        seen.branches.found += sides.iter().filter(|&&times| times > 0).count();
        seen.mcdc.total += usize::from(number(&region[8]) == MCDC_BRANCH);
    }
    // line, column, line, column, expanded file, kind, conditions
    for record in list(&function["mcdc_records"]) {
        seen.mcdc.found += list(&record[6]).iter().filter(|shown| shown.as_bool() == Some(true)).count();
    }
    seen
}

/// A static function's name comes with its file's; `main` has another name beside the runner's, which gcov marks.
fn own_name(name: &str) -> String {
    let name = name.rsplit([':', ';', '/', '\u{1}', '*']).next().unwrap_or(name);
    name.replace("touchstone_program_main", "main")
}

/// gcov's branches by function, of the object file `object` and its counters.
pub fn gcov(workshop: &Workshop<'_>, object: &Path) -> BTreeMap<String, Share> {
    let mut command = Command::new("gcov");
    command.current_dir(workshop.dir).args(["--json-format", "--stdout", "--branch-probabilities"]).arg(object);
    let report: Value = serde_json::from_slice(&succeed(&mut command).stdout).expect("gcov prints JSON");
    let mut functions: BTreeMap<String, Share> = BTreeMap::new();
    for file in list(&report["files"]) {
        for line in list(&file["lines"]) {
            let Some(function) = line["function_name"].as_str() else { continue };
            let share = functions.entry(own_name(function)).or_default();
            for branch in list(&line["branches"]) {
                share.total += 1;
                share.found += usize::from(number(&branch["count"]) > 0);
            }
        }
    }
    functions
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}
