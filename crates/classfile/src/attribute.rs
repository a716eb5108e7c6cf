//! Attributes of classes, fields, methods and code.

use super::constant::ConstantPool;
use super::cursor::{Cursor, Malformed};
use std::sync::Arc;

/// An attribute. Attributes that no crate decodes stay bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum Attribute {
    /// The initial value of a static field: the index of its constant.
    ConstantValue(u16),
    /// A method's code.
    Code(Code),
    /// The source file's name.
    SourceFile(Arc<str>),
    /// The generic signature of a class or method.
    Signature(Arc<str>),
    /// The first bytecode offset and the number of each line.
    LineNumberTable(Vec<(u16, u16)>),
    /// Local variables.
    LocalVariableTable(Vec<LocalVariable>),
    /// The inner classes that the class refers to.
    InnerClasses(Vec<InnerClass>),
    /// The exceptions that a method declares.
    Exceptions(Vec<Arc<str>>),
    /// The bootstrap methods of dynamic call sites and constants.
    BootstrapMethods(Vec<BootstrapMethod>),
    /// Any other attribute.
    Other {
        /// Its name.
        name: Arc<str>,
        /// Its contents.
        bytes: Box<[u8]>,
    },
}

/// A bootstrap method with its arguments, as indices of the constant pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BootstrapMethod {
    /// A method handle.
    pub method: u16,
    /// Constants.
    pub arguments: Vec<u16>,
}

/// A nested class: a member of another class, a local or an anonymous class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InnerClass {
    /// Internal name.
    pub class: Arc<str>,
    /// The class that it is a member of, or `None` if it is local or anonymous.
    pub outer: Option<Arc<str>>,
    /// Its simple name, or `None` if it is anonymous.
    pub name: Option<Arc<str>>,
    /// The access flags in the source.
    pub access: u16,
}

/// A local variable of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalVariable {
    /// The first bytecode offset at which it has a value.
    pub start: u16,
    /// The number of bytes of code in which it has a value.
    pub length: u16,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub desc: Arc<str>,
    /// The index of the local.
    pub index: u16,
}

/// A row of an exception table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExceptionHandler {
    /// The first bytecode offset that it covers.
    pub start: u16,
    /// The bytecode offset after the last one that it covers.
    pub end: u16,
    /// The bytecode offset of the handler.
    pub handler: u16,
    /// The class of exceptions that it catches, or `None` if it catches all.
    pub class: Option<Arc<str>>,
}

/// The code of a method.
#[derive(Clone, PartialEq, Debug)]
pub struct Code {
    /// The maximum depth of the operand stack.
    pub max_stack: u16,
    /// The number of local variables.
    pub max_locals: u16,
    /// The instructions.
    pub bytes: Box<[u8]>,
    /// The offset of the instructions in the class file.
    pub offset: usize,
    /// The exception table.
    pub handlers: Vec<ExceptionHandler>,
    /// Attributes of the code.
    pub attributes: Vec<Attribute>,
}

impl Code {
    /// Returns the line of an instruction, or 0 if the class file does not have it.
    pub fn line(&self, at: usize) -> u32 {
        let tables = self.attributes.iter().filter_map(|attribute| match attribute {
            Attribute::LineNumberTable(rows) => Some(rows),
            _ => None,
        });
        let rows = tables.flatten().filter(|(start, _)| usize::from(*start) <= at);
        rows.max_by_key(|(start, _)| *start).map_or(0, |(_, line)| u32::from(*line))
    }

    /// Returns the name of a local variable at an instruction, or `None` if the class file does not have it.
    pub fn local_name(&self, index: u16, at: usize) -> Option<&Arc<str>> {
        let tables = self.attributes.iter().filter_map(|attribute| match attribute {
            Attribute::LocalVariableTable(rows) => Some(rows),
            _ => None,
        });
        let lives = |row: &&LocalVariable| {
            let start = usize::from(row.start);
            row.index == index && start <= at && at < start + usize::from(row.length)
        };
        tables.flatten().find(lives).map(|row| &row.name)
    }
}

/// The structure that an attribute belongs to. The meaning of its name depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttributeOwner {
    Class,
    Field,
    Method,
    Code,
}

pub(crate) fn read_attributes(
    cursor: &mut Cursor<'_>,
    pool: &ConstantPool,
    place: AttributeOwner,
) -> Result<Vec<Attribute>, Malformed> {
    cursor.list(|cursor| {
        let name = pool.name(cursor.u2()?)?;
        let length = cursor.u4()? as usize;
        read_attribute(name, cursor.part(length)?, pool, place)
    })
}

fn read_attribute(
    name: Arc<str>,
    mut cursor: Cursor<'_>,
    pool: &ConstantPool,
    place: AttributeOwner,
) -> Result<Attribute, Malformed> {
    let attribute = match (place, &*name) {
        (AttributeOwner::Field, "ConstantValue") => Attribute::ConstantValue(cursor.u2()?),
        (AttributeOwner::Method, "Code") => Attribute::Code(read_code(&mut cursor, pool)?),
        (AttributeOwner::Class, "SourceFile") => Attribute::SourceFile(pool.name(cursor.u2()?)?),
        (AttributeOwner::Class | AttributeOwner::Method, "Signature") => Attribute::Signature(pool.name(cursor.u2()?)?),
        (AttributeOwner::Class, "InnerClasses") => Attribute::InnerClasses(cursor.list(|cursor| {
            let (class, outer) = (pool.class(cursor.u2()?)?, pool.class_or_none(cursor.u2()?)?);
            let name = match cursor.u2()? {
                0 => None,
                name => Some(pool.name(name)?),
            };
            Ok(InnerClass { class, outer, name, access: cursor.u2()? })
        })?),
        (AttributeOwner::Method, "Exceptions") => {
            Attribute::Exceptions(cursor.list(|cursor| pool.class(cursor.u2()?))?)
        }
        (AttributeOwner::Class, "BootstrapMethods") => Attribute::BootstrapMethods(cursor.list(|cursor| {
            let method = cursor.u2()?;
            Ok(BootstrapMethod { method, arguments: cursor.list(Cursor::u2)? })
        })?),
        (AttributeOwner::Code, "LineNumberTable") => {
            Attribute::LineNumberTable(cursor.list(|cursor| Ok((cursor.u2()?, cursor.u2()?)))?)
        }
        (AttributeOwner::Code, "LocalVariableTable") => Attribute::LocalVariableTable(cursor.list(|cursor| {
            Ok(LocalVariable {
                start: cursor.u2()?,
                length: cursor.u2()?,
                name: pool.name(cursor.u2()?)?,
                desc: pool.name(cursor.u2()?)?,
                index: cursor.u2()?,
            })
        })?),
        _ => {
            let bytes = cursor.take(cursor.left())?.into();
            return Ok(Attribute::Other { name, bytes });
        }
    };
    cursor.end(&format!("the attribute {name}"))?;
    Ok(attribute)
}

fn read_code(cursor: &mut Cursor<'_>, pool: &ConstantPool) -> Result<Code, Malformed> {
    let (max_stack, max_locals) = (cursor.u2()?, cursor.u2()?);
    let length = cursor.u4()? as usize;
    if length == 0 || length > 65535 {
        return cursor.wrong(format!("code of {length} bytes"));
    }
    let offset = cursor.offset();
    let bytes: Box<[u8]> = cursor.take(length)?.into();
    let handlers = cursor.list(|cursor| {
        let at = cursor.clone();
        let (start, end, handler) = (cursor.u2()?, cursor.u2()?, cursor.u2()?);
        if start >= end || usize::from(end) > length || usize::from(handler) >= length {
            return at.wrong("an exception handler outside of the code");
        }
        Ok(ExceptionHandler { start, end, handler, class: pool.class_or_none(cursor.u2()?)? })
    })?;
    let attributes = read_attributes(cursor, pool, AttributeOwner::Code)?;
    Ok(Code { max_stack, max_locals, bytes, offset, handlers, attributes })
}
