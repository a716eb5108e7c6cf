//! The class file structure (JVM specification, section 4.1).

use super::attribute::{Attribute, AttributeOwner, BootstrapMethod, Code, InnerClass, read_attributes};
use super::constant::ConstantPool;
use super::cursor::{Cursor, Malformed};
use super::descriptor::{Desc, MethodDesc};
use std::sync::Arc;

/// Access flags.
pub mod access {
    #![allow(missing_docs)]
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const SUPER: u16 = 0x0020;
    pub const VARARGS: u16 = 0x0080;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ENUM: u16 = 0x4000;
    pub const MODULE: u16 = 0x8000;
}

/// The supported versions: Java 1.0.2 to 25.
const VERSIONS: std::ops::RangeInclusive<u16> = 45..=69;

/// A field or a method.
#[derive(Clone, PartialEq, Debug)]
pub struct Member {
    /// Flags of [`access`].
    pub access: u16,
    /// Name.
    pub name: Arc<str>,
    /// Descriptor.
    pub desc: Arc<str>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
}

impl Member {
    /// Returns true if a flag is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// Returns the code of a method, or `None` if it is abstract, native or a field.
    pub fn code(&self) -> Option<&Code> {
        self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::Code(code) => Some(code),
            _ => None,
        })
    }

    /// Returns the exceptions that a method declares.
    pub fn exceptions(&self) -> &[Arc<str>] {
        let found = self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::Exceptions(classes) => Some(classes.as_slice()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// Returns the generic signature, or `None` if it is equal to the descriptor.
    pub fn signature(&self) -> Option<&Arc<str>> {
        self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::Signature(signature) => Some(signature),
            _ => None,
        })
    }

    /// Returns the index of the constant that initialises a static field.
    pub fn constant(&self) -> Option<u16> {
        self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::ConstantValue(index) => Some(*index),
            _ => None,
        })
    }
}

/// A class file.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassFile {
    /// Major version: 45 to 69.
    pub major: u16,
    /// Minor version.
    pub minor: u16,
    /// The constant pool.
    pub pool: ConstantPool,
    /// Flags of [`access`].
    pub access: u16,
    /// Internal name (`java/lang/String`).
    pub name: Arc<str>,
    /// The superclass; `None` for `java/lang/Object` and modules.
    pub superclass: Option<Arc<str>>,
    /// The direct superinterfaces.
    pub interfaces: Vec<Arc<str>>,
    /// Fields.
    pub fields: Vec<Member>,
    /// Methods.
    pub methods: Vec<Member>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
}

impl ClassFile {
    /// Reads a class file.
    ///
    /// # Errors
    /// If the bytes are malformed.
    pub fn read(bytes: &[u8]) -> Result<ClassFile, Malformed> {
        let mut cursor = Cursor::new(bytes, 0);
        if cursor.u4()? != 0xcafe_babe {
            return Cursor::new(bytes, 0).wrong("no class file: it does not begin with CAFEBABE");
        }
        let version = cursor.clone();
        let (minor, major) = (cursor.u2()?, cursor.u2()?);
        if !VERSIONS.contains(&major) {
            let (first, last) = (VERSIONS.start(), VERSIONS.end());
            return version.wrong(format!("class file version {major}.{minor}; known are {first} to {last} (Java 25)"));
        }
        let pool = ConstantPool::read(&mut cursor)?;
        let access = cursor.u2()?;
        let name = pool.class(cursor.u2()?)?;
        let superclass = pool.class_or_none(cursor.u2()?)?;
        let interfaces = cursor.list(|cursor| pool.class(cursor.u2()?))?;
        let fields = cursor.list(|cursor| read_member(cursor, &pool, AttributeOwner::Field))?;
        let methods = cursor.list(|cursor| read_member(cursor, &pool, AttributeOwner::Method))?;
        let attributes = read_attributes(&mut cursor, &pool, AttributeOwner::Class)?;
        cursor.end("the class file")?;
        Ok(ClassFile { major, minor, pool, access, name, superclass, interfaces, fields, methods, attributes })
    }

    /// Returns true if a flag is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// Returns the index of the method with a name and descriptor.
    pub fn method(&self, name: &str, desc: &str) -> Option<usize> {
        self.methods.iter().position(|method| &*method.name == name && &*method.desc == desc)
    }

    /// Returns the name of the source file.
    pub fn source_file(&self) -> Option<&Arc<str>> {
        self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::SourceFile(name) => Some(name),
            _ => None,
        })
    }

    /// Returns the generic signature, or `None` if the class is not generic.
    pub fn signature(&self) -> Option<&Arc<str>> {
        self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::Signature(signature) => Some(signature),
            _ => None,
        })
    }

    /// Returns the entry of the class itself, if it is a nested class.
    pub fn inner(&self) -> Option<&InnerClass> {
        self.inner_classes().iter().find(|row| row.class == self.name)
    }

    /// Returns the entries of all nested classes that the class refers to.
    pub fn inner_classes(&self) -> &[InnerClass] {
        let rows = self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::InnerClasses(rows) => Some(&rows[..]),
            _ => None,
        });
        rows.unwrap_or_default()
    }

    /// Returns the entries of the class and of its enclosing classes, innermost first.
    pub fn nesting(&self) -> impl Iterator<Item = &InnerClass> {
        let rows = self.inner_classes();
        let row = move |name: &str| rows.iter().find(|row| &*row.class == name);
        // A malformed file may have classes that enclose each other.
        let outward = std::iter::successors(row(&self.name), move |inner| row(inner.outer.as_deref()?));
        outward.take(rows.len())
    }

    /// Returns a bootstrap method.
    pub fn bootstrap(&self, index: u16) -> Option<&BootstrapMethod> {
        self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::BootstrapMethods(methods) => methods.get(usize::from(index)),
            _ => None,
        })
    }
}

fn read_member(cursor: &mut Cursor<'_>, pool: &ConstantPool, place: AttributeOwner) -> Result<Member, Malformed> {
    let start = cursor.clone();
    let (access, name, desc) = (cursor.u2()?, pool.name(cursor.u2()?)?, pool.name(cursor.u2()?)?);
    let known = match place {
        AttributeOwner::Field => Desc::parse(&desc).is_some_and(|desc| desc != Desc::Void),
        _ => MethodDesc::parse(&desc).is_some(),
    };
    if !known {
        return start.wrong(format!("`{name}` has the descriptor `{desc}`, which is none"));
    }
    Ok(Member { access, name, desc, attributes: read_attributes(cursor, pool, place)? })
}
