//! The instructions after which another statement may begin.

use crate::cfg::blocks::MethodCfg;
use std::collections::BTreeSet;
use touchstone_classfile::{Attribute, ClassFile, Code, Insn, Member};

/// The bytecode offsets at which lines begin, and the instructions that end statements.
pub(crate) struct StatementEnds {
    lines: BTreeSet<usize>,
    /// True for an instruction that ends a statement.
    ends: Vec<bool>,
}

impl StatementEnds {
    pub fn new(class: &ClassFile, method: &Member, code: &Code, cfg: &MethodCfg) -> StatementEnds {
        let is_void = |index: u16| class.pool.method(index).is_ok_and(|(method, _)| method.desc.ends_with(")V"));
        let is_constructor = |index: u16| class.pool.method(index).is_ok_and(|(method, _)| &*method.name == "<init>");
        // The number of `new` objects whose constructor was not called yet.
        let mut pending = 0;
        let mut ends = |insn: &Insn| match insn {
            Insn::Store(..)
            | Insn::ArrayStore(_)
            | Insn::Pop
            | Insn::Pop2
            | Insn::PutField(_)
            | Insn::PutStatic(_)
            | Insn::Increment(..)
            | Insn::MonitorEnter
            | Insn::MonitorExit => true,
            Insn::New(_) => {
                pending += 1;
                false
            }
            // A call of `this(...)` or `super(...)` is a statement.
            Insn::InvokeSpecial(index) if is_constructor(*index) => {
                pending -= 1;
                pending < 0 && &*method.name == "<init>"
            }
            Insn::InvokeVirtual(index)
            | Insn::InvokeSpecial(index)
            | Insn::InvokeStatic(index)
            | Insn::InvokeInterface(index) => is_void(*index),
            Insn::InvokeDynamic(index) => class.pool.call_site(*index).is_ok_and(|(_, _, desc)| desc.ends_with(")V")),
            _ => false,
        };
        let ends = cfg.insns.iter().map(|insn| ends(&insn.insn)).collect();
        StatementEnds { lines: lines(code), ends }
    }

    /// Returns true if a statement may begin at an instruction that is not the first of its block.
    pub fn may_begin(&self, cfg: &MethodCfg, insn: usize) -> bool {
        insn.checked_sub(1).is_some_and(|before| self.ends[before]) || self.lines.contains(&cfg.insns[insn].at)
    }
}

/// Returns the bytecode offsets at which lines begin.
fn lines(code: &Code) -> BTreeSet<usize> {
    let tables = code.attributes.iter().filter_map(|attribute| match attribute {
        Attribute::LineNumberTable(rows) => Some(rows),
        _ => None,
    });
    tables.flatten().map(|(start, _)| usize::from(*start)).collect()
}
