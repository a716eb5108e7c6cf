//! Test cases from paths: inputs from a model, expected values from the confirming concrete run.

use crate::confirm::concrete_run::watch_kind;
use crate::confirm::description::{ConditionOutcome, ShortenedOutcomes};
use crate::confirm::run_record::{ConcreteRun, RunObservation};
use crate::exec::executor::Executor;
use crate::goals::coverage::{ConfirmationScope, Coverage};
use crate::state::inputs::{InputObject, MAX_INPUT_BYTES, NamedInput, TailLength};
use crate::state::memory::{Cell, address_term};
use crate::state::trail::BranchOutcome;
use crate::state::value::{Pointer, Scalar, Value};
use crate::state::{PathEnd, State};
use touchstone_base::Id;
use touchstone_criteria::{
    Bound, Disagreement, EnvironmentInput, GoalId, Incomplete, NamedValue, NotCheckable, ObjectInput, ObjectOrigin,
    Outcome, Replay, TestCase, TestKind, Unsupported,
};
use touchstone_interp::{End, LimitKind, Limits};
use touchstone_ir::{DataType, DataTypeId, DataValue, FuncId, GlobalId, InputSource, PointerTarget, mask};
use touchstone_solver::Model;

/// The minimum step limit of the run of a test from the middle of a path.
const MIN_STEP_LIMIT: u64 = 50_000;

/// Returns the number of array elements to list. For an array that is too long to be an input completely, trailing
/// zeros are omitted: they would take most of a test's memory, and unlisted elements are set to zero.
fn elements_listed(cells: &[Cell], length: u64, step: usize) -> u64 {
    if length <= MAX_INPUT_BYTES as u64 {
        return length;
    }
    let says = |cell: &Cell| !matches!(cell, Cell::Unmaterialised | Cell::Undefined | Cell::Byte(0));
    cells.iter().rposition(says).map_or(0, |last| (last / step.max(1)) as u64 + 1)
}

impl Executor<'_> {
    /// Returns the confirmed test for an ended path. `Err` if it depends on the addresses of objects, or if there is no
    /// memory to run it.
    pub(crate) fn test_case(
        &mut self,
        state: &State,
        func: FuncId,
        end: &PathEnd,
        id: String,
    ) -> Result<TestCase, Incomplete> {
        if !self.has_memory_for_test(state) {
            return Err(Incomplete::Bound(Bound::Memory));
        }
        let model = self.model_with_fitting_lengths(state, &state.path);
        let (kind, answers) = (self.test_kind(state, &model), self.answers(state, &model));
        let steps = self.config.steps.max(state.steps).saturating_mul(2);
        let attention = match &self.goal_tracker.coverage {
            Some(_) if state.composed => ConfirmationScope::Goals,
            coverage => coverage.as_ref().map_or(ConfirmationScope::Path, Coverage::attention),
        };
        let mut run = self.confirm(func, &kind, &answers, steps, attention);
        let outcome = self.outcome(end, &model);
        let path = (!state.composed).then(|| end.path(state.hash).value());
        let disagreement = self.disagreement(&run, &outcome, path, end, &model);
        if disagreement.is_some() && run.shows_addresses {
            return Err(Unsupported::AddressAsNumber.into());
        }
        if run.end == End::Limit(LimitKind::Memory) {
            return Err(Incomplete::Bound(Bound::Memory));
        }
        if attention == ConfirmationScope::Path
            && let Some(coverage) = &self.goal_tracker.coverage
        {
            run.hits = match disagreement {
                None => coverage.of_path(&state.pending, end),
                Some(_) => self.confirm(func, &kind, &answers, steps, ConfirmationScope::Goals).hits,
            };
            debug_assert!(self.sees_all(func, &kind, &answers, steps, &run.hits));
        }
        Ok(self.build_test(state, func, (kind, answers), run, outcome, disagreement, id))
    }

    /// Returns a test from the middle of a path: the inputs of a model, and whatever the interpreter does with them.
    /// `None` if that run is no proper test (a violated assumption, a limit, something unsupported).
    pub(crate) fn goal_test(
        &mut self,
        state: &State,
        model: &Model,
        func: FuncId,
        goal: GoalId,
        id: String,
    ) -> Option<TestCase> {
        if !self.has_memory_for_test(state) {
            return None;
        }
        let (mut kind, answers) = (self.test_kind(state, model), self.answers(state, model));
        // The objects that the rest of the run frees are not known yet.
        if let TestKind::Function { objects, .. } = &mut kind {
            objects.iter_mut().for_each(|object| object.on_heap = true);
        }
        // Inputs that make the run much longer than the path so far are a bad example; the end of the path may give a
        // better one.
        let run = self.confirm(func, &kind, &answers, MIN_STEP_LIMIT + 8 * state.steps, ConfirmationScope::Goals);
        let outcome = self.seen(&run.end)?;
        if let TestKind::Function { objects, .. } = &mut kind {
            objects.iter_mut().zip(&run.freed).for_each(|(object, freed)| object.on_heap = *freed);
        }
        // The program may request more than the path so far did.
        let answers = run.requested.clone();
        let missed = !run.hits.contains(&goal);
        if missed && run.shows_addresses {
            return None;
        }
        let disagreement = missed.then_some(Disagreement::GoalNotReached(goal));
        Some(self.build_test(state, func, (kind, answers), run, outcome, disagreement, id))
    }

    #[allow(clippy::too_many_arguments)]
    fn build_test(
        &self,
        state: &State,
        func: FuncId,
        (kind, answers): (TestKind, Vec<EnvironmentInput>),
        run: ConcreteRun,
        outcome: Outcome,
        disagreement: Option<Disagreement>,
        id: String,
    ) -> TestCase {
        let volatile = answers.iter().any(|input| input.source == InputSource::Volatile);
        let way = ShortenedOutcomes::of_newest_first(self.module, state.trail.outcomes().filter_map(condition));
        TestCase {
            id,
            function: self.module.functions[func].name.clone(),
            kind,
            answers,
            outcome: if run.accepted { outcome } else { Outcome::OracleRejected },
            expected: run.expected,
            oracle: self.config.oracle.clone(),
            description: way.describe(self.module),
            path: run.path,
            covers: run.hits,
            heap: touchstone_criteria::HeapOrigin::Made,
            needs_initial_state: false,
            older: None,
            replayed: match disagreement {
                Some(why) => Replay::Disagreed(why),
                None if volatile => Replay::NotCheckable(NotCheckable::Volatile),
                None if run.traps => Replay::NotCheckable(NotCheckable::Traps),
                None => Replay::NotRun,
            },
        }
    }

    /// Returns true if there is memory for a test of the path: large inputs take many times their size.
    fn has_memory_for_test(&self, state: &State) -> bool {
        /// The number of copies of a value before the call: one is kept with the suite.
        const COPIES_PER_VALUE: u64 = 2;
        /// The number of copies of an object's values, which are also stored as after the call.
        const COPIES_PER_OBJECT_VALUE: u64 = 4;
        let inputs = &state.inputs;
        let named =
            inputs.params.iter().chain(&inputs.globals).map(|input| COPIES_PER_VALUE * self.values_in(input.data));
        let values = |input: &InputObject| self.values_in(input.element).saturating_mul(input.count);
        let objects = inputs.objects.iter().map(|input| values(input).saturating_mul(COPIES_PER_OBJECT_VALUE));
        let values = named.chain(objects).fold(0u64, u64::saturating_add);
        self.has_memory_for(values, std::mem::size_of::<DataValue>() as u64)
    }

    /// Returns the number of scalar values in a type.
    fn values_in(&self, data: DataTypeId) -> u64 {
        match &self.module.types[data] {
            DataType::Array { element, length } => {
                self.values_in(*element).saturating_mul((*length).min(MAX_INPUT_BYTES as u64))
            }
            DataType::Struct { fields, .. } => {
                fields.iter().map(|field| self.values_in(field.ty)).fold(0, u64::saturating_add)
            }
            _ => 1,
        }
    }

    fn answers(&mut self, state: &State, model: &Model) -> Vec<EnvironmentInput> {
        let mut answers = Vec::new();
        for made in &state.inputs.requested {
            let given = made.given.is_none_or(|given| model.eval(&self.terms, given) == 1);
            let length = match made.length {
                _ if !given => 0,
                Some(length) => (model.eval(&self.terms, length) as usize).min(made.cells.len()),
                None => made.cells.len(),
            };
            let may_be_left_out = matches!(made.source, InputSource::Changed | InputSource::Allocation);
            if may_be_left_out && !(given && (length > 0 || made.source == InputSource::Allocation)) {
                continue;
            }
            let cells = &made.cells[..length];
            let mut bytes: Vec<u8> = cells.iter().map(|cell| self.cell_byte(*cell, model)).collect();
            let mut pointers = Vec::new();
            for (at, cell) in cells.iter().enumerate() {
                if let Cell::Pointer { value, index: 0 } = cell {
                    let target = self.points_to(state, &self.pointers.get(*value).clone(), model);
                    if target != PointerTarget::Null {
                        bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0);
                        pointers.push((at, target));
                    }
                }
            }
            let (source, name, data) = (made.source, made.name.clone(), made.data);
            answers.push(EnvironmentInput { source, name, bytes, pointers, data });
        }
        answers
    }

    fn test_kind(&mut self, state: &State, model: &Model) -> TestKind {
        if self.config.entry == crate::Entry::Program {
            return TestKind::Program;
        }
        let named = |this: &mut Self, inputs: &[std::rc::Rc<NamedInput>]| -> Vec<NamedValue> {
            let value = |input: &std::rc::Rc<NamedInput>| NamedValue {
                name: input.name.clone(),
                data: input.data,
                value: this.param_value(state, input.data, &input.cells, model),
            };
            inputs.iter().map(value).collect()
        };
        let params = named(self, &state.inputs.params);
        let globals = named(self, &state.inputs.globals);
        let mut objects: Vec<ObjectInput> = Vec::new();
        for input in &state.inputs.objects {
            let element = self.variant_of(input, model);
            let step = self.size_of(element) as usize;
            let values = (0..input.count as usize)
                .map(|at| self.data_value(state, element, &input.cells[at * step..(at + 1) * step], model));
            let mut values: Vec<DataValue> = values.collect();
            if let (Some(length), Some(value)) = (input.tail, values.first_mut()) {
                let length = match length {
                    TailLength::Fixed(length) | TailLength::Counted(Scalar::Const(length)) => length,
                    TailLength::Counted(Scalar::Term(term)) => model.eval(&self.terms, term),
                };
                self.add_tail(state, input, length, model, value);
            }
            let name = unique_name(&input.name, |name| objects.iter().any(|other| other.name == name));
            let on_heap = state.inputs.freed.contains(&input.object);
            objects.push(ObjectInput {
                name,
                element,
                values,
                is_array: input.is_array,
                on_heap,
                origin: ObjectOrigin::Values,
            });
        }
        TestKind::Function { earlier: Vec::new(), params, globals, objects }
    }

    /// A parameter declared as an array is a pointer to its object.
    fn param_value(&mut self, state: &State, data: DataTypeId, cells: &[Cell], model: &Model) -> DataValue {
        match (&self.module.types[data], cells) {
            (DataType::Array { .. }, [Cell::Pointer { value, index: 0 }, ..]) if cells.len() == 8 => {
                let value = self.pointers.get(*value).clone();
                DataValue::Pointer(self.points_to(state, &value, model))
            }
            _ => self.data_value(state, data, cells, model),
        }
    }

    fn data_value(&mut self, state: &State, data: DataTypeId, cells: &[Cell], model: &Model) -> DataValue {
        let types = &self.module.types;
        match &types[data] {
            DataType::OneOf { .. } | DataType::Opaque { .. } => DataValue::Undefined,
            DataType::Void if cells.is_empty() => DataValue::Undefined,
            DataType::Union { members, .. } => {
                let Some(Cell::Union { union, index: 0 }) = cells.first() else { return DataValue::Undefined };
                let union = std::rc::Rc::clone(&state.inputs.unions[*union]);
                let Some(member) = self.member_of(&union) else { return DataValue::Undefined };
                let size = self.size_of(members[member].ty) as usize;
                let value = self.data_value(state, members[member].ty, &union.cells[..size], model);
                DataValue::Member(member, Box::new(value))
            }
            DataType::Array { element, length } => {
                let step = types[*element].size(types) as usize;
                let part = |at: u64| &cells[at as usize * step..(at as usize + 1) * step];
                let values = 0..elements_listed(cells, *length, step);
                DataValue::Array(values.map(|at| self.data_value(state, *element, part(at), model)).collect())
            }
            DataType::Struct { fields, .. } => {
                let mut values = Vec::new();
                for field in fields {
                    let (at, size) = (field.offset as usize, self.size_of(field.ty) as usize);
                    values.push(self.data_value(state, field.ty, &cells[at..at + size], model));
                }
                DataValue::Struct(values)
            }
            DataType::Pointer { .. } => match cells[0] {
                Cell::Pointer { value, .. } => {
                    let value = self.pointers.get(value).clone();
                    DataValue::Pointer(self.points_to(state, &value, model))
                }
                _ => DataValue::Pointer(PointerTarget::Null),
            },
            DataType::Bits { first, width, .. } => {
                let byte = |(at, cell): (usize, &Cell)| u64::from(self.cell_byte(*cell, model)) << (8 * at);
                let bytes = cells.iter().enumerate().map(byte).fold(0, |sum, byte| sum | byte);
                DataValue::Int(mask(bytes >> first, *width))
            }
            DataType::Int { .. }
            | DataType::Float { .. }
            | DataType::Bool { .. }
            | DataType::Enum { .. }
            | DataType::Void => {
                let byte = |(at, cell): (usize, &Cell)| u64::from(self.cell_byte(*cell, model)) << (8 * at);
                DataValue::Int(cells.iter().enumerate().map(byte).fold(0, |sum, byte| sum | byte))
            }
        }
    }

    /// Returns the element type of an input object; of several variants, the one of its tag.
    fn variant_of(&mut self, input: &crate::state::inputs::InputObject, model: &Model) -> DataTypeId {
        let DataType::OneOf { tag, .. } = &self.module.types[input.element] else { return input.element };
        let cells = input.cells.iter().skip(tag.offset as usize).take(usize::from(tag.bits / 8));
        let value = cells.rev().fold(0, |value, cell| value << 8 | u64::from(self.cell_byte(*cell, model)));
        self.module.types[input.element].variant(value).unwrap_or(input.element)
    }

    /// Adds the elements at an object's end beyond its type.
    fn add_tail(
        &mut self,
        state: &State,
        input: &crate::state::inputs::InputObject,
        length: u64,
        model: &Model,
        value: &mut DataValue,
    ) {
        let types = &self.module.types;
        let (Some(tail), DataValue::Struct(fields)) = (types[input.element].tail(types), value) else { return };
        let Some(last) = fields.last_mut() else { return };
        let part = |at: u64| &input.cells[tail.end(at, types) as usize..tail.end(at + 1, types) as usize];
        let elements = (0..length).map(|at| self.data_value(state, tail.element, part(at), model));
        *last = DataValue::Array(elements.collect());
    }

    fn cell_byte(&mut self, cell: Cell, model: &Model) -> u8 {
        match cell {
            Cell::Undefined | Cell::Unmaterialised | Cell::Union { .. } | Cell::Clobbered => 0,
            Cell::Byte(byte) => byte,
            Cell::Part { term, index } => (model.eval(&self.terms, term) >> (8 * index)) as u8,
            Cell::Pointer { value, index } => {
                let value = self.pointers.get(value).clone();
                match address_term(&value, &mut self.terms, &self.pointers) {
                    Some(term) => (model.eval(&self.terms, term) >> (8 * index)) as u8,
                    None => 0,
                }
            }
        }
    }

    fn points_to(&self, state: &State, value: &Value, model: &Model) -> PointerTarget {
        match value {
            Value::LazyPointer(id) => match state.inputs.target_of(*id) {
                Some(decided) => self.points_to(state, &decided.clone(), model),
                // The pointer was not used: null will do, except for a declared array.
                None => state.inputs.lazy_pointers[*id]
                    .array
                    .map_or(PointerTarget::Null, |array| self.points_to(state, &Value::pointer(array, 0), model)),
            },
            Value::Ptr(Pointer { object, offset }) => {
                let offset = match offset {
                    Scalar::Const(offset) => *offset as i64,
                    Scalar::Term(term) => model.eval(&self.terms, *term) as i64,
                };
                let known = state.inputs.objects.iter().position(|input| input.object == *object);
                let global = self.module.globals.get(GlobalId::new(object.index()));
                match (known, global) {
                    (Some(object), _) => PointerTarget::Object { object, offset },
                    (None, Some(global)) => match global.function {
                        Some(function) => PointerTarget::Function(self.module.functions[function].name.clone()),
                        None => PointerTarget::Global { name: global.name.clone(), offset },
                    },
                    (None, None) => PointerTarget::Elsewhere,
                }
            }
            Value::Int(_) | Value::Choice(_) | Value::Bytes(_) | Value::Undefined => PointerTarget::Null,
        }
    }

    /// Returns true if these are all open goals that a run reaches.
    fn sees_all(
        &self,
        func: FuncId,
        kind: &TestKind,
        answers: &[EnvironmentInput],
        steps: u64,
        seen: &[GoalId],
    ) -> bool {
        let hits = self.confirm(func, kind, answers, steps, ConfirmationScope::Goals).hits;
        let is_open =
            |goal: &GoalId| self.goal_tracker.coverage.as_ref().is_some_and(|coverage| coverage.is_open(*goal));
        hits.iter().filter(|goal| is_open(goal)).eq(seen.iter().filter(|goal| is_open(goal)))
    }

    fn confirm(
        &self,
        func: FuncId,
        kind: &TestKind,
        answers: &[EnvironmentInput],
        steps: u64,
        attention: ConfirmationScope,
    ) -> ConcreteRun {
        // A path that the engine explores may not be too deep for its confirmation.
        let frames = Limits::default().frames.max(self.config.options.call_depth);
        let limits = Limits { steps, frames, heap_bytes: self.memory_of_runs() };
        let oracle = self.config.oracle.as_ref().and_then(|name| self.module.function_named(name));
        let coverage = self.goal_tracker.coverage.as_ref().filter(|_| attention == ConfirmationScope::Goals);
        let watch = coverage.map(|coverage| &*coverage.watch);
        let wanted = coverage.map(|coverage| coverage.open());
        let look = RunObservation { watch, wanted, oracle, limits, ..RunObservation::default() };
        watch_kind(&self.machines, func, kind, answers, look)
    }

    /// Returns the share of the process's memory for a run in the interpreter.
    fn memory_of_runs(&self) -> u64 {
        let most = Limits::default().heap_bytes;
        self.config.memory.map_or(most, |limit| (limit.most() / 8).clamp(most >> 6, most))
    }

    fn outcome(&self, end: &PathEnd, model: &Model) -> Outcome {
        let number = |value: &Value| match value {
            Value::Int(Scalar::Const(bits)) => *bits,
            Value::Int(Scalar::Term(term)) => model.eval(&self.terms, *term),
            _ => 0,
        };
        match end {
            PathEnd::Error { kind, span } => Outcome::Error { kind: *kind, span: *span },
            PathEnd::Threw { class } => Outcome::Threw { class: self.module.class_name(*class) },
            PathEnd::Hung => Outcome::Hung,
            PathEnd::Exited(status) => Outcome::Exited(number(status) as i32 & 0xff),
            PathEnd::Returned(value) if self.config.entry == crate::Entry::Program => {
                Outcome::Exited(value.as_ref().map_or(0, |value| number(value) as i32 & 0xff))
            }
            PathEnd::Returned(_) | PathEnd::Assumed | PathEnd::ExceedsCriterion | PathEnd::Incomplete { .. } => {
                Outcome::Returned
            }
        }
    }

    /// Returns the outcome of a concrete run; `None` if it is no proper end.
    fn seen(&self, end: &End) -> Option<Outcome> {
        Some(match end {
            End::Returned(value) if self.config.entry == crate::Entry::Program => match value {
                Some(touchstone_interp::Value::Int(status)) => Outcome::Exited(*status as i32 & 0xff),
                _ => Outcome::Exited(0),
            },
            End::Returned(_) => Outcome::Returned,
            End::Threw { class, .. } => Outcome::Threw { class: self.module.class_name(*class) },
            End::Exited(status) => Outcome::Exited(*status & 0xff),
            End::Hung => Outcome::Hung,
            End::Error { kind, span } => Outcome::Error { kind: *kind, span: *span },
            End::Assumed | End::Limit(_) | End::Unsupported { .. } => return None,
        })
    }

    /// Returns the difference between the interpreter and the engine, if any; `path` is the engine's path, if it
    /// followed a single one.
    fn disagreement(
        &self,
        run: &ConcreteRun,
        outcome: &Outcome,
        path: Option<u64>,
        end: &PathEnd,
        model: &Model,
    ) -> Option<Disagreement> {
        let Some(seen) = self.seen(&run.end) else {
            let why = match &run.end {
                End::Limit(LimitKind::Steps) => "it reached its limit of steps".to_string(),
                End::Limit(LimitKind::Frames) => "it reached its limit of nested calls".to_string(),
                End::Limit(LimitKind::Memory) => "it reached its limit of memory".to_string(),
                End::Unsupported { what, .. } => format!("it does not support {what}"),
                End::Assumed => "an assumption does not hold".to_string(),
                _ => "it has no outcome".to_string(),
            };
            return Some(Disagreement::InterpreterStopped(why));
        };
        if seen != *outcome {
            return Some(Disagreement::InterpreterEndedOtherwise(seen, outcome.clone()));
        }
        if path.is_some_and(|path| run.path != path) {
            return Some(Disagreement::InterpreterTookAnotherPath);
        }
        if let (PathEnd::Returned(Some(Value::Int(result))), Some(DataValue::Int(seen))) = (end, &run.expected.result) {
            let result = match result {
                Scalar::Const(bits) => *bits,
                Scalar::Term(term) => model.eval(&self.terms, *term),
            };
            if result != *seen {
                return Some(Disagreement::InterpreterReturnedOtherwise(*seen, result));
            }
        }
        None
    }
}

fn condition(outcome: &BranchOutcome) -> Option<ConditionOutcome> {
    let BranchOutcome { func, tag, taken, .. } = *outcome;
    Some(ConditionOutcome { func, tag: tag?, taken })
}

/// Returns an unused identifier derived from an input's name.
fn unique_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let plain = plain.trim_matches('_').to_string();
    let mut made = plain.clone();
    let mut number = 2;
    while taken(&made) {
        made = format!("{plain}_{number}");
        number += 1;
    }
    made
}
