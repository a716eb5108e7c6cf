//! Probes in the preprocessed text of a unit.
//!
//! The same file is lowered twice: as the user wrote it, which gives the objectives with the ids that every verb uses, and
//! preprocessed, which gives places where macros are no obstacle. Both are the same program, so objectives correspond by
//! what they ask; a function for which they don't is left without probes, and that is reported.
//!
//! A statement's probe stands before it. A decision's probes are one store at its end, at the number of the row that was
//! evaluated (`rows.rs`). A switch remembers that it has just jumped, and the first case label after it says where to.
//! Labels with predicates are asked immediately before the evaluation that they belong to, like in `annotate`.

use super::error_probes as errors;
use super::function_probes::FunctionProbes;
use super::probe_sharing::InstructionOrder;
use super::test_detection::{IncludedFrameworks, test_name};
use crate::c::annotate::AnnotatedFunction;
use crate::c::state::{StateProbeRequest, UninstrumentedCopies, insert_state_probes};
use crate::c::text::{Insertions, TokenisedSource};
use crate::record::{
    ProbeObstacle, ProbeStorage, ProbedDecision, ProbedObjective, RECORD_VERSION, SourceRange, UnitRecord,
};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{FileId, Id, Span};
use touchstone_criteria::{CriteriaOptions, Goal, GoalCriterion, Objective, Objectives, Status, objectives};
use touchstone_front_c::{Hazard, UnitDataFlow};
use touchstone_ir::{FuncId, Function, Module};

/// A unit with probes.
#[derive(Clone, Debug)]
pub struct InstrumentedUnit {
    /// The text: compiles like the preprocessed one.
    pub text: String,
    /// What the probes mean.
    pub record: UnitRecord,
}

/// What is to be probed.
pub struct InstrumentationRequest<'a> {
    /// The program as the user wrote it.
    pub written: &'a Module,
    /// The same, lowered from the preprocessed text in one way or several: of a function, the first counts that has the same
    /// objectives.
    pub preprocessed: &'a [Module],
    /// The preprocessed text: the first file of `preprocessed`.
    pub text: &'a str,
    /// The criteria to measure.
    pub criteria: &'a [&'static dyn GoalCriterion],
    /// What users switch.
    pub options: &'a CriteriaOptions,
    /// The source file, absolute.
    pub file: String,
    /// The macros that the command defines or undefines.
    pub macros: Vec<String>,
    /// The unit's identity.
    pub unit: u64,
    /// What probes keep.
    pub keeps: ProbeStorage,
    /// What the compiler does to the order of things.
    pub order: InstructionOrder,
    /// Directory of hit files if the environment names none.
    pub hits: String,
    /// What the unit does to data, if its state is to be followed.
    pub followed: Option<&'a UnitDataFlow>,
    /// Tests say what could be looked at where they end.
    pub suggest: bool,
    /// Where it can go wrong, by function, or why that is not known.
    pub hazards: Result<BTreeMap<String, Vec<Hazard>>, ProbeObstacle>,
    /// Functions that get no probes, and why.
    pub refused: BTreeMap<String, ProbeObstacle>,
}

/// Puts probes into a unit.
pub fn instrument(request: &InstrumentationRequest<'_>) -> InstrumentedUnit {
    let source = TokenisedSource::new(request.text);
    let mut unit = UnitProbes {
        request,
        source: &source,
        insertions: Insertions::default(),
        next: 0,
        functions: Vec::new(),
        meanings: BTreeMap::new(),
        objectives: Vec::new(),
        decisions: Vec::new(),
        implied: Vec::new(),
        untouched: Vec::new(),
        frameworks: IncludedFrameworks::of(request.text),
        walks: false,
        errors: false,
    };
    for (func, function) in request.written.functions.iter() {
        if function.is_defined() && !function.is_library() {
            unit.function(func, function);
        }
    }
    unit.finish()
}

pub(super) struct UnitProbes<'a> {
    pub(super) request: &'a InstrumentationRequest<'a>,
    pub(super) source: &'a TokenisedSource<'a>,
    pub(super) insertions: Insertions,
    /// The next free probe.
    pub(super) next: u32,
    pub(super) functions: Vec<(String, SourceRange)>,
    pub(super) meanings: BTreeMap<String, String>,
    pub(super) objectives: Vec<ProbedObjective>,
    pub(super) decisions: Vec<ProbedDecision>,
    pub(super) implied: Vec<(u32, Vec<u32>)>,
    pub(super) untouched: Vec<(String, ProbeObstacle)>,
    pub(super) frameworks: IncludedFrameworks,
    /// Some decision is walked.
    pub(super) walks: bool,
    /// Some run-time error has a probe.
    pub(super) errors: bool,
}

impl<'a> UnitProbes<'a> {
    /// The files that places are in. Others have a number only: which headers there are depends on how clang read them.
    fn files(&self) -> Vec<String> {
        let of_objectives = self.objectives.iter().map(|objective| objective.place);
        let of_functions = self.functions.iter().map(|(_, place)| *place);
        let of_decisions = self
            .decisions
            .iter()
            .flat_map(|decision| decision.conditions.iter().map(|(place, _)| *place).chain([decision.place]));
        let places = of_objectives.chain(of_functions).chain(of_decisions);
        let used: BTreeSet<u32> = places.map(|place| place.file).collect();
        let files = self.request.written.files.values().enumerate();
        files
            .map(|(index, file)| if used.contains(&(index as u32)) { file } else { &self.request.file }.clone())
            .collect()
    }

    fn function(&mut self, func: FuncId, function: &Function) {
        let request = self.request;
        let wanted = objectives(request.written, &[func], request.criteria, request.options);
        self.functions.push((function.name.clone(), source_range(function.span)));
        self.meanings.insert(function.name.clone(), format!("{:016x}", request.written.function_hash(func)));
        match self.counterpart(function, &wanted) {
            Ok((place, goals)) => {
                let test = test_name(function, self.frameworks);
                let mut probes = FunctionProbes::new(self, &place, function, &goals);
                probes.decisions(&goals);
                let placed: Vec<Result<Vec<u32>, ProbeObstacle>> = goals
                    .iter()
                    .map(|goal| goal.as_ref().ok_or(ProbeObstacle::DifferentCode).and_then(|goal| probes.goal(goal)))
                    .collect();
                probes.write_results();
                if let Some(test) = test {
                    probes.test(&test);
                }
                probes.unit.errors |= probes.errors.write(&mut probes.unit.insertions);
                probes.locals();
                for (objective, placed) in wanted.list.values().zip(placed) {
                    self.objective(objective, placed);
                }
            }
            Err(why) => {
                for objective in wanted.list.values() {
                    self.objective(objective, Err(why.clone()));
                }
                self.untouched.push((function.name.clone(), why));
            }
        }
    }

    /// The same function in the preprocessed text, with the same objectives.
    fn counterpart(
        &self,
        function: &Function,
        wanted: &Objectives,
    ) -> Result<(AnnotatedFunction<'a>, Vec<Option<Goal>>), ProbeObstacle> {
        if let Some(why) = self.request.refused.get(&function.name) {
            return Err(why.clone());
        }
        let readings = self.request.preprocessed.iter();
        let found = readings.filter_map(|module| self.counterpart_in(module, function, wanted));
        let missing = |goals: &[Option<Goal>]| goals.iter().filter(|goal| goal.is_none()).count();
        let (module, counterpart, goals) =
            found.min_by_key(|(_, _, goals)| missing(goals)).ok_or(ProbeObstacle::DifferentCode)?;
        Ok((AnnotatedFunction::preprocessed(module, counterpart, FileId::new(0), self.source), goals))
    }

    /// The same in one reading. Of a criterion for which the two differ no goal is there; the others are as sure as alone.
    fn counterpart_in(
        &self,
        module: &'a Module,
        function: &Function,
        wanted: &Objectives,
    ) -> Option<(&'a Module, FuncId, Vec<Option<Goal>>)> {
        let request = self.request;
        let counterpart = module.function_named(&function.name)?;
        let other = &module.functions[counterpart];
        let same_decisions = function.decisions.len() == other.decisions.len()
            && function
                .decisions
                .values()
                .zip(other.decisions.values())
                .all(|(a, b)| a.tree == b.tree && a.kind == b.kind);
        let found = objectives(module, &[counterpart], request.criteria, request.options);
        let (ours, theirs) = (by_key(wanted), by_key(&found));
        let lengths = |goals: Option<&BTreeMap<String, Vec<&Goal>>>| -> Vec<(String, usize)> {
            goals.into_iter().flatten().map(|(key, goals)| (key.clone(), goals.len())).collect()
        };
        let criteria: BTreeSet<&str> = wanted.list.values().map(|objective| objective.criterion.as_str()).collect();
        let agrees = |criterion: &&str| lengths(ours.get(*criterion)) == lengths(theirs.get(*criterion));
        let agreed: BTreeSet<&str> = criteria.iter().copied().filter(agrees).collect();
        if !same_decisions || (agreed.is_empty() && !criteria.is_empty()) {
            return None;
        }
        let mut left: BTreeMap<String, std::vec::IntoIter<&Goal>> =
            theirs.values().flat_map(Clone::clone).map(|(key, goals)| (key, goals.into_iter())).collect();
        let asked = wanted.list.values().zip(wanted.goals.values());
        let goals = asked.map(|(objective, goal)| match goal {
            // Several at one place of the source are one: they find their places by themselves.
            Goal::Error { .. } => Some(goal.clone()),
            _ if !agreed.contains(objective.criterion.as_str()) => None,
            _ => left.get_mut(&key(&objective.criterion, goal))?.next().cloned(),
        });
        Some((module, counterpart, goals.collect()))
    }

    fn objective(&mut self, objective: &Objective, placed: Result<Vec<u32>, ProbeObstacle>) {
        let (probes, not_placed) = match placed {
            Ok(probes) => (probes, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let constant = matches!(objective.status, Status::Infeasible(_));
        self.objectives.push(ProbedObjective {
            id: objective.id.clone(),
            criterion: objective.criterion.clone(),
            function: objective.function.clone(),
            place: source_range(objective.span),
            text: objective.text.clone(),
            constant,
            probes,
            not_placed: not_placed.filter(|_| !constant),
        });
    }

    fn finish(mut self) -> InstrumentedUnit {
        let request = self.request;
        if request.keeps == ProbeStorage::Counts {
            // Before anything of the user's text is among the pieces.
            self.insertions.rewrite(super::runtime_source::with_counters);
        }
        let state = request.followed.and_then(|followed| {
            let InstrumentationRequest { text, unit, suggest, .. } = *request;
            let following =
                StateProbeRequest { text, followed, unit, copies: UninstrumentedCopies::Plain, ends: suggest };
            insert_state_probes(&following, &mut self.insertions)
        });
        let no_state = request.followed.filter(|_| state.is_none()).map(|_| ProbeObstacle::TooManyPlaces);
        let (state, behind) = state.unzip();
        let size = super::runtime_source::round_to_pages(self.next * request.keeps.bytes());
        let record = UnitRecord {
            version: RECORD_VERSION,
            unit: format!("{:016x}", request.unit),
            file: request.file.clone(),
            size: self.next,
            files: self.files(),
            functions: self.functions,
            meanings: self.meanings,
            macros: request.macros.clone(),
            keeps: request.keeps,
            texts: Vec::new(),
            lines: Vec::new(),
            objectives: self.objectives,
            decisions: self.decisions,
            implied: self.implied,
            untouched: self.untouched,
            state,
            no_state,
        };
        let mut helpers = format!(
            "{}{}",
            if self.walks { super::runtime_source::DECISION_WALK_RUNTIME } else { "" },
            if self.errors { errors::ERROR_RUNTIME } else { "" }
        );
        if request.keeps == ProbeStorage::Counts {
            helpers = super::runtime_source::with_counters(&helpers);
        }
        let text = self.insertions.apply(request.text);
        let text =
            super::runtime_source::assemble_unit(&text, request.unit, size, &request.hits, &helpers, behind.as_deref());
        InstrumentedUnit { text, record }
    }
}

pub(super) fn source_range(span: Span) -> SourceRange {
    let Span { file, line, column, end_line, end_column } = span;
    SourceRange { file: file.index() as u32, line, column, end_line, end_column }
}

/// What a goal asks, in terms that are the same in both readings of a file. Several predicates at one place follow in the
/// same order in both.
fn key(criterion: &str, goal: &Goal) -> String {
    match goal {
        Goal::Label { point, predicate, .. } => format!("{criterion} {point} {}", predicate.is_some()),
        Goal::Entry { .. } => format!("{criterion} entry"),
        Goal::Return { predicate, .. } => format!("{criterion} returns {predicate:?}"),
        Goal::Arm { block, target, .. } => format!("{criterion} {block} {target}"),
        Goal::Outcome { decision, value, .. } => format!("{criterion} {decision} {value}"),
        Goal::Condition { decision, condition, value, .. } => {
            format!("{criterion} {decision} {condition} {value}")
        }
        Goal::Independent { decision, condition, value, .. } => {
            format!("{criterion} {decision} {condition} {value} decides")
        }
        Goal::Row { decision, outcomes, .. } => format!("{criterion} {decision} {outcomes:?}"),
        Goal::Partner { decision, condition, .. } => format!("{criterion} {decision} {condition} partner"),
        Goal::Error { kind, .. } => format!("{criterion} {kind}"),
    }
}

/// Goals by criterion, then by what they ask.
fn by_key(objectives: &Objectives) -> BTreeMap<String, BTreeMap<String, Vec<&Goal>>> {
    let mut found: BTreeMap<String, BTreeMap<String, Vec<&Goal>>> = BTreeMap::new();
    let asked = objectives.list.values().zip(objectives.goals.values());
    for (objective, goal) in asked.filter(|(_, goal)| !matches!(goal, Goal::Error { .. })) {
        let own = found.entry(objective.criterion.clone()).or_default();
        own.entry(key(&objective.criterion, goal)).or_default().push(goal);
    }
    found
}
