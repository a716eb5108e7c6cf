//! The machine: frames, registers and the instruction loop.

use crate::c::marks::Mark;
use crate::memory::{Fill, Layout, Memory, ObjectInfo, ObjectKind};
use crate::observer::{Event, Observer};
use crate::unrunnable::Unrunnable;
use crate::value::{ObjectId, Pointer, Value};
use crate::view::StateView;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{Id, IndexMap, Span, float};
use touchstone_ir::{
    BlockId, Builtin, Callee, CastOp, CmpOp, ErrorKind, FuncId, Function, GlobalId, Growing, Init, InputSource, Inst,
    InstKind, Linkage, Module, Operand, Reg, SlotId, SwitchArm, TermKind, Terminator, Ty, mask, sign_extend,
};

/// What one call may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Instructions and terminators of one [`Machine::call`].
    pub steps: u64,
    /// Depth of calls.
    pub frames: usize,
    /// Bytes of all live objects, plus a little for every object that ever lived.
    pub heap_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 10_000_000, frames: 10_000, heap_bytes: 1 << 30 }
    }
}

/// So many calls of functions that nobody defines are kept.
const MOST_CALLS: usize = 1000;

/// Which limit was hit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LimitKind {
    /// [`Limits::steps`].
    Steps,
    /// [`Limits::frames`].
    Frames,
    /// [`Limits::heap_bytes`].
    Memory,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The function returned.
    Returned(Option<Value>),
    /// Nobody caught what was thrown.
    Threw {
        /// The object.
        thrown: Value,
        /// Its class: the tag of the object, if the module tells where objects have it.
        class: Option<u64>,
    },
    /// The program asked to end with this status.
    Exited(i32),
    /// It stays in a loop that has no end and does nothing.
    Hung,
    /// It went wrong.
    Error {
        /// How.
        kind: ErrorKind,
        /// Where.
        span: Span,
    },
    /// An assumption was false: this is no run of the program.
    Assumed,
    /// A limit was hit.
    Limit(LimitKind),
    /// Something that the interpreter cannot do.
    Unsupported {
        /// What.
        what: Unrunnable,
        /// Where.
        span: Span,
    },
}

/// An input that is there for a program that asks.
#[derive(Clone, PartialEq, Debug)]
pub struct Provided {
    /// Where it comes in.
    pub source: InputSource,
    /// Which one of there; only what may also not come in is asked for by its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The pointers in it, by their place.
    pub pointers: Vec<(usize, Value)>,
}

/// An input that the program asked for by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputRequest {
    /// Where it comes in.
    pub source: InputSource,
    /// Name that the program gave it.
    pub name: String,
    /// Bytes.
    pub size: u64,
}

/// Why an instruction does not go on to the next.
pub(crate) enum Stop {
    Error(ErrorKind),
    Threw { thrown: Value, class: Option<u64> },
    Exit(i32),
    Hung,
    Assumed,
    Limit(LimitKind),
    Unsupported(Unrunnable),
}

impl From<ErrorKind> for Stop {
    fn from(kind: ErrorKind) -> Self {
        Stop::Error(kind)
    }
}

impl Stop {
    fn at(self, span: Span) -> End {
        match self {
            Stop::Error(kind) => End::Error { kind, span },
            Stop::Threw { thrown, class } => End::Threw { thrown, class },
            Stop::Exit(status) => End::Exited(status),
            Stop::Hung => End::Hung,
            Stop::Assumed => End::Assumed,
            Stop::Limit(kind) => End::Limit(kind),
            Stop::Unsupported(what) => End::Unsupported { what, span },
        }
    }
}

/// An active call. Its registers are `regs[reg_base..]`, its slots `slots[slot_base..]` (made when first needed).
#[derive(Clone, Copy)]
pub(crate) struct CallFrame<'m> {
    pub func: FuncId,
    pub function: &'m Function,
    pub block: BlockId,
    pub next: usize,
    pub reg_base: usize,
    slot_base: usize,
    /// The caller's register for the result.
    result: Option<Reg>,
    /// Tells calls apart, also of one function.
    pub serial: u64,
}

/// Where control goes after an instruction.
pub(crate) enum Flow {
    Next,
    Call {
        callee: FuncId,
        result: Option<Reg>,
    },
    /// A mark is made behind this instruction.
    Mark {
        buffer: Pointer,
        result: Option<Reg>,
    },
    /// Control goes on at a mark.
    Resume {
        mark: usize,
        value: u64,
    },
}

/// Runs functions of a module.
#[derive(Clone)]
pub struct Machine<'m> {
    module: &'m Module,
    /// What the module does not have yet.
    growing: Option<&'m dyn Growing>,
    limits: Limits,
    pub(crate) memory: Memory<'m>,
    globals: IndexMap<GlobalId, ObjectId>,
    /// Objects of globals that the module does not have.
    pub(crate) late_globals: Vec<Option<ObjectId>>,
    /// An object could not be made outside a run: reported by the next call.
    out_of_memory: bool,
    inputs: std::collections::VecDeque<Provided>,
    pub(crate) requests: Vec<InputRequest>,
    pub(crate) frames: Vec<CallFrame<'m>>,
    pub(crate) regs: Vec<Value>,
    slots: Vec<Option<ObjectId>>,
    /// Arguments of the call that is being made.
    arguments: Vec<Value>,
    steps_left: u64,
    /// Something that traps on common machines was executed.
    traps: bool,
    /// What followed was only known of one run of a whole program.
    pub(crate) of_one_run: bool,
    /// Something was asked for that where objects lie decides.
    apart: bool,
    /// Allocations so far, and the numbers (from 1) of those that fail.
    pub(crate) allocations: u64,
    failing: BTreeSet<u64>,
    /// Blocks of registers that the program got to, by their addresses, if there are any.
    pub(crate) registers: Option<BTreeMap<u64, ObjectId>>,
    /// By which member each union was looked at last.
    looks: BTreeMap<(ObjectId, i64), usize>,
    /// Variable arguments of the calls from outside.
    variable: BTreeSet<ObjectId>,
    missed: Option<(ObjectId, i64, usize)>,
    /// Calls of what nobody defines.
    calls: Option<Vec<(String, Vec<Value>)>>,
    /// What runs when the program ends, the last one first.
    at_exit: Vec<FuncId>,
    /// Places that control may come back to, by the number that their buffers point to.
    pub(crate) marks: Vec<Mark>,
    /// The object that these buffers point into, once there is a mark.
    pub(crate) mark_object: Option<ObjectId>,
    /// How many calls there were.
    serials: u64,
}

impl<'m> Machine<'m> {
    /// A machine with all globals as at program start.
    pub fn new(module: &'m Module, limits: Limits) -> Self {
        Machine::laid_out(module, limits, Layout::default())
    }

    /// A machine for a module that grows.
    pub fn growing(module: &'m Module, growing: &'m dyn Growing, limits: Limits) -> Self {
        Machine { growing: Some(growing), ..Machine::new(module, limits) }
    }

    /// The same with objects in other places.
    pub fn laid_out(module: &'m Module, limits: Limits, layout: Layout) -> Self {
        let mut machine = Machine {
            module,
            growing: None,
            limits,
            memory: Memory::new(limits.heap_bytes, layout),
            globals: IndexMap::new(),
            late_globals: Vec::new(),
            out_of_memory: false,
            inputs: Default::default(),
            requests: Vec::new(),
            frames: Vec::new(),
            regs: Vec::new(),
            slots: Vec::new(),
            arguments: Vec::new(),
            steps_left: 0,
            traps: false,
            of_one_run: false,
            apart: false,
            allocations: 0,
            failing: BTreeSet::new(),
            registers: None,
            looks: BTreeMap::new(),
            variable: BTreeSet::new(),
            missed: None,
            calls: Some(Vec::new()),
            at_exit: Vec::new(),
            marks: Vec::new(),
            mark_object: None,
            serials: 0,
        };
        machine.make_globals();
        machine
    }

    fn make_globals(&mut self) {
        for global in self.module.globals.values() {
            let fill = if global.linkage == Linkage::Undefined { Fill::Undefined } else { Fill::Zero };
            let object = self.make_object(global.size, Cow::Borrowed(&global.name), ObjectKind::Global, fill);
            self.globals.push(object);
        }
        for (id, global) in self.module.globals.iter() {
            let object = self.globals[id];
            for piece in global.init.iter().flatten() {
                // Out of bounds only where the object could not be made, which the next call reports.
                let _ = match piece {
                    Init::Bytes { offset, bytes } => {
                        self.memory.write_bytes(Pointer { object, offset: *offset as i64 }, bytes)
                    }
                    Init::GlobalAddr { offset, global, addend } => {
                        let value = Value::ptr(self.globals[*global], *addend);
                        self.memory.store(Pointer { object, offset: *offset as i64 }, Ty::Ptr, value)
                    }
                };
            }
            if global.constant {
                self.memory.set_read_only(object);
            }
        }
    }

    fn make_object(&mut self, size: u64, name: Cow<'m, str>, kind: ObjectKind, fill: Fill) -> ObjectId {
        if let Some(object) = self.memory.alloc(size, name, kind, fill) {
            return object;
        }
        self.out_of_memory = true;
        self.memory.alloc_beyond_limit(kind)
    }

    /// Whether something was executed that traps on common machines though it has a value here: the least number divided
    /// by -1.
    pub fn traps(&self) -> bool {
        self.traps
    }

    /// Whether something was executed whose results are only known of one run of a whole program (files, say).
    pub fn is_of_one_run(&self) -> bool {
        self.of_one_run
    }

    /// Whether something was asked for that where objects lie decides (order, distance, whether memory is given out again): a run
    /// elsewhere may differ.
    pub fn depends_on_layout(&self) -> bool {
        self.apart
    }

    /// Whether where objects lie decides a comparison of pointers into different ones: their order does, and whether memory that
    /// was given back is given out again.
    fn order_counts(&self, op: CmpOp, a: Value, b: Value) -> bool {
        !matches!(op, CmpOp::Eq | CmpOp::Ne) || self.memory.is_gone(a) || self.memory.is_gone(b)
    }

    /// Calls of functions that nobody defines, with what they were called with, in order. `None` if there were very many, or
    /// if a library made one: another library may call in another order.
    pub fn calls(&self) -> Option<&[(String, Vec<Value>)]> {
        self.calls.as_deref()
    }

    /// The allocation with this number, from 1, gets no memory.
    pub fn fail_allocation(&mut self, number: u64) {
        self.failing.insert(number);
    }

    /// An allocation is asked for: whether it fails.
    pub(crate) fn next_allocation_fails(&mut self) -> bool {
        self.allocations += 1;
        self.failing.contains(&self.allocations)
    }

    /// A union is looked at by a member.
    pub fn look(&mut self, object: ObjectId, offset: i64, member: usize) {
        self.looks.insert((object, offset), member);
    }

    /// These are the variable arguments of a call, each of the member that it was [looked at](Self::look) by. Whoever takes one
    /// that is not there, or takes it as another one, does what only the language's compilers know.
    pub fn keep_arguments(&mut self, object: ObjectId) {
        self.variable.insert(object);
    }

    /// The variable argument that ended a run because nobody passed it: where it would be, and the member that it would be of.
    pub fn missed_argument(&self) -> Option<(ObjectId, i64, usize)> {
        self.missed
    }

    /// The program looks at a union by a member.
    pub(crate) fn look_by(&mut self, at: Pointer, member: usize) -> Result<(), Stop> {
        if self.variable.contains(&at.object) {
            if self.looked(at.object, at.offset) == Some(member) {
                return Ok(());
            }
            self.missed = Some((at.object, at.offset, member));
            return Err(Stop::Unsupported(Unrunnable::NoSuchArgument));
        }
        self.look(at.object, at.offset, member);
        Ok(())
    }

    /// By which member a union was looked at last.
    pub fn looked(&self, object: ObjectId, offset: i64) -> Option<usize> {
        self.looks.get(&(object, offset)).copied()
    }

    pub(crate) fn record_call(&mut self, name: Vec<u8>, values: Vec<Value>) {
        let caller = self.frames.len().checked_sub(2).and_then(|caller| self.frames.get(caller));
        let by_library = caller.is_some_and(|frame| frame.function.is_library());
        match &mut self.calls {
            Some(calls) if !by_library && calls.len() < MOST_CALLS => {
                calls.push((String::from_utf8_lossy(&name).into_owned(), values));
            }
            calls => *calls = None,
        }
    }

    /// Whether a pointer was turned into a number: a run with another [`Layout`] may differ.
    pub fn shows_addresses(&self) -> bool {
        self.memory.shows_addresses()
    }

    /// A new object with undefined bytes. If it is too big for the limit it is made empty, and the next call ends with
    /// [`LimitKind::Memory`].
    pub fn alloc(&mut self, size: u64, name: &str, kind: ObjectKind) -> ObjectId {
        self.make_object(size, Cow::Owned(name.to_string()), kind, Fill::Undefined)
    }

    /// The object of a global.
    pub fn global_object(&self, id: GlobalId) -> ObjectId {
        self.globals[id]
    }

    /// What is known about an object.
    pub fn object(&self, id: ObjectId) -> ObjectInfo<'_> {
        self.memory.info(id)
    }

    /// Lets a constant be written; whether it was one.
    pub fn unlock(&mut self, object: ObjectId) -> bool {
        self.memory.unlock(object)
    }

    /// Makes an object constant.
    pub fn lock(&mut self, object: ObjectId) {
        self.memory.set_read_only(object);
    }

    /// Writes bytes into an object.
    pub fn write_bytes(&mut self, object: ObjectId, offset: i64, bytes: &[u8]) -> Result<(), ErrorKind> {
        self.memory.write_bytes(Pointer { object, offset }, bytes)
    }

    /// Reads bytes of an object; undefined ones are an error.
    pub fn read_bytes(&self, object: ObjectId, offset: i64, length: u64) -> Result<Vec<u8>, ErrorKind> {
        let bytes = self.memory.peek(Pointer { object, offset }, length)?;
        bytes.into_iter().map(|byte| byte.ok_or(ErrorKind::Uninitialised)).collect()
    }

    /// Reads bytes of an object, `None` for undefined ones.
    pub fn peek_bytes(&self, object: ObjectId, offset: i64, length: u64) -> Result<Vec<Option<u8>>, ErrorKind> {
        self.memory.peek(Pointer { object, offset }, length)
    }

    /// Writes a value of a type into an object.
    pub fn write_value(&mut self, object: ObjectId, offset: i64, ty: Ty, value: Value) -> Result<(), ErrorKind> {
        self.memory.store(Pointer { object, offset }, ty, value)
    }

    /// Reads a value of a type from an object.
    pub fn read_value(&self, object: ObjectId, offset: i64, ty: Ty) -> Result<Value, ErrorKind> {
        self.memory.load(Pointer { object, offset }, ty)
    }

    /// Values for the inputs that the program asks for by itself, in the order in which it asks. A value that is too
    /// short, or missing, is filled with zeros.
    pub fn provide_inputs(&mut self, inputs: Vec<Provided>) {
        self.inputs.extend(inputs);
    }

    /// The inputs that the program asked for so far.
    pub fn requested_inputs(&self) -> &[InputRequest] {
        &self.requests
    }

    /// The next provided input, cut or filled to `size` bytes, and the pointers in it.
    pub(crate) fn next_input(
        &mut self,
        source: InputSource,
        name: Vec<u8>,
        size: u64,
    ) -> (Vec<u8>, Vec<(usize, Value)>) {
        self.requests.push(InputRequest { source, name: String::from_utf8_lossy(&name).into_owned(), size });
        let (mut bytes, pointers) =
            self.inputs.pop_front().map_or_else(Default::default, |provided| (provided.bytes, provided.pointers));
        bytes.resize(size as usize, 0);
        (bytes, pointers)
    }

    /// The next provided input, if it is one that comes in there under a name like this.
    pub(crate) fn next_if(&mut self, source: InputSource, is_meant: impl Fn(&str) -> bool) -> Option<Provided> {
        let next = self.inputs.front()?;
        if next.source != source || !is_meant(&next.name) {
            return None;
        }
        let provided = self.inputs.pop_front()?;
        self.requests.push(InputRequest { source, name: provided.name.clone(), size: provided.bytes.len() as u64 });
        Some(provided)
    }

    /// How many steps the last call took.
    pub fn steps_taken(&self) -> u64 {
        self.limits.steps - self.steps_left
    }

    /// Calls a function. Memory stays as the call leaves it, so calls can follow each other. A module with functions that run
    /// at start must have been [started](crate::started).
    pub fn call(&mut self, function: FuncId, args: &[Value], observer: &mut impl Observer) -> End {
        if !self.module.startup.is_empty() {
            return End::Unsupported { what: Unrunnable::StartUp, span: self.span_of(function) };
        }
        self.call_now(function, args, observer)
    }

    /// The same, also before the module has started.
    pub(crate) fn call_now(&mut self, function: FuncId, args: &[Value], observer: &mut impl Observer) -> End {
        self.steps_left = self.limits.steps;
        if self.out_of_memory {
            return End::Limit(LimitKind::Memory);
        }
        self.arguments.clear();
        self.arguments.extend_from_slice(args);
        let end = match self.enter(function, None, observer) {
            Ok(()) => self.run(observer),
            Err(stop) => stop.at(self.span_of(function)),
        };
        while let Some(frame) = self.frames.pop() {
            self.leave(&frame);
        }
        end
    }

    /// What follows when a whole program's `main` has ended so: the functions that asked for it run, the last one first.
    pub fn finish(&mut self, end: End, observer: &mut impl Observer) -> End {
        let mut end = end;
        while matches!(end, End::Returned(_) | End::Exited(_)) {
            let Some(function) = self.at_exit.pop() else { break };
            match self.call(function, &[], observer) {
                End::Returned(_) => {}
                other => end = other,
            }
        }
        end
    }

    fn run(&mut self, observer: &mut impl Observer) -> End {
        while let Some(&frame) = self.frames.last() {
            if let Err((stop, span)) = self.run_frame(frame, observer) {
                return stop.at(span);
            }
        }
        End::Returned(self.arguments.pop())
    }

    /// Runs the innermost frame up to a call or its return. Where it stands is only written back when it is left for a
    /// call, since nobody else looks.
    #[inline(never)]
    fn run_frame(&mut self, mut frame: CallFrame<'m>, observer: &mut impl Observer) -> Result<(), (Stop, Span)> {
        loop {
            let block = &frame.function.blocks[frame.block];
            for (index, inst) in block.insts.iter().enumerate().skip(frame.next) {
                match self.tick().and_then(|()| self.step(&frame, inst, observer)) {
                    Ok(Flow::Next) => {}
                    Ok(Flow::Call { callee, result }) => {
                        if let Some(top) = self.frames.last_mut() {
                            (top.block, top.next) = (frame.block, index + 1);
                        }
                        return self.enter(callee, result, observer).map_err(|stop| (stop, inst.span));
                    }
                    Ok(Flow::Mark { buffer, result }) => {
                        let at = CallFrame { next: index + 1, ..frame };
                        self.set_mark(&at, buffer, result).map_err(|stop| (stop, inst.span))?;
                    }
                    Ok(Flow::Resume { mark, value }) => {
                        return self.resume(mark, value, observer).map_err(|stop| (stop, inst.span));
                    }
                    Err(stop) => return Err((stop, inst.span)),
                }
            }
            let Terminator { kind, span } = &block.terminator;
            match self.tick().and_then(|()| self.finish_block(&frame, kind, observer)) {
                Ok(Some(target)) => (frame.block, frame.next) = (target, 0),
                Ok(None) => return Ok(()),
                Err(stop) => return Err((stop, *span)),
            }
        }
    }

    #[inline]
    fn tick(&mut self) -> Result<(), Stop> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Stop::Limit(LimitKind::Steps))?;
        Ok(())
    }

    // Frames.

    /// Pushes a frame for `callee` with `self.arguments`.
    fn enter(&mut self, callee: FuncId, result: Option<Reg>, observer: &mut impl Observer) -> Result<(), Stop> {
        let Some(function) = self.function(callee) else {
            return Err(Stop::Unsupported(Unrunnable::ExternalFunction(callee.to_string())));
        };
        if !function.is_defined() {
            return Err(Stop::Unsupported(Unrunnable::ExternalFunction(function.name.clone())));
        }
        if self.frames.len() >= self.limits.frames {
            return Err(Stop::Limit(LimitKind::Frames));
        }
        if self.arguments.len() != function.params.len() {
            return Err(Stop::Unsupported(Unrunnable::OtherNumberOfArguments(function.name.clone())));
        }
        let (reg_base, slot_base) = (self.regs.len(), self.slots.len());
        self.regs.resize(reg_base + function.regs.len(), Value::Undefined);
        self.slots.resize(slot_base + function.slots.len(), None);
        for (param, &argument) in function.params.iter().zip(&self.arguments) {
            let argument = match (argument, function.regs[param.reg].ty) {
                (Value::Int(value), ty) => Value::Int(mask(value, ty.bits())),
                (Value::Ptr(_), Ty::Int(bits)) => Value::Int(mask(self.memory.as_int(argument)?, bits)),
                (argument, _) => argument,
            };
            self.regs[reg_base + param.reg.index()] = argument;
        }
        let (block, next) = (BlockId::new(0), 0);
        self.serials += 1;
        let serial = self.serials;
        let frame = CallFrame { func: callee, function, block, next, reg_base, slot_base, result, serial };
        self.frames.push(frame);
        observer.event(&Event::Call(callee));
        observer.enter(&StateView { machine: self, frame: &frame });
        Ok(())
    }

    /// Ends the life of a frame that was popped.
    pub(crate) fn leave(&mut self, frame: &CallFrame<'m>) {
        for object in self.slots.drain(frame.slot_base..).flatten() {
            self.memory.kill(object);
        }
        self.regs.truncate(frame.reg_base);
    }

    fn step_return(&mut self, value: Option<Value>, observer: &mut impl Observer) {
        if let Some(frame) = self.frames.pop() {
            self.leave(&frame);
            observer.event(&Event::Return);
            match (self.frames.last(), frame.result) {
                (Some(caller), Some(reg)) => {
                    self.regs[caller.reg_base + reg.index()] = value.unwrap_or(Value::Undefined);
                }
                (Some(_), None) => {}
                (None, _) => {
                    // The outermost result leaves through the argument list.
                    self.arguments.clear();
                    if frame.function.result.is_some() {
                        self.arguments.push(value.unwrap_or(Value::Undefined));
                    }
                }
            }
        }
    }

    fn slot(&mut self, frame: &CallFrame<'m>, slot: SlotId) -> Result<ObjectId, Stop> {
        let index = frame.slot_base + slot.index();
        if let Some(object) = self.slots[index] {
            return Ok(object);
        }
        let info = &frame.function.slots[slot];
        let name = Cow::Borrowed(info.name.as_deref().unwrap_or(""));
        let object = self.memory.alloc(info.size, name, ObjectKind::Slot, Fill::Undefined);
        let object = object.ok_or(Stop::Limit(LimitKind::Memory))?;
        self.slots[index] = Some(object);
        Ok(object)
    }

    /// Lets an object die with the innermost frame: behind its slots.
    pub(crate) fn add_to_frame(&mut self, object: ObjectId) {
        self.slots.push(Some(object));
    }

    /// Whether something waits for the end of the program.
    pub(crate) fn has_work_at_exit(&self) -> bool {
        !self.at_exit.is_empty()
    }

    pub(crate) fn module(&self) -> &'m Module {
        self.module
    }

    pub(crate) fn grows(&self) -> Option<&'m dyn Growing> {
        self.growing
    }

    #[inline]
    fn function(&self, id: FuncId) -> Option<&'m Function> {
        match self.module.functions.get(id) {
            Some(function) => Some(function),
            None => self.growing?.function(id),
        }
    }

    fn span_of(&self, id: FuncId) -> Span {
        self.module.functions.get(id).map_or(Span::none(), |function| function.span)
    }

    // What a view asks for.

    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// A register of the innermost frame.
    pub(crate) fn register(&self, frame: &CallFrame<'m>, reg: Reg) -> Option<Value> {
        self.regs.get(frame.reg_base + reg.index()).copied()
    }

    /// The object of a slot of the innermost frame, if there is one yet.
    pub(crate) fn slot_object(&self, frame: &CallFrame<'m>, slot: SlotId) -> Option<ObjectId> {
        self.slots.get(frame.slot_base + slot.index()).copied().flatten()
    }

    pub(crate) fn known_global(&self, id: GlobalId) -> Option<ObjectId> {
        let late = || self.late_globals.get(id.index().checked_sub(self.globals.len())?).copied().flatten();
        self.globals.get(id).copied().or_else(late)
    }

    // Operands.

    #[inline]
    pub(crate) fn get(&self, frame: &CallFrame<'m>, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.regs[frame.reg_base + reg.index()],
            Operand::Const(_, value) => Value::Int(value),
        }
    }

    #[inline]
    pub(crate) fn int(&self, frame: &CallFrame<'m>, operand: Operand) -> Result<u64, ErrorKind> {
        self.memory.as_int(self.get(frame, operand))
    }

    /// A value that is used, so it must not be undefined.
    #[inline]
    pub(crate) fn used(&self, frame: &CallFrame<'m>, operand: Operand) -> Result<Value, ErrorKind> {
        match self.get(frame, operand) {
            Value::Undefined => Err(ErrorKind::Uninitialised),
            value => Ok(value),
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, frame: &CallFrame<'m>, reg: Reg, value: Value) {
        self.regs[frame.reg_base + reg.index()] = value;
    }

    #[inline]
    pub(crate) fn operand_ty(&self, frame: &CallFrame<'m>, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => frame.function.regs[reg].ty,
            Operand::Const(ty, _) => ty,
        }
    }

    // Instructions.

    // Once an instruction: a call of its own would take a quarter of the time.
    #[inline(always)]
    fn step(&mut self, frame: &CallFrame<'m>, inst: &'m Inst, observer: &mut impl Observer) -> Result<Flow, Stop> {
        match &inst.kind {
            InstKind::Copy { dst, src } => self.set(frame, *dst, self.used(frame, *src)?),
            InstKind::Bin { dst, op, a, b } => {
                let bits = frame.function.regs[*dst].ty.bits();
                let (x, y) = (self.int(frame, *a)?, self.int(frame, *b)?);
                let value = crate::arith::bin(*op, x, y, bits)?;
                self.traps |= crate::arith::traps(*op, x, y, bits);
                self.set(frame, *dst, Value::Int(value));
            }
            InstKind::Cmp { dst, op, a, b } => {
                let holds = match self.operand_ty(frame, *a) {
                    Ty::Int(bits) => {
                        let (x, y) = (self.int(frame, *a)?, self.int(frame, *b)?);
                        observer.compared(x, y);
                        crate::arith::cmp(*op, x, y, bits)
                    }
                    Ty::Ptr => {
                        let (a, b) = (self.get(frame, *a), self.get(frame, *b));
                        self.apart |= Value::apart(a, b) && self.order_counts(*op, a, b);
                        self.memory.compare(*op, a, b)?
                    }
                };
                self.set(frame, *dst, Value::Int(u64::from(holds)));
            }
            InstKind::Cast { dst, op, src } => match self.get(frame, *src) {
                // The usual case, without the detour over results that may have gone wrong.
                Value::Int(value) if *op != CastOp::IntToPtr => {
                    let (from, to) = (self.operand_ty(frame, *src), frame.function.regs[*dst].ty);
                    let value = crate::arith::cast(*op, value, from.bits(), to.bits());
                    self.set(frame, *dst, Value::Int(value));
                }
                _ => self.step_cast(frame, *dst, *op, *src)?,
            },
            InstKind::Float { dst, op, format, args } => self.step_float(frame, *dst, *op, *format, args)?,
            InstKind::SlotAddr { dst, slot } => {
                let object = self.slot(frame, *slot)?;
                self.set(frame, *dst, Value::ptr(object, 0));
            }
            InstKind::GlobalAddr { dst, global } => {
                let object = match self.known_global(*global) {
                    Some(object) => object,
                    None => self.late_global(*global)?,
                };
                self.set(frame, *dst, Value::ptr(object, 0));
            }
            InstKind::PtrAdd { dst, base, offset } => match (self.get(frame, *base), self.get(frame, *offset)) {
                (Value::Ptr(Pointer { object, offset }), Value::Int(bytes)) => {
                    self.set(frame, *dst, Value::ptr(object, offset.wrapping_add(bytes as i64)));
                }
                _ => self.step_ptr_add(frame, *dst, *base, *offset)?,
            },
            InstKind::PtrDiff { dst, a, b } => {
                let value = match (self.get(frame, *a), self.get(frame, *b)) {
                    (Value::Ptr(a), Value::Ptr(b)) if a.object == b.object => a.offset.wrapping_sub(b.offset) as u64,
                    (left, right) => {
                        self.apart |= Value::apart(left, right);
                        self.int(frame, *a)?.wrapping_sub(self.int(frame, *b)?)
                    }
                };
                self.set(frame, *dst, Value::Int(value));
            }
            InstKind::Load { dst, addr } => {
                let ty = frame.function.regs[*dst].ty;
                let place = match self.get(frame, *addr) {
                    Value::Int(address) if self.is_register(address) => self.read_register(address, ty.bytes())?,
                    value => self.memory.resolve(value)?,
                };
                let value = self.memory.load(place, ty).map_err(|kind| self.access_error(place, kind))?;
                self.set(frame, *dst, value);
            }
            InstKind::Store { addr, value } => {
                let place = match self.get(frame, *addr) {
                    Value::Int(address) if self.is_register(address) => self.register_place(address)?,
                    value => self.memory.resolve(value)?,
                };
                let (ty, value) = (self.operand_ty(frame, *value), self.get(frame, *value));
                self.memory.store(place, ty, value).map_err(|kind| self.access_error(place, kind))?;
            }
            InstKind::MemCopy { dst, src, size } => self.step_copy(frame, *dst, *src, *size)?,
            InstKind::MemSet { dst, value, size } => self.step_set(frame, *dst, *value, *size)?,
            InstKind::Point { point } => {
                // Given back: limits must not depend on points.
                self.steps_left += 1;
                observer.point(*point, &StateView { machine: self, frame });
            }
            InstKind::SlotBegin { slot } => {
                let object = self.slot(frame, *slot)?;
                self.memory.make_undefined(object);
            }
            InstKind::SlotEnd { slot } => {
                if let Some(object) = self.slots[frame.slot_base + slot.index()].take() {
                    self.memory.kill(object);
                }
            }
            InstKind::Call { dst, callee, args } => {
                let callee = match callee {
                    Callee::Direct(callee) => *callee,
                    Callee::Indirect(address) => self.called(frame, *address, *dst, args)?,
                };
                self.arguments.clear();
                for &arg in args {
                    let value = self.used(frame, arg)?;
                    self.arguments.push(value);
                }
                if let InstKind::Call { callee: Callee::Indirect(_), .. } = inst.kind {
                    observer.event(&Event::Indirect { func: frame.func, block: frame.block, callee });
                }
                return Ok(Flow::Call { callee, result: *dst });
            }
            InstKind::Builtin { dst, builtin: Builtin::C(builtin), args } if builtin.jumps() => {
                return self.step_mark(frame, *builtin, *dst, args);
            }
            InstKind::Builtin { dst, builtin, args } => {
                let result = self.step_builtin(frame, *builtin, *dst, args, observer)?;
                if let Some(dst) = dst {
                    let bits = frame.function.regs[*dst].ty.bits();
                    let result = match result {
                        Value::Int(value) => Value::Int(mask(value, bits)),
                        result => result,
                    };
                    self.set(frame, *dst, result);
                }
            }
        }
        Ok(Flow::Next)
    }

    pub(crate) fn at_exit(&mut self, frame: &CallFrame<'m>, function: Operand) -> Result<Value, Stop> {
        match self.used(frame, function)? {
            Value::NULL => self.at_exit.clear(),
            _ => self.at_exit.push(self.called(frame, function, None, &[])?),
        }
        Ok(Value::Undefined)
    }

    /// The function that a pointer is the address of.
    fn called(
        &self,
        frame: &CallFrame<'m>,
        callee: Operand,
        dst: Option<Reg>,
        args: &[Operand],
    ) -> Result<FuncId, Stop> {
        let place = self.memory.resolve(self.used(frame, callee)?)?;
        // Globals are the first objects.
        let global = GlobalId::new(place.object.index());
        let function = self.module.globals.get(global).and_then(|global| global.function);
        let callee = function.filter(|_| place.offset == 0).ok_or(ErrorKind::InvalidPointer)?;
        let types = args.iter().map(|arg| self.operand_ty(frame, *arg));
        if !self.module.can_call(callee, types, dst.map(|dst| frame.function.regs[dst].ty)) {
            let name = &self.module.functions[callee].name;
            return Err(Stop::Unsupported(Unrunnable::OtherTypes(name.clone())));
        }
        Ok(callee)
    }

    #[inline(never)]
    fn step_cast(&mut self, frame: &CallFrame<'m>, dst: Reg, op: CastOp, src: Operand) -> Result<(), Stop> {
        let (from, to) = (self.operand_ty(frame, src), frame.function.regs[dst].ty);
        let value = crate::arith::cast(op, self.int(frame, src)?, from.bits(), to.bits());
        let value = if op == CastOp::IntToPtr { self.memory.pointer_at(value) } else { Value::Int(value) };
        self.set(frame, dst, value);
        Ok(())
    }

    fn step_float(
        &mut self,
        frame: &CallFrame<'m>,
        dst: Reg,
        op: float::Op,
        format: float::Format,
        args: &[Operand],
    ) -> Result<(), Stop> {
        let mut values = [0; 3];
        for (value, &arg) in values.iter_mut().zip(args) {
            *value = self.int(frame, arg)?;
        }
        self.set(frame, dst, Value::Int(float::eval(op, format, &values)));
        Ok(())
    }

    #[inline(never)]
    fn step_ptr_add(&mut self, frame: &CallFrame<'m>, dst: Reg, base: Operand, offset: Operand) -> Result<(), Stop> {
        let bytes = self.int(frame, offset)?;
        let value = match self.used(frame, base)? {
            Value::Ptr(Pointer { object, offset }) => Value::ptr(object, offset.wrapping_add(bytes as i64)),
            Value::Int(address) => Value::Int(address.wrapping_add(bytes)),
            Value::Undefined => return Err(ErrorKind::Uninitialised.into()),
        };
        self.set(frame, dst, value);
        Ok(())
    }

    fn step_copy(&mut self, frame: &CallFrame<'m>, dst: Operand, src: Operand, size: Operand) -> Result<(), Stop> {
        let (to, from) = (self.used(frame, dst)?, self.used(frame, src)?);
        let size = self.int(frame, size)?;
        if size > 0 {
            // The source is looked at first, in whole; the engine does so, too.
            let from = self.memory.resolve(from)?;
            self.memory.check_read(from, size).map_err(|kind| self.access_error(from, kind))?;
            let to = self.memory.resolve(to)?;
            self.memory.copy(to, from, size).map_err(|kind| match self.access_error(from, kind) {
                Stop::Error(kind) => self.access_error(to, kind),
                stop => stop,
            })?;
        }
        Ok(())
    }

    fn step_set(&mut self, frame: &CallFrame<'m>, dst: Operand, value: Operand, size: Operand) -> Result<(), Stop> {
        let (to, byte) = (self.used(frame, dst)?, self.int(frame, value)? as u8);
        let size = self.int(frame, size)?;
        if size > 0 {
            let to = self.memory.resolve(to)?;
            self.memory.fill(to, byte, size).map_err(|kind| self.access_error(to, kind))?;
        }
        Ok(())
    }

    /// What a failed access means: of a variable that the module only declares nothing is known.
    #[cold]
    fn access_error(&self, place: Pointer, kind: ErrorKind) -> Stop {
        let unknown = matches!(kind, ErrorKind::Uninitialised | ErrorKind::OutOfBounds);
        let global = self.globals.iter().find(|(_, object)| **object == place.object).map(|(id, _)| id);
        match global.map(|id| &self.module.globals[id]) {
            Some(global) if unknown && global.linkage == Linkage::Undefined => {
                Stop::Unsupported(Unrunnable::ExternalVariable(global.name.clone()))
            }
            _ => Stop::Error(kind),
        }
    }

    // Terminators.

    /// Where control goes on in this frame, or `None` if it was left.
    #[inline]
    fn finish_block(
        &mut self,
        frame: &CallFrame<'m>,
        kind: &'m TermKind,
        observer: &mut impl Observer,
    ) -> Result<Option<BlockId>, Stop> {
        let (func, block) = (frame.func, frame.block);
        match kind {
            TermKind::Jump(target) => Ok(Some(*target)),
            TermKind::Branch { cond, then_block, else_block, role, tag } => {
                let taken = self.int(frame, *cond)? != 0;
                observer.event(&Event::Branch { func, block, role: *role, tag: *tag, taken });
                Ok(Some(if taken { *then_block } else { *else_block }))
            }
            TermKind::Switch { value, arms, default, role } => {
                let bits = self.operand_ty(frame, *value).bits();
                let value = self.int(frame, *value)?;
                let target = arms.iter().find(|arm| holds(arm, value, bits)).map_or(*default, |arm| arm.target);
                let arm = arms.iter().position(|arm| arm.target == target).unwrap_or(arms.len());
                observer.event(&Event::Switch { func, block, role: *role, arm, target });
                Ok(Some(target))
            }
            TermKind::Return(value) => {
                // A variable is read here; what a callee did not return may be passed on, if nobody looks at it.
                let read = matches!(value, Some(Operand::Reg(reg)) if frame.function.regs[*reg].name.is_some());
                let value = value.map(|value| self.get(frame, value));
                if read && value == Some(Value::Undefined) {
                    return Err(ErrorKind::Uninitialised.into());
                }
                self.step_return(value, observer);
                Ok(None)
            }
            TermKind::Throw(value) => {
                let thrown = self.used(frame, *value)?;
                self.step_throw(thrown, observer)?;
                Ok(None)
            }
            TermKind::Catch { next, .. } => Ok(Some(*next)),
            TermKind::Unsupported(what) => Err(Stop::Unsupported(Unrunnable::Construct(what.clone()))),
            TermKind::Unreachable => Err(Stop::Error(ErrorKind::Unreachable)),
        }
    }
}

/// Whether a switch arm holds a value of this width.
fn holds(arm: &SwitchArm, value: u64, bits: u8) -> bool {
    if arm.signed {
        let signed = |value| sign_extend(value, bits);
        signed(arm.low) <= signed(value) && signed(value) <= signed(arm.high)
    } else {
        arm.low <= value && value <= arm.high
    }
}
