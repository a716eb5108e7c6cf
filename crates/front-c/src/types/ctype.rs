//! C types, their layout on x86-64 (System V ABI), and their data types in the IR.

use crate::clang::options::OffsetofMode;
use crate::construct::Construct;
use crate::types::tokens::TypeToken;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use touchstone_base::float::Format;
use touchstone_ir::{DataType, DataTypeId, DataTypes, EnumItem, Field, IntKind, StructKind, Ty};

/// The maximum number of lanes of a vector: each is a register while the vector is computed.
pub(crate) const MAX_LANES: u64 = 256;

/// Returns the construct by which vectors of this type are unsupported, if they are.
fn unsupported_vector(element: &Type, lanes: u64) -> Option<Construct> {
    match element.kind {
        TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum(_) if lanes <= MAX_LANES => None,
        TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum(_) => Some(Construct::LongVector),
        _ => Some(Construct::VectorElement),
    }
}

/// A type with its qualifiers and the typedef name in the source.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Type {
    pub kind: TypeKind,
    pub is_const: bool,
    pub is_volatile: bool,
    pub alias: Option<Rc<str>>,
}

/// The structure of a type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TypeKind {
    Void,
    Bool,
    Int {
        name: &'static str,
        bits: u8,
        signed: bool,
    },
    Float {
        name: &'static str,
        format: Format,
    },
    /// An integer of 128 bits, always in memory (see `int128`).
    Int128 {
        signed: bool,
    },
    /// x87's extended format of 80 bits, always in memory (see `long_double`).
    LongDouble,
    /// A vector: its scalar type and number of lanes. Always in memory (see `vector`).
    Vector(Rc<Type>, u64),
    /// Real and imaginary part, always in memory (see `complex`).
    Complex(Rc<Type>),
    /// An index into [`TypeTable::enums`].
    Enum(usize),
    Pointer(Rc<Type>),
    Array(Rc<Type>, u64),
    /// An array without length: tentative, flexible or `extern`.
    OpenArray(Rc<Type>),
    /// A variable-length array, with the tokens of its length.
    Variable(Rc<Type>, Rc<[TypeToken]>),
    /// An index into [`TypeTable::records`].
    Record(usize),
    Function(Rc<FunctionSignature>),
    /// An unsupported type. It may have a layout, but values of it can't be used.
    Unsupported {
        spelling: Rc<str>,
        construct: Construct,
        size: u64,
        align: u64,
    },
}

/// The type of a function.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FunctionSignature {
    pub result: Type,
    pub params: Vec<Type>,
    pub variadic: bool,
    pub prototype: bool,
}

impl Type {
    /// Creates a type without qualifiers and alias.
    pub fn plain(kind: TypeKind) -> Type {
        Type { kind, is_const: false, is_volatile: false, alias: None }
    }
    /// `int`.
    pub fn int() -> Type {
        Type::plain(TypeKind::Int { name: "int", bits: 32, signed: true })
    }
    /// Creates an unsupported type without a known size.
    pub fn unsupported(spelling: &str, construct: Construct) -> Type {
        Type::plain(TypeKind::Unsupported { spelling: Rc::from(spelling), construct, size: 0, align: 1 })
    }
    /// Removes typedef names where the type has another name.
    pub fn unaliased(&self) -> Type {
        let kind = match &self.kind {
            TypeKind::Pointer(pointee) => TypeKind::Pointer(Rc::new(pointee.unaliased())),
            TypeKind::Array(element, length) => TypeKind::Array(Rc::new(element.unaliased()), *length),
            TypeKind::Function(signature) => TypeKind::Function(Rc::new(FunctionSignature {
                result: signature.result.unaliased(),
                params: signature.params.iter().map(|param| Type { is_const: false, ..param.unaliased() }).collect(),
                ..**signature
            })),
            TypeKind::Void
            | TypeKind::Bool
            | TypeKind::Int { .. }
            | TypeKind::Int128 { .. }
            | TypeKind::Float { .. }
            | TypeKind::LongDouble => self.kind.clone(),
            TypeKind::Enum(_)
            | TypeKind::Record(_)
            | TypeKind::Vector(..)
            | TypeKind::Complex(_)
            | TypeKind::OpenArray(_)
            | TypeKind::Variable(..)
            | TypeKind::Unsupported { .. } => return self.clone(),
        };
        Type { kind, is_const: self.is_const, is_volatile: self.is_volatile, alias: None }
    }
    /// Returns a pointer to this type.
    pub fn pointer_to(self) -> Type {
        Type::plain(TypeKind::Pointer(Rc::new(self)))
    }
    /// Returns the pointee of a pointer or the element of an array.
    pub fn element(&self) -> Option<&Type> {
        match &self.kind {
            TypeKind::Pointer(element)
            | TypeKind::Array(element, _)
            | TypeKind::OpenArray(element)
            | TypeKind::Variable(element, _) => Some(element),
            _ => None,
        }
    }
    /// Returns true if objects of this type are read-only.
    pub fn is_deep_const(&self) -> bool {
        match &self.kind {
            TypeKind::Array(element, _) | TypeKind::OpenArray(element) => self.is_const || element.is_deep_const(),
            _ => self.is_const,
        }
    }
    /// Returns true for structures, unions and other types with values that are passed and assigned as bytes.
    pub fn is_record(&self) -> bool {
        matches!(self.kind, TypeKind::Record(_) | TypeKind::Vector(..) | TypeKind::Complex(_)) || self.is_two_words()
    }
    /// Returns true if it is a pointer.
    pub fn is_pointer(&self) -> bool {
        matches!(self.kind, TypeKind::Pointer(_))
    }
}

/// A field of a record.
#[derive(Clone, Debug)]
pub(crate) struct FieldInfo {
    /// clang's id of its declaration.
    pub id: u64,
    pub name: String,
    pub ty: Type,
    /// The byte offset; of a bit-field, that of the byte with its first bit.
    pub offset: u64,
    /// The first bit in the record and the width of a bit-field.
    pub bits: Option<(u64, u64)>,
}

/// A structure or union.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// `struct point`, or the typedef name of an unnamed one.
    pub name: String,
    pub named: bool,
    pub is_union: bool,
    pub complete: bool,
    pub fields: Vec<FieldInfo>,
    pub size: u64,
    pub align: u64,
    /// The construct because of which its layout is unknown.
    pub problem: Option<Construct>,
    pub data: DataTypeId,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub(crate) struct Enum {
    pub name: String,
    pub named: bool,
    pub bits: u8,
    pub signed: bool,
    pub items: Vec<EnumItem>,
    pub data: DataTypeId,
}

/// A declared field before layout.
pub(crate) struct FieldDecl {
    pub id: u64,
    pub name: String,
    pub ty: Type,
    pub width: Option<u64>,
    pub packed: bool,
    pub aligned: Option<u64>,
}

/// Attributes that apply to all fields of a record.
#[derive(Clone, Copy)]
pub(crate) struct RecordLayout {
    pub packed: bool,
    pub aligned: Option<u64>,
    /// The maximum alignment of a field (`#pragma pack`).
    pub most: Option<u64>,
}

/// The type of a bit-field of more than 32 bits in an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WideBitFields {
    /// A type of the field's own width, as in gcc.
    OwnWidth,
    /// The compiler is unknown.
    Unknown,
}

/// The name of the data type of variable arguments; no type of the source has such a name.
pub(crate) const VARIABLE_ARGUMENTS: &str = "...";

/// All records, enumerations and data types of the program.
pub(crate) struct TypeTable {
    pub records: Vec<Record>,
    pub enums: Vec<Enum>,
    pub data: DataTypes,
    pub char_signed: bool,
    /// Every read of a volatile object is a new input.
    pub fresh_volatile: bool,
    /// The evaluation of `offsetof`.
    pub offsets: OffsetofMode,
    pub wide_fields: WideBitFields,
    /// True if enumerations are as narrow as their values allow.
    pub short_enums: bool,
    /// The maximum alignment of members where no directive sets one.
    pub packing: Option<u64>,
    interned: FxHashMap<DataType, DataTypeId>,
    /// The union of all types that `va_arg` is used with in the program.
    pub arguments: DataTypeId,
    /// The C types of functions by their data types.
    pub functions: BTreeMap<DataTypeId, Type>,
}

impl TypeTable {
    /// Creates the table with the one type that is predefined, `va_list`.
    pub fn new() -> TypeTable {
        let mut types = TypeTable {
            records: Vec::new(),
            enums: Vec::new(),
            data: DataTypes::new(),
            char_signed: true,
            fresh_volatile: false,
            offsets: OffsetofMode::default(),
            wide_fields: WideBitFields::Unknown,
            short_enums: false,
            packing: None,
            interned: FxHashMap::default(),
            arguments: touchstone_base::Id::new(0),
            functions: BTreeMap::new(),
        };
        let list = types.new_record("struct __va_list_tag".to_string(), true, false);
        let record = &mut types.records[list];
        (record.complete, record.size, record.align) = (true, 24, 8);
        let name = VARIABLE_ARGUMENTS.to_string();
        types.arguments = types.data.push(DataType::Union { name, members: Vec::new(), size: 8, align: 8 });
        types.refresh_record(list);
        types
    }
    /// The index of the structure that `va_list` consists of.
    pub const ARGUMENT_LIST: usize = 0;

    /// Adds a record that is not complete yet; returns its index.
    pub fn new_record(&mut self, name: String, named: bool, is_union: bool) -> usize {
        let data = self.data.push(DataType::Opaque { name: name.clone(), size: 0, align: 1 });
        self.records.push(Record {
            name,
            named,
            is_union,
            complete: false,
            fields: Vec::new(),
            size: 0,
            align: 1,
            problem: None,
            data,
        });
        self.records.len() - 1
    }

    /// Computes the layout of a record.
    pub fn complete_record(&mut self, id: usize, fields: Vec<FieldDecl>, layout: RecordLayout) {
        let RecordLayout { packed, aligned, most } = layout;
        let is_union = self.records[id].is_union;
        let mut infos = Vec::new();
        let mut problem = None;
        let (mut bit, mut widest, mut align) = (0u64, 0u64, 1u64);
        for field in fields {
            if is_union {
                bit = 0;
            }
            let size = self.size(&field.ty);
            let natural = self.align(&field.ty);
            let effective = if packed || field.packed { 1 } else { natural }.max(field.aligned.unwrap_or(1));
            let effective = effective.min(most.unwrap_or(u64::MAX));
            let packed = packed || field.packed || most.is_some_and(|most| most < natural);
            // Without the size of a field, the offsets of the following ones are unknown.
            if size == 0 || matches!(field.ty.kind, TypeKind::Record(_)) {
                problem = problem.or_else(|| self.unsupported(&field.ty));
            }
            if field.width.is_some() && field.ty.wide().is_some() {
                problem = problem.or(Some(Construct::Int128BitField));
            }
            let (offset, bits) = match field.width {
                Some(0) => {
                    bit = round_up(bit, natural * 8);
                    continue;
                }
                Some(width) => {
                    if let Some(aligned) = field.aligned {
                        bit = round_up(bit, aligned * 8);
                    } else if !packed && bit % (size.max(1) * 8) + width > size * 8 {
                        bit = round_up(bit, natural * 8);
                    }
                    let first = bit;
                    bit += width;
                    if !field.name.is_empty() {
                        align = align.max(effective);
                    }
                    (first / 8, Some((first, width)))
                }
                None => {
                    let offset = round_up(bit.div_ceil(8), effective);
                    bit = (offset + size) * 8;
                    align = align.max(effective);
                    (offset, None)
                }
            };
            widest = widest.max(bit);
            infos.push(FieldInfo { id: field.id, name: field.name, ty: field.ty, offset, bits });
        }
        align = align.max(aligned.unwrap_or(1));
        let size = round_up(widest.div_ceil(8), align);
        let record = &mut self.records[id];
        record.complete = true;
        record.fields = infos;
        record.size = size;
        record.align = align;
        record.problem = record.problem.take().or(problem);
        self.refresh_record(id);
    }

    /// Returns the data type of a `va_list`. Only the address of the next argument is used
    /// (`lower/objects/variadic.rs`).
    fn argument_list(&mut self, name: String) -> DataType {
        let ty = self.arguments_pointer();
        let fields = vec![Field { name: "next".to_string(), offset: 8, ty }];
        DataType::Struct { name, fields, size: 24, align: 8, kind: StructKind::Record }
    }

    /// Returns the data type of a pointer to variable arguments.
    pub fn arguments_pointer(&mut self) -> DataTypeId {
        self.intern(DataType::Pointer { pointee: self.arguments, to_const: false })
    }

    /// Returns the index of a type in the union of variable arguments, which it is added to; `None` if arguments of
    /// this type are unsupported.
    pub fn argument_member(&mut self, ty: &Type) -> Option<u64> {
        let plain = !ty.is_record() && (1..=8).contains(&self.size(ty)) && self.unsupported(ty).is_none();
        let data = plain.then(|| self.data(&ty.unaliased()))?;
        let DataType::Union { members, .. } = &mut self.data[self.arguments] else { return None };
        let known = members.iter().position(|member| member.ty == data);
        let number = known.unwrap_or(members.len());
        if known.is_none() {
            members.push(Field { name: String::new(), offset: 0, ty: data });
        }
        Some(number as u64)
    }

    /// Updates a record's data type after it was completed or named.
    pub fn refresh_record(&mut self, id: usize) {
        let record = self.records[id].clone();
        if id == TypeTable::ARGUMENT_LIST {
            self.data[record.data] = self.argument_list(record.name);
            return;
        }
        let opaque = !record.complete || record.problem.is_some();
        let data = if let Some(whole) = self.whole_member(&record).filter(|_| record.is_union && !opaque) {
            let fields = vec![Field { name: whole.name.clone(), offset: 0, ty: self.data(&whole.ty) }];
            DataType::Struct {
                name: record.name,
                fields,
                size: record.size,
                align: record.align,
                kind: StructKind::Record,
            }
        } else if opaque {
            DataType::Opaque { name: record.name, size: record.size, align: record.align }
        } else if record.is_union {
            let members = self.data_fields(&record.fields);
            DataType::Union { name: record.name, members, size: record.size, align: record.align }
        } else {
            let fields = self.data_fields(&record.fields);
            DataType::Struct {
                name: record.name,
                fields,
                size: record.size,
                align: record.align,
                kind: StructKind::Record,
            }
        };
        self.data[record.data] = data;
    }

    /// Returns the member of a union that covers all its bytes and for which every bit pattern is a value, so that it
    /// can represent the union. There is none if a member contains pointers.
    fn whole_member<'r>(&self, record: &'r Record) -> Option<&'r FieldInfo> {
        let largest = record.fields.iter().map(|field| self.size(&field.ty)).max()?;
        if record.fields.iter().any(|field| self.points(&field.ty)) {
            return None;
        }
        let whole = |(index, field): (usize, &FieldInfo)| {
            let writable = index == 0 || !field.name.is_empty();
            field.bits.is_none() && writable && self.size(&field.ty) == largest && self.is_dense(&field.ty)
        };
        let fits = || record.fields.iter().enumerate().filter(|(index, field)| whole((*index, field)));
        let float = |ty: &Type| matches!(ty.kind, TypeKind::Float { .. });
        let best = fits().find(|(_, field)| !float(&field.ty)).or_else(|| fits().next());
        best.map(|(_, field)| field)
    }
    /// Returns true if a value contains pointers or parts of unknown type.
    fn points(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum(_) => false,
            TypeKind::Array(element, _) | TypeKind::Vector(element, _) | TypeKind::Complex(element) => {
                self.points(element)
            }
            TypeKind::Record(id) => {
                let record = &self.records[*id];
                !record.complete || record.problem.is_some() || record.fields.iter().any(|field| self.points(&field.ty))
            }
            _ => true,
        }
    }
    /// Returns true if every bit pattern is a value, and there is no padding.
    fn is_dense(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum(_) => true,
            TypeKind::Array(element, _) => self.is_dense(element),
            TypeKind::Record(id) => {
                let record = &self.records[*id];
                let mut end = 0;
                let in_order = record.fields.iter().all(|field| {
                    let follows = field.bits.is_none() && field.offset == end && self.is_dense(&field.ty);
                    end += self.size(&field.ty);
                    follows
                });
                !record.is_union && in_order && end == record.size
            }
            _ => false,
        }
    }

    /// Returns the fields for the IR, without unnamed bit-fields, which a program can't access.
    fn data_fields(&mut self, fields: &[FieldInfo]) -> Vec<Field> {
        let mut out: Vec<Field> = Vec::new();
        for field in fields {
            let ty = match field.bits {
                Some(_) if field.name.is_empty() => continue,
                Some((bit, width)) if bit % 8 + width <= 64 => {
                    let (first, width, signed) = ((bit % 8) as u8, width as u8, self.is_signed(&field.ty));
                    self.intern(DataType::Bits { first, width, signed })
                }
                Some((bit, width)) => {
                    let size = (bit + width).div_ceil(8) - bit / 8;
                    self.intern(DataType::Opaque { name: "bit-field".to_string(), size, align: 1 })
                }
                None => self.data(&field.ty),
            };
            out.push(Field { name: field.name.clone(), offset: field.offset, ty });
        }
        out
    }

    /// Adds an enumeration; returns its index.
    pub fn new_enum(&mut self, name: String, named: bool) -> usize {
        let data = self.data.push(DataType::Enum { name: name.clone(), bits: 32, signed: false, items: Vec::new() });
        self.enums.push(Enum { name, named, bits: 32, signed: false, items: Vec::new(), data });
        self.enums.len() - 1
    }
    /// Updates an enumeration's data type.
    pub fn refresh_enum(&mut self, id: usize) {
        let info = &self.enums[id];
        self.data[info.data] =
            DataType::Enum { name: info.name.clone(), bits: info.bits, signed: info.signed, items: info.items.clone() };
    }

    /// Returns the size in bytes; 0 if it is unknown.
    pub fn size(&self, ty: &Type) -> u64 {
        match &ty.kind {
            // As in GNU C, for arithmetic on `void *`.
            TypeKind::Void | TypeKind::Function(_) => 1,
            TypeKind::Bool => 1,
            TypeKind::Int { bits, .. } => u64::from(*bits / 8),
            TypeKind::Float { format, .. } => u64::from(format.bits() / 8),
            TypeKind::Int128 { .. } | TypeKind::LongDouble => 16,
            TypeKind::Enum(id) => u64::from(self.enums[*id].bits / 8),
            TypeKind::Pointer(_) => 8,
            TypeKind::Vector(element, lanes) => self.size(element).saturating_mul(*lanes),
            TypeKind::Complex(part) => self.size(part) * 2,
            TypeKind::Array(element, length) => self.size(element).saturating_mul(*length),
            TypeKind::OpenArray(_) | TypeKind::Variable(..) => 0,
            TypeKind::Record(id) => self.records[*id].size,
            TypeKind::Unsupported { size, .. } => *size,
        }
    }
    /// Returns the alignment in bytes, at least 1.
    pub fn align(&self, ty: &Type) -> u64 {
        match &ty.kind {
            TypeKind::Array(element, _) | TypeKind::OpenArray(element) | TypeKind::Variable(element, _) => {
                self.align(element)
            }
            TypeKind::Complex(part) => self.align(part),
            TypeKind::Record(id) => self.records[*id].align,
            TypeKind::Unsupported { align, .. } => *align,
            _ => self.size(ty).max(1),
        }
    }
    /// Returns the construct by which values of this type are unsupported, if they are.
    pub fn unsupported(&self, ty: &Type) -> Option<Construct> {
        match &ty.kind {
            TypeKind::Unsupported { construct, .. } => Some(construct.clone()),
            TypeKind::Variable(..) => Some(Construct::VariableLengthArray),
            TypeKind::Array(element, _) | TypeKind::Complex(element) => self.unsupported(element),
            TypeKind::Vector(element, lanes) => unsupported_vector(element, *lanes),
            TypeKind::Record(id) if !self.records[*id].complete => Some(Construct::IncompleteType),
            TypeKind::Record(id) => self.records[*id].problem.clone(),
            _ => None,
        }
    }
    /// Returns the register type of a scalar. Unsupported types get one of their width, so that they can be passed on.
    pub fn scalar(&self, ty: &Type) -> Ty {
        match &ty.kind {
            TypeKind::Bool => Ty::I8,
            TypeKind::Int { bits, .. } => Ty::Int(*bits),
            TypeKind::Float { format, .. } => Ty::Int(format.bits()),
            TypeKind::Enum(id) => Ty::Int(self.enums[*id].bits),
            TypeKind::Unsupported { size: 1, .. } => Ty::I8,
            TypeKind::Unsupported { size: 2, .. } => Ty::I16,
            TypeKind::Unsupported { size: 4, .. } => Ty::I32,
            TypeKind::Unsupported { .. } | TypeKind::Void => Ty::I64,
            _ => Ty::Ptr,
        }
    }
    /// Returns true for a signed integer type.
    pub fn is_signed(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Int { signed, .. } | TypeKind::Int128 { signed } => *signed,
            TypeKind::Enum(id) => self.enums[*id].signed,
            _ => false,
        }
    }

    fn intern(&mut self, data: DataType) -> DataTypeId {
        if let Some(&id) = self.interned.get(&data) {
            return id;
        }
        let id = self.data.push(data.clone());
        self.interned.insert(data, id);
        id
    }
    /// Returns the data type of the IR.
    pub fn data(&mut self, ty: &Type) -> DataTypeId {
        let data = match &ty.kind {
            TypeKind::Void => DataType::Void,
            TypeKind::Bool => DataType::Bool { name: alias_or(ty, "_Bool") },
            TypeKind::Int { name, bits, signed } => {
                let name = alias_or(ty, name);
                let kind = if name == "char" { IntKind::Character } else { IntKind::Number };
                DataType::Int { name, bits: *bits, signed: *signed, kind }
            }
            TypeKind::Float { name, format } => DataType::Float { name: alias_or(ty, name), format: *format },
            TypeKind::Vector(..) | TypeKind::Complex(_) => {
                let (size, align) = (self.size(ty), self.align(ty));
                DataType::Opaque { name: self.spell(ty, ""), size, align }
            }
            TypeKind::LongDouble => DataType::Opaque { name: alias_or(ty, "long double"), size: 16, align: 16 },
            TypeKind::Int128 { signed } => {
                let word =
                    |signed| TypeKind::Int { name: if signed { "long" } else { "unsigned long" }, bits: 64, signed };
                let [low, high] = [word(false), word(*signed)].map(|kind| self.data(&Type::plain(kind)));
                let half = |name: &str, offset, ty| Field { name: name.to_string(), offset, ty };
                let fields = vec![half("low", 0, low), half("high", 8, high)];
                let name = alias_or(ty, wide_name(*signed));
                DataType::Struct { name, fields, size: 16, align: 16, kind: StructKind::Halves }
            }
            TypeKind::Enum(id) => return self.enums[*id].data,
            TypeKind::Record(id) => return self.records[*id].data,
            TypeKind::Pointer(pointee) => {
                let to_const = pointee.is_deep_const();
                DataType::Pointer { pointee: self.data(pointee), to_const }
            }
            TypeKind::Array(element, length) => DataType::Array { element: self.data(element), length: *length },
            TypeKind::OpenArray(element) | TypeKind::Variable(element, _) => {
                DataType::Array { element: self.data(element), length: 0 }
            }
            // Functions of one type have one data type, independent of typedef names.
            TypeKind::Function(_) => {
                let id = self.intern(DataType::Opaque { name: self.spell(&ty.unaliased(), ""), size: 0, align: 1 });
                self.functions.entry(id).or_insert_with(|| ty.clone());
                return id;
            }
            TypeKind::Unsupported { spelling, size, align, .. } => {
                DataType::Opaque { name: alias_or(ty, spelling), size: *size, align: *align }
            }
        };
        self.intern(data)
    }

    /// Returns the spelling of a declaration in C, with this declarator.
    pub fn spell(&self, ty: &Type, declarator: &str) -> String {
        let named = |name: &str| {
            let space = if declarator.is_empty() { "" } else { " " };
            let qualifier = if ty.is_const { "const " } else { "" };
            format!("{qualifier}{name}{space}{declarator}")
        };
        if let Some(alias) = &ty.alias {
            return named(alias);
        }
        match &ty.kind {
            TypeKind::Void => named("void"),
            TypeKind::Bool => named("_Bool"),
            TypeKind::Int { name, .. } | TypeKind::Float { name, .. } => named(name),
            TypeKind::Int128 { signed } => named(wide_name(*signed)),
            TypeKind::LongDouble => named("long double"),
            TypeKind::Vector(element, _) => {
                let bytes = self.size(ty);
                named(&format!("__attribute__((vector_size({bytes}))) {}", self.spell(element, "")))
            }
            TypeKind::Complex(part) => named(&format!("_Complex {}", self.spell(part, ""))),
            TypeKind::Enum(id) => named(&self.enums[*id].name),
            TypeKind::Record(id) => named(&self.records[*id].name),
            TypeKind::Unsupported { spelling, .. } => named(spelling),
            TypeKind::Pointer(pointee) => {
                let qualifier = if ty.is_const { "const " } else { "" };
                let inner = format!("*{qualifier}{declarator}");
                match pointee.kind {
                    TypeKind::Array(..) | TypeKind::OpenArray(_) | TypeKind::Variable(..) | TypeKind::Function(_) => {
                        self.spell(pointee, &format!("({})", inner.trim_end()))
                    }
                    _ => self.spell(pointee, inner.trim_end()),
                }
            }
            TypeKind::Array(element, length) => self.spell(element, &format!("{declarator}[{length}]")),
            TypeKind::OpenArray(element) | TypeKind::Variable(element, _) => {
                self.spell(element, &format!("{declarator}[]"))
            }
            TypeKind::Function(signature) => {
                let mut params: Vec<String> = signature.params.iter().map(|param| self.spell(param, "")).collect();
                if signature.variadic {
                    params.push("...".to_string());
                } else if params.is_empty() && signature.prototype {
                    params.push("void".to_string());
                }
                self.spell(&signature.result, &format!("{declarator}({})", params.join(", ")))
            }
        }
    }
}

fn wide_name(signed: bool) -> &'static str {
    if signed { "__int128" } else { "unsigned __int128" }
}

fn alias_or(ty: &Type, name: &str) -> String {
    ty.alias.as_deref().unwrap_or(name).to_string()
}

/// Rounds `value` up to a multiple of `to`.
pub(crate) fn round_up(value: u64, to: u64) -> u64 {
    value.div_ceil(to.max(1)) * to.max(1)
}
