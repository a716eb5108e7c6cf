//! What only Java has that two versions in one module may share.

use touchstone_ir::{Builtin, DataType, DataTypeId, JavaBuiltin, Module};

/// Whether both versions get the same when they ask the same: the one object for a text, or for a class.
pub(super) fn is_repeatable(builtin: &Builtin) -> bool {
    matches!(builtin, Builtin::Java(JavaBuiltin::Intern | JavaBuiltin::ClassNamed))
}

/// Texts never change, and which one of equal ones it is makes no difference to what the program should do.
pub(super) fn is_text(module: &Module, object: DataTypeId) -> bool {
    matches!(&module.types[object], DataType::Struct { name, .. } if name == "java.lang.String")
}
