//! Brute force over verdicts: every verdict of every criterion is checked against all inputs of a small domain. What is
//! covered has a witness, and its test is one; what is infeasible has none; nothing is left unknown where exploration was
//! exhaustive; all ways of searching cover the same. Decisions, conditions, rows and MC/DC are also recomputed from raw
//! branch events by a separate definition (`verdicts/definition.rs`). Where some inputs are a unique-cause pair of MC/DC, two
//! tests are.
//!
//! Everything is deterministic: a failure names its seed and prints the program. `TOUCHSTONE_LONG=1` tries ten times as
//! many, `TOUCHSTONE_SEED=N` begins elsewhere, `TOUCHSTONE_COUNT=N` says how many.

pub mod definition;
mod functions;
#[allow(dead_code)]
use self::definition::{Judge, Raw};
use crate::support::domain::{Domain, Input, observe};
use crate::support::lowering::{lower_once, lower_text};
use crate::support::{examples, long, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use touchstone_base::{Deadline, Id};
use touchstone_criteria::{
    AssumeOption, CriteriaOptions, EvaluatedRows, GoalCriterion, GoalId, GoalIndex, IncompletePaths, Objectives,
    PairSearch, REGISTRY, Replay, Status, TestCase, TestKind, conclude, criterion_named, objectives, reduce,
};
use touchstone_engine::{
    Aliases, Config, Entry, EvaluatedRow, Goals, Labels, PairSearchInput, PairSearchResult, Rounds, RunObservation,
    Search, SearchEvent, Sink, explore_goals, explore_pairs, explore_paths_and_goals, rows_of, watch_function,
};
use touchstone_interp::{End, NullObserver, UnsupportedOperation, Value};
use touchstone_ir::{FuncId, Module};

/// Random functions in one file: reading a file costs more than exploring one of these.
const BATCH: u64 = 20;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[derive(Default)]
struct Collect(Vec<TestCase>);

impl Sink for Collect {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

/// The criteria under test: all whose objectives come with every function.
fn criteria() -> Vec<&'static dyn GoalCriterion> {
    REGISTRY.iter().copied().filter(|criterion| criterion.name() != "labels").collect()
}

/// The objectives of some criteria in some functions, criterion by criterion.
fn wanted(module: &Module, scope: &[FuncId], criteria: &[&'static dyn GoalCriterion]) -> Objectives {
    let mut all = Objectives::default();
    for criterion in criteria {
        let own = objectives(module, scope, &[*criterion], &CriteriaOptions::default());
        for (objective, goal) in own.list.values().zip(own.goals.values()) {
            all.list.push(objective.clone());
            all.goals.push(goal.clone());
        }
    }
    all
}

/// A function with all its inputs.
struct Subject<'m> {
    name: String,
    module: &'m Module,
    func: FuncId,
    /// The functions whose objectives count.
    scope: Vec<FuncId>,
    config: Config,
    domain: Domain<'m>,
    /// The precondition or the ranges allow nothing outside the domain.
    closed: bool,
    /// Objectives may read bytes of pointers: what does is left out, by name.
    beside_pointers: bool,
}

/// The effort spent on a subject.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Nearest first, labels deleted as they are covered.
    Default,
    /// Depth first too.
    Orders,
    /// The other ways to treat labels too.
    Labels,
    /// Offsets fixed where they are met too.
    Aliases,
    /// All of these.
    All,
}

/// A way of searching.
#[derive(Clone, Copy, Debug)]
struct Way {
    search: Search,
    labels: Labels,
    aliases: Aliases,
    aim: Aim,
}

/// The target of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Aim {
    Goals,
    /// Every path, with goals on the way.
    Paths,
}

const DEFAULT: Way = Way { search: Search::Nearest, labels: Labels::Idl, aliases: Aliases::Late, aim: Aim::Goals };

impl Effort {
    fn ways(self) -> Vec<Way> {
        match self {
            Effort::Default => vec![DEFAULT],
            Effort::Orders => vec![DEFAULT, Way { search: Search::Dfs, ..DEFAULT }],
            Effort::Labels => {
                vec![DEFAULT, Way { labels: Labels::Tight, ..DEFAULT }, Way { labels: Labels::Direct, ..DEFAULT }]
            }
            Effort::Aliases => {
                vec![DEFAULT, Way { aliases: Aliases::Eager, ..DEFAULT }, Way { aim: Aim::Paths, ..DEFAULT }]
            }
            Effort::All => {
                [Effort::Orders, Effort::Labels, Effort::Aliases].into_iter().flat_map(Effort::ways).collect()
            }
        }
    }
}

/// The behaviour of all inputs of the domain, for all criteria.
struct Truth {
    objectives: Objectives,
    watch: GoalIndex,
    hit: Vec<bool>,
    rows: EvaluatedRows,
    allowed: u64,
}

impl Subject<'_> {
    /// Everything that is wrong with the verdicts.
    fn check(&self, effort: Effort) -> Vec<String> {
        let mut wrong = Vec::new();
        let Some(truth) = self.truth(&mut wrong) else { return wrong };
        let mut first = 0;
        for criterion in criteria() {
            let goals = wanted(self.module, &self.scope, &[criterion]).goals.len();
            let ways = effort.ways().into_iter();
            let covered: Vec<_> = ways.map(|way| self.verdicts(&truth, &[criterion], first, way, &mut wrong)).collect();
            if covered.iter().any(|set| *set != covered[0]) {
                wrong.push(format!("{} {}: not all ways of searching cover the same", self.name, criterion.name()));
            }
            first += goals;
        }
        assert_eq!(first, truth.objectives.goals.len(), "the criteria together have the objectives of each");
        self.verdicts(&truth, &criteria(), 0, DEFAULT, &mut wrong);
        wrong
    }

    fn allowed(&self, input: &Input) -> bool {
        let Some(name) = &self.config.precondition else { return true };
        let precondition = self.module.function_named(name).expect("the precondition");
        let end = observe(self.module, precondition, input, &mut NullObserver);
        matches!(end, End::Returned(Some(Value::Int(value))) if value != 0)
    }

    /// Runs all inputs; the watcher and the definition must agree on each. `None`: there is no truth, since an objective (a
    /// mutant that reads beside an array) depends on where objects lie.
    fn truth(&self, wrong: &mut Vec<String>) -> Option<Truth> {
        let objectives = wanted(self.module, &self.scope, &criteria());
        let watch = GoalIndex::new(self.module, objectives.goals.clone());
        let mut truth = Truth {
            hit: vec![false; objectives.goals.len()],
            objectives,
            watch,
            rows: EvaluatedRows::default(),
            allowed: 0,
        };
        let mut judge = Judge::new(self.module);
        let mut told = BTreeSet::new();
        for point in 0..self.domain.points {
            let input = self.domain.at(point);
            if !self.allowed(&input) {
                continue;
            }
            truth.allowed += 1;
            let look = RunObservation { watch: Some(&truth.watch), ..RunObservation::default() };
            let run = watch_function(self.module, self.func, input.call(), look);
            if matches!(run.end, End::Unsupported { what: UnsupportedOperation::AddressAsNumber, .. }) {
                return None;
            }
            if matches!(run.end, End::Limit(_) | End::Unsupported { .. }) {
                wrong.push(format!("{}: {} ends with {:?}", self.name, input.shown(), run.end));
            }
            let mut raw = Raw::default();
            let end = observe(self.module, self.func, &input, &mut raw);
            assert_eq!(end, run.end, "{}: {}", self.name, input.shown());
            let did = judge.judge(raw);
            truth.rows.add(&run.rows);
            let mut watched = vec![false; truth.hit.len()];
            for goal in run.hits {
                watched[goal.index()] = true;
                truth.hit[goal.index()] = true;
            }
            for (id, goal) in truth.objectives.goals.iter() {
                let Some(reached) = did.reaches(goal) else { continue };
                if reached != watched[id.index()] && told.insert(id) {
                    wrong.push(format!(
                        "{}: {} {}: the watcher says {}, the definition {reached}, on {}",
                        self.name,
                        truth.objectives.list[id].id,
                        truth.objectives.list[id].text,
                        watched[id.index()],
                        input.shown()
                    ));
                }
            }
        }
        Some(truth)
    }

    /// Explores for some criteria, whose goals begin at `first` among all, and checks every verdict. What was covered.
    fn verdicts(
        &self,
        truth: &Truth,
        criteria: &[&'static dyn GoalCriterion],
        first: usize,
        way: Way,
        wrong: &mut Vec<String>,
    ) -> BTreeSet<GoalId> {
        let names: Vec<&str> = criteria.iter().map(|criterion| criterion.name()).collect();
        let name = format!("{} {} {way:?}", self.name, names.join(","));
        let mut wanted = wanted(self.module, &self.scope, criteria);
        let closed = wanted.list.iter().filter(|(_, objective)| matches!(objective.status, Status::Infeasible(_)));
        let watch = GoalIndex::new(self.module, wanted.goals.clone());
        let goals = Goals { closed: closed.map(|(id, _)| id).collect(), watch: watch.clone().into() };
        // A function over a small domain that takes this long is a failure of its own.
        let deadline = Deadline::after(Duration::from_secs(60));
        let Way { search, labels, aliases, aim } = way;
        // The domains are of one world; what a wider one may do is the harness of soundness.rs.
        let assume = AssumeOption::ALL.into();
        let config = Config { search, labels, aliases, deadline, assume, ..self.config.clone() };
        let mut tests = Collect::default();
        let explore = if aim == Aim::Paths { explore_paths_and_goals } else { explore_goals };
        let found = explore(self.module, self.func, goals, &config, &mut tests);
        let (before, queries) = (tests.0.clone(), found.result.solver.queries);
        let before = PairSearchInput { tests: &before, known: &[], queries };
        let pairs = explore_pairs(self.module, self.func, &watch, before, &config, &mut tests);
        for test in &tests.0 {
            if let Replay::Disagreed(why) = &test.replayed {
                wrong.push(format!("{name}: {} disagrees: {why}", test.id));
            }
        }
        let all = tests.0.len();
        let tests = self.reduced(tests.0, &watch, &pairs, truth, &name, wrong);
        conclude(&mut wanted, &tests, &found.ruling(&BTreeMap::new()), &self.module.files);
        let own = self.own_hits(truth, &tests, &name, wrong);
        if own.len() != tests.len() {
            wrong.push(format!("{name}: {} tests have {} names, of {all} before reduction", tests.len(), own.len()));
        }
        let addresses =
            ["address of an object", "part of a pointer", "does not end properly", "pointer that another write"];
        let is_address = |paths: &IncompletePaths| addresses.iter().any(|what| paths.why.to_string().contains(what));
        let is_only_that = self.beside_pointers && found.result.incomplete.iter().all(is_address);
        if !found.result.exhaustive && !is_only_that {
            wrong.push(format!("{name}: not exhaustive: {:?}", found.result.incomplete));
        }
        let mut covered = BTreeSet::new();
        for (id, objective) in wanted.list.iter() {
            let known = GoalId::new(first + id.index());
            assert_eq!(wanted.goals[id], truth.objectives.goals[known], "objectives keep their order");
            let feasible = truth.hit[known.index()];
            let what =
                format!("{name}: {} {} `{}`", objective.id, objective.span.display(&self.module.files), objective.text);
            match &objective.status {
                Status::Covered(by) => {
                    covered.insert(known);
                    for test in by {
                        if !own.get(test).is_some_and(|hits| hits.contains(&known)) {
                            wrong.push(format!("{what}: covered by {test}, which doesn't"));
                        }
                    }
                    if self.closed && !feasible {
                        wrong.push(format!("{what}: covered, but no input of the domain does"));
                    }
                    if found.open.contains(&id) {
                        wrong.push(format!("{what}: covered and open"));
                    }
                }
                Status::Infeasible(why) if feasible => wrong.push(format!("{what}: WRONG INFEASIBLE ({why})")),
                Status::Infeasible(_) => {}
                Status::Unknown(why) if found.result.exhaustive => {
                    wrong.push(format!("{what}: unknown ({why}) though everything was explored"));
                }
                Status::Unknown(_) => {}
                Status::Uncovered | Status::Unaffected => wrong.push(format!("{what}: an unrequested verdict")),
            }
        }
        covered
    }

    /// The suite that stays: where MC/DC is asked for, it has a unique-cause pair of each condition for which inputs have one.
    fn reduced(
        &self,
        tests: Vec<TestCase>,
        watch: &GoalIndex,
        pairs: &PairSearchResult,
        truth: &Truth,
        name: &str,
        wrong: &mut Vec<String>,
    ) -> Vec<TestCase> {
        let rows = |tests: &[TestCase]| {
            let mut rows = rows_of(self.module, self.func, tests, watch, Deadline::NEVER);
            rows.iter_mut().for_each(|rows| rows.retain(|row| watch.asks_for_mcdc(row.0, row.1)));
            rows
        };
        let paired = |rows: &[Vec<EvaluatedRow>]| {
            let mut seen = EvaluatedRows::default();
            rows.iter().for_each(|rows| seen.add(rows));
            seen.paired(Deadline::NEVER)
        };
        let all = rows(&tests);
        let tests = reduce(tests, &all, &BTreeSet::new(), &BTreeSet::new(), Deadline::NEVER);
        let (all, left) = (paired(&all), paired(&rows(&tests)));
        if all != left {
            wrong.push(format!("{name}: reduction loses the pairs {:?}", all.difference(&left)));
        }
        for pair in truth.rows.paired(Deadline::NEVER).into_iter().filter(|pair| watch.asks_for_mcdc(pair.0, pair.1)) {
            if pairs.of(pair.0, pair.1) != PairSearch::Finished {
                wrong.push(format!("{name}: the search for pairs is not finished: {pairs:?}"));
            } else if !left.contains(&pair) {
                wrong.push(format!("{name}: inputs have a unique-cause pair for {pair:?}, the suite has none"));
            }
        }
        let strange: Vec<_> = left.difference(&truth.rows.paired(Deadline::NEVER)).copied().collect();
        if self.closed && !strange.is_empty() {
            wrong.push(format!("{name}: pairs {strange:?} that no inputs have"));
        }
        tests
    }

    /// Returns the goals that the inputs of each test reach.
    fn own_hits(
        &self,
        truth: &Truth,
        tests: &[TestCase],
        name: &str,
        wrong: &mut Vec<String>,
    ) -> BTreeMap<String, BTreeSet<GoalId>> {
        let mut own = BTreeMap::new();
        for test in tests {
            let TestKind::Function { params, globals, objects, .. } = &test.kind else {
                panic!("a test of a function")
            };
            let input = Input { params: params.clone(), globals: globals.clone(), objects: objects.clone() };
            if !self.allowed(&input) {
                wrong.push(format!("{name}: {} breaks the precondition: {}", test.id, input.shown()));
            }
            let look = RunObservation { watch: Some(&truth.watch), ..RunObservation::default() };
            let run = watch_function(self.module, self.func, input.call(), look);
            own.insert(test.id.clone(), run.hits.into_iter().collect());
        }
        own
    }
}

/// Panics with what is wrong, if anything is.
fn report(wrong: &[String]) {
    for one in wrong.iter().take(30) {
        eprintln!("---------------- {one}\n");
    }
    assert!(wrong.is_empty(), "{} failures", wrong.len());
}

/// Runs `work` on all items, on two threads; everything that is wrong, in order.
fn on_two_threads<T: Sync>(items: &[T], work: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let found = work(item);
                    wrong.lock().expect("no thread panicked").insert(index, found);
                }
            });
        }
    });
    wrong.into_inner().expect("no thread panicked").into_values().flatten().collect()
}

#[test]
fn every_verdict_on_random_decision_functions_is_what_all_inputs_say() {
    let first = number("TOUCHSTONE_SEED").unwrap_or(1);
    let count = number("TOUCHSTONE_COUNT").unwrap_or(if long() { 2200 } else { 50 });
    let starts: Vec<u64> = (first..first + count).step_by(BATCH as usize).collect();
    report(&on_two_threads(&starts, |&start| {
        let made: Vec<_> = (start..(start + BATCH).min(first + count)).map(functions::function).collect();
        let module = lower_text(&made.iter().map(|one| one.text.as_str()).collect::<String>());
        let mut wrong = Vec::new();
        for (seed, one) in (start..).zip(&made) {
            let values = |name: &str| one.domains.iter().find(|(known, _)| known == name).map(|(_, all)| all.clone());
            let func = module.function_named(&one.name).expect("the function");
            let domain = Domain::new(&module, func, &values, u64::MAX).expect("a small domain");
            // No precondition here dereferences a pointer: that would materialise the pointer before the function.
            let is_pointer = |name: &str| one.pointer && matches!(name, "p" | "q");
            let pointee = one.domains.iter().filter(|(name, _)| is_pointer(name));
            let ranges = pointee.map(|(name, all)| (name.clone(), (all[0], all[all.len() - 1]))).collect();
            // Every other search is split as early as possible.
            let rounds = if seed.is_multiple_of(2) { Rounds::default() } else { Rounds::SMALL };
            let precondition = Some(format!("{}_pre", one.name));
            let config = Config { precondition, ranges, rounds, ..Config::default() };
            let name = format!("seed {seed}");
            // Two pointers may be equal; the domain has only those that are not.
            let closed = domain.has_all_shapes();
            let subject = Subject {
                name,
                module: &module,
                func,
                scope: vec![func],
                config,
                domain,
                closed,
                beside_pointers: one.beside_pointers,
            };
            let effort = match seed % 8 {
                0 | 4 => Effort::Orders,
                1 => Effort::Labels,
                3 => Effort::Aliases,
                _ => Effort::Default,
            };
            let found = subject.check(effort);
            if !found.is_empty() {
                wrong.push(format!("{}\n{}", found.join("\n"), one.text));
            }
        }
        wrong
    }));
}

#[test]
fn every_verdict_on_the_examples_is_what_all_inputs_say() {
    let limit = if long() { 200_000 } else { 2_500 };
    let mut items = Vec::new();
    for example in examples() {
        for expectation in &example.expectations {
            if !expectation.domains.is_empty() && !expectation.has("eager") && !expectation.has("--entry") {
                items.push((example.files.clone(), expectation.clone()));
            }
        }
    }
    let checked = std::sync::atomic::AtomicUsize::new(0);
    let wrong = on_two_threads(&items, |(files, expectation)| {
        let module = lower_once(files, expectation.defines());
        let func = module.function_named(&expectation.function).expect("the function");
        let values = |name: &str| expectation.domains.iter().find(|(known, _)| known == name).map(|(_, v)| v.clone());
        let Some(domain) = Domain::new(&module, func, &values, limit) else { return Vec::new() };
        // Without holes, ranges make the domain all that there is.
        let whole = |values: &[i128]| values.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let closed = domain.has_all_shapes() && expectation.domains.iter().all(|(_, values)| whole(values));
        let range = |values: &[i128]| (values[0], values[values.len() - 1]);
        let ranges = expectation.domains.iter().map(|(name, values)| (name.clone(), range(values)));
        let pre = format!("{}_pre", expectation.function);
        let config = Config {
            entry: Entry::Function,
            precondition: module.function_named(&pre).map(|_| pre.clone()),
            ranges: if closed { ranges.collect() } else { BTreeMap::new() },
            ..Config::default()
        };
        let name = format!("{} {:?}", expectation.function, expectation.options);
        checked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Subject { name, module: &module, func, scope: vec![func], config, domain, closed, beside_pointers: false }
            .check(Effort::Orders)
    });
    report(&wrong);
    let checked = checked.into_inner();
    assert!(checked >= 15, "only {checked} expectations have a small enough domain");
}

/// The decision functions that other tools judge too: all that have only numbers as inputs.
#[test]
fn every_verdict_on_the_judged_decision_functions_is_what_all_inputs_say() {
    let limit = if long() { 70_000 } else { 2_500 };
    let Ok(folder) = std::fs::read_dir(root().join("tests/decisions")) else { return };
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    report(&on_two_threads(&files, |file| {
        let module = lower_once(std::slice::from_ref(file), Vec::new());
        let mut wrong = Vec::new();
        for (func, function) in module.functions.iter() {
            if !function.is_defined()
                || function.is_library()
                || function.name.ends_with("_pre")
                || function.name == "main"
            {
                continue;
            }
            let domain = [(-2, 3), (-1, 2), (0, 2), (0, 1)].into_iter().find_map(|range: (i128, i128)| {
                Domain::new(&module, func, &|_| Some((range.0..=range.1).collect()), limit)
                    .map(|domain| (domain, range))
            });
            let Some((domain, range)) = domain else { continue };
            let inputs = function.params.iter().map(|param| param.name.clone());
            let globals = touchstone_engine::global_inputs(&module, func).into_iter();
            let globals = globals.map(|id| module.globals[id].name.clone());
            let pre = format!("{}_pre", function.name);
            let config = Config {
                precondition: module.function_named(&pre).map(|_| pre.clone()),
                ranges: inputs.chain(globals).map(|name| (name, range)).collect(),
                ..Config::default()
            };
            let name = format!("{} {}", file.display(), function.name);
            let closed = domain.has_all_shapes();
            wrong.extend(
                Subject {
                    name,
                    module: &module,
                    func,
                    scope: vec![func],
                    config,
                    domain,
                    closed,
                    beside_pointers: false,
                }
                .check(Effort::Default),
            );
        }
        wrong
    }));
}

/// A file with a function `f` whose inputs are from 0 to 1 (pointers: null or not): all verdicts are right, and those of a
/// criterion in all functions of the file are these, in order: `+` covered, `-` infeasible.
fn check(criterion: &str, text: &str, expected: &str) -> Vec<String> {
    let module = lower_text(text);
    let func = module.function_named("f").expect("the function");
    let range = (0, 1);
    let domain = Domain::new(&module, func, &|_| Some(vec![0, 1]), 1 << 12).expect("a small domain");
    let inputs = module.functions[func].params.iter().map(|param| param.name.clone());
    let ranges = inputs.map(|name| (name, range)).collect();
    let config = Config { ranges, assume: AssumeOption::ALL.into(), ..Config::default() };
    let closed = domain.has_all_shapes();
    let own = module.functions.iter().filter(|(_, function)| function.is_defined() && !function.is_library());
    let scope: Vec<FuncId> = own.map(|(id, _)| id).collect();
    let subject = Subject {
        name: text.to_string(),
        module: &module,
        func,
        scope,
        config,
        domain,
        closed,
        beside_pointers: false,
    };
    let mut wrong = subject.check(Effort::All);
    let (shown, texts) = statuses(&module, func, &subject.scope, criterion, &subject.config);
    if shown != expected {
        wrong.push(format!("{text}: {shown} for {texts:?}"));
    }
    wrong
}

/// The verdicts of a criterion, `+` covered, `-` infeasible, `?` unknown, and what each is about.
fn statuses(module: &Module, func: FuncId, scope: &[FuncId], name: &str, config: &Config) -> (String, Vec<String>) {
    let criterion = criterion_named(name).expect("a criterion");
    let mut wanted = wanted(module, scope, &[criterion]);
    let goals = Goals { watch: GoalIndex::new(module, wanted.goals.clone()).into(), closed: Vec::new() };
    let mut tests = Collect::default();
    let found = explore_goals(module, func, goals, config, &mut tests);
    conclude(&mut wanted, &tests.0, &found.ruling(&BTreeMap::new()), &module.files);
    let sign = |status: &Status| match status {
        Status::Covered(_) => '+',
        Status::Infeasible(_) => '-',
        Status::Unknown(_) | Status::Uncovered | Status::Unaffected => '?',
    };
    let texts = wanted.list.values().map(|objective| objective.text.clone()).collect();
    (wanted.list.values().map(|objective| sign(&objective.status)).collect(), texts)
}

/// Checks several; panics with everything that is wrong.
#[track_caller]
fn check_all(criterion: &str, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases.iter().flat_map(|(text, expected)| check(criterion, text, expected)).collect();
    report(&wrong);
}

#[test]
fn structurally_impossible_obligations_are_infeasible() {
    // In order: each condition true, then false.
    let cases = [
        ("int f(int a, int b) { if (a && b) return 1; return 0; }", "++++"),
        // When `!c` is evaluated and false, c is true, so the last condition is true and masks it.
        ("int f(int a, int c) { if ((a && !c) || c) return 1; return 0; }", "++-+++"),
        ("int f(int a, int b) { if (a && !a) return 1; return b; }", "-++-"),
    ];
    check_all("mcdc", &cases);
}

#[test]
fn a_condition_whose_other_value_changes_nothing_never_decides() {
    let cases = [
        ("int f(int a, int b) { if (a && 0) return 1; return b; }", "--"),
        ("int f(int a, int b) { if (a || 1) return 1; return b; }", "--"),
        ("int f(int a, int b) { if (a && (b && 0)) return 1; return b; }", "----"),
        ("int f(int a, int b) { if (a ? 1 : 1) return 1; return b; }", "--"),
        // With a false the decision is true; with a true it can be false only if b is.
        ("int f(int a, int b) { if (a ? b : 1) return 1; return b; }", "++++"),
        ("int f(int a, int b) { if ((a && 1) || b) return 1; return b; }", "++++"),
    ];
    check_all("mcdc", &cases);
}

#[test]
fn an_evaluation_that_an_error_ends_midway_covers_its_conditions_but_no_outcome() {
    // With `a` false, the division goes wrong: `!a` was true, but the decision has no outcome.
    let text = "int f(int a) { if (!a && 10 / a) return 1; return 0; }";
    check_all("condition", &[(text, "++--")]);
    check_all("decision", &[(text, "-+")]);
    check_all("mcdc", &[(text, "+---")]);
}

#[test]
fn labels_over_undecided_pointers_are_not_lost() {
    check_all("idc", &[("int f(int *p) { return 1; }", "++"), ("int f(int *p, int a) { return a; }", "++-++--")]);
    // The mutants of these are checked like everything else.
    let cases = [
        ("int f(int *p) { if (p == 0) return 1; return 2; }", "++"),
        ("int f(int *p) { if (*p > 0) return 1; return 2; }", "++"),
        ("static int h(int *q) { return *q > 0; } int f(int *p) { return h(p); }", ""),
        // One path, and mutants that want null and others that do not.
        ("int f(int *p) { return p == 0; }", ""),
        ("int f(int *p, int *q) { return (p == q) + (p == 0); }", ""),
        ("int f(int *p, int *q, int a) { int r = 5; if (a) r = *p + *q; return r; }", "++"),
    ];
    check_all("condition", &cases);
}

#[test]
fn nothing_behind_an_unsupported_construct_is_infeasible() {
    nothing_is_infeasible("int f(int a) { __float128 z = a; (void)z; if (a > 1) return 1; return 0; }");
}

#[test]
fn nothing_that_a_jump_out_of_a_call_may_reach_is_infeasible() {
    nothing_is_infeasible(
        "#include <setjmp.h>
        static jmp_buf b;
        static void leave(int a) { if (a > 5) longjmp(b, 1); }
        int f(int a) {
            int x = 0;
            if (setjmp(b)) {
                if (x == 1) return 2;
                return 1;
            }
            x = 1;
            leave(a);
            return 0;
        }",
    );
}

#[track_caller]
fn nothing_is_infeasible(text: &str) {
    let module = lower_text(text);
    let func = module.function_named("f").expect("the function");
    for search in [Search::Nearest, Search::Dfs] {
        let config = Config { search, assume: AssumeOption::ALL.into(), ..Config::default() };
        for criterion in criteria().into_iter().filter(|criterion| criterion.name() != "idc") {
            let (shown, texts) = statuses(&module, func, &[func], criterion.name(), &config);
            assert!(!shown.contains('-'), "{} {search:?}: {shown} for {texts:?}", criterion.name());
        }
    }
}
