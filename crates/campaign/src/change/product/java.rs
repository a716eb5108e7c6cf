//! Facts that only Java has about sharing between two versions in one module.

use touchstone_ir::{Builtin, DataType, DataTypeId, JavaBuiltin, Module};

/// Returns true if both versions get the same object for the same argument: an interned string, or a class.
pub(super) fn is_repeatable(builtin: &Builtin) -> bool {
    matches!(builtin, Builtin::Java(JavaBuiltin::Intern | JavaBuiltin::ClassNamed))
}

/// Returns true if a type is `java.lang.String`. Strings are immutable, and a program should not depend on their
/// identity.
pub(super) fn is_string(module: &Module, object: DataTypeId) -> bool {
    matches!(&module.types[object], DataType::Struct { name, .. } if name == "java.lang.String")
}
