//! The constant pool.

use super::cursor::{Cursor, Malformed};
use super::modified_utf8::Text;
use std::sync::Arc;

/// An entry of the pool. Numbers of 16 bits are indices of other entries.
#[derive(Clone, PartialEq, Debug)]
pub enum Constant {
    /// Index 0, and the index after a `long` or `double`.
    None,
    /// A string in modified UTF-8.
    Utf8(Text),
    /// An `int`.
    Integer(i32),
    /// The bits of a `float`.
    Float(u32),
    /// A `long`.
    Long(i64),
    /// The bits of a `double`.
    Double(u64),
    /// A class; its internal name.
    Class(u16),
    /// A string constant.
    String(u16),
    /// A field: class, name and type.
    Field(u16, u16),
    /// A method of a class: class, name and type.
    Method(u16, u16),
    /// A method of an interface: class, name and type.
    InterfaceMethod(u16, u16),
    /// Name and descriptor.
    NameAndType(u16, u16),
    /// A method handle: kind (1 to 9) and member.
    MethodHandle(u8, u16),
    /// A method type; its descriptor.
    MethodType(u16),
    /// A dynamically computed constant: bootstrap method, name and type.
    Dynamic(u16, u16),
    /// A dynamic call site: bootstrap method, name and type.
    InvokeDynamic(u16, u16),
    /// A module.
    Module(u16),
    /// A package.
    Package(u16),
}

/// A field or method that code refers to.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MemberRef {
    /// Internal name of the class.
    pub class: Arc<str>,
    /// Name.
    pub name: Arc<str>,
    /// Descriptor.
    pub desc: Arc<str>,
}

/// A method handle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Handle {
    /// The reference kind: 1 to 9.
    pub kind: u8,
    /// The field or method.
    pub member: MemberRef,
    /// True if the class is an interface.
    pub interface: bool,
}

/// The constant pool of a class.
#[derive(Clone, PartialEq, Debug)]
pub struct ConstantPool {
    entries: Vec<Constant>,
    /// The offset of each entry in the class file.
    offsets: Vec<usize>,
}

impl ConstantPool {
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<ConstantPool, Malformed> {
        let count = usize::from(cursor.u2()?);
        let capacity = count.min(cursor.left());
        let (mut entries, mut offsets) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        entries.push(Constant::None);
        offsets.push(cursor.offset());
        while entries.len() < count {
            offsets.push(cursor.offset());
            let entry = read_entry(cursor)?;
            let wide = matches!(entry, Constant::Long(_) | Constant::Double(_));
            entries.push(entry);
            if wide {
                entries.push(Constant::None);
                offsets.push(cursor.offset());
            }
        }
        Ok(ConstantPool { entries, offsets })
    }

    /// The number of indices, with index 0.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if the pool has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.len() <= 1
    }

    fn wrong<T>(&self, index: u16, expected: &str) -> Result<T, Malformed> {
        let offset = self.offsets.get(usize::from(index)).copied().unwrap_or_default();
        Err(Malformed { offset, reason: format!("constant {index} is not {expected}") })
    }

    /// Returns an entry.
    pub fn get(&self, index: u16) -> Result<&Constant, Malformed> {
        match self.entries.get(usize::from(index)) {
            None | Some(Constant::None) => self.wrong(index, "there"),
            Some(entry) => Ok(entry),
        }
    }

    /// Returns a string.
    pub fn text(&self, index: u16) -> Result<&Text, Malformed> {
        match self.get(index)? {
            Constant::Utf8(text) => Ok(text),
            _ => self.wrong(index, "a text"),
        }
    }

    /// Returns a string as a name.
    pub fn name(&self, index: u16) -> Result<Arc<str>, Malformed> {
        Ok(self.text(index)?.text().clone())
    }

    /// Returns the internal name of a class.
    pub fn class(&self, index: u16) -> Result<Arc<str>, Malformed> {
        match self.get(index)? {
            Constant::Class(name) => self.name(*name),
            _ => self.wrong(index, "a class"),
        }
    }

    /// Returns the internal name of a class, or `None` for index 0.
    pub fn class_or_none(&self, index: u16) -> Result<Option<Arc<str>>, Malformed> {
        if index == 0 { Ok(None) } else { self.class(index).map(Some) }
    }

    /// Returns a name and a descriptor.
    pub fn name_and_type(&self, index: u16) -> Result<(Arc<str>, Arc<str>), Malformed> {
        match self.get(index)? {
            Constant::NameAndType(name, desc) => Ok((self.name(*name)?, self.name(*desc)?)),
            _ => self.wrong(index, "a name with its type"),
        }
    }

    fn member_of(&self, class: u16, name_and_type: u16) -> Result<MemberRef, Malformed> {
        let (name, desc) = self.name_and_type(name_and_type)?;
        Ok(MemberRef { class: self.class(class)?, name, desc })
    }

    /// Returns a field.
    pub fn field(&self, index: u16) -> Result<MemberRef, Malformed> {
        match self.get(index)? {
            Constant::Field(class, name_and_type) => self.member_of(*class, *name_and_type),
            _ => self.wrong(index, "a field"),
        }
    }

    /// Returns a method, and true if its class is an interface.
    pub fn method(&self, index: u16) -> Result<(MemberRef, bool), Malformed> {
        match self.get(index)? {
            Constant::Method(class, name_and_type) => Ok((self.member_of(*class, *name_and_type)?, false)),
            Constant::InterfaceMethod(class, name_and_type) => Ok((self.member_of(*class, *name_and_type)?, true)),
            _ => self.wrong(index, "a method"),
        }
    }

    /// Returns a method handle.
    pub fn handle(&self, index: u16) -> Result<Handle, Malformed> {
        match self.get(index)? {
            Constant::MethodHandle(kind @ 1..=4, member) => {
                Ok(Handle { kind: *kind, member: self.field(*member)?, interface: false })
            }
            Constant::MethodHandle(kind @ 5..=9, member) => {
                let (member, interface) = self.method(*member)?;
                Ok(Handle { kind: *kind, member, interface })
            }
            _ => self.wrong(index, "a method handle"),
        }
    }

    /// Returns the descriptor of a method type.
    pub fn method_type(&self, index: u16) -> Result<Arc<str>, Malformed> {
        match self.get(index)? {
            Constant::MethodType(desc) => self.name(*desc),
            _ => self.wrong(index, "a method type"),
        }
    }

    /// Returns the bootstrap method, name and descriptor of a call site or dynamic constant.
    pub fn call_site(&self, index: u16) -> Result<(u16, Arc<str>, Arc<str>), Malformed> {
        match self.get(index)? {
            Constant::InvokeDynamic(bootstrap, name_and_type) | Constant::Dynamic(bootstrap, name_and_type) => {
                let (name, desc) = self.name_and_type(*name_and_type)?;
                Ok((*bootstrap, name, desc))
            }
            _ => self.wrong(index, "a call site"),
        }
    }
}

fn read_entry(cursor: &mut Cursor<'_>) -> Result<Constant, Malformed> {
    let start = cursor.clone();
    Ok(match cursor.u1()? {
        1 => {
            let length = usize::from(cursor.u2()?);
            let offset = cursor.offset();
            let text = Text::decode(cursor.take(length)?);
            Constant::Utf8(text.map_err(|at| Malformed {
                offset: offset + at,
                reason: "a text that is not modified UTF-8".to_string(),
            })?)
        }
        3 => Constant::Integer(cursor.i4()?),
        4 => Constant::Float(cursor.u4()?),
        5 => Constant::Long(cursor.u8()? as i64),
        6 => Constant::Double(cursor.u8()?),
        7 => Constant::Class(cursor.u2()?),
        8 => Constant::String(cursor.u2()?),
        9 => Constant::Field(cursor.u2()?, cursor.u2()?),
        10 => Constant::Method(cursor.u2()?, cursor.u2()?),
        11 => Constant::InterfaceMethod(cursor.u2()?, cursor.u2()?),
        12 => Constant::NameAndType(cursor.u2()?, cursor.u2()?),
        15 => Constant::MethodHandle(cursor.u1()?, cursor.u2()?),
        16 => Constant::MethodType(cursor.u2()?),
        17 => Constant::Dynamic(cursor.u2()?, cursor.u2()?),
        18 => Constant::InvokeDynamic(cursor.u2()?, cursor.u2()?),
        19 => Constant::Module(cursor.u2()?),
        20 => Constant::Package(cursor.u2()?),
        tag => return start.wrong(format!("a constant of the unknown kind {tag}")),
    })
}
