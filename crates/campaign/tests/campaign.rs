//! Campaigns as a library user runs them: without a command line or a terminal.

// Tests may read files and print.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use tempfile::TempDir;
use touchstone_campaign::{
    CampaignError, CampaignResult, CollectedTests, ExplainError, HelperParameters, ObjectiveQuestion, Plan, PlanError,
    Purpose, ReplayMode, Request, Subject, SubjectError, TestForm, TestSink, TestSinks, VerdictReason, run, run_into,
};
use touchstone_criteria::{CoveredObjective, Replay, Status, TestCase};
use touchstone_ir::{FuncId, Module};

const TWO: &str = "
static int limit(int x) { return x > 9 ? 9 : x; }
int step(int a, const int *p) { if (a > 1 && *p == 3) return limit(a); return 0; }
int never(int a) { if (a > 3) { if (a < 2) return 1; } return 0; }
";

fn request(scratch: &TempDir, text: &str) -> Request {
    let source = scratch.path().join("program.c");
    std::fs::write(&source, text).expect("written");
    Request::new([source], scratch.path().join("out"))
}

fn refused(text: &str, change: impl FnOnce(&mut Request)) -> PlanError {
    let scratch = tempfile::tempdir().expect("a directory");
    let mut request = request(&scratch, text);
    change(&mut request);
    Plan::new(&request).expect_err("it can't be planned")
}

/// Formats the part of a result that does not depend on time.
fn essence(finished: &CampaignResult) -> String {
    let mut campaign = finished.campaign.clone();
    for function in &mut campaign.functions {
        (function.seconds, function.replay_seconds, function.solver.seconds) = (0.0, 0.0, 0.0);
    }
    format!("{campaign:?}")
}

#[test]
fn tests_are_written_as_c_and_the_compiled_program_agrees_with_them() {
    let scratch = tempfile::tempdir().expect("a directory");
    let request = request(&scratch, TWO);
    let plan = Plan::new(&request).expect("a plan");
    let finished = run(&plan, &()).expect("it runs");
    assert!(
        finished.campaign.tests.iter().all(|test| test.replayed == Replay::Agreed),
        "{:?}",
        finished.campaign.tests
    );
    for name in ["limit", "step", "never"] {
        assert!(request.out.join(format!("test_{name}.c")).is_file(), "{name}");
    }
    let document = finished.document(&plan);
    assert_eq!(document.tests.len(), finished.campaign.tests.len());
    assert_eq!(document.files.len(), 1);
    assert_eq!((plan.notices.len(), finished.notices().len()), (0, 0));
}

#[test]
fn a_sink_of_ones_own_gets_the_tests_that_are_left_and_nothing_is_written_or_replayed() {
    let scratch = tempfile::tempdir().expect("a directory");
    let request = request(&scratch, TWO);
    let plan = Plan::new(&request).expect("a plan");
    let collect = CollectedTests::default();
    let finished = run_into(&plan, &collect, &()).expect("it runs");
    let mut kept = collect.into_tests();
    let names = plan.tasks.iter().map(|task| &plan.program.module.functions[task.func].name);
    let kept: Vec<TestCase> = names.flat_map(|name| kept.remove(name).expect("every function has a sink")).collect();
    assert_eq!(kept, finished.campaign.tests);
    assert!(finished.campaign.tests.iter().all(|test| test.replayed == Replay::NotRun));
    assert!(!request.out.join("test_step.c").exists());
}

#[test]
fn the_result_does_not_depend_on_how_many_functions_are_worked_on_at_the_same_time() {
    let scratch = tempfile::tempdir().expect("a directory");
    let one_or = |jobs| {
        let request = Request { jobs: Some(jobs), replay: ReplayMode::Off, ..request(&scratch, TWO) };
        essence(&run(&Plan::new(&request).expect("a plan"), &()).expect("it runs"))
    };
    assert_eq!(one_or(1), one_or(3));
}

#[test]
fn who_is_told_to_stop_lists_what_was_not_begun() {
    let scratch = tempfile::tempdir().expect("a directory");
    let request = Request { purpose: Purpose::Verdicts, jobs: Some(1), ..request(&scratch, TWO) };
    request.interrupt.store(true, Ordering::Relaxed);
    let plan = Plan::new(&request).expect("a plan");
    assert_eq!(plan.tasks.len(), 3);
    let functions = run(&plan, &()).expect("it runs").campaign.functions;
    assert_eq!(functions.len(), 3);
    assert!(functions.iter().all(|function| function.paths.explored == 0 && function.objectives.covered == 0));
    assert!(functions.iter().all(|function| function.objectives.unknown == function.objectives.total));
}

#[test]
fn a_plan_holds_its_directory() {
    let scratch = tempfile::tempdir().expect("a directory");
    let request = request(&scratch, TWO);
    let held = Plan::new(&request).expect("a plan");
    assert!(matches!(Plan::new(&request), Err(PlanError::OutDir(_))));
    drop(held);
    Plan::new(&request).expect("it is free again");
}

#[test]
fn what_is_wrong_with_a_request_is_said_by_type_before_any_work() {
    assert!(matches!(refused(TWO, |request| request.files.clear()), PlanError::NoFiles));
    assert!(matches!(
        refused(TWO, |request| request.criteria = vec!["state".parse().expect("known")]),
        PlanError::State
    ));
    let unknown = refused(TWO, |request| request.subject = Subject::Functions(vec!["nope".to_string()]));
    let PlanError::Subject(SubjectError::Unknown { name, known }) = unknown else { panic!("{unknown}") };
    assert_eq!((name.as_str(), known), ("nope", vec!["limit".to_string(), "never".to_string(), "step".to_string()]));
    let arguments = refused(TWO, |request| {
        request.subject = Subject::Functions(vec!["step".to_string()]);
        request.inputs.arguments = Some((1, 1));
    });
    assert!(matches!(arguments, PlanError::Subject(SubjectError::ArgumentsOfFunction)));
    let range = refused(TWO, |request| request.inputs.ranges = BTreeMap::from([("zz[0]".to_string(), (0, 1))]));
    assert!(matches!(range, PlanError::NoSuchInput { name } if name == "zz"));
    let form = refused(TWO, |request| request.emit = vec![TestForm::TestComp]);
    assert!(matches!(form, PlanError::TestCompOfFunctions));
    let form = refused(TWO, |request| {
        request.subject = Subject::Program("step".to_string());
        request.emit = vec![TestForm::Gtest];
    });
    assert!(matches!(form, PlanError::FrameworkOfProgram { form: TestForm::Gtest }));
    let oracle = "int f(int a) { return a; } int f_post(int a) { return 1; }";
    assert!(matches!(
        refused(oracle, |_| {}),
        PlanError::Signature { takes: HelperParameters::ParametersAndResult, .. }
    ));
    let suite = refused(TWO, |request| request.on_top_of = Some(Path::new("no-such-suite").to_path_buf()));
    assert!(matches!(suite, PlanError::NoMeasurement { .. }));
}

#[test]
fn an_objective_is_explained_as_the_campaign_judged_it() {
    let scratch = tempfile::tempdir().expect("a directory");
    let mut request = Request { purpose: Purpose::Verdicts, ..request(&scratch, TWO) };
    request.criteria = vec!["branch".parse().expect("known")];
    let campaign = run(&Plan::new(&request).expect("a plan"), &()).expect("it runs").campaign;
    assert!(campaign.objectives.iter().any(|objective| matches!(objective.status, Status::Infeasible(_))));
    for objective in &campaign.objectives {
        let answer = ObjectiveQuestion::new(&request, &objective.id).expect("it is known").answer();
        match (&objective.status, &answer.why) {
            (Status::Covered(_), VerdictReason::Covered(Some(_))) => {}
            (Status::Infeasible(how), VerdictReason::Infeasible { how: same, conflicts, .. }) => {
                assert_eq!(*how, *same);
                assert!(!conflicts.conflicts.is_empty());
            }
            (judged, why) => panic!("{}: {judged:?} and {why:?}", objective.id),
        }
    }
    assert!(matches!(ObjectiveQuestion::new(&request, "nonsense"), Err(ExplainError::NoId { .. })));
    assert!(matches!(
        ObjectiveQuestion::new(&request, "step.branch.1.00000000"),
        Err(ExplainError::NoObjective { .. })
    ));
}

/// Rejects every test.
struct Full;

impl TestSinks for Full {
    fn open<'s>(&'s self, _: &'s Module, _: FuncId) -> Result<Box<dyn TestSink + 's>, CampaignError> {
        Ok(Box::new(Full))
    }
}

impl TestSink for Full {
    fn add(&mut self, test: &TestCase, _: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        Err(CampaignError::Sink(format!("no room for {}", test.id).into()))
    }
}

#[test]
fn a_test_that_can_not_be_kept_fails_the_campaign_with_the_first_reason() {
    let scratch = tempfile::tempdir().expect("a directory");
    let plan = Plan::new(&request(&scratch, TWO)).expect("a plan");
    let failed = run_into(&plan, &Full, &()).expect_err("nothing is kept");
    assert!(failed.to_string().starts_with("no room for "), "{failed}");
}
