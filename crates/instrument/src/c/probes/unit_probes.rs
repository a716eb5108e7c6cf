//! Probes in the preprocessed text of a unit.
//!
//! The file is lowered twice: as the user wrote it, for the objectives with the ids that all verbs use, and
//! preprocessed, for positions that macros don't hide. Both are the same program, so objectives correspond by their
//! meaning. A function for which they don't gets no probes, and the record says so.
//!
//! The probe of a statement is inserted before it. A decision has one store at its end, whose index is the number of
//! the evaluated row (`record/row_numbering.rs`). Labels with predicates are evaluated immediately before the
//! evaluation that they belong to, as in `annotate`.

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
    /// The text, which compiles like the preprocessed one.
    pub text: String,
    /// The meaning of the probes.
    pub record: UnitRecord,
}

/// A unit to instrument.
pub struct InstrumentationRequest<'a> {
    /// The program as the user wrote it.
    pub written: &'a Module,
    /// The program lowered from the preprocessed text, in one or several ways. For each function, the first with the
    /// same objectives is used.
    pub preprocessed: &'a [Module],
    /// The preprocessed text, which is the first file of `preprocessed`.
    pub text: &'a str,
    /// The measured criteria.
    pub criteria: &'a [&'static dyn GoalCriterion],
    /// The options of the criteria.
    pub options: &'a CriteriaOptions,
    /// The source file, as an absolute path.
    pub file: String,
    /// The macros that the command defines or undefines.
    pub macros: Vec<String>,
    /// The identity of the unit.
    pub unit: u64,
    /// The content of a probe.
    pub keeps: ProbeStorage,
    /// The effect of the compiler on the order of instructions.
    pub order: InstructionOrder,
    /// The directory of hit files, unless an environment variable names another one.
    pub hits: String,
    /// The data flow of the unit, if state is traced.
    pub followed: Option<&'a UnitDataFlow>,
    /// True if the expressions at the end of tests are observed, for suggestions.
    pub suggest: bool,
    /// The hazards of each function, or the obstacle to finding them.
    pub hazards: Result<BTreeMap<String, Vec<Hazard>>, ProbeObstacle>,
    /// The functions without probes, and the obstacles.
    pub refused: BTreeMap<String, ProbeObstacle>,
}

/// Instruments a unit.
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
    /// True if some decision is recorded by a walk.
    pub(super) walks: bool,
    /// True if some run-time error has a probe.
    pub(super) errors: bool,
}

impl<'a> UnitProbes<'a> {
    /// Returns the files that source ranges refer to. Which other files are included depends on how clang read the
    /// source, so these are replaced by the source file.
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

    /// Finds the same function with the same objectives in the preprocessed text.
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

    /// Finds it in one of the modules. Criteria whose objectives differ get no goals.
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
            // Several errors at one source position are one objective, which finds its instructions itself.
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
            // Only the inserted text is rewritten, and it is complete before the probes of state coverage follow.
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
            from_bytecode: None,
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

/// Returns a description of a goal that is the same in both readings. Several predicates at one point have the same
/// order in both.
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

/// Returns the goals by criterion, then by description.
fn by_key(objectives: &Objectives) -> BTreeMap<String, BTreeMap<String, Vec<&Goal>>> {
    let mut found: BTreeMap<String, BTreeMap<String, Vec<&Goal>>> = BTreeMap::new();
    let asked = objectives.list.values().zip(objectives.goals.values());
    for (objective, goal) in asked.filter(|(_, goal)| !matches!(goal, Goal::Error { .. })) {
        let own = found.entry(objective.criterion.clone()).or_default();
        own.entry(key(&objective.criterion, goal)).or_default().push(goal);
    }
    found
}
