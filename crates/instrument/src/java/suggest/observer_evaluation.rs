//! What a method without parameters would give where a test ends: its code is executed on what was seen there. Only code that changes
//! nothing is, and none of the program runs.

use super::test_end_state::{SnapshotValue, TestEndSnapshot};
use crate::java::state::TracedClasses;
use crate::state::StateLocation;
use std::collections::BTreeSet;
use touchstone_front_java::classfile::{
    Arith, ClassFile, Cond, Constant, Insn, MemberRef, MethodDesc, SlotKind, decode,
};

/// So many instructions are executed,
const MAX_STEPS: usize = 300;
/// in so many methods inside of each other.
const MAX_CALL_DEPTH: usize = 4;

/// Executes methods on what was seen.
pub(super) struct ObserverEvaluation<'e> {
    pub classes: &'e TracedClasses,
    pub end: &'e TestEndSnapshot,
    /// What was read.
    pub reads: BTreeSet<StateLocation>,
    steps: usize,
}

impl<'e> ObserverEvaluation<'e> {
    pub fn new(classes: &'e TracedClasses, end: &'e TestEndSnapshot) -> ObserverEvaluation<'e> {
        ObserverEvaluation { classes, end, reads: BTreeSet::new(), steps: 0 }
    }

    /// What a method gives; `None` if that can't be said.
    pub fn call(
        &mut self,
        class: &ClassFile,
        name: &str,
        desc: &str,
        given: Vec<SnapshotValue>,
        depth: usize,
    ) -> Option<SnapshotValue> {
        let method = &class.methods[class.method(name, desc)?];
        let code = method.code().filter(|_| depth < MAX_CALL_DEPTH)?;
        let insns = decode(&code.bytes, code.offset).ok()?;
        let mut locals: Vec<Option<SnapshotValue>> = Vec::new();
        for value in given {
            let wide = matches!(value, SnapshotValue::Long(_) | SnapshotValue::Double(_));
            locals.push(Some(value));
            locals.extend(wide.then_some(None));
        }
        locals.resize(usize::from(code.max_locals), None);
        let mut stack: Vec<SnapshotValue> = Vec::new();
        let mut at = 0;
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return None;
            }
            let insn = insns.get(at)?;
            let jump = |target: usize| insns.iter().position(|insn| insn.at == target);
            at += 1;
            match &insn.insn {
                Insn::Nop | Insn::CheckCast(_) => {}
                Insn::Null => stack.push(SnapshotValue::Null),
                Insn::PushInt(value) => stack.push(SnapshotValue::Int(*value)),
                Insn::PushLong(value) => stack.push(SnapshotValue::Long(*value)),
                Insn::PushFloat(bits) => stack.push(SnapshotValue::Float(*bits)),
                Insn::PushDouble(bits) => stack.push(SnapshotValue::Double(*bits)),
                Insn::Constant(index) => stack.push(constant(class, *index)?),
                Insn::Load(_, local) => stack.push(locals.get(usize::from(*local))?.clone()?),
                Insn::Store(_, local) => *locals.get_mut(usize::from(*local))? = Some(stack.pop()?),
                Insn::Dup => stack.push(stack.last()?.clone()),
                Insn::Pop => drop(stack.pop()?),
                Insn::Goto(target) => at = jump(*target)?,
                Insn::If(cond, target) => {
                    let SnapshotValue::Int(value) = stack.pop()? else { return None };
                    if holds(*cond, value.cmp(&0)) {
                        at = jump(*target)?;
                    }
                }
                Insn::IfInts(cond, target) => {
                    let (SnapshotValue::Int(right), SnapshotValue::Int(left)) = (stack.pop()?, stack.pop()?) else {
                        return None;
                    };
                    if holds(*cond, left.cmp(&right)) {
                        at = jump(*target)?;
                    }
                }
                Insn::IfNull(cond, target) => {
                    let is_null = stack.pop()? == SnapshotValue::Null;
                    if is_null == (*cond == Cond::Eq) {
                        at = jump(*target)?;
                    }
                }
                Insn::IfRefs(cond, target) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    // Equal texts may be different objects.
                    let known = |value: &SnapshotValue| {
                        matches!(value, SnapshotValue::Null | SnapshotValue::Object(_) | SnapshotValue::Constant(..))
                    };
                    if !known(&left) || !known(&right) {
                        return None;
                    }
                    if (left == right) == (*cond == Cond::Eq) {
                        at = jump(*target)?;
                    }
                }
                Insn::Compare(SlotKind::Long, _) => {
                    let (SnapshotValue::Long(right), SnapshotValue::Long(left)) = (stack.pop()?, stack.pop()?) else {
                        return None;
                    };
                    stack.push(SnapshotValue::Int(left.cmp(&right) as i32));
                }
                Insn::Arith(arith, _) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    stack.push(computed(*arith, &left, &right)?);
                }
                Insn::Convert(touchstone_front_java::classfile::Convert::Kinds(SlotKind::Int, SlotKind::Long)) => {
                    let SnapshotValue::Int(value) = stack.pop()? else { return None };
                    stack.push(SnapshotValue::Long(i64::from(value)));
                }
                Insn::ArrayLength => {
                    let array = object(stack.pop()?)?;
                    stack.push(SnapshotValue::Int(i32::try_from(self.end.objects.get(&array)?.size?).ok()?));
                }
                Insn::ArrayLoad(_) => {
                    let (SnapshotValue::Int(index), SnapshotValue::Object(array)) = (stack.pop()?, stack.pop()?) else {
                        return None;
                    };
                    self.reads.insert(StateLocation::Contents { object: array });
                    let elements = &self.end.objects.get(&array)?.elements;
                    stack.push(elements.get(usize::try_from(index).ok()?)?.clone());
                }
                Insn::GetField(index) => {
                    let field = class.pool.field(*index).ok()?;
                    let of = object(stack.pop()?)?;
                    stack.push(self.field(of, &field)?);
                }
                Insn::GetStatic(index) => {
                    let field = class.pool.field(*index).ok()?;
                    stack.push(self.static_field(&field)?);
                }
                Insn::InvokeVirtual(index) | Insn::InvokeInterface(index) | Insn::InvokeSpecial(index) => {
                    let (member, _) = class.pool.method(*index).ok()?;
                    let given = self.given(&member, &mut stack)?;
                    let receiver = stack.pop()?;
                    let is_special = matches!(insn.insn, Insn::InvokeSpecial(_));
                    stack.push(self.invoke(&member, receiver, given, is_special, depth)?);
                }
                Insn::InvokeStatic(index) => {
                    let (member, _) = class.pool.method(*index).ok()?;
                    let given = self.given(&member, &mut stack)?;
                    let of = self.classes.named(&member.class)?;
                    stack.push(self.call(&of.class, &member.name, &member.desc, given, depth + 1)?);
                }
                Insn::Return(Some(_)) => return stack.pop(),
                _ => return None,
            }
        }
    }

    fn given(&self, member: &MemberRef, stack: &mut Vec<SnapshotValue>) -> Option<Vec<SnapshotValue>> {
        let count = MethodDesc::parse(&member.desc)?.params.len();
        Some(stack.split_off(stack.len().checked_sub(count)?))
    }

    fn field(&mut self, of: u32, field: &MemberRef) -> Option<SnapshotValue> {
        let seen = self.end.objects.get(&of)?;
        let declared = self.classes.declaring(&field.class, &field.name, 0)?;
        let found = seen.fields.iter().find(|seen| *seen.class == *declared && *seen.name == *field.name)?;
        self.reads.insert(StateLocation::Field { object: of, class: found.class.clone(), name: found.name.clone() });
        Some(found.value.clone())
    }

    fn static_field(&mut self, field: &MemberRef) -> Option<SnapshotValue> {
        let declared = self.classes.declaring(&field.class, &field.name, 0)?;
        let seen = self.end.statics.iter().find(|seen| *seen.class == *declared && *seen.name == *field.name);
        if let Some(seen) = seen {
            self.reads.insert(StateLocation::Static { class: seen.class.clone(), name: seen.name.clone() });
            return Some(seen.value.clone());
        }
        // A constant of an enum has the enum's type.
        (*field.desc == *format!("L{declared};"))
            .then(|| SnapshotValue::Constant(declared.to_string(), field.name.to_string()))
    }

    fn invoke(
        &mut self,
        member: &MemberRef,
        on: SnapshotValue,
        given: Vec<SnapshotValue>,
        special: bool,
        depth: usize,
    ) -> Option<SnapshotValue> {
        match (on, &*member.name, &given[..]) {
            (SnapshotValue::Text(text), "length", []) => Some(SnapshotValue::Int(text.encode_utf16().count() as i32)),
            (SnapshotValue::Text(text), "isEmpty", []) => Some(SnapshotValue::Int(i32::from(text.is_empty()))),
            (SnapshotValue::Text(text), "equals", [SnapshotValue::Text(other)]) => {
                Some(SnapshotValue::Int(i32::from(text == *other)))
            }
            (SnapshotValue::Boxed(_, number), name, []) if name.ends_with("Value") => {
                let kinds = matches!(
                    (&*number, name),
                    (SnapshotValue::Int(_), "intValue" | "booleanValue" | "charValue" | "shortValue" | "byteValue")
                        | (SnapshotValue::Long(_), "longValue")
                        | (SnapshotValue::Float(_), "floatValue")
                        | (SnapshotValue::Double(_), "doubleValue")
                );
                kinds.then_some(*number)
            }
            (SnapshotValue::Object(object), name, _) => {
                let seen = self.end.objects.get(&object)?;
                if let (Some(size), []) = (seen.size, &given[..])
                    && !seen.class.starts_with('[')
                {
                    self.reads.insert(StateLocation::Contents { object });
                    return match name {
                        "size" => Some(SnapshotValue::Int(i32::try_from(size).ok()?)),
                        "isEmpty" => Some(SnapshotValue::Int(i32::from(size == 0))),
                        _ => None,
                    };
                }
                let from = if special { member.class.to_string() } else { seen.class.clone() };
                let of = self.classes.with_method(&from, name, &member.desc)?;
                let mut all = vec![SnapshotValue::Object(object)];
                all.extend(given);
                self.call(&of.class, name, &member.desc, all, depth + 1)
            }
            _ => None,
        }
    }
}

fn object(value: SnapshotValue) -> Option<u32> {
    match value {
        SnapshotValue::Object(object) => Some(object),
        _ => None,
    }
}

fn constant(class: &ClassFile, index: u16) -> Option<SnapshotValue> {
    Some(match class.pool.get(index).ok()? {
        Constant::Integer(value) => SnapshotValue::Int(*value),
        Constant::Long(value) => SnapshotValue::Long(*value),
        Constant::Float(bits) => SnapshotValue::Float(*bits),
        Constant::Double(bits) => SnapshotValue::Double(*bits),
        Constant::String(text) => SnapshotValue::Text(class.pool.text(*text).ok()?.text().to_string()),
        _ => return None,
    })
}

fn holds(cond: Cond, order: std::cmp::Ordering) -> bool {
    match cond {
        Cond::Eq => order.is_eq(),
        Cond::Ne => order.is_ne(),
        Cond::Lt => order.is_lt(),
        Cond::Ge => order.is_ge(),
        Cond::Gt => order.is_gt(),
        Cond::Le => order.is_le(),
    }
}

fn computed(arith: Arith, left: &SnapshotValue, right: &SnapshotValue) -> Option<SnapshotValue> {
    Some(match (left, right) {
        (SnapshotValue::Int(left), SnapshotValue::Int(right)) => SnapshotValue::Int(match arith {
            Arith::Add => left.wrapping_add(*right),
            Arith::Sub => left.wrapping_sub(*right),
            Arith::Mul => left.wrapping_mul(*right),
            Arith::Div if *right != 0 => left.wrapping_div(*right),
            Arith::Rem if *right != 0 => left.wrapping_rem(*right),
            Arith::And => left & right,
            Arith::Or => left | right,
            Arith::Xor => left ^ right,
            _ => return None,
        }),
        (SnapshotValue::Long(left), SnapshotValue::Long(right)) => SnapshotValue::Long(match arith {
            Arith::Add => left.wrapping_add(*right),
            Arith::Sub => left.wrapping_sub(*right),
            Arith::Mul => left.wrapping_mul(*right),
            _ => return None,
        }),
        (SnapshotValue::Double(left), SnapshotValue::Double(right)) => {
            let (left, right) = (f64::from_bits(*left), f64::from_bits(*right));
            SnapshotValue::Double(match arith {
                Arith::Add => (left + right).to_bits(),
                Arith::Sub => (left - right).to_bits(),
                Arith::Mul => (left * right).to_bits(),
                Arith::Div => (left / right).to_bits(),
                _ => return None,
            })
        }
        _ => return None,
    })
}
