//! Which methods ask for characters beyond the first 256: a look at the code. Texts of one byte a character are what inputs are
//! at first; where more is asked for, tests also make texts of characters.

use super::world::World;
use crate::classfile::{Insn, MemberRef, decode};
use crate::world::MethodRef;

/// So deep calls are looked into.
const DEPTH: u32 = 2;

impl World {
    /// Whether a method's code, or that of the program near it, tells characters apart that only wide texts have.
    pub fn asks_for_wide_texts(&mut self, method: MethodRef) -> bool {
        self.asks_within(method, DEPTH)
    }

    fn asks_within(&mut self, method: MethodRef, depth: u32) -> bool {
        let Some(file) = self.classes.get(method.class).file().cloned() else { return false };
        let Some(code) = file.methods[usize::from(method.index)].code() else { return false };
        let insns = decode(&code.bytes, code.offset).unwrap_or_default();
        let calls: Vec<MemberRef> = insns
            .iter()
            .filter_map(|insn| match insn.insn {
                Insn::InvokeVirtual(index)
                | Insn::InvokeSpecial(index)
                | Insn::InvokeInterface(index)
                | Insn::InvokeStatic(index) => file.pool.method(index).ok().map(|(called, _)| called),
                _ => None,
            })
            .collect();
        calls.iter().any(|called| is_about_wide(called) || (depth > 0 && self.called_asks(called, depth)))
    }

    fn called_asks(&mut self, called: &MemberRef, depth: u32) -> bool {
        match self.classes.resolve_method(called) {
            Ok(method) if !self.classes.get(method.class).of_jdk => self.asks_within(method, depth - 1),
            Ok(_) | Err(_) => false,
        }
    }
}

fn is_about_wide(called: &MemberRef) -> bool {
    let of_texts = matches!(
        &*called.class,
        "java/lang/Character" | "java/lang/String" | "java/lang/CharSequence" | "java/lang/StringBuilder"
    );
    let name = &*called.name;
    of_texts && (name.contains("urrogate") || name.contains("odePoint") || name == "charCount")
}
