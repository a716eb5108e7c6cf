//! Values of registers.

use touchstone_base::define_id;

define_id! {
    /// A memory object of one machine.
    ObjectId, "o"
}

/// The contents of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// An integer, masked to the register's width; in a `ptr` register, an address without an object (0 is null).
    Int(u64),
    /// A pointer to an object, during or after its lifetime.
    Ptr(Pointer),
    /// An undefined value. It can be copied and returned; any other use is an error.
    Undefined,
}

/// A place in an object; the offset may be out of bounds. Packed so that a [`Value`] takes 16 bytes instead of 24.
#[repr(Rust, packed(4))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pointer {
    /// The object.
    pub object: ObjectId,
    /// The offset from its start, in bytes.
    pub offset: i64,
}

impl Value {
    /// The null pointer.
    pub const NULL: Value = Value::Int(0);

    /// Returns a pointer value.
    pub fn ptr(object: ObjectId, offset: i64) -> Value {
        Value::Ptr(Pointer { object, offset })
    }

    /// Returns true if the offset is so large that the layout determines whether the address is valid, for example
    /// after subtracting a pointer from null.
    pub(crate) fn is_far_out_of_bounds(self) -> bool {
        matches!(self, Value::Ptr(pointer) if pointer.offset.unsigned_abs() >= 1 << 40)
    }

    /// Returns true if these are pointers to different objects.
    pub(crate) fn in_different_objects(a: Value, b: Value) -> bool {
        matches!((a, b), (Value::Ptr(a), Value::Ptr(b)) if a.object != b.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_two_words() {
        assert_eq!(size_of::<Value>(), 16);
    }
}
