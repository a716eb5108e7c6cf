//! The stored form of a function's results. Types, functions, literals and source positions are replaced by their
//! numbers in the dependency closure; a reader maps them to the current program.

use crate::plan::Work;
use crate::reuse::dependency_closure::DependencyClosure;
use crate::stages::conclude::Proofs;
use crate::stages::discover::Discovery;
use crate::stages::test_coverage::TestRows;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use touchstone_base::{Id, Span};
use touchstone_criteria::{
    Assumption, Bound, Criterion, FunctionResult, GoalId, Incomplete, IncompletePaths, ObjectiveCounts, PathCounts,
    Proof, Renumber, Replay, Row, SolverUse, TestCase,
};
use touchstone_engine::{EvaluatedRow, ExplorationResult, PairSearchResult, Shortage};
use touchstone_ir::{DataTypeId, DecisionId, FuncId, Linkage, Module, ModuleItem, PointerTarget};

/// The stored results of a function.
#[derive(Serialize, Deserialize)]
pub(crate) struct VerdictEntry {
    /// The ids of the objectives.
    objectives: Vec<String>,
    /// The limits of the run.
    limits: VerdictLimits,
    /// True if results are open: a run with higher limits ignores the entry.
    open: bool,
    result: Figures,
    unfound: Vec<GoalId>,
    excluded: BTreeSet<GoalId>,
    doubted: Vec<(GoalId, Vec<IncompletePaths>)>,
    labels: (u64, u64),
    asked: BTreeSet<GoalId>,
    proved: Vec<(GoalId, Proof)>,
    pairs: Option<Pairs>,
    tests: Vec<TestCase>,
    /// The rows that each test evaluated.
    rows: Vec<(String, Vec<EvaluatedRow>)>,
}

/// Limits that may have caused open results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct VerdictLimits {
    budget: Option<Duration>,
    timeout: Option<Duration>,
    solver_timeout: Option<Duration>,
    proof_time: Duration,
    memory: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Figures {
    paths: PathCounts,
    counts: [u64; 6],
    incomplete: Vec<IncompletePaths>,
    tests: u64,
    exhaustive: bool,
    assumptions: Vec<Assumption>,
    seconds: f64,
    solver: SolverUse,
}

#[derive(Serialize, Deserialize)]
struct Pairs {
    incomplete: Option<Incomplete>,
    too_big: BTreeSet<(FuncId, DecisionId)>,
    solver: SolverUse,
    seconds: f64,
}

impl VerdictLimits {
    pub fn of(work: &Work<'_>) -> VerdictLimits {
        let config = &work.task.config;
        VerdictLimits {
            budget: work.plan.request.effort.budget,
            timeout: work.plan.request.effort.timeout,
            solver_timeout: config.solver_timeout,
            proof_time: config.proof_time,
            memory: config.memory.map(|memory| memory.most()),
        }
    }

    /// Returns true if none of these limits is above the others.
    fn are_within(&self, others: &VerdictLimits) -> bool {
        fn within<T: PartialOrd>(one: Option<T>, other: Option<T>) -> bool {
            other.is_none_or(|most| one.is_some_and(|limit| limit <= most))
        }
        within(self.budget, others.budget)
            && within(self.timeout, others.timeout)
            && within(self.solver_timeout, others.solver_timeout)
            && within(self.memory, others.memory)
            && self.proof_time <= others.proof_time
    }
}

impl VerdictEntry {
    /// Creates an entry, or returns `None` if the results cannot be stored or are not reproducible.
    pub fn new(
        work: &Work<'_>,
        found: &Discovery,
        closure: &DependencyClosure,
        limits: VerdictLimits,
    ) -> Option<VerdictEntry> {
        let open_still = found.is_open(work);
        let Discovery { found, proofs, pairs, tests, evaluated, cached: _ } = found;
        let ExplorationResult { result, open, excluded, doubted, shortage: _, work: _, labels_asked, labels_found } =
            found;
        let interrupted = |paths: &IncompletePaths| paths.why == Incomplete::Bound(Bound::Interrupted);
        if result.incomplete.iter().any(interrupted) || tests.iter().any(|test| test.replayed != Replay::NotRun) {
            return None;
        }
        let mut writing = ToClosure { module: work.module(), closure, lost: false };
        let mut tests = tests.clone();
        tests.iter_mut().for_each(|test| test.renumber(&mut writing));
        let entry = VerdictEntry {
            objectives: objective_ids(work),
            limits,
            open: open_still,
            result: Figures {
                paths: result.paths,
                counts: counts(&result.objectives),
                incomplete: writing.all(&result.incomplete),
                tests: result.tests,
                exhaustive: result.exhaustive,
                assumptions: result.assumptions.clone(),
                seconds: result.seconds,
                solver: result.solver,
            },
            unfound: open.clone(),
            excluded: excluded.clone(),
            doubted: doubted.iter().map(|(goal, reasons)| (*goal, writing.all(reasons))).collect(),
            labels: (*labels_asked, *labels_found),
            asked: proofs.tried.clone(),
            proved: proofs.proved.iter().map(|(goal, proof)| (*goal, *proof)).collect(),
            pairs: pairs.as_ref().map(|pairs| Pairs {
                incomplete: pairs.incomplete.clone(),
                too_big: pairs.too_big.iter().map(|(func, decision)| (writing.function(*func), *decision)).collect(),
                solver: pairs.solver,
                seconds: pairs.seconds,
            }),
            rows: evaluated.rows.iter().map(|(test, rows)| (test.clone(), writing.rows(rows))).collect(),
            tests,
        };
        (!writing.lost).then_some(entry)
    }

    /// Restores the results in the current program, or returns `None` if the current limits are higher.
    pub fn discovery(self, work: &Work<'_>, closure: &DependencyClosure) -> Option<Discovery> {
        if self.objectives != objective_ids(work) || (self.open && !VerdictLimits::of(work).are_within(&self.limits)) {
            return None;
        }
        let mut reading = FromClosure { module: work.module(), closure, lost: false };
        let mut tests = self.tests;
        tests.iter_mut().for_each(|test| test.renumber(&mut reading));
        let function = &work.module().functions[work.task.func];
        let mut incomplete = reading.all(&self.result.incomplete);
        incomplete.sort();
        let result = FunctionResult {
            name: function.name.clone(),
            file: work.module().files.get(function.span.file).cloned().unwrap_or_default(),
            criterion: Criterion::Paths(work.config.paths),
            objectives: from_counts(self.result.counts),
            paths: self.result.paths,
            incomplete,
            tests: self.result.tests,
            exhaustive: self.result.exhaustive,
            assumptions: self.result.assumptions,
            seconds: self.result.seconds,
            replay_seconds: 0.0,
            solver: self.result.solver,
        };
        let doubted: BTreeMap<GoalId, Vec<IncompletePaths>> =
            self.doubted.iter().map(|(goal, reasons)| (*goal, reading.all(reasons))).collect();
        let found = ExplorationResult {
            result,
            open: self.unfound,
            excluded: self.excluded,
            doubted,
            shortage: Shortage::default(),
            labels_asked: self.labels.0,
            labels_found: self.labels.1,
            work: Duration::ZERO,
        };
        let pairs = self.pairs.map(|pairs| PairSearchResult {
            incomplete: pairs.incomplete,
            too_big: pairs.too_big.iter().map(|(func, decision)| (reading.function(*func), *decision)).collect(),
            solver: pairs.solver,
            seconds: pairs.seconds,
        });
        let rows = self.rows.into_iter().map(|(test, rows)| (test, reading.rows(&rows))).collect();
        let discovery = Discovery {
            found,
            proofs: Proofs { tried: self.asked, proved: self.proved.into_iter().collect() },
            pairs,
            tests,
            evaluated: TestRows { rows, left_out: 0 },
            cached: true,
        };
        let whole = !reading.lost && is_of(work, &discovery);
        whole.then_some(discovery)
    }
}

/// Returns true if all goals of the results exist.
fn is_of(work: &Work<'_>, found: &Discovery) -> bool {
    let all = work.objectives.goals.len();
    let covered = found.tests.iter().flat_map(|test| &test.covers);
    let ruled = found.found.open.iter().chain(&found.found.excluded).chain(found.found.doubted.keys());
    covered.chain(ruled).chain(found.proofs.proved.keys()).all(|goal| goal.index() < all)
}

fn objective_ids(work: &Work<'_>) -> Vec<String> {
    work.objectives.list.values().map(|objective| objective.id.clone()).collect()
}

fn counts(counts: &ObjectiveCounts) -> [u64; 6] {
    let ObjectiveCounts { total, covered, infeasible, unknown, uncovered, unaffected } = *counts;
    [total, covered, infeasible, unknown, uncovered, unaffected]
}

fn from_counts([total, covered, infeasible, unknown, uncovered, unaffected]: [u64; 6]) -> ObjectiveCounts {
    ObjectiveCounts { total, covered, infeasible, unknown, uncovered, unaffected }
}

/// The common part of both translations.
trait Translation: Renumber {
    fn function(&mut self, id: FuncId) -> FuncId;

    fn all(&mut self, reasons: &[IncompletePaths]) -> Vec<IncompletePaths> {
        let mut reasons = reasons.to_vec();
        reasons.iter_mut().for_each(|paths| self.place(&mut paths.span));
        reasons
    }

    fn rows(&mut self, rows: &[EvaluatedRow]) -> Vec<EvaluatedRow> {
        let row = |(func, decision, row): &(FuncId, DecisionId, Row)| (self.function(*func), *decision, row.clone());
        rows.iter().map(row).collect()
    }
}

/// Translates ids of the module to numbers of the closure.
struct ToClosure<'a> {
    module: &'a Module,
    closure: &'a DependencyClosure,
    /// True if a part has no number.
    lost: bool,
}

impl ToClosure<'_> {
    fn number(&mut self, part: ModuleItem) -> usize {
        let number = self.closure.number(part);
        self.lost |= number.is_none();
        number.unwrap_or(0) as usize
    }
}

impl Renumber for ToClosure<'_> {
    fn data(&mut self, id: &mut DataTypeId) {
        *id = DataTypeId::new(self.number(ModuleItem::Type(*id)));
    }

    fn place(&mut self, span: &mut Span) {
        if span.is_some() {
            let number = self.closure.place_number(*span);
            self.lost |= number.is_none();
            *span = Span { line: number.unwrap_or(0) + 1, ..Span::none() };
        }
    }

    fn target(&mut self, target: &mut PointerTarget) {
        if let PointerTarget::Global { name, .. } = target
            && let Some(id) = self.module.global_named(name)
            && self.module.globals[id].linkage == Linkage::Literal
        {
            *name = format!("{LITERAL_PREFIX}{}", self.number(ModuleItem::Global(id)));
        }
    }
}

/// The prefix of the numbers of literals; no name begins with it.
const LITERAL_PREFIX: &str = "#";

impl Translation for ToClosure<'_> {
    fn function(&mut self, id: FuncId) -> FuncId {
        FuncId::new(self.number(ModuleItem::Function(id)))
    }
}

/// Translates numbers of the closure to ids of the module.
struct FromClosure<'a> {
    module: &'a Module,
    closure: &'a DependencyClosure,
    /// True if a number has no part: the file is damaged.
    lost: bool,
}

impl FromClosure<'_> {
    fn part<T>(&mut self, number: usize, kind: impl Fn(ModuleItem) -> Option<T>) -> Option<T> {
        let part = u32::try_from(number).ok().and_then(|number| self.closure.part(number)).and_then(kind);
        self.lost |= part.is_none();
        part
    }
}

impl Renumber for FromClosure<'_> {
    fn data(&mut self, id: &mut DataTypeId) {
        let data = |part| if let ModuleItem::Type(id) = part { Some(id) } else { None };
        *id = self.part(id.index(), data).unwrap_or(*id);
    }

    fn place(&mut self, span: &mut Span) {
        if span.is_some() {
            let place = self.closure.place(span.line - 1);
            self.lost |= place.is_none();
            *span = place.unwrap_or_else(Span::none);
        }
    }

    fn target(&mut self, target: &mut PointerTarget) {
        if let PointerTarget::Global { name, .. } = target
            && let Some(number) = name.strip_prefix(LITERAL_PREFIX)
        {
            let global = |part| if let ModuleItem::Global(id) = part { Some(id) } else { None };
            let number = number.parse().unwrap_or(usize::MAX);
            *name = self.part(number, global).map_or(String::new(), |id| self.module.globals[id].name.clone());
        }
    }
}

impl Translation for FromClosure<'_> {
    fn function(&mut self, id: FuncId) -> FuncId {
        let function = |part| if let ModuleItem::Function(id) = part { Some(id) } else { None };
        self.part(id.index(), function).unwrap_or(id)
    }
}
