//! The result of a campaign, and the document that every report reads.

use crate::plan::Plan;
use crate::plan::Work;
use crate::request::{Notice, Purpose};
use crate::reuse::baseline_suite::add_tests;
use crate::stages::existing_suites::is_same_test;
use std::collections::BTreeSet;
use touchstone_criteria::{
    Campaign, Criterion, DecisionTable, FunctionResult, Objective, ObjectiveCounts, PathCounts, Replay, SolverUse,
    TestCase,
};
use touchstone_emit::Target;
use touchstone_report::document::{Change, ChangedFunction, Test};
use touchstone_report::{Document, FormSuites, ReportedSuite, ReportedVerdict, Supplements, join_forms};

/// The result for one function.
pub(crate) struct FunctionOutcome {
    /// One entry per criterion.
    pub results: Vec<FunctionResult>,
    pub objectives: Vec<Objective>,
    pub tests: Vec<TestCase>,
    pub decisions: Vec<DecisionTable>,
    pub notices: Vec<Notice>,
    pub kept: Vec<ReportedSuite>,
    pub forms: Vec<FormSuites>,
    /// The protection that the replay of an earlier run lacked.
    pub unprotected: Option<String>,
    /// True if the results come from the cache.
    pub cached: bool,
    /// The effect of the change since an old version; `None` if it is unaffected, or no version is compared.
    pub change: Option<ChangedFunction>,
    /// True if the work was not interrupted.
    pub finished: bool,
}

impl FunctionOutcome {
    /// Returns the result for a function that the change does not affect.
    pub fn unaffected(work: &Work<'_>) -> FunctionOutcome {
        let module = work.module();
        let function = &module.functions[work.task.func];
        let nothing = FunctionResult {
            name: function.name.clone(),
            file: module.files.get(function.span.file).cloned().unwrap_or_default(),
            criterion: Criterion::Paths(work.config.paths),
            objectives: ObjectiveCounts::default(),
            paths: PathCounts::default(),
            incomplete: Vec::new(),
            tests: 0,
            exhaustive: true,
            assumptions: Vec::new(),
            seconds: 0.0,
            replay_seconds: 0.0,
            solver: SolverUse::default(),
        };
        FunctionOutcome {
            results: results(work, nothing, 0.0, 0),
            objectives: work.objectives.list.values().cloned().collect(),
            tests: Vec::new(),
            decisions: Vec::new(),
            notices: Vec::new(),
            kept: Vec::new(),
            forms: Vec::new(),
            unprotected: None,
            cached: false,
            change: None,
            finished: true,
        }
    }
}

/// The result of a campaign.
#[derive(Clone, Debug, Default)]
pub struct CampaignResult {
    /// Functions, objectives with verdicts, tests.
    pub campaign: Campaign,
    /// Additional data for reports.
    pub extras: Supplements,
    /// Notices of the run.
    noticed: Vec<Notice>,
    /// Functions with interrupted work.
    unfinished: BTreeSet<String>,
}

impl CampaignResult {
    /// Returns an empty result.
    pub(crate) fn of(plan: &Plan) -> CampaignResult {
        let change = plan.request.old.as_ref().map(|old| Change { since: old.name.clone(), ..Change::default() });
        CampaignResult { extras: Supplements { change, ..Supplements::default() }, ..CampaignResult::default() }
    }

    pub(crate) fn add(&mut self, done: FunctionOutcome) {
        let unfinished = done.results.iter().filter(|_| !done.finished).map(|result| result.name.clone());
        self.unfinished.extend(unfinished);
        let cached = done.results.iter().filter(|_| done.cached).map(|result| result.name.clone());
        self.extras.cached.extend(cached);
        if let Some(change) = &mut self.extras.change {
            match done.change {
                Some(function) => change.functions.push(function),
                None => change.unaffected.extend(done.results.first().map(|result| result.name.clone())),
            }
        }
        self.extras.sandbox = self.extras.sandbox.take().or(done.unprotected);
        self.campaign.functions.extend(done.results);
        self.campaign.objectives.extend(done.objectives);
        self.campaign.tests.extend(done.tests);
        self.extras.decisions.extend(done.decisions);
        self.noticed.extend(done.notices);
        self.extras.kept.extend(done.kept);
        join_forms(&mut self.extras.forms, done.forms);
    }

    /// Adds notices for users.
    pub(crate) fn notice(&mut self, notices: Vec<Notice>) {
        self.noticed.extend(notices);
    }

    /// Records the protection that the replay lacked, if there was one.
    pub(crate) fn note_protection(&mut self, target: &Target) {
        let replayed = self.campaign.tests.iter().any(|test| test.replayed != Replay::NotRun);
        let earlier = self.extras.sandbox.take();
        self.extras.sandbox = target.unprotected().or(earlier).filter(|_| replayed);
    }

    /// Returns notices for users.
    pub fn notices(&self) -> Vec<Notice> {
        let unprotected = self.extras.sandbox.iter().map(|told| Notice::Unprotected { told: told.clone() });
        let nothing = excluded(&self.campaign).into_iter();
        let nothing = nothing.map(|function| Notice::NothingAllowed { function: function.to_string() });
        self.noticed.iter().cloned().chain(unprotected).chain(nothing).collect()
    }

    /// Returns the document that is stored, and that every renderer reads.
    pub fn document(&self, plan: &Plan) -> Document {
        let mut document = touchstone_report::document(&self.campaign, &plan.program.module, &self.extras);
        document.files = plan.sources.clone();
        plan.stamp(&mut document, &self.unfinished);
        plan.resumed.join(&mut document);
        let untouched = document.change.iter().flat_map(|change| &change.unaffected).map(String::as_str);
        document.left_alone = plan.earlier.tests_of(&untouched.collect());
        if plan.request.keeps_passing_tests() {
            let retained = retained_tests(plan, &document);
            document.left_alone.extend(retained);
        }
        add_tests(&mut document);
        touchstone_report::exclude(&mut document);
        touchstone_report::count_forms(&mut document);
        document
    }
}

impl Plan {
    /// Returns a document as it is stored: with the earlier tests of functions that are not part of the run. Their files
    /// stay, so later runs need their inputs.
    pub fn stored_document(&self, document: &Document) -> Document {
        let own: BTreeSet<&str> = match self.request.purpose {
            Purpose::Tests => document.functions.iter().map(|function| function.name.as_str()).collect(),
            Purpose::Verdicts => BTreeSet::new(),
        };
        let mut stored = document.clone();
        stored.left_alone.retain(|test| own.contains(test.function.as_str()));
        stored.left_alone.extend(self.earlier.tests_of_others(&own));
        stored
    }
}

/// Returns the earlier tests that stay although this run did not generate them: their inputs are known to later runs.
fn retained_tests(plan: &Plan, document: &Document) -> Vec<Test> {
    let generated: BTreeSet<&str> = document.tests.iter().map(|test| test.id.as_str()).collect();
    let mut retained = Vec::new();
    for suite in document.kept.iter().filter(|suite| !suite.edited) {
        let stays = |test: &Test| {
            let mut own = suite.tests.iter().filter(|own| is_same_test(&own.name, &test.id));
            !generated.contains(test.id.as_str()) && own.any(|own| own.verdict == ReportedVerdict::Passes)
        };
        retained.extend(plan.earlier.tests_with(&suite.function, stays));
    }
    retained
}

/// Returns the functions that were explored exhaustively without a single path or test.
fn excluded(campaign: &Campaign) -> Vec<&str> {
    let nothing = |function: &&FunctionResult| {
        let asked = matches!(function.criterion, Criterion::Paths(_)) || function.objectives.total > 0;
        // Objectives that a measured suite covers are not searched for.
        let open = function.objectives.covered == 0;
        asked && open && function.exhaustive && function.paths.explored == 0 && function.tests == 0
    };
    let mut names: Vec<&str> =
        campaign.functions.iter().filter(nothing).map(|function| function.name.as_str()).collect();
    names.dedup();
    names
}

/// Returns one entry per criterion, with the figures that they share.
pub(crate) fn results(
    work: &Work<'_>,
    mut result: FunctionResult,
    replay_seconds: f64,
    tests: u64,
) -> Vec<FunctionResult> {
    result.replay_seconds = replay_seconds;
    result.tests = tests;
    let (module, tested) = (work.module(), work.plan.program.tested_by(work.task.func));
    // The set-up of a fixture belongs to no file.
    if let Some(file) = Some(module.functions[tested].span).filter(|span| span.is_some()) {
        result.file = module.files.get(file.file).cloned().unwrap_or_default();
    }
    let entry = |criterion: &Criterion| match criterion {
        Criterion::Paths(_) | Criterion::State => result.clone(),
        Criterion::Goals(labelling) => FunctionResult {
            criterion: *criterion,
            objectives: touchstone_criteria::count(&work.objectives, labelling.name()),
            ..result.clone()
        },
    };
    work.plan.request.criteria.iter().map(entry).collect()
}
