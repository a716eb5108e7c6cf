//! What a campaign found, and the document that every report reads.

use crate::plan::Plan;
use crate::plan::Work;
use crate::request::Notice;
use crate::reuse::measured_suite::add_tests;
use std::collections::BTreeSet;
use touchstone_criteria::{
    Campaign, Criterion, DecisionTable, FunctionResult, Objective, ObjectiveCounts, PathCounts, Replay, SolverUse,
    TestCase,
};
use touchstone_emit::Target;
use touchstone_report::document::{Change, ChangedFunction};
use touchstone_report::{Document, Extras, FormSuites, KeptSuite, join_forms};

/// What one function gave.
pub(crate) struct Done {
    /// One entry a criterion.
    pub results: Vec<FunctionResult>,
    pub objectives: Vec<Objective>,
    pub tests: Vec<TestCase>,
    pub decisions: Vec<DecisionTable>,
    pub notices: Vec<Notice>,
    pub kept: Vec<KeptSuite>,
    pub forms: Vec<FormSuites>,
    /// What nothing kept a replay of an earlier run from.
    pub unprotected: Option<String>,
    /// An earlier run found it.
    pub cached: bool,
    /// What a change since an older version is to it; nothing where nothing touches it, or nobody asked.
    pub change: Option<ChangedFunction>,
    /// Nobody interrupted it.
    pub finished: bool,
}

impl Done {
    /// Of a function that nothing of a change touches.
    pub fn unaffected(work: &Work<'_>) -> Done {
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
        Done {
            results: results(work, nothing, 0.0, 0),
            objectives: work.wanted.list.values().cloned().collect(),
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

/// What a campaign found.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// Functions, objectives with verdicts, tests.
    pub campaign: Campaign,
    /// What reports can show beside it.
    pub extras: Extras,
    /// What was noticed on the way.
    noticed: Vec<Notice>,
    /// Functions that the run was interrupted in.
    unfinished: BTreeSet<String>,
}

impl Finished {
    /// Nothing yet, of a plan.
    pub(crate) fn of(plan: &Plan) -> Finished {
        let change = plan.request.old.as_ref().map(|old| Change { since: old.name.clone(), ..Change::default() });
        Finished { extras: Extras { change, ..Extras::default() }, ..Finished::default() }
    }

    pub(crate) fn add(&mut self, done: Done) {
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

    /// Notes what users should know.
    pub(crate) fn notice(&mut self, notices: Vec<Notice>) {
        self.noticed.extend(notices);
    }

    /// Notes what nothing kept the replay from, if there was one.
    pub(crate) fn note_protection(&mut self, target: &Target) {
        let replayed = self.campaign.tests.iter().any(|test| test.replayed != Replay::NotRun);
        let earlier = self.extras.sandbox.take();
        self.extras.sandbox = target.unprotected().or(earlier).filter(|_| replayed);
    }

    /// What users should know of it.
    pub fn notices(&self) -> Vec<Notice> {
        let unprotected = self.extras.sandbox.iter().map(|told| Notice::Unprotected { told: told.clone() });
        let nothing = excluded(&self.campaign).into_iter();
        let nothing = nothing.map(|function| Notice::NothingAllowed { function: function.to_string() });
        self.noticed.iter().cloned().chain(unprotected).chain(nothing).collect()
    }

    /// The form that is stored, and that every renderer reads.
    pub fn document(&self, plan: &Plan) -> Document {
        let mut document = touchstone_report::document(&self.campaign, &plan.program.module, &self.extras);
        document.files = plan.sources.clone();
        plan.stamp(&mut document, &self.unfinished);
        plan.resumed.join(&mut document);
        let untouched = document.change.iter().flat_map(|change| &change.unaffected).map(String::as_str);
        document.left_alone = plan.earlier.tests_of(&untouched.collect());
        add_tests(&mut document);
        touchstone_report::exclude(&mut document);
        touchstone_report::count_forms(&mut document);
        document
    }
}

/// Functions that were explored completely without a single path or test.
fn excluded(campaign: &Campaign) -> Vec<&str> {
    let nothing = |function: &&FunctionResult| {
        let asked = matches!(function.criterion, Criterion::Paths(_)) || function.objectives.total > 0;
        // What a suite that is there covers is not searched for.
        let open = function.objectives.covered == 0;
        asked && open && function.exhaustive && function.paths.explored == 0 && function.tests == 0
    };
    let mut names: Vec<&str> =
        campaign.functions.iter().filter(nothing).map(|function| function.name.as_str()).collect();
    names.dedup();
    names
}

/// One entry a criterion, with the figures that they share.
pub(crate) fn results(
    work: &Work<'_>,
    mut result: FunctionResult,
    replay_seconds: f64,
    tests: u64,
) -> Vec<FunctionResult> {
    result.replay_seconds = replay_seconds;
    result.tests = tests;
    let (module, tested) = (work.module(), work.plan.program.tested_by(work.task.func));
    // What makes objects first is of no file.
    if let Some(file) = Some(module.functions[tested].span).filter(|span| span.is_some()) {
        result.file = module.files.get(file.file).cloned().unwrap_or_default();
    }
    let entry = |criterion: &Criterion| match criterion {
        Criterion::Paths(_) | Criterion::State => result.clone(),
        Criterion::Goals(labelling) => FunctionResult {
            criterion: *criterion,
            objectives: touchstone_criteria::count(&work.wanted, labelling.name()),
            ..result.clone()
        },
    };
    work.plan.request.criteria.iter().map(entry).collect()
}
