//! The record of an instrumented class: maps its probes to objectives.

use super::agent_attachment::probe_words;
use super::mutant_predicates::{MutantPredicates, is_about_values};
use super::value_probes as values;
use crate::record::{
    MAX_ROWS, ProbeObstacle, ProbeStorage, ProbedDecision, ProbedObjective, ProbedRow, RECORD_VERSION, SourceRange,
    UnitRecord,
};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{Id, Span};
use touchstone_criteria::{
    CriteriaOptions, DecisionEvaluation, DecisionGraph, DecisionStep, Goal, GoalCriterion, Row, Status, objectives,
};
use touchstone_front_java::CodeLocations;
use touchstone_front_java::classfile::ClassFile;
use touchstone_ir::{BlockId, CondId, DecisionId, FuncId, Function, Module, PointKind, TermKind};
use touchstone_probes_java::{
    JumpGroup, MethodProbes, PredicatePlan, ProbeLayout, ProbeRequest, WeaveFailure, WeaveRequest, weave,
};

/// A class that was loaded with probes, and its source.
pub struct JavaClass<'a> {
    /// The identity of the instrumented class.
    pub unit: u64,
    /// The original class file.
    pub bytes: &'a [u8],
    /// The parsed class file.
    pub class: &'a ClassFile,
    /// The plan that the agent received.
    pub plan: Option<&'a [u8]>,
    /// The source file, relative to the root.
    pub file: String,
    /// The lowered program.
    pub module: &'a Module,
    /// The methods of the class that the source contains, and the code locations of their source constructs.
    pub methods: &'a [(FuncId, CodeLocations)],
    /// The measured criteria.
    pub criteria: &'a [&'static dyn GoalCriterion],
    /// The options of the criteria.
    pub options: &'a CriteriaOptions,
    /// The reason why methods are described by their bytecode.
    pub from_bytecode: Option<String>,
}

/// Returns the record of a class that is not measured, with the obstacle.
pub fn unprobed_class_record(unit: u64, file: String, why: ProbeObstacle) -> UnitRecord {
    UnitRecord { untouched: vec![(String::new(), why)], ..empty_class_record(unit, file) }
}

/// Returns the record of a class without objectives.
pub fn empty_class_record(unit: u64, file: String) -> UnitRecord {
    UnitRecord {
        version: RECORD_VERSION,
        unit: format!("{unit:016x}"),
        files: vec![file.clone()],
        file,
        size: 0,
        functions: Vec::new(),
        objectives: Vec::new(),
        decisions: Vec::new(),
        implied: Vec::new(),
        meanings: BTreeMap::new(),
        macros: Vec::new(),
        texts: Vec::new(),
        lines: Vec::new(),
        keeps: ProbeStorage::Hits,
        untouched: Vec::new(),
        state: None,
        no_state: None,
        from_bytecode: None,
    }
}

/// Computes the record of a class.
pub fn class_record(of: &JavaClass<'_>) -> UnitRecord {
    // The layout must be the same as the agent's.
    let words = probe_words(of.criteria.iter().map(|criterion| criterion.name()));
    let layout = ProbeLayout::new(of.class, ProbeRequest::from_words(words));
    let layout = match of.plan.and_then(PredicatePlan::read) {
        Some(plan) => layout.with_plan(&plan),
        None => layout,
    };
    let mut record = empty_class_record(of.unit, of.file.clone());
    record.size = layout.size;
    record.from_bytecode.clone_from(&of.from_bytecode);
    let unprobed_methods: BTreeMap<usize, ProbeObstacle> = unprobed_methods(of, &layout);
    let mut used: BTreeSet<u32> = BTreeSet::new();
    for (func, located) in of.methods {
        let function = &of.module.functions[*func];
        // Criteria on decisions need jumps only.
        let asks_for_decisions = of.criteria.iter().any(|criterion| criterion.recorded_events().is_empty());
        let skipped = located.skipped.iter().filter(|_| asks_for_decisions);
        let skipped =
            skipped.map(|(_, text)| (function.name.clone(), ProbeObstacle::DecisionWithoutJumps(text.clone())));
        record.untouched.extend(skipped);
        let wanted = objectives(of.module, &[*func], of.criteria, of.options);
        if wanted.list.is_empty() {
            continue;
        }
        let place = |span: Span| {
            let Span { file, line, column, end_line, end_column } = span;
            SourceRange { file: file.index() as u32, line, column, end_line, end_column }
        };
        record.functions.push((function.name.clone(), place(function.span)));
        used.insert(function.span.file.index() as u32);
        let probes = match (unprobed_methods.get(&located.method), layout.methods.get(&located.method)) {
            (None, Some(probes)) => Ok(MethodProbeMap::new(of.class, function, located, probes)),
            (why, _) => Err(why.cloned().unwrap_or(ProbeObstacle::CodeNotRead)),
        };
        if let Err(why) = &probes {
            record.untouched.push((function.name.clone(), why.clone()));
        }
        let mut by_row: BTreeSet<DecisionId> = BTreeSet::new();
        for (objective, goal) in wanted.list.values().zip(wanted.goals.values()) {
            if let Goal::Condition { decision, .. } | Goal::Independent { decision, .. } | Goal::Row { decision, .. } =
                goal
            {
                by_row.insert(*decision);
            }
            let (probes, not_placed) = match &probes {
                Ok(meaning) => meaning.goal(goal),
                Err(why) => (Vec::new(), Some(why.clone())),
            };
            let constant = matches!(objective.status, Status::Infeasible(_));
            used.insert(objective.span.file.index() as u32);
            record.objectives.push(ProbedObjective {
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
        let Ok(meaning) = probes else { continue };
        for id in by_row {
            let (decision, Some(Ok(rows))) = (&function.decisions[id], meaning.decisions.get(&id)) else { continue };
            let Some(all) = DecisionGraph::new(decision).rows(MAX_ROWS) else { continue };
            let first = record.size;
            record.size += all.len() as u32;
            for (probe, row) in (first..).zip(&all) {
                record.implied.extend(rows.get(row).map(|probes| (probe, probes.clone())));
            }
            let flat = |list: &[(CondId, bool)]| list.iter().map(|(c, value)| (c.index() as u32, *value)).collect();
            record.decisions.push(ProbedDecision {
                function: function.name.clone(),
                decision: id.index() as u32,
                place: place(decision.span),
                text: decision.text.clone(),
                conditions: decision.conditions.values().map(|c| (place(c.span), c.text.clone())).collect(),
                rows: all
                    .iter()
                    .map(|row| ProbedRow {
                        outcomes: flat(&row.outcomes),
                        independent: flat(&row.independent),
                        result: row.result,
                    })
                    .collect(),
                first,
            });
        }
    }
    // If the code of a method differs from its source, only the name of the file is known.
    let known = |(index, file): (usize, &String)| match used.contains(&(index as u32)) && file.starts_with('/') {
        true => file.clone(),
        false => of.file.clone(),
    };
    record.files = of.module.files.values().enumerate().map(known).collect();
    record.keep_texts();
    record
}

/// Returns the methods without probes, and the obstacles.
fn unprobed_methods(of: &JavaClass<'_>, layout: &ProbeLayout) -> BTreeMap<usize, ProbeObstacle> {
    let weaving = WeaveRequest {
        bytes: of.bytes,
        class: of.class,
        layout,
        hits_class: "java/lang/Object",
        first_probe: 0,
        first_traced_method: None,
        takes_snapshots: false,
    };
    let why = |unprobed_methods: WeaveFailure| match unprobed_methods {
        WeaveFailure::Unreadable => ProbeObstacle::CodeNotRead,
        WeaveFailure::TooLong => ProbeObstacle::CodeTooLong,
        WeaveFailure::MalformedTables => ProbeObstacle::CodeTables,
    };
    match weave(&weaving) {
        Some((_, unprobed_methods)) => {
            unprobed_methods.into_iter().map(|(method, reason)| (method, why(reason))).collect()
        }
        None => layout.methods.keys().map(|method| (*method, ProbeObstacle::CodeTooLong)).collect(),
    }
}

/// For each row of a decision, the probes that record its evaluation; one of them suffices.
type RowProbes = BTreeMap<Row, Vec<u32>>;

/// The probes of a method, by the objectives that they record.
struct MethodProbeMap<'m> {
    function: &'m Function,
    probes: &'m MethodProbes,
    located: &'m CodeLocations,
    mutants: MutantPredicates<'m>,
    decisions: BTreeMap<DecisionId, Result<RowProbes, ProbeObstacle>>,
}

impl<'m> MethodProbeMap<'m> {
    fn new(
        class: &'m ClassFile,
        function: &'m Function,
        located: &'m CodeLocations,
        probes: &'m MethodProbes,
    ) -> MethodProbeMap<'m> {
        // For the code offset of each jump: its condition, and the outcome of the condition if the jump is taken.
        let jumps: BTreeMap<usize, (DecisionId, CondId, bool)> = located
            .jumps
            .iter()
            .map(|jump| (jump.at, (jump.tag.decision, jump.tag.condition, jump.if_taken)))
            .collect();
        let graphs: BTreeMap<DecisionId, DecisionGraph> =
            function.decisions.iter().map(|(id, decision)| (id, DecisionGraph::new(decision))).collect();
        let mut decisions: BTreeMap<DecisionId, Result<RowProbes, ProbeObstacle>> =
            graphs.keys().map(|id| (*id, Ok(RowProbes::new()))).collect();
        let walked = |group: &JumpGroup, path: &[(usize, bool)]| {
            let mut walks: BTreeMap<DecisionId, Option<DecisionEvaluation>> = BTreeMap::new();
            for (node, taken) in path {
                let at = probes.position(group.jumps[*node].insn);
                let Some((decision, condition, if_taken)) = jumps.get(&at) else { continue };
                let walk = walks.entry(*decision).or_insert_with(|| Some(DecisionEvaluation::default()));
                let asked = walk.as_ref().map(|walk| walk.at(&graphs[decision]));
                match (walk.as_mut(), asked) {
                    (Some(walk), Some(DecisionStep::Node(node)))
                        if graphs[decision].nodes[node].condition == *condition =>
                    {
                        walk.step(&graphs[decision], taken == if_taken);
                    }
                    _ => *walk = None,
                }
            }
            walks.into_iter().map(|(decision, walk)| {
                let end = walk.and_then(|walk| match walk.at(&graphs[&decision]) {
                    DecisionStep::Done(result) => Some(walk.row(result)),
                    DecisionStep::Node(_) => None,
                });
                (decision, end)
            })
        };
        for ((group, first), parts) in probes.groups().zip(probes.path_prefixes()) {
            for (path, probe) in group.paths().into_iter().zip(first..) {
                for (decision, end) in walked(group, &path) {
                    let Some(known) = decisions.get_mut(&decision) else { continue };
                    match (end, known.as_mut()) {
                        (Some(row), Ok(rows)) => rows.entry(row).or_default().push(probe),
                        (None, _) => *known = Err(ProbeObstacle::ConditionsApart),
                        (Some(_), Err(_)) => {}
                    }
                }
            }
            // An exception in the middle of a group leaves the rows of completed decisions.
            for (part, first) in parts {
                for (path, probe) in part.paths.iter().zip(*first..) {
                    for (decision, end) in path.iter().flat_map(|path| walked(group, path)) {
                        if let (Some(row), Some(Ok(rows))) = (end, decisions.get_mut(&decision)) {
                            rows.entry(row).or_default().push(probe);
                        }
                    }
                }
            }
        }
        MethodProbeMap { function, probes, located, mutants: MutantPredicates::new(class, located), decisions }
    }

    /// Returns the probes that cover a goal, of which one suffices, and an obstacle if they may miss executions of it.
    fn goal(&self, goal: &Goal) -> (Vec<u32>, Option<ProbeObstacle>) {
        match goal {
            Goal::Label { point, predicate: None, .. } => {
                let point = &self.function.points[*point];
                match point.kind {
                    PointKind::Statement => self.statement(point.span),
                    _ => (Vec::new(), Some(ProbeObstacle::NotForJava)),
                }
            }
            Goal::Arm { block, target, .. } => match self.arm(*block, *target) {
                Some(probes) => (probes, None),
                None => (Vec::new(), Some(ProbeObstacle::SwitchNotFound)),
            },
            Goal::Outcome { decision, value, .. } => self.rows(*decision, |row| row.result == *value),
            Goal::Condition { decision, condition, value, .. } => {
                self.rows(*decision, |row| row.outcomes.contains(&(*condition, *value)))
            }
            Goal::Independent { decision, condition, value, .. } => {
                self.rows(*decision, |row| row.independent.contains(&(*condition, *value)))
            }
            Goal::Row { decision, outcomes, .. } => self.rows(*decision, |row| row.outcomes == *outcomes),
            Goal::Partner { .. } => (Vec::new(), Some(ProbeObstacle::Wish)),
            Goal::Label { point, predicate: Some(predicate), .. } => {
                match is_about_values(&self.function.points[*point].kind) {
                    true => self.mutants.meaning(self.probes, *point, predicate),
                    false => values::label(self.probes, self.located, *point),
                }
            }
            Goal::Entry { predicate, .. } => values::entry(self.function, self.probes, predicate),
            Goal::Return { func: _, predicate } => values::result(self.function, self.probes, *predicate),
            Goal::Error { .. } => (Vec::new(), Some(ProbeObstacle::NotForJava)),
        }
    }

    fn rows(&self, decision: DecisionId, is_wanted: impl Fn(&Row) -> bool) -> (Vec<u32>, Option<ProbeObstacle>) {
        match self.decisions.get(&decision) {
            Some(Ok(rows)) => {
                let wanted = rows.iter().filter(|(row, _)| is_wanted(row));
                (wanted.flat_map(|(_, probes)| probes).copied().collect(), None)
            }
            Some(Err(why)) => (Vec::new(), Some(why.clone())),
            None => (Vec::new(), Some(ProbeObstacle::ConditionsApart)),
        }
    }

    /// Returns the probes of a statement. It may begin at several code offsets, since the compiler copies `finally`
    /// blocks.
    fn statement(&self, span: Span) -> (Vec<u32>, Option<ProbeObstacle>) {
        let begins = self.located.statements.iter().filter(|(_, own)| *own == span);
        let mut probes: BTreeSet<u32> = BTreeSet::new();
        let mut unsaid = None;
        for (at, _) in begins {
            match self.probes.executed_by(*at) {
                Some(said) => probes.extend(said),
                None => unsaid = Some(ProbeObstacle::InsideOfExpression),
            }
        }
        if probes.is_empty() {
            unsaid = Some(ProbeObstacle::InsideOfExpression);
        }
        (probes.into_iter().collect(), unsaid)
    }

    /// Returns the probe of a switch arm. The switch instruction is found by its source position and its case values.
    fn arm(&self, block: BlockId, target: BlockId) -> Option<Vec<u32>> {
        let TermKind::Switch { arms, default, .. } = &self.function.blocks[block].terminator.kind else { return None };
        let values = |arm: &touchstone_ir::SwitchArm| (arm.low as u32 as i32)..=(arm.high as u32 as i32);
        let wanted: BTreeSet<i32> = arms.iter().flat_map(values).collect();
        let place = self.function.blocks[block].terminator.span;
        let is_it = |(at, cases, default): &(usize, &[(i32, usize)], usize)| {
            let own: BTreeSet<i32> =
                cases.iter().filter(|(_, target)| target != default).map(|(value, _)| *value).collect();
            own == wanted && self.located.is_switch(*at, place)
        };
        let mut found = self.probes.switches().filter(is_it);
        let (at, cases, else_at) = found.next().filter(|_| found.next().is_none())?;
        let leads_to = match arms.iter().find(|arm| arm.target == target) {
            _ if target == *default => else_at,
            Some(arm) => cases.iter().find(|(value, _)| *value == arm.low as u32 as i32)?.1,
            None => return None,
        };
        let side = self.probes.switch(at)?.iter().find(|side| side.target == leads_to)?;
        Some(vec![side.probe])
    }
}
