//! Runs of one test with looks after its call, and what they see.

use touchstone_criteria::{ObservationPoint, ObservedValue, ObserverArgument, Outcome, TestCase, TestKind};
use touchstone_engine::{AddressLayout, CallInputs, CallSession, End, Limits, MachineTemplates, Value};
use touchstone_front_java::classfile::Desc;
use touchstone_front_java::{ObservableType, ObservedObject, ObserverAccess, PreparedCall, StateObserver};
use touchstone_ir::{DataTypeId, DataValue, FuncId, FunctionRole, Module, Ty, mask};

/// Where the class of an object is told.
const CLASS_WORD: u64 = 0;

/// A look at an object.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Step {
    /// Which object, of those that can be looked at.
    pub looks: usize,
    /// Which of its methods and fields.
    pub probe: usize,
    /// What it is asked with.
    pub arguments: Vec<ObserverArgument>,
}

impl Step {
    fn of<'p>(&self, prepared: &'p PreparedCall) -> (ObservedObject, &'p StateObserver) {
        let looks = &prepared.observers[self.looks];
        (looks.object, &looks.observers[self.probe])
    }

    /// Where a test notices what it sees.
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

/// What a call shows.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Sight {
    /// A value that tests can expect.
    Seen(ObservedValue),
    /// An exception, by the number of its class.
    Threw(Option<u64>),
    /// Nothing.
    Nothing,
    /// It never ends, or nobody gets there.
    Broken,
    /// Nobody knows: the interpreter can't run it.
    Unknown,
}

/// What a run showed.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Results of calls that prepared objects, by the parameters that chose them.
    pub before: Vec<(usize, Sight)>,
    /// How the tested call ended, and what it gave.
    pub outcome: Sight,
    /// What the looks showed.
    pub steps: Vec<Sight>,
    /// Methods of the program that the tested call ran.
    pub called: Vec<FuncId>,
    /// How long all took.
    taken: u64,
    /// The result is an object that is none of the test's own.
    is_new: bool,
}

impl Run {
    /// Whether it is the run that a test expects.
    pub fn fits(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Returned => matches!(self.outcome, Sight::Seen(_) | Sight::Nothing),
            Outcome::Threw { .. } => matches!(self.outcome, Sight::Threw(_)),
            _ => false,
        }
    }

    /// Whether the result is to be looked at as an object of its own.
    pub fn result_is_new(&self) -> bool {
        self.is_new
    }

    fn sights(&self) -> impl Iterator<Item = &Sight> {
        self.before.iter().map(|(_, sight)| sight).chain([&self.outcome]).chain(&self.steps)
    }

    /// Whether a look tells it from another run.
    pub fn differs_at(&self, other: &Run, at: usize) -> bool {
        match (self.steps.get(at), other.steps.get(at)) {
            (Some(one), Some(other)) => one != other && *one != Sight::Unknown && *other != Sight::Unknown,
            _ => false,
        }
    }

    /// Whether tests tell two runs apart that look at the same.
    pub fn differs(&self, other: &Run) -> bool {
        let first = self.sights().zip(other.sights()).find(|(one, other)| one != other);
        first.is_some_and(|(one, other)| *one != Sight::Unknown && *other != Sight::Unknown)
    }
}

/// Runs one test, with looks.
pub(super) struct Viewer<'a, 'm> {
    machines: &'a MachineTemplates<'m>,
    prepared: &'a PreparedCall,
    call: CallInputs<'a>,
    /// Values of parameters, and objects, in a run.
    params: Vec<Value>,
    objects: Vec<Value>,
}

impl<'a, 'm> Viewer<'a, 'm> {
    pub fn new(
        machines: &'a MachineTemplates<'m>,
        module: &Module,
        prepared: &'a PreparedCall,
        test: &'a TestCase,
    ) -> Option<Viewer<'a, 'm>> {
        let TestKind::Function { earlier, params, globals, objects } = &test.kind else { return None };
        if !earlier.is_empty() {
            return None;
        }
        let call = CallInputs { earlier, params, globals, objects, answers: &test.answers };
        let (following, end) =
            CallSession::begin(machines, module, prepared.func, call, Limits::default(), AddressLayout::Compact);
        let objects = prepared.objects.iter().map(|place| following.global(*place, Ty::Ptr)).collect();
        let params = following.params;
        matches!(end, End::Returned(_)).then_some(Viewer { machines, prepared, call, params, objects })
    }

    /// What a parameter chooses.
    pub fn chosen(&self, selector: usize) -> usize {
        match self.params.get(selector) {
            Some(Value::Int(number)) => *number as usize,
            _ => 0,
        }
    }

    /// A value that may be passed once more, unless it is nothing.
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

    /// Whether two looks ask the same object the same.
    pub fn is_same(&self, one: &Step, other: &Step) -> bool {
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

    /// The type of a number.
    pub fn data_of(&self, desc: &Desc) -> Option<DataTypeId> {
        let wanted = if *desc == Desc::Long { "java.lang.Long" } else { "java.lang.Integer" };
        self.prepared.boxes.iter().find(|known| known.name == wanted).map(|known| known.data)
    }

    /// So much a run may take that should be like another one.
    pub fn limits(&self, right: &Run) -> Limits {
        Limits { steps: 20 * right.taken + 20_000, frames: 1_000, heap_bytes: 256 << 20 }
    }

    /// Runs the test with looks after its call.
    pub fn run(&self, module: &Module, steps: &[Step], layout: AddressLayout) -> Run {
        self.run_in(module, steps, Limits::default(), layout)
    }

    /// The same within limits.
    pub fn run_within(&self, module: &Module, steps: &[Step], limits: Limits) -> Run {
        self.run_in(module, steps, limits, AddressLayout::Compact)
    }

    fn run_in(&self, module: &Module, steps: &[Step], limits: Limits, layout: AddressLayout) -> Run {
        let (mut following, end) =
            CallSession::begin(self.machines, module, self.prepared.func, self.call, limits, layout);
        let mut run = Run {
            before: Vec::new(),
            outcome: ended(&end).unwrap_or(Sight::Nothing),
            steps: Vec::new(),
            called: Vec::new(),
            taken: following.steps(),
            is_new: false,
        };
        if !matches!(end, End::Returned(_)) {
            return run;
        }
        let objects: Vec<Value> = self.prepared.objects.iter().map(|place| following.global(*place, Ty::Ptr)).collect();
        let look = Look { module, prepared: self.prepared, objects: &objects };
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
                value.map_or(Sight::Nothing, |value| look.see(&following, value, gives))
            }
            _ => ended(&end).unwrap_or(Sight::Unknown),
        };
        run.is_new = result.is_some_and(|result| matches!(result, Value::Ptr(_)) && !objects.contains(&result));
        if matches!(run.outcome, Sight::Broken | Sight::Unknown) {
            return run;
        }
        for step in steps {
            let sight = self.step(&look, &mut following, step, result);
            run.taken += following.steps();
            let goes_on = matches!(sight, Sight::Seen(_) | Sight::Nothing | Sight::Threw(_));
            run.steps.push(sight);
            if !goes_on {
                break;
            }
        }
        run
    }

    /// What looks show before the call; `None` where there is no object yet.
    pub fn before(&self, module: &Module, steps: &[Step]) -> Vec<Option<Sight>> {
        let (mut following, _) = CallSession::begin(
            self.machines,
            module,
            self.prepared.func,
            self.call,
            Limits::default(),
            AddressLayout::Compact,
        );
        let objects: Vec<Value> = self.prepared.objects.iter().map(|place| following.global(*place, Ty::Ptr)).collect();
        let look = Look { module, prepared: self.prepared, objects: &objects };
        let sight = |step: &Step| match step.of(self.prepared).0 {
            ObservedObject::Result => None,
            ObservedObject::Object(_) => Some(self.step(&look, &mut following, step, None)),
        };
        steps.iter().map(sight).collect()
    }

    fn step(&self, look: &Look<'_>, following: &mut CallSession<'_>, step: &Step, result: Option<Value>) -> Sight {
        let (whose, probe) = step.of(self.prepared);
        let object = match whose {
            ObservedObject::Object(number) => look.objects.get(number).copied(),
            ObservedObject::Result => result,
        };
        let Some(object) = object.filter(|object| matches!(object, Value::Ptr(_))) else { return Sight::Unknown };
        match probe.reads {
            ObserverAccess::Field(offset) => {
                let value = following.at(object, offset, memory_ty(look.module, &probe.gives));
                value.map_or(Sight::Unknown, |value| look.see(following, value, &probe.gives))
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
                    End::Returned(None) => Sight::Nothing,
                    end => ended(&end).unwrap_or(Sight::Unknown),
                }
            }
        }
    }
}

/// How a call ended that did not return.
fn ended(end: &End) -> Option<Sight> {
    match end {
        End::Returned(_) => None,
        End::Threw { class, .. } => Some(Sight::Threw(*class)),
        End::Unsupported { .. } => Some(Sight::Unknown),
        End::Assumed | End::Exited(_) | End::Hung | End::Error { .. } | End::Limit(_) => Some(Sight::Broken),
    }
}

fn bits(module: &Module, data: DataTypeId) -> u8 {
    (8 * module.types[data].size(&module.types)) as u8
}

/// The type of a value in a register.
fn ty_of(module: &Module, gives: &ObservableType) -> Ty {
    match gives {
        ObservableType::Value(data) if bits(module, *data) == 64 => Ty::I64,
        ObservableType::Value(_) => Ty::I32,
        _ => Ty::Ptr,
    }
}

/// The type of a value in an object.
fn memory_ty(module: &Module, gives: &ObservableType) -> Ty {
    match gives {
        ObservableType::Value(data) => Ty::Int(bits(module, *data)),
        _ => Ty::Ptr,
    }
}

/// Tells what values are.
struct Look<'a> {
    module: &'a Module,
    prepared: &'a PreparedCall,
    objects: &'a [Value],
}

impl Look<'_> {
    fn see(&self, following: &CallSession<'_>, value: Value, gives: &ObservableType) -> Sight {
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
        seen.map_or(Sight::Unknown, Sight::Seen)
    }

    fn built(&self, following: &CallSession<'_>, value: Value, data: DataTypeId) -> ObservedValue {
        if let Some(at) = following.params.iter().position(|param| *param == value) {
            return ObservedValue::Given(at);
        }
        let reached = following.reached(value, data);
        if reached.is_empty() { ObservedValue::Object } else { ObservedValue::Built(reached) }
    }

    /// An object that its class tells more of.
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
