//! The layout of objects and arrays, and the IR types of Java values in registers and in memory.

use crate::classfile::Desc;
use touchstone_ir::Ty;

/// Offset of the class word of an object.
pub const CLASS_WORD_OFFSET: i64 = 0;
/// Offset of the identity hash code; zero until it is first requested.
pub const HASH_WORD_OFFSET: i64 = 4;
/// Offset of the length of an array.
pub const ARRAY_LENGTH_OFFSET: i64 = 8;
/// Offset of the first element of an array.
pub const ARRAY_BASE_OFFSET: i64 = 16;
/// Offset of the first instance field.
pub const FIRST_FIELD_OFFSET: u64 = 8;

/// Bytes of hidden fields at the end of `java.lang.Class` objects.
pub const MIRROR_HIDDEN_BYTES: u64 = 32;

/// Bytes of hidden fields at the end of `VarHandle` objects: the offset of the variable, and a flag for views of byte
/// arrays.
pub const HANDLE_HIDDEN_BYTES: u64 = 16;

/// Bytes of the hidden field at the end of wrapper objects: a flag that `valueOf` sets.
pub const WRAPPER_HIDDEN_BYTES: u64 = 8;

/// The wrapper classes of which the JDK caches instances.
pub const CACHED_WRAPPERS: [&str; 5] =
    ["java/lang/Integer", "java/lang/Long", "java/lang/Short", "java/lang/Byte", "java/lang/Character"];

/// Returns the IR type of a value in registers.
pub fn register_ty(desc: &Desc) -> Ty {
    match desc {
        Desc::Long | Desc::Double => Ty::I64,
        Desc::Ref(_) => Ty::Ptr,
        _ => Ty::I32,
    }
}

/// Returns the IR type of a value in memory.
pub fn memory_ty(desc: &Desc) -> Ty {
    match desc {
        Desc::Boolean | Desc::Byte => Ty::I8,
        Desc::Char | Desc::Short => Ty::I16,
        other => register_ty(other),
    }
}

/// The internal name of `java.lang.String`.
pub const STRING: &str = "java/lang/String";
