//! Contents of globals: string constants, static fields, `Class` objects, and objects of the JVM itself.

use crate::classes::ClassShape;
use crate::classes::layout::{ARRAY_BASE_OFFSET, ARRAY_LENGTH_OFFSET, MIRROR_HIDDEN_BYTES};
use crate::classes::{ClassId, FieldRef, LoweringError};
use crate::classfile::{Constant, access};
use crate::lower::context::{ANY, Lowering};
use crate::lower::data_types::value_type;
use crate::lower::symbols::GlobalKind;
use std::hash::Hash;
use std::rc::Rc;
use touchstone_base::{Id, Span, WideHasher};
use touchstone_ir::{DataTypeId, Global, GlobalId, GlobalRole, Init, Linkage};

/// Offsets of the hidden fields of a `Class` object, relative to the end of the JDK's fields.
pub(crate) mod mirror {
    /// The class word of the class's objects.
    pub const CLASS: u64 = 0;
    /// Bits: 1 array, 2 primitive, 4 interface, and [`OF_PROGRAM`].
    pub const FLAGS: u64 = 4;
    /// The bit of a class that is not the JDK's.
    pub const OF_PROGRAM: i32 = 64;
    /// The `Class` object of its superclass.
    pub const SUPERCLASS: u64 = 8;
    /// Access flags.
    pub const MODIFIERS: u64 = 16;
    /// The class word of its array class; zero for `void`.
    pub const ARRAYS: u64 = 20;
}

/// The initial contents of an object.
struct ObjectImage {
    size: u64,
    pieces: Vec<(u64, Piece)>,
}

enum Piece {
    Bytes(Vec<u8>),
    Address(GlobalId),
}

impl ObjectImage {
    fn new(size: u64, word: u64) -> ObjectImage {
        ObjectImage { size, pieces: vec![(0, Piece::Bytes((word as u32).to_le_bytes().to_vec()))] }
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.pieces.push((offset, Piece::Bytes(bytes.to_vec())));
        }
    }

    fn put_address(&mut self, offset: u64, global: GlobalId) {
        self.pieces.push((offset, Piece::Address(global)));
    }

    fn init(mut self) -> (u64, Vec<Init>) {
        self.pieces.sort_by_key(|(offset, _)| *offset);
        let init = self.pieces.into_iter().map(|(offset, piece)| match piece {
            Piece::Bytes(bytes) => Init::Bytes { offset, bytes },
            Piece::Address(global) => Init::GlobalAddr { offset, global, addend: 0 },
        });
        (self.size, init.collect())
    }
}

/// Returns the name of a global that is not shown. It is the same in other versions of the program; strings are hashed,
/// since they are many and long.
fn global_name(data: &GlobalKind) -> String {
    let hash = |units: &[u16]| {
        let mut hasher = WideHasher::default();
        units.hash(&mut hasher);
        format!("{:032x}", hasher.wide())
    };
    match data {
        GlobalKind::Literal(units) => format!("text {}", hash(units)),
        GlobalKind::LiteralBytes(units) => format!("bytes {}", hash(units)),
        other => format!("{other:?}"),
    }
}

/// Returns the bytes of a string and its coder, as the JDK stores them.
fn string_bytes(units: &[u16]) -> (Vec<u8>, u8) {
    match units.iter().all(|unit| *unit < 256) {
        true => (units.iter().map(|unit| *unit as u8).collect(), 0),
        false => (units.iter().flat_map(|unit| unit.to_le_bytes()).collect(), 1),
    }
}

impl Lowering {
    pub fn define_global(&mut self, data: &GlobalKind) -> Global {
        let (size, init) = self.initial_contents(data).unwrap_or((0, Vec::new()));
        if let GlobalKind::Static(field) = data
            && let Some(shown) = self.source_field_name(*field)
        {
            // Earlier calls may have written the field. It has no initial value, so that reading a reference ends the
            // path.
            let (_, desc) = self.classes.static_field(*field);
            return Global {
                name: shown,
                span: Span::none(),
                data: value_type(&desc),
                size,
                constant: false,
                linkage: Linkage::External,
                role: GlobalRole::Variable,
                display_name: None,
                function: None,
                init: None,
            };
        }
        Global {
            name: global_name(data),
            span: Span::none(),
            data: DataTypeId::new(ANY),
            size,
            constant: false,
            linkage: Linkage::Local,
            role: GlobalRole::Runtime,
            display_name: None,
            function: None,
            init: Some(init),
        }
    }

    fn initial_contents(&mut self, data: &GlobalKind) -> Result<(u64, Vec<Init>), LoweringError> {
        match data {
            GlobalKind::Literal(units) => self.literal_object(units),
            GlobalKind::LiteralBytes(units) => {
                let class = self.jdk("[B")?;
                self.classes.mark_instantiated(class);
                let (bytes, _) = string_bytes(units);
                let mut object = ObjectImage::new(ARRAY_BASE_OFFSET as u64 + bytes.len() as u64, self.word(class));
                object.put(ARRAY_LENGTH_OFFSET as u64, &(bytes.len() as u32).to_le_bytes());
                object.put(ARRAY_BASE_OFFSET as u64, &bytes);
                Ok(object.init())
            }
            GlobalKind::Static(field) => self.static_contents(*field),
            GlobalKind::InitFlag(_) => Ok((1, Vec::new())),
            GlobalKind::Kept(..) | GlobalKind::Cell(_) => Ok((8, Vec::new())),
            GlobalKind::Text(text) => {
                let init = Init::Bytes { offset: 0, bytes: text.as_bytes().to_vec() };
                Ok((text.len() as u64 + 1, vec![init]))
            }
            GlobalKind::Mirror(class) => self.mirror_object(*class),
            GlobalKind::Arguments => self.arguments_object(),
            GlobalKind::Named(name) => self.named_object(name),
        }
    }

    fn literal_object(&mut self, units: &Rc<[u16]>) -> Result<(u64, Vec<Init>), LoweringError> {
        let class = self.jdk("java/lang/String")?;
        self.classes.mark_instantiated(class);
        let bytes = self.global_id(GlobalKind::LiteralBytes(units.clone()));
        let mut object = ObjectImage::new(self.classes.get(class).size, self.word(class));
        if let Some(value) = self.classes.field_named(class, "value") {
            object.put_address(value.offset, bytes);
        }
        if let Some(coder) = self.classes.field_named(class, "coder") {
            object.put(coder.offset, &[string_bytes(units).1]);
        }
        Ok(object.init())
    }

    fn static_contents(&mut self, field: FieldRef) -> Result<(u64, Vec<Init>), LoweringError> {
        let (member, desc) = self.classes.static_field(field);
        let size = desc.size();
        let Some(index) = member.constant() else { return Ok((size, Vec::new())) };
        let file = self.classes.get(field.class).file().cloned();
        let Some(file) = file else { return Ok((size, Vec::new())) };
        let malformed = |error: crate::classfile::Malformed| LoweringError::Malformed(error.to_string());
        let bytes = |bytes: &[u8]| vec![Init::Bytes { offset: 0, bytes: bytes[..size as usize].to_vec() }];
        let init = match file.pool.get(index).map_err(malformed)? {
            Constant::Integer(value) if size <= 4 => bytes(&value.to_le_bytes()),
            Constant::Float(value) if size == 4 => bytes(&value.to_le_bytes()),
            Constant::Long(value) if size == 8 => bytes(&value.to_le_bytes()),
            Constant::Double(value) if size == 8 => bytes(&value.to_le_bytes()),
            Constant::String(text) => {
                let units = file.pool.text(*text).map_err(malformed)?.units();
                let global = self.global_id(GlobalKind::Literal(units.into()));
                vec![Init::GlobalAddr { offset: 0, global, addend: 0 }]
            }
            _ => Vec::new(),
        };
        Ok((size, init))
    }

    fn mirror_object(&mut self, class: ClassId) -> Result<(u64, Vec<Init>), LoweringError> {
        let of = self.jdk("java/lang/Class")?;
        self.classes.mark_instantiated(of);
        let size = self.classes.get(of).size;
        let hidden = size - MIRROR_HIDDEN_BYTES;
        let mut object = ObjectImage::new(size, self.word(of));
        let own = self.classes.get(class).clone();
        let title = own.title().trim_matches(['<', '>']).to_string();
        let name: Rc<[u16]> = title.encode_utf16().collect::<Vec<u16>>().into();
        let name = self.global_id(GlobalKind::Literal(name));
        let flags: u32 = match &own.shape {
            ClassShape::Array { .. } => 1,
            ClassShape::Primitive(_) => 2,
            _ if own.is(access::INTERFACE) => 4,
            _ => 0,
        };
        if let Some(place) = self.classes.field_named(of, "name") {
            object.put_address(place.offset, name);
        }
        if let ClassShape::Array { component, .. } = own.shape {
            let component = self.global_id(GlobalKind::Mirror(component));
            if let Some(place) = self.classes.field_named(of, "componentType") {
                object.put_address(place.offset, component);
            }
        }
        let modifiers = own.access & !access::SYNCHRONIZED;
        if let Some(place) = self.classes.field_named(of, "modifiers") {
            object.put(place.offset, &modifiers.to_le_bytes());
        }
        if let Some(place) = self.classes.field_named(of, "primitive") {
            object.put(place.offset, &[u8::from(flags == 2)]);
        }
        object.put(hidden + mirror::CLASS, &(self.word(class) as u32).to_le_bytes());
        let of_program = if own.of_jdk { 0 } else { mirror::OF_PROGRAM as u32 };
        object.put(hidden + mirror::FLAGS, &(flags | of_program).to_le_bytes());
        object.put(hidden + mirror::MODIFIERS, &u32::from(modifiers).to_le_bytes());
        if let Some(superclass) = own.superclass.filter(|_| flags & 4 == 0) {
            let superclass = self.global_id(GlobalKind::Mirror(superclass));
            object.put_address(hidden + mirror::SUPERCLASS, superclass);
        }
        // Generic code creates arrays of a class by its `Class` object.
        if !matches!(&own.shape, ClassShape::Primitive(crate::classfile::Desc::Void)) {
            let arrays = self.classes.array_of(class)?;
            object.put(hidden + mirror::ARRAYS, &(self.word(arrays) as u32).to_le_bytes());
        }
        Ok(object.init())
    }

    fn arguments_object(&mut self) -> Result<(u64, Vec<Init>), LoweringError> {
        let class = self.jdk("[Ljava/lang/String;")?;
        self.classes.mark_instantiated(class);
        let arguments = self.arguments.clone();
        let mut object = ObjectImage::new(ARRAY_BASE_OFFSET as u64 + 8 * arguments.len() as u64, self.word(class));
        object.put(ARRAY_LENGTH_OFFSET as u64, &(arguments.len() as u32).to_le_bytes());
        for (index, argument) in arguments.iter().enumerate() {
            let units: Vec<u16> = argument.encode_utf16().collect();
            let global = self.global_id(GlobalKind::Literal(units.into()));
            object.put_address(ARRAY_BASE_OFFSET as u64 + 8 * index as u64, global);
        }
        Ok(object.init())
    }

    /// Returns an object that the JVM creates before the program starts.
    fn named_object(&mut self, name: &str) -> Result<(u64, Vec<Init>), LoweringError> {
        let class = self.jdk(match name {
            "main thread" => "java/lang/Thread",
            "main group" => "java/lang/ThreadGroup",
            "thread holder" => "java/lang/Thread$FieldHolder",
            _ => "java/io/PrintStream",
        })?;
        self.classes.mark_instantiated(class);
        let mut object = ObjectImage::new(self.classes.get(class).size, self.word(class));
        let mut put = |lowering: &Lowering, field: &str, bytes: &[u8]| {
            if let Some(place) = lowering.classes.field_named(class, field) {
                object.put(place.offset, &bytes[..(place.desc.size() as usize).min(bytes.len())]);
            }
        };
        match name {
            "main thread" => {
                put(self, "threadLocalRandomProbe", &1u64.to_le_bytes());
                put(self, "threadLocalRandomSeed", &0x5851_f42d_4c95_7f2du64.to_le_bytes());
                put(self, "tid", &1u64.to_le_bytes());
                put(self, "priority", &5u64.to_le_bytes());
                let units: Vec<u16> = "main".encode_utf16().collect();
                let text = self.global_id(GlobalKind::Literal(units.into()));
                let group = self.global_id(GlobalKind::Named("main group"));
                for (field, global) in [("name", text), ("group", group)] {
                    if let Some(place) = self.classes.field_named(class, field) {
                        object.put_address(place.offset, global);
                    }
                }
                if let Some(place) = self.classes.field_named(class, "holder").cloned() {
                    let holder = self.global_id(GlobalKind::Named("thread holder"));
                    object.put_address(place.offset, holder);
                }
            }
            "thread holder" => {
                put(self, "priority", &5u64.to_le_bytes());
                put(self, "threadStatus", &5u64.to_le_bytes());
                let group = self.global_id(GlobalKind::Named("main group"));
                if let Some(place) = self.classes.field_named(class, "group") {
                    object.put_address(place.offset, group);
                }
            }
            "main group" => {
                put(self, "maxPriority", &10u64.to_le_bytes());
                let units: Vec<u16> = "main".encode_utf16().collect();
                let text = self.global_id(GlobalKind::Literal(units.into()));
                if let Some(place) = self.classes.field_named(class, "name") {
                    object.put_address(place.offset, text);
                }
            }
            _ => {}
        }
        Ok(object.init())
    }
}
