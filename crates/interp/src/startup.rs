//! Start-up: runs the start-up functions once, and returns the module with the memory that they leave.
//!
//! The result is data: contents of globals, and objects of the heap. So executions and explorations of the program
//! begin with the same memory without running start-up themselves, and the module can be cached. Effects that are not
//! data are reported: output, inputs, integers that stem from addresses, undefined bytes, dangling pointers.

use crate::environment_taint::SkippedStatement;
use crate::machine::{End, Limits, Machine};
use crate::memory::ObjectKind;
use crate::observer::{Event, Observer};
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{ObjectId, Pointer, Value};
use std::collections::BTreeMap;
use touchstone_base::{Id, Span};
use touchstone_ir::{DataType, FuncId, Global, GlobalId, GlobalRole, Init, LazyModule, Linkage, Module, Ty};

/// Returns the module after its start-up functions, and without them.
///
/// # Errors
/// Returns the end of start-up if it did not return.
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

/// Returns the effect of start-up that is not data, if there is one.
fn refused(machine: &Machine<'_>, output: &Output) -> Option<UnsupportedOperation> {
    let refusals = [
        (output.0, UnsupportedOperation::OutputAtStart),
        (!machine.requests.is_empty(), UnsupportedOperation::InputAtStart),
        (machine.has_work_at_exit(), UnsupportedOperation::EndAtStart),
        (machine.shows_addresses(), UnsupportedOperation::AddressAtStart),
    ];
    refusals.into_iter().find(|(refused, _)| *refused).map(|(_, what)| what)
}

/// The start-up of a program that grows: its functions run one by one, and those that cannot be run are left out.
pub struct Startup<'p> {
    module: &'p Module,
    growing: &'p dyn LazyModule,
    limits: Limits,
    machine: Machine<'p>,
    /// The functions that ran, with their owners.
    ran: Vec<(FuncId, StartupOwner)>,
    /// The ranges of heap objects that the program's own functions allocated.
    own: Vec<(ObjectId, ObjectId)>,
    /// The statements of the program's functions that cannot be run.
    skipped: Vec<SkippedStatement>,
}

/// The maximum number of statements that are skipped.
const MAX_SKIPPED_STATEMENTS: usize = 50;

/// The owner of a start-up function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartupOwner {
    /// The language's own library.
    Library,
    /// The program.
    Program,
}

impl<'p> Startup<'p> {
    /// Creates a start-up in which no function has run yet.
    pub fn new(module: &'p Module, growing: &'p dyn LazyModule, limits: Limits) -> Startup<'p> {
        let machine = Machine::growing(module, growing, limits);
        Startup { module, growing, limits, machine, ran: Vec::new(), own: Vec::new(), skipped: Vec::new() }
    }

    fn next_object(&self) -> ObjectId {
        self.machine.memory.live().max().map_or(ObjectId::new(0), |last| ObjectId::new(last.index() + 1))
    }

    /// Runs a function.
    ///
    /// # Errors
    /// Returns the reason for which it cannot be run; it then has no effect.
    pub fn run(&mut self, function: FuncId, owner: StartupOwner) -> Result<(), End> {
        loop {
            let end = self.step(function, owner);
            if end.is_ok() {
                self.ran.push((function, owner));
                return end;
            }
            let skipped = self.machine.taint.as_mut().and_then(|taint| taint.unsupported.take());
            let again = skipped.is_some() && self.skipped.len() < MAX_SKIPPED_STATEMENTS;
            self.skipped.extend(skipped.filter(|_| again));
            self.machine = Machine::growing(self.module, self.growing, self.limits);
            self.own.clear();
            for (earlier, owner) in self.ran.clone() {
                self.step(earlier, owner)?;
            }
            if !again {
                return end;
            }
        }
    }

    /// Returns the globals that depend on the environment of a run, each with the source that it depends on.
    pub fn environment_dependent(&self) -> BTreeMap<GlobalId, String> {
        let Some(taint) = &self.machine.taint else { return BTreeMap::new() };
        let mut found = taint.objects.clone();
        if !found.is_empty() {
            // Objects that point to such an object depend on it as well.
            let mut pointing: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
            for object in self.machine.memory.live() {
                for at in self.machine.memory.pointer_places(object) {
                    let place = Pointer { object, offset: at as i64 };
                    if let Ok(Value::Ptr(Pointer { object: target, .. })) = self.machine.memory.load(place, Ty::Ptr) {
                        pointing.entry(target).or_default().push(object);
                    }
                }
            }
            let mut worklist: Vec<ObjectId> = found.keys().copied().collect();
            while let Some(target) = worklist.pop() {
                let source = found[&target].clone();
                for object in pointing.get(&target).into_iter().flatten() {
                    if !found.contains_key(object) {
                        found.insert(*object, source.clone());
                        worklist.push(*object);
                    }
                }
            }
        }
        let globals = (0..self.machine.number_of_globals()).map(GlobalId::new);
        let by_object = globals.filter_map(|id| Some((id, found.get(&self.machine.known_global(id)?)?.clone())));
        by_object.chain(taint.globals.clone()).collect()
    }

    fn step(&mut self, function: FuncId, owner: StartupOwner) -> Result<(), End> {
        let (mut output, from) = (Output(false), self.next_object());
        let taint = self.machine.taint.get_or_insert_default();
        taint.begin(owner == StartupOwner::Program);
        taint.skipped.clone_from(&self.skipped);
        match self.machine.call_now(function, &[], &mut output) {
            End::Returned(_) => match refused(&self.machine, &output) {
                Some(what) => return Err(unsupported(what)),
                None if owner == StartupOwner::Program => self.own.push((from, self.next_object())),
                None => {}
            },
            end => return Err(end),
        }
        Ok(())
    }

    /// Returns the module with the resulting globals; it contains all functions and globals that were used. Objects of
    /// the program that begin with a `fixed` word are never changed.
    ///
    /// # Errors
    /// Fails if the result is not data.
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

/// True after any output.
struct Output(bool);

impl Observer for Output {
    const WATCHES_POINTS: bool = false;
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, _: &[u8]) {
        self.0 = true;
    }
    fn error_output(&mut self, _: &[u8]) {
        self.0 = true;
    }
}

fn unsupported(what: UnsupportedOperation) -> End {
    End::Unsupported { what, span: Span::none() }
}

/// Returns the module after start-up; `is_own` selects the heap objects of the program.
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
            // A variable without an initialiser is an input, so only a change is recorded.
            let is_object = matches!(global.role, GlobalRole::Heap | GlobalRole::Runtime);
            if global.init.is_some() || is_object || !contents.is_empty() {
                global.init = Some(contents);
            }
        }
    }
    Ok(made)
}

/// Returns the contents of an object, without zeros at its ends and between pointers.
fn contents(machine: &Machine<'_>, object: ObjectId, globals: &BTreeMap<ObjectId, GlobalId>) -> Result<Vec<Init>, End> {
    let size = machine.object(object).size;
    let bytes = machine.read_bytes(object, 0, size);
    let bytes = bytes.map_err(|_| unsupported(UnsupportedOperation::UnwrittenAtStart))?;
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in machine.memory.pointer_places(object) {
        put_bytes(&mut pieces, from, &bytes[from as usize..at as usize]);
        from = at + 8;
        match machine.memory.load(Pointer { object, offset: at as i64 }, Ty::Ptr) {
            Ok(Value::Ptr(Pointer { object: target, offset })) => {
                let global = globals.get(&target).ok_or_else(|| unsupported(UnsupportedOperation::DanglingAtStart))?;
                pieces.push(Init::GlobalAddr { offset: at, global: *global, addend: offset });
            }
            _ => return Err(unsupported(UnsupportedOperation::PartOfPointerAtStart)),
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
