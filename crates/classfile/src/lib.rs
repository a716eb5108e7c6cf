//! Class files, as chapter 4 of the JVM specification lays them out.
//!
//! Reading is total: every byte string is a class file or a [`Malformed`] with the offset and the reason, and nothing is
//! allocated that the bytes don't pay for. Attributes that nobody here needs are kept as bytes.
//!
//! Deliberately not here: verification of what the code does (the JVM's type checker), any file, and any other crate: the agent
//! that is loaded into JVMs uses it.

#![warn(missing_docs)]

mod attribute;
mod class;
mod code;
mod constant;
mod cursor;
mod descriptor;
mod opcode;
mod signature;
mod text;

pub use attribute::{Attribute, Bootstrap, Code, Handler, Inner, LocalVariable};
pub use class::{ClassFile, Member, access};
pub use code::{Array, Decoded, Insn, decode};
pub use constant::{Constant, Handle, MemberRef, Pool};
pub use cursor::{Cursor, Malformed};
pub use descriptor::{Desc, MethodDesc, class_desc};
pub use opcode::{Arith, Cond, Convert, Kind};
pub use signature::{Formal, Generic, Signature};
pub use text::Text;
