//! Fingerprints of states: a hash of the registers and memory under a model of the path.
//!
//! Terms are evaluated, not compared: two executors may represent the same value by different terms.

use crate::exec::executor::Executor;
use crate::state::State;
use crate::state::memory::{Cell, Contents};
use crate::state::value::{ObjectId, Scalar, Value};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use touchstone_base::{Id, StableHasher};
use touchstone_solver::Model;

/// The maximum number of bytes of an object that are hashed.
const MAX_HASHED_BYTES: u64 = 4096;

impl Executor<'_> {
    /// Returns the fingerprint of a state, the same wherever the same path is executed.
    pub(super) fn fingerprint(&mut self, state: &State) -> u64 {
        let model = state.path.model();
        let mut hasher = StableHasher::default();
        (state.hash.value(), state.steps, state.depth).hash(&mut hasher);
        for frame in &state.frames {
            (frame.func.index(), frame.block.index(), frame.inst).hash(&mut hasher);
            frame.slots.iter().for_each(|slot| slot.index().hash(&mut hasher));
            frame.regs.iter().for_each(|value| self.hash_value(state, value, &model, &mut hasher));
        }
        for id in state.memory.ids() {
            self.hash_object(state, id, &model, &mut hasher);
        }
        hasher.finish()
    }

    fn hash_value(&self, state: &State, value: &Value, model: &Rc<Model>, hasher: &mut StableHasher) {
        let number = |scalar: &Scalar| match scalar {
            Scalar::Const(value) => *value,
            Scalar::Term(term) => model.eval(&self.terms, *term),
        };
        match value {
            Value::Int(scalar) => (0u8, number(scalar)).hash(hasher),
            Value::Ptr(pointer) => (1u8, pointer.object.index(), number(&pointer.offset)).hash(hasher),
            Value::LazyPointer(id) => match state.inputs.target_of(*id) {
                Some(decided) => self.hash_value(state, decided, model, hasher),
                None => (2u8, id.index()).hash(hasher),
            },
            Value::Choice(options) => {
                if let Some((_, chosen)) = options.iter().find(|(guard, _)| model.eval(&self.terms, *guard) != 0) {
                    self.hash_value(state, chosen, model, hasher);
                }
            }
            Value::Bytes(part) => {
                (3u8, part.first, part.bytes, part.width).hash(hasher);
                self.hash_value(state, self.pointers.get(part.pointer), model, hasher);
            }
            Value::Undefined => 4u8.hash(hasher),
        }
    }

    fn hash_object(&mut self, state: &State, id: ObjectId, model: &Rc<Model>, hasher: &mut StableHasher) {
        let object = state.memory.shared(id);
        let size = object.shape.size().map_or(object.size, |size| model.eval(&self.terms, size));
        (size, object.live, object.kind as u8).hash(hasher);
        match &object.contents {
            Contents::Cells(cells) => {
                for cell in cells.iter().take(size.min(MAX_HASHED_BYTES) as usize) {
                    self.hash_cell(state, *cell, model, hasher);
                }
            }
            Contents::Delayed { array, pointers, .. } => {
                for at in 0..size.min(MAX_HASHED_BYTES) {
                    match pointers.iter().find(|(place, _)| *place as u64 == at) {
                        Some((_, cell)) => self.hash_cell(state, *cell, model, hasher),
                        None => {
                            let offset = self.terms.constant(64, at);
                            let byte = self.terms.read(*array, offset, 1);
                            (0u8, model.eval(&self.terms, byte) as u8).hash(hasher);
                        }
                    }
                }
            }
        }
    }

    fn hash_cell(&self, state: &State, cell: Cell, model: &Rc<Model>, hasher: &mut StableHasher) {
        match cell {
            Cell::Byte(byte) => (0u8, byte).hash(hasher),
            Cell::Part { term, index } => (0u8, (model.eval(&self.terms, term) >> (8 * index)) as u8).hash(hasher),
            Cell::Pointer { value, index } => {
                (1u8, index).hash(hasher);
                self.hash_value(state, self.pointers.get(value), model, hasher);
            }
            Cell::Undefined => 2u8.hash(hasher),
            Cell::Unmaterialised => 3u8.hash(hasher),
            Cell::Union { union, index } => (5u8, union.index(), index).hash(hasher),
            Cell::Clobbered => 4u8.hash(hasher),
        }
    }
}
