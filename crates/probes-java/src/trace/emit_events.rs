//! The bytecode that records events: calls of static methods of the recorder class with copies of operands.

use crate::cfg::call_target::CallTarget;
use crate::encode::constant_pool::ConstantPoolBuilder;
use crate::encode::instructions::local;
use crate::trace::events::{InsnEvent, TracedMethod};
use std::collections::BTreeMap;
use touchstone_classfile::opcode as op;
use touchstone_classfile::{ArrayKind, ClassFile, Desc, Insn};

/// The recorder class. Its methods take the number of the traced method and, where they have one, the index of the instruction last.
pub const RECORDER: &str = "java/lang/TouchstoneTrace";
/// An instruction is executed next.
pub const INSTRUCTION: (&str, &str) = ("instruction", "(II)V");
/// A block begins at an instruction.
pub const BLOCK: (&str, &str) = ("block", "(II)V");
/// An instruction is executed next, on an object.
pub const OBJECT: (&str, &str) = ("object", "(Ljava/lang/Object;II)V");
/// An instruction is executed next, on an element of an array.
pub const ELEMENT: (&str, &str) = ("element", "(Ljava/lang/Object;III)V");
/// A call is executed next, with two references.
pub const REFERENCES: (&str, &str) = ("references", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// The call has two more references.
pub const MORE_REFERENCES: (&str, &str) = ("moreReferences", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// A method begins, with its receiver or null.
pub const ENTER: (&str, &str) = ("enter", "(Ljava/lang/Object;I)V");
/// The receiver of a constructor is initialised.
pub const INITIALISED: (&str, &str) = ("initialised", "(Ljava/lang/Object;I)V");

/// The class that takes a snapshot of the objects of a test, while the test's local variables are alive.
pub const SNAPSHOT_CLASS: &str = "java/lang/TouchstoneSnapshot";
/// Its method, with the numbers of the method and of the instruction that returns.
pub const TAKE_SNAPSHOT: (&str, &str) = ("take", "(II)V");

/// The operand stack that events need beyond the method's own: two references or an array with its index, and the two numbers.
pub(crate) const STACK: u16 = 8;

/// Code that is inserted around an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeAround {
    /// At the target of jumps to the instruction.
    pub start: Vec<u8>,
    /// Immediately before the instruction.
    pub before: Vec<u8>,
    /// Immediately after the instruction.
    pub after: Vec<u8>,
}

/// Code that is inserted into a method.
#[derive(Clone, Debug, Default)]
pub(crate) struct InsertedCode {
    /// At the entry of the method.
    pub enter: Vec<u8>,
    /// Maps an instruction to the code around it.
    pub around: BTreeMap<usize, CodeAround>,
    /// The number of additional locals.
    pub locals: u16,
}

/// Emits the events of one method.
pub(crate) struct EventEmitter<'t, 'c> {
    pub class: &'c ClassFile,
    pub method: &'t TracedMethod,
    /// The number of the method in the trace.
    pub number: u32,
    /// The first unused local.
    pub first_local: usize,
    /// True if the method is a test that takes a snapshot when it returns.
    pub takes_snapshot: bool,
}

impl EventEmitter<'_, '_> {
    /// Emits all events, or returns `None` if an index exceeds its range.
    pub fn emit(&self, pool: &mut ConstantPoolBuilder) -> Option<InsertedCode> {
        let mut inserted = InsertedCode::default();
        inserted.enter.push(if self.method.records_receiver() { op::ALOAD_0 } else { op::ACONST_NULL });
        inserted.enter.extend(pool.push_number(self.number)?);
        inserted.enter.extend(pool.call(RECORDER, ENTER));
        for index in 0..self.method.insns().len() {
            let mut around = CodeAround::default();
            let block = self.method.block_of(index);
            if self.method.block_range(block).0 == index && self.method.records_block(block) {
                around.start = self.record(pool, index, BLOCK)?;
            }
            let mut spilled = 0;
            around.before = self.event(pool, index, &mut spilled)?;
            if self.method.constructor_call() == Some(index) && self.keeps_receiver() {
                around.after.push(op::ALOAD_0);
                around.after.extend(pool.push_number(self.number)?);
                around.after.extend(pool.call(RECORDER, INITIALISED));
            }
            inserted.locals = inserted.locals.max(spilled);
            if !(around.start.is_empty() && around.before.is_empty() && around.after.is_empty()) {
                inserted.around.insert(index, around);
            }
        }
        Some(inserted)
    }

    /// Returns true if the first local always holds the receiver.
    fn keeps_receiver(&self) -> bool {
        !self.method.insns().iter().any(|insn| matches!(insn.insn, Insn::Store(_, 0)))
    }

    /// Emits the event of an instruction.
    fn event(&self, pool: &mut ConstantPoolBuilder, index: usize, spilled: &mut u16) -> Option<Vec<u8>> {
        let insn = &self.method.insns()[index].insn;
        Some(match self.method.event(index) {
            InsnEvent::None => Vec::new(),
            InsnEvent::Implied | InsnEvent::Instruction => {
                let mut bytes = match self.method.records_event(index) {
                    true => self.record(pool, index, INSTRUCTION)?,
                    false => Vec::new(),
                };
                if self.takes_snapshot && matches!(insn, Insn::Return(None)) {
                    bytes.extend(self.numbers(pool, index)?);
                    bytes.extend(pool.call(SNAPSHOT_CLASS, TAKE_SNAPSHOT));
                }
                bytes
            }
            InsnEvent::Object => {
                let mut bytes = self.copy_object(insn)?;
                bytes.extend(self.record(pool, index, OBJECT)?);
                bytes
            }
            InsnEvent::Element => {
                let mut bytes = copy_element(insn);
                bytes.extend(self.record(pool, index, ELEMENT)?);
                bytes
            }
            InsnEvent::Call(references) => self.call(pool, index, references, spilled)?,
        })
    }

    /// Pushes the numbers and calls a method of the recorder.
    fn record(&self, pool: &mut ConstantPoolBuilder, index: usize, method: (&str, &str)) -> Option<Vec<u8>> {
        let mut bytes = self.numbers(pool, index)?;
        bytes.extend(pool.call(RECORDER, method));
        Some(bytes)
    }

    /// Pushes the numbers of the method and of an instruction.
    fn numbers(&self, pool: &mut ConstantPoolBuilder, index: usize) -> Option<Vec<u8>> {
        let mut bytes = pool.push_number(self.number)?;
        bytes.extend(pool.push_number(u32::try_from(index).ok()?)?);
        Some(bytes)
    }

    /// Pushes a copy of the object whose field is accessed.
    fn copy_object(&self, insn: &Insn) -> Option<Vec<u8>> {
        Some(match insn {
            Insn::PutField(field) => match Desc::parse(&self.class.pool.field(*field).ok()?.desc)?.is_wide() {
                true => vec![op::DUP2_X1, op::POP2, op::DUP_X2],
                false => vec![op::DUP2, op::POP],
            },
            _ => vec![op::DUP],
        })
    }

    fn call(
        &self,
        pool: &mut ConstantPoolBuilder,
        index: usize,
        references: &[usize],
        spilled: &mut u16,
    ) -> Option<Vec<u8>> {
        let insn = &self.method.insns()[index].insn;
        let target = CallTarget::of(self.class, insn)?;
        let first = usize::from(!matches!(insn, Insn::InvokeStatic(_) | Insn::InvokeDynamic(_)));
        let params = &target.desc.params;
        if references.is_empty() {
            return self.record(pool, index, INSTRUCTION);
        }
        // Arguments are spilled to locals, so that each can be loaded.
        let mut locals = Vec::new();
        for param in params {
            locals.push(self.first_local + usize::from(*spilled));
            *spilled += param.kind().words();
        }
        let mut bytes = Vec::new();
        for (param, spilled) in params.iter().zip(&locals).rev() {
            local(op::ISTORE + param.kind().opcode_offset(), *spilled, &mut bytes)?;
        }
        for (number, pair) in references.chunks(2).enumerate() {
            for position in pair {
                match position.checked_sub(first) {
                    // The receiver is on top now.
                    None => bytes.push(op::DUP),
                    Some(param) => {
                        let load = op::ILOAD + params.get(param)?.kind().opcode_offset();
                        local(load, *locals.get(param)?, &mut bytes)?;
                    }
                }
            }
            let method = match (number, pair) {
                (0, [_]) => OBJECT,
                (0, _) => REFERENCES,
                (_, [_]) => {
                    bytes.push(op::ACONST_NULL);
                    MORE_REFERENCES
                }
                _ => MORE_REFERENCES,
            };
            bytes.extend(self.record(pool, index, method)?);
        }
        for (param, spilled) in params.iter().zip(&locals) {
            local(op::ILOAD + param.kind().opcode_offset(), *spilled, &mut bytes)?;
        }
        Some(bytes)
    }
}

/// Pushes a copy of the array and the index.
fn copy_element(insn: &Insn) -> Vec<u8> {
    match insn {
        Insn::ArrayStore(ArrayKind::Long | ArrayKind::Double) => vec![op::DUP2_X2, op::POP2, op::DUP2_X2],
        Insn::ArrayStore(_) => vec![op::DUP_X2, op::POP, op::DUP2_X1],
        _ => vec![op::DUP2],
    }
}
