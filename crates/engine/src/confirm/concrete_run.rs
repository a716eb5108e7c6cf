//! Concrete runs of test inputs in the reference interpreter: every test is confirmed there, and brute-force tests
//! enumerate inputs by the same functions.

use crate::confirm::description::ShortenedOutcomes;
use crate::confirm::goal_observer::GoalObserver;
use crate::confirm::layout_independence::run_in_two_layouts;
use crate::confirm::machine_setup::{PreparedRun, ReadyCall, provided};
use crate::confirm::run_record::{CallInputs, ConcreteRun, EvaluatedRow, MissedArgument, RunObservation};
use crate::exec::executor::machine_templates::MachineTemplates;
use touchstone_base::Span;
use touchstone_criteria::{EnvironmentInput, Expected, GoalId, NamedValue, ObjectInput, TestCase, TestKind};
use touchstone_interp::{
    AddressLayout, End, Limits, Machine, ObjectKind, Observer, PathRecorder, UnsupportedOperation, Value,
};
use touchstone_ir::{DataValue, FuncId, InputSource, Module, Ty};

/// Runs a test again and observes it.
pub fn watch_test(
    machines: &MachineTemplates<'_>,
    func: FuncId,
    test: &TestCase,
    look: RunObservation<'_>,
) -> ConcreteRun {
    watch_kind(machines, func, &test.kind, &test.answers, look)
}

/// Runs the inputs of a test that is being built, and observes the run.
pub fn watch_kind(
    machines: &MachineTemplates<'_>,
    func: FuncId,
    kind: &TestKind,
    answers: &[EnvironmentInput],
    look: RunObservation<'_>,
) -> ConcreteRun {
    match kind {
        TestKind::Function { earlier, params, globals, objects } => {
            let call = CallInputs { earlier, params, globals, objects, answers };
            run_in_two_layouts(|layout| run_call(machines, func, call, look, layout))
        }
        TestKind::Program => run_in_two_layouts(|layout| run_entry(machines, func, answers, look, layout)),
    }
}

/// Calls a function on concrete inputs.
pub fn run_function(module: &Module, func: FuncId, call: CallInputs<'_>, limits: Limits) -> ConcreteRun {
    watch_function(module, func, call, RunObservation { limits, ..RunObservation::default() })
}

/// Calls a function on concrete inputs and observes the run.
pub fn watch_function(module: &Module, func: FuncId, call: CallInputs<'_>, look: RunObservation<'_>) -> ConcreteRun {
    let machines = MachineTemplates::of(module);
    run_in_two_layouts(|layout| run_call(&machines, func, call, look, layout))
}

fn run_call(
    machines: &MachineTemplates<'_>,
    func: FuncId,
    call: CallInputs<'_>,
    look: RunObservation<'_>,
    layout: AddressLayout,
) -> ConcreteRun {
    let module = machines.module();
    let mut run = PreparedRun::with_inputs(module, machines.machine(look.limits, layout), call);
    let before = if look.hits_only { Vec::new() } else { run.snapshot(machines.shown()) };
    let known = call.earlier.iter().filter_map(|call| Some((module.function_named(&call.function)?, &*call.params)));
    let wanted: Vec<(FuncId, &[NamedValue])> = known.chain([(func, call.params)]).collect();
    let total = wanted.len();
    let mut calls = CallsOfRun { run: &mut run, wanted, objects: call.objects, ready: Vec::new(), before: Vec::new() };
    let mut observed = observed(module, &mut calls, look);
    let CallsOfRun { ready: calls, before: constructed, .. } = calls;
    let end = observed.ends.pop().unwrap_or(End::Returned(None));
    let earlier = calls.iter().zip(&observed.ends).map(|(call, end)| run.result_of(call, end)).collect();
    let seen = seen(&run.machine, observed, end, call.answers);
    let Some(last @ ReadyCall { args, result_object, .. }) = calls.last().filter(|_| calls.len() == total) else {
        let expected = Expected { left: run.described_writes(), ..seen.expected.clone() };
        return ConcreteRun { expected, earlier, ..seen };
    };
    let expected = match look.hits_only {
        true => Expected::default(),
        false => run.expected(call, last, &before, &seen),
    };
    let accepted = match (look.oracle, &seen.end) {
        (Some(oracle), End::Returned(value)) => {
            let result = value.or(result_object.map(|object| Value::ptr(object, 0)));
            run.accepts(oracle, &args[usize::from(result_object.is_some())..], result)
        }
        _ => true,
    };
    let freed = run.objects.iter().map(|object| !run.machine.object(*object).alive).collect();
    let missed = run.machine.missing_argument().and_then(|(object, offset, member)| {
        let object = run.objects.iter().position(|known| *known == object)?;
        let step = run.size(call.objects[object].element);
        Some(MissedArgument { object, index: usize::try_from(offset).ok()?.checked_div(step as usize)?, member })
    });
    let releasable = if look.hits_only { Vec::new() } else { run.release(call.objects, &seen.end) };
    // Reading the final memory may expose an address: a pointer that was written into bytes.
    let shows_addresses = seen.shows_addresses || run.machine.shows_addresses();
    ConcreteRun { expected, earlier, constructed, releasable, accepted, freed, missed, shows_addresses, ..seen }
}

/// Combines the results of machine and observer for a run on these inputs.
fn seen(machine: &Machine<'_>, observed: Observed, end: End, inputs: &[EnvironmentInput]) -> ConcreteRun {
    let Observed { recorder, hits, rows, edges, conditions, compared, .. } = observed;
    // The library determines how much of a failing output is written.
    let fails = inputs.iter().any(EnvironmentInput::is_failing_output);
    ConcreteRun {
        expected: Expected { output: (!fails).then(|| recorder.output.clone()), ..Expected::default() },
        path: recorder.finish(&end).value(),
        end,
        earlier: Vec::new(),
        constructed: Vec::new(),
        releasable: Vec::new(),
        freed: Vec::new(),
        requested: requested(machine, inputs),
        hits,
        rows,
        edges,
        conditions,
        compared,
        accepted: true,
        traps: machine.traps(),
        of_one_run: machine.is_single_run(),
        shows_addresses: machine.shows_addresses(),
        missed: None,
        guessed: machine.guesses_addresses(),
    }
}

/// The observations of a sequence of calls.
#[derive(Default)]
struct Observed {
    /// The ends of the calls, up to the first that does not return.
    ends: Vec<End>,
    recorder: PathRecorder,
    hits: Vec<GoalId>,
    rows: Vec<EvaluatedRow>,
    edges: Vec<u64>,
    conditions: ShortenedOutcomes,
    compared: Vec<(u64, u64)>,
}

/// The calls of a run.
struct CallsOfRun<'r, 'm, 'c> {
    run: &'r mut PreparedRun<'m>,
    /// The functions and their arguments. If there are none, the first call is ready.
    wanted: Vec<(FuncId, &'c [NamedValue])>,
    objects: &'c [ObjectInput],
    /// The calls that were prepared.
    ready: Vec<ReadyCall>,
    /// The contents of constructed objects before the last call.
    before: Vec<Vec<DataValue>>,
}

impl CallsOfRun<'_, '_, '_> {
    /// Makes calls one after the other, as long as they return. A call is prepared when the calls before it have
    /// returned: its arguments may be their results.
    fn make(&mut self, observer: &mut impl Observer) -> Vec<End> {
        let mut ends = Vec::new();
        for at in 0..self.wanted.len().max(1) {
            if let Some((func, params)) = self.wanted.get(at) {
                if at + 1 == self.wanted.len() {
                    self.before = self.run.constructed(self.objects);
                }
                let ready = self.run.ready(*func, params);
                self.ready.push(ready);
            }
            let call = &self.ready[at];
            let machine = &mut self.run.machine;
            let end = machine.call(call.func, &call.args, observer);
            let of_layout = machine.depends_on_layout();
            // A result that depends on the addresses of objects is not reproducible in the compiled program.
            let end = match (of_layout, self.run.bind_created(at, call, self.objects, &end)) {
                (true, _) => End::Unsupported { what: UnsupportedOperation::PointerOrder, span: Span::none() },
                (false, false) => End::Unsupported { what: UnsupportedOperation::NoNewObject, span: Span::none() },
                (false, true) => end,
            };
            let returned = matches!(end, End::Returned(_));
            ends.push(end);
            if !returned {
                break;
            }
        }
        ends
    }
}

/// Makes calls with a goal observer, or only with a recorder if there is nothing to observe.
fn observed(module: &Module, calls: &mut CallsOfRun<'_, '_, '_>, look: RunObservation<'_>) -> Observed {
    match look.watch {
        None => {
            let mut recorder = PathRecorder::default();
            let ends = calls.make(&mut recorder);
            Observed { ends, recorder, ..Observed::default() }
        }
        Some(watch) if watch.has_points() => observed_by(GoalObserver::<true>::new(module, watch, look), calls),
        Some(watch) => observed_by(GoalObserver::<false>::new(module, watch, look), calls),
    }
}

fn observed_by<const POINTS: bool>(
    mut watcher: GoalObserver<'_, POINTS>,
    calls: &mut CallsOfRun<'_, '_, '_>,
) -> Observed {
    let ends = calls.make(&mut watcher);
    let recorder = std::mem::take(&mut watcher.recorder);
    let rows = watcher.rows();
    let (compared, edges, conditions) = (watcher.compared(), watcher.edges(), watcher.conditions());
    let hits = ends.last().map_or(Vec::new(), |end| watcher.hits(end));
    Observed { ends, recorder, hits, rows, edges, conditions, compared }
}

/// Runs a whole program; its requests for inputs are answered in order.
pub fn run_program(module: &Module, entry: FuncId, inputs: &[EnvironmentInput], limits: Limits) -> ConcreteRun {
    watch_program(module, entry, inputs, RunObservation { limits, ..RunObservation::default() })
}

/// Runs a whole program and observes it.
pub fn watch_program(
    module: &Module,
    entry: FuncId,
    inputs: &[EnvironmentInput],
    look: RunObservation<'_>,
) -> ConcreteRun {
    let machines = MachineTemplates::of(module);
    run_in_two_layouts(|layout| run_entry(&machines, entry, inputs, look, layout))
}

fn run_entry(
    machines: &MachineTemplates<'_>,
    entry: FuncId,
    inputs: &[EnvironmentInput],
    look: RunObservation<'_>,
    layout: AddressLayout,
) -> ConcreteRun {
    let (module, mut machine) = (machines.module(), machines.machine(look.limits, layout));
    machine.provide_inputs(provided(inputs, |_| Value::NULL));
    let name = PROGRAM_NAME.bytes().chain([0]).collect();
    let words: Vec<Vec<u8>> = std::iter::once(name).chain(arguments(inputs).map(|word| word.bytes.clone())).collect();
    let args = program_arguments(&mut machine, module.functions[entry].params.len(), &words);
    let ready = vec![ReadyCall { func: entry, args, result_object: None }];
    let mut run = PreparedRun { module, machine, objects: Vec::new() };
    let mut calls = CallsOfRun { run: &mut run, wanted: Vec::new(), objects: &[], ready, before: Vec::new() };
    let mut observed = observed(module, &mut calls, look);
    let end = observed.ends.pop().unwrap_or(End::Returned(None));
    seen(&run.machine, observed, end, inputs)
}

/// Returns the command-line arguments of a program.
fn arguments(inputs: &[EnvironmentInput]) -> impl Iterator<Item = &EnvironmentInput> {
    inputs.iter().filter(|input| input.is_argument())
}

/// Returns the arguments and all requested inputs; requests beyond the given answers were answered with zeros.
fn requested(machine: &Machine<'_>, inputs: &[EnvironmentInput]) -> Vec<EnvironmentInput> {
    let before = inputs.iter().filter(|input| !input.is_asked_for() && !input.marks_registers());
    let mut all: Vec<EnvironmentInput> = before.cloned().collect();
    if machine.has_met_registers() {
        all.push(EnvironmentInput::of_bytes(InputSource::Register, "", Vec::new()));
    }
    let answers: Vec<&EnvironmentInput> = inputs.iter().filter(|input| input.is_asked_for()).collect();
    let answer = |(index, request): (usize, &touchstone_interp::InputRequest)| {
        let answer = answers.get(index);
        let mut bytes = answer.map(|input| input.bytes.clone()).unwrap_or_default();
        bytes.resize(request.size as usize, 0);
        let pointers = answer.map(|input| input.pointers.clone()).unwrap_or_default();
        let data = answer.and_then(|input| input.data);
        EnvironmentInput { source: request.source, name: request.name.clone(), bytes, pointers, data }
    };
    all.extend(machine.requested_inputs().iter().enumerate().map(answer));
    all
}

/// The program's own name in its argument list.
pub const PROGRAM_NAME: &str = "program";

/// Creates the arguments of a program's entry function: the number of words (which include their terminators) and a
/// null-terminated list of them. Further parameters are null.
pub fn program_arguments(machine: &mut Machine<'_>, params: usize, words: &[Vec<u8>]) -> Vec<Value> {
    let list = machine.alloc(8 * (words.len() as u64 + 1), "arguments", ObjectKind::Input);
    for (index, bytes) in words.iter().enumerate() {
        let text = machine.alloc(bytes.len() as u64, "argument", ObjectKind::Input);
        // Both objects were just allocated with these sizes.
        let _ = machine.write_bytes(text, 0, bytes);
        let _ = machine.write_value(list, 8 * index as i64, Ty::Ptr, Value::ptr(text, 0));
    }
    let _ = machine.write_value(list, 8 * words.len() as i64, Ty::Ptr, Value::NULL);
    let all = [Value::Int(words.len() as u64), Value::ptr(list, 0)];
    all.into_iter().chain(std::iter::repeat(Value::NULL)).take(params).collect()
}
