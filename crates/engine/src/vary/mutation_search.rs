//! Variations: inputs of tests that are there, changed a little and run in the reference interpreter.
//!
//! Paths are the wrong way to what lies behind one hard question (a checksum, a division by an input, a sum of floats) or behind
//! very many easy ones. There a run costs next to nothing, and thousands of them are as cheap as one question. Whatever shows a
//! way through the program that no run took is varied further. Nothing here is a verdict: a test is kept because its run reaches
//! what is wished for, and a run that does not says nothing.
//!
//! Deliberately not here: choices that a user narrowed (ranges, lengths, whole programs; a precondition, unless objects have classes),
//! and calls before the one under test.

use crate::config::{Calls, Config, Entry};
use crate::confirm::concrete_run::watch_kind;
use crate::confirm::description::describe;
use crate::confirm::goal_observer::Ways;
use crate::confirm::run_record::{ConcreteRun, Look};
use crate::exec::executor::machine_templates::Machines;
use crate::inputs::globals::global_inputs;
use crate::vary::candidate::Inputs;
use crate::vary::input_repair::Repair;
use crate::vary::mutation::{self, Mutator};
use crate::vary::read_parameters;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{GoalId, MadeInput, NamedValue, NotCheckable, Outcome, Replay, TestCase, TestKind, Watch};
use touchstone_interp::{End, Limits, Value};
use touchstone_ir::{DataType, DataValue, ErrorKind, FuncId, GlobalId, InputSource, Linkage, Module, mask};

/// Inputs that are varied, at most.
const MAX_POOL_INPUTS: usize = 512;

/// Instructions of one run,
const MAX_STEPS_PER_RUN: u64 = 40_000;

/// and where objects have classes: one that holds a lot is filled first.
const MAX_STEPS_WITH_CLASSES: u64 = 400_000;

/// The clock is looked at once in so many runs.
const RUNS_PER_DEADLINE_CHECK: u32 = 16;

/// What variations are to reach.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wishes {
    /// Goals without any test.
    pub untested: BTreeSet<GoalId>,
    /// Goals that only tests that go wrong cover.
    pub unreturned: BTreeSet<GoalId>,
}

impl Wishes {
    /// Those that a run fulfils.
    fn fulfilled(&self, hits: &[GoalId], outcome: &Outcome) -> Vec<GoalId> {
        let goes_wrong = matches!(outcome, Outcome::Error { .. });
        let is_wish =
            |goal: &&GoalId| self.untested.contains(*goal) || (!goes_wrong && self.unreturned.contains(*goal));
        hits.iter().filter(is_wish).copied().collect()
    }

    /// A test covers goals.
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

/// What is varied, and until when.
pub struct Variation<'a, 'm> {
    /// What runs of the program are on.
    pub machines: &'a Machines<'m>,
    /// The function under test.
    pub func: FuncId,
    /// The goals.
    pub watch: &'a Watch,
    /// What the search was asked.
    pub config: &'a Config,
    /// Stop at this time.
    pub deadline: Deadline,
    /// Elements of an object that it makes longer, at most.
    pub longest: usize,
    /// So many runs may show nothing new before it is enough.
    pub patience: u32,
    /// For every free choice.
    pub seed: u64,
    /// A parameter that stays as it is, where objects have classes.
    pub still: Option<usize>,
    /// What is run before chance decides: numbers of parameters, by their places; all others are zero.
    pub first: &'a [Vec<(usize, u64)>],
}

/// What is varied: inputs whose runs were different from all before.
#[derive(Default)]
pub struct Pool {
    inputs: Vec<Inputs>,
    /// The ways that runs took; those that went wrong apart.
    seen: FxHashSet<(u64, bool)>,
    /// So many tests were taken into account.
    tests: usize,
    /// Objects that the program makes were, too.
    made: bool,
}

impl Pool {
    /// Keeps inputs whose run took a new way; whether it did.
    fn learn(&mut self, inputs: &Inputs, run: &ConcreteRun, asked: impl FnOnce() -> Vec<usize>) -> bool {
        let returned = matches!(run.end, End::Returned(_));
        let before = self.seen.len();
        self.seen.extend(run.ways.iter().map(|way| (*way, returned)));
        let new = self.seen.len() > before || self.inputs.is_empty();
        if new && self.inputs.len() < MAX_POOL_INPUTS {
            let (compared, asked) = (run.compared.as_slice().into(), asked().into());
            self.inputs.push(Inputs { compared, asked, ..inputs.clone() });
        }
        new
    }
}

impl<'a> Variation<'a, '_> {
    /// The program.
    pub(super) fn module(&self) -> &'a Module {
        self.machines.module()
    }

    /// Whether inputs may be whatever their types allow.
    pub fn is_possible(&self) -> bool {
        let config = self.config;
        let said = !config.ranges.is_empty() || !config.lengths.is_empty() || config.strings.is_some();
        // A precondition is asked where objects have classes: there every method with strings has one.
        let narrowed = (config.precondition.is_some() && !self.module().has_classes()) || said;
        let called = config.entry == Entry::Function && config.calls == Calls::Itself && config.oracle.is_none();
        called && !narrowed
    }

    /// Varies what is in the pool and new tests; `take` gets those that fulfil a wish, and says whether it takes them.
    pub fn run(&self, pool: &mut Pool, tests: &[TestCase], mut wishes: Wishes, take: &mut dyn FnMut(TestCase) -> bool) {
        if !self.is_possible() || wishes.is_empty() {
            return;
        }
        let mut changes = Mutator::new(self.module(), self.func, self.config, self.longest, self.seed);
        changes.still = self.still;
        let mut first = self.begin(pool, tests, &mut changes);
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
                let run = self.look(other, Ways::Forgotten);
                self.is_as_good(&run, &outcome, &fulfilled)
            });
            if self.offer(inputs, outcome, &fulfilled, &mut wishes, take) {
                unproductive_runs = 0;
            }
        }
    }

    /// Runs inputs as they are; `take` gets those that fulfil a wish, as tests, and says whether it takes them.
    pub fn run_again(&self, inputs: &[TestKind], mut wishes: Wishes, take: &mut dyn FnMut(TestCase) -> bool) {
        if !self.is_possible() {
            return;
        }
        for kind in inputs {
            if wishes.is_empty() || self.is_over() {
                return;
            }
            let (kind, compared, asked) = (kind.clone(), Rc::from([]), Rc::from([]));
            let mut inputs = Inputs { kind, answers: Vec::new(), compared, asked };
            let run = self.look(&mut inputs, Ways::Forgotten);
            let Some(outcome) = proper(self.module(), &inputs, &run) else { continue };
            let fulfilled = wishes.fulfilled(&run.hits, &outcome);
            if !fulfilled.is_empty() && self.is_allowed(&inputs.kind, &inputs.answers) {
                self.offer(inputs, outcome, &fulfilled, &mut wishes, take);
            }
        }
    }

    /// Offers inputs that fulfil wishes as a test; whether it is taken.
    fn offer(
        &self,
        inputs: Inputs,
        outcome: Outcome,
        fulfilled: &[GoalId],
        wishes: &mut Wishes,
        take: &mut dyn FnMut(TestCase) -> bool,
    ) -> bool {
        let run =
            watch_kind(self.machines, self.func, &inputs.kind, &inputs.answers, self.union_accesses(Ways::Forgotten));
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

    /// Varies tests until one of the inputs is as wished; its kind and answers. Inputs whose runs reach a goal are varied most.
    pub fn until(
        &self,
        tests: &[TestCase],
        wished: &mut dyn FnMut(&TestKind, &[MadeInput]) -> bool,
    ) -> Option<(TestKind, Vec<MadeInput>)> {
        let mut pool = Pool::default();
        let mut changes = Mutator::new(self.module(), self.func, self.config, self.longest, self.seed);
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
            let run = self.look(&mut inputs, Ways::Forgotten);
            if self.is_allowed(&inputs.kind, &run.requested) && wished(&inputs.kind, &run.requested) {
                inputs.mark_freed(&run);
                return Some((inputs.kind, run.requested));
            }
        }
        None
    }

    /// Runs inputs, and keeps them if they took a new way; whether they did.
    fn run_candidate(
        &self,
        pool: &mut Pool,
        mut inputs: Inputs,
        changes: &mut Mutator<'a>,
    ) -> (Inputs, ConcreteRun, bool) {
        let mut run = self.look(&mut inputs, Ways::Kept);
        // What it takes of variable arguments is known only when it does.
        for _ in 1..MAX_ARGUMENT_RETRIES {
            if !run.missed.is_some_and(|missed| changes.pass(missed, &mut inputs)) {
                break;
            }
            run = self.look(&mut inputs, Ways::Kept);
        }
        let asked = || match self.module().has_classes() {
            true => read_parameters::read_parameters(self.module(), self.func, &run.ways),
            false => Vec::new(),
        };
        let new = outcome(self.module(), &run.end).is_some() && pool.learn(&inputs, &run, asked);
        (inputs, run, new)
    }

    /// What is run before chance decides, the last one first: new tests, and what a caller would do with them who wants no error.
    fn begin(&self, pool: &mut Pool, tests: &[TestCase], changes: &mut Mutator<'a>) -> Vec<Inputs> {
        let mut new = self.seeds(&tests[pool.tests.min(tests.len())..]);
        if tests.is_empty() {
            new.extend(self.zeros());
        }
        pool.tests = tests.len();
        let mut first: Vec<Inputs> = new.clone();
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

    /// What tests begin with.
    fn seeds(&self, tests: &[TestCase]) -> Vec<Inputs> {
        let alone = |test: &&TestCase| matches!(test.kind, TestKind::Function { .. }) && test.earlier().is_empty();
        let (all, nothing) = (tests.iter().filter(alone), Rc::from([]));
        let inputs = |test: &TestCase| {
            let (kind, answers, compared) = (test.kind.clone(), test.answers.clone(), Rc::clone(&nothing));
            Inputs { kind, answers, compared, asked: Rc::from([]) }
        };
        all.map(inputs).take(MAX_POOL_INPUTS / 2).collect()
    }

    /// Inputs with other numbers as parameters.
    fn with_numbers(&self, mut inputs: Inputs, numbers: &[(usize, u64)]) -> Inputs {
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

    /// Zeros and null pointers, where that is all that a test needs.
    pub(super) fn zeros(&self) -> Option<Inputs> {
        let types = &self.module().types;
        let undefined = |id: &GlobalId| self.module().globals[*id].linkage == Linkage::Undefined;
        if global_inputs(self.module(), self.func).iter().any(undefined) {
            return None;
        }
        let mut params = Vec::new();
        for param in self.module().functions[self.func].own_params() {
            // What is declared as an array has an object.
            let value = match &types[param.data] {
                DataType::Array { .. } => return None,
                _ => DataValue::zero(types, param.data)?,
            };
            params.push(NamedValue { name: param.name.clone(), data: param.data, value });
        }
        let kind = TestKind::Function { earlier: Vec::new(), params, globals: Vec::new(), objects: Vec::new() };
        Some(Inputs { kind, answers: Vec::new(), compared: Rc::from([]), asked: Rc::from([]) })
    }

    fn is_over(&self) -> bool {
        let interrupted = self.config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        interrupted || self.deadline.is_over() || self.config.memory.is_some_and(|limit| limit.is_met())
    }

    /// What one run may take.
    fn limits(&self) -> Limits {
        let steps = if self.module().has_classes() { MAX_STEPS_WITH_CLASSES } else { MAX_STEPS_PER_RUN };
        Limits { steps, frames: 200, heap_bytes: 1 << 24 }
    }

    /// What a run is asked.
    fn union_accesses(&self, ways: Ways) -> Look<'a> {
        Look { watch: Some(self.watch), limits: self.limits(), ways, ..Look::default() }
    }

    /// What a run reaches. Most reach nothing new, so what they leave is not asked for.
    fn look(&self, inputs: &mut Inputs, ways: Ways) -> ConcreteRun {
        // Which objects the run frees is not known yet.
        if let TestKind::Function { objects, .. } = &mut inputs.kind {
            objects.iter_mut().for_each(|object| object.on_heap = true);
        }
        let look = Look { hits_only: true, ..self.union_accesses(ways) };
        watch_kind(self.machines, self.func, &inputs.kind, &inputs.answers, look)
    }

    /// The same with zeros, as far as that is as good.
    fn minimised(&self, mut inputs: Inputs, is_good: &mut dyn FnMut(&mut Inputs) -> bool) -> Inputs {
        let mut other = inputs.clone();
        other.answers.retain(|answer| answer.source != InputSource::Allocation);
        if other.answers.len() < inputs.answers.len() && is_good(&mut other) {
            inputs = other;
        }
        for number in 0..mutation::numbers(self.module(), &mut inputs).min(MAX_NUMBERS_MINIMISED) {
            let mut other = inputs.clone();
            if mutation::clear(self.module(), &mut other, number) && is_good(&mut other) {
                inputs = other;
            }
        }
        inputs
    }

    /// The test with its title, if it does what it says with the answers that it has: others than it began with were asked for.
    fn confirmed(&self, test: TestCase) -> Option<TestCase> {
        if !self.is_allowed(&test.kind, &test.answers) {
            return None;
        }
        let run =
            watch_kind(self.machines, self.func, &test.kind, &test.answers, self.union_accesses(Ways::Conditions));
        let alike = outcome(self.module(), &run.end).as_ref() == Some(&test.outcome);
        let holds = alike && run.hits == test.covers && run.expected == test.expected;
        let description = describe(self.module(), run.conditions.into_iter());
        holds.then_some(TestCase { description, ..test })
    }

    /// Whether callers may pass it.
    fn is_allowed(&self, kind: &TestKind, answers: &[MadeInput]) -> bool {
        let Some(name) = &self.config.precondition else { return true };
        let Some(precondition) = self.module().function_named(name) else { return false };
        let limits = self.limits();
        let run = watch_kind(self.machines, precondition, kind, answers, Look { limits, ..Look::default() });
        matches!(run.end, End::Returned(Some(Value::Int(truth))) if truth != 0)
    }

    /// Whether a run ends so and reaches that.
    fn is_as_good(&self, run: &ConcreteRun, outcome: &Outcome, wanted: &[GoalId]) -> bool {
        let alike = self::outcome(self.module(), &run.end).as_ref() == Some(outcome);
        alike && wanted.iter().all(|goal| run.hits.contains(goal))
    }

    fn test(&self, mut inputs: Inputs, run: ConcreteRun, outcome: Outcome) -> TestCase {
        inputs.mark_freed(&run);
        let volatile = run.requested.iter().any(|input| input.source == InputSource::Volatile);
        TestCase {
            id: String::new(),
            function: self.module().functions[self.func].name.clone(),
            kind: inputs.kind,
            // The program may ask for more than it was given.
            answers: run.requested,
            outcome,
            expected: run.expected,
            oracle: None,
            description: String::new(),
            path: run.path,
            covers: run.hits,
            heap: touchstone_criteria::Heap::Made,
            older: None,
            replayed: match (volatile, run.traps) {
                (true, _) => Replay::NotCheckable(NotCheckable::Volatile),
                (_, true) => Replay::NotCheckable(NotCheckable::Traps),
                _ => Replay::NotRun,
            },
        }
    }
}

/// Runs of one test that want one more variable argument.
const MAX_ARGUMENT_RETRIES: usize = 8;

/// Numbers of a test that are tried as zero.
const MAX_NUMBERS_MINIMISED: usize = 64;

/// How a run ends that others would see, too; `None` if that can't be said. An access outside of all objects is different elsewhere.
fn proper(module: &Module, inputs: &Inputs, run: &ConcreteRun) -> Option<Outcome> {
    let register = |answer: &MadeInput| answer.source == InputSource::Register;
    // A number that became an address by chance is no register.
    let by_chance = run.requested.iter().any(register) && !inputs.answers.iter().any(register);
    // Nor is one that was the answer of another function a pointer or a truth value.
    let misled = run.requested.iter().any(|answer| has_impossible_answer(module, answer));
    let outcome = outcome(module, &run.end).filter(|_| !run.of_one_run && !run.guessed && !by_chance && !misled)?;
    match outcome {
        Outcome::Error { kind: ErrorKind::NullPointer | ErrorKind::DivisionByZero, .. } => Some(outcome),
        Outcome::Error { kind: ErrorKind::Assert | ErrorKind::Abort, .. } => Some(outcome),
        Outcome::Error { .. } => None,
        _ => Some(outcome),
    }
}

/// Whether a function got an answer that its type does not have.
fn has_impossible_answer(module: &Module, answer: &MadeInput) -> bool {
    let func = module.function_named(&answer.name).filter(|_| answer.source == InputSource::External);
    match func.map(|func| &module.types[module.functions[func].result_data]) {
        Some(DataType::Int { .. } | DataType::Enum { .. } | DataType::Float { .. }) | None => false,
        Some(DataType::Bool { .. }) => answer.bytes.iter().any(|byte| *byte > 1),
        Some(_) => answer.pointers.is_empty() && answer.bytes.iter().any(|byte| *byte != 0),
    }
}

/// How a run ends; `None` if that is no proper end.
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
