//! Both versions of a function, as the reference interpreter runs them on all inputs of a domain.

use crate::support::domain::{Domain, Input};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_campaign::CampaignResult;
use touchstone_criteria::{
    CriteriaOptions, Criterion, Expected, GoalCriterion, GoalId, GoalIndex, Objectives, Outcome, Replay, Status,
    TestCase, TestKind, objectives,
};
use touchstone_engine::{ConcreteRun, End, MachineTemplates, RunObservation, Value, watch_function, watch_test};
use touchstone_ir::{FuncId, Module};
use touchstone_report::document::Behaviour;

/// The values of an input.
pub type Values<'a> = &'a dyn Fn(&str) -> Option<Vec<i128>>;

/// One version.
pub struct Version<'m> {
    module: &'m Module,
    func: FuncId,
    pre: Option<FuncId>,
    machines: MachineTemplates<'m>,
    pub wanted: Objectives,
    watch: GoalIndex,
    domain: Option<Domain<'m>>,
}

impl<'m> Version<'m> {
    /// `scope` are the functions whose objectives count.
    pub fn new(
        module: &'m Module,
        name: &str,
        scope: &[&str],
        values: Values<'_>,
        criteria: &[&'static dyn GoalCriterion],
    ) -> Version<'m> {
        let func = module.function_named(name).expect("the function");
        let scope: Vec<FuncId> = scope.iter().filter_map(|name| module.function_named(name)).collect();
        let wanted = objectives(module, &scope, criteria, &CriteriaOptions::default());
        let domain = Domain::new(module, func, values, 40_000);
        let watch = GoalIndex::new(module, wanted.goals.clone());
        Version {
            module,
            func,
            pre: module.function_named(&format!("{name}_pre")),
            machines: MachineTemplates::of(module),
            wanted,
            watch,
            domain,
        }
    }

    fn run(&self, input: &Input) -> ConcreteRun {
        let kind = TestKind::Function {
            earlier: Vec::new(),
            params: input.params.clone(),
            globals: input.globals.clone(),
            objects: input.objects.clone(),
        };
        let test = TestCase {
            id: String::new(),
            function: String::new(),
            kind,
            answers: Vec::new(),
            outcome: Outcome::Returned,
            expected: Expected::default(),
            oracle: None,
            description: String::new(),
            path: 0,
            covers: Vec::new(),
            heap: touchstone_criteria::HeapOrigin::Made,
            needs_initial_state: false,
            older: None,
            replayed: Replay::NotRun,
        };
        watch_test(
            &self.machines,
            self.func,
            &test,
            RunObservation { watch: Some(&self.watch), ..RunObservation::default() },
        )
    }

    fn allows(&self, input: &Input) -> bool {
        let Some(pre) = self.pre else { return true };
        let end = watch_function(self.module, pre, input.call(), RunObservation::default()).end;
        matches!(end, End::Returned(Some(Value::Int(value))) if value != 0)
    }

    /// Objectives by function, criterion and text, those of one text in order.
    fn by_text(&self) -> BTreeMap<(&str, &str, &str), Vec<GoalId>> {
        let mut found: BTreeMap<(&str, &str, &str), Vec<GoalId>> = BTreeMap::new();
        for (id, objective) in self.wanted.list.iter() {
            found.entry((&objective.function, &objective.criterion, &objective.text)).or_default().push(id);
        }
        found
    }
}

/// The result of all inputs on two versions.
pub struct Judgement {
    /// Objectives of the new version that other inputs reach than before.
    pub moved: BTreeSet<GoalId>,
    /// An input that the new version allows, on which they differ.
    pub differs: Option<String>,
}

/// Runs all inputs; `None` if the versions have not the same, or too many.
pub fn judge(old: &Version<'_>, new: &Version<'_>) -> Option<Judgement> {
    let (before, now) = (old.domain.as_ref()?, new.domain.as_ref()?);
    let names = |input: &Input| -> Vec<String> {
        input.params.iter().chain(&input.globals).map(|value| value.name.clone()).collect()
    };
    if before.points != now.points || names(&before.at(0)) != names(&now.at(0)) {
        return None;
    }
    let mut old_of: BTreeMap<GoalId, GoalId> = BTreeMap::new();
    let old_texts = old.by_text();
    for (text, ids) in new.by_text() {
        let Some(old) = old_texts.get(&text).filter(|old| old.len() == ids.len()) else { continue };
        old_of.extend(ids.into_iter().zip(old.iter().copied()));
    }
    let mut found = Judgement { moved: BTreeSet::new(), differs: None };
    for point in 0..now.points {
        let input = now.at(point);
        let (before, now) = (old.run(&before.at(point)), new.run(&input));
        for (id, was) in &old_of {
            if now.hits.contains(id) != before.hits.contains(was) {
                found.moved.insert(*id);
            }
        }
        if found.differs.is_none() && left(&before) != left(&now) && new.allows(&input) {
            found.differs = Some(format!("{}: {} and {}", input.shown(), left(&before), left(&now)));
        }
    }
    Some(found)
}

/// All that a run leaves, in words that are the same in both versions.
fn left(run: &ConcreteRun) -> String {
    let end = match &run.end {
        End::Error { kind, .. } => format!("{kind:?}"),
        End::Unsupported { what, .. } => format!("{what:?}"),
        End::Returned(_) => String::from("returned"),
        other => format!("{other:?}"),
    };
    let globals: Vec<String> =
        run.expected.globals.iter().map(|value| format!("{}={:?}", value.name, value.value)).collect();
    format!("{end} {:?} {:?} {}", run.expected.result, run.expected.objects, globals.join(" "))
}

/// The verdicts about pairs of versions, beside the result of all inputs.
#[derive(Default, Debug)]
pub struct Figures {
    pub pairs: usize,
    pub unaffected: usize,
    pub touched: usize,
    /// Touched, and reached by other inputs than before.
    pub moved: usize,
    pub equivalent: usize,
    pub differs: usize,
    pub unknown: usize,
    /// Pairs with code that is not lowered.
    pub hidden: usize,
    /// Not told apart, though inputs of the domain do.
    pub missed: usize,
}

impl Figures {
    /// Compares what is said of a function with what all inputs say; what is wrong about it.
    pub fn compare(
        &mut self,
        (old, new): (&Version<'_>, &Version<'_>),
        statuses: &BTreeMap<&str, &Status>,
        behaviour: Behaviour,
    ) -> Vec<String> {
        self.pairs += 1;
        let mut wrong = Vec::new();
        let Some(Judgement { moved, differs }) = judge(old, new) else { return wrong };
        for (id, objective) in new.wanted.list.iter() {
            match (statuses.get(objective.id.as_str()) == Some(&&Status::Unaffected), moved.contains(&id)) {
                (true, false) => self.unaffected += 1,
                (true, true) => wrong.push(format!("{} `{}` is not unaffected", objective.id, objective.text)),
                (false, moved) => {
                    self.touched += 1;
                    self.moved += usize::from(moved);
                }
            }
        }
        match (behaviour, &differs) {
            (Behaviour::Equivalent, Some(input)) => wrong.push(format!("not equivalent: {input}")),
            (Behaviour::Equivalent, None) => self.equivalent += 1,
            (Behaviour::Differs, _) => self.differs += 1,
            (Behaviour::Unknown, _) => {
                self.unknown += 1;
                self.missed += usize::from(differs.is_some());
            }
        }
        wrong
    }
}

/// Returns the verdicts of a run about the objectives of a function, and about its behaviour.
pub fn said<'f>(finished: &'f CampaignResult, function: &str) -> (BTreeMap<&'f str, &'f Status>, Behaviour) {
    let own = finished.campaign.objectives.iter().filter(|objective| objective.function == function);
    let statuses = own.map(|objective| (objective.id.as_str(), &objective.status)).collect();
    let change = finished.extras.change.as_ref().expect("it was asked for");
    let known = change.functions.iter().find(|known| known.name == function);
    (statuses, known.map_or(Behaviour::Equivalent, |known| known.behaviour))
}

/// The criteria of a request whose objectives are goals.
pub fn labellings(criteria: &[Criterion]) -> Vec<&'static dyn GoalCriterion> {
    let goals = criteria.iter().filter_map(|criterion| match criterion {
        Criterion::Goals(labelling) => Some(*labelling),
        Criterion::Paths(_) | Criterion::State => None,
    });
    goals.collect()
}
