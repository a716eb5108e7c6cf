//! The class that evaluates checks: a template that is compiled from `java/HitsValueChecks.java`.

use crate::encode::class_template::{Replacement, instantiate};

const TEMPLATE: &[u8] = include_bytes!("../../java/HitsValueChecks.class");

/// Returns the name of the class that evaluates checks for a hit array.
pub fn check_class_name(hits_class: &str) -> String {
    format!("{hits_class}ValueChecks")
}

/// Its methods. Each takes the number of a probe last, or of the first of several.
pub(crate) mod method {
    pub const IS_NULL: (&str, &str) = ("isNull", "(Ljava/lang/Object;I)V");
    pub const IS_OUT_OF_BOUNDS: (&str, &str) = ("isOutOfBounds", "(Ljava/lang/Object;II)V");
    pub const IS_ARRAY_STORE_ERROR: (&str, &str) = ("isArrayStoreError", "(Ljava/lang/Object;ILjava/lang/Object;I)V");
    pub const IS_ZERO: (&str, &str) = ("isZero", "(II)V");
    pub const IS_ZERO_LONG: (&str, &str) = ("isZeroLong", "(JI)V");
    pub const IS_NEGATIVE: (&str, &str) = ("isNegative", "(II)V");
    /// The second argument is the result of `instanceof`.
    pub const IS_CLASS_CAST_ERROR: (&str, &str) = ("isClassCastError", "(Ljava/lang/Object;II)V");
    pub const IS_TRUE: (&str, &str) = ("isTrue", "(II)V");
    /// The second and third arguments are the bounds of the parameter's type.
    pub const PARTITION_INT: (&str, &str) = ("partitionInt", "(IIII)V");
    pub const PARTITION_LONG: (&str, &str) = ("partitionLong", "(JI)V");
    pub const PARTITION_DOUBLE: (&str, &str) = ("partitionDouble", "(DI)V");
    pub const PARTITION_REFERENCE: (&str, &str) = ("partitionReference", "(Ljava/lang/Object;I)V");
}

/// Returns the class that evaluates checks for a hit array.
pub fn check_class(hits_class: &str) -> Vec<u8> {
    let name = check_class_name(hits_class);
    let names = [Replacement::Class("HitsValueChecks", &name), Replacement::Class("Hits", hits_class)];
    instantiate(TEMPLATE, &names).expect("invariant: the template has these names, as a test checks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::ClassFile;

    #[test]
    fn the_template_has_the_methods_that_woven_code_calls() {
        let file = ClassFile::read(&check_class("java/lang/Holder")).expect("a class file");
        assert_eq!((&*file.name, file.major), ("java/lang/HolderValueChecks", 49));
        for (name, desc) in [
            method::IS_NULL,
            method::IS_OUT_OF_BOUNDS,
            method::IS_ARRAY_STORE_ERROR,
            method::IS_ZERO,
            method::IS_ZERO_LONG,
            method::IS_NEGATIVE,
            method::IS_CLASS_CAST_ERROR,
            method::IS_TRUE,
            method::PARTITION_INT,
            method::PARTITION_LONG,
            method::PARTITION_DOUBLE,
            method::PARTITION_REFERENCE,
        ] {
            assert!(file.method(name, desc).is_some(), "{name}{desc}");
        }
        let hit = (1..file.pool.len() as u16).filter_map(|index| file.pool.method(index).ok());
        assert!(hit.into_iter().any(|(method, _)| (&*method.class, &*method.name) == ("java/lang/Holder", "hit")));
    }
}
