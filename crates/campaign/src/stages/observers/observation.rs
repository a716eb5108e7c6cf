//! Runs of one test with observers after its call, and the values that they return.

use touchstone_criteria::{ObservationPoint, ObservedValue, ObserverArgument, Outcome, TestCase, TestKind};
use touchstone_engine::{AddressLayout, CallInputs, CallSession, End, Limits, MachineTemplates, Value};
use touchstone_front_java::classfile::Desc;
use touchstone_front_java::{ObservableType, ObservedObject, ObserverAccess, PreparedCall, StateObserver};
use touchstone_ir::{DataTypeId, DataValue, FuncId, FunctionRole, Module, Ty, mask};

/// The offset of an object's class.
const CLASS_WORD: u64 = 0;

/// A call of an observer, or a read of a field.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ObserverCall {
    /// The index of the observed object.
    pub looks: usize,
    /// The index of the method or field.
    pub probe: usize,
    /// The arguments.
    pub arguments: Vec<ObserverArgument>,
}

impl ObserverCall {
    fn of<'p>(&self, prepared: &'p PreparedCall) -> (ObservedObject, &'p StateObserver) {
        let looks = &prepared.observers[self.looks];
        (looks.object, &looks.observers[self.probe])
    }

    /// Returns where a test asserts the observed value.
    pub fn noticing(&self, prepared: &PreparedCall) -> ObservationPoint {
        let (whose, probe) = self.of(prepared);
        let object = match whose {
            ObservedObject::Object(number) => Some(number),
            ObservedObject::Result => None,
        };
        let arguments = matches!(probe.reads, ObserverAccess::Method(_)).then(|| self.arguments.clone());
        ObservationPoint::After { object, member: probe.name.clone(), arguments }
    }
}

/// The observed result of a call.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum ObservedResult {
    /// A value that tests can expect.
    Seen(ObservedValue),
    /// An exception, by the number of its class.
    Threw(Option<u64>),
    /// No value.
    Nothing,
    /// The call does not terminate, or is not reached.
    Broken,
    /// The interpreter cannot run the call.
    Unknown,
}

/// The observations of a run.
#[derive(Clone, Debug)]
pub(super) struct ObservedRun {
    /// The results of set-up calls, by the parameter that selects them.
    pub before: Vec<(usize, ObservedResult)>,
    /// The result of the tested call.
    pub outcome: ObservedResult,
    /// The results of the observers.
    pub steps: Vec<ObservedResult>,
    /// Methods of the program that the tested call executed.
    pub called: Vec<FuncId>,
    /// The number of executed instructions.
    taken: u64,
    /// True if the result is an object that the test did not construct.
    is_new: bool,
}

impl ObservedRun {
    /// Returns true if the run has the expected outcome.
    pub fn fits(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Returned => matches!(self.outcome, ObservedResult::Seen(_) | ObservedResult::Nothing),
            Outcome::Threw { .. } => matches!(self.outcome, ObservedResult::Threw(_)),
            _ => false,
        }
    }

    /// Returns true if the result is observed as an object of its own.
    pub fn result_is_new(&self) -> bool {
        self.is_new
    }

    fn observed_results(&self) -> impl Iterator<Item = &ObservedResult> {
        self.before.iter().map(|(_, result)| result).chain([&self.outcome]).chain(&self.steps)
    }

    /// Returns true if an observer distinguishes two runs.
    pub fn differs_at(&self, other: &ObservedRun, at: usize) -> bool {
        match (self.steps.get(at), other.steps.get(at)) {
            (Some(one), Some(other)) => {
                one != other && *one != ObservedResult::Unknown && *other != ObservedResult::Unknown
            }
            _ => false,
        }
    }

    /// Returns true if a test with the same observers distinguishes two runs.
    pub fn differs(&self, other: &ObservedRun) -> bool {
        let first = self.observed_results().zip(other.observed_results()).find(|(one, other)| one != other);
        first.is_some_and(|(one, other)| *one != ObservedResult::Unknown && *other != ObservedResult::Unknown)
    }
}

/// Runs one test with observers.
pub(super) struct ObservedTest<'a, 'm> {
    machines: &'a MachineTemplates<'m>,
    prepared: &'a PreparedCall,
    call: CallInputs<'a>,
    /// The values of parameters, and the objects of the fixture.
    params: Vec<Value>,
    objects: Vec<Value>,
}

impl<'a, 'm> ObservedTest<'a, 'm> {
    pub fn new(
        machines: &'a MachineTemplates<'m>,
        module: &Module,
        prepared: &'a PreparedCall,
        test: &'a TestCase,
    ) -> Option<ObservedTest<'a, 'm>> {
        let TestKind::Function { earlier, params, globals, objects } = &test.kind else { return None };
        if !earlier.is_empty() {
            return None;
        }
        let call = CallInputs { earlier, params, globals, objects, answers: &test.answers };
        let (following, end) =
            CallSession::begin(machines, module, prepared.func, call, Limits::default(), AddressLayout::Compact);
        let objects = prepared.objects.iter().map(|place| following.global(*place, Ty::Ptr)).collect();
        let params = following.params;
        matches!(end, End::Returned(_)).then_some(ObservedTest { machines, prepared, call, params, objects })
    }

    /// Returns the choice that a parameter makes.
    pub fn chosen(&self, selector: usize) -> usize {
        match self.params.get(selector) {
            Some(Value::Int(number)) => *number as usize,
            _ => 0,
        }
    }

    /// Returns a value that can be passed again, or `None` if it is null or undefined.
    pub fn value(&self, again: &ObserverArgument) -> Option<Value> {
        let value = match again {
            ObserverArgument::Param(at) => self.params.get(*at).copied(),
            ObserverArgument::Object(number) => {
                self.objects.get(*number).copied().filter(|value| *value != Value::NULL)
            }
            ObserverArgument::Number(_, DataValue::Int(number)) => Some(Value::Int(*number)),
            ObserverArgument::Number(..) => None,
        };
        value.filter(|value| *value != Value::Undefined)
    }

    /// Returns true if two observers read the same of the same object.
    pub fn is_same(&self, one: &ObserverCall, other: &ObserverCall) -> bool {
        let ((whose, probe), (others, asked)) = (one.of(self.prepared), other.of(self.prepared));
        let is_same_object = match (whose, others) {
            (ObservedObject::Object(one), ObservedObject::Object(other)) => {
                one == other || self.objects.get(one).is_some_and(|object| self.objects.get(other) == Some(object))
            }
            (ObservedObject::Result, ObservedObject::Result) => true,
            _ => false,
        };
        is_same_object && probe.name == asked.name && probe.takes == asked.takes && one.arguments == other.arguments
    }

    /// Returns the data type of an integer.
    pub fn data_of(&self, desc: &Desc) -> Option<DataTypeId> {
        let wanted = if *desc == Desc::Long { "java.lang.Long" } else { "java.lang.Integer" };
        self.prepared.boxes.iter().find(|known| known.name == wanted).map(|known| known.data)
    }

    /// Returns the limits of a run that should be similar to another one.
    pub fn limits(&self, right: &ObservedRun) -> Limits {
        Limits { steps: 20 * right.taken + 20_000, frames: 1_000, heap_bytes: 256 << 20 }
    }

    /// Runs the test with observers after its call.
    pub fn run(&self, module: &Module, steps: &[ObserverCall], layout: AddressLayout) -> ObservedRun {
        self.run_in(module, steps, Limits::default(), layout)
    }

    /// Runs the test within limits.
    pub fn run_within(&self, module: &Module, steps: &[ObserverCall], limits: Limits) -> ObservedRun {
        self.run_in(module, steps, limits, AddressLayout::Compact)
    }

    fn run_in(&self, module: &Module, steps: &[ObserverCall], limits: Limits, layout: AddressLayout) -> ObservedRun {
        let (mut following, end) =
            CallSession::begin(self.machines, module, self.prepared.func, self.call, limits, layout);
        let mut run = ObservedRun {
            before: Vec::new(),
            outcome: ended(&end).unwrap_or(ObservedResult::Nothing),
            steps: Vec::new(),
            called: Vec::new(),
            taken: following.steps(),
            is_new: false,
        };
        if !matches!(end, End::Returned(_)) {
            return run;
        }
        let objects: Vec<Value> = self.prepared.objects.iter().map(|place| following.global(*place, Ty::Ptr)).collect();
        let look = ValueDescriber { module, prepared: self.prepared, objects: &objects };
        for call in &self.prepared.calls {
            let gives = self.chosen(call.selector).checked_sub(1).and_then(|number| call.gives.get(number));
            let Some(gives) = gives.filter(|gives| **gives != ObservableType::Nothing) else { continue };
            let value = following.global(call.result, ty_of(module, gives));
            run.before.push((call.selector, look.see(&following, value, gives)));
        }
        let number = self.prepared.selector.map_or(0, |selector| self.chosen(selector));
        let Some((func, gives)) = self.prepared.tested.get(number) else { return run };
        let places = self.prepared.arguments.iter().zip(&module.functions[*func].params);
        let places = places.map(|(place, param)| following.global(*place, module.functions[*func].regs[param.reg].ty));
        let arguments: Vec<Value> = places.collect();
        let (end, called) = following.call_noting(*func, &arguments);
        run.taken += following.steps();
        run.called = called.into_iter().filter(|id| module.functions[*id].role == FunctionRole::Program).collect();
        let mut result = None;
        run.outcome = match &end {
            End::Returned(value) => {
                result = if self.prepared.constructs { arguments.first().copied() } else { *value };
                value.map_or(ObservedResult::Nothing, |value| look.see(&following, value, gives))
            }
            _ => ended(&end).unwrap_or(ObservedResult::Unknown),
        };
        run.is_new = result.is_some_and(|result| matches!(result, Value::Ptr(_)) && !objects.contains(&result));
        if matches!(run.outcome, ObservedResult::Broken | ObservedResult::Unknown) {
            return run;
        }
        for step in steps {
            let result = self.step(&look, &mut following, step, result);
            run.taken += following.steps();
            let goes_on =
                matches!(result, ObservedResult::Seen(_) | ObservedResult::Nothing | ObservedResult::Threw(_));
            run.steps.push(result);
            if !goes_on {
                break;
            }
        }
        run
    }

    /// Returns the results of observers before the call; `None` where the object does not exist yet.
    pub fn before(&self, module: &Module, steps: &[ObserverCall]) -> Vec<Option<ObservedResult>> {
        let (mut following, _) = CallSession::begin(
            self.machines,
            module,
            self.prepared.func,
            self.call,
            Limits::default(),
            AddressLayout::Compact,
        );
        let objects: Vec<Value> = self.prepared.objects.iter().map(|place| following.global(*place, Ty::Ptr)).collect();
        let look = ValueDescriber { module, prepared: self.prepared, objects: &objects };
        let result = |step: &ObserverCall| match step.of(self.prepared).0 {
            ObservedObject::Result => None,
            ObservedObject::Object(_) => Some(self.step(&look, &mut following, step, None)),
        };
        steps.iter().map(result).collect()
    }

    fn step(
        &self,
        look: &ValueDescriber<'_>,
        following: &mut CallSession<'_>,
        step: &ObserverCall,
        result: Option<Value>,
    ) -> ObservedResult {
        let (whose, probe) = step.of(self.prepared);
        let object = match whose {
            ObservedObject::Object(number) => look.objects.get(number).copied(),
            ObservedObject::Result => result,
        };
        let Some(object) = object.filter(|object| matches!(object, Value::Ptr(_))) else {
            return ObservedResult::Unknown;
        };
        match probe.reads {
            ObserverAccess::Field(offset) => {
                let value = following.at(object, offset, memory_ty(look.module, &probe.gives));
                value.map_or(ObservedResult::Unknown, |value| look.see(following, value, &probe.gives))
            }
            ObserverAccess::Method(func) => {
                let mut arguments = vec![object];
                for again in &step.arguments {
                    let value = match again {
                        ObserverArgument::Param(at) => following.params.get(*at).copied(),
                        ObserverArgument::Object(number) => look.objects.get(*number).copied(),
                        ObserverArgument::Number(_, DataValue::Int(number)) => Some(Value::Int(*number)),
                        ObserverArgument::Number(..) => None,
                    };
                    arguments.extend(value);
                }
                match following.call(func, &arguments) {
                    End::Returned(Some(value)) => look.see(following, value, &probe.gives),
                    End::Returned(None) => ObservedResult::Nothing,
                    end => ended(&end).unwrap_or(ObservedResult::Unknown),
                }
            }
        }
    }
}

/// Returns the observation of a call that did not return.
fn ended(end: &End) -> Option<ObservedResult> {
    match end {
        End::Returned(_) => None,
        End::Threw { class, .. } => Some(ObservedResult::Threw(*class)),
        End::Unsupported { .. } => Some(ObservedResult::Unknown),
        End::Assumed | End::Exited(_) | End::Hung | End::Error { .. } | End::Limit(_) => Some(ObservedResult::Broken),
    }
}

fn bits(module: &Module, data: DataTypeId) -> u8 {
    (8 * module.types[data].size(&module.types)) as u8
}

/// Returns the type of a value in a register.
fn ty_of(module: &Module, gives: &ObservableType) -> Ty {
    match gives {
        ObservableType::Value(data) if bits(module, *data) == 64 => Ty::I64,
        ObservableType::Value(_) => Ty::I32,
        _ => Ty::Ptr,
    }
}

/// Returns the type of a value in an object.
fn memory_ty(module: &Module, gives: &ObservableType) -> Ty {
    match gives {
        ObservableType::Value(data) => Ty::Int(bits(module, *data)),
        _ => Ty::Ptr,
    }
}

/// Describes values.
struct ValueDescriber<'a> {
    module: &'a Module,
    prepared: &'a PreparedCall,
    objects: &'a [Value],
}

impl ValueDescriber<'_> {
    fn see(&self, following: &CallSession<'_>, value: Value, gives: &ObservableType) -> ObservedResult {
        let seen = match (gives, value) {
            (_, Value::Undefined) | (ObservableType::Nothing, _) => None,
            (ObservableType::Value(data), Value::Int(number)) => {
                Some(ObservedValue::Value(*data, DataValue::Int(mask(number, bits(self.module, *data)))))
            }
            (ObservableType::Value(_), Value::Ptr(_)) => None,
            (_, Value::Int(0)) => Some(ObservedValue::Null),
            (_, Value::Int(_)) => None,
            (ObservableType::Aggregate(data), value) => Some(self.built(following, value, *data)),
            (ObservableType::EnumConstant(names, offset), value) => match following.at(value, *offset, Ty::I32) {
                Some(Value::Int(number)) => {
                    names.get(number as usize).map(|name| ObservedValue::Constant(name.clone()))
                }
                _ => None,
            },
            (ObservableType::Reference, value) => self.reference(following, value),
        };
        seen.map_or(ObservedResult::Unknown, ObservedResult::Seen)
    }

    fn built(&self, following: &CallSession<'_>, value: Value, data: DataTypeId) -> ObservedValue {
        if let Some(at) = following.params.iter().position(|param| *param == value) {
            return ObservedValue::Given(at);
        }
        let reached = following.reached(value, data);
        if reached.is_empty() { ObservedValue::Object } else { ObservedValue::Built(reached) }
    }

    /// Describes an object by its class.
    fn reference(&self, following: &CallSession<'_>, value: Value) -> Option<ObservedValue> {
        let Some(Value::Int(word)) = following.at(value, CLASS_WORD, Ty::I32) else { return None };
        if let Some(known) = self.prepared.boxes.iter().find(|known| known.word == word) {
            let held = following.at(value, known.offset, Ty::Int(bits(self.module, known.data)));
            let Some(Value::Int(number)) = held else { return None };
            return Some(ObservedValue::Boxed(known.name.clone(), known.data, DataValue::Int(number)));
        }
        if let Some((_, data)) = self.prepared.text.filter(|(known, _)| *known == word) {
            return Some(self.built(following, value, data));
        }
        let same = self.objects.iter().position(|object| *object == value);
        Some(same.map_or(ObservedValue::Object, ObservedValue::Same))
    }
}
