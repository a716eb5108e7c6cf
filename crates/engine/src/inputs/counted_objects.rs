//! Objects with a field that holds the number of elements at their end ([`touchstone_ir::StructKind::Counted`]).
//!
//! The number is a symbolic input: the object has cells for the maximum number of elements (`--len` of the input or of
//! its array, for strings also `--strings`, else [`crate::Config::array_length`]), and accesses are checked against the
//! size that the number implies. Longer objects are reported as a bound wherever such an object is created.

use crate::exec::executor::Executor;
use crate::inputs::MAX_INPUT_OBJECT_BYTES;
use crate::inputs::materialisation::write_tag;
use crate::state::inputs::{InputObject, LazyPointer, TailLength};
use crate::state::memory::{Assembled, Cell, Object, ObjectKind, ObjectShape, assemble};
use crate::state::value::{LazyPointerId, ObjectId, Scalar, Value};
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Unsupported};
use touchstone_ir::{DataType, DataTypeId, LengthField, Ty, VariantTag, mask};
use touchstone_solver::{Op, Rel, TermId};

/// The name of the field that holds the characters of a string object.
pub(super) const STRING_FIELD: &str = "value";

impl Executor<'_> {
    /// Creates the pointee of a symbolic pointer with a symbolic number of elements, and a bound for longer ones.
    pub(super) fn counted(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        (data, count): (DataTypeId, LengthField),
        tagged: Option<(VariantTag, u64)>,
    ) -> Vec<Result<State, Stop>> {
        if state.inputs.fresh >= self.config.max_objects {
            return vec![Err(Stop::bound(Bound::MaxObjects, Span::none()))];
        }
        let (most, bound) = self.max_elements(data, &lazy.name);
        let mut fresh = state.clone();
        fresh.inputs_mut().fresh += 1;
        let made = self.counted_object(&mut fresh, (data, count), most, &lazy.name, tagged);
        let made = made.map(|object| {
            fresh.inputs_mut().set_target(id, Value::pointer(object, 0));
            fresh
        });
        let longer = (most < mask(u64::MAX, count.bits)).then(|| Err(Stop::bound(bound, Span::none())));
        std::iter::once(made).chain(longer).collect()
    }

    /// Returns the maximum number of elements, and the bound to raise for more.
    fn max_elements(&self, data: DataTypeId, name: &str) -> (u64, Bound) {
        let field = match &self.module.types[data] {
            DataType::Struct { fields, .. } => fields.last().map(|field| &*field.name),
            _ => None,
        };
        let array = field.and_then(|field| self.given_length(name, field));
        // A length that is given for a string applies to its character array.
        let text = field
            .filter(|field| *field == STRING_FIELD)
            .and_then(|_| name.strip_suffix(STRING_FIELD)?.strip_suffix('.'));
        let said = self.config.lengths.get(name).copied().or(array);
        let said = said.or_else(|| self.config.lengths.get(text?).copied());
        match (said, self.config.strings.filter(|_| text.is_some())) {
            (None, Some(most)) => (u64::from(most), Bound::Strings),
            (said, _) => (said.unwrap_or(self.config.array_length), Bound::Length),
        }
    }

    fn counted_object(
        &mut self,
        state: &mut State,
        (data, count): (DataTypeId, LengthField),
        most: u64,
        name: &str,
        tagged: Option<(VariantTag, u64)>,
    ) -> Result<ObjectId, Stop> {
        let size = count.tail.end(most, &self.module.types);
        if size > MAX_INPUT_OBJECT_BYTES {
            let what = Unsupported::LargeInput(size, name.to_string(), MAX_INPUT_OBJECT_BYTES);
            return Err(Stop::unsupported(what, Span::none()));
        }
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        self.struct_cells(state.inputs_mut(), data, name, &mut constraints, &mut cells);
        if let Some((tag, value)) = tagged {
            write_tag(&mut cells, tag, value);
        }
        let length = self
            .length_of(&cells, count)
            .ok_or_else(|| Stop::unsupported(Unsupported::SharedLength(name.to_string()), Span::none()))?;
        let greatest = self.terms.constant(64, most);
        let number = length.term(&mut self.terms, 64);
        constraints.push(self.terms.cmp(Rel::Ule, number, greatest));
        self.tail_cells(state.inputs_mut(), data, name, most, &mut constraints, &mut cells);
        let mut made = Object::with_cells(cells.clone(), ObjectKind::Input, Some(data));
        match length {
            Scalar::Term(length) => made.shape = ObjectShape::Size(self.bytes_of(length, count)),
            Scalar::Const(length) => {
                let bytes = count.tail.end(length.min(most), &self.module.types);
                cells.truncate(bytes as usize);
                made = Object::with_cells(cells.clone(), ObjectKind::Input, Some(data));
            }
        }
        let object = state.memory.alloc(made);
        let input = InputObject {
            object,
            name: name.to_string(),
            element: data,
            count: 1,
            is_array: false,
            before: 0,
            default_length: false,
            unaliased: false,
            tail: Some(TailLength::Counted(length)),
            cells,
        };
        state.inputs_mut().objects.push(Rc::new(input));
        self.assume_all(state, &constraints)?;
        Ok(object)
    }

    /// Returns the number of elements that the object states, in 64 bits; `None` if it is not an input of its own.
    fn length_of(&mut self, cells: &[Cell], count: LengthField) -> Option<Scalar> {
        let range = count.offset as usize..count.offset as usize + usize::from(count.bits / 8);
        match assemble(&cells[range], Ty::Int(count.bits), &mut self.terms, &self.pointers) {
            Assembled::Value(Value::Int(Scalar::Term(term))) => {
                let wide = if count.bits < 64 { self.terms.zext(term, 64) } else { term };
                Some(Scalar::from_term(&self.terms, wide))
            }
            Assembled::Value(Value::Int(length @ Scalar::Const(_))) => Some(length),
            _ => None,
        }
    }

    /// Returns the size in bytes of an object with this many elements.
    fn bytes_of(&mut self, length: TermId, count: LengthField) -> TermId {
        let step = self.terms.constant(64, self.size_of(count.tail.element));
        let before = self.terms.constant(64, count.tail.offset);
        let elements = self.terms.bin(Op::Mul, length, step);
        self.terms.bin(Op::Add, before, elements)
    }
}
