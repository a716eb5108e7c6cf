//! Inputs of a function under test: fresh variables laid out by data type, pointers decided when first looked at
//! (lazy initialisation, DESIGN §4).

use crate::executor::Executor;
use crate::globals::{LEFT_BEHIND, global_object};
use crate::memory::{Assembled, Cell, Object, ObjectKind, assemble, disassemble};
use crate::state::{PathEnd, Purpose, State, Stop};
use crate::value::{LazyId, ObjectId, Pointer, Scalar, Value};
use crate::world::World;
use std::rc::Rc;
use touchstone_base::IndexMap;
use touchstone_criteria::{Bound, Incomplete, MadeInput};
use touchstone_ir::{DataType, DataTypeId, DataTypes, Field, FuncId, Module, Ty, mask};
use touchstone_solver::{Rel, Side, TermId};

/// Of one object only so many bytes, or a little more, are inputs; whoever reads the rest stops.
pub(crate) const MOST_VARIABLES: usize = 1 << 16;

/// An object that is an input has at most so many bytes.
pub(crate) const MOST_INPUT: u64 = 1 << 20;

/// What a path has asked for so far.
#[derive(Clone, Default)]
pub(crate) struct Inputs {
    pub params: Vec<Rc<NamedInput>>,
    pub globals: Vec<Rc<NamedInput>>,
    pub objects: Vec<Rc<InputObject>>,
    /// Answers to a program's requests, in order.
    pub made: Vec<Rc<Made>>,
    lazies: Rc<IndexMap<LazyId, Lazy>>,
    /// Where the input pointers lead whose target is chosen: few of many, in order.
    decided: Vec<(LazyId, Value)>,
    /// Objects made for undecided pointers.
    fresh: u32,
    /// Variables made so far.
    variables: u32,
}

/// A parameter or global with the value that it starts with.
pub(crate) struct NamedInput {
    pub name: String,
    pub data: DataTypeId,
    pub cells: Vec<Cell>,
}

/// An object that exists before the call.
pub(crate) struct InputObject {
    pub object: ObjectId,
    pub name: String,
    pub element: DataTypeId,
    pub count: u64,
    pub is_array: bool,
    /// Nobody said how many elements there are.
    pub default_length: bool,
    /// How many elements the array at its end has, if that is not what its type says.
    pub tail: Option<u64>,
    pub cells: Vec<Cell>,
}

/// Where the number of elements of an input object comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// A declaration or the user.
    Given,
    /// Nowhere: one element.
    Default,
}

/// The answer to one request of a program.
pub(crate) struct Made {
    pub name: String,
    pub cells: Vec<Cell>,
}

/// An input pointer.
#[derive(Clone)]
struct Lazy {
    name: Rc<str>,
    /// `None` if only null is known: what an external function returned, or wrote. The name says what is not.
    pointee: Option<DataTypeId>,
}

impl Inputs {
    pub fn shape(&self, id: LazyId) -> Option<&Value> {
        let at = self.decided.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.decided[at].1)
    }

    /// Whether there is a pointer whose target is not chosen yet.
    pub fn has_undecided(&self) -> bool {
        self.decided.len() < self.lazies.len()
    }

    fn decide(&mut self, id: LazyId, value: Value) {
        match self.decided.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => self.decided[at].1 = value,
            Err(at) => self.decided.insert(at, (id, value)),
        }
    }

    fn add_lazy(&mut self, lazy: Lazy) -> LazyId {
        Rc::make_mut(&mut self.lazies).push(lazy)
    }
}

impl Executor<'_> {
    /// A fresh input. Paths whose inputs came up in the same order share the variables: their number, and with it the size of a
    /// path, is that of the inputs of one path, however many paths there are.
    pub(crate) fn input_var(&mut self, inputs: &mut Inputs, width: u8, name: &str) -> TermId {
        let number = inputs.variables;
        inputs.variables += 1;
        let terms = &mut self.terms;
        *self.input_vars.entry((number, width, name.into())).or_insert_with(|| terms.var(width, name))
    }

    /// The cells of a fresh input of this type. Constraints (ranges, truth values) are collected in `constraints`.
    pub(crate) fn input_cells(
        &mut self,
        inputs: &mut Inputs,
        data: DataTypeId,
        name: &str,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let types = &self.module.types;
        match &types[data] {
            DataType::Int { bits, signed, .. } | DataType::Enum { bits, signed, .. } => {
                let value = match self.range_of(name) {
                    // A range of one value is a constant: the engine then runs like an interpreter.
                    Some((low, high)) if low == high => Value::constant(mask(low as u64, *bits)),
                    _ => {
                        let term = self.input_var(inputs, *bits, name);
                        self.constrain(term, *signed, name, constraints);
                        Value::term(&self.terms, term)
                    }
                };
                cells.extend(disassemble(&value, bits / 8, &mut self.pointers));
            }
            DataType::Float { format, .. } => {
                let term = self.input_var(inputs, format.bits(), name);
                if let Some((low, high)) = self.range_of(name) {
                    self.between(term, *format, low as f64, high as f64, constraints);
                }
                cells.extend(disassemble(&Value::term(&self.terms, term), format.bits() / 8, &mut self.pointers));
            }
            DataType::Bool { .. } => {
                let term = self.input_var(inputs, 8, name);
                let one = self.terms.constant(8, 1);
                constraints.push(self.terms.cmp(Rel::Ule, term, one));
                self.constrain(term, false, name, constraints);
                cells.push(Cell::Part { term, index: 0 });
            }
            DataType::Pointer { pointee, .. } => {
                let lazy = inputs.add_lazy(Lazy { name: name.into(), pointee: Some(*pointee) });
                cells.extend(disassemble(&Value::Lazy(lazy), 8, &mut self.pointers));
            }
            DataType::Array { element, length } => {
                for index in 0..*length {
                    if cells.len() >= MOST_VARIABLES {
                        let rest = (length - index) * types[*element].size(types);
                        cells.resize(cells.len() + rest as usize, Cell::Unmade);
                        break;
                    }
                    self.input_cells(inputs, *element, &format!("{name}[{index}]"), constraints, cells);
                }
            }
            DataType::Struct { fields, size, .. } => {
                let start = cells.len();
                let mut rest = fields.as_slice();
                while let Some((field, others)) = rest.split_first() {
                    let at = start + field.offset as usize;
                    if at < cells.len() {
                        // Packed bit-fields that share bytes over more than 64 bits.
                        cells[at..].fill(Cell::Unmade);
                        cells.resize(cells.len().max(at + types[field.ty].size(types) as usize), Cell::Unmade);
                        rest = others;
                        continue;
                    }
                    cells.resize(at, Cell::Byte(0));
                    let part = |field: &Field| format!("{name}.{}", field.name);
                    if let DataType::Bits { .. } = types[field.ty] {
                        let shared = bits_together(types, rest);
                        self.bit_cells(inputs, &rest[..shared], part, constraints, cells);
                        rest = &rest[shared..];
                        continue;
                    }
                    self.input_cells(inputs, field.ty, &part(field), constraints, cells);
                    rest = others;
                }
                cells.resize(start + *size as usize, Cell::Byte(0));
            }
            // Never on their own.
            DataType::Void | DataType::Bits { .. } | DataType::Opaque { .. } => {
                let size = types[data].size(types) as usize;
                cells.resize(cells.len() + size, Cell::Unmade);
            }
        }
    }

    /// The cells of bit-fields that share bytes: one term that is put together of a variable a field.
    fn bit_cells(
        &mut self,
        inputs: &mut Inputs,
        fields: &[Field],
        name: impl Fn(&Field) -> String,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let types = &self.module.types;
        let begin = fields.first().map_or(0, |field| field.offset);
        let end = fields.iter().map(|field| field.offset + types[field.ty].size(types)).max().unwrap_or(begin);
        let bytes = (end - begin) as u8;
        let mut all: Option<TermId> = None;
        let mut used = 0;
        for field in fields {
            let DataType::Bits { first, width, signed } = types[field.ty] else { continue };
            let at = (8 * (field.offset - begin)) as u8 + first;
            let name = name(field);
            let term = self.input_var(inputs, width, &name);
            self.constrain(term, signed, &name, constraints);
            for part in [(at > used).then(|| self.terms.constant(at - used, 0)), Some(term)].into_iter().flatten() {
                all = Some(all.map_or(part, |low| self.terms.concat(part, low)));
            }
            used = at + width;
        }
        if let Some(all) = all {
            let term = self.terms.zext(all, 8 * bytes);
            cells.extend((0..bytes).map(|index| Cell::Part { term, index }));
        }
    }

    /// What `--range` says of an input: the most specific name that fits (`a[2]`, then `a`).
    fn range_of(&self, name: &str) -> Option<(i128, i128)> {
        let mut part = name;
        loop {
            if let Some(range) = self.config.ranges.get(part) {
                return Some(*range);
            }
            part = &part[..part.rfind(['[', '.'])?];
        }
    }

    fn constrain(&mut self, term: TermId, signed: bool, name: &str, constraints: &mut Vec<TermId>) {
        let Some(range) = self.range_of(name) else { return };
        let width = self.terms.width(term);
        let (least, greatest) =
            if signed { (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1) } else { (0, (1i128 << width) - 1) };
        let (low, high) = (range.0.max(least), range.1.min(greatest));
        if low > high {
            constraints.push(self.terms.truth(false));
            return;
        }
        let rel = if signed { Rel::Sle } else { Rel::Ule };
        let bits = |value: i128| mask(value as u64, width);
        let (low, high) = (self.terms.constant(width, bits(low)), self.terms.constant(width, bits(high)));
        constraints.push(self.terms.cmp(rel, low, term));
        constraints.push(self.terms.cmp(rel, term, high));
    }

    /// A fresh object of `count` elements that the function under test finds already there.
    fn input_object(
        &mut self,
        state: &mut State,
        element: DataTypeId,
        count: u64,
        name: &str,
        length: Length,
    ) -> Result<ObjectId, Stop> {
        let is_array = length != Length::Default;
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        let size = count.saturating_mul(self.size_of(element));
        if size > MOST_INPUT {
            let what = format!("input of {size} bytes behind `{name}` (at most {MOST_INPUT} can be one)");
            return Err(Stop::unsupported(what, touchstone_base::Span::none()));
        }
        for index in 0..count {
            if cells.len() >= MOST_VARIABLES {
                cells.resize(size as usize, Cell::Unmade);
                break;
            }
            let part = if is_array || count > 1 { format!("{name}[{index}]") } else { format!("*{name}") };
            let part = part.strip_prefix('*').unwrap_or(&part).to_string();
            self.input_cells(state.inputs_mut(), element, &part, &mut constraints, &mut cells);
        }
        let tail = self.tail_length(element, name).filter(|_| count == 1);
        if let Some(length) = tail {
            self.tail_cells(state.inputs_mut(), element, name, length, &mut constraints, &mut cells);
        }
        let object = state.memory.alloc(Object::with_cells(cells.clone(), ObjectKind::Input, Some(element)));
        let default_length = length == Length::Default;
        let input =
            InputObject { object, name: name.to_string(), element, count, is_array, default_length, tail, cells };
        state.inputs_mut().objects.push(Rc::new(input));
        self.assume_all(state, &constraints)?;
        Ok(object)
    }

    pub(crate) fn assume_all(&mut self, state: &mut State, constraints: &[TermId]) -> Result<(), Stop> {
        for &constraint in constraints {
            match self.solver.assume(&mut self.terms, &state.path, constraint) {
                Side::Feasible(path) => state.path = path,
                Side::Infeasible => return Err(Stop::End(PathEnd::Assumed)),
                Side::Unknown(why) => {
                    let why = Incomplete::Solver(format!("{why:?}"));
                    return Err(Stop::End(PathEnd::Incomplete { why, span: touchstone_base::Span::none() }));
                }
            }
        }
        Ok(())
    }

    /// The arguments of the function under test, one for each of its parameters.
    pub(crate) fn arguments(&mut self, state: &mut State, func: FuncId) -> Result<Vec<Value>, Stop> {
        let function = &self.module.functions[func];
        let mut values = Vec::new();
        for (index, param) in function.params.iter().enumerate() {
            if function.aggregate_result && index == 0 {
                let size = self.size_of(function.result_data);
                let object = Object::undefined(size, ObjectKind::Slot, Some(function.result_data));
                values.push(Value::pointer(state.memory.alloc(object), 0));
                continue;
            }
            if function.is_variadic() && index + 1 == function.params.len() {
                values.push(Value::NULL);
                continue;
            }
            let name = if param.name.is_empty() { format!("arg{index}") } else { param.name.clone() };
            let (value, cells) = self.argument(state, func, index, &name)?;
            state.inputs_mut().params.push(Rc::new(NamedInput { name, data: param.data, cells }));
            values.push(value);
        }
        Ok(values)
    }

    fn argument(
        &mut self,
        state: &mut State,
        func: FuncId,
        index: usize,
        name: &str,
    ) -> Result<(Value, Vec<Cell>), Stop> {
        let function = &self.module.functions[func];
        let param = &function.params[index];
        let ty = function.regs[param.reg].ty;
        if let (DataType::Array { element, length }, false) = (&self.module.types[param.data], param.aggregate) {
            let count = self.config.lengths.get(name).copied().unwrap_or(*length);
            let object = self.input_object(state, *element, count, name, Length::Given)?;
            let value = Value::pointer(object, 0);
            let cells = disassemble(&value, 8, &mut self.pointers).collect();
            return Ok((value, cells));
        }
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        match (&self.module.types[param.data], ty) {
            // Hand-written code may give no data types: then the register says what there is to know.
            (DataType::Void, Ty::Int(bits)) => {
                let term = self.input_var(state.inputs_mut(), bits, name);
                self.constrain(term, true, name, &mut constraints);
                cells.extend((0..ty.bytes()).map(|index| Cell::Part { term, index }));
            }
            _ => self.input_cells(state.inputs_mut(), param.data, name, &mut constraints, &mut cells),
        }
        self.assume_all(state, &constraints)?;
        if param.aggregate {
            let object = Object::with_cells(cells.clone(), ObjectKind::Slot, Some(param.data));
            return Ok((Value::pointer(state.memory.alloc(object), 0), cells));
        }
        let value = if cells.len() == usize::from(ty.bytes()) {
            match assemble(&cells, ty, &mut self.terms, &self.pointers) {
                Assembled::Value(value) => value,
                Assembled::Undefined | Assembled::Mixed | Assembled::Lost => Value::NULL,
            }
        } else {
            // A type that can't be made (yet): whoever uses it meets an unsupported construct.
            Value::NULL
        };
        Ok((value, cells))
    }

    /// Whether two types are the same to memory: the same type, or integers of one width and sign.
    pub(crate) fn same_layout(&self, a: DataTypeId, b: DataTypeId) -> bool {
        let types = &self.module.types;
        match (&types[a], &types[b]) {
            (DataType::Int { bits: x, signed: s, .. }, DataType::Int { bits: y, signed: t, .. }) => (x, s) == (y, t),
            _ => a == b,
        }
    }

    /// The arguments of a program's entry function, as the interpreter's `program_arguments` makes them: its name, and
    /// so many words that are inputs.
    pub(crate) fn program_arguments(
        &mut self,
        state: &mut State,
        func: FuncId,
        count: u32,
        length: u32,
    ) -> Result<Vec<Value>, Stop> {
        let name = crate::concrete::PROGRAM_NAME.bytes().chain([0]).map(Cell::Byte).collect();
        let mut words = vec![name];
        for number in 1..=count as usize {
            words.push(self.word(state, &MadeInput::argument_name(number), length)?);
        }
        let mut list = Vec::new();
        for word in words {
            let word = state.memory.alloc(Object::with_cells(word, ObjectKind::Global, None));
            list.extend(disassemble(&Value::pointer(word, 0), 8, &mut self.pointers));
        }
        list.extend(disassemble(&Value::NULL, 8, &mut self.pointers));
        let list = state.memory.alloc(Object::with_cells(list, ObjectKind::Global, None));
        let all = [Value::constant(u64::from(count) + 1), Value::pointer(list, 0)];
        let params = self.module.functions[func].params.len();
        Ok(all.into_iter().chain(std::iter::repeat(Value::NULL)).take(params).collect())
    }

    /// An argument of the program.
    fn word(&mut self, state: &mut State, name: &str, length: u32) -> Result<Vec<Cell>, Stop> {
        let cells = self.text_cells(state, name, length)?;
        state.inputs_mut().made.push(Rc::new(Made { name: name.to_string(), cells: cells.clone() }));
        Ok(cells)
    }

    /// An input text of at most `length` characters. What is behind its end is zero: no program may look there.
    fn text_cells(&mut self, state: &mut State, name: &str, length: u32) -> Result<Vec<Cell>, Stop> {
        let zero = self.terms.constant(8, 0);
        let (mut cells, mut constraints, mut before) = (Vec::new(), Vec::new(), None);
        for index in 0..length {
            let term = self.input_var(state.inputs_mut(), 8, &format!("{name}[{index}]"));
            if let Some(before) = before {
                let (over, ends) = (self.terms.cmp(Rel::Eq, before, zero), self.terms.cmp(Rel::Eq, term, zero));
                let goes_on = self.terms.not(over);
                constraints.push(self.terms.or(goes_on, ends));
            }
            before = Some(term);
            cells.push(Cell::Part { term, index: 0 });
        }
        cells.push(Cell::Byte(0));
        self.assume_all(state, &constraints)?;
        Ok(cells)
    }

    /// A pointer that an external function returned: null, or nobody knows.
    pub(crate) fn unknown_pointer(&mut self, state: &mut State, name: &str) -> Value {
        let name = format!("pointer other than null from external function {name}").into();
        Value::Lazy(state.inputs_mut().add_lazy(Lazy { name, pointee: None }))
    }

    /// What earlier calls left behind is read: zero, or nobody knows.
    pub(crate) fn left_behind(&mut self, state: &mut State, object: ObjectId) -> Option<Result<Value, Stop>> {
        let (id, _) = self.module.globals.iter().find(|(_, global)| global.name == LEFT_BEHIND)?;
        let zero = |()| Value::constant(0);
        let name = "error number other than 0 that an earlier call left".to_string();
        (object == global_object(id)).then(|| self.decide_once(state, name).map(zero))
    }

    /// An external function may have written memory: decided once on a path, to be nothing.
    pub(crate) fn unknown_writes(&mut self, state: &mut State, name: &str) -> Result<(), Stop> {
        self.decide_once(state, format!("what external function {name} writes through its arguments"))
    }

    /// Something that may be: decided once on a path, to be not.
    fn decide_once(&mut self, state: &mut State, name: String) -> Result<(), Stop> {
        if state.inputs.lazies.values().any(|lazy| *lazy.name == *name) {
            return Ok(());
        }
        let lazy = Lazy { name: name.into(), pointee: None };
        Err(Stop::Force(state.inputs_mut().add_lazy(lazy), Purpose::Access))
    }

    /// Decides an input pointer: a fresh object, null, or into any earlier input object of the same element type.
    pub(crate) fn force(&mut self, state: &State, id: LazyId, purpose: Purpose) -> Vec<Result<State, Stop>> {
        let lazy = state.inputs.lazies[id].clone();
        let mut options = Vec::new();
        if let Purpose::Beside(object) = purpose
            && self.world == World::Tested
            && let Some(other) = state.inputs.objects.iter().find(|input| input.object == object)
            && lazy.pointee.is_some_and(|pointee| self.same_layout(other.element, self.element_of(pointee)))
            && self.config.lengths.get(&*lazy.name).is_none_or(|length| *length <= other.count)
        {
            // C orders no other pointers; null is less than all on common machines.
            self.avoided = true;
            let mut null = state.clone();
            null.inputs_mut().decide(id, Value::NULL);
            return vec![self.inside(state, id, &lazy, other, purpose), Ok(null)];
        }
        let decide = |state: &mut State, value: Value| state.inputs_mut().decide(id, value);
        let length = self.config.lengths.get(&*lazy.name).copied();
        let mut null = state.clone();
        decide(&mut null, Value::NULL);
        let Some(pointee) = lazy.pointee else {
            return vec![Ok(null), Err(Stop::unsupported(&*lazy.name, touchstone_base::Span::none()))];
        };
        let element = self.element_of(pointee);
        let mut behind = self.module.globals.values().filter(|global| global.data == pointee);
        let is_callback = |id: FuncId| self.module.functions[id].is_callback();
        if self.config.externals && behind.any(|global| global.function.is_some_and(is_callback)) {
            // It stands for all functions that the program does not have.
        } else if self.size_of(element) == 0 {
            let is_function =
                self.module.globals.values().any(|global| global.function.is_some() && global.data == pointee);
            let what = match is_function {
                true => format!("function behind `{}` that the program does not have", lazy.name),
                false => format!("object behind `{}`, whose type has no known size", lazy.name),
            };
            options.push(Err(Stop::unsupported(what, touchstone_base::Span::none())));
        } else if let Some(most) = self.config.strings.filter(|_| length.is_none() && self.is_character(pointee)) {
            let mut fresh = state.clone();
            options.push(self.text_object(&mut fresh, pointee, most, &lazy.name).map(|object| {
                decide(&mut fresh, Value::pointer(object, 0));
                fresh
            }));
            options.push(Err(Stop::bound(Bound::Strings, touchstone_base::Span::none())));
        } else if state.inputs.fresh < self.config.max_objects || length.is_some() {
            let mut fresh = state.clone();
            fresh.inputs_mut().fresh += 1;
            let count = length.unwrap_or(1);
            let said = if length.is_some() { Length::Given } else { Length::Default };
            options.push(self.input_object(&mut fresh, element, count, &lazy.name, said).map(|object| {
                decide(&mut fresh, Value::pointer(object, 0));
                fresh
            }));
        } else {
            options.push(Err(Stop::bound(Bound::MaxObjects, touchstone_base::Span::none())));
        }
        // A function of the program; others are what the option above gave up.
        for (global, standing) in self.module.globals.iter() {
            if standing.function.is_some() && standing.data == pointee {
                let mut known = state.clone();
                decide(&mut known, Value::pointer(global_object(global), 0));
                options.push(Ok(known));
            }
        }
        options.push(Ok(null));
        for earlier in &state.inputs.objects {
            if self.same_layout(earlier.element, element) {
                options.push(self.inside(state, id, &lazy, earlier, purpose));
            }
        }
        for input in &state.inputs.globals {
            if let Some(id) = self.module.global_named(&input.name).filter(|_| self.begins_with(input.data, pointee)) {
                let mut alias = state.clone();
                decide(&mut alias, Value::pointer(global_object(id), 0));
                options.push(Ok(alias));
            }
        }
        options
    }

    /// Whether a pointer to `part` can be the address of a variable of this type: the type itself, or an array of it.
    fn begins_with(&self, data: DataTypeId, part: DataTypeId) -> bool {
        let element = match self.module.types[data] {
            DataType::Array { element, .. } => element,
            _ => data,
        };
        self.same_layout(element, part)
    }

    fn is_character(&self, data: DataTypeId) -> bool {
        matches!(&self.module.types[data], DataType::Int { name, bits: 8, .. } if name == "char")
    }

    /// A fresh text of at most `most` characters.
    fn text_object(&mut self, state: &mut State, element: DataTypeId, most: u32, name: &str) -> Result<ObjectId, Stop> {
        let cells = self.text_cells(state, name, most)?;
        let object = state.memory.alloc(Object::with_cells(cells.clone(), ObjectKind::Input, Some(element)));
        let (name, count) = (name.to_string(), u64::from(most) + 1);
        let (is_array, default_length, tail) = (true, false, None);
        let input = InputObject { object, name, element, count, is_array, default_length, tail, cells };
        state.inputs_mut().objects.push(Rc::new(input));
        Ok(object)
    }

    /// What an object behind a pointer to this type is made of: bytes behind `void *`.
    fn element_of(&self, pointee: DataTypeId) -> DataTypeId {
        match &self.module.types[pointee] {
            DataType::Void => self.module.byte_type().unwrap_or(pointee),
            _ => pointee,
        }
    }

    /// Whether it was said how much an input pointer leads to.
    pub(crate) fn has_length(&self, state: &State, id: LazyId) -> bool {
        self.config.lengths.contains_key(&*state.inputs.lazies[id].name)
    }

    /// An input pointer leads into an object: to any element behind which there is as much as it is said to lead to.
    fn inside(
        &mut self,
        state: &State,
        id: LazyId,
        lazy: &Lazy,
        object: &InputObject,
        purpose: Purpose,
    ) -> Result<State, Stop> {
        let needed = match (self.config.lengths.get(&*lazy.name), purpose) {
            (Some(length), _) => *length,
            (None, Purpose::Access) => 1,
            (None, Purpose::Compare) if object.default_length => 1,
            (None, Purpose::Compare | Purpose::Beside(_)) => 0,
        };
        let mut alias = state.clone();
        let last = object.count.saturating_sub(needed);
        let offset = if last == 0 {
            Scalar::Const(0)
        } else {
            let index = self.input_var(alias.inputs_mut(), 64, &format!("{}@", lazy.name));
            let last = self.terms.constant(64, last);
            let inside = self.terms.cmp(Rel::Ule, index, last);
            self.assume_all(&mut alias, &[inside])?;
            let size = self.terms.constant(64, self.size_of(object.element));
            Scalar::Term(self.terms.bin(touchstone_solver::Op::Mul, index, size))
        };
        alias.inputs_mut().decide(id, Value::Ptr(Pointer { object: object.object, offset }));
        Ok(alias)
    }

    pub(crate) fn size_of(&self, data: DataTypeId) -> u64 {
        self.module.types[data].size(&self.module.types)
    }

    /// A request of the program for `size` input bytes: variables follow the data type where there is one that fits.
    pub(crate) fn make_input(
        &mut self,
        state: &mut State,
        name: &str,
        size: u64,
        data: Option<DataTypeId>,
    ) -> Result<Vec<Cell>, Stop> {
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        match data.filter(|&data| self.size_of(data) == size && is_plain(self.module, data)) {
            Some(data) => self.input_cells(state.inputs_mut(), data, name, &mut constraints, &mut cells),
            None => {
                for index in 0..size.min(MOST_VARIABLES as u64) {
                    let term = self.input_var(state.inputs_mut(), 8, &format!("{name}[{index}]"));
                    cells.push(Cell::Part { term, index: 0 });
                }
                cells.resize(size as usize, Cell::Unmade);
            }
        }
        self.assume_all(state, &constraints)?;
        state.inputs_mut().made.push(Rc::new(Made { name: name.to_string(), cells: cells.clone() }));
        Ok(cells)
    }
}

/// Only integers and truth values inside, no pointers. A truth value is 0 or 1: a program that makes another byte of it has
/// no meaning.
fn is_plain(module: &Module, data: DataTypeId) -> bool {
    match &module.types[data] {
        DataType::Int { .. } | DataType::Enum { .. } | DataType::Bool { .. } => true,
        DataType::Array { element, .. } => is_plain(module, *element),
        DataType::Struct { fields, .. } => fields.iter().all(|field| is_plain(module, field.ty)),
        _ => false,
    }
}

/// How many of these fields, from the first, are bit-fields that share bytes with each other (and fit into 64 bits).
fn bits_together(types: &DataTypes, fields: &[Field]) -> usize {
    let Some(begin) = fields.first().map(|field| field.offset) else { return 0 };
    let mut end = begin;
    let mut count = 0;
    for field in fields {
        let next = field.offset + types[field.ty].size(types);
        let shares = count == 0 || field.offset < end;
        if !matches!(types[field.ty], DataType::Bits { .. }) || !shares || next - begin > 8 {
            break;
        }
        end = end.max(next);
        count += 1;
    }
    count
}
