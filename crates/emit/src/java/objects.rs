//! Objects of a test as Java source: arrays as variables, strings as literals. Objects that no API sequence constructs
//! are created by reflection (`reflective_construction.rs`).

use crate::java::called_behaviour::StringIdentity;
use crate::java::literal::{literal, quoted_units};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{NamedValue, ObjectInput};
use touchstone_ir::{DataType, DataTypeId, DataValue, Module, PointerTarget};

/// The module's name of the string class.
const STRING: &str = "java.lang.String";

/// The objects of a test, with the names of those that are variables.
pub(crate) struct ObjectWriter<'t> {
    module: &'t Module,
    objects: &'t [ObjectInput],
    names: Vec<Option<String>>,
    /// The strings that are distinct objects although they may equal another string or a literal of the program.
    distinct_strings: BTreeSet<usize>,
    /// The types of variables, where they are more specific than `Object`.
    types: BTreeMap<usize, String>,
}

/// An object that the tested call names, with its variable and type.
pub(crate) struct NamedObject {
    /// The prefix of the names of its parts.
    pub param: String,
    pub name: String,
    pub ty: String,
    pub object: usize,
}

/// An array: its element type and values.
struct Array<'t> {
    element: &'t DataType,
    values: &'t [DataValue],
}

impl<'t> ObjectWriter<'t> {
    pub fn new(
        module: &'t Module,
        objects: &'t [ObjectInput],
        titles: &[NamedObject],
        identity: StringIdentity,
    ) -> ObjectWriter<'t> {
        let (distinct_strings, types) = (BTreeSet::new(), BTreeMap::new());
        let mut made = ObjectWriter { module, objects, names: Vec::new(), distinct_strings, types };
        let inside: BTreeSet<usize> = (0..objects.len()).filter_map(|index| made.bytes_of(index)).collect();
        let mut texts = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            if let Some(text) = made.text(index) {
                if identity == StringIdentity::Observable || texts.contains(&text) {
                    made.distinct_strings.insert(index);
                }
                texts.push(text);
            }
            let is_variable =
                (made.array(index).is_some() && !inside.contains(&index)) || made.is_constructed_by_reflection(index);
            let renamed = |titled: &NamedObject| Some(titled.name.clone() + object.name.strip_prefix(&titled.param)?);
            let name = titles.iter().find_map(renamed).unwrap_or_else(|| object.name.clone());
            made.names.push(is_variable.then_some(name));
        }
        for titled in titles {
            made.types.entry(titled.object).or_insert_with(|| titled.ty.clone());
        }
        for name in made.names.iter_mut().flatten().filter(|name| KEYWORDS.contains(&name.as_str())) {
            name.push('_');
        }
        made
    }

    pub fn fields(&self, index: usize) -> Option<(&'t str, &'t [touchstone_ir::Field], &'t [DataValue])> {
        let object = self.objects.get(index)?;
        match (&self.module.types[object.element], object.values.as_slice()) {
            (DataType::Struct { name, fields, .. }, [DataValue::Struct(values)]) => Some((name, fields, values)),
            _ => None,
        }
    }

    fn field(&self, index: usize, wanted: &str) -> Option<&'t DataValue> {
        let (_, fields, values) = self.fields(index)?;
        fields.iter().position(|field| field.name == wanted).and_then(|at| values.get(at))
    }

    fn array(&self, index: usize) -> Option<Array<'t>> {
        let (_, fields, values) = self.fields(index)?;
        let DataType::Array { element, .. } = self.module.types[fields.last()?.ty] else { return None };
        let DataValue::Array(values) = values.last()? else { return None };
        let array = Array { element: &self.module.types[element], values };
        (!matches!(array.element, DataType::Pointer { .. })).then_some(array)
    }

    /// Returns the element type and the elements of an array of references.
    pub fn references(&self, index: usize) -> Option<(&'t str, &'t [DataValue])> {
        let (name, fields, values) = self.fields(index)?;
        let DataType::Array { element, .. } = self.module.types[fields.last()?.ty] else { return None };
        let DataValue::Array(values) = values.last()? else { return None };
        let is_reference = matches!(self.module.types[element], DataType::Pointer { .. });
        is_reference.then_some((name.strip_suffix("[]")?, values))
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }

    pub fn data(&self, ty: DataTypeId) -> &'t DataType {
        &self.module.types[ty]
    }

    /// Returns the variable of an object, or `None` if it has none.
    pub fn name(&self, index: usize) -> Option<&str> {
        self.names.get(index)?.as_deref()
    }

    /// Returns the type of that variable.
    pub fn type_of_variable(&self, index: usize) -> &str {
        self.types.get(&index).map_or("Object", String::as_str)
    }

    /// Returns the array with the bytes of a string.
    fn bytes_of(&self, index: usize) -> Option<usize> {
        let (name, ..) = self.fields(index).filter(|(name, ..)| *name == STRING)?;
        debug_assert_eq!(name, STRING);
        match self.field(index, "value")? {
            DataValue::Pointer(PointerTarget::Object { object, .. }) => Some(*object),
            _ => None,
        }
    }

    /// Returns the characters of a string.
    pub fn text(&self, index: usize) -> Option<Vec<u16>> {
        let (name, ..) = self.fields(index)?;
        if name != STRING {
            return None;
        }
        let Some(bytes) = self.bytes_of(index) else { return Some(Vec::new()) };
        let unit = |value: &DataValue| match value {
            DataValue::Int(bits) => (*bits & 0xff) as u16,
            _ => 0,
        };
        Some(self.array(bytes)?.values.iter().map(unit).collect())
    }

    /// Returns true if the name is a variable or a keyword.
    pub fn has(&self, name: &str) -> bool {
        KEYWORDS.contains(&name) || self.names.iter().flatten().any(|own| own == name)
    }

    /// Returns the declarations of the variables.
    pub fn declarations(&self) -> Vec<String> {
        let line = |(index, name): (usize, &Option<String>)| {
            let (name, array) = (name.as_ref()?, self.array(index)?);
            Some(format!("{}[] {name} = {};", type_name(array.element), braces(&array)))
        };
        let mut lines: Vec<String> = self.names.iter().enumerate().filter_map(line).collect();
        lines.extend(self.reflective_construction());
        lines
    }

    /// Returns the assertions about the variables after the call.
    pub fn checks(&self, expected: &'t [Vec<DataValue>], delta: &str) -> Vec<String> {
        let line = |(index, name): (usize, &Option<String>)| {
            let (name, before) = (name.as_ref()?, self.array(index)?);
            let [DataValue::Struct(values)] = expected.get(index)?.as_slice() else { return None };
            let DataValue::Array(values) = values.last()? else { return None };
            let after = Array { element: before.element, values };
            if values.is_empty() || values.len() != before.values.len() {
                return None;
            }
            let delta = if matches!(before.element, DataType::Float { .. }) { delta } else { "" };
            let element = type_name(before.element);
            Some(format!("assertArrayEquals(new {element}[] {}, {name}{delta});", braces(&after)))
        };
        self.names.iter().enumerate().filter_map(line).collect()
    }

    /// Returns a value as an argument.
    pub fn argument(&self, value: &NamedValue) -> String {
        let text = literal(&self.module.types[value.data], &value.value);
        text.or_else(|| self.reference(&value.value)).unwrap_or_else(|| self.null(value.data))
    }

    /// Returns the expression of the object that a reference points to.
    pub fn reference(&self, value: &DataValue) -> Option<String> {
        let DataValue::Pointer(PointerTarget::Object { object, .. }) = value else { return None };
        if let Some(name) = self.names.get(*object)? {
            return Some(name.clone());
        }
        let text = quoted_units(&self.text(*object)?);
        Some(if self.distinct_strings.contains(object) { format!("new String({text})") } else { text })
    }

    /// Returns true if the reference points to an array of the test.
    pub fn is_array(&self, value: &DataValue) -> bool {
        match value {
            DataValue::Pointer(PointerTarget::Object { object, .. }) => {
                self.names.get(*object).is_some_and(Option::is_some)
            }
            _ => false,
        }
    }

    fn null(&self, data: DataTypeId) -> String {
        match self.pointee_name(data) {
            Some(name) => format!("({}) null", name.strip_prefix("java.lang.").unwrap_or(name)),
            None => "null".to_string(),
        }
    }

    fn pointee_name(&self, data: DataTypeId) -> Option<&'t str> {
        let DataType::Pointer { pointee, .. } = self.module.types[data] else { return None };
        match &self.module.types[pointee] {
            DataType::Struct { name, .. } | DataType::OneOf { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Returns the expression that a newly created result must equal, or `None` unless it is known completely.
pub(crate) fn new_result(module: &Module, reached: &[NamedValue]) -> Option<(String, NewObjectKind)> {
    let first = reached.iter().find(|part| part.name.is_empty())?;
    let DataType::Struct { name, fields, .. } = &module.types[first.data] else { return None };
    let DataValue::Struct(values) = &first.value else { return None };
    let of = |wanted: &str, fields: &[touchstone_ir::Field], values: &[DataValue]| {
        fields.iter().position(|field| field.name == wanted).and_then(|at| values.get(at)).cloned()
    };
    if name == STRING {
        let bytes = reached.iter().find(|part| part.name == "value")?;
        let (DataType::Struct { fields: parts, .. }, DataValue::Struct(inside)) =
            (&module.types[bytes.data], &bytes.value)
        else {
            return None;
        };
        let all = whole(&of("length", parts, inside)?, inside.last()?)?;
        let byte = |value: &DataValue| match value {
            DataValue::Int(bits) => Some((*bits & 0xff) as u16),
            _ => None,
        };
        let bytes: Vec<u16> = all.iter().map(byte).collect::<Option<_>>()?;
        let units = match of("coder", fields, values)? {
            DataValue::Int(0) => bytes,
            _ => bytes.chunks_exact(2).map(|pair| pair[0] | pair[1] << 8).collect(),
        };
        return Some((quoted_units(&units), NewObjectKind::String));
    }
    let DataType::Array { element, .. } = module.types[fields.last()?.ty] else { return None };
    let values = whole(&of("length", fields, values)?, values.last()?)?;
    let array = Array { element: &module.types[element], values };
    let kind =
        if matches!(array.element, DataType::Float { .. }) { NewObjectKind::Floats } else { NewObjectKind::Array };
    Some((format!("new {}[] {}", type_name(array.element), braces(&array)), kind))
}

/// The kind of a newly created result, which selects the assertion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewObjectKind {
    String,
    Array,
    Floats,
}

/// Returns the elements, or `None` unless all of them are known.
fn whole<'v>(length: &DataValue, elements: &'v DataValue) -> Option<&'v [DataValue]> {
    match (length, elements) {
        (DataValue::Int(length), DataValue::Array(values)) if *length == values.len() as u64 => Some(values),
        _ => None,
    }
}

fn type_name(data: &DataType) -> &str {
    match data {
        DataType::Int { name, .. } | DataType::Float { name, .. } | DataType::Bool { name } => name,
        _ => "Object",
    }
}

fn braces(array: &Array<'_>) -> String {
    let value = |value: &DataValue| {
        let text = literal(array.element, value).unwrap_or_else(|| "0".to_string());
        // The array type makes the cast superfluous.
        text.strip_prefix("(byte) ").or(text.strip_prefix("(short) ")).map_or(text.clone(), str::to_string)
    };
    let values: Vec<String> = array.values.iter().map(value).collect();
    format!("{{{}}}", values.join(", "))
}

/// The keywords and literals of Java, which cannot be variables.
const KEYWORDS: [&str; 52] = [
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "try",
    "void",
    "volatile",
    "while",
    "true",
    "false",
];
