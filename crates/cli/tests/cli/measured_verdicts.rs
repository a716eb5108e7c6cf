//! Verdicts judged by the programs themselves: a program is measured while it runs, and `prove` is asked about each of
//! its functions. What the run covered must not be called infeasible.
//!
//! `TOUCHSTONE_LONG=1` judges many more random programs, `TOUCHSTONE_SEED=N` starts elsewhere.
//! `TOUCHSTONE_PROGRAMS=DIR` judges every C file of a directory that is a complete program; those that do not compile
//! or do not terminate are skipped. Deliberately not here: whole projects, which are measured by their own build
//! (`docs/measurements.md`).

use crate::random_programs::whole_programs;
use crate::support::long;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CRITERIA: &str = "stmt,branch,condition,mcdc";

/// The commands that judge functions, in turn for each program.
const MODES: [&[&str]; 3] = [&["prove"], &["prove", "--max-paths", "2"], &["generate", "--no-replay"]];

/// The verdicts about the objectives of programs.
#[derive(Default)]
struct Figures {
    programs: usize,
    /// Objectives that a run covered.
    covered: usize,
    infeasible: usize,
    wrong: Vec<String>,
}

/// Judges a program; nothing if it is none.
fn judge(file: &Path, mode: &[&str], figures: &mut Figures) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let name = file.file_name().expect("a file").to_string_lossy();
    std::fs::copy(file, scratch.path().join(&*name)).expect("a copy");
    let script = "gcc -w -O0 -fwrapv -o program -x c \"$1\" -lm && timeout 10 ./program >/dev/null 2>&1 </dev/null";
    let measured = touchstone(
        scratch.path(),
        &["measure", "-c", CRITERIA, "--format", "json", "--", "sh", "-c", script, "sh", &name],
    );
    let met = ids(&measured, "covered");
    if met.is_empty() {
        return;
    }
    let asked =
        touchstone(scratch.path(), &[mode, &[&*name, "-c", CRITERIA, "--timeout", "2", "--format", "json"]].concat());
    let infeasible = ids(&asked, "infeasible");
    figures.programs += 1;
    figures.covered += met.len();
    figures.infeasible += infeasible.len();
    figures.wrong.extend(infeasible.intersection(&met).map(|id| format!("{} ({mode:?}): {id}", file.display())));
}

fn touchstone(folder: &Path, words: &[&str]) -> Output {
    let made = Command::new(env!("CARGO_BIN_EXE_touchstone")).args(words).current_dir(folder).output();
    let made = made.expect("touchstone runs");
    assert!(!String::from_utf8_lossy(&made.stderr).contains("panicked"), "{words:?} panics");
    made
}

/// The objectives of a report that have this status; none if there is no report.
fn ids(made: &Output, status: &str) -> BTreeSet<String> {
    let document: Value = serde_json::from_slice(&made.stdout).unwrap_or_default();
    let objectives = document["objectives"].as_array().cloned().unwrap_or_default();
    let of_status = objectives.iter().filter(|objective| objective["status"] == status);
    of_status.filter_map(|objective| objective["id"].as_str().map(str::to_string)).collect()
}

#[test]
fn what_a_program_does_is_not_called_infeasible() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let first: u64 = std::env::var("TOUCHSTONE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut figures = Figures::default();
    for seed in first..first + if long() { 300 } else { 2 } {
        let file = scratch.path().join(format!("seed{seed}.c"));
        std::fs::write(&file, whole_programs::program(seed..seed + 1)).expect("writable");
        judge(&file, MODES[seed as usize % MODES.len()], &mut figures);
    }
    conclude(&figures);
    assert!(figures.programs >= if long() { 3 } else { 2 } && figures.infeasible > 0, "the programs say something");
}

#[test]
fn what_programs_of_others_do_is_not_called_infeasible() {
    let Some(directory) = std::env::var_os("TOUCHSTONE_PROGRAMS").map(PathBuf::from) else { return };
    let entries = std::fs::read_dir(&directory).expect("TOUCHSTONE_PROGRAMS is a directory");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    let mut figures = Figures::default();
    for (index, file) in files.iter().enumerate() {
        judge(file, MODES[index % MODES.len()], &mut figures);
    }
    conclude(&figures);
}

fn conclude(figures: &Figures) {
    let Figures { programs, covered, infeasible, wrong } = figures;
    println!(
        "{programs} programs: {covered} objectives covered by their runs, {infeasible} infeasible, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
