//! The classes with the hit arrays: instances of the template `java/java/lang/TouchstoneHits.java`.

use touchstone_probes_java::{Replacement, instantiate};

const TEMPLATE: &[u8] = include_bytes!("../java/java/lang/TouchstoneHits.class");
const TEMPLATE_NAME: &str = "java/lang/TouchstoneHits";
/// The value of `NUMBER` in the template.
const TEMPLATE_NUMBER: i32 = 0x5453_0001;

/// The number of probes of a hit array: `sipush` pushes the largest probe number.
pub const PROBES: u32 = 32_767;

/// The field with the hit array: its name and descriptor.
pub const HIT: (&str, &str) = ("HIT", "[B");

/// Returns the name of the class with a hit array.
pub fn class_name(number: u16) -> String {
    format!("{TEMPLATE_NAME}{number}")
}

/// Returns the class with a hit array, or `None` if the template is malformed.
pub fn class(number: u16) -> Option<Vec<u8>> {
    let name = class_name(number);
    let name = Replacement::Class(TEMPLATE_NAME, &name);
    instantiate(TEMPLATE, &[name, Replacement::Int(TEMPLATE_NUMBER, i32::from(number))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::{ClassFile, Constant};

    #[test]
    fn a_hit_array_has_its_name_and_number_and_a_method_that_is_inlined() {
        let file = ClassFile::read(&class(3).expect("an instance")).expect("a class file");
        assert_eq!((&*file.name, file.major), ("java/lang/TouchstoneHits3", touchstone_probes_java::CLASS_VERSION));
        let constant = |name: &str| {
            let field = file.fields.iter().find(|field| &*field.name == name).and_then(|field| field.constant());
            field.and_then(|index| file.pool.get(index).ok())
        };
        assert_eq!(constant("NUMBER"), Some(&Constant::Integer(3)));
        assert_eq!(constant("PROBES"), Some(&Constant::Integer(PROBES as i32)));
        // HotSpot's first compiler inlines no method that needs more than ten slots.
        let hit = file.method("hit", "(I)V").and_then(|index| file.methods[index].code()).expect("code");
        assert_eq!((hit.max_stack, hit.max_locals), (2, 1));
        assert!(file.method("isHit", "(I)Z").is_some());
    }
}
