//! Behaviour of a tested method, by the code that it may call, on which the text of its tests depends.

use std::collections::BTreeSet;
use touchstone_ir::{Callee, CmpOp, FuncId, InstKind, Module, Operand, Ty};

/// The visibility of the identity of strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StringIdentity {
    /// Equal strings may be one object.
    Invisible,
    /// The program compares references: a string of a test must not be the same object as a literal of the program.
    Observable,
}

/// The behaviour of a method and of the functions that it may call.
pub(crate) struct CalledBehaviour {
    pub string_identity: StringIdentity,
    /// True if a default of the JDK may change: locale, time zone, system properties.
    pub changes_jdk_state: bool,
}

impl CalledBehaviour {
    pub fn of(module: &Module, func: FuncId) -> CalledBehaviour {
        let mut found = CalledBehaviour { string_identity: StringIdentity::Invisible, changes_jdk_state: false };
        let (mut visited, mut worklist) = (BTreeSet::from([func]), vec![func]);
        while let Some(id) = worklist.pop() {
            let function = &module.functions[id];
            found.changes_jdk_state |= changes_jdk_state(&function.name);
            let is_reference = |operand: &Operand| match operand {
                Operand::Reg(reg) => function.regs[*reg].ty == Ty::Ptr,
                Operand::Const(..) => false,
            };
            for inst in function.blocks.values().flat_map(|block| &block.insts) {
                match &inst.kind {
                    InstKind::Cmp { op: CmpOp::Eq | CmpOp::Ne, a, b, .. }
                        if !function.is_library() && is_reference(a) && is_reference(b) =>
                    {
                        found.string_identity = StringIdentity::Observable;
                    }
                    InstKind::Call { callee: Callee::Direct(callee), .. } if visited.insert(*callee) => {
                        worklist.push(*callee);
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

/// Returns true if a function is a method of the JDK that sets a default of the JVM.
fn changes_jdk_state(name: &str) -> bool {
    const SETTERS: [&str; 5] = [
        "java.util.Locale.setDefault",
        "java.util.TimeZone.setDefault",
        "java.lang.System.setProperty",
        "java.lang.System.setProperties",
        "java.lang.System.clearProperty",
    ];
    let name = name.replace('/', ".");
    SETTERS.iter().any(|setter| name.contains(setter))
}
