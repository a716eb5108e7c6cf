//! Objects that no API sequence constructs: they are allocated without a constructor and filled field by field, by
//! reflection.

use crate::java::literal::literal;
use crate::java::objects::ObjectWriter;
use std::collections::BTreeSet;
use touchstone_ir::{DataType, DataValue, PointerTarget};

/// The module's name of the boxed integer class.
const BOXED_INTEGER: &str = "java.lang.Integer";

/// The helper methods of the test class. Fields are given by name; all others are zero or null.
pub(crate) const REFLECTION_HELPERS: &str = r#"
    @SuppressWarnings("unchecked")
    private static <T> T make(String type, Object... fields) throws ReflectiveOperationException {
        Object made = unsafe("allocateInstance", Class.forName(type));
        fill(made, fields);
        return (T) made;
    }

    private static void fill(Object object, Object... fields) throws ReflectiveOperationException {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            for (java.lang.reflect.Field field : type.getDeclaredFields()) {
                for (int at = 0; at < fields.length; at += 2) {
                    boolean isOfObject = !java.lang.reflect.Modifier.isStatic(field.getModifiers());
                    if (isOfObject && field.getName().equals(fields[at])) {
                        put(object, field, fields[at + 1]);
                    }
                }
            }
        }
    }

    private static void put(Object object, java.lang.reflect.Field field, Object value) throws ReflectiveOperationException {
        try {
            field.setAccessible(true);
            field.set(object, value);
        } catch (RuntimeException closed) {
            // A class of the JDK.
            String type = field.getType().isPrimitive() ? field.getType().getName() : "object";
            String put = "put" + type.substring(0, 1).toUpperCase() + type.substring(1);
            unsafe(put, object, unsafe("objectFieldOffset", field), value);
        }
    }

    private static Object unsafe(String name, Object... arguments) throws ReflectiveOperationException {
        java.lang.reflect.Field unsafe = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        unsafe.setAccessible(true);
        for (java.lang.reflect.Method method : unsafe.getType().getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                return method.invoke(unsafe.get(null), arguments);
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static Object array(String element, int length) throws ReflectiveOperationException {
        return java.lang.reflect.Array.newInstance(Class.forName(element), length);
    }
"#;

/// The objects that are being written.
struct ReflectionWriter<'w, 't> {
    objects: &'w ObjectWriter<'t>,
    /// The objects that are begun, and those with variables.
    begun: BTreeSet<usize>,
    declared: BTreeSet<usize>,
    lines: Vec<String>,
    /// The lines that must follow all declarations.
    deferred: Vec<String>,
}

impl ObjectWriter<'_> {
    /// Returns the lines that construct all objects that need reflection.
    pub fn reflective_construction(&self) -> Vec<String> {
        let (begun, declared) = (BTreeSet::new(), BTreeSet::new());
        let mut writing = ReflectionWriter { objects: self, begun, declared, lines: Vec::new(), deferred: Vec::new() };
        (0..self.len()).for_each(|index| writing.object(index));
        writing.lines.append(&mut writing.deferred);
        writing.lines
    }

    /// Returns true if an object is constructed by reflection.
    pub fn is_constructed_by_reflection(&self, index: usize) -> bool {
        self.references(index).is_some() || self.class_of(index).is_some()
    }
}

impl ReflectionWriter<'_, '_> {
    fn object(&mut self, index: usize) {
        let Some(name) =
            self.objects.name(index).map(str::to_string).filter(|_| self.objects.is_constructed_by_reflection(index))
        else {
            return;
        };
        if !self.begun.insert(index) {
            return;
        }
        let ty = self.objects.type_of_variable(index);
        if let Some((element, values)) = self.objects.references(index) {
            self.lines.push(format!("{ty} {name} = array(\"{}\", {});", class_name(element), values.len()));
            self.declared.insert(index);
            for (at, value) in values.iter().enumerate() {
                let DataValue::Pointer(PointerTarget::Object { object, .. }) = value else { continue };
                self.object(*object);
                if let Some(text) = self.objects.reference(value) {
                    self.deferred.push(format!("java.lang.reflect.Array.set({name}, {at}, {text});"));
                }
            }
            return;
        }
        let Some((class, fields, values)) = self.objects.fields(index) else { return };
        let mut given = String::new();
        for (field, value) in fields.iter().zip(values).skip(1) {
            let text = match value {
                DataValue::Pointer(PointerTarget::Object { object, .. }) => {
                    self.object(*object);
                    match (self.objects.reference(value), self.objects.is_constructed_by_reflection(*object)) {
                        (Some(text), true) if !self.declared.contains(object) => {
                            self.deferred.push(format!("fill({name}, \"{}\", {text});", field.name));
                            None
                        }
                        (text, _) => text,
                    }
                }
                DataValue::Int(0) if class != BOXED_INTEGER => None,
                other => literal(self.objects.data(field.ty), other),
            };
            given += &text.map_or(String::new(), |text| match class {
                BOXED_INTEGER => text,
                _ => format!(", \"{}\", {text}", field.name),
            });
        }
        self.lines.push(match class {
            // `valueOf` would return the cached object, which is shared.
            BOXED_INTEGER if given.parse::<i32>().is_ok_and(|number| (-128..128).contains(&number)) => {
                format!("{ty} {name} = new Integer({given});")
            }
            BOXED_INTEGER => format!("{ty} {name} = Integer.valueOf({given});"),
            _ => format!("{ty} {name} = make(\"{class}\"{given});"),
        });
        self.declared.insert(index);
    }
}

impl<'t> ObjectWriter<'t> {
    /// Returns the class of an object of the program, or of a boxed number.
    fn class_of(&self, index: usize) -> Option<&'t str> {
        let (name, fields, _) = self.fields(index)?;
        let is_array = fields.last().is_some_and(|last| matches!(self.data(last.ty), DataType::Array { .. }));
        (!is_array && self.text(index).is_none()).then_some(name)
    }
}

/// Returns the name that `Class.forName` takes.
fn class_name(ty: &str) -> String {
    let element = ty.trim_end_matches("[]");
    let depth = (ty.len() - element.len()) / 2;
    if depth == 0 {
        return element.to_string();
    }
    let letter = match element {
        "boolean" => "Z".to_string(),
        "byte" => "B".to_string(),
        "char" => "C".to_string(),
        "short" => "S".to_string(),
        "int" => "I".to_string(),
        "long" => "J".to_string(),
        "float" => "F".to_string(),
        "double" => "D".to_string(),
        class => format!("L{class};"),
    };
    "[".repeat(depth) + &letter
}

#[cfg(test)]
mod tests {
    use super::class_name;

    #[test]
    fn classes_are_found_by_the_names_that_the_machine_has_for_them() {
        let names = ["p.Outer$Node", "p.Node[]", "int[]", "int[][]"].map(class_name);
        assert_eq!(names, ["p.Outer$Node", "[Lp.Node;", "[I", "[[I"]);
    }
}
