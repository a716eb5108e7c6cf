//! A mutation test of Touchstone itself: each fault of `base/fault.rs` is injected, and a test that judges verdicts must fail.
//!
//! Only builds with debug assertions can be broken. `TOUCHSTONE_LONG=1` injects all faults, otherwise a few; a fault that
//! no judge notices shows what the random programs lack.

use crate::support::long;
use std::process::Command;
use touchstone_base::fault::Fault;

/// The test that notices a fault, and the programs that it generates.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Judge {
    test: &'static str,
    seed: &'static str,
    /// The feature of all functions, if the programs are those of `soundness.rs` and rarely have it.
    feature: Option<&'static str>,
}

const fn judge(test: &'static str, seed: &'static str) -> Judge {
    Judge { test, seed, feature: None }
}

const fn soundness(feature: &'static str) -> Judge {
    Judge { test: SOUNDNESS, seed: "0..16", feature: Some(feature) }
}

const SOUNDNESS: &str = "soundness::what_some_run_covers_is_never_called_infeasible";
const PATHS: &str = "random_programs::the_engine_finds_exactly_the_paths_that_all_inputs_of_a_random_function_take";
const PROVER: &str = "prover_fuzz::nothing_that_some_input_reaches_is_proved_infeasible";
const VERDICTS: &str = "verdicts::every_verdict_on_random_decision_functions_is_what_all_inputs_say";
const SUMMARIES: &str = "composition::verdicts_are_the_same_with_and_without";
const CACHE: &str = "cache::after_an_edit_of_a_leaf_it_and_its_callers_are_explored_again";
const PAIRS: &str = "change::random_pairs::what_is_said_of_a_change_holds_for_all_inputs_of_random_functions";
const STATE_PAIRS: &str =
    "change::state_pairs::compiled_versions_that_are_equivalent_return_the_same_in_all_sequences_of_calls";

/// Faults of the default run: their judge is fast.
const FAST: [Fault; 1] = [Fault::LostOutcome];

fn judge_of(fault: Fault) -> Judge {
    match fault {
        Fault::LostOutcome | Fault::ZeroExtension | Fault::UnsignedComparison => judge(PATHS, "1"),
        Fault::NarrowInterval | Fault::TruncationKeepsRange | Fault::LoopKeepsMemory => judge(PROVER, "1"),
        Fault::OneSidedSummary => judge(SUMMARIES, "1"),
        Fault::DroppedAlias => judge(SOUNDNESS, "0..24"),
        Fault::DroppedNull | Fault::WrongModel => judge(SOUNDNESS, "24..70"),
        Fault::ExternalKeepsMemory | Fault::UnreachableConstants => judge(SOUNDNESS, "0..24"),
        Fault::NoOverlap => soundness("Bytes"),
        Fault::NoPersistentState | Fault::AllocationSucceeds => judge(SOUNDNESS, "0..24"),
        Fault::StableVolatile | Fault::AssemblyIgnored | Fault::FlagsIgnored => judge(SOUNDNESS, "0..24"),
        Fault::AttributesIgnored | Fault::WeakIsStrong => soundness("Attribute"),
        Fault::NothingMasked => judge(VERDICTS, "1"),
        Fault::StaleCacheKey => judge(CACHE, "1"),
        Fault::WrongPostDominator => judge(PAIRS, "0"),
        Fault::KeptEqualities => judge(STATE_PAIRS, "4"),
        Fault::EqualText => judge(STATE_PAIRS, "34"),
        Fault::EqualState => judge(STATE_PAIRS, "0..8"),
    }
}

/// Returns true if a judge passes, with a fault or without.
fn passes(judge: Judge, fault: Option<Fault>) -> bool {
    // Results of a broken build must not reach other runs.
    let cache = tempfile::tempdir().expect("a scratch directory");
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", judge.test])
        .envs(fault.map(|fault| ("TOUCHSTONE_FAULT", format!("{fault:?}"))))
        .envs(judge.feature.map(|feature| ("TOUCHSTONE_FEATURE", feature)))
        .env("TOUCHSTONE_SEED", judge.seed)
        .env("TOUCHSTONE_CACHE", cache.path())
        .env("TOUCHSTONE_COUNT", if long() { "120" } else { "10" })
        .env_remove("TOUCHSTONE_LONG")
        .output()
        .expect("this program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("running 1 test"), "{} is no test: {said}", judge.test);
    output.status.success()
}

#[test]
fn every_injected_fault_is_noticed_by_a_judge() {
    if !cfg!(debug_assertions) {
        return;
    }
    let faults = if long() { Fault::ALL } else { &FAST };
    let missed: Vec<&Fault> = faults.iter().filter(|fault| passes(judge_of(**fault), Some(**fault))).collect();
    assert!(missed.is_empty(), "no judge notices {missed:?}");
    // A judge that fails without a fault notices nothing.
    let mut judges: Vec<Judge> = Vec::new();
    for judge in faults.iter().map(|fault| judge_of(*fault)) {
        if long() && !judges.contains(&judge) {
            judges.push(judge);
        }
    }
    for judge in judges {
        assert!(passes(judge, None), "{} fails without a fault", judge.test);
    }
}
