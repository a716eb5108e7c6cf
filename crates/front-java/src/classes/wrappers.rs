//! The wrapper classes of primitive types.

use crate::classfile::Desc;

/// Returns the wrapper class of a primitive type, and the method that returns its value.
pub(crate) fn wrapper_of(desc: &Desc) -> Option<(&'static str, &'static str)> {
    Some(match desc {
        Desc::Boolean => ("java/lang/Boolean", "booleanValue"),
        Desc::Byte => ("java/lang/Byte", "byteValue"),
        Desc::Char => ("java/lang/Character", "charValue"),
        Desc::Short => ("java/lang/Short", "shortValue"),
        Desc::Int => ("java/lang/Integer", "intValue"),
        Desc::Long => ("java/lang/Long", "longValue"),
        Desc::Float => ("java/lang/Float", "floatValue"),
        Desc::Double => ("java/lang/Double", "doubleValue"),
        Desc::Void | Desc::Ref(_) => return None,
    })
}

/// Returns the primitive type that a class wraps.
pub(crate) fn primitive_of(class: &str) -> Option<Desc> {
    let all = [Desc::Boolean, Desc::Byte, Desc::Char, Desc::Short, Desc::Int, Desc::Long, Desc::Float, Desc::Double];
    all.into_iter().find(|desc| wrapper_of(desc).is_some_and(|(name, _)| name == class))
}
