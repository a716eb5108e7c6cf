//! Calls that are inserted at the entry of methods.

use crate::cfg::blocks::MethodCfg;
use crate::encode::constant_pool::ConstantPoolBuilder;
use crate::weave::class_weaver::{MethodRewrite, ReplacedBytes, assemble};
use crate::weave::code_rewriter::{RewrittenCode, STACK};
use touchstone_classfile::opcode as op;
use touchstone_classfile::{ClassFile, Code, access};

/// A call of a static method that is inserted at the entry of a method, with the method's first parameter as its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryCall<'c> {
    /// The name of the method that gets the call.
    pub name: &'c str,
    /// The beginning of its descriptor. The first parameter is a reference.
    pub desc: &'c str,
    /// The class of the called method.
    pub callee_class: &'c str,
    /// The called method, which takes an object and returns nothing.
    pub callee: &'c str,
}

/// The length of the call in bytes. It is a multiple of four, so the padding of switches does not change.
const CALL_BYTES: usize = 4;

/// Returns the class with the calls, or `None` if no method matches or the calls can't be inserted.
pub fn insert_entry_calls(bytes: &[u8], class: &ClassFile, calls: &[EntryCall<'_>]) -> Option<Vec<u8>> {
    let mut pool = ConstantPoolBuilder::extending(class);
    let mut replaced: Vec<ReplacedBytes> = Vec::new();
    for (index, member) in class.methods.iter().enumerate() {
        let matches = |call: &&EntryCall<'_>| *call.name == *member.name && member.desc.starts_with(call.desc);
        let (Some(call), Some(code)) = (calls.iter().find(matches), member.code()) else { continue };
        let cfg = MethodCfg::new(code)?;
        let object = if member.is(access::STATIC) { op::ALOAD_0 } else { op::ALOAD_1 };
        let [invoke, high, low] = pool.call(call.callee_class, (call.callee, "(Ljava/lang/Object;)V"));
        let rewritten = prepend(&cfg, code, [object, invoke, high, low]);
        replaced.push(MethodRewrite { bytes, class, index, code, cfg: &cfg }.write(&rewritten, &mut pool)?);
    }
    if replaced.is_empty() { None } else { assemble(bytes, &pool, replaced) }
}

/// Puts a call before all instructions of a method.
fn prepend(cfg: &MethodCfg, code: &Code, call: [u8; CALL_BYTES]) -> RewrittenCode {
    let own: Vec<usize> = cfg.insns.iter().map(|insn| insn.at + CALL_BYTES).collect();
    let start = own.iter().copied().chain([code.bytes.len() + CALL_BYTES]).collect();
    RewrittenCode {
        bytes: [&call[..], &code.bytes].concat(),
        path_locals: 0,
        spill_locals: 0,
        stack: STACK,
        start,
        own,
        out_of_line: Vec::new(),
    }
}
