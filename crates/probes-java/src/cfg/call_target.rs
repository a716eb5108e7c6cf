//! Targets of calls, and the delegation of constructors.

use crate::cfg::blocks::MethodCfg;
use touchstone_classfile::{ClassFile, Insn, MemberRef, MethodDesc};

/// The target of an `invoke` instruction.
pub(crate) struct CallTarget {
    /// The method; the class of a dynamic call site is empty.
    pub member: MemberRef,
    pub desc: MethodDesc,
    /// True if an initialised receiver is on the stack below the arguments.
    pub has_receiver: bool,
}

impl CallTarget {
    /// Returns the target of an instruction, or `None` if it is no call or names no method.
    pub fn of(class: &ClassFile, insn: &Insn) -> Option<CallTarget> {
        let (member, has_receiver) = match insn {
            Insn::InvokeVirtual(index) | Insn::InvokeInterface(index) => (class.pool.method(*index).ok()?.0, true),
            Insn::InvokeSpecial(index) => {
                let member = class.pool.method(*index).ok()?.0;
                let is_object = &*member.name != "<init>";
                (member, is_object)
            }
            Insn::InvokeStatic(index) => (class.pool.method(*index).ok()?.0, false),
            Insn::InvokeDynamic(index) => {
                let (_, name, desc) = class.pool.call_site(*index).ok()?;
                (MemberRef { class: "".into(), name, desc }, false)
            }
            _ => return None,
        };
        let desc = MethodDesc::parse(&member.desc)?;
        Some(CallTarget { member, desc, has_receiver })
    }
}

/// Finds the call of `this(...)` or `super(...)` in a constructor: the first call of a constructor without a `new` before it.
pub(crate) fn constructor_call(class: &ClassFile, cfg: &MethodCfg) -> Option<usize> {
    let mut pending = 0;
    cfg.insns.iter().position(|insn| match insn.insn {
        Insn::New(_) => {
            pending += 1;
            false
        }
        Insn::InvokeSpecial(index) if class.pool.method(index).is_ok_and(|(method, _)| &*method.name == "<init>") => {
            pending -= 1;
            pending < 0
        }
        _ => false,
    })
}
