//! Judges that we didn't write: the generated suites, run under llvm-cov (branches and MC/DC) and gcov (branches), must
//! show what we claim, for `tests/decisions/` and `examples/`. Where definitions differ, `tests/decisions/differs.txt`
//! says so and `docs/mcdc.md` explains; a difference that goes away fails as well.

use crate::support;

mod coverage;
mod differences;
mod suite;
mod toolchain;

use self::coverage::Share;
use self::differences::{Difference, Differences, differences};
use self::suite::{Claim, Court, JudgedProgram, Judgement, Suites, generate};
use self::toolchain::judges_are_here;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const CRITERIA: &str = "mcdc,branch,condition,stmt";

fn decisions() -> Vec<JudgedProgram> {
    let folder = support::root().join("tests/decisions");
    let entries = std::fs::read_dir(folder).expect("tests/decisions").map(|entry| entry.expect("readable").path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    files.sort();
    let name = |file: &Path| file.file_name().expect("a file").to_string_lossy().into_owned();
    files.into_iter().map(|file| JudgedProgram { name: name(&file), files: vec![file], whole: false }).collect()
}

fn examples() -> Vec<JudgedProgram> {
    let whole = |example: &support::Example| example.expectations.iter().any(|expected| expected.has("--entry"));
    let program = |example: support::Example| {
        let whole = whole(&example);
        // A folder's first file may have the name of another example.
        let name = format!("examples/{}", example.name);
        JudgedProgram { name, files: example.files, whole }
    };
    support::examples().into_iter().map(program).collect()
}

fn written_differences() -> Differences {
    let path = support::root().join("tests/decisions/differs.txt");
    differences(&std::fs::read_to_string(path).expect("tests/decisions/differs.txt"))
}

/// Does `work` for all items on all processors; the results are in the items' order.
fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get()).min(items.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < items.len())
                {
                    *done[index].lock().expect("no worker panics with the lock") = Some(work(&items[index]));
                }
            });
        }
    });
    let result = |slot: Mutex<Option<R>>| slot.into_inner().expect("no worker panicked").expect("all are done");
    done.into_iter().map(result).collect()
}

/// By program and function.
type Judged = BTreeMap<(String, String), (Claim, Judgement)>;

/// All suites of some programs, judged, and the suites that fail.
fn judged(court: &Court, programs: &[JudgedProgram], suites: Vec<Suites>) -> (Judged, Vec<String>) {
    let jobs: Vec<(&JudgedProgram, &Suites, usize)> = programs
        .iter()
        .zip(&suites)
        .flat_map(|(program, suites)| (0..suites.files.len()).map(move |index| (program, suites, index)))
        .collect();
    let results = each(&jobs, |(program, suites, index)| {
        let (file, functions) = &suites.files[*index];
        court.judge(program, suites.out.path(), file, functions)
    });
    let (mut all, mut failed) = (Judged::new(), Vec::new());
    for ((program, suites, index), judgements) in jobs.iter().zip(results) {
        match judgements {
            Ok(judgements) => all.extend(judgements.into_iter().map(|(function, judgement)| {
                let claim = suites.claims[&function].clone();
                ((program.name.clone(), function), (claim, judgement))
            })),
            Err(why) => failed.push(format!("{} {:?}: {why}", program.name, suites.files[*index].1)),
        }
    }
    (all, failed)
}

/// One comparison: what a judge says, and what it should say if it had our definitions.
struct Measure {
    name: &'static str,
    judged: Share,
    claimed: Share,
}

fn measures(claim: &Claim, judgement: &Judgement) -> [Measure; 3] {
    let sides = Share { found: 2 * claim.conditions - claim.not_taken, total: 2 * claim.conditions };
    let shown = Share { found: claim.together - claim.not_together, total: claim.together };
    [
        Measure { name: "mcdc", judged: judgement.llvm.mcdc, claimed: shown },
        Measure { name: "branches", judged: judgement.llvm.branches, claimed: sides },
        Measure { name: "gcov", judged: judgement.gcov, claimed: sides },
    ]
}

/// Returns an error if a measure contradicts the claim.
fn complaint(claim: &Claim, measure: &Measure, difference: Option<&Difference>) -> Option<String> {
    let (judged, claimed) = (measure.judged, measure.claimed);
    let same =
        judged == claimed || (claim.goes_wrong && judged.total == claimed.total && judged.found >= claimed.found);
    match difference {
        None if same => None,
        None => Some(format!("judged {judged}, claimed {claimed}")),
        Some(difference) if same => Some(format!("`{}` makes no difference any more: {judged}", difference.reason)),
        Some(difference) => {
            let (now, written) = (judged.to_string(), &difference.share);
            (now != *written).then(|| format!("judged {now}, written down {written}"))
        }
    }
}

/// The interpretation of gcov's counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gcov {
    /// As many branches as we have.
    Exact,
    /// None missed that we claim: which choices between constants gcc compiles without a branch is its own affair.
    Lenient,
}

/// Compares all of some programs with what is written down.
fn compare(programs: &[JudgedProgram], all: &Judged, mut complaints: Vec<String>, gcov: Gcov) {
    let differences = written_differences();
    for ((program, function), (claim, judgement)) in all {
        for measure in measures(claim, judgement) {
            let key = (program.clone(), function.clone(), measure.name.to_string());
            let difference = differences.get(&key);
            let found = if measure.name == "gcov" && difference.is_none() && gcov == Gcov::Lenient {
                let missed = |share: Share| share.total - share.found;
                let (judged, claimed) = (measure.judged, measure.claimed);
                (missed(judged) > missed(claimed)).then(|| format!("judged {judged}, claimed {claimed}"))
            } else {
                complaint(claim, &measure, difference)
            };
            complaints.extend(found.map(|what| format!("{program} {function} {}: {what}", measure.name)));
        }
    }
    let names: BTreeSet<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    for (program, function, measure) in differences.keys().filter(|key| names.contains(key.0.as_str())) {
        if !all.contains_key(&(program.clone(), function.clone())) {
            complaints.push(format!("{program} {function} {measure}: written down, but there is no such function"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn llvm_and_gcov_see_what_we_claim_of_every_decision_function() {
    if !judges_are_here() {
        return;
    }
    let programs = decisions();
    let court = Court::new();
    let suites = each(&programs, |program| generate(program, &[], CRITERIA).joined());
    let (all, failed) = judged(&court, &programs, suites);
    assert!(all.len() >= 60, "only {} functions", all.len());
    compare(&programs, &all, failed, Gcov::Exact);
    all_combinations_have_no_more_pairs(&court, &programs);
}

#[test]
fn llvm_and_gcov_see_what_we_claim_of_every_example() {
    // The programs of `tests/decisions` are judged by default.
    if !support::long() || !judges_are_here() {
        return;
    }
    let programs = examples();
    let suites = each(&programs, |program| generate(program, &[], CRITERIA));
    let (all, failed) = judged(&Court::new(), &programs, suites);
    assert!(all.len() >= 40, "only {} functions", all.len());
    compare(&programs, &all, failed, Gcov::Lenient);
}

/// For the reason `coupled`: all combinations of a decision show llvm-cov no more pairs than our suite does.
fn all_combinations_have_no_more_pairs(court: &Court, programs: &[JudgedProgram]) {
    let differences = written_differences();
    let coupled = |program: &JudgedProgram| {
        let own = differences.iter().filter(|(key, what)| key.0 == program.name && what.is_coupled());
        own.map(|(key, what)| (key.1.as_str(), what)).collect::<Vec<_>>()
    };
    let with_some: Vec<&JudgedProgram> = programs.iter().filter(|program| !coupled(program).is_empty()).collect();
    assert!(!with_some.is_empty(), "no decision is coupled any more: this test has lost its subject");
    let complaints = each(&with_some, |program| {
        let functions: Vec<&str> = coupled(program).iter().map(|(name, _)| *name).collect();
        let suites = generate(program, &functions, "mcc").joined();
        let seen = court.judge_by_llvm(program, suites.out.path(), &suites.files[0].0, &[]).expect("tests pass");
        let own = coupled(program).into_iter();
        let wrong = own.filter(|(name, difference)| seen[*name].mcdc.to_string() != difference.share);
        wrong
            .map(|(name, difference)| {
                let what = format!("{} with all combinations, written down {}", seen[name].mcdc, difference.share);
                format!("{} {name}: {what}", program.name)
            })
            .collect::<Vec<_>>()
    });
    let complaints = complaints.concat();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// llvm-cov's MC/DC of one function, after a change of its suite's text.
fn mcdc_after(program: &str, function: &str, flags: &[&str], change: impl Fn(&str) -> String) -> String {
    let program = decisions().into_iter().find(|known| known.name == program).expect("the program");
    let suites = generate(&program, &[function], CRITERIA);
    let changed = suites.out.path().join("changed.c");
    let text = std::fs::read_to_string(&suites.files[0].0).expect("readable");
    std::fs::write(&changed, change(&text)).expect("writable");
    let judged = Court::new().judge_by_llvm(&program, suites.out.path(), &changed, flags).expect("tests pass");
    judged[function].mcdc.to_string()
}

#[test]
fn told_to_stop_at_six_conditions_llvm_leaves_a_decision_with_seven_out() {
    if !judges_are_here() {
        return;
    }
    let seen = |flags: &[&str]| mcdc_after("many.c", "seven", flags, str::to_string);
    assert_eq!(seen(&[]), "7/7");
    assert_eq!(seen(&["-Xclang", "-fmcdc-max-conditions=6"]), "0/0");
}

#[test]
fn the_judge_notices_one_test_less() {
    if !judges_are_here() {
        return;
    }
    // Seven conditions under && take eight tests: none can be spared.
    let without_first = |text: &str| {
        let (head, tests) = text.split_once("\nTEST(").expect("a test");
        let (_, rest) = tests.split_once("\nTEST(").expect("a second test");
        format!("{head}\nTEST({rest}")
    };
    assert_eq!(mcdc_after("many.c", "seven", &[], str::to_string), "7/7");
    assert_ne!(mcdc_after("many.c", "seven", &[], without_first), "7/7");
}

#[test]
fn two_tests_that_differ_in_another_evaluated_condition_are_no_pair_for_llvm() {
    if !judges_are_here() {
        return;
    }
    let seen = |calls: &[&str]| {
        mcdc_after("and_or.c", "or_of_ands", &[], |text| {
            let (head, _) = text.split_once("\nTEST(").expect("a test");
            let test = |(index, arguments): (usize, &&str)| {
                format!("TEST(fixed_{index}, \"\") {{ or_of_ands({arguments}); }}\n")
            };
            format!("{head}\n{}", calls.iter().enumerate().map(test).collect::<String>())
        })
    };
    // The table of docs/mcdc.md: every condition decides with both values.
    let masking = ["0, 0, 0, 0", "1, 1, 0, 0", "1, 0, 1, 0", "1, 0, 1, 1"];
    assert_eq!(seen(&masking), "3/4");
    assert_eq!(seen(&[&masking[..], &["0, 0, 1, 1"]].concat()), "4/4");
}

#[test]
fn every_difference_is_explained_in_the_documentation() {
    let page = std::fs::read_to_string(support::root().join("docs/mcdc.md")).expect("docs/mcdc.md");
    let explained: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("### `").and_then(|rest| rest.split('`').next())).collect();
    let differences = written_differences();
    let used: BTreeSet<&str> = differences.values().map(|difference| difference.reason.as_str()).collect();
    assert_eq!(used, explained);
}
