//! Which methods may change objects: a look at the code, not at runs, and a guess where the JDK is called. Who is wrongly taken for
//! one that changes something costs time; of one that is wrongly taken for harmless (`append` to a builder that is kept) tests make
//! no use, and what only it reaches stays `unknown`.

use super::STRING;
use super::world::World;
use crate::classfile::{Insn, Member, MemberRef, access, decode};
use crate::world::{ClassId, MethodRef};

/// So deep calls are looked into.
const DEPTH: u32 = 4;

impl World {
    /// Whether a method's code may change an object that was there before.
    pub fn changes(&mut self, method: MethodRef) -> bool {
        self.changes_within(method, DEPTH)
    }

    /// Whether objects of a class hold what they held when their constructor was done.
    pub fn never_changes(&self, class: ClassId) -> bool {
        let mut next = Some(class);
        while let Some(id) = next {
            let class = self.classes.get(id);
            let Some(file) = class.file() else { return false };
            // The hash codes that these keep are no secret.
            let known = matches!(&*class.name, "java/lang/Enum" | STRING);
            let fixed = |field: &Member| field.is(access::STATIC) || field.is(access::FINAL);
            if !known && !file.fields.iter().all(fixed) {
                return false;
            }
            next = class.superclass;
        }
        true
    }

    fn changes_within(&mut self, method: MethodRef, depth: u32) -> bool {
        let Some(file) = self.classes.get(method.class).file().cloned() else { return true };
        let member = &file.methods[usize::from(method.index)];
        if member.is(access::ABSTRACT) {
            return false;
        }
        let Some(code) = member.code() else { return true };
        let insns = decode(&code.bytes, code.offset).unwrap_or_default();
        insns.iter().any(|insn| match &insn.insn {
            // A constructor writes its own new object.
            Insn::PutField(_) => &*member.name != "<init>" || depth == DEPTH,
            Insn::PutStatic(_) | Insn::ArrayStore(_) => true,
            Insn::InvokeVirtual(index)
            | Insn::InvokeSpecial(index)
            | Insn::InvokeInterface(index)
            | Insn::InvokeStatic(index) => match file.pool.method(*index) {
                Ok((called, _)) => self.call_changes(&called, depth),
                Err(_) => true,
            },
            Insn::InvokeDynamic(_) => false,
            _ => false,
        })
    }

    fn call_changes(&mut self, called: &MemberRef, depth: u32) -> bool {
        let method = self.classes.resolve_method(called);
        let is_tested = method.as_ref().is_ok_and(|method| !self.is_library(method.class));
        if let Some(known) = known(&called.class, &called.name).filter(|_| !is_tested) {
            return known;
        }
        match method {
            Ok(method) if is_tested && depth > 0 => self.changes_within(method, depth - 1),
            Ok(_) | Err(_) => true,
        }
    }
}

/// What is known of the JDK's methods.
fn known(class: &str, name: &str) -> Option<bool> {
    let class = class.strip_prefix("java/")?;
    Some(match class {
        "lang/Object" => false,
        "lang/String" | "lang/Math" | "lang/Integer" | "lang/Long" | "lang/Double" | "lang/Boolean"
        | "lang/Character" | "lang/Short" | "lang/Byte" | "lang/Float" | "util/Objects" | "util/Optional"
        | "lang/Comparable" | "lang/CharSequence" | "lang/Number" | "lang/Enum" | "util/Comparator"
        | "lang/StringBuilder" => false,
        _ if class.ends_with("Exception") || class.ends_with("Error") => false,
        _ => {
            const READERS: [&str; 15] = [
                "size",
                "isEmpty",
                "get",
                "contains",
                "containsKey",
                "containsValue",
                "indexOf",
                "equals",
                "hashCode",
                "toString",
                "peek",
                "iterator",
                "hasNext",
                "next",
                "<init>",
            ];
            !READERS.contains(&name)
        }
    })
}
