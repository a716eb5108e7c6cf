//! The constant pool.

use super::cursor::{Cursor, Malformed};
use super::modified_utf8::Text;
use std::sync::Arc;

/// An entry of the pool; numbers are indices into it.
#[derive(Clone, PartialEq, Debug)]
pub enum Constant {
    /// Index 0, and the one behind an entry that takes two.
    None,
    /// A text.
    Utf8(Text),
    /// An `int`.
    Integer(i32),
    /// The bits of a `float`.
    Float(u32),
    /// A `long`.
    Long(i64),
    /// The bits of a `double`.
    Double(u64),
    /// A class, by its name.
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
    /// A method's type.
    MethodType(u16),
    /// A constant that is computed when it is first used: bootstrap method, name and type.
    Dynamic(u16, u16),
    /// A call site: bootstrap method, name and type.
    InvokeDynamic(u16, u16),
    /// A module.
    Module(u16),
    /// A package.
    Package(u16),
}

/// A member that code names.
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
    /// 1 to 9, as the specification numbers them.
    pub kind: u8,
    /// What it leads to.
    pub member: MemberRef,
    /// Whether the class is an interface.
    pub interface: bool,
}

/// The constant pool of a class.
#[derive(Clone, PartialEq, Debug)]
pub struct ConstantPool {
    entries: Vec<Constant>,
    /// Where each entry stands in the file.
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

    /// How many indices there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing but index 0.
    pub fn is_empty(&self) -> bool {
        self.entries.len() <= 1
    }

    fn wrong<T>(&self, index: u16, expected: &str) -> Result<T, Malformed> {
        let offset = self.offsets.get(usize::from(index)).copied().unwrap_or_default();
        Err(Malformed { offset, reason: format!("constant {index} is not {expected}") })
    }

    /// The entry.
    pub fn get(&self, index: u16) -> Result<&Constant, Malformed> {
        match self.entries.get(usize::from(index)) {
            None | Some(Constant::None) => self.wrong(index, "there"),
            Some(entry) => Ok(entry),
        }
    }

    /// A text.
    pub fn text(&self, index: u16) -> Result<&Text, Malformed> {
        match self.get(index)? {
            Constant::Utf8(text) => Ok(text),
            _ => self.wrong(index, "a text"),
        }
    }

    /// A text as a name.
    pub fn name(&self, index: u16) -> Result<Arc<str>, Malformed> {
        Ok(self.text(index)?.text().clone())
    }

    /// The internal name of a class.
    pub fn class(&self, index: u16) -> Result<Arc<str>, Malformed> {
        match self.get(index)? {
            Constant::Class(name) => self.name(*name),
            _ => self.wrong(index, "a class"),
        }
    }

    /// The internal name of a class, none for index 0.
    pub fn class_or_none(&self, index: u16) -> Result<Option<Arc<str>>, Malformed> {
        if index == 0 { Ok(None) } else { self.class(index).map(Some) }
    }

    /// Name and descriptor.
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

    /// A field.
    pub fn field(&self, index: u16) -> Result<MemberRef, Malformed> {
        match self.get(index)? {
            Constant::Field(class, name_and_type) => self.member_of(*class, *name_and_type),
            _ => self.wrong(index, "a field"),
        }
    }

    /// A method, and whether its class is an interface.
    pub fn method(&self, index: u16) -> Result<(MemberRef, bool), Malformed> {
        match self.get(index)? {
            Constant::Method(class, name_and_type) => Ok((self.member_of(*class, *name_and_type)?, false)),
            Constant::InterfaceMethod(class, name_and_type) => Ok((self.member_of(*class, *name_and_type)?, true)),
            _ => self.wrong(index, "a method"),
        }
    }

    /// A method handle.
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

    /// The descriptor of a method type.
    pub fn method_type(&self, index: u16) -> Result<Arc<str>, Malformed> {
        match self.get(index)? {
            Constant::MethodType(desc) => self.name(*desc),
            _ => self.wrong(index, "a method type"),
        }
    }

    /// BootstrapMethod method, name and descriptor of a call site.
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
