//! Java class files (chapter 4 of the JVM specification) as data.
//!
//! Reading is total: every byte string is a class file or a [`Malformed`] with the offset and the reason, and
//! allocations are bounded by the size of the input. Attributes that no crate decodes stay bytes.
//!
//! Deliberately not here: verification of code (the JVM's type checker), any file, and any other crate: the agent that
//! JVMs load uses this one.

#![warn(missing_docs)]

mod attribute;
mod class_file;
mod constant;
mod cursor;
mod descriptor;
mod instruction;
mod modified_utf8;
pub mod opcode;
mod operations;
mod signature;

pub use attribute::{Attribute, BootstrapMethod, Code, ExceptionHandler, InnerClass, LocalVariable};
pub use class_file::{ClassFile, Member, access};
pub use constant::{Constant, ConstantPool, Handle, MemberRef};
pub use cursor::{Cursor, Malformed};
pub use descriptor::{Desc, MethodDesc, class_desc};
pub use instruction::{ArrayKind, Decoded, Insn, decode};
pub use modified_utf8::Text;
pub use operations::{Arith, Cond, Convert, SlotKind};
pub use signature::{Generic, GenericSignature, TypeParameter};
