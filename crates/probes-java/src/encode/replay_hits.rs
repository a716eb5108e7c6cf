//! The class with the hits of a replayed test: a template that is compiled from `java/ReplayHits.java`.

use super::class_template::{Replacement, instantiate};

const TEMPLATE: &[u8] = include_bytes!("../../java/ReplayHits.class");

/// Returns the class with the hits of a replayed test. Its static field `HIT` is an array with one byte for each probe.
pub fn replay_hits_class(name: &str) -> Vec<u8> {
    let name = [Replacement::Class("ReplayHits", name)];
    instantiate(TEMPLATE, &name).expect("invariant: the template has this name, as a test checks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::ClassFile;

    #[test]
    fn the_template_has_the_methods_that_woven_code_calls() {
        let file = ClassFile::read(&replay_hits_class("a/Hits7")).expect("a class file");
        assert_eq!((&*file.name, file.major), ("a/Hits7", 49));
        assert!(file.method("hit", "(I)V").is_some() && file.method("isHit", "(I)Z").is_some());
        assert!(file.fields.iter().any(|field| &*field.name == "HIT"));
    }
}
