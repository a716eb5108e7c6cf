//! Values of registers.

use touchstone_base::define_id;

define_id! {
    /// A memory object of one machine.
    ObjectId, "o"
}

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// An integer, masked to the register's width; in a `ptr` register an address that no object stands behind (0 is
    /// null).
    Int(u64),
    /// A pointer into an object, alive or not.
    Ptr(Pointer),
    /// Nobody wrote it. It can be copied and returned; any other use is an error.
    Undefined,
}

/// A place in an object; the offset may be outside of it. Packed so that a [`Value`] takes 16 bytes and not 24.
#[repr(Rust, packed(4))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pointer {
    /// The object.
    pub object: ObjectId,
    /// Bytes from its start.
    pub offset: i64,
}

impl Value {
    /// The null pointer.
    pub const NULL: Value = Value::Int(0);

    /// A pointer value.
    pub fn ptr(object: ObjectId, offset: i64) -> Value {
        Value::Ptr(Pointer { object, offset })
    }

    /// Whether it is so far from its object that where that lies decides whether its address is still one: from null minus a pointer, say.
    pub(crate) fn is_far(self) -> bool {
        matches!(self, Value::Ptr(pointer) if pointer.offset.unsigned_abs() >= 1 << 40)
    }

    /// Whether these are pointers into different objects.
    pub(crate) fn apart(a: Value, b: Value) -> bool {
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
