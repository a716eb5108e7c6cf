//! Evaluates observers on the snapshot of a test's end, by interpreting their bytecode. Code with side effects is not
//! evaluated, and no code of the program runs.

use super::test_end_state::{SnapshotValue, TestEndSnapshot};
use crate::java::state::TracedClasses;
use crate::state::StateLocation;
use std::collections::BTreeSet;
use touchstone_front_java::classfile::{
    Arith, ClassFile, Cond, Constant, Convert, Insn, MemberRef, MethodDesc, SlotKind, decode,
};

/// The maximum number of interpreted instructions.
const MAX_STEPS: usize = 300;
/// The maximum number of nested calls.
const MAX_CALL_DEPTH: usize = 4;

/// Interprets observers on a snapshot.
pub(super) struct ObserverEvaluation<'e> {
    pub classes: &'e TracedClasses,
    pub end: &'e TestEndSnapshot,
    /// The state that was read.
    pub reads: BTreeSet<StateLocation>,
    steps: usize,
}

/// A method that is evaluated.
struct ObserverFrame<'c> {
    class: &'c ClassFile,
    /// `None` for the second slot of a wide value, and for variables without a value.
    locals: Vec<Option<SnapshotValue>>,
    stack: Vec<SnapshotValue>,
    /// The number of methods that it is nested in.
    depth: usize,
}

/// The instruction that is executed next.
enum Successor {
    Next,
    /// The one at a code offset.
    Jump(usize),
    /// The method returns.
    Return(SnapshotValue),
}

impl<'c> ObserverFrame<'c> {
    fn new(class: &'c ClassFile, given: Vec<SnapshotValue>, max_locals: usize, depth: usize) -> ObserverFrame<'c> {
        let mut locals: Vec<Option<SnapshotValue>> = Vec::new();
        for value in given {
            let wide = matches!(value, SnapshotValue::Long(_) | SnapshotValue::Double(_));
            locals.push(Some(value));
            locals.extend(wide.then_some(None));
        }
        locals.resize(max_locals, None);
        ObserverFrame { class, locals, stack: Vec::new(), depth }
    }

    /// Executes an instruction that only computes on locals and the operand stack.
    fn compute(&mut self, insn: &Insn) -> Option<()> {
        let stack = &mut self.stack;
        match insn {
            Insn::Nop | Insn::CheckCast(_) => {}
            Insn::Null => stack.push(SnapshotValue::Null),
            Insn::PushInt(value) => stack.push(SnapshotValue::Int(*value)),
            Insn::PushLong(value) => stack.push(SnapshotValue::Long(*value)),
            Insn::PushFloat(bits) => stack.push(SnapshotValue::Float(*bits)),
            Insn::PushDouble(bits) => stack.push(SnapshotValue::Double(*bits)),
            Insn::Constant(index) => stack.push(constant(self.class, *index)?),
            Insn::Load(_, local) => stack.push(self.locals.get(usize::from(*local))?.clone()?),
            Insn::Store(_, local) => *self.locals.get_mut(usize::from(*local))? = Some(stack.pop()?),
            Insn::Dup => stack.push(stack.last()?.clone()),
            Insn::Pop => drop(stack.pop()?),
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
            Insn::Convert(Convert::Kinds(SlotKind::Int, SlotKind::Long)) => {
                let SnapshotValue::Int(value) = stack.pop()? else { return None };
                stack.push(SnapshotValue::Long(i64::from(value)));
            }
            _ => return None,
        }
        Some(())
    }

    /// Executes a conditional jump.
    fn branch(&mut self, insn: &Insn) -> Option<Successor> {
        let stack = &mut self.stack;
        let (taken, target) = match insn {
            Insn::If(cond, target) => {
                let SnapshotValue::Int(value) = stack.pop()? else { return None };
                (holds(*cond, value.cmp(&0)), target)
            }
            Insn::IfInts(cond, target) => {
                let (SnapshotValue::Int(right), SnapshotValue::Int(left)) = (stack.pop()?, stack.pop()?) else {
                    return None;
                };
                (holds(*cond, left.cmp(&right)), target)
            }
            Insn::IfNull(cond, target) => {
                let is_null = stack.pop()? == SnapshotValue::Null;
                (is_null == (*cond == Cond::Eq), target)
            }
            Insn::IfRefs(cond, target) => {
                let (right, left) = (stack.pop()?, stack.pop()?);
                // Equal strings may be different objects.
                let has_identity = |value: &SnapshotValue| {
                    matches!(value, SnapshotValue::Null | SnapshotValue::Object(_) | SnapshotValue::Constant(..))
                };
                if !has_identity(&left) || !has_identity(&right) {
                    return None;
                }
                ((left == right) == (*cond == Cond::Eq), target)
            }
            _ => return None,
        };
        Some(if taken { Successor::Jump(*target) } else { Successor::Next })
    }
}

impl<'e> ObserverEvaluation<'e> {
    pub fn new(classes: &'e TracedClasses, end: &'e TestEndSnapshot) -> ObserverEvaluation<'e> {
        ObserverEvaluation { classes, end, reads: BTreeSet::new(), steps: 0 }
    }

    /// Returns the result of a method on the snapshot, or `None` if it can't be computed.
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
        let mut frame = ObserverFrame::new(class, given, usize::from(code.max_locals), depth);
        let mut at = 0;
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return None;
            }
            at = match self.step(&insns.get(at)?.insn, &mut frame)? {
                Successor::Next => at + 1,
                Successor::Jump(target) => insns.iter().position(|insn| insn.at == target)?,
                Successor::Return(value) => return Some(value),
            };
        }
    }

    /// Executes one instruction; `None` if it may have a side effect or its operands are unknown.
    fn step(&mut self, insn: &Insn, frame: &mut ObserverFrame<'_>) -> Option<Successor> {
        match insn {
            Insn::Goto(target) => return Some(Successor::Jump(*target)),
            Insn::Return(Some(_)) => return frame.stack.pop().map(Successor::Return),
            Insn::If(..) | Insn::IfInts(..) | Insn::IfNull(..) | Insn::IfRefs(..) => return frame.branch(insn),
            Insn::ArrayLength | Insn::ArrayLoad(_) | Insn::GetField(_) | Insn::GetStatic(_) => {
                self.read_heap(insn, frame)?;
            }
            Insn::InvokeVirtual(index) | Insn::InvokeInterface(index) | Insn::InvokeSpecial(index) => {
                let (member, _) = frame.class.pool.method(*index).ok()?;
                let given = self.given(&member, &mut frame.stack)?;
                let receiver = frame.stack.pop()?;
                let is_special = matches!(insn, Insn::InvokeSpecial(_));
                frame.stack.push(self.invoke(&member, receiver, given, is_special, frame.depth)?);
            }
            Insn::InvokeStatic(index) => {
                let (member, _) = frame.class.pool.method(*index).ok()?;
                let given = self.given(&member, &mut frame.stack)?;
                let of = self.classes.named(&member.class)?;
                frame.stack.push(self.call(&of.class, &member.name, &member.desc, given, frame.depth + 1)?);
            }
            _ => frame.compute(insn)?,
        }
        Some(Successor::Next)
    }

    /// Executes an instruction that reads a field or an array of the snapshot.
    fn read_heap(&mut self, insn: &Insn, frame: &mut ObserverFrame<'_>) -> Option<()> {
        let stack = &mut frame.stack;
        let value = match insn {
            Insn::ArrayLength => {
                let array = object(stack.pop()?)?;
                SnapshotValue::Int(i32::try_from(self.end.objects.get(&array)?.size?).ok()?)
            }
            Insn::ArrayLoad(_) => {
                let (SnapshotValue::Int(index), SnapshotValue::Object(array)) = (stack.pop()?, stack.pop()?) else {
                    return None;
                };
                self.reads.insert(StateLocation::Contents { object: array });
                let elements = &self.end.objects.get(&array)?.elements;
                elements.get(usize::try_from(index).ok()?)?.clone()
            }
            Insn::GetField(index) => {
                let field = frame.class.pool.field(*index).ok()?;
                let of = object(stack.pop()?)?;
                self.field(of, &field)?
            }
            Insn::GetStatic(index) => self.static_field(&frame.class.pool.field(*index).ok()?)?,
            _ => return None,
        };
        stack.push(value);
        Some(())
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
        // A static field of its own class's type is a constant of an enum.
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
