//! Types as inputs and results show them: what a parameter may be, and what a result leads to.
//!
//! An array is its class, its length and its elements. A string is what the JDK makes of it: the bytes of a text whose characters
//! all fit into one byte; texts with others are among those that are longer than what is followed, which is always told.

use super::present::value_type;
use super::world::World;
use crate::classfile::Desc;
use crate::world::{ARRAY_BASE, ARRAY_LENGTH, CLASS_WORD};
use touchstone_base::{Id, IndexMap};
use touchstone_ir::{DataType, DataTypeId, Field, StructKind, Tag, Variant};

/// What a type is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Use {
    /// Values come in: an object says of what class it is.
    Input,
    /// The same, and objects of the program come in as well.
    Heap,
    /// Values come out: the declared class is looked at.
    Result,
}

pub(crate) const STRING: &str = "java/lang/String";

impl World {
    /// The data type of a type: of references only where values can be made and looked at.
    pub fn data_of(&mut self, desc: &Desc, used: Use) -> DataTypeId {
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

    /// A pointer to objects of one class.
    fn pointer_to(&mut self, word: u64, object: DataTypeId, used: Use) -> DataTypeId {
        let name = match &self.types[object] {
            DataType::Struct { name, .. } => name.clone(),
            _ => String::new(),
        };
        let variants = vec![Variant { tag: word, ty: object }];
        let tag = Tag { offset: CLASS_WORD as u64, bits: 32 };
        let pointee = match used {
            Use::Input | Use::Heap => self.types.push(DataType::OneOf { name, tag, variants }),
            Use::Result => object,
        };
        self.types.push(DataType::Pointer { pointee, to_const: false })
    }

    /// Arrays: the class word, and the structure.
    fn array_type(&mut self, name: &str, field: &str, element: &Desc) -> Option<(u64, DataTypeId)> {
        let class = self.classes.load(&name.into()).ok()?;
        self.classes.instantiate(class);
        let (int, element) = (value_type(&Desc::Int), value_type(element));
        let elements = self.types.push(DataType::Array { element, length: 0 });
        let object = self.types.push(DataType::Struct {
            name: super::origin::type_text(&Desc::Ref(name.into())),
            fields: vec![
                Field { name: "class".to_string(), offset: CLASS_WORD as u64, ty: int },
                Field { name: "length".to_string(), offset: ARRAY_LENGTH as u64, ty: int },
                Field { name: field.to_string(), offset: ARRAY_BASE as u64, ty: elements },
            ],
            size: ARRAY_BASE as u64,
            align: 8,
            kind: StructKind::Counted { by: 1 },
        });
        Some((self.word(class), object))
    }

    fn string_type(&mut self, used: Use) -> Option<(u64, DataTypeId)> {
        let class = self.classes.load(&STRING.into()).ok()?;
        self.classes.instantiate(class);
        let value = self.classes.field_named(class, "value")?.offset;
        let coder = self.classes.field_named(class, "coder")?.offset;
        // A type of its own: no array of the program is ever the inside of a string.
        let (word, bytes) = self.array_type("[B", "value", &Desc::Byte)?;
        let bytes = self.pointer_to(word, bytes, used);
        let mut fields = vec![
            Field { name: "class".to_string(), offset: CLASS_WORD as u64, ty: value_type(&Desc::Int) },
            Field { name: "value".to_string(), offset: value, ty: bytes },
        ];
        if used == Use::Result {
            fields.push(Field { name: "coder".to_string(), offset: coder, ty: value_type(&Desc::Byte) });
        }
        fields.sort_by_key(|field| field.offset);
        let size = self.classes.get(class).size;
        let name = "java.lang.String".to_string();
        let object = self.types.push(DataType::Struct { name, fields, size, align: 8, kind: StructKind::Record });
        Some((self.word(class), object))
    }

    /// The types that a module has.
    pub fn base_types() -> IndexMap<DataTypeId, DataType> {
        let types = super::world::empty_module().types;
        debug_assert!(types.ids().all(|id| id.index() < types.len()));
        types
    }
}
