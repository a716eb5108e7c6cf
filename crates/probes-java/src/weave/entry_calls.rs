//! Methods that tell somebody that they begin: a call of a static method, before all that they do.

use crate::cfg::blocks::Flow;
use crate::weave::class_weaver::{Added, Replaced, Rewriting, assembled};
use crate::weave::code_layout::{Laid, STACK};
use touchstone_classfile::opcode as op;
use touchstone_classfile::{ClassFile, Code, access};

/// A call that is put into a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call<'c> {
    /// The method's name,
    pub name: &'c str,
    /// and what its descriptor begins with: its first parameter is an object, which is passed on.
    pub desc: &'c str,
    /// The class that is told,
    pub told: &'c str,
    /// and its static method, which takes any object.
    pub method: &'c str,
}

/// The call has so many bytes. Switches are padded to a multiple of four, so nothing of the method changes but its place.
const LENGTH: usize = 4;

/// The class with calls; `None` if none of its methods is meant, or if it can't have them.
pub fn with_calls(bytes: &[u8], class: &ClassFile, calls: &[Call<'_>]) -> Option<Vec<u8>> {
    let mut pool = Added::new(class);
    let mut replaced: Vec<Replaced> = Vec::new();
    for (index, member) in class.methods.iter().enumerate() {
        let meant = |call: &&Call<'_>| *call.name == *member.name && member.desc.starts_with(call.desc);
        let (Some(call), Some(code)) = (calls.iter().find(meant), member.code()) else { continue };
        let flow = Flow::new(code)?;
        let object = if member.is(access::STATIC) { op::ALOAD_0 } else { op::ALOAD_1 };
        let told = pool.method(call.told, call.method, "(Ljava/lang/Object;)V").to_be_bytes();
        let laid = behind(&flow, code, [object, op::INVOKESTATIC, told[0], told[1]]);
        replaced.push(Rewriting { bytes, class, index, code, flow: &flow }.written(&laid, &mut pool)?);
    }
    if replaced.is_empty() { None } else { assembled(bytes, &pool, replaced) }
}

fn behind(flow: &Flow, code: &Code, call: [u8; LENGTH]) -> Laid {
    let own: Vec<usize> = flow.insns.iter().map(|insn| insn.at + LENGTH).collect();
    let start = own.iter().copied().chain([code.bytes.len() + LENGTH]).collect();
    Laid {
        bytes: [&call[..], &code.bytes].concat(),
        numbers: 0,
        spilled: 0,
        stack: STACK,
        start,
        own,
        beside: Vec::new(),
    }
}
