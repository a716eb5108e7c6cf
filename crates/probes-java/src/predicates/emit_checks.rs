//! The code by which questions are asked: copies of what an instruction takes are given to a static method, which hits a probe if the answer is
//! yes. So no jump is added, and nothing of the method's own changes.

use crate::cfg::blocks::Flow;
use crate::predicates::check_class::method;
use crate::predicates::value_checks::{Asked, Input, Question};
use crate::trace::emit_events::{kind, local};
use crate::trace::events::Called;
use crate::weave::class_weaver::Added;
use crate::weave::code_layout::{Hitting, push};
use std::collections::BTreeMap;
use touchstone_classfile::opcode as op;
use touchstone_classfile::{ArrayKind, ClassFile, Desc, Insn, SlotKind};

/// What questions need of the stack beyond what the method needs.
pub(crate) const STACK: u16 = 4;

/// Code that asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Questions {
    /// At the beginning of the method.
    pub enter: Vec<u8>,
    /// By instruction: just before it.
    pub before: BTreeMap<usize, Vec<u8>>,
    /// By instruction: behind it, where control does not jump.
    pub after: BTreeMap<usize, Vec<u8>>,
    /// Locals that it needs behind all others.
    pub locals: u16,
    /// What it needs of the stack beyond what the method needs.
    pub stack: u16,
}

/// Whom code asks.
pub(crate) struct Questioning<'q, 'c> {
    pub class: &'c ClassFile,
    pub flow: &'q Flow,
    pub hitting: Hitting,
    pub answers: &'q str,
    /// The first local that is free,
    pub first_local: usize,
    /// and so many from there on are used by others, between two instructions.
    pub locals_taken: u16,
}

/// What stands above something on the stack, as instructions name it: ints, longs, floats, doubles and references follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Above(u8);

const REFERENCE: Above = Above(4);

impl Above {
    fn of(desc: &Desc) -> Above {
        Above(kind(desc))
    }

    fn of_element(array: ArrayKind) -> Above {
        match array {
            ArrayKind::Long => Above(1),
            ArrayKind::Float => Above(2),
            ArrayKind::Double => Above(3),
            ArrayKind::Ref => REFERENCE,
            _ => Above(0),
        }
    }

    fn words(self) -> u16 {
        if matches!(self.0, 1 | 3) { 2 } else { 1 }
    }
}

impl Questioning<'_, '_> {
    /// The code of all questions; `None` if there is no room for it.
    pub fn questions(&self, asked: &Asked, pool: &mut Added<'_>) -> Option<Questions> {
        let mut questions = Questions { locals: self.locals_taken, stack: STACK, ..Questions::default() };
        for input in &asked.inputs {
            self.input(input, pool, &mut questions.enter)?;
        }
        for (index, list) in &asked.before {
            let mut bytes = Vec::new();
            for (question, probe) in list {
                self.question(*index, *question, *probe, pool, &mut questions.locals, &mut bytes)?;
            }
            questions.before.insert(*index, bytes);
        }
        Some(questions)
    }

    fn call(&self, probe: u32, (name, desc): (&str, &str), pool: &mut Added<'_>, bytes: &mut Vec<u8>) -> Option<()> {
        bytes.extend(push(self.hitting.first + probe)?);
        let [high, low] = pool.method(self.answers, name, desc).to_be_bytes();
        bytes.extend([op::INVOKESTATIC, high, low]);
        Some(())
    }

    fn input(&self, input: &Input, pool: &mut Added<'_>, bytes: &mut Vec<u8>) -> Option<()> {
        let limits: Option<(i32, i32)> = match input.desc {
            Desc::Boolean => Some((-1, -1)),
            Desc::Byte => Some((i8::MIN.into(), i8::MAX.into())),
            Desc::Short => Some((i16::MIN.into(), i16::MAX.into())),
            Desc::Char => Some((-1, u16::MAX.into())),
            Desc::Int => Some((i32::MIN, i32::MAX)),
            _ => None,
        };
        local(op::ILOAD + Above::of(&input.desc).0, input.local, bytes)?;
        if let Some((least, greatest)) = limits {
            bytes.extend(pool.integer(least));
            bytes.extend(pool.integer(greatest));
            return self.call(input.first, method::INT_PARTS, pool, bytes);
        }
        let parts = match input.desc {
            Desc::Long => method::LONG_PARTS,
            Desc::Float => {
                bytes.push(op::F2D);
                method::DOUBLE_PARTS
            }
            Desc::Double => method::DOUBLE_PARTS,
            _ => method::REFERENCE_PARTS,
        };
        self.call(input.first, parts, pool, bytes)
    }

    fn question(
        &self,
        index: usize,
        question: Question,
        probe: u32,
        pool: &mut Added<'_>,
        locals: &mut u16,
        bytes: &mut Vec<u8>,
    ) -> Option<()> {
        let insn = &self.flow.insns[index].insn;
        let stored = match insn {
            Insn::ArrayStore(array) => vec![Above::of_element(*array)],
            _ => Vec::new(),
        };
        match question {
            Question::Null => {
                let above = self.above_object(insn)?;
                let words: u16 = above.iter().map(|above| above.words()).sum();
                let mut spilled = Spilled::default();
                match words {
                    0 => bytes.push(op::DUP),
                    1 => bytes.extend([op::DUP2, op::POP]),
                    2 => bytes.extend([op::DUP2_X1, op::POP2, op::DUP_X2]),
                    _ => {
                        spilled = self.spill(&above, locals, bytes)?;
                        bytes.push(op::DUP);
                    }
                }
                self.call(probe, method::NULL, pool, bytes)?;
                spilled.back(bytes)?;
            }
            Question::Outside => {
                let spilled = self.spill(&stored, locals, bytes)?;
                bytes.push(op::DUP2);
                self.call(probe, method::OUTSIDE, pool, bytes)?;
                spilled.back(bytes)?;
            }
            Question::Store => {
                let spilled = self.spill(&stored, locals, bytes)?;
                bytes.push(op::DUP2);
                spilled.back(bytes)?;
                self.call(probe, method::STORE, pool, bytes)?;
                spilled.back(bytes)?;
            }
            Question::Zero if matches!(insn, Insn::Arith(_, SlotKind::Long)) => {
                bytes.push(op::DUP2);
                self.call(probe, method::ZERO_LONG, pool, bytes)?;
            }
            Question::Zero => {
                bytes.push(op::DUP);
                self.call(probe, method::ZERO, pool, bytes)?;
            }
            Question::Negative => {
                let lengths = match insn {
                    Insn::NewMultiArray(_, dimensions) => usize::from(*dimensions),
                    _ => 1,
                };
                let spilled = self.spill(&vec![Above(0); lengths], locals, bytes)?;
                for (length, place) in &spilled.0 {
                    local(op::ILOAD + length.0, *place, bytes)?;
                    self.call(probe, method::NEGATIVE, pool, bytes)?;
                }
                spilled.back(bytes)?;
            }
            Question::Cast => {
                let Insn::CheckCast(class) = insn else { return None };
                let [high, low] = class.to_be_bytes();
                // As the cast itself, this resolves the class only if there is an object.
                bytes.extend([op::DUP, op::DUP, op::INSTANCEOF, high, low]);
                self.call(probe, method::CAST, pool, bytes)?;
            }
            Question::Label => {
                bytes.push(op::DUP);
                self.call(probe, method::LABEL, pool, bytes)?;
            }
        }
        Some(())
    }

    /// What stands above the object that an instruction needs.
    fn above_object(&self, insn: &Insn) -> Option<Vec<Above>> {
        Some(match insn {
            Insn::PutField(field) => vec![Above::of(&Desc::parse(&self.class.pool.field(*field).ok()?.desc)?)],
            Insn::ArrayLoad(_) => vec![Above(0)],
            Insn::ArrayStore(array) => vec![Above(0), Above::of_element(*array)],
            Insn::GetField(_) | Insn::ArrayLength | Insn::Throw | Insn::MonitorEnter => Vec::new(),
            _ => Called::of(self.class, insn)?.desc.params.iter().map(Above::of).collect(),
        })
    }

    /// Puts what is on top into locals.
    fn spill(&self, above: &[Above], locals: &mut u16, bytes: &mut Vec<u8>) -> Option<Spilled> {
        let mut places = Vec::new();
        let mut next = 0;
        for above in above {
            places.push((*above, self.first_local + usize::from(next)));
            next += above.words();
        }
        *locals = (*locals).max(next);
        for (above, place) in places.iter().rev() {
            local(op::ISTORE + above.0, *place, bytes)?;
        }
        Some(Spilled(places))
    }
}

/// What waits in locals.
#[derive(Default)]
struct Spilled(Vec<(Above, usize)>);

impl Spilled {
    fn back(&self, bytes: &mut Vec<u8>) -> Option<()> {
        self.0.iter().try_for_each(|(above, place)| local(op::ILOAD + above.0, *place, bytes))
    }
}
