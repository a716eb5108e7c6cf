//! Havoc: external functions may write every object that they can reach.

use crate::exec::executor::Executor;
use crate::exec::memory::access::Written;
use crate::exec::memory::object_layout::layout;
use crate::state::memory::{Cell, Contents, ObjectKind, ObjectShape, disassemble, global_object};
use crate::state::value::{ObjectId, Value};
use crate::state::{State, Stop};
use std::collections::BTreeSet;
use touchstone_base::Span;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_criteria::Caveat;
use touchstone_ir::{ByteWrites, DataType, DataTypeId, MemorySharing, Ty};
use touchstone_solver::Element;

/// The maximum size of an object that is havocked; beyond it the path is given up.
const MAX_HAVOC_BYTES: u64 = 4096;

impl Executor<'_> {
    /// Havocs everything that an external function can reach: globals, input objects, its arguments, and objects that
    /// escaped to earlier calls.
    pub(crate) fn havoc_after_external_call(
        &mut self,
        state: &mut State,
        name: &str,
        given: &[Value],
        span: Span,
    ) -> Result<(), Stop> {
        let name = if self.module.functions[state.top().func].is_callback() { "a callback" } else { name };
        let caveat = Caveat::External(name.to_string());
        if !self.considers(caveat.clone()) || is_injected(Fault::ExternalKeepsMemory) {
            return Ok(());
        }
        let globals = self.module.globals.iter().filter(|(_, global)| !global.constant && global.function.is_none());
        let mut reached: BTreeSet<ObjectId> = globals.map(|(id, _)| global_object(id)).collect();
        reached.extend(state.inputs.objects.iter().map(|input| input.object));
        // The function may have kept pointers that it received earlier.
        reached.extend(&state.inputs.escaped);
        given.iter().for_each(|value| self.add_pointees(state, value, &mut reached));
        let mut pending: Vec<ObjectId> = reached.iter().copied().collect();
        while let Some(object) = pending.pop() {
            for target in self.pointed_to(state, object) {
                if reached.insert(target) {
                    pending.push(target);
                }
            }
        }
        let own = |object: &ObjectId| {
            let known = state.memory.get(*object);
            known.live && matches!(known.kind, ObjectKind::Slot | ObjectKind::Heap)
        };
        let escaped: Vec<ObjectId> = reached.iter().copied().filter(own).collect();
        state.inputs_mut().escaped = escaped;
        for object in reached {
            let known = state.memory.get(object);
            let used = !matches!(&known.contents, Contents::Cells(cells) if cells.len() as u64 != known.size);
            if known.live && known.kind != ObjectKind::Constant && used && known.size > 0 {
                self.havoc_object(state, object, Written::Bytes, caveat.clone(), span)?;
            }
        }
        Ok(())
    }

    /// Returns the objects that pointers in an object point to.
    fn pointed_to(&self, state: &State, object: ObjectId) -> BTreeSet<ObjectId> {
        let mut found = BTreeSet::new();
        let mut add = |cell: &Cell| {
            if let Cell::Pointer { value, index: 0 } = cell {
                self.add_pointees(state, self.pointers.get(*value), &mut found);
            }
        };
        match &state.memory.get(object).contents {
            Contents::Cells(cells) => cells.iter().for_each(&mut add),
            Contents::Delayed { pointers, .. } => pointers.iter().for_each(|(_, cell)| add(cell)),
        }
        found
    }

    fn add_pointees(&self, state: &State, value: &Value, found: &mut BTreeSet<ObjectId>) {
        match value {
            Value::Ptr(pointer) => {
                found.insert(pointer.object);
            }
            Value::Choice(options) => options.iter().for_each(|(_, option)| self.add_pointees(state, option, found)),
            Value::LazyPointer(id) => {
                if let Some(decided) = state.inputs.target_of(*id) {
                    self.add_pointees(state, decided, found);
                }
            }
            Value::Bytes(part) => self.add_pointees(state, self.pointers.get(part.pointer), found),
            Value::Int(_) | Value::Undefined => {}
        }
    }

    /// Replaces everything in an object that a write of this kind may have changed by unconstrained values; pointers
    /// are clobbered.
    pub(crate) fn havoc_object(
        &mut self,
        state: &mut State,
        id: ObjectId,
        written: Written,
        caveat: Caveat,
        span: Span,
    ) -> Result<(), Stop> {
        let object = state.memory.get(id);
        // Bytes that were not materialised yet cannot be distinguished from those before the call.
        if object.size > MAX_HAVOC_BYTES || matches!(object.shape, ObjectShape::Variant { .. }) {
            return Err(self.stop_for_caveat(caveat, span));
        }
        let data = object.data;
        let is_bytes = data.is_some_and(|data| self.is_of_bytes(data));
        let pieces = layout(self, state, id);
        let (changes_all, changes_pointers) = match written {
            Written::Bytes => (true, true),
            Written::Scalar(Ty::Int(8)) if self.module.memory.byte_writes == ByteWrites::Anything => (true, true),
            Written::Scalar(Ty::Ptr) => (is_bytes, true),
            Written::Scalar(Ty::Int(_)) => (is_bytes, is_bytes),
        };
        let width = match written {
            Written::Scalar(ty) => ty.bytes(),
            Written::Bytes => 0,
        };
        let contents = match state.memory.get(id).contents.clone() {
            Contents::Cells(mut cells) => {
                self.havoc_unions(state, &mut cells);
                for (at, bytes) in pieces {
                    let piece = &mut cells[at as usize..at as usize + usize::from(bytes)];
                    if piece.iter().any(|cell| matches!(cell, Cell::Undefined) || cell.is_unmaterialised()) {
                        continue;
                    }
                    let declared = data.and_then(|data| self.type_at(data, at));
                    let is_several = matches!(declared, Some(DataType::Union { .. } | DataType::OneOf { .. }));
                    // Null is stored like an integer.
                    let is_pointer = piece.iter().any(|cell| cell.is_pointer())
                        || (written == Written::Scalar(Ty::Ptr) && matches!(declared, Some(DataType::Pointer { .. })));
                    let same_width = bytes == width && written != Written::Scalar(Ty::Ptr);
                    if is_pointer {
                        if changes_pointers || is_several {
                            piece.fill(Cell::Clobbered);
                        }
                    } else if changes_all || is_several || same_width {
                        let any = self.terms.var(8 * bytes, "overwritten");
                        let any = Value::term(&self.terms, any);
                        let fresh = disassemble(&any, bytes, &mut self.pointers);
                        piece.iter_mut().zip(fresh).for_each(|(cell, new)| *cell = new);
                    }
                }
                Contents::Cells(cells)
            }
            Contents::Delayed { defined, mut pointers, .. } => {
                let fresh = pieces.into_iter().map(|(offset, bytes)| {
                    let term = self.terms.var(8 * bytes, "overwritten");
                    Element { offset, bytes, term }
                });
                let fresh = fresh.collect();
                if changes_pointers {
                    pointers.iter_mut().for_each(|(_, cell)| *cell = Cell::Clobbered);
                }
                let size = state.memory.get(id).size;
                Contents::Delayed { array: self.terms.base_array(size, fresh), defined, pointers }
            }
        };
        state.memory.get_mut(id).contents = contents;
        Ok(())
    }

    /// Returns true if objects of any type may be accessed as this type.
    fn is_of_bytes(&self, data: DataTypeId) -> bool {
        match self.module.types[data] {
            _ if self.module.pointee(data).shares == MemorySharing::Everything => true,
            DataType::Array { element, .. } => self.is_of_bytes(element),
            _ => false,
        }
    }
}
