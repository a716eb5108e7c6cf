//! The machine: frames, registers and the instruction loop. `step.rs` executes single instructions, `decoded_loop.rs` the
//! frequent cases of them, and `interface.rs` is the interface for inputs, memory and results.

mod decoded_calls;
mod decoded_loop;
mod interface;
mod step;

use crate::decoded_code::DecodedFunctions;
use crate::environment_taint::EnvironmentTaint;
use crate::memory::{AddressLayout, Fill, Memory, ObjectKind};
use crate::observer::{Event, Observer};
use crate::state_view::StateView;
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{ObjectId, Pointer, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use touchstone_base::{Id, IndexMap, Span, WorkKind, spend};
use touchstone_ir::{
    BlockId, ErrorKind, FuncId, Function, GlobalId, Init, InputSource, LazyModule, Linkage, Module, Operand, Reg,
    SlotId, Terminator, Ty, mask,
};

/// The resource limits of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The maximum number of instructions and terminators of one [`Machine::call`].
    pub steps: u64,
    /// The maximum depth of calls.
    pub frames: usize,
    /// The maximum size of all live objects in bytes, plus a constant for every object ever allocated.
    pub heap_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 10_000_000, frames: 10_000, heap_bytes: 1 << 30 }
    }
}

/// The kind of a limit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LimitKind {
    /// [`Limits::steps`].
    Steps,
    /// [`Limits::frames`].
    Frames,
    /// [`Limits::heap_bytes`].
    Memory,
}

/// The end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The function returned.
    Returned(Option<Value>),
    /// An uncaught exception.
    Threw {
        /// The thrown object.
        thrown: Value,
        /// Its class: the tag of the object, if the module says where objects store it.
        class: Option<u64>,
    },
    /// The program exited with this status.
    Exited(i32),
    /// The run is in an infinite loop without side effects.
    Hung,
    /// An error.
    Error {
        /// The kind of the error.
        kind: ErrorKind,
        /// Its location.
        span: Span,
    },
    /// An assumption was false: this is not a run of the program.
    Assumed,
    /// A limit was reached.
    Limit(LimitKind),
    /// An operation that the interpreter does not support.
    Unsupported {
        /// The operation.
        what: UnsupportedOperation,
        /// Its location.
        span: Span,
    },
}

/// An input for a request of the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Provided {
    /// The kind of request that it belongs to.
    pub source: InputSource,
    /// The name of the request; only optional inputs are matched by name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The pointers among the bytes, with their offsets.
    pub pointers: Vec<(usize, Value)>,
}

/// An input that the program requested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputRequest {
    /// The kind of request.
    pub source: InputSource,
    /// The name that the program gave it.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
}

/// A side effect of a function that is only described, on a pointee or a global.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExternalEffect {
    /// The number of inputs that were requested before.
    pub after: usize,
    /// The kind of the side effect.
    pub source: InputSource,
    /// The location, as `function.place`.
    pub name: String,
    /// The bytes; undefined ones are 0.
    pub bytes: Vec<u8>,
    /// The pointers among the bytes, with their offsets.
    pub pointers: Vec<(usize, Value)>,
}

/// The reason for which an instruction does not continue with the next one.
pub(crate) enum Stop {
    Error(ErrorKind),
    Threw { thrown: Value, class: Option<u64> },
    Exit(i32),
    Hung,
    Assumed,
    Limit(LimitKind),
    Unsupported(UnsupportedOperation),
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

/// An active call. Its registers are `regs[reg_base..]`, its slots `slots[slot_base..]` (allocated at their first use).
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
    /// A number that identifies the call.
    pub serial: u64,
}

/// The successor of an instruction.
pub(crate) enum ControlTransfer {
    Next,
    Call {
        callee: FuncId,
        result: Option<Reg>,
    },
    /// A mark is set after this instruction.
    ReturnMark {
        buffer: Pointer,
        result: Option<Reg>,
    },
    /// Control continues at a mark.
    Resume {
        mark: usize,
        value: u64,
    },
}

/// A location that control may return to.
#[derive(Clone, Copy)]
pub(crate) struct ReturnMark {
    /// The index of its call.
    pub depth: usize,
    pub serial: u64,
    pub block: BlockId,
    pub next: usize,
    pub result: Option<Reg>,
}

/// Runs functions of a module.
#[derive(Clone)]
pub struct Machine<'m> {
    module: &'m Module,
    /// The source of functions and globals that the module does not contain yet.
    growing: Option<&'m dyn LazyModule>,
    /// The functions in a form that executes faster.
    decoded: Arc<DecodedFunctions>,
    limits: Limits,
    pub(crate) memory: Memory<'m>,
    globals: Arc<IndexMap<GlobalId, ObjectId>>,
    /// The objects of globals that the module does not contain.
    pub(crate) late_globals: Vec<Option<ObjectId>>,
    /// True if an object could not be allocated outside of a run; the next call reports it.
    out_of_memory: bool,
    inputs: std::collections::VecDeque<Provided>,
    pub(crate) requests: Vec<InputRequest>,
    pub(crate) frames: Vec<CallFrame<'m>>,
    pub(crate) regs: Vec<Value>,
    slots: Vec<Option<ObjectId>>,
    /// The arguments of the current call.
    arguments: Vec<Value>,
    steps_left: u64,
    /// True after an operation that traps on common machines.
    traps: bool,
    /// True after an operation with results that are known only for one run of a whole program.
    pub(crate) single_run: bool,
    /// True after an operation with a result that depends on the layout of objects.
    layout_dependent: bool,
    /// The number of allocations so far, and the numbers (from 1) of those that fail.
    pub(crate) allocations: u64,
    failing: BTreeSet<u64>,
    /// The blocks of device registers that the program accessed, by address, if there are any.
    pub(crate) registers: Option<BTreeMap<u64, ObjectId>>,
    /// The member by which each union was accessed last.
    union_members: BTreeMap<(ObjectId, i64), usize>,
    /// The variadic arguments of calls from outside.
    variable: BTreeSet<ObjectId>,
    missed: Option<(ObjectId, i64, usize)>,
    /// The calls of external functions.
    calls: Option<Vec<(String, Vec<Value>)>>,
    external_effects: Vec<ExternalEffect>,
    /// The functions to run at exit, in reverse order.
    at_exit: Vec<FuncId>,
    /// The locations that control may return to; buffers contain indices into this list.
    pub(crate) marks: Vec<ReturnMark>,
    /// The object that these buffers point into, once there is a mark.
    pub(crate) mark_object: Option<ObjectId>,
    /// The number of calls so far.
    serials: u64,
    /// The objects that depend on the environment, during start-up.
    pub(crate) taint: Option<Box<EnvironmentTaint>>,
}

impl<'m> Machine<'m> {
    /// Creates a machine with all globals as at program start.
    pub fn new(module: &'m Module, limits: Limits) -> Self {
        Machine::with_layout(module, limits, AddressLayout::default())
    }

    /// Creates a machine for a module that grows.
    pub fn growing(module: &'m Module, growing: &'m dyn LazyModule, limits: Limits) -> Self {
        let decoded = Arc::new(DecodedFunctions::new(module.functions.len(), true));
        Machine { growing: Some(growing), decoded, ..Machine::new(module, limits) }
    }

    /// Executes every instruction by its definition from now on, which is slower: for comparisons.
    #[must_use]
    pub fn without_decoding(self) -> Self {
        Machine { decoded: Arc::new(DecodedFunctions::new(0, false)), ..self }
    }

    /// Creates a machine with another layout of objects.
    pub fn with_layout(module: &'m Module, limits: Limits, layout: AddressLayout) -> Self {
        let mut machine = Machine {
            module,
            growing: None,
            decoded: Arc::new(DecodedFunctions::new(module.functions.len(), false)),
            limits,
            memory: Memory::new(limits.heap_bytes, layout),
            globals: Arc::default(),
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
            single_run: false,
            layout_dependent: false,
            allocations: 0,
            failing: BTreeSet::new(),
            registers: None,
            union_members: BTreeMap::new(),
            variable: BTreeSet::new(),
            missed: None,
            calls: Some(Vec::new()),
            external_effects: Vec::new(),
            at_exit: Vec::new(),
            marks: Vec::new(),
            mark_object: None,
            serials: 0,
            taint: None,
        };
        machine.make_globals();
        machine
    }

    /// Creates a template: its copies share all globals until they write to them. Returns `None` if a global is so
    /// large that zeroing it is cheaper than copying.
    pub fn template(module: &'m Module, layout: AddressLayout) -> Option<Self> {
        const LARGE: u64 = 1 << 20;
        let limits = Limits { heap_bytes: u64::MAX, ..Limits::default() };
        let small = module.globals.values().all(|global| global.size <= LARGE);
        small.then(|| {
            let mut machine = Machine::with_layout(module, limits, layout);
            machine.memory.share();
            machine
        })
    }

    /// Copies the machine, with limits of its own.
    pub fn copy(&self, limits: Limits) -> Self {
        let mut machine = Machine { limits, ..self.clone() };
        machine.out_of_memory |= !machine.memory.limit_to(limits.heap_bytes);
        machine
    }

    /// Moves the machine to another module with the same globals, of which some functions differ.
    pub fn running<'o>(self, module: &'o Module) -> Machine<'o>
    where
        'm: 'o,
    {
        debug_assert_eq!(module.globals.len(), self.module.globals.len());
        let decoded = Arc::new(DecodedFunctions::new(module.functions.len(), self.growing.is_some()));
        Machine { module, decoded, ..self }
    }

    fn make_globals(&mut self) {
        let mut globals = IndexMap::new();
        for global in self.module.globals.values() {
            let fill = if global.linkage == Linkage::Undefined { Fill::Undefined } else { Fill::Zero };
            let object = self.make_object(global.size, Cow::Borrowed(&global.name), ObjectKind::Global, fill);
            globals.push(object);
        }
        self.globals = Arc::new(globals);
        for (id, global) in self.module.globals.iter() {
            let object = self.globals[id];
            for piece in global.init.iter().flatten() {
                // Out of bounds only if the object could not be allocated, which the next call reports.
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

    /// Returns the number of steps of the last call.
    pub fn steps_taken(&self) -> u64 {
        self.limits.steps - self.steps_left
    }

    /// Calls a function. Memory persists between calls. A module with start-up functions must have been
    /// [started](crate::started).
    pub fn call(&mut self, function: FuncId, args: &[Value], observer: &mut impl Observer) -> End {
        if !self.module.startup.is_empty() {
            return End::Unsupported { what: UnsupportedOperation::StartUp, span: self.span_of(function) };
        }
        self.call_now(function, args, observer)
    }

    /// Calls a function, also before the module has started.
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
        spend(WorkKind::Run, 1);
        spend(WorkKind::Step, self.steps_taken());
        while let Some(frame) = self.frames.pop() {
            self.leave(&frame);
        }
        end
    }

    /// Runs the functions registered for the exit of a whole program, in reverse order, after its `main` has ended.
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
        let decoded = Arc::clone(&self.decoded);
        while let Some(&frame) = self.frames.last() {
            if let Err((stop, span)) = self.run_frame(frame, &decoded, observer) {
                self.note_unsupported_statement(&stop);
                return stop.at(span);
            }
        }
        End::Returned(self.arguments.pop())
    }

    /// Runs the innermost frame up to a call or its return. Its position is written back only at a call, because
    /// nothing reads it before.
    #[inline(never)]
    fn run_frame<O: Observer>(
        &mut self,
        mut frame: CallFrame<'m>,
        decoded: &DecodedFunctions,
        observer: &mut O,
    ) -> Result<(), (Stop, Span)> {
        // The taint analysis watches every instruction.
        let mut code =
            if self.taint.is_some() { None } else { decoded.get(frame.func, frame.function, O::WATCHES_POINTS) };
        loop {
            if let Some(known) = code {
                code = Some(self.run_decoded(&mut frame, known, decoded, observer));
            }
            let block = &frame.function.blocks[frame.block];
            let Some(inst) = block.insts.get(frame.next) else {
                let Terminator { kind, span } = &block.terminator;
                match self.tick().and_then(|()| self.finish_block(&frame, kind, observer)) {
                    Ok(Some(target)) => (frame.block, frame.next) = (target, 0),
                    Ok(None) => return Ok(()),
                    Err(stop) => return Err((stop, *span)),
                }
                continue;
            };
            if let Some(taint) = &mut self.taint
                && let Some(end) = taint.at(self.frames.len(), frame.func, frame.function, (frame.block, frame.next))
            {
                (frame.block, frame.next) = end;
                continue;
            }
            match self.tick().and_then(|()| self.step(&frame, inst, observer)) {
                Ok(ControlTransfer::Next) => frame.next += 1,
                Ok(ControlTransfer::Call { callee, result }) => {
                    if let Some(top) = self.frames.last_mut() {
                        (top.block, top.next) = (frame.block, frame.next + 1);
                    }
                    return self.enter(callee, result, observer).map_err(|stop| (stop, inst.span));
                }
                Ok(ControlTransfer::ReturnMark { buffer, result }) => {
                    frame.next += 1;
                    self.set_mark(&frame, buffer, result).map_err(|stop| (stop, inst.span))?;
                }
                Ok(ControlTransfer::Resume { mark, value }) => {
                    return self.resume(mark, value, observer).map_err(|stop| (stop, inst.span));
                }
                Err(stop) => return Err((stop, inst.span)),
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
    fn enter<O: Observer>(&mut self, callee: FuncId, result: Option<Reg>, observer: &mut O) -> Result<(), Stop> {
        let Some(function) = self.function(callee) else {
            return Err(Stop::Unsupported(UnsupportedOperation::ExternalFunction(callee.to_string())));
        };
        if !function.is_defined() {
            return Err(Stop::Unsupported(UnsupportedOperation::ExternalFunction(function.name.clone())));
        }
        if self.frames.len() >= self.limits.frames {
            return Err(Stop::Limit(LimitKind::Frames));
        }
        if self.arguments.len() != function.params.len() {
            return Err(Stop::Unsupported(UnsupportedOperation::OtherNumberOfArguments(function.name.clone())));
        }
        let (reg_base, slot_base) = (self.regs.len(), self.slots.len());
        match self.decoded.get(callee, function, O::WATCHES_POINTS) {
            Some(code) => self.regs.extend_from_slice(&code.initial),
            None => self.regs.resize(reg_base + function.regs.len(), Value::Undefined),
        }
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

    /// Ends the lifetime of the objects of a popped frame.
    #[inline]
    pub(crate) fn leave(&mut self, frame: &CallFrame<'m>) {
        while self.slots.len() > frame.slot_base {
            if let Some(object) = self.slots.pop().flatten() {
                self.memory.kill(object);
            }
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
                    // The result of the outermost call is passed through the argument list.
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

    /// Ties the lifetime of an object to the innermost frame, after its slots.
    pub(crate) fn add_to_frame(&mut self, object: ObjectId) {
        self.slots.push(Some(object));
    }

    /// Returns true if functions are registered for the exit.
    pub(crate) fn has_work_at_exit(&self) -> bool {
        !self.at_exit.is_empty()
    }

    pub(crate) fn module(&self) -> &'m Module {
        self.module
    }

    pub(crate) fn grows(&self) -> Option<&'m dyn LazyModule> {
        self.growing
    }

    #[inline]
    pub(crate) fn function(&self, id: FuncId) -> Option<&'m Function> {
        match self.module.functions.get(id) {
            Some(function) => Some(function),
            None => self.growing?.function(id),
        }
    }

    fn span_of(&self, id: FuncId) -> Span {
        self.module.functions.get(id).map_or(Span::none(), |function| function.span)
    }

    // Accessors of a view.

    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns a register of the innermost frame.
    pub(crate) fn register(&self, frame: &CallFrame<'m>, reg: Reg) -> Option<Value> {
        let is_own = reg.index() < frame.function.regs.len();
        is_own.then(|| self.regs[frame.reg_base + reg.index()])
    }

    /// Returns the object of a slot of the innermost frame, or `None` if it is not allocated yet.
    pub(crate) fn slot_object(&self, frame: &CallFrame<'m>, slot: SlotId) -> Option<ObjectId> {
        self.slots.get(frame.slot_base + slot.index()).copied().flatten()
    }

    /// Returns the number of globals of the module, with those that were added since.
    pub(crate) fn number_of_globals(&self) -> usize {
        self.globals.len() + self.late_globals.len()
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

    /// Returns a value that is used, so it must not be undefined.
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
}
