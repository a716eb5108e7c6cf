//! The layout of objects and arrays, and the IR types of Java values in registers and in memory.

use crate::classfile::Desc;
use touchstone_ir::Ty;

/// Where every object has its class.
pub const CLASS_WORD_OFFSET: i64 = 0;
/// Where every object has its identity hash; zero before anybody asked for it.
pub const HASH_WORD_OFFSET: i64 = 4;
/// Where an array has its length.
pub const ARRAY_LENGTH_OFFSET: i64 = 8;
/// Where the elements of an array begin.
pub const ARRAY_BASE_OFFSET: i64 = 16;
/// Where fields begin.
pub const FIRST_FIELD_OFFSET: u64 = 8;

/// Hidden fields at the end of `java.lang.Class` objects.
pub const MIRROR_HIDDEN_BYTES: u64 = 32;

/// Hidden fields at the end of `VarHandle` objects: where in an object the variable is, or the address of a static one.
pub const HANDLE_HIDDEN_BYTES: u64 = 16;

/// A hidden field at the end of boxes: whether `valueOf` made them.
pub const WRAPPER_HIDDEN_BYTES: u64 = 8;

/// The boxes that the JDK has a cache of.
pub const CACHED_WRAPPERS: [&str; 5] =
    ["java/lang/Integer", "java/lang/Long", "java/lang/Short", "java/lang/Byte", "java/lang/Character"];

/// The type that a value has in registers.
pub fn register_ty(desc: &Desc) -> Ty {
    match desc {
        Desc::Long | Desc::Double => Ty::I64,
        Desc::Ref(_) => Ty::Ptr,
        _ => Ty::I32,
    }
}

/// The type that a value has in memory.
pub fn memory_ty(desc: &Desc) -> Ty {
    match desc {
        Desc::Boolean | Desc::Byte => Ty::I8,
        Desc::Char | Desc::Short => Ty::I16,
        other => register_ty(other),
    }
}

/// The internal name of `java.lang.String`.
pub const STRING: &str = "java/lang/String";
