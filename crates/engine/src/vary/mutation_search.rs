//! The search of mutation-based test generation: mutates inputs, runs them and keeps those with new behaviour.
//!
//! Symbolic execution is the wrong tool behind one hard query (a checksum, a division by an input, a sum of floats) or
//! behind very many easy ones. A concrete run is cheap, and thousands of them cost as much as one query. Inputs with a
//! run that takes a new control-flow edge are mutated further. Nothing here is a verdict: a test is kept because its
//! run reaches an open goal, and any other run proves nothing.
//!
//! Deliberately not here: inputs that a user restricted (ranges, lengths, whole programs; a precondition, unless
//! objects have classes), and calls before the one under test, except in a driver that constructs objects.

use crate::config::{Config, Entry};
use crate::confirm::concrete_run::watch_kind;
use crate::confirm::run_record::EdgeRecording;
use crate::confirm::run_record::{ConcreteRun, RunObservation};
use crate::exec::executor::machine_templates::MachineTemplates;
use crate::inputs::globals::global_inputs;
use crate::vary::candidate::CandidateInputs;
use crate::vary::input_repair::Repair;
use crate::vary::mutation::{self, InputMutator};
use crate::vary::read_parameters;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{
    EnvironmentInput, GoalId, GoalIndex, NamedValue, NotCheckable, Outcome, Replay, TestCase, TestKind,
};
use touchstone_interp::{End, Limits, Value};
use touchstone_ir::{DataType, DataValue, ErrorKind, FuncId, GlobalId, InputSource, Linkage, Module, mask};

/// The maximum number of inputs in the pool.
const MAX_POOL_INPUTS: usize = 512;

/// The maximum number of instructions of one run.
const MAX_STEPS_PER_RUN: u64 = 40_000;

/// The same for objects with classes: filling a large container takes time.
const MAX_STEPS_WITH_CLASSES: u64 = 400_000;

/// The number of runs between two checks of the deadline.
const RUNS_PER_DEADLINE_CHECK: u32 = 16;

/// The goals of a mutation search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MutationGoals {
    /// Goals without any test.
    pub untested: BTreeSet<GoalId>,
    /// Goals that only failing tests cover.
    pub unreturned: BTreeSet<GoalId>,
}

impl MutationGoals {
    /// Returns the goals that a run newly covers.
    fn fulfilled(&self, hits: &[GoalId], outcome: &Outcome) -> Vec<GoalId> {
        let goes_wrong = matches!(outcome, Outcome::Error { .. });
        let is_wish =
            |goal: &&GoalId| self.untested.contains(*goal) || (!goes_wrong && self.unreturned.contains(*goal));
        hits.iter().filter(is_wish).copied().collect()
    }

    /// Removes the goals that a test covers.
    fn fulfil(&mut self, covers: &[GoalId], goes_wrong: bool) {
        for goal in covers {
            let new = self.untested.remove(goal);
            match goes_wrong {
                true if new => drop(self.unreturned.insert(*goal)),
                true => {}
                false => drop(self.unreturned.remove(goal)),
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.untested.is_empty() && self.unreturned.is_empty()
    }
}

/// A mutation search for one function.
pub struct MutationSearch<'a, 'm> {
    /// The machines on which inputs run.
    pub machines: &'a MachineTemplates<'m>,
    /// The function under test.
    pub func: FuncId,
    /// The goals.
    pub watch: &'a GoalIndex,
    /// The configuration of the symbolic search.
    pub config: &'a Config,
    /// The deadline of the search.
    pub deadline: Deadline,
    /// The maximum number of elements of an object that is lengthened.
    pub longest: usize,
    /// The maximum number of runs without new behaviour.
    pub patience: u32,
    /// The seed of all random choices.
    pub seed: u64,
    /// A parameter that is not mutated, for objects with classes.
    pub still: Option<usize>,
    /// Inputs that are run before random ones: integers of parameters by index; all other parameters are zero.
    pub first: &'a [Vec<(usize, u64)>],
}

/// The pool of inputs to mutate: each one's run differed from all before.
#[derive(Default)]
pub struct SeedPool {
    inputs: Vec<CandidateInputs>,
    /// The edges that runs took, separately for runs that did not return.
    seen: FxHashSet<(u64, bool)>,
    /// The number of tests already taken into the pool.
    tests: usize,
    /// True if heaps constructed by the program were added.
    made: bool,
}

impl SeedPool {
    /// Adds inputs to the pool if their run took a new edge; returns whether it did.
    fn learn(&mut self, inputs: &CandidateInputs, run: &ConcreteRun, asked: impl FnOnce() -> Vec<usize>) -> bool {
        let returned = matches!(run.end, End::Returned(_));
        let before = self.seen.len();
        self.seen.extend(run.edges.iter().map(|way| (*way, returned)));
        let new = self.seen.len() > before || self.inputs.is_empty();
        if new && self.inputs.len() < MAX_POOL_INPUTS {
            let (compared, asked) = (run.compared.as_slice().into(), asked().into());
            self.inputs.push(CandidateInputs { compared, asked, ..inputs.clone() });
        }
        new
    }
}

impl<'a> MutationSearch<'a, '_> {
    /// Returns the program.
    pub(super) fn module(&self) -> &'a Module {
        self.machines.module()
    }

    /// Returns true if inputs may be any values of their types.
    pub fn is_possible(&self) -> bool {
        let config = self.config;
        let said = !config.ranges.is_empty() || !config.lengths.is_empty() || config.strings.is_some();
        // With classes, the precondition is checked: every method with strings has one.
        let narrowed = (config.precondition.is_some() && !self.module().has_classes()) || said;
        let called = config.entry == Entry::Function && config.calls.is_one_function() && config.oracle.is_none();
        called && !narrowed
    }

    /// Mutates the inputs in the pool and new tests; `take` receives tests that cover an open goal, and returns whether
    /// it keeps them.
    pub fn run(
        &self,
        pool: &mut SeedPool,
        tests: &[TestCase],
        wishes: MutationGoals,
        take: &mut dyn FnMut(TestCase) -> bool,
    ) {
        if !self.is_possible() || wishes.is_empty() {
            return;
        }
        let mut changes = InputMutator::new(self.module(), self.func, self.config, self.longest, self.seed);
        changes.still = self.still;
        let first = self.begin(pool, tests, &mut changes);
        self.run_pool(pool, first, changes, wishes, take);
    }

    /// Mutates inputs; `take` receives tests that cover an open goal, and returns whether it keeps them.
    pub fn run_from(&self, inputs: &[TestKind], wishes: MutationGoals, take: &mut dyn FnMut(TestCase) -> bool) {
        if !self.is_possible() || wishes.is_empty() {
            return;
        }
        let mut changes = InputMutator::new(self.module(), self.func, self.config, self.longest, self.seed);
        let nothing = Rc::from([]);
        let candidate = |kind: &TestKind| CandidateInputs {
            kind: kind.clone(),
            answers: Vec::new(),
            compared: Rc::clone(&nothing),
            asked: Rc::from([]),
        };
        let given: Vec<CandidateInputs> = inputs.iter().map(candidate).collect();
        let mut first = given.clone();
        for repair in Repair::ALL {
            first.extend(given.iter().map(|inputs| changes.repaired_inputs(inputs, repair)));
        }
        first.reverse();
        self.run_pool(&mut SeedPool::default(), first, changes, wishes, take);
    }

    /// Runs inputs and then mutations of the pool.
    fn run_pool(
        &self,
        pool: &mut SeedPool,
        mut first: Vec<CandidateInputs>,
        mut changes: InputMutator<'a>,
        mut wishes: MutationGoals,
        take: &mut dyn FnMut(TestCase) -> bool,
    ) {
        let (mut unproductive_runs, mut runs) = (0, 0);
        while unproductive_runs < self.patience && !wishes.is_empty() {
            runs += 1;
            unproductive_runs += u32::from(first.is_empty());
            if runs % RUNS_PER_DEADLINE_CHECK == 0 && self.is_over() {
                return;
            }
            let Some(inputs) = first.pop().or_else(|| changes.another(&pool.inputs)) else { return };
            let (inputs, run, new) = self.run_candidate(pool, inputs, &mut changes);
            if new {
                unproductive_runs = 0;
            }
            let Some(outcome) = proper(self.module(), &inputs, &run) else { continue };
            let fulfilled = wishes.fulfilled(&run.hits, &outcome);
            if fulfilled.is_empty() || !self.is_allowed(&inputs.kind, &inputs.answers) {
                continue;
            }
            let inputs = self.minimised(inputs, &mut |other| {
                let run = self.run_for_hits(other, EdgeRecording::Off);
                self.is_as_good(&run, &outcome, &fulfilled)
            });
            if self.offer(inputs, outcome, &fulfilled, &mut wishes, take) {
                unproductive_runs = 0;
            }
        }
    }

    /// Runs inputs unchanged; `take` receives those that cover an open goal as tests, and returns whether it keeps
    /// them.
    pub fn run_again(&self, inputs: &[TestKind], mut wishes: MutationGoals, take: &mut dyn FnMut(TestCase) -> bool) {
        if !self.is_possible() {
            return;
        }
        for kind in inputs {
            if wishes.is_empty() || self.is_over() {
                return;
            }
            let (kind, compared, asked) = (kind.clone(), Rc::from([]), Rc::from([]));
            let mut inputs = CandidateInputs { kind, answers: Vec::new(), compared, asked };
            let run = self.run_for_hits(&mut inputs, EdgeRecording::Off);
            let Some(outcome) = proper(self.module(), &inputs, &run) else { continue };
            let fulfilled = wishes.fulfilled(&run.hits, &outcome);
            if !fulfilled.is_empty() && self.is_allowed(&inputs.kind, &inputs.answers) {
                self.offer(inputs, outcome, &fulfilled, &mut wishes, take);
            }
        }
    }

    /// Runs inputs unchanged, and returns them as a test, whatever they cover. Returns `None` if their outcome is
    /// indefinite, or if the function is not called by itself.
    pub fn test_of(&self, kind: &TestKind) -> Option<TestCase> {
        let config = self.config;
        if config.entry != Entry::Function || !config.calls.is_one_function() || config.oracle.is_some() {
            return None;
        }
        let (kind, compared, asked) = (kind.clone(), Rc::from([]), Rc::from([]));
        let mut inputs = CandidateInputs { kind, answers: Vec::new(), compared, asked };
        let run = self.run_for_hits(&mut inputs, EdgeRecording::Off);
        let outcome = proper(self.module(), &inputs, &run)?;
        let run =
            watch_kind(self.machines, self.func, &inputs.kind, &inputs.answers, self.observation(EdgeRecording::Off));
        self.confirmed(self.test(inputs, run, outcome))
    }

    /// Offers inputs that cover open goals as a test; returns whether it is kept.
    fn offer(
        &self,
        inputs: CandidateInputs,
        outcome: Outcome,
        fulfilled: &[GoalId],
        wishes: &mut MutationGoals,
        take: &mut dyn FnMut(TestCase) -> bool,
    ) -> bool {
        let run =
            watch_kind(self.machines, self.func, &inputs.kind, &inputs.answers, self.observation(EdgeRecording::Off));
        if !self.is_as_good(&run, &outcome, fulfilled) {
            return false;
        }
        let test = self.test(inputs, run, outcome);
        let (covers, goes_wrong) = (test.covers.clone(), matches!(test.outcome, Outcome::Error { .. }));
        let taken = self.confirmed(test).is_some_and(take);
        if taken {
            wishes.fulfil(&covers, goes_wrong);
        }
        taken
    }

    /// Mutates tests until `wished` accepts some inputs; returns them with their answers. Inputs that reach a goal are
    /// mutated most often.
    pub fn until(
        &self,
        tests: &[TestCase],
        wished: &mut dyn FnMut(&TestKind, &[EnvironmentInput]) -> bool,
    ) -> Option<(TestKind, Vec<EnvironmentInput>)> {
        let mut pool = SeedPool::default();
        let mut changes = InputMutator::new(self.module(), self.func, self.config, self.longest, self.seed);
        let mut first = self.begin(&mut pool, tests, &mut changes);
        let (mut unproductive_runs, mut reaching) = (0, Vec::new());
        while self.is_possible() && unproductive_runs < self.patience && !self.is_over() {
            unproductive_runs += u32::from(first.is_empty());
            let some = if reaching.is_empty() || changes.chance.one_in(4) { &pool.inputs } else { &reaching };
            let inputs = first.pop().or_else(|| changes.another(some))?;
            let (inputs, run, new) = self.run_candidate(&mut pool, inputs, &mut changes);
            if new {
                unproductive_runs = 0;
                reaching.extend(pool.inputs.last().filter(|_| !run.hits.is_empty()).cloned());
            }
            let is_proper = proper(self.module(), &inputs, &run).is_some();
            if !is_proper || !self.is_allowed(&inputs.kind, &inputs.answers) || !wished(&inputs.kind, &run.requested) {
                continue;
            }
            let mut inputs = self.minimised(inputs, &mut |other| wished(&other.kind, &other.answers));
            let run = self.run_for_hits(&mut inputs, EdgeRecording::Off);
            if self.is_allowed(&inputs.kind, &run.requested) && wished(&inputs.kind, &run.requested) {
                inputs.mark_freed(&run);
                return Some((inputs.kind, run.requested));
            }
        }
        None
    }

    /// Runs inputs and adds them to the pool if they took a new edge; the last result says whether they did.
    fn run_candidate(
        &self,
        pool: &mut SeedPool,
        mut inputs: CandidateInputs,
        changes: &mut InputMutator<'a>,
    ) -> (CandidateInputs, ConcreteRun, bool) {
        let mut run = self.run_for_hits(&mut inputs, EdgeRecording::Edges);
        // Missing variadic arguments are only found by running.
        for _ in 1..MAX_ARGUMENT_RETRIES {
            if !run.missed.is_some_and(|missed| changes.pass(missed, &mut inputs)) {
                break;
            }
            run = self.run_for_hits(&mut inputs, EdgeRecording::Edges);
        }
        let asked = || match self.module().has_classes() {
            true => read_parameters::read_parameters(self.module(), self.func, &run.edges),
            false => Vec::new(),
        };
        let new = outcome(self.module(), &run.end).is_some() && pool.learn(&inputs, &run, asked);
        (inputs, run, new)
    }

    /// Returns the inputs that are run before random ones, in reverse order: new tests, and repaired versions of them.
    fn begin(&self, pool: &mut SeedPool, tests: &[TestCase], changes: &mut InputMutator<'a>) -> Vec<CandidateInputs> {
        let mut new = self.seeds(&tests[pool.tests.min(tests.len())..]);
        if tests.is_empty() {
            new.extend(self.zeros());
        }
        pool.tests = tests.len();
        let mut first: Vec<CandidateInputs> = new.clone();
        if self.module().has_classes() {
            let zeros = self.zeros();
            let numbers = |numbers: &Vec<(usize, u64)>| zeros.clone().map(|zeros| self.with_numbers(zeros, numbers));
            first.extend(self.first.iter().filter_map(numbers));
            first.reverse();
            return first;
        }
        for repair in Repair::ALL {
            first.extend(new.iter().map(|inputs| changes.repaired_inputs(inputs, repair)));
        }
        if !std::mem::replace(&mut pool.made, true) {
            let third = self
                .deadline
                .left()
                .map_or(Deadline::after(Duration::from_millis(500)), |left| Deadline::after(left / 3));
            first.extend(self.constructed_inputs(changes, third));
        }
        first.reverse();
        first
    }

    /// Returns the inputs of tests.
    fn seeds(&self, tests: &[TestCase]) -> Vec<CandidateInputs> {
        let alone = |test: &&TestCase| matches!(test.kind, TestKind::Function { .. }) && test.earlier().is_empty();
        let (all, nothing) = (tests.iter().filter(alone), Rc::from([]));
        let inputs = |test: &TestCase| {
            let (kind, answers, compared) = (test.kind.clone(), test.answers.clone(), Rc::clone(&nothing));
            CandidateInputs { kind, answers, compared, asked: Rc::from([]) }
        };
        all.map(inputs).take(MAX_POOL_INPUTS / 2).collect()
    }

    /// Returns inputs with other integers as parameters.
    fn with_numbers(&self, mut inputs: CandidateInputs, numbers: &[(usize, u64)]) -> CandidateInputs {
        let TestKind::Function { params, .. } = &mut inputs.kind else { return inputs };
        for (at, number) in numbers {
            let Some(param) = params.get_mut(*at) else { continue };
            if let DataValue::Int(value) = &mut param.value {
                *value = match &self.module().types[param.data] {
                    DataType::Int { bits, .. } => mask(*number, *bits),
                    DataType::Bool { .. } => *number & 1,
                    DataType::Float { format, .. } => match format.bits() {
                        32 => u64::from((*number as i64 as f32).to_bits()),
                        _ => (*number as i64 as f64).to_bits(),
                    },
                    _ => *value,
                };
            }
        }
        inputs
    }

    /// Returns inputs of zeros and null pointers, if a test needs nothing else.
    pub(super) fn zeros(&self) -> Option<CandidateInputs> {
        let types = &self.module().types;
        let undefined = |id: &GlobalId| self.module().globals[*id].linkage == Linkage::Undefined;
        if global_inputs(self.module(), self.func).iter().any(undefined) {
            return None;
        }
        let mut params = Vec::new();
        for param in self.module().functions[self.func].own_params() {
            // A declared array needs an object.
            let value = match &types[param.data] {
                DataType::Array { .. } => return None,
                _ => DataValue::zero(types, param.data)?,
            };
            params.push(NamedValue { name: param.name.clone(), data: param.data, value });
        }
        let kind = TestKind::Function { earlier: Vec::new(), params, globals: Vec::new(), objects: Vec::new() };
        Some(CandidateInputs { kind, answers: Vec::new(), compared: Rc::from([]), asked: Rc::from([]) })
    }

    fn is_over(&self) -> bool {
        let interrupted = self.config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        interrupted || self.deadline.is_over() || self.config.memory.is_some_and(|limit| limit.is_met())
    }

    /// Returns the limits of one run.
    fn limits(&self) -> Limits {
        let steps = if self.module().has_classes() { MAX_STEPS_WITH_CLASSES } else { MAX_STEPS_PER_RUN };
        Limits { steps, frames: 200, heap_bytes: 1 << 24 }
    }

    /// Returns the parameters of an observed run.
    fn observation(&self, recording: EdgeRecording) -> RunObservation<'a> {
        RunObservation { watch: Some(self.watch), limits: self.limits(), recording, ..RunObservation::default() }
    }

    /// Runs inputs for their hits only: most runs reach nothing new, so expected values are not computed.
    fn run_for_hits(&self, inputs: &mut CandidateInputs, recording: EdgeRecording) -> ConcreteRun {
        // The objects that the run frees are not known yet.
        if let TestKind::Function { objects, .. } = &mut inputs.kind {
            objects.iter_mut().for_each(|object| object.on_heap = true);
        }
        let look = RunObservation { hits_only: true, ..self.observation(recording) };
        watch_kind(self.machines, self.func, &inputs.kind, &inputs.answers, look)
    }

    /// Replaces values by zeros, or by simpler ones, as long as the inputs stay good.
    fn minimised(
        &self,
        mut inputs: CandidateInputs,
        is_good: &mut dyn FnMut(&mut CandidateInputs) -> bool,
    ) -> CandidateInputs {
        let mut other = inputs.clone();
        other.answers.retain(|answer| answer.source != InputSource::Allocation);
        if other.answers.len() < inputs.answers.len() && is_good(&mut other) {
            inputs = other;
        }
        for number in 0..mutation::numbers(self.module(), &mut inputs).min(MAX_NUMBERS_MINIMISED) {
            let mut other = inputs.clone();
            if mutation::clear(self.module(), &mut other, number) && is_good(&mut other) {
                inputs = other;
                continue;
            }
            for value in mutation::simpler_values(self.module(), &mut inputs, number) {
                let mut other = inputs.clone();
                mutation::put(self.module(), &mut other, number, *value);
                if is_good(&mut other) {
                    inputs = other;
                    break;
                }
            }
        }
        inputs
    }

    /// Returns the test with its title if a second run confirms it: the answers may differ from those in the first run.
    fn confirmed(&self, test: TestCase) -> Option<TestCase> {
        if !self.is_allowed(&test.kind, &test.answers) {
            return None;
        }
        let run = watch_kind(
            self.machines,
            self.func,
            &test.kind,
            &test.answers,
            self.observation(EdgeRecording::Conditions),
        );
        let alike = outcome(self.module(), &run.end).as_ref() == Some(&test.outcome);
        let holds = alike && run.hits == test.covers && run.expected == test.expected;
        let description = run.conditions.describe(self.module());
        holds.then_some(TestCase { description, ..test })
    }

    /// Returns true if the precondition allows the inputs.
    fn is_allowed(&self, kind: &TestKind, answers: &[EnvironmentInput]) -> bool {
        let Some(name) = &self.config.precondition else { return true };
        let Some(precondition) = self.module().function_named(name) else { return false };
        let limits = self.limits();
        let run = watch_kind(
            self.machines,
            precondition,
            kind,
            answers,
            RunObservation { limits, ..RunObservation::default() },
        );
        matches!(run.end, End::Returned(Some(Value::Int(truth))) if truth != 0)
    }

    /// Returns true if a run has this outcome and reaches these goals.
    fn is_as_good(&self, run: &ConcreteRun, outcome: &Outcome, wanted: &[GoalId]) -> bool {
        let alike = self::outcome(self.module(), &run.end).as_ref() == Some(outcome);
        alike && wanted.iter().all(|goal| run.hits.contains(goal))
    }

    fn test(&self, mut inputs: CandidateInputs, run: ConcreteRun, outcome: Outcome) -> TestCase {
        inputs.mark_freed(&run);
        let volatile = run.requested.iter().any(|input| input.source == InputSource::Volatile);
        TestCase {
            id: String::new(),
            function: self.module().functions[self.func].name.clone(),
            kind: inputs.kind,
            // The program may request more than it was given.
            answers: run.requested,
            outcome,
            expected: run.expected,
            oracle: None,
            description: String::new(),
            path: run.path,
            covers: run.hits,
            heap: touchstone_criteria::HeapOrigin::Made,
            needs_initial_state: false,
            older: None,
            replayed: match (volatile, run.traps) {
                (true, _) => Replay::NotCheckable(NotCheckable::Volatile),
                (_, true) => Replay::NotCheckable(NotCheckable::Traps),
                _ => Replay::NotRun,
            },
        }
    }
}

/// The maximum number of missing variadic arguments that are added to one test.
const MAX_ARGUMENT_RETRIES: usize = 8;

/// The maximum number of values that are tried as zero.
const MAX_NUMBERS_MINIMISED: usize = 64;

/// Returns the outcome of a run that is reproducible in the compiled program; `None` otherwise. An access outside of
/// all objects behaves differently there.
fn proper(module: &Module, inputs: &CandidateInputs, run: &ConcreteRun) -> Option<Outcome> {
    let register = |answer: &EnvironmentInput| answer.source == InputSource::Register;
    // An integer that happened to be an address is no device register.
    let by_chance = run.requested.iter().any(register) && !inputs.answers.iter().any(register);
    // Nor may the answer of an external function be a pointer or truth value that its type does not have.
    let misled = run.requested.iter().any(|answer| has_impossible_answer(module, answer));
    let outcome = outcome(module, &run.end).filter(|_| !run.of_one_run && !run.guessed && !by_chance && !misled)?;
    match outcome {
        Outcome::Error { kind: ErrorKind::NullPointer | ErrorKind::DivisionByZero, .. } => Some(outcome),
        Outcome::Error { kind: ErrorKind::Assert | ErrorKind::Abort, .. } => Some(outcome),
        Outcome::Error { .. } => None,
        _ => Some(outcome),
    }
}

/// Returns true if an external function answered with a value that its type does not have.
fn has_impossible_answer(module: &Module, answer: &EnvironmentInput) -> bool {
    let func = module.function_named(&answer.name).filter(|_| answer.source == InputSource::External);
    match func.map(|func| &module.types[module.functions[func].result_data]) {
        Some(DataType::Int { .. } | DataType::Enum { .. } | DataType::Float { .. }) | None => false,
        Some(DataType::Bool { .. }) => answer.bytes.iter().any(|byte| *byte > 1),
        Some(_) => answer.pointers.is_empty() && answer.bytes.iter().any(|byte| *byte != 0),
    }
}

/// Returns the outcome of a run; `None` if it is no proper end.
fn outcome(module: &Module, end: &End) -> Option<Outcome> {
    Some(match end {
        End::Returned(_) => Outcome::Returned,
        End::Threw { class, .. } => Outcome::Threw { class: module.class_name(*class) },
        End::Exited(status) => Outcome::Exited(*status & 0xff),
        End::Hung => Outcome::Hung,
        End::Error { kind, span } => Outcome::Error { kind: *kind, span: *span },
        End::Assumed | End::Limit(_) | End::Unsupported { .. } => return None,
    })
}
