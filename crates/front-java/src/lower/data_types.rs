//! Data types of inputs and results: the input shapes of parameters, and the observable structure of results.
//!
//! An array is its class word, its length and its elements. A string is an object of the JDK with a byte array, one
//! byte a character. Strings with wider characters are counted among the longer ones that are not explored, which is
//! always reported.

use crate::classes::layout::{ARRAY_BASE_OFFSET, ARRAY_LENGTH_OFFSET, CLASS_WORD_OFFSET, STRING};
use crate::classes::type_names::type_name;
use crate::classfile::Desc;
use crate::lower::context::{ANY, Lowering, empty_module};
use std::hash::Hash;
use touchstone_base::Id;
use touchstone_base::IndexMap;
use touchstone_base::float::Format;
use touchstone_ir::{DataType, DataTypeId, DataTypes, Field, IntKind, StructKind, TaggedVariant, VariantTag};

/// Index of the first value type in a module's table.
const VALUES: usize = 4;

/// Adds the value types to the types of the initial module.
pub(crate) fn add_types(types: &mut DataTypes) {
    let int = |name: &str, bits, signed| {
        let kind = if name == "char" { IntKind::Character } else { IntKind::Number };
        DataType::Int { name: name.to_string(), bits, signed, kind }
    };
    let float = |name: &str, format| DataType::Float { name: name.to_string(), format };
    let first = types.push(DataType::Void);
    debug_assert_eq!(first.index(), VALUES);
    types.push(DataType::Bool { name: "boolean".to_string() });
    types.push(int("byte", 8, true));
    types.push(int("char", 16, false));
    types.push(int("short", 16, true));
    types.push(int("int", 32, true));
    types.push(int("long", 64, true));
    types.push(float("float", Format::F32));
    types.push(float("double", Format::F64));
}

/// Returns the data type of a primitive type; references have the opaque type.
pub(crate) fn value_type(desc: &Desc) -> DataTypeId {
    DataTypeId::new(match desc {
        Desc::Void => VALUES,
        Desc::Boolean => VALUES + 1,
        Desc::Byte => VALUES + 2,
        Desc::Char => VALUES + 3,
        Desc::Short => VALUES + 4,
        Desc::Int => VALUES + 5,
        Desc::Long => VALUES + 6,
        Desc::Float => VALUES + 7,
        Desc::Double => VALUES + 8,
        Desc::Ref(_) => ANY,
    })
}

/// The use of a data type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum DataUse {
    /// An input: the class word of an object is part of it.
    Input,
    /// An input whose fields may hold objects of the program.
    Heap,
    /// A result: its structure follows the declared class.
    Result,
}

impl Lowering {
    /// Returns the data type of a type. References have one only if tests can construct and observe their objects.
    pub fn data_of(&mut self, desc: &Desc, used: DataUse) -> DataTypeId {
        let Desc::Ref(name) = desc else { return value_type(desc) };
        let key = (name.clone(), used);
        if let Some(known) = self.type_ids.get(&key) {
            return *known;
        }
        let made = match name.strip_prefix('[').and_then(Desc::parse) {
            Some(element) if !element.is_ref() => self.array_type(name, "elements", &element),
            None if &**name == STRING => self.string_type(used),
            _ => None,
        };
        let made = match made {
            Some((word, object)) => self.pointer_to(word, object, used),
            None => value_type(desc),
        };
        self.type_ids.insert(key, made);
        made
    }

    /// Returns a pointer to objects of one class.
    fn pointer_to(&mut self, word: u64, object: DataTypeId, used: DataUse) -> DataTypeId {
        let name = match &self.types[object] {
            DataType::Struct { name, .. } => name.clone(),
            _ => String::new(),
        };
        let variants = vec![TaggedVariant { tag: word, ty: object }];
        let tag = VariantTag { offset: CLASS_WORD_OFFSET as u64, bits: 32 };
        let pointee = match used {
            DataUse::Input | DataUse::Heap => self.types.push(DataType::OneOf { name, tag, variants }),
            DataUse::Result => object,
        };
        self.types.push(DataType::Pointer { pointee, to_const: false })
    }

    /// Returns the class word of an array class, and its data type.
    fn array_type(&mut self, name: &str, field: &str, element: &Desc) -> Option<(u64, DataTypeId)> {
        let class = self.classes.load(&name.into()).ok()?;
        self.classes.mark_instantiated(class);
        let (int, element) = (value_type(&Desc::Int), value_type(element));
        let elements = self.types.push(DataType::Array { element, length: 0 });
        let object = self.types.push(DataType::Struct {
            name: type_name(&Desc::Ref(name.into())),
            fields: vec![
                Field { name: "class".to_string(), offset: CLASS_WORD_OFFSET as u64, ty: int },
                Field { name: "length".to_string(), offset: ARRAY_LENGTH_OFFSET as u64, ty: int },
                Field { name: field.to_string(), offset: ARRAY_BASE_OFFSET as u64, ty: elements },
            ],
            size: ARRAY_BASE_OFFSET as u64,
            align: 8,
            kind: StructKind::Counted { by: 1 },
        });
        Some((self.word(class), object))
    }

    fn string_type(&mut self, used: DataUse) -> Option<(u64, DataTypeId)> {
        let class = self.classes.load(&STRING.into()).ok()?;
        self.classes.mark_instantiated(class);
        let value = self.classes.field_named(class, "value")?.offset;
        let coder = self.classes.field_named(class, "coder")?.offset;
        // The array has a data type of its own, since no array of the program is the value of a string.
        let (word, bytes) = self.array_type("[B", "value", &Desc::Byte)?;
        let bytes = self.pointer_to(word, bytes, used);
        let mut fields = vec![
            Field { name: "class".to_string(), offset: CLASS_WORD_OFFSET as u64, ty: value_type(&Desc::Int) },
            Field { name: "value".to_string(), offset: value, ty: bytes },
        ];
        if used == DataUse::Result {
            fields.push(Field { name: "coder".to_string(), offset: coder, ty: value_type(&Desc::Byte) });
        }
        fields.sort_by_key(|field| field.offset);
        let size = self.classes.get(class).size;
        let name = "java.lang.String".to_string();
        let object = self.types.push(DataType::Struct { name, fields, size, align: 8, kind: StructKind::Record });
        Some((self.word(class), object))
    }

    /// Returns the types of the initial module.
    pub fn base_types() -> IndexMap<DataTypeId, DataType> {
        let types = empty_module().types;
        debug_assert!(types.ids().all(|id| id.index() < types.len()));
        types
    }
}
