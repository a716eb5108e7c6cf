//! No wrong "infeasible": random files of several functions with static state, pointers into parts of things, allocation,
//! things of other files, and registers. Each file is given to Touchstone, and a twin of it with marks is compiled and run in
//! many ways: sequences of calls, shapes of pointers, failing allocations, answers of other files and of devices. Whatever
//! some run covers must not be called infeasible.
//!
//! `TOUCHSTONE_LONG=1` asks for many more files. `TOUCHSTONE_SEED=N` judges one file and says where it is kept, as for every
//! file that fails; `TOUCHSTONE_SEED=N..M` judges some. With `TOUCHSTONE_FEATURE=Attribute`, all functions are about that
//! feature. Deliberately not here: whether *covered* is right (tests are replayed
//! elsewhere), and undefined behaviour: the programs have none but null pointers and divisions, which end a run.

mod draft;
mod features;
pub(crate) mod judge;
mod program;
pub(crate) mod text;
mod toolchain_features;

use self::features::{FEATURES, Feature};
use self::judge::{Covered, reached};
use self::program::{File, Scope};
use crate::support::{long, seeds};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Units of a file.
const UNITS: usize = 5;

/// The verdicts about functions with one feature.
#[derive(Clone, Copy, Default)]
struct Figures {
    covered: usize,
    infeasible: usize,
    unknown: usize,
    /// Covered by Touchstone, and by a run of the twin.
    met: usize,
    wrong: usize,
}

impl Figures {
    fn add(&mut self, other: Figures) {
        self.covered += other.covered;
        self.infeasible += other.infeasible;
        self.unknown += other.unknown;
        self.met += other.met;
        self.wrong += other.wrong;
    }

    fn judged(&self) -> usize {
        self.covered + self.infeasible + self.unknown
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Figures { covered, infeasible, unknown, met, wrong } = self;
        write!(to, "{covered:7} {met:6} {infeasible:10} {unknown:7} {wrong:7}")
    }
}

/// The options of Touchstone, in turn for each file.
const MODES: [&[&str]; 10] = [
    &["prove"],
    // What exploration leaves open is left to the static prover.
    &["prove", "--max-paths", "2"],
    &["prove", "--depth", "2"],
    &["prove", "--loop-bound", "1", "--steps", "120"],
    &["prove", "--externals", "named"],
    &["generate", "--no-replay"],
    &["prove", "--volatile", "fresh"],
    &["prove", "--aliases", "eager"],
    &["generate", "--no-replay", "--max-objects", "8"],
    &["generate", "--no-replay", "--calls", "6"],
];

const ENTRY_MODES: [&[&str]; 3] = [
    &["prove", "--entry", "start"],
    &["prove", "--entry", "start", "--externals", "named"],
    &["generate", "--no-replay", "--entry", "start", "--volatile", "fresh"],
];

#[derive(Default)]
struct Result {
    /// By feature, or `Program` for runs from the beginning.
    figures: BTreeMap<String, Figures>,
    complaints: Vec<String>,
}

impl Result {
    fn add(&mut self, other: Result) {
        self.complaints.extend(other.complaints);
        for (feature, figures) in other.figures {
            self.figures.entry(feature).or_default().add(figures);
        }
    }
}

/// Returns the only feature of the functions, if the environment names one.
fn only_feature() -> Option<Feature> {
    let name = std::env::var("TOUCHSTONE_FEATURE").ok()?;
    Some(*FEATURES.iter().find(|feature| format!("{feature:?}") == name).expect("TOUCHSTONE_FEATURE names a feature"))
}

/// Returns one feature in turn and others at random.
fn features(seed: u64) -> Vec<Feature> {
    if let Some(feature) = only_feature() {
        return vec![feature; UNITS];
    }
    let mut rng = crate::support::rng::Rng::new(seed ^ 0x5eed);
    let mut features = vec![FEATURES[seed as usize % FEATURES.len()], Feature::Plain];
    while features.len() < UNITS {
        features.push(*rng.pick(&FEATURES));
    }
    features
}

/// The text of such a file.
pub(crate) fn random_program(seed: u64) -> String {
    File::new(seed, &features(seed), Scope::Functions).text.plain
}

/// One file: what Touchstone says of it, and what its runs say.
fn judge_file(seed: u64, folder: &Path) -> Result {
    let mut features = features(seed);
    let scope = if seed % 6 == 5 && only_feature().is_none() { Scope::Program } else { Scope::Functions };
    if scope == Scope::Program {
        // Their arguments are not made one by one.
        let made_whole = |feature: &Feature| {
            matches!(feature, Feature::Callback | Feature::Walk | Feature::Tagged | Feature::Hidden)
        };
        features.retain(|feature| !made_whole(feature));
    }
    let file = File::new(seed, &features, scope);
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a writable scratch directory");
    write("program.c", &file.text.plain);
    write("driver.c", &file.driver());
    let runs = if long() { ["30000", "300000"] } else { ["15000", "100000"] };
    let covered = Covered::read(&search(folder, runs, &file.flags));
    let mode = match scope {
        Scope::Functions => MODES[(seed / 5) as usize % MODES.len()],
        Scope::Program => ENTRY_MODES[(seed / 6) as usize % ENTRY_MODES.len()],
    };
    let objectives = ask(folder, mode, &file.flags);
    let mut result = Result::default();
    let mut named = BTreeSet::new();
    // Decisions tell more than the statements behind them.
    for objective in by_telling(&objectives) {
        let function = objective["function"].as_str().unwrap_or_default();
        let found = file.functions.iter().find(|(name, _)| name == function);
        let Some((_, feature)) = found.or_else(|| of_unit(&file, function)) else {
            panic!("{function} belongs to no unit in {}", folder.display());
        };
        let reached = reached(&file.text, &covered, objective)
            .unwrap_or_else(|error| panic!("seed {seed}: {error} in {}", folder.display()));
        let group = if scope == Scope::Program { "Program".to_string() } else { format!("{feature:?}") };
        let figures = result.figures.entry(group).or_default();
        match objective["status"].as_str() {
            Some("covered") => {
                figures.covered += 1;
                figures.met += usize::from(reached);
            }
            Some("unknown") => {
                figures.unknown += 1;
                if objective["why"].as_str().unwrap_or_default().is_empty() {
                    result.complaints.push(format!("seed {seed}: unknown without a reason: {objective}"));
                }
            }
            Some("infeasible") => {
                figures.infeasible += 1;
                if reached {
                    figures.wrong += 1;
                    // One objective of each function suffices for the message.
                    if named.insert(function.to_string()) {
                        result.complaints.push(complaint(seed, mode, *feature, objective));
                    }
                }
            }
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    result
}

fn by_telling(objectives: &[Value]) -> Vec<&Value> {
    let mut all: Vec<&Value> = objectives.iter().collect();
    all.sort_by_key(|objective| objective["criterion"] == "stmt");
    all
}

/// The feature of a helper function such as `u3_set`.
fn of_unit<'a>(file: &'a File, function: &str) -> Option<&'a (String, Feature)> {
    if function == "start" {
        return file.functions.first();
    }
    let unit = function.split('_').next()?.trim_end_matches('b');
    file.functions.iter().find(|(name, _)| name == &format!("{unit}_f"))
}

fn complaint(seed: u64, mode: &[&str], feature: Feature, objective: &Value) -> String {
    let word = |key: &str| objective[key].as_str().unwrap_or_default().to_string();
    format!(
        "seed {seed} {mode:?} {feature:?}: {} line {}: {} {:?} is called infeasible ({}), and a run covers it",
        word("function"),
        objective["line"],
        word("criterion"),
        word("text"),
        word("why")
    )
}

/// Compiles and runs the driver.
fn search(folder: &Path, runs: [&str; 2], flags: &[&str]) -> String {
    let words = ["-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-o", "driver", "driver.c"];
    let built = Command::new("gcc").args(words).args(flags).current_dir(folder).output().expect("gcc runs");
    assert!(built.status.success(), "{}\n{}", folder.display(), String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(folder.join("driver")).args(runs).output().expect("the driver runs");
    assert!(ran.status.success(), "{}: {} {}", folder.display(), ran.status, String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("numbers")
}

fn ask(folder: &Path, mode: &[&str], flags: &[&str]) -> Vec<Value> {
    let ran = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(mode)
        .args(["-c", "stmt,branch,decision,condition,mcdc", "--timeout", "1", "--jobs", "1", "-q", "--format", "json"])
        .args(["program.c", "--"])
        .args(flags)
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    let report: Value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{}: {error}\n{said}", folder.display()));
    report["objectives"].as_array().expect("objectives").clone()
}

/// The answers about all files, with what was kept of those that are wrong.
fn judge_files(seeds: std::ops::Range<u64>) -> Result {
    let next = std::sync::atomic::AtomicU64::new(seeds.start);
    let all = std::sync::Mutex::new(Result::default());
    let keep = seeds.end - seeds.start == 1;
    let work = || {
        loop {
            let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if seed >= seeds.end {
                break;
            }
            let mut folder = tempfile::tempdir().expect("a scratch directory");
            let found = judge_file(seed, folder.path());
            if keep || !found.complaints.is_empty() {
                folder.disable_cleanup(true);
                eprintln!("seed {seed} is kept in {}", folder.path().display());
            }
            all.lock().expect("no thread panicked").add(found);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    all.into_inner().expect("no thread panicked")
}

#[test]
fn what_some_run_covers_is_never_called_infeasible() {
    // As many files as there is time for.
    let seeds = seeds(0..16, 0..600);
    let all = judge_files(seeds.clone());
    eprintln!("feature      covered  (met) infeasible unknown   wrong");
    let mut sum = Figures::default();
    for (feature, one) in &all.figures {
        eprintln!("{feature:12} {one}");
        sum.add(*one);
    }
    eprintln!("{:12} {sum}", "all");
    for complaint in all.complaints.iter().take(60) {
        eprintln!("{complaint}");
    }
    assert!(all.complaints.is_empty(), "{} complaints", all.complaints.len());
    if seeds.end - seeds.start < FEATURES.len() as u64 || only_feature().is_some() {
        return;
    }
    for feature in FEATURES {
        let judged = all.figures.get(&format!("{feature:?}")).map_or(0, Figures::judged);
        assert!(judged > 30, "only {judged} verdicts about {feature:?}");
    }
    // The runs must find what there is, and caution must not be all there is: without a world, verdicts are decided.
    assert!(sum.met * 100 > sum.covered * 85, "runs reach only {} of {} covered objectives", sum.met, sum.covered);
    let plain = all.figures["Plain"];
    assert!(plain.infeasible * 100 > plain.judged() * 8, "{} of {} are infeasible", plain.infeasible, plain.judged());
    assert!(plain.unknown * 100 < plain.judged() * 5, "{} of {} are unknown", plain.unknown, plain.judged());
}

/// Features of which functions keep something between calls.
const KEEPING: [Feature; 4] = [Feature::StaticLocal, Feature::FileStatic, Feature::Callee, Feature::Recursion];

#[test]
fn what_a_sequence_of_calls_covers_the_real_program_does_as_well() {
    let mut sequences = 0;
    let mut open = 0;
    for seed in if long() { 1000..1080 } else { 1000..1005 } {
        let folder = tempfile::tempdir().expect("a scratch directory");
        let features = [KEEPING[seed as usize % KEEPING.len()]; 2];
        let file = File::new(seed, &features, Scope::Functions);
        std::fs::write(folder.path().join("program.c"), &file.text.plain).expect("a writable scratch directory");
        let ran = Command::new(env!("CARGO_BIN_EXE_touchstone"))
            .args(["generate", "-c", "branch,mcdc", "--timeout", "3", "-q", "--format", "json", "program.c"])
            .args(file.functions.iter().flat_map(|(name, _)| ["-f", name.as_str()]))
            .current_dir(folder.path())
            .output()
            .expect("touchstone runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        let report: Value =
            serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{said}"));
        for test in report["tests"].as_array().expect("tests") {
            assert_ne!(test["replay"], "disagreed", "seed {seed}: {test}\n{}", file.text.plain);
            if test["earlier"].is_array() {
                sequences += 1;
                assert_eq!(test["replay"], "agreed", "seed {seed}: {test}\n{}", file.text.plain);
            }
        }
        let all = report["objectives"].as_array().expect("objectives").iter();
        open += all.filter(|one| one["status"] == "unknown").count();
    }
    eprintln!("{sequences} sequences, {open} objectives unknown");
    assert!(sequences > 5, "only {sequences} sequences");
}
