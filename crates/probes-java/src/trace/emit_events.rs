//! The code by which a method tells what it does: calls of static methods of one class, with what stands on the stack.

use crate::trace::events::{Called, Followed, Told};
use crate::weave::class_weaver::Added;
use std::collections::BTreeMap;
use touchstone_classfile::opcode as op;
use touchstone_classfile::{ClassFile, Desc, Insn};

/// The class that is told, and its methods. All take the number of a method of the program last but one, and the number of an
/// instruction last, where they have one.
pub const RECORDER: &str = "java/lang/TouchstoneTrace";
/// An instruction comes now.
pub const AT: (&str, &str) = ("at", "(II)V");
/// A block begins at an instruction.
pub const BLOCK: (&str, &str) = ("block", "(II)V");
/// An instruction comes with an object.
pub const ON: (&str, &str) = ("on", "(Ljava/lang/Object;II)V");
/// With an array and an index.
pub const IN: (&str, &str) = ("in", "(Ljava/lang/Object;III)V");
/// A call with two objects.
pub const TWO: (&str, &str) = ("two", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// With two more.
pub const MORE: (&str, &str) = ("more", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// A method begins, with its receiver, if there is one already.
pub const ENTER: (&str, &str) = ("enter", "(Ljava/lang/Object;I)V");
/// In a constructor: the object is one now.
pub const INIT: (&str, &str) = ("init", "(Ljava/lang/Object;I)V");

/// The class that is told that a test ends, while its variables are still there, and its method.
pub const ENDS_CLASS: &str = "java/lang/TouchstoneEnds";
/// With the numbers of the method and of the instruction.
pub const ENDS: (&str, &str) = ("ends", "(II)V");

/// What our code needs of the stack beyond what the method needs: two objects or an array with its index above all that is
/// there, and the numbers.
pub(crate) const STACK: u16 = 8;

/// Code around an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    /// Where jumps to it arrive.
    pub start: Vec<u8>,
    /// Just before it.
    pub before: Vec<u8>,
    /// Just behind it.
    pub after: Vec<u8>,
}

/// Code that is put into a method.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inserted {
    /// At its beginning.
    pub enter: Vec<u8>,
    /// By instruction.
    pub around: BTreeMap<usize, Around>,
    /// Locals that it needs behind all others.
    pub locals: u16,
}

/// What a method is to tell.
pub(crate) struct Telling<'t, 'c> {
    pub class: &'c ClassFile,
    pub followed: &'t Followed,
    /// The number of the method.
    pub number: u32,
    /// The first local that is free.
    pub first_local: usize,
    /// It is a test that says when it ends.
    pub ends: bool,
}

impl Telling<'_, '_> {
    /// Its code; `None` if there is no room for it.
    pub fn inserted(&self, pool: &mut Added<'_>) -> Option<Inserted> {
        let mut inserted = Inserted::default();
        inserted.enter.push(if self.followed.tells_receiver() { op::ALOAD_0 } else { op::ACONST_NULL });
        inserted.enter.extend(pool.number(self.number)?);
        inserted.enter.extend(call(pool, ENTER));
        for index in 0..self.followed.insns().len() {
            let mut around = Around::default();
            let block = self.followed.block_of(index);
            if self.followed.stretch(block).0 == index && self.followed.tells_begin(block) {
                around.start = self.told(pool, index, BLOCK)?;
            }
            let insn = &self.followed.insns()[index].insn;
            let mut spilled = 0;
            around.before = match self.followed.told(index) {
                Told::Nothing => Vec::new(),
                Told::Itself => {
                    let mut bytes = self.told(pool, index, AT)?;
                    if self.ends && matches!(insn, Insn::Return(None)) {
                        bytes.extend(self.numbers(pool, index)?);
                        bytes.extend(call_of(pool, ENDS_CLASS, ENDS));
                    }
                    bytes
                }
                Told::Object => {
                    let mut bytes = self.object(insn)?;
                    bytes.extend(self.told(pool, index, ON)?);
                    bytes
                }
                Told::Element => {
                    let mut bytes = element(insn);
                    bytes.extend(self.told(pool, index, IN)?);
                    bytes
                }
                Told::Call(references) => self.call(pool, index, references, &mut spilled)?,
            };
            if self.followed.own_constructor() == Some(index) && self.keeps_receiver() {
                around.after.push(op::ALOAD_0);
                around.after.extend(pool.number(self.number)?);
                around.after.extend(call(pool, INIT));
            }
            inserted.locals = inserted.locals.max(spilled);
            if !(around.start.is_empty() && around.before.is_empty() && around.after.is_empty()) {
                inserted.around.insert(index, around);
            }
        }
        Some(inserted)
    }

    /// Whether the first local stays what it was.
    fn keeps_receiver(&self) -> bool {
        !self.followed.insns().iter().any(|insn| matches!(insn.insn, Insn::Store(_, 0)))
    }

    /// The numbers, and the call of a method that takes them.
    fn told(&self, pool: &mut Added<'_>, index: usize, method: (&str, &str)) -> Option<Vec<u8>> {
        let mut bytes = self.numbers(pool, index)?;
        bytes.extend(call(pool, method));
        Some(bytes)
    }

    /// The numbers of the method and of an instruction, on top.
    fn numbers(&self, pool: &mut Added<'_>, index: usize) -> Option<Vec<u8>> {
        let mut bytes = pool.number(self.number)?;
        bytes.extend(pool.number(u32::try_from(index).ok()?)?);
        Some(bytes)
    }

    /// A copy of the object whose field is accessed, on top.
    fn object(&self, insn: &Insn) -> Option<Vec<u8>> {
        Some(match insn {
            Insn::PutField(field) => match Desc::parse(&self.class.pool.field(*field).ok()?.desc)?.is_wide() {
                true => vec![op::DUP2_X1, op::POP2, op::DUP_X2],
                false => vec![op::DUP2, op::POP],
            },
            _ => vec![op::DUP],
        })
    }

    fn call(&self, pool: &mut Added<'_>, index: usize, references: &[usize], spilled: &mut u16) -> Option<Vec<u8>> {
        let insn = &self.followed.insns()[index].insn;
        let called = Called::of(self.class, insn)?;
        let first = usize::from(!matches!(insn, Insn::InvokeStatic(_) | Insn::InvokeDynamic(_)));
        let (pairs, params) = (references.chunks(2), &called.desc.params);
        if references.is_empty() {
            return self.told(pool, index, AT);
        }
        // Arguments wait in locals until those above and below them were told.
        let mut places = Vec::new();
        for param in params {
            places.push(self.first_local + usize::from(*spilled));
            *spilled += if param.is_wide() { 2 } else { 1 };
        }
        let mut bytes = Vec::new();
        for (param, place) in params.iter().zip(&places).rev() {
            local(op::ISTORE + kind(param), *place, &mut bytes)?;
        }
        for (number, pair) in pairs.enumerate() {
            // The receiver, if it is told at all, is the first, and on top now.
            for position in pair {
                match position.checked_sub(first) {
                    None => bytes.push(op::DUP),
                    Some(param) => local(op::ILOAD + kind(params.get(param)?), *places.get(param)?, &mut bytes)?,
                }
            }
            let method = match (number, pair) {
                (0, [_]) => ON,
                (0, _) => TWO,
                (_, [_]) => {
                    bytes.push(op::ACONST_NULL);
                    MORE
                }
                _ => MORE,
            };
            bytes.extend(self.told(pool, index, method)?);
        }
        for (param, place) in params.iter().zip(&places) {
            local(op::ILOAD + kind(param), *place, &mut bytes)?;
        }
        Some(bytes)
    }
}

fn call(pool: &mut Added<'_>, method: (&str, &str)) -> Vec<u8> {
    call_of(pool, RECORDER, method)
}

fn call_of(pool: &mut Added<'_>, class: &str, (name, desc): (&str, &str)) -> Vec<u8> {
    let [high, low] = pool.method(class, name, desc).to_be_bytes();
    vec![op::INVOKESTATIC, high, low]
}

/// A copy of the array and the index, on top.
fn element(insn: &Insn) -> Vec<u8> {
    use touchstone_classfile::ArrayKind;
    match insn {
        Insn::ArrayStore(ArrayKind::Long | ArrayKind::Double) => vec![op::DUP2_X2, op::POP2, op::DUP2_X2],
        Insn::ArrayStore(_) => vec![op::DUP_X2, op::POP, op::DUP2_X1],
        _ => vec![op::DUP2],
    }
}

/// Instructions for ints, longs, floats, doubles and references follow each other.
pub(crate) fn kind(desc: &Desc) -> u8 {
    match desc {
        Desc::Long => 1,
        Desc::Float => 2,
        Desc::Double => 3,
        Desc::Ref(_) => 4,
        _ => 0,
    }
}

/// An instruction that names a local.
pub(crate) fn local(opcode: u8, place: usize, bytes: &mut Vec<u8>) -> Option<()> {
    match u8::try_from(place) {
        Ok(place) => bytes.extend([opcode, place]),
        Err(_) => {
            bytes.extend([op::WIDE, opcode]);
            bytes.extend(u16::try_from(place).ok()?.to_be_bytes());
        }
    }
    Some(())
}
