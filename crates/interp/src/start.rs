//! Start-up: runs the functions that come before all others, once, and gives the module that they leave.
//!
//! What is left is data: contents of globals, and objects of the heap. So whoever runs or explores the program afterwards
//! starts from the same memory, without a run of its own, and the module can be kept. What can't be data is named:
//! output, inputs, numbers made of addresses, bytes that nobody wrote, pointers to what is no more.

use crate::machine::{End, Limits, Machine};
use crate::memory::ObjectKind;
use crate::observer::{Event, Observer};
use crate::unrunnable::Unrunnable;
use crate::value::{ObjectId, Pointer, Value};
use std::collections::BTreeMap;
use touchstone_base::{Id, Span};
use touchstone_ir::{DataType, FuncId, Global, GlobalId, GlobalRole, Init, LazyModule, Linkage, Module, Ty};

/// The module as its start-up functions leave it, without them.
///
/// # Errors
/// How start-up ended, if it did not return.
pub fn started(module: &Module, limits: Limits) -> Result<Module, End> {
    if module.startup.is_empty() {
        return Ok(module.clone());
    }
    let mut machine = Machine::new(module, limits);
    let mut output = Output(false);
    for function in &module.startup {
        match machine.call_now(*function, &[], &mut output) {
            End::Returned(_) => {}
            end => return Err(end),
        }
    }
    match refused(&machine, &output) {
        Some(what) => Err(unsupported(what)),
        None => left(module, &machine, |_| true),
    }
}

/// What was done at start that can't be data.
fn refused(machine: &Machine<'_>, output: &Output) -> Option<Unrunnable> {
    let refusals = [
        (output.0, Unrunnable::OutputAtStart),
        (!machine.requests.is_empty(), Unrunnable::InputAtStart),
        (machine.has_work_at_exit(), Unrunnable::EndAtStart),
        (machine.shows_addresses(), Unrunnable::AddressAtStart),
    ];
    refusals.into_iter().find(|(refused, _)| *refused).map(|(_, what)| what)
}

/// Start-up of a program that grows: its functions run one by one, and those that can't be run at start are left out.
pub struct Starting<'p> {
    module: &'p Module,
    growing: &'p dyn LazyModule,
    limits: Limits,
    machine: Machine<'p>,
    /// What ran, and whose it is.
    ran: Vec<(FuncId, Whose)>,
    /// Objects of the heap that the program's own functions made: from, to.
    own: Vec<(ObjectId, ObjectId)>,
}

/// Whose a function is that runs at start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// The language's own library's.
    Library,
    /// The program's.
    Program,
}

impl<'p> Starting<'p> {
    /// Nothing ran yet.
    pub fn new(module: &'p Module, growing: &'p dyn LazyModule, limits: Limits) -> Starting<'p> {
        let machine = Machine::growing(module, growing, limits);
        Starting { module, growing, limits, machine, ran: Vec::new(), own: Vec::new() }
    }

    fn next_object(&self) -> ObjectId {
        self.machine.memory.live().max().map_or(ObjectId::new(0), |last| ObjectId::new(last.index() + 1))
    }

    /// Runs a function.
    ///
    /// # Errors
    /// Why it can't be run; it is then as if it had not begun.
    pub fn run(&mut self, function: FuncId, whose: Whose) -> Result<(), End> {
        let end = self.step(function, whose);
        match end {
            Ok(()) => self.ran.push((function, whose)),
            Err(_) => {
                self.machine = Machine::growing(self.module, self.growing, self.limits);
                self.own.clear();
                for (earlier, whose) in self.ran.clone() {
                    self.step(earlier, whose)?;
                }
            }
        }
        end
    }

    fn step(&mut self, function: FuncId, whose: Whose) -> Result<(), End> {
        let (mut output, from) = (Output(false), self.next_object());
        match self.machine.call_now(function, &[], &mut output) {
            End::Returned(_) => match refused(&self.machine, &output) {
                Some(what) => return Err(unsupported(what)),
                None if whose == Whose::Program => self.own.push((from, self.next_object())),
                None => {}
            },
            end => return Err(end),
        }
        Ok(())
    }

    /// The module with the globals that are left; it has all functions and globals that were met. Objects of the program that
    /// begin with a word that is `fixed` are never changed.
    ///
    /// # Errors
    /// If something is left that is no data.
    pub fn left(&self, met: &Module, fixed: &dyn Fn(u32) -> bool) -> Result<Module, End> {
        let word = |object: ObjectId| match self.machine.read_bytes(object, 0, 4).ok().as_deref() {
            Some([a, b, c, d]) => Some(u32::from_le_bytes([*a, *b, *c, *d])),
            _ => None,
        };
        left(met, &self.machine, |object| {
            let is_own = self.own.iter().any(|(from, to)| (*from..*to).contains(&object));
            is_own && !word(object).is_some_and(fixed)
        })
    }
}

/// Whether anything was written.
struct Output(bool);

impl Observer for Output {
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, _: &[u8]) {
        self.0 = true;
    }
    fn error_output(&mut self, _: &[u8]) {
        self.0 = true;
    }
}

fn unsupported(what: Unrunnable) -> End {
    End::Unsupported { what, span: Span::none() }
}

/// `is_own` says which objects of the heap are the program's.
fn left(module: &Module, machine: &Machine<'_>, is_own: impl Fn(ObjectId) -> bool) -> Result<Module, End> {
    let mut made = Module { startup: Vec::new(), ..module.clone() };
    let own = |id: ObjectId| machine.object(id).kind == ObjectKind::Heap;
    let heap: Vec<ObjectId> = machine.memory.live().filter(|id| own(*id)).collect();
    let mut globals: BTreeMap<ObjectId, GlobalId> =
        module.globals.ids().filter_map(|id| Some((machine.known_global(id)?, id))).collect();
    if !heap.is_empty() {
        let data = made.types.push(DataType::Opaque { name: "heap object".to_string(), size: 0, align: 8 });
        for object in &heap {
            let id = made.globals.push(Global {
                name: format!("<heap {}>", object.index()),
                span: Span::none(),
                data,
                size: machine.object(*object).size,
                constant: false,
                linkage: Linkage::Local,
                display_name: None,
                role: if is_own(*object) { GlobalRole::Heap } else { GlobalRole::Runtime },
                function: None,
                init: None,
            });
            globals.insert(*object, id);
        }
    }
    for (object, id) in &globals {
        let global = &mut made.globals[*id];
        let unchangeable = global.constant || global.function.is_some() || global.linkage == Linkage::Undefined;
        if !unchangeable {
            let contents = contents(machine, *object, &globals)?;
            // What nothing initialises is an input: only a change is told.
            let is_object = matches!(global.role, GlobalRole::Heap | GlobalRole::Runtime);
            if global.init.is_some() || is_object || !contents.is_empty() {
                global.init = Some(contents);
            }
        }
    }
    Ok(made)
}

/// What an object holds, without zeros at its ends and between pointers.
fn contents(machine: &Machine<'_>, object: ObjectId, globals: &BTreeMap<ObjectId, GlobalId>) -> Result<Vec<Init>, End> {
    let size = machine.object(object).size;
    let bytes = machine.read_bytes(object, 0, size);
    let bytes = bytes.map_err(|_| unsupported(Unrunnable::UnwrittenAtStart))?;
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in machine.memory.pointer_places(object) {
        put_bytes(&mut pieces, from, &bytes[from as usize..at as usize]);
        from = at + 8;
        match machine.memory.load(Pointer { object, offset: at as i64 }, Ty::Ptr) {
            Ok(Value::Ptr(Pointer { object: target, offset })) => {
                let global = globals.get(&target).ok_or_else(|| unsupported(Unrunnable::DanglingAtStart))?;
                pieces.push(Init::GlobalAddr { offset: at, global: *global, addend: offset });
            }
            _ => return Err(unsupported(Unrunnable::PartOfPointerAtStart)),
        }
    }
    put_bytes(&mut pieces, from, &bytes[from as usize..]);
    Ok(pieces)
}

fn put_bytes(pieces: &mut Vec<Init>, offset: u64, bytes: &[u8]) {
    let Some(first) = bytes.iter().position(|byte| *byte != 0) else { return };
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(first, |last| last + 1);
    pieces.push(Init::Bytes { offset: offset + first as u64, bytes: bytes[first..end].to_vec() });
}
