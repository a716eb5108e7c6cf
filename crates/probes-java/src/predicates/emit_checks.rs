//! The bytecode of checks: copies of operands are passed to a static method, which hits a probe if the check succeeds.

use crate::cfg::blocks::MethodCfg;
use crate::cfg::call_target::CallTarget;
use crate::encode::constant_pool::ConstantPoolBuilder;
use crate::encode::instructions::{HitCall, local, push};
use crate::predicates::check_class::method;
use crate::predicates::value_checks::{CheckProbes, InputProbes, ValueCheck};
use std::collections::BTreeMap;
use touchstone_classfile::opcode as op;
use touchstone_classfile::{ArrayKind, ClassFile, Desc, Insn, SlotKind};

/// The operand stack that checks need beyond the method's own.
pub(crate) const STACK: u16 = 4;

/// Code that evaluates checks and predicates.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckCode {
    /// At the entry of the method.
    pub enter: Vec<u8>,
    /// Maps an instruction to the code immediately before it.
    pub before: BTreeMap<usize, Vec<u8>>,
    /// Maps an instruction to the code after it, if control falls through.
    pub after: BTreeMap<usize, Vec<u8>>,
    /// The number of additional locals.
    pub locals: u16,
    /// The operand stack that it needs beyond the method's own.
    pub stack: u16,
}

impl CheckCode {
    /// Returns true if there is no code.
    pub fn is_empty(&self) -> bool {
        self.enter.is_empty() && self.before.is_empty() && self.after.is_empty()
    }
}

/// Emits the checks and predicates of one method.
pub(crate) struct CheckEmitter<'q, 'c> {
    pub class: &'c ClassFile,
    pub cfg: &'q MethodCfg,
    pub hit: HitCall,
    /// The class that evaluates checks.
    pub check_class: &'q str,
    /// The first unused local.
    pub first_local: usize,
    /// The number of locals from there on that other inserted code uses between two instructions.
    pub locals_taken: u16,
}

/// Returns the kind of slot that holds an element of an array.
fn element_kind(array: ArrayKind) -> SlotKind {
    match array {
        ArrayKind::Long => SlotKind::Long,
        ArrayKind::Float => SlotKind::Float,
        ArrayKind::Double => SlotKind::Double,
        ArrayKind::Ref => SlotKind::Ref,
        _ => SlotKind::Int,
    }
}

impl CheckEmitter<'_, '_> {
    /// Emits all checks, or returns `None` if an index exceeds its range.
    pub fn emit(&self, probes: &CheckProbes, pool: &mut ConstantPoolBuilder) -> Option<CheckCode> {
        let mut code = CheckCode { locals: self.locals_taken, stack: STACK, ..CheckCode::default() };
        for input in &probes.inputs {
            self.input(input, pool, &mut code.enter)?;
        }
        for (index, list) in &probes.before {
            let mut bytes = Vec::new();
            for (check, probe) in list {
                self.check(*index, *check, *probe, pool, &mut code.locals, &mut bytes)?;
            }
            code.before.insert(*index, bytes);
        }
        if let Some((desc, first)) = &probes.result {
            for (index, insn) in self.cfg.insns.iter().enumerate() {
                if matches!(insn.insn, Insn::Return(Some(_))) {
                    let bytes = code.before.entry(index).or_default();
                    bytes.push(if desc.kind().words() == 2 { op::DUP2 } else { op::DUP });
                    self.partition(desc, *first, pool, bytes)?;
                }
            }
        }
        Some(code)
    }

    fn call(
        &self,
        probe: u32,
        method: (&str, &str),
        pool: &mut ConstantPoolBuilder,
        bytes: &mut Vec<u8>,
    ) -> Option<()> {
        bytes.extend(push(self.hit.first + probe)?);
        bytes.extend(pool.call(self.check_class, method));
        Some(())
    }

    fn input(&self, input: &InputProbes, pool: &mut ConstantPoolBuilder, bytes: &mut Vec<u8>) -> Option<()> {
        local(op::ILOAD + input.desc.kind().opcode_offset(), input.local, bytes)?;
        self.partition(&input.desc, input.first, pool, bytes)
    }

    /// Passes the value on top of the stack to the method that hits the probe of its domain part.
    fn partition(&self, desc: &Desc, first: u32, pool: &mut ConstantPoolBuilder, bytes: &mut Vec<u8>) -> Option<()> {
        // Bounds that no value of the type has are -1.
        let bounds: Option<(i32, i32)> = match desc {
            Desc::Boolean => Some((-1, -1)),
            Desc::Byte => Some((i8::MIN.into(), i8::MAX.into())),
            Desc::Short => Some((i16::MIN.into(), i16::MAX.into())),
            Desc::Char => Some((-1, u16::MAX.into())),
            Desc::Int => Some((i32::MIN, i32::MAX)),
            _ => None,
        };
        if let Some((min, max)) = bounds {
            bytes.extend(pool.push_int(min));
            bytes.extend(pool.push_int(max));
            return self.call(first, method::PARTITION_INT, pool, bytes);
        }
        let partition = match desc {
            Desc::Long => method::PARTITION_LONG,
            Desc::Float => {
                bytes.push(op::F2D);
                method::PARTITION_DOUBLE
            }
            Desc::Double => method::PARTITION_DOUBLE,
            _ => method::PARTITION_REFERENCE,
        };
        self.call(first, partition, pool, bytes)
    }

    fn check(
        &self,
        index: usize,
        check: ValueCheck,
        probe: u32,
        pool: &mut ConstantPoolBuilder,
        locals: &mut u16,
        bytes: &mut Vec<u8>,
    ) -> Option<()> {
        let insn = &self.cfg.insns[index].insn;
        let stored = match insn {
            Insn::ArrayStore(array) => vec![element_kind(*array)],
            _ => Vec::new(),
        };
        match check {
            ValueCheck::Null => {
                let above = self.operands_above_object(insn)?;
                let mut spilled = Spilled::default();
                match above.iter().map(|kind| kind.words()).sum() {
                    0u16 => bytes.push(op::DUP),
                    1 => bytes.extend([op::DUP2, op::POP]),
                    2 => bytes.extend([op::DUP2_X1, op::POP2, op::DUP_X2]),
                    _ => {
                        spilled = self.spill(&above, locals, bytes)?;
                        bytes.push(op::DUP);
                    }
                }
                self.call(probe, method::IS_NULL, pool, bytes)?;
                spilled.reload(bytes)?;
            }
            ValueCheck::OutOfBounds => {
                let spilled = self.spill(&stored, locals, bytes)?;
                bytes.push(op::DUP2);
                self.call(probe, method::IS_OUT_OF_BOUNDS, pool, bytes)?;
                spilled.reload(bytes)?;
            }
            ValueCheck::ArrayStore => {
                let spilled = self.spill(&stored, locals, bytes)?;
                bytes.push(op::DUP2);
                spilled.reload(bytes)?;
                self.call(probe, method::IS_ARRAY_STORE_ERROR, pool, bytes)?;
                spilled.reload(bytes)?;
            }
            ValueCheck::Zero if matches!(insn, Insn::Arith(_, SlotKind::Long)) => {
                bytes.push(op::DUP2);
                self.call(probe, method::IS_ZERO_LONG, pool, bytes)?;
            }
            ValueCheck::Zero => {
                bytes.push(op::DUP);
                self.call(probe, method::IS_ZERO, pool, bytes)?;
            }
            ValueCheck::NegativeLength => {
                let dimensions = match insn {
                    Insn::NewMultiArray(_, dimensions) => usize::from(*dimensions),
                    _ => 1,
                };
                let spilled = self.spill(&vec![SlotKind::Int; dimensions], locals, bytes)?;
                for (kind, length) in &spilled.0 {
                    local(op::ILOAD + kind.opcode_offset(), *length, bytes)?;
                    self.call(probe, method::IS_NEGATIVE, pool, bytes)?;
                }
                spilled.reload(bytes)?;
            }
            ValueCheck::ClassCast => {
                let Insn::CheckCast(class) = insn else { return None };
                let [high, low] = class.to_be_bytes();
                // Like `checkcast`, `instanceof` resolves the class only if the reference is not null.
                bytes.extend([op::DUP, op::DUP, op::INSTANCEOF, high, low]);
                self.call(probe, method::IS_CLASS_CAST_ERROR, pool, bytes)?;
            }
            ValueCheck::Label => {
                bytes.push(op::DUP);
                self.call(probe, method::IS_TRUE, pool, bytes)?;
            }
        }
        Some(())
    }

    /// Returns the kinds of the operands above the object that an instruction dereferences.
    fn operands_above_object(&self, insn: &Insn) -> Option<Vec<SlotKind>> {
        Some(match insn {
            Insn::PutField(field) => vec![Desc::parse(&self.class.pool.field(*field).ok()?.desc)?.kind()],
            Insn::ArrayLoad(_) => vec![SlotKind::Int],
            Insn::ArrayStore(array) => vec![SlotKind::Int, element_kind(*array)],
            Insn::GetField(_) | Insn::ArrayLength | Insn::Throw | Insn::MonitorEnter => Vec::new(),
            _ => CallTarget::of(self.class, insn)?.desc.params.iter().map(Desc::kind).collect(),
        })
    }

    /// Moves operands from the top of the stack to locals.
    fn spill(&self, operands: &[SlotKind], locals: &mut u16, bytes: &mut Vec<u8>) -> Option<Spilled> {
        let mut spilled = Vec::new();
        let mut next = 0;
        for kind in operands {
            spilled.push((*kind, self.first_local + usize::from(next)));
            next += kind.words();
        }
        *locals = (*locals).max(next);
        for (kind, index) in spilled.iter().rev() {
            local(op::ISTORE + kind.opcode_offset(), *index, bytes)?;
        }
        Some(Spilled(spilled))
    }
}

/// Operands in locals: their kinds and the locals.
#[derive(Default)]
struct Spilled(Vec<(SlotKind, usize)>);

impl Spilled {
    /// Pushes the operands again.
    fn reload(&self, bytes: &mut Vec<u8>) -> Option<()> {
        self.0.iter().try_for_each(|(kind, index)| local(op::ILOAD + kind.opcode_offset(), *index, bytes))
    }
}
