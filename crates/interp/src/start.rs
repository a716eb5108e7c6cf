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
use touchstone_ir::{DataType, Global, GlobalId, GlobalRole, Init, Linkage, Module, Ty};

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
    let refusals = [
        (output.0, Unrunnable::OutputAtStart),
        (!machine.requests.is_empty(), Unrunnable::InputAtStart),
        (machine.has_work_at_exit(), Unrunnable::EndAtStart),
        (machine.shows_addresses(), Unrunnable::AddressAtStart),
    ];
    if let Some((_, what)) = refusals.into_iter().find(|(refused, _)| *refused) {
        return Err(unsupported(what));
    }
    left(module, &machine)
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

fn left(module: &Module, machine: &Machine<'_>) -> Result<Module, End> {
    let mut made = Module { startup: Vec::new(), ..module.clone() };
    let own = |id: ObjectId| machine.object(id).kind == ObjectKind::Heap;
    let heap: Vec<ObjectId> = machine.memory.live().filter(|id| own(*id)).collect();
    let mut globals: BTreeMap<ObjectId, GlobalId> =
        module.globals.ids().map(|id| (machine.global_object(id), id)).collect();
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
                role: GlobalRole::Heap,
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
            if global.init.is_some() || global.role == GlobalRole::Heap || !contents.is_empty() {
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
