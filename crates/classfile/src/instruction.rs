//! Instructions as data, and their decoder.

use super::cursor::{Cursor, Malformed};
use super::opcode as op;
use super::operations::{Arith, Cond, Convert, SlotKind};

/// The component type of an array, as far as the instructions that access it distinguish types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ArrayKind {
    Int,
    Long,
    Float,
    Double,
    Ref,
    /// `byte` or `boolean`.
    Byte,
    Char,
    Short,
}

/// An instruction. Jump targets are bytecode offsets; other indices are those of constants or locals.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Insn {
    Nop,
    Null,
    /// An `int`.
    PushInt(i32),
    /// A `long`.
    PushLong(i64),
    /// The bits of a `float`.
    PushFloat(u32),
    /// The bits of a `double`.
    PushDouble(u64),
    /// `ldc`, `ldc_w` or `ldc2_w`.
    Constant(u16),
    Load(SlotKind, u16),
    Store(SlotKind, u16),
    ArrayLoad(ArrayKind),
    ArrayStore(ArrayKind),
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
    Arith(Arith, SlotKind),
    Neg(SlotKind),
    Increment(u16, i16),
    Convert(Convert),
    /// A three-way comparison, and its result for NaN.
    Compare(SlotKind, i8),
    /// Compares with zero.
    If(Cond, usize),
    /// Compares two `int`s.
    IfInts(Cond, usize),
    /// Compares two references: equal or not.
    IfRefs(Cond, usize),
    /// Compares with null: equal or not.
    IfNull(Cond, usize),
    Goto(usize),
    Jsr(usize),
    Ret(u16),
    /// The default target, and the targets of values in ascending order.
    Switch(usize, Vec<(i32, usize)>),
    Return(Option<SlotKind>),
    GetStatic(u16),
    PutStatic(u16),
    GetField(u16),
    PutField(u16),
    InvokeVirtual(u16),
    InvokeSpecial(u16),
    InvokeStatic(u16),
    InvokeInterface(u16),
    InvokeDynamic(u16),
    New(u16),
    /// An array of a primitive type; its letter in descriptors.
    NewArray(char),
    /// An array of references.
    NewRefArray(u16),
    NewMultiArray(u16, u8),
    ArrayLength,
    Throw,
    CheckCast(u16),
    InstanceOf(u16),
    MonitorEnter,
    MonitorExit,
}

impl Insn {
    /// Returns the targets of jumps, without the next instruction.
    pub fn targets(&self) -> Vec<usize> {
        match self {
            Insn::If(_, target)
            | Insn::IfInts(_, target)
            | Insn::IfRefs(_, target)
            | Insn::IfNull(_, target)
            | Insn::Goto(target)
            | Insn::Jsr(target) => vec![*target],
            Insn::Switch(default, cases) => {
                std::iter::once(*default).chain(cases.iter().map(|(_, target)| *target)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns true if control never falls through to the next instruction.
    pub fn ends(&self) -> bool {
        matches!(self, Insn::Goto(_) | Insn::Jsr(_) | Insn::Ret(_) | Insn::Switch(..) | Insn::Return(_) | Insn::Throw)
    }
}

/// An instruction with its bytecode offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Its offset.
    pub at: usize,
    /// The offset of the next instruction.
    pub next: usize,
    /// The instruction.
    pub insn: Insn,
}

/// Decodes code that begins at `offset` in its class file. Checks that jumps target instructions and that control can't
/// run off the end.
///
/// # Errors
/// If the code is malformed.
pub fn decode(code: &[u8], offset: usize) -> Result<Vec<Decoded>, Malformed> {
    let mut cursor = Cursor::new(code, offset);
    let mut insns: Vec<Decoded> = Vec::with_capacity(code.len() / 2);
    while cursor.left() > 0 {
        let at = cursor.position();
        let insn = decode_one(&mut cursor, at)?;
        insns.push(Decoded { at, next: cursor.position(), insn });
    }
    let wrong = |at: usize, reason: String| Err(Malformed { offset: offset + at, reason });
    for Decoded { at, insn, .. } in &insns {
        for target in insn.targets() {
            if insns.binary_search_by_key(&target, |insn| insn.at).is_err() {
                return wrong(*at, format!("a jump to {target}, where no instruction begins"));
            }
        }
    }
    match insns.last() {
        Some(last) if last.insn.ends() => Ok(insns),
        _ => wrong(code.len(), "control runs out of the code".to_string()),
    }
}

fn jump(cursor: &Cursor<'_>, at: usize, distance: i32) -> Result<usize, Malformed> {
    let target = at as i64 + i64::from(distance);
    match usize::try_from(target) {
        Ok(target) if target <= 65535 => Ok(target),
        _ => cursor.wrong(format!("a jump to {target}")),
    }
}

fn near(cursor: &mut Cursor<'_>, at: usize) -> Result<usize, Malformed> {
    let distance = cursor.u2()? as i16;
    jump(cursor, at, i32::from(distance))
}

fn far(cursor: &mut Cursor<'_>, at: usize) -> Result<usize, Malformed> {
    let distance = cursor.i4()?;
    jump(cursor, at, distance)
}

fn decode_one(cursor: &mut Cursor<'_>, at: usize) -> Result<Insn, Malformed> {
    let start = cursor.clone();
    let opcode = cursor.u1()?;
    Ok(match opcode {
        op::NOP..=op::LDC2_W => constant(cursor, opcode)?,
        op::ILOAD..=op::ALOAD => Insn::Load(SlotKind::numbered(opcode - op::ILOAD), u16::from(cursor.u1()?)),
        op::ILOAD_0..=op::ALOAD_3 => {
            Insn::Load(SlotKind::numbered((opcode - op::ILOAD_0) / 4), u16::from((opcode - op::ILOAD_0) % 4))
        }
        op::IALOAD..=op::SALOAD => Insn::ArrayLoad(array(opcode - op::IALOAD)),
        op::ISTORE..=op::ASTORE => Insn::Store(SlotKind::numbered(opcode - op::ISTORE), u16::from(cursor.u1()?)),
        op::ISTORE_0..=op::ASTORE_3 => {
            Insn::Store(SlotKind::numbered((opcode - op::ISTORE_0) / 4), u16::from((opcode - op::ISTORE_0) % 4))
        }
        op::IASTORE..=op::SASTORE => Insn::ArrayStore(array(opcode - op::IASTORE)),
        op::POP..=op::SWAP => on_stack(opcode),
        op::IADD..=op::LXOR => arithmetic(opcode),
        op::IINC => Insn::Increment(u16::from(cursor.u1()?), i16::from(cursor.u1()? as i8)),
        op::I2L..=op::I2S => conversion(opcode),
        op::LCMP => Insn::Compare(SlotKind::Long, 0),
        op::FCMPL => Insn::Compare(SlotKind::Float, -1),
        op::FCMPG => Insn::Compare(SlotKind::Float, 1),
        op::DCMPL => Insn::Compare(SlotKind::Double, -1),
        op::DCMPG => Insn::Compare(SlotKind::Double, 1),
        op::IFEQ..=op::IFLE => Insn::If(Cond::numbered(opcode - op::IFEQ), near(cursor, at)?),
        op::IF_ICMPEQ..=op::IF_ICMPLE => Insn::IfInts(Cond::numbered(opcode - op::IF_ICMPEQ), near(cursor, at)?),
        op::IF_ACMPEQ..=op::IF_ACMPNE => Insn::IfRefs(Cond::numbered(opcode - op::IF_ACMPEQ), near(cursor, at)?),
        op::GOTO => Insn::Goto(near(cursor, at)?),
        op::JSR => Insn::Jsr(near(cursor, at)?),
        op::RET => Insn::Ret(u16::from(cursor.u1()?)),
        op::TABLESWITCH => table_switch(cursor, at)?,
        op::LOOKUPSWITCH => lookup_switch(cursor, at)?,
        op::IRETURN..=op::ARETURN => Insn::Return(Some(SlotKind::numbered(opcode - op::IRETURN))),
        op::RETURN => Insn::Return(None),
        op::GETSTATIC..=op::INSTANCEOF => member(cursor, opcode)?,
        op::MONITORENTER => Insn::MonitorEnter,
        op::MONITOREXIT => Insn::MonitorExit,
        op::WIDE => wide(cursor)?,
        op::MULTIANEWARRAY => {
            let class = cursor.u2()?;
            match cursor.u1()? {
                0 => return start.wrong("an array of no dimension"),
                dimensions => Insn::NewMultiArray(class, dimensions),
            }
        }
        op::IFNULL => Insn::IfNull(Cond::Eq, near(cursor, at)?),
        op::IFNONNULL => Insn::IfNull(Cond::Ne, near(cursor, at)?),
        op::GOTO_W => Insn::Goto(far(cursor, at)?),
        op::JSR_W => Insn::Jsr(far(cursor, at)?),
        _ => return start.wrong(format!("the unknown opcode {opcode}")),
    })
}

fn constant(cursor: &mut Cursor<'_>, opcode: u8) -> Result<Insn, Malformed> {
    Ok(match opcode {
        op::NOP => Insn::Nop,
        op::ACONST_NULL => Insn::Null,
        op::ICONST_M1..=op::ICONST_5 => Insn::PushInt(i32::from(opcode) - i32::from(op::ICONST_0)),
        op::LCONST_0..=op::LCONST_1 => Insn::PushLong(i64::from(opcode - op::LCONST_0)),
        op::FCONST_0..=op::FCONST_2 => Insn::PushFloat(f32::from(opcode - op::FCONST_0).to_bits()),
        op::DCONST_0..=op::DCONST_1 => Insn::PushDouble(f64::from(opcode - op::DCONST_0).to_bits()),
        op::BIPUSH => Insn::PushInt(i32::from(cursor.u1()? as i8)),
        op::SIPUSH => Insn::PushInt(i32::from(cursor.u2()? as i16)),
        op::LDC => Insn::Constant(u16::from(cursor.u1()?)),
        _ => Insn::Constant(cursor.u2()?),
    })
}

fn array(number: u8) -> ArrayKind {
    [
        ArrayKind::Int,
        ArrayKind::Long,
        ArrayKind::Float,
        ArrayKind::Double,
        ArrayKind::Ref,
        ArrayKind::Byte,
        ArrayKind::Char,
        ArrayKind::Short,
    ][usize::from(number.min(7))]
}

fn on_stack(opcode: u8) -> Insn {
    match opcode {
        op::POP => Insn::Pop,
        op::POP2 => Insn::Pop2,
        op::DUP => Insn::Dup,
        op::DUP_X1 => Insn::DupX1,
        op::DUP_X2 => Insn::DupX2,
        op::DUP2 => Insn::Dup2,
        op::DUP2_X1 => Insn::Dup2X1,
        op::DUP2_X2 => Insn::Dup2X2,
        _ => Insn::Swap,
    }
}

fn arithmetic(opcode: u8) -> Insn {
    let of_four = SlotKind::numbered((opcode - op::IADD) % 4);
    let of_two = SlotKind::numbered(opcode % 2);
    match opcode {
        op::IADD..=op::DADD => Insn::Arith(Arith::Add, of_four),
        op::ISUB..=op::DSUB => Insn::Arith(Arith::Sub, of_four),
        op::IMUL..=op::DMUL => Insn::Arith(Arith::Mul, of_four),
        op::IDIV..=op::DDIV => Insn::Arith(Arith::Div, of_four),
        op::IREM..=op::DREM => Insn::Arith(Arith::Rem, of_four),
        op::INEG..=op::DNEG => Insn::Neg(of_four),
        op::ISHL..=op::LSHL => Insn::Arith(Arith::Shl, of_two),
        op::ISHR..=op::LSHR => Insn::Arith(Arith::Shr, of_two),
        op::IUSHR..=op::LUSHR => Insn::Arith(Arith::Ushr, of_two),
        op::IAND..=op::LAND => Insn::Arith(Arith::And, of_two),
        op::IOR..=op::LOR => Insn::Arith(Arith::Or, of_two),
        _ => Insn::Arith(Arith::Xor, of_two),
    }
}

fn conversion(opcode: u8) -> Insn {
    use SlotKind::{Double, Float, Int, Long};
    let kinds = [
        (Int, Long),
        (Int, Float),
        (Int, Double),
        (Long, Int),
        (Long, Float),
        (Long, Double),
        (Float, Int),
        (Float, Long),
        (Float, Double),
        (Double, Int),
        (Double, Long),
        (Double, Float),
    ];
    Insn::Convert(match opcode {
        op::I2B => Convert::Byte,
        op::I2C => Convert::Char,
        op::I2S => Convert::Short,
        _ => {
            let (from, to) = kinds[usize::from(opcode.saturating_sub(op::I2L)).min(11)];
            Convert::Kinds(from, to)
        }
    })
}

fn member(cursor: &mut Cursor<'_>, opcode: u8) -> Result<Insn, Malformed> {
    let start = cursor.clone();
    if matches!(opcode, op::ARRAYLENGTH | op::ATHROW) {
        return Ok(if opcode == op::ARRAYLENGTH { Insn::ArrayLength } else { Insn::Throw });
    }
    if opcode == op::NEWARRAY {
        let letter = match cursor.u1()? {
            kind @ 4..=11 => b"ZCFDBSIJ"[usize::from(kind - 4)],
            kind => return start.wrong(format!("an array of the unknown kind {kind}")),
        };
        return Ok(Insn::NewArray(char::from(letter)));
    }
    let index = cursor.u2()?;
    Ok(match opcode {
        op::GETSTATIC => Insn::GetStatic(index),
        op::PUTSTATIC => Insn::PutStatic(index),
        op::GETFIELD => Insn::GetField(index),
        op::PUTFIELD => Insn::PutField(index),
        op::INVOKEVIRTUAL => Insn::InvokeVirtual(index),
        op::INVOKESPECIAL => Insn::InvokeSpecial(index),
        op::INVOKESTATIC => Insn::InvokeStatic(index),
        op::INVOKEINTERFACE => {
            cursor.u2()?;
            Insn::InvokeInterface(index)
        }
        op::INVOKEDYNAMIC => {
            cursor.u2()?;
            Insn::InvokeDynamic(index)
        }
        op::NEW => Insn::New(index),
        op::ANEWARRAY => Insn::NewRefArray(index),
        op::CHECKCAST => Insn::CheckCast(index),
        _ => Insn::InstanceOf(index),
    })
}

fn wide(cursor: &mut Cursor<'_>) -> Result<Insn, Malformed> {
    let start = cursor.clone();
    let (opcode, index) = (cursor.u1()?, cursor.u2()?);
    Ok(match opcode {
        op::ILOAD..=op::ALOAD => Insn::Load(SlotKind::numbered(opcode - op::ILOAD), index),
        op::ISTORE..=op::ASTORE => Insn::Store(SlotKind::numbered(opcode - op::ISTORE), index),
        op::IINC => Insn::Increment(index, cursor.u2()? as i16),
        op::RET => Insn::Ret(index),
        _ => return start.wrong(format!("`wide` before the opcode {opcode}")),
    })
}

fn padding(cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
    while !cursor.position().is_multiple_of(4) {
        cursor.u1()?;
    }
    Ok(())
}

fn table_switch(cursor: &mut Cursor<'_>, at: usize) -> Result<Insn, Malformed> {
    padding(cursor)?;
    let default = far(cursor, at)?;
    let (low, high) = (cursor.i4()?, cursor.i4()?);
    let count = i64::from(high) - i64::from(low) + 1;
    if count < 0 || count as u64 > cursor.left() as u64 / 4 {
        return cursor.wrong(format!("a switch from {low} to {high}"));
    }
    let mut cases = Vec::with_capacity(count as usize);
    for value in low..=high {
        cases.push((value, far(cursor, at)?));
    }
    Ok(Insn::Switch(default, cases))
}

fn lookup_switch(cursor: &mut Cursor<'_>, at: usize) -> Result<Insn, Malformed> {
    padding(cursor)?;
    let default = far(cursor, at)?;
    let count = cursor.i4()?;
    if count < 0 || count as usize > cursor.left() / 8 {
        return cursor.wrong(format!("a switch over {count} values"));
    }
    let mut cases: Vec<(i32, usize)> = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let value = cursor.i4()?;
        if cases.last().is_some_and(|(last, _)| *last >= value) {
            return cursor.wrong("a switch whose values are not in order");
        }
        cases.push((value, far(cursor, at)?));
    }
    Ok(Insn::Switch(default, cases))
}
