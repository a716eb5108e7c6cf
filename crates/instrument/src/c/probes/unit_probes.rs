//! Probes in the preprocessed text of a unit.
//!
//! The same file is lowered twice: as the user wrote it, which gives the objectives with the ids that every verb uses, and
//! preprocessed, which gives places where macros are no obstacle. Both are the same program, so objectives correspond by
//! what they ask; a function for which they don't is left without probes, and that is reported.
//!
//! A statement's probe stands before it. A decision's probes are one store at its end, at the number of the row that was
//! evaluated (`rows.rs`). A switch remembers that it has just jumped, and the first case label after it says where to.
//! Labels with predicates are asked immediately before the evaluation that they belong to, like in `annotate`.

use super::error_probes::{self as errors, ErrorProbes};
use super::probe_sharing::{InstructionOrder, PrecedingProbe, SharingAnalysis};
use super::test_detection::{IncludedFrameworks, test_name};
use crate::c::annotate::{AnnotatedFunction, LabelPosition};
use crate::c::state::{StateProbeRequest, UninstrumentedCopies, insert_state_probes};
use crate::c::text::Insertions;
use crate::c::text::TokenisedSource;
use crate::record::ProbeObstacle;
use crate::record::{NumberedRows, NumberingScheme, number_rows};
use crate::record::{
    ProbeStorage, ProbedDecision, ProbedObjective, ProbedRow, RECORD_VERSION, SourceRange, UnitRecord,
};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{FileId, Id, Span};
use touchstone_criteria::{
    CriteriaOptions, DecisionGraph, DecisionStep, Goal, GoalCriterion, Objective, Objectives, Row, Status, objectives,
};
use touchstone_front_c::{Hazard, UnitDataFlow};
use touchstone_ir::{BlockId, CondId, DecisionId, ErrorKind, FuncId, Function, Module, PointId, TermKind};

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

/// Ranks of what stands around one expression. The first operand of `a ?: b` may be a decision by itself.
const KEPT_RANK: usize = 0;
const DECISION_RANK: usize = 1;
const CONDITION_RANK: usize = 2;
const LABEL_RANK: usize = 3;

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

struct UnitProbes<'a> {
    request: &'a InstrumentationRequest<'a>,
    source: &'a TokenisedSource<'a>,
    insertions: Insertions,
    /// The next free probe.
    next: u32,
    functions: Vec<(String, SourceRange)>,
    meanings: BTreeMap<String, String>,
    objectives: Vec<ProbedObjective>,
    decisions: Vec<ProbedDecision>,
    implied: Vec<(u32, Vec<u32>)>,
    untouched: Vec<(String, ProbeObstacle)>,
    frameworks: IncludedFrameworks,
    /// Some decision is walked.
    walks: bool,
    /// Some run-time error has a probe.
    errors: bool,
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
        self.functions.push((function.name.clone(), place(function.span)));
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
            place: place(objective.span),
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

fn place(span: Span) -> SourceRange {
    let Span { file, line, column, end_line, end_column } = span;
    SourceRange { file: file.index() as u32, line, column, end_line, end_column }
}

/// What a goal asks, in terms that are the same in both readings of a file. Several predicates at one place follow in the
/// same order in both.
fn key(criterion: &str, goal: &Goal) -> String {
    match goal {
        Goal::Label { point, predicate, .. } => format!("{criterion} {point} {}", predicate.is_some()),
        Goal::Entry { .. } => format!("{criterion} entry"),
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

/// A decision of a function, once it has probes. They begin at `first`.
enum DecisionProbes {
    /// One for false, one for true: nothing else is asked.
    Outcomes { first: u32 },
    /// One for each row.
    Rows { first: u32, rows: Vec<Row> },
    /// More rows than can be told apart: outcomes of the decision, then of the conditions, then those that decided.
    Walk { first: u32, conditions: u32 },
}

impl DecisionProbes {
    /// The probes of which one says so whenever the decision was evaluated.
    fn evaluated(&self) -> Vec<u32> {
        match self {
            DecisionProbes::Rows { first, rows } => (*first..*first + rows.len() as u32).collect(),
            DecisionProbes::Outcomes { first } | DecisionProbes::Walk { first, .. } => vec![*first, *first + 1],
        }
    }

    /// The probes of which any says that a goal of the decision was reached.
    fn of(&self, goal: &Goal) -> Result<Vec<u32>, ProbeObstacle> {
        match (self, goal) {
            (DecisionProbes::Rows { first, rows }, _) => {
                let reached = |row: &Row| match goal {
                    Goal::Outcome { value, .. } => row.result == *value,
                    Goal::Condition { condition, value, .. } => row.outcomes.contains(&(*condition, *value)),
                    Goal::Independent { condition, value, .. } => row.independent.contains(&(*condition, *value)),
                    Goal::Row { outcomes, .. } => row.outcomes == *outcomes,
                    _ => false,
                };
                let matching = rows.iter().enumerate().filter(|(_, row)| reached(row));
                Ok(matching.map(|(index, _)| first + index as u32).collect())
            }
            (DecisionProbes::Outcomes { first } | DecisionProbes::Walk { first, .. }, Goal::Outcome { value, .. }) => {
                Ok(vec![first + u32::from(*value)])
            }
            (DecisionProbes::Walk { first, .. }, Goal::Condition { condition, value, .. }) => {
                Ok(vec![first + 2 + 2 * condition.index() as u32 + u32::from(*value)])
            }
            (DecisionProbes::Walk { first, conditions }, Goal::Independent { condition, value, .. }) => {
                Ok(vec![first + 2 + 2 * (conditions + condition.index() as u32) + u32::from(*value)])
            }
            _ => Err(ProbeObstacle::TooManyRows),
        }
    }
}

/// The probes of one function.
struct FunctionProbes<'u, 'a, 'p> {
    unit: &'u mut UnitProbes<'a>,
    place: &'p AnnotatedFunction<'p>,
    written: &'p Function,
    /// Decisions of which more is asked than their outcome.
    by_row: BTreeSet<DecisionId>,
    decisions: BTreeMap<DecisionId, Result<DecisionProbes, ProbeObstacle>>,
    flow: Option<SharingAnalysis<'p>>,
    /// By statement: what says that it was executed.
    statements: BTreeMap<PointId, Vec<u32>>,
    /// By switch: the probe of each target.
    switches: BTreeMap<BlockId, Result<BTreeMap<BlockId, u32>, ProbeObstacle>>,
    /// Declarations at the beginning of the body.
    declarations: String,
    /// Declarations before the function.
    tables: String,
    errors: ErrorProbes<'a>,
}

impl<'u, 'a, 'p> FunctionProbes<'u, 'a, 'p> {
    fn new(
        unit: &'u mut UnitProbes<'a>,
        place: &'p AnnotatedFunction<'p>,
        written: &'p Function,
        goals: &[Option<Goal>],
    ) -> Self {
        let by_row = goals.iter().flatten().filter_map(|goal| match goal {
            Goal::Condition { decision, .. } | Goal::Independent { decision, .. } | Goal::Row { decision, .. } => {
                Some(*decision)
            }
            _ => None,
        });
        let hazards = unit.request.hazards.as_ref().ok().and_then(|hazards| hazards.get(&written.name));
        let hazards = hazards.map_or(&[][..], Vec::as_slice);
        let flow = SharingAnalysis::new(place.module, place.function, &place.graphs, unit.request.order);
        FunctionProbes {
            unit,
            place,
            written,
            by_row: by_row.collect(),
            decisions: BTreeMap::new(),
            flow,
            statements: BTreeMap::new(),
            switches: BTreeMap::new(),
            declarations: String::new(),
            tables: String::new(),
            errors: ErrorProbes::new(hazards),
        }
    }

    fn fresh(&mut self, count: u32) -> u32 {
        let first = self.unit.next;
        self.unit.next += count;
        first
    }

    /// Gives probes to all decisions that goals ask for, the last one first: what stands before it may do without.
    fn decisions(&mut self, goals: &[Option<Goal>]) {
        let asked: BTreeSet<DecisionId> = goals.iter().flatten().filter_map(asked_decision).collect();
        for decision in asked.into_iter().rev() {
            let made = self.decision(decision);
            self.decisions.insert(decision, made);
        }
    }

    /// The probes that say that a goal was reached.
    fn goal(&mut self, goal: &Goal) -> Result<Vec<u32>, ProbeObstacle> {
        match goal {
            Goal::Label { point, predicate: None, .. } => self.statement(*point, goal),
            Goal::Label { .. } | Goal::Entry { .. } => self.label(goal),
            Goal::Arm { block, target, .. } => {
                self.switch(*block);
                let probes = self.switches[block].as_ref().map_err(Clone::clone)?;
                probes.get(target).map(|probe| vec![*probe]).ok_or(ProbeObstacle::CaseLabelNotFound)
            }
            Goal::Outcome { decision, .. }
            | Goal::Condition { decision, .. }
            | Goal::Independent { decision, .. }
            | Goal::Row { decision, .. } => self.decisions[decision].as_ref().map_err(Clone::clone)?.of(goal),
            Goal::Partner { .. } => Err(ProbeObstacle::Wish),
            Goal::Error { kind, span, .. } => self.error(*kind, *span),
        }
    }

    fn error(&mut self, kind: ErrorKind, span: Span) -> Result<Vec<u32>, ProbeObstacle> {
        self.unit.request.hazards.as_ref().map_err(Clone::clone)?;
        let spans = errors::places(self.written, self.place.function, kind, span)?;
        let places = spans.into_iter().map(|span| self.expression(span)).collect::<Result<BTreeSet<_>, _>>()?;
        self.errors.check(kind, &places)?;
        let probe = self.fresh(1);
        places.into_iter().for_each(|at| self.errors.place(kind, at, probe));
        Ok(vec![probe])
    }

    /// A place that control passes. Where it has just passed another one, that one's probe says it.
    fn statement(&mut self, point: PointId, goal: &Goal) -> Result<Vec<u32>, ProbeObstacle> {
        let known = match self.flow.as_ref().and_then(|flow| flow.before(point)) {
            Some(PrecedingProbe::Statement(before)) => self.statements.get(&before).cloned(),
            Some(PrecedingProbe::Outcome(decision, value)) => {
                let asked = Goal::Outcome { func: goal.func(), decision, value };
                self.decisions.get(&decision).and_then(|made| made.as_ref().ok()?.of(&asked).ok())
            }
            None => None,
        };
        let probes = match known {
            Some(probes) => probes,
            None => self.label(goal)?,
        };
        self.statements.insert(point, probes.clone());
        Ok(probes)
    }

    fn label(&mut self, goal: &Goal) -> Result<Vec<u32>, ProbeObstacle> {
        let (spot, predicate) = self.place.label(goal)?;
        let probe = self.fresh(1);
        let store = format!("__touchstone_h[{probe}] = 1");
        let always = predicate == "1";
        match spot {
            LabelPosition::Before(start) if always => self.unit.insertions.before(start, format!("{store}; ")),
            LabelPosition::Before(start) => self.unit.insertions.before(start, format!("if ({predicate}) {store}; ")),
            LabelPosition::Braced(start, end) if always => {
                self.unit.insertions.brace(start, end, &format!("{store}; "))
            }
            LabelPosition::Braced(start, end) => {
                self.unit.insertions.brace(start, end, &format!("if ({predicate}) {store}; "));
            }
            LabelPosition::Wrapped(start, end) => {
                let asked = if always { store } else { format!("({predicate}) ? (void)({store}) : (void)0") };
                // Later labels stand inside earlier ones; the order of questions does not matter.
                let rank = LABEL_RANK + probe as usize;
                self.unit.insertions.wrap(start, end, rank, format!("({asked}, "), ")".to_string());
            }
        }
        Ok(vec![probe])
    }

    fn decision(&mut self, id: DecisionId) -> Result<DecisionProbes, ProbeObstacle> {
        let decision = &self.place.function.decisions[id];
        let graph = DecisionGraph::new(decision);
        let whole = self.expression(decision.span)?;
        if graph.nodes.is_empty() {
            return self.constant(whole, &graph);
        }
        if !self.by_row.contains(&id) {
            let first = self.fresh(2);
            self.two_ways(id, whole, [first, first + 1]);
            return Ok(DecisionProbes::Outcomes { first });
        }
        let mut spans: BTreeMap<CondId, (usize, usize)> = BTreeMap::new();
        for condition in graph.evaluated() {
            spans.insert(condition, self.expression(decision.conditions[condition].span)?);
        }
        let Some(numbered) = number_rows(&graph) else {
            return Ok(self.walk(id, &graph, whole, spans));
        };
        let first = self.fresh(numbered.rows.len() as u32);
        self.record(id, first, &numbered);
        if let (NumberingScheme::Sum(_), [no, yes]) = (&numbered.scheme, numbered.rows.as_slice())
            && no.result != yes.result
        {
            // One condition that is evaluated: its two outcomes are the decision's, perhaps negated. Not so before a constant.
            self.two_ways(id, whole, if no.result { [first + 1, first] } else { [first, first + 1] });
            return Ok(DecisionProbes::Rows { first, rows: numbered.rows });
        }
        let (name, index) = (format!("__touchstone_r{}", id.index()), id.index());
        let insertions = &mut self.unit.insertions;
        let (NumberingScheme::Sum(adds) | NumberingScheme::Set(adds, _)) = &numbered.scheme;
        for (condition, (start, end)) in spans {
            let close = format!(") ? ({name} += {}, 1) : 0)", adds[&condition]);
            insertions.wrap(start, end, CONDITION_RANK, "((".to_string(), close);
        }
        let number = match &numbered.scheme {
            NumberingScheme::Sum(_) => name.clone(),
            NumberingScheme::Set(_, numbers) => {
                let (table, numbers) = (self.place.table(index), numbers.iter().map(u32::to_string));
                let numbers: Vec<String> = numbers.collect();
                self.tables += &format!("static const unsigned short {table}[] = {{{}}}; ", numbers.join(", "));
                format!("{table}[{name}]")
            }
        };
        let store = format!("__touchstone_h[{first} + {number}] = 1");
        let close = format!(")) ? ({store}, 1) : ({store}, 0))");
        insertions.wrap(whole.0, whole.1, DECISION_RANK, format!("(({name} = 0, ("), close);
        self.declarations += &format!("unsigned {name}; ");
        Ok(DecisionProbes::Rows { first, rows: numbered.rows })
    }

    /// A probe for a decision that is false, and one for true, but where the next decision says so.
    fn two_ways(&mut self, id: DecisionId, (start, end): (usize, usize), probes: [u32; 2]) {
        let mut marks = [String::new(), String::new()];
        for value in [false, true] {
            let probe = probes[usize::from(value)];
            let next = self.flow.as_ref().and_then(|flow| flow.decision_after(id, value));
            match next.and_then(|next| self.decisions.get(&next)?.as_ref().ok()) {
                Some(next) => self.unit.implied.push((probe, next.evaluated())),
                None => marks[usize::from(value)] = format!("__touchstone_h[{probe}] = 1"),
            }
        }
        if marks.iter().all(String::is_empty) {
            return;
        }
        let [on_false, on_true] = marks;
        if self.value_is_used(end) {
            // The choice makes a number of a bit-field, and a pointer of an array; that changes no type of `a ?: b`.
            let open = "(__extension__ ({ __auto_type __touchstone_e = 1 ? (".to_string();
            let close =
                format!(") : 0; if (__touchstone_e) {{ {on_true}; }} else {{ {on_false}; }} __touchstone_e; }}))");
            self.unit.insertions.wrap(start, end, KEPT_RANK, open, close);
            return;
        }
        let valued =
            |mark: String, value: u32| if mark.is_empty() { value.to_string() } else { format!("({mark}, {value})") };
        let close = format!(") ? {} : {})", valued(on_true, 1), valued(on_false, 0));
        self.unit.insertions.wrap(start, end, DECISION_RANK, "((".to_string(), close);
    }

    /// Whether what ends here may be the first operand of `a ?: b`, which is more than its truth.
    fn value_is_used(&self, end: usize) -> bool {
        let source = self.place.source;
        let mut next = source.first_token_from(end);
        while source.word(next) == ")" {
            next += 1;
        }
        source.word(next) == "?" && source.word(next + 1) == ":"
    }

    /// A run walks through the decision's graph, and says at its end which conditions were evaluated and which decided.
    fn walk(
        &mut self,
        id: DecisionId,
        graph: &DecisionGraph,
        whole: (usize, usize),
        spans: BTreeMap<CondId, (usize, usize)>,
    ) -> DecisionProbes {
        let conditions = self.place.function.decisions[id].conditions.len() as u32;
        let first = self.fresh(2 + 4 * conditions);
        let (name, table) = (format!("__touchstone_r{}", id.index()), self.place.table(id.index()));
        let insertions = &mut self.unit.insertions;
        for (condition, (start, end)) in spans {
            let step = |outcome: u32| format!("__touchstone_step({name}, {}, {outcome})", condition.index());
            let close = format!(") ? {} : {})", step(1), step(0));
            insertions.wrap(start, end, CONDITION_RANK, "((".to_string(), close);
        }
        let (start, end) = (walk_node(graph, graph.start), graph.nodes.len());
        let done = |result: u32| {
            let to = format!("{conditions}, __touchstone_h + {first}");
            format!("__touchstone_done({name}, {table}, {start}, {end}, {to}, {result})")
        };
        let close = format!(")) ? {} : {})", done(1), done(0));
        let open = format!("((__touchstone_start({name}, {conditions}), (");
        insertions.wrap(whole.0, whole.1, DECISION_RANK, open, close);
        let numbers: Vec<String> = walk_table(graph).iter().map(u32::to_string).collect();
        self.tables += &format!("static const unsigned {table}[] = {{{}}}; ", numbers.join(", "));
        self.declarations += &format!("unsigned {name}[{conditions}]; ");
        self.unit.walks = true;
        DecisionProbes::Walk { first, conditions }
    }

    /// A decision that the compiler folds stays as it is (code behind it may be there for the linker's sake only): the
    /// statement that asks for it has the probe.
    fn constant(&mut self, (start, _): (usize, usize), graph: &DecisionGraph) -> Result<DecisionProbes, ProbeObstacle> {
        let source = self.place.source;
        let first = source.first_token_from(start);
        let keyword = first.checked_sub(2).filter(|at| matches!(source.word(*at), "if" | "while"));
        let at = keyword.map(|at| source.tokens[at].start).ok_or(ProbeObstacle::ConstantInExpression)?;
        let layout = self.place.layout.as_ref().ok_or(ProbeObstacle::StatementsNotUnderstood)?;
        let statement = *layout.at(at).ok_or(ProbeObstacle::ConstantInStatement)?;
        let rows = graph.rows(1).unwrap_or_default();
        let probe = self.fresh(1);
        let store = format!("__touchstone_h[{probe}] = 1; ");
        match statement.single {
            true => self.unit.insertions.brace(statement.start, statement.end, &store),
            false => self.unit.insertions.before(statement.start, store),
        }
        Ok(DecisionProbes::Rows { first: probe, rows })
    }

    fn expression(&self, span: Span) -> Result<(usize, usize), ProbeObstacle> {
        let (start, end) = self.place.bytes(span)?;
        match self.place.wrap(start, end)? {
            LabelPosition::Wrapped(start, end) => Ok((start, end)),
            LabelPosition::Before(_) | LabelPosition::Braced(..) => Err(ProbeObstacle::NoExpression),
        }
    }

    fn record(&mut self, id: DecisionId, first: u32, numbered: &NumberedRows) {
        let decision = &self.written.decisions[id];
        let flat = |list: &[(CondId, bool)]| list.iter().map(|(c, value)| (c.index() as u32, *value)).collect();
        let rows = numbered.rows.iter().map(|row| ProbedRow {
            outcomes: flat(&row.outcomes),
            independent: flat(&row.independent),
            result: row.result,
        });
        self.unit.decisions.push(ProbedDecision {
            function: self.written.name.clone(),
            decision: id.index() as u32,
            place: place(decision.span),
            text: decision.text.clone(),
            conditions: decision.conditions.values().map(|c| (place(c.span), c.text.clone())).collect(),
            rows: rows.collect(),
            first,
        });
    }

    fn switch(&mut self, block: BlockId) {
        if !self.switches.contains_key(&block) {
            let made = self.switch_probes(block);
            self.switches.insert(block, made);
        }
    }

    fn switch_probes(&mut self, block: BlockId) -> Result<BTreeMap<BlockId, u32>, ProbeObstacle> {
        let place = self.place;
        let source = place.source;
        let TermKind::Switch { arms, default, .. } = &place.function.blocks[block].terminator.kind else {
            return Err(ProbeObstacle::Internal("no switch".to_string()));
        };
        let (start, _) = place.bytes(place.function.blocks[block].terminator.span)?;
        let keyword = source.first_token_from(start);
        if source.word(keyword) != "switch" || source.word(keyword + 1) != "(" {
            return Err(ProbeObstacle::SwitchNotFound);
        }
        let open = source.after_bracket(keyword + 1).ok_or(ProbeObstacle::Brackets)?;
        if source.word(open) != "{" {
            return Err(ProbeObstacle::SwitchWithoutBraces);
        }
        let after = source.after_bracket(open).ok_or(ProbeObstacle::Brackets)?;
        let labels = case_labels(source, open, after);
        let cases = labels.iter().filter(|label| label.case).count();
        if cases != arms.len() || labels.iter().any(|label| !label.in_block) {
            return Err(ProbeObstacle::CaseLabels);
        }
        let mut probes: BTreeMap<BlockId, u32> = BTreeMap::new();
        let targets = label_targets(&labels, arms.iter().map(|arm| arm.target).collect(), *default)
            .ok_or(ProbeObstacle::CaseLabels)?;
        let flag = format!("__touchstone_s{}", block.index());
        let mark = |probe: u32| format!(" if ({flag}) __touchstone_h[{probe}] = 1; {flag} = 0; ");
        let mut has_default = false;
        for (label, target) in labels.iter().zip(targets) {
            has_default |= !label.case;
            let probe = match probes.get(&target) {
                Some(probe) => *probe,
                None => self.fresh(1),
            };
            probes.insert(target, probe);
            self.unit.insertions.before(label.after, mark(probe));
        }
        if !has_default {
            let probe = self.fresh(1);
            probes.insert(*default, probe);
            let text = format!(" default: if ({flag}) __touchstone_h[{probe}] = 1; {flag} = 0; ");
            self.unit.insertions.before(source.tokens[after - 1].start, text);
        }
        let (from, to) = (source.tokens[keyword + 1].end, source.tokens[open - 1].start);
        self.unit.insertions.wrap(from, to, DECISION_RANK, format!("({flag} = 1), ("), ")".to_string());
        self.declarations += &format!("unsigned char {flag}; ");
        Ok(probes)
    }

    /// A test begins where this function does. `name` is an expression.
    fn test(&mut self, name: &str) {
        self.declarations += &format!("int __touchstone_b = (touchstone_test_begin({name}), 0); ");
    }

    /// Declares what the probes of this function use.
    fn locals(self) {
        let Some((_, open)) = self.place.body else { return };
        let text = format!("{}{}", self.tables, self.declarations);
        if !text.is_empty() {
            self.unit.insertions.before(open, format!(" {text}"));
        }
    }
}

/// The decision that a goal is about.
fn asked_decision(goal: &Goal) -> Option<DecisionId> {
    match goal {
        Goal::Outcome { decision, .. }
        | Goal::Condition { decision, .. }
        | Goal::Independent { decision, .. }
        | Goal::Row { decision, .. } => Some(*decision),
        _ => None,
    }
}

/// A decision's graph as numbers: for each node its condition, and for false and true the next node and where in the table
/// the list of what is masked begins: how many ranges, and each by its first condition and the one behind it. A node that does
/// not exist is the end.
fn walk_table(graph: &DecisionGraph) -> Vec<u32> {
    let mut masks: Vec<u32> = Vec::new();
    let mut table = Vec::new();
    for from in graph.nodes.values() {
        table.push(from.condition.index() as u32);
        for edge in &from.edges {
            table.push(walk_node(graph, edge.target));
            table.push((graph.nodes.len() * WORDS_PER_WALK_NODE + masks.len()) as u32);
            let ranges = edge.masks.ranges();
            masks.push(ranges.len() as u32);
            masks.extend(ranges.iter().flat_map(|masked| [masked.start as u32, masked.end as u32]));
        }
    }
    table.extend(masks);
    table
}

/// The number of what comes next.
fn walk_node(graph: &DecisionGraph, target: DecisionStep) -> u32 {
    match target {
        DecisionStep::Node(node) => node.index() as u32,
        DecisionStep::Done(_) => graph.nodes.len() as u32,
    }
}

/// Numbers of a node in a walk's table.
const WORDS_PER_WALK_NODE: usize = 5;

/// A label of a switch.
struct CaseLabel {
    case: bool,
    /// The byte after its colon.
    after: usize,
    /// It stands where a statement may stand before what it labels.
    in_block: bool,
    /// It follows another label directly.
    shares: bool,
}

/// Where the labels of a switch lead, in the order of the text. Arms are in the order of their values; their blocks were made
/// in the order of the text, one for labels that follow each other directly.
fn label_targets(labels: &[CaseLabel], mut arms: Vec<BlockId>, default: BlockId) -> Option<Vec<BlockId>> {
    arms.sort_unstable();
    let mut arms = arms.into_iter();
    let mut targets: Vec<BlockId> = Vec::new();
    for label in labels {
        let target = if label.case { arms.next()? } else { default };
        if targets.last().is_some_and(|before| (*before == target) != label.shares) {
            return None;
        }
        targets.push(target);
    }
    Some(targets)
}

/// The labels that belong to the switch whose body is between two tokens, in the order of the text.
fn case_labels(source: &TokenisedSource<'_>, open: usize, after: usize) -> Vec<CaseLabel> {
    let mut labels = Vec::new();
    let mut at = open + 1;
    // Where the statement of the last label begins.
    let mut ended = None;
    while at < after {
        match source.word(at) {
            "switch" => {
                // Its labels are its own.
                let inner = source.after_bracket(at + 1).filter(|inner| source.word(*inner) == "{");
                at = inner.and_then(|inner| source.after_bracket(inner)).unwrap_or(at + 1);
                // What is skipped may be followed by anything.
                continue;
            }
            word @ ("case" | "default") => {
                let in_block = matches!(source.word(at - 1), "{" | "}" | ";" | ":");
                let Some(next) = source.after_case(at).filter(|next| *next < after) else { return labels };
                // `default :` of a _Generic ends in an expression, not in a statement.
                let shares = ended == Some(at);
                let colon = source.tokens[next - 1].end;
                labels.push(CaseLabel { case: word == "case", after: colon, in_block, shares });
                at = next;
                ended = Some(at);
            }
            _ => at += 1,
        }
    }
    labels
}
