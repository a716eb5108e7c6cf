//! Names of types, as source and the JVM's messages write them.

use crate::classfile::Desc;

/// Returns the name of a type; `Object` and `String` without their package, as the JVM's messages write them.
pub(crate) fn type_name(desc: &Desc) -> String {
    let Desc::Ref(name) = desc else { return desc.word().unwrap_or_default().to_string() };
    match (name.strip_prefix('['), &**name) {
        (Some(element), _) => format!("{}[]", Desc::parse(element).map_or(String::new(), |desc| type_name(&desc))),
        (None, "java/lang/Object") => "Object".to_string(),
        (None, "java/lang/String") => "String".to_string(),
        (None, other) => other.replace('/', "."),
    }
}

/// Returns the name of a type without its package and enclosing classes.
pub(crate) fn short_type_name(desc: &Desc) -> String {
    let text = type_name(desc);
    text.rsplit(['.', '$']).next().unwrap_or(&text).to_string()
}
