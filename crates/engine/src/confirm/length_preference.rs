//! Preference for matching lengths: among the inputs of a path, a test takes those in which a length parameter equals
//! the length of the preceding object, if there are any.
//!
//! A heuristic for readability that affects no verdict: a caller passes a buffer with its actual length, and such
//! inputs rarely fail later. A length parameter is identified by its position and name.

use crate::exec::executor::Executor;
use crate::state::State;
use crate::state::inputs::NamedInput;
use crate::state::memory::{Assembled, Cell, assemble};
use crate::state::value::{Scalar, Value};
use std::rc::Rc;
use touchstone_ir::{DataType, Ty};
use touchstone_solver::{Model, Path, Rel, Side, TermId};

impl Executor<'_> {
    /// Returns a model of a path, with matching lengths if one is found cheaply.
    pub(crate) fn model_with_fitting_lengths(&mut self, state: &State, path: &Path) -> Rc<Model> {
        let mut path = path.clone();
        for (length, most) in self.lengths(state) {
            let most = self.terms.constant(self.terms.width(length), most);
            let fits = self.terms.cmp(Rel::Ule, length, most);
            if let Side::Feasible(narrower) = self.solver.assume_easily(&mut self.terms, &path, fits) {
                path = narrower;
            }
        }
        path.model()
    }

    /// Returns the length parameters with the numbers of available elements.
    fn lengths(&mut self, state: &State) -> Vec<(TermId, u64)> {
        let params = &state.inputs.params;
        let mut lengths = Vec::new();
        for pair in params.windows(2) {
            let [pointer, length] = pair else { continue };
            if let (Some(room), Some(term)) = (self.elements_of_pointee(state, pointer), self.length(length)) {
                lengths.push((term, room));
            }
        }
        lengths
    }

    /// Returns the number of elements of a pointee; 0 for null.
    fn elements_of_pointee(&self, state: &State, pointer: &NamedInput) -> Option<u64> {
        let Some(Cell::Pointer { value, index: 0 }) = pointer.cells.first() else { return None };
        let Value::LazyPointer(id) = self.pointers.get(*value) else { return None };
        match state.inputs.target_of(*id)? {
            Value::Int(Scalar::Const(0)) => Some(0),
            Value::Ptr(place) => {
                let object = state.inputs.objects.iter().find(|input| input.object == place.object)?;
                Some(object.count.saturating_sub(object.before))
            }
            _ => None,
        }
    }

    /// Returns the term of an integer parameter that is named like a length.
    fn length(&mut self, param: &NamedInput) -> Option<TermId> {
        let DataType::Int { bits, .. } = self.module.types[param.data] else { return None };
        if !is_length_name(&param.name) {
            return None;
        }
        match assemble(&param.cells, Ty::Int(bits), &mut self.terms, &self.pointers) {
            Assembled::Value(Value::Int(Scalar::Term(term))) => Some(term),
            _ => None,
        }
    }
}

pub(crate) fn is_length_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "n" | "sz" | "cnt" | "num" | "nbytes" | "bytes" | "room" | "cap")
        || ["len", "size", "count"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::is_length_name;

    #[test]
    fn length_parameters_are_identified_by_name() {
        for name in ["n", "len", "buf_len", "length", "size", "Size", "bufsize", "count", "nbytes"] {
            assert!(is_length_name(name), "{name}");
        }
        for name in ["x", "i", "key", "value", "from", "mode"] {
            assert!(!is_length_name(name), "{name}");
        }
    }
}
