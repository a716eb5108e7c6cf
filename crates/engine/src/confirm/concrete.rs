//! Concrete runs of test inputs in the reference interpreter: every test is confirmed there before it is believed, and
//! brute-force tests enumerate inputs through the same door.

use crate::confirm::description::ConditionOutcome;
use crate::confirm::watcher::{Watcher, Ways};
use crate::exec::executor::machine_templates::Machines;
use touchstone_base::Span;
use touchstone_criteria::{
    Call as SeenCall, EarlierCall, Expected, Given, GoalId, Left, MadeInput, NamedValue, ObjectInput, Row, TestCase,
    TestKind, Watch,
};
use touchstone_interp::{
    End, Layout, Limits, Machine, ObjectId, ObjectKind, Observer, PathRecorder, Provided, Unrunnable, Value,
};
use touchstone_ir::{
    DataType, DataTypeId, DataValue, DecisionId, FuncId, Function, GlobalId, InputSource, Linkage, Module, Param,
    PointerTarget, Stands, Tail, Ty, mask, sign_extend,
};

/// So many things that a result leads to are told, and so many elements of one.
const MOST_REACHED: usize = 16;
/// So many characters of a text.
const MOST_CHARACTERS: u64 = 4096;
/// So many elements at the end of an object, and so many if they are bytes, which a text may be made of.
const MOST_ELEMENTS: u64 = 64;
const MOST_BYTES: u64 = 512;

/// One complete evaluation of a decision of a function.
pub type SeenRow = (FuncId, DecisionId, Row);

/// What a concrete run showed.
#[derive(Clone, PartialEq, Debug)]
pub struct ConcreteRun {
    /// How it ended.
    pub end: End,
    /// Identity of the path.
    pub path: u64,
    /// Result, final memory and output.
    pub expected: Expected,
    /// What the calls before the last one returned, as far as they did.
    pub earlier: Vec<Option<DataValue>>,
    /// By object of the call, whether the run ended its life.
    pub freed: Vec<bool>,
    /// Inputs that a program asked for, with what it got.
    pub requested: Vec<MadeInput>,
    /// Goals that it reached.
    pub hits: Vec<GoalId>,
    /// Evaluations of watched decisions.
    pub rows: Vec<SeenRow>,
    /// The ways on that it took at branches, each with how often, roughly; only if they were asked for.
    pub ways: Vec<u64>,
    /// How conditions of the source came out, in order; only if they were asked for.
    pub conditions: Vec<ConditionOutcome>,
    /// Different numbers that it compared; only if its ways were asked for.
    pub compared: Vec<(u64, u64)>,
    /// The oracle, if there is one and the run returned, accepts the result.
    pub accepted: bool,
    /// It did something that traps on common machines: the least number divided by -1.
    pub traps: bool,
    /// It did something whose results are only known of one run of a whole program.
    pub of_one_run: bool,
    /// It turned a pointer into a number. What depends on which number is not there: a path that does ends as
    /// unsupported, and a value that does is undefined.
    pub shows_addresses: bool,
    /// A number of the inputs was an address by chance.
    pub guessed: bool,
    /// The variable argument that ended it because nobody passed it.
    pub missed: Option<MissedArgument>,
}

/// A variable argument that a program wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissedArgument {
    /// The object of the test that the others are in.
    pub object: usize,
    /// Its number among them, from 0.
    pub index: usize,
    /// The member of the union that it would be.
    pub member: usize,
}

/// What to look at in a concrete run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look<'a> {
    /// Goals to watch.
    pub watch: Option<&'a Watch>,
    /// By goal, whether it is worth the time; all are if this is `None`. Others may be missing among the hits.
    pub wanted: Option<&'a [bool]>,
    /// The function that judges the result.
    pub oracle: Option<FuncId>,
    /// Limits.
    pub limits: Limits,
    /// Whether it says which ways it took.
    pub ways: Ways,
    /// Nobody asks what it leaves: nothing is expected of it.
    pub hits_only: bool,
}

/// The inputs of one call, as in [`touchstone_criteria::TestKind::Function`].
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Calls before it.
    pub earlier: &'a [EarlierCall],
    /// Values of the parameters.
    pub params: &'a [NamedValue],
    /// Globals to set.
    pub globals: &'a [NamedValue],
    /// Objects to make.
    pub objects: &'a [ObjectInput],
    /// Answers to what is asked for on the way.
    pub answers: &'a [MadeInput],
}

/// Runs a test once more and looks at what it does.
pub fn watch_test(machines: &Machines<'_>, func: FuncId, test: &TestCase, look: Look<'_>) -> ConcreteRun {
    watch_kind(machines, func, &test.kind, &test.answers, look)
}

/// Runs a test that is being made.
pub fn watch_kind(
    machines: &Machines<'_>,
    func: FuncId,
    kind: &TestKind,
    answers: &[MadeInput],
    look: Look<'_>,
) -> ConcreteRun {
    match kind {
        TestKind::Function { earlier, params, globals, objects } => {
            let call = Call { earlier, params, globals, objects, answers };
            wherever_objects_lie(|layout| run_call(machines, func, call, look, layout))
        }
        TestKind::Program => wherever_objects_lie(|layout| run_entry(machines, func, answers, look, layout)),
    }
}

/// Calls a function on concrete inputs.
pub fn run_function(module: &Module, func: FuncId, call: Call<'_>, limits: Limits) -> ConcreteRun {
    watch_function(module, func, call, Look { limits, ..Look::default() })
}

/// Calls a function on concrete inputs and looks at what it does.
pub fn watch_function(module: &Module, func: FuncId, call: Call<'_>, look: Look<'_>) -> ConcreteRun {
    let machines = Machines::of(module);
    wherever_objects_lie(|layout| run_call(&machines, func, call, look, layout))
}

/// What a run does wherever objects lie. One that turns pointers into numbers is repeated with other addresses.
fn wherever_objects_lie(run: impl Fn(Layout) -> ConcreteRun) -> ConcreteRun {
    let mut first = run(Layout::Close);
    if !first.shows_addresses {
        return first;
    }
    let second = run(Layout::Apart);
    first.expected = common(first.expected, &second.expected);
    let ends_alike = match (&first.end, &second.end) {
        // The result is a part of what is expected.
        (End::Returned(_), End::Returned(_)) => true,
        (first, second) => first == second,
    };
    let expected = common(second.expected, &first.expected);
    let alike = ConcreteRun { end: first.end.clone(), expected, ..second } == first;
    let differs = !ends_alike || !alike;
    if differs && !matches!(first.end, End::Unsupported { .. }) {
        first.end = End::Unsupported { what: Unrunnable::AddressAsNumber, span: Span::none() };
    }
    first
}

/// What two runs have in common; what differs is undefined.
fn common(first: Expected, second: &Expected) -> Expected {
    let named =
        |first: NamedValue, second: &NamedValue| NamedValue { value: same(first.value, &second.value), ..first };
    let call = |first: SeenCall, second: &SeenCall| SeenCall {
        arguments: all_same(first.arguments, &second.arguments),
        ..first
    };
    Expected {
        result: first.result.zip(second.result.as_ref()).map(|(first, second)| same(first, second)),
        reached: match first.reached.iter().map(|part| &part.name).eq(second.reached.iter().map(|part| &part.name)) {
            true => {
                first.reached.into_iter().zip(&second.reached).map(|(first, second)| named(first, second)).collect()
            }
            false => Vec::new(),
        },
        objects: first
            .objects
            .into_iter()
            .zip(&second.objects)
            .map(|(first, second)| all_same(first, second))
            .collect(),
        globals: first.globals.into_iter().zip(&second.globals).map(|(first, second)| named(first, second)).collect(),
        calls: first
            .calls
            .zip(second.calls.as_ref())
            .map(|(first, second)| first.into_iter().zip(second).map(|(first, second)| call(first, second)).collect()),
        left: first.left,
        output: first.output,
        noticed: first.noticed,
    }
}

fn all_same(first: Vec<DataValue>, second: &[DataValue]) -> Vec<DataValue> {
    first.into_iter().zip(second).map(|(first, second)| same(first, second)).collect()
}

fn same(first: DataValue, second: &DataValue) -> DataValue {
    match (first, second) {
        (DataValue::Array(first), DataValue::Array(second)) => DataValue::Array(all_same(first, second)),
        (DataValue::Struct(first), DataValue::Struct(second)) => DataValue::Struct(all_same(first, second)),
        (DataValue::Member(member, first), DataValue::Member(other, second)) if member == *other => {
            DataValue::Member(member, Box::new(same(*first, second)))
        }
        (first, second) if first == *second => first,
        _ => DataValue::Undefined,
    }
}

fn run_call(machines: &Machines<'_>, func: FuncId, call: Call<'_>, look: Look<'_>, layout: Layout) -> ConcreteRun {
    let module = machines.module();
    let mut run = Run::given(module, machines.machine(look.limits, layout), call);
    let known = call.earlier.iter().filter_map(|call| Some((module.function_named(&call.function)?, &*call.params)));
    let mut calls: Vec<ReadyCall> = known.map(|(id, params)| run.ready(id, params)).collect();
    calls.push(run.ready(func, call.params));
    let before = if look.hits_only { Vec::new() } else { run.snapshot(machines.shown()) };
    let mut observed = observed(&mut run.machine, &calls, look);
    let end = observed.ends.pop().unwrap_or(End::Returned(None));
    let earlier = calls.iter().zip(&observed.ends).map(|(call, end)| run.result_of(call, end)).collect();
    let seen = seen(&run.machine, observed, end, call.answers);
    let last @ ReadyCall { args, result_object, .. } = &calls[calls.len() - 1];
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
    let missed = run.machine.missed_argument().and_then(|(object, offset, member)| {
        let object = run.objects.iter().position(|known| *known == object)?;
        let step = run.size(call.objects[object].element);
        Some(MissedArgument { object, index: usize::try_from(offset).ok()?.checked_div(step as usize)?, member })
    });
    // What is expected may be one: a pointer that was written into bytes.
    let shows_addresses = seen.shows_addresses || run.machine.shows_addresses();
    ConcreteRun { expected, earlier, accepted, freed, missed, shows_addresses, ..seen }
}

/// What machine and observer tell of a run that took these inputs.
fn seen(machine: &Machine<'_>, observed: Observed, end: End, inputs: &[MadeInput]) -> ConcreteRun {
    let Observed { recorder, hits, rows, ways, conditions, compared, .. } = observed;
    // What gets there of an output that fails is the library's to say.
    let fails = inputs.iter().any(MadeInput::is_failing_output);
    ConcreteRun {
        expected: Expected { output: (!fails).then(|| recorder.output.clone()), ..Expected::default() },
        path: recorder.finish(&end).value(),
        end,
        earlier: Vec::new(),
        freed: Vec::new(),
        requested: requested(machine, inputs),
        hits,
        rows,
        ways,
        conditions,
        compared,
        accepted: true,
        traps: machine.traps(),
        of_one_run: machine.is_of_one_run(),
        shows_addresses: machine.shows_addresses(),
        missed: None,
        guessed: machine.guesses_addresses(),
    }
}

/// A call with everything made that it needs.
pub(crate) struct ReadyCall {
    func: FuncId,
    pub args: Vec<Value>,
    /// Where an aggregate result goes.
    result_object: Option<ObjectId>,
}

/// What was seen of some calls.
#[derive(Default)]
struct Observed {
    /// How they ended, up to the first that does not return.
    ends: Vec<End>,
    recorder: PathRecorder,
    hits: Vec<GoalId>,
    rows: Vec<SeenRow>,
    ways: Vec<u64>,
    conditions: Vec<ConditionOutcome>,
    compared: Vec<(u64, u64)>,
}

/// Makes calls one after the other, as long as they return.
fn make_calls(machine: &mut Machine<'_>, calls: &[ReadyCall], observer: &mut impl Observer) -> Vec<End> {
    let mut ends = Vec::new();
    for call in calls {
        let end = machine.call(call.func, &call.args, observer);
        // What depends on where objects lie is no test of another program than this one.
        let end = match machine.depends_on_layout() {
            true => End::Unsupported { what: Unrunnable::PointerOrder, span: Span::none() },
            false => end,
        };
        let returned = matches!(end, End::Returned(_));
        ends.push(end);
        if !returned {
            break;
        }
    }
    ends
}

/// Calls under a watcher, or only under a recorder where nothing is watched.
fn observed(machine: &mut Machine<'_>, calls: &[ReadyCall], look: Look<'_>) -> Observed {
    match look.watch {
        None => {
            let mut recorder = PathRecorder::default();
            let ends = make_calls(machine, calls, &mut recorder);
            Observed { ends, recorder, ..Observed::default() }
        }
        Some(watch) => {
            let mut watcher = Watcher::new(watch, look.wanted, look.ways);
            let ends = make_calls(machine, calls, &mut watcher);
            let recorder = std::mem::take(&mut watcher.recorder);
            let rows = std::mem::take(&mut watcher.rows);
            let (compared, ways, conditions) = (watcher.compared(), watcher.ways(), watcher.conditions());
            let hits = ends.last().map_or(Vec::new(), |end| watcher.hits(end));
            Observed { ends, recorder, hits, rows, ways, conditions, compared }
        }
    }
}

/// Runs a whole program; its requests for inputs are answered in order.
pub fn run_program(module: &Module, entry: FuncId, inputs: &[MadeInput], limits: Limits) -> ConcreteRun {
    watch_program(module, entry, inputs, Look { limits, ..Look::default() })
}

/// Runs a whole program and looks at what it does.
pub fn watch_program(module: &Module, entry: FuncId, inputs: &[MadeInput], look: Look<'_>) -> ConcreteRun {
    let machines = Machines::of(module);
    wherever_objects_lie(|layout| run_entry(&machines, entry, inputs, look, layout))
}

fn run_entry(
    machines: &Machines<'_>,
    entry: FuncId,
    inputs: &[MadeInput],
    look: Look<'_>,
    layout: Layout,
) -> ConcreteRun {
    let (module, mut machine) = (machines.module(), machines.machine(look.limits, layout));
    machine.provide_inputs(provided(inputs, |_| Value::NULL));
    let name = PROGRAM_NAME.bytes().chain([0]).collect();
    let words: Vec<Vec<u8>> = std::iter::once(name).chain(arguments(inputs).map(|word| word.bytes.clone())).collect();
    let args = program_arguments(&mut machine, module.functions[entry].params.len(), &words);
    let call = ReadyCall { func: entry, args, result_object: None };
    let mut observed = observed(&mut machine, &[call], look);
    let end = observed.ends.pop().unwrap_or(End::Returned(None));
    seen(&machine, observed, end, inputs)
}

/// The words that a program is called with.
fn arguments(inputs: &[MadeInput]) -> impl Iterator<Item = &MadeInput> {
    inputs.iter().filter(|input| input.is_argument())
}

/// The numbers of the allocations that fail.
fn failing(inputs: &[MadeInput]) -> impl Iterator<Item = u64> {
    inputs.iter().filter_map(|input| match input.given() {
        Given::FailingAllocation(number) => number.parse().ok(),
        _ => None,
    })
}

/// What is there for whoever asks; `lead` says where its pointers lead.
fn provided(inputs: &[MadeInput], lead: impl Fn(&PointerTarget) -> Value) -> Vec<Provided> {
    let asked = inputs.iter().filter(|input| input.is_asked_for());
    let provide = |input: &MadeInput| Provided {
        source: input.source,
        name: input.name.clone(),
        bytes: input.bytes.clone(),
        pointers: input.pointers.iter().map(|(at, target)| (*at, lead(target))).collect(),
    };
    asked.map(provide).collect()
}

/// The arguments, and everything that was asked for; beyond the answers at hand it was answered with zeros.
fn requested(machine: &Machine<'_>, inputs: &[MadeInput]) -> Vec<MadeInput> {
    let before = inputs.iter().filter(|input| !input.is_asked_for() && !input.is_mark_of_registers());
    let mut all: Vec<MadeInput> = before.cloned().collect();
    if machine.has_met_registers() {
        all.push(MadeInput::of_bytes(InputSource::Register, "", Vec::new()));
    }
    let answers: Vec<&MadeInput> = inputs.iter().filter(|input| input.is_asked_for()).collect();
    let answer = |(index, request): (usize, &touchstone_interp::InputRequest)| {
        let answer = answers.get(index);
        let mut bytes = answer.map(|input| input.bytes.clone()).unwrap_or_default();
        bytes.resize(request.size as usize, 0);
        let pointers = answer.map(|input| input.pointers.clone()).unwrap_or_default();
        let data = answer.and_then(|input| input.data);
        MadeInput { source: request.source, name: request.name.clone(), bytes, pointers, data }
    };
    all.extend(machine.requested_inputs().iter().enumerate().map(answer));
    all
}

/// The name that a program under test finds as its own in its argument list.
pub const PROGRAM_NAME: &str = "program";

/// The arguments of a program's entry function: the number of words (whose zeros at the end are given) and a
/// null-terminated list of them. Parameters beyond these are null.
pub fn program_arguments(machine: &mut Machine<'_>, params: usize, words: &[Vec<u8>]) -> Vec<Value> {
    let list = machine.alloc(8 * (words.len() as u64 + 1), "arguments", ObjectKind::Input);
    for (index, bytes) in words.iter().enumerate() {
        let text = machine.alloc(bytes.len() as u64, "argument", ObjectKind::Input);
        // Both objects were just made with these sizes.
        let _ = machine.write_bytes(text, 0, bytes);
        let _ = machine.write_value(list, 8 * index as i64, Ty::Ptr, Value::ptr(text, 0));
    }
    let _ = machine.write_value(list, 8 * words.len() as i64, Ty::Ptr, Value::NULL);
    let all = [Value::Int(words.len() as u64), Value::ptr(list, 0)];
    all.into_iter().chain(std::iter::repeat(Value::NULL)).take(params).collect()
}

pub(crate) struct Run<'m> {
    module: &'m Module,
    pub machine: Machine<'m>,
    objects: Vec<ObjectId>,
}

type Snapshot = Vec<(GlobalId, Vec<Option<u8>>)>;

impl<'m> Run<'m> {
    /// A machine as at program start, in which all becomes what a test makes it before its call.
    pub(crate) fn given(module: &'m Module, machine: Machine<'m>, call: Call<'_>) -> Run<'m> {
        let mut run = Run { module, machine, objects: Vec::new() };
        for object in call.objects {
            let size = run.size_of(object);
            let kind = if object.on_heap { ObjectKind::Heap } else { ObjectKind::Input };
            let id = run.machine.alloc(size, &object.name, kind);
            run.clear(id, size);
            run.objects.push(id);
        }
        for (index, object) in call.objects.iter().enumerate() {
            if module.pointee(object.element).stands == Stands::Arguments {
                run.machine.keep_arguments(run.objects[index]);
            }
            let step = run.size(object.element);
            for (at, value) in object.values.iter().enumerate() {
                run.write(run.objects[index], at as u64 * step, object.element, value);
            }
        }
        let provided = provided(call.answers, |target| run.pointer(target));
        run.machine.provide_inputs(provided);
        run.machine.map_registers();
        failing(call.answers).for_each(|number| run.machine.fail_allocation(number));
        for global in call.globals {
            if let Some(id) = module.global_named(&global.name) {
                let object = run.machine.global_object(id);
                // A constant of another file has the value that the test gives it.
                let fixed = run.machine.unlock(object);
                run.clear(object, run.size(global.data));
                run.write(object, 0, global.data, &global.value);
                if fixed {
                    run.machine.lock(object);
                }
            }
        }
        run
    }

    fn size(&self, data: DataTypeId) -> u64 {
        self.module.types[data].size(&self.module.types)
    }

    fn size_of(&self, object: &ObjectInput) -> u64 {
        let (types, one) = (&self.module.types, &self.module.types[object.element]);
        match object.values.as_slice() {
            [only] => one.size_with(only, types),
            values => one.size(types) * values.len() as u64,
        }
    }

    /// A call with its arguments, and with room for its result.
    pub(crate) fn ready(&mut self, func: FuncId, params: &[NamedValue]) -> ReadyCall {
        let function = &self.module.functions[func];
        let (mut args, mut result_object) = (Vec::new(), None);
        if function.aggregate_result {
            let object = self.machine.alloc(self.size(function.result_data), "result", ObjectKind::Input);
            result_object = Some(object);
            args.push(Value::ptr(object, 0));
        }
        for (param, input) in function.params.iter().skip(args.len()).zip(params) {
            let value = self.argument(param.aggregate, input);
            args.push(self.in_register(value, param, function));
        }
        if args.len() < function.params.len() && function.variadic {
            args.push(Value::NULL);
        }
        ReadyCall { func, args, result_object }
    }

    /// An argument in a register that may be wider than the values of its type.
    fn in_register(&self, value: Value, param: &Param, function: &Function) -> Value {
        match (value, &self.module.types[param.data], function.regs[param.reg].ty) {
            (Value::Int(number), &DataType::Int { bits, signed: true, .. }, Ty::Int(wide)) if bits < wide => {
                Value::Int(mask(sign_extend(number, bits) as u64, wide))
            }
            (value, ..) => value,
        }
    }

    /// What a call returned.
    fn result_of(&self, call: &ReadyCall, end: &End) -> Option<DataValue> {
        let End::Returned(value) = end else { return None };
        match call.result_object {
            Some(object) => Some(self.read(object, 0, self.module.functions[call.func].result_data)),
            None => value.map(|value| self.scalar(value)),
        }
    }

    /// What the oracle says of the same arguments and the result, in the memory that the call left.
    fn accepts(&mut self, oracle: FuncId, args: &[Value], result: Option<Value>) -> bool {
        let params = self.module.functions[oracle].params.len();
        let args: Vec<Value> = args.iter().copied().chain(result).take(params).collect();
        if args.len() < params {
            return true;
        }
        let end = self.machine.call(oracle, &args, &mut touchstone_interp::NullObserver);
        !matches!(end, End::Returned(Some(Value::Int(0))))
    }

    fn clear(&mut self, object: ObjectId, size: u64) {
        // The object was just made with this size.
        let _ = self.machine.write_bytes(object, 0, &vec![0; size as usize]);
    }

    fn argument(&mut self, aggregate: bool, input: &NamedValue) -> Value {
        if aggregate {
            let size = self.size(input.data);
            let object = self.machine.alloc(size, &input.name, ObjectKind::Input);
            self.clear(object, size);
            self.write(object, 0, input.data, &input.value);
            return Value::ptr(object, 0);
        }
        match &input.value {
            DataValue::Int(bits) => Value::Int(*bits),
            DataValue::Pointer(target) => self.pointer(target),
            _ => Value::Int(0),
        }
    }

    fn pointer(&self, target: &PointerTarget) -> Value {
        match target {
            PointerTarget::Object { object, offset } => Value::ptr(self.objects[*object], *offset),
            PointerTarget::Global { name, offset } => match self.module.global_named(name) {
                Some(id) => Value::ptr(self.machine.global_object(id), *offset),
                None => Value::NULL,
            },
            PointerTarget::Function(name) => {
                let function = self.module.function_named(name);
                let standing = self.module.globals.iter().find(|(_, global)| global.function == function);
                match standing.filter(|_| function.is_some()) {
                    Some((id, _)) => Value::ptr(self.machine.global_object(id), 0),
                    None => Value::NULL,
                }
            }
            PointerTarget::Null | PointerTarget::Elsewhere => Value::NULL,
        }
    }

    fn write(&mut self, object: ObjectId, offset: u64, data: DataTypeId, value: &DataValue) {
        let at = offset as i64;
        // Values have the shape of their type, and the object has its size: these writes are inside.
        match (&self.module.types[data], value) {
            // What is written to was cleared.
            (_, DataValue::Int(0)) => {}
            (DataType::Array { element, .. }, DataValue::Array(items)) => {
                let step = self.size(*element);
                for (index, item) in items.iter().enumerate() {
                    self.write(object, offset + index as u64 * step, *element, item);
                }
            }
            (DataType::Struct { fields, .. }, DataValue::Struct(items)) => {
                for (field, item) in fields.iter().zip(items) {
                    self.write(object, offset + field.offset, field.ty, item);
                }
            }
            (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
                self.machine.look(object, at, *member);
                self.write(object, offset, members[*member].ty, value);
            }
            (DataType::Bits { first, width, .. }, DataValue::Int(bits)) => {
                let before = self.machine.peek_bytes(object, at, self.size(data)).unwrap_or_default();
                let word = |sum, (index, byte): (usize, &Option<u8>)| sum | u64::from(byte.unwrap_or(0)) << (8 * index);
                let mut bytes = before.iter().enumerate().fold(0, word);
                bytes &= !(mask(u64::MAX, *width) << first);
                bytes |= mask(*bits, *width) << first;
                let _ = self.machine.write_bytes(object, at, &bytes.to_le_bytes()[..before.len()]);
            }
            (scalar, DataValue::Int(bits)) => {
                let ty = Ty::Int(8 * scalar.size(&self.module.types) as u8);
                let _ = self.machine.write_value(object, at, ty, Value::Int(*bits));
            }
            (_, DataValue::Pointer(target)) => {
                let value = match (target, self.leads_to_arguments(data)) {
                    // A list without arguments is a list.
                    (PointerTarget::Null, true) => {
                        let none = self.machine.alloc(0, "arguments", ObjectKind::Input);
                        self.machine.keep_arguments(none);
                        Value::ptr(none, 0)
                    }
                    _ => self.pointer(target),
                };
                let _ = self.machine.write_value(object, at, Ty::Ptr, value);
            }
            _ => {}
        }
    }

    fn leads_to_arguments(&self, data: DataTypeId) -> bool {
        match self.module.types[data] {
            DataType::Pointer { pointee, .. } => self.module.pointee(pointee).stands == Stands::Arguments,
            _ => false,
        }
    }

    /// What globals hold before the call.
    fn snapshot(&self, shown: &[GlobalId]) -> Snapshot {
        shown.iter().map(|id| (*id, self.bytes(*id, self.module.globals[*id].size))).collect()
    }

    fn bytes(&self, id: GlobalId, size: u64) -> Vec<Option<u8>> {
        self.machine.peek_bytes(self.machine.global_object(id), 0, size).unwrap_or_default()
    }

    fn expected(&self, call: Call<'_>, last: &ReadyCall, before: &Snapshot, seen: &ConcreteRun) -> Expected {
        let End::Returned(value) = &seen.end else {
            return Expected { left: self.left(), ..seen.expected.clone() };
        };
        let result = self.result_of(last, &seen.end);
        let objects = call.objects.iter().enumerate().map(|(index, object)| {
            let step = self.size(object.element);
            (0..object.values.len() as u64).map(|at| self.read_whole(index, at * step, object)).collect()
        });
        let objects = objects.collect();
        let mut globals = Vec::new();
        for (id, bytes) in before {
            let global = &self.module.globals[*id];
            let input = call.globals.iter().any(|input| input.name == global.name);
            if input || self.bytes(*id, global.size) != *bytes {
                let value = self.read(self.machine.global_object(*id), 0, global.data);
                globals.push(NamedValue { name: global.name.clone(), data: global.data, value });
            }
        }
        let reached =
            value.map_or(Vec::new(), |value| self.reached(value, self.module.functions[last.func].result_data));
        let (calls, output) = (self.calls(), seen.expected.output.clone());
        let left = self.left();
        Expected { result, reached, objects, globals, calls, left, output, noticed: Vec::new() }
    }

    /// What a result leads to that is neither an object of the test nor a global.
    pub(crate) fn reached(&self, result: Value, data: DataTypeId) -> Vec<NamedValue> {
        let types = &self.module.types;
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        let mut open = vec![(String::new(), result, data)];
        while let Some((name, value, data)) = open.pop()
            && found.len() < MOST_REACHED
        {
            let (Value::Ptr(pointer), DataType::Pointer { pointee, .. }) = (value, &types[data]) else { continue };
            let elsewhere = self.target(value) == DataValue::Pointer(PointerTarget::Elsewhere);
            let (size, room) = (self.size(*pointee), self.machine.object(pointer.object).size);
            let (Ok(offset), false) = (u64::try_from(pointer.offset), seen.contains(&pointer.object)) else { continue };
            let is_array = matches!(types[*pointee], DataType::Array { .. });
            let tail = types[*pointee].count(types).map(|count| count.tail);
            let count = match tail {
                // It is one object, with all that is behind its fields.
                Some(_) => u64::from(room.saturating_sub(offset) >= size),
                None => room.saturating_sub(offset).checked_div(size).unwrap_or(0),
            };
            if !elsewhere || is_array || count == 0 {
                continue;
            }
            seen.push(pointer.object);
            let most = if size == 1 { MOST_CHARACTERS } else { MOST_REACHED as u64 };
            let element = |at| self.read(pointer.object, offset + at * size, *pointee);
            let mut values: Vec<DataValue> = (0..count.min(most)).map(element).collect();
            if let (Some(tail), [DataValue::Struct(fields)]) = (tail, values.as_mut_slice())
                && let Some(last) = fields.last_mut()
            {
                *last = self.elements(pointer.object, offset, tail, room);
            }
            if let (1, Some(end)) = (size, values.iter().position(|value| *value == DataValue::Int(0))) {
                values.truncate(end + 1);
            }
            if count == 1 {
                self.pointers_in(pointer.object, offset, *pointee, &name, &mut open);
            }
            let value = if values.len() == 1 { values.remove(0) } else { DataValue::Array(values) };
            found.push(NamedValue { name, data: *pointee, value });
        }
        found
    }

    /// The elements at the end of an object, as many as it has room for or are told.
    fn elements(&self, object: ObjectId, offset: u64, tail: Tail, room: u64) -> DataValue {
        let types = &self.module.types;
        let inside = |at: &u64| offset.saturating_add(tail.end(at + 1, types)) <= room;
        let element = |at| self.read(object, offset + tail.end(at, types), tail.element);
        let most = if self.size(tail.element) == 1 { MOST_BYTES } else { MOST_ELEMENTS };
        DataValue::Array((0..most).take_while(inside).map(element).collect())
    }

    /// The pointers in a structure that are reached by `name`.
    fn pointers_in(
        &self,
        object: ObjectId,
        offset: u64,
        data: DataTypeId,
        name: &str,
        open: &mut Vec<(String, Value, DataTypeId)>,
    ) {
        let DataType::Struct { fields, .. } = &self.module.types[data] else { return };
        let named = fields.iter().filter(|field| !field.name.is_empty());
        for field in named.filter(|field| matches!(self.module.types[field.ty], DataType::Pointer { .. })) {
            let separator = if name.is_empty() { "" } else { ">" };
            if let Ok(value) = self.machine.read_value(object, (offset + field.offset) as i64, Ty::Ptr) {
                open.push((format!("{name}{separator}{}", field.name), value, field.ty));
            }
        }
    }

    /// An element of an object, with as many elements at its end as the object has.
    fn read_whole(&self, index: usize, offset: u64, object: &ObjectInput) -> DataValue {
        let types = &self.module.types;
        let mut value = self.read(self.objects[index], offset, object.element);
        let before = match object.values.as_slice() {
            [DataValue::Struct(fields)] => fields.last(),
            _ => None,
        };
        if let (Some(tail), Some(DataValue::Array(elements)), DataValue::Struct(fields)) =
            (types[object.element].tail(types), before, &mut value)
            && let Some(last) = fields.last_mut()
        {
            let element = |at| self.read(self.objects[index], offset + tail.end(at, types), tail.element);
            *last = DataValue::Array((0..elements.len() as u64).map(element).collect());
        }
        value
    }

    fn read(&self, object: ObjectId, offset: u64, data: DataTypeId) -> DataValue {
        let types = &self.module.types;
        match &types[data] {
            DataType::Array { element, length } => {
                let step = self.size(*element);
                DataValue::Array((0..*length).map(|at| self.read(object, offset + at * step, *element)).collect())
            }
            DataType::Struct { fields, .. } => DataValue::Struct(
                fields.iter().map(|field| self.read(object, offset + field.offset, field.ty)).collect(),
            ),
            DataType::Union { members, .. } => match self.machine.looked(object, offset as i64) {
                Some(member) if member < members.len() => {
                    DataValue::Member(member, Box::new(self.read(object, offset, members[member].ty)))
                }
                _ => DataValue::Undefined,
            },
            DataType::Void | DataType::OneOf { .. } | DataType::Opaque { .. } => DataValue::Undefined,
            DataType::Bits { first, width, .. } => {
                let bytes = self.machine.peek_bytes(object, offset as i64, self.size(data)).unwrap_or_default();
                let bytes: Option<Vec<u8>> = bytes.into_iter().collect();
                let mut word = [0; 8];
                match bytes.filter(|bytes| !bytes.is_empty()) {
                    Some(bytes) => {
                        word[..bytes.len()].copy_from_slice(&bytes);
                        DataValue::Int(mask(u64::from_le_bytes(word) >> first, *width))
                    }
                    None => DataValue::Undefined,
                }
            }
            DataType::Pointer { .. } => match self.machine.read_value(object, offset as i64, Ty::Ptr) {
                Ok(value) => self.target(value),
                Err(_) => DataValue::Undefined,
            },
            scalar => {
                let ty = Ty::Int(8 * scalar.size(types) as u8);
                match self.machine.read_value(object, offset as i64, ty) {
                    Ok(Value::Int(bits)) => DataValue::Int(bits),
                    _ => DataValue::Undefined,
                }
            }
        }
    }

    /// What functions left that are only described.
    fn left(&self) -> Vec<Left> {
        let lead = |(at, value): &(usize, Value)| match self.target(*value) {
            DataValue::Pointer(target) => (*at, target),
            _ => (*at, PointerTarget::Elsewhere),
        };
        let left = |left: &touchstone_interp::Left| Left {
            after: left.after,
            input: MadeInput {
                source: left.source,
                name: left.name.clone(),
                bytes: left.bytes.clone(),
                pointers: left.pointers.iter().map(lead).collect(),
                data: None,
            },
        };
        self.machine.left().iter().map(left).collect()
    }

    /// Calls of functions that nobody defines. What is no input, no global and no number is not told.
    fn calls(&self) -> Option<Vec<SeenCall>> {
        let is_function =
            |name: &str| self.module.global_named(name).is_some_and(|id| self.module.globals[id].function.is_some());
        let argument = |(value, data): (&Value, DataTypeId)| match (self.module.types.get(data), value) {
            (Some(DataType::Pointer { .. } | DataType::Array { .. }), value) => match self.target(*value) {
                DataValue::Pointer(PointerTarget::Global { name, .. }) if is_function(&name) => DataValue::Undefined,
                DataValue::Pointer(PointerTarget::Elsewhere) => DataValue::Undefined,
                known => known,
            },
            (_, Value::Int(bits)) => DataValue::Int(*bits),
            _ => DataValue::Undefined,
        };
        let call = |(name, values): &(String, Vec<Value>)| {
            let function = &self.module.functions[self.module.function_named(name)?];
            let params = function.own_params().iter().map(|param| param.data);
            let arguments = values.iter().zip(params).map(argument).collect();
            Some(SeenCall { function: name.clone(), arguments })
        };
        self.machine.calls().map(|calls| calls.iter().filter_map(call).collect())
    }

    fn scalar(&self, value: Value) -> DataValue {
        match value {
            Value::Int(bits) => DataValue::Int(bits),
            Value::Ptr(_) => self.target(value),
            Value::Undefined => DataValue::Undefined,
        }
    }

    /// Where a pointer leads; one that leads nowhere any more is as good as undefined.
    fn target(&self, value: Value) -> DataValue {
        DataValue::Pointer(match value {
            Value::Int(0) => PointerTarget::Null,
            Value::Ptr(pointer) => {
                if let Some(object) = self.objects.iter().position(|&object| object == pointer.object) {
                    PointerTarget::Object { object, offset: pointer.offset }
                } else {
                    match self.machine.global_of(pointer.object).map(|id| &self.module.globals[id]) {
                        Some(global) if matches!(global.linkage, Linkage::External | Linkage::Internal) => {
                            PointerTarget::Global { name: global.name.clone(), offset: pointer.offset }
                        }
                        _ if !self.machine.object(pointer.object).alive => return DataValue::Undefined,
                        _ => PointerTarget::Elsewhere,
                    }
                }
            }
            Value::Int(address) => return DataValue::Int(address),
            Value::Undefined => return DataValue::Undefined,
        })
    }
}
