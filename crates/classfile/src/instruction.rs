//! Instructions: all opcodes, with `wide` and both switches, as data.

use super::cursor::{Cursor, Malformed};
use super::operations::{Arith, Cond, Convert, Kind};

/// What an array holds, as the instructions that access it tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Array {
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

/// An instruction; targets are positions in the code, indices are those of the constant pool or of locals.
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
    /// A constant of the pool, of any width.
    Constant(u16),
    Load(Kind, u16),
    Store(Kind, u16),
    ArrayLoad(Array),
    ArrayStore(Array),
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
    Arith(Arith, Kind),
    Neg(Kind),
    Increment(u16, i16),
    Convert(Convert),
    /// `lcmp`, and float comparisons with what a NaN gives.
    Compare(Kind, i8),
    /// Against zero.
    If(Cond, usize),
    /// Two `int`s.
    IfInts(Cond, usize),
    /// Two references: equal or not.
    IfRefs(Cond, usize),
    /// Null or not.
    IfNull(Cond, usize),
    Goto(usize),
    Jsr(usize),
    Ret(u16),
    /// Default, and targets of values.
    Switch(usize, Vec<(i32, usize)>),
    Return(Option<Kind>),
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
    /// Of a primitive type: the descriptor's letter.
    NewArray(char),
    /// Of references.
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
    /// Where control may go on by a jump.
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

    /// Whether control never goes on behind it.
    pub fn ends(&self) -> bool {
        matches!(self, Insn::Goto(_) | Insn::Jsr(_) | Insn::Ret(_) | Insn::Switch(..) | Insn::Return(_) | Insn::Throw)
    }
}

/// An instruction with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Position in the code.
    pub at: usize,
    /// Where the next one begins.
    pub next: usize,
    /// What it does.
    pub insn: Insn,
}

/// Decodes code that begins at `offset` in its file. Jumps go to instructions, and control does not run out of the code.
///
/// # Errors
/// Where and why it is no code.
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
        0..=20 => constant(cursor, opcode)?,
        21..=25 => Insn::Load(Kind::numbered(opcode - 21), u16::from(cursor.u1()?)),
        26..=45 => Insn::Load(Kind::numbered((opcode - 26) / 4), u16::from((opcode - 26) % 4)),
        46..=53 => Insn::ArrayLoad(array(opcode - 46)),
        54..=58 => Insn::Store(Kind::numbered(opcode - 54), u16::from(cursor.u1()?)),
        59..=78 => Insn::Store(Kind::numbered((opcode - 59) / 4), u16::from((opcode - 59) % 4)),
        79..=86 => Insn::ArrayStore(array(opcode - 79)),
        87..=95 => on_stack(opcode),
        96..=131 => arithmetic(opcode),
        132 => Insn::Increment(u16::from(cursor.u1()?), i16::from(cursor.u1()? as i8)),
        133..=147 => conversion(opcode),
        148 => Insn::Compare(Kind::Long, 0),
        149 => Insn::Compare(Kind::Float, -1),
        150 => Insn::Compare(Kind::Float, 1),
        151 => Insn::Compare(Kind::Double, -1),
        152 => Insn::Compare(Kind::Double, 1),
        153..=158 => Insn::If(Cond::numbered(opcode - 153), near(cursor, at)?),
        159..=164 => Insn::IfInts(Cond::numbered(opcode - 159), near(cursor, at)?),
        165..=166 => Insn::IfRefs(Cond::numbered(opcode - 165), near(cursor, at)?),
        167 => Insn::Goto(near(cursor, at)?),
        168 => Insn::Jsr(near(cursor, at)?),
        169 => Insn::Ret(u16::from(cursor.u1()?)),
        170 => table_switch(cursor, at)?,
        171 => lookup_switch(cursor, at)?,
        172..=176 => Insn::Return(Some(Kind::numbered(opcode - 172))),
        177 => Insn::Return(None),
        178..=193 => member(cursor, opcode)?,
        194 => Insn::MonitorEnter,
        195 => Insn::MonitorExit,
        196 => wide(cursor)?,
        197 => {
            let class = cursor.u2()?;
            match cursor.u1()? {
                0 => return start.wrong("an array of no dimension"),
                dimensions => Insn::NewMultiArray(class, dimensions),
            }
        }
        198 => Insn::IfNull(Cond::Eq, near(cursor, at)?),
        199 => Insn::IfNull(Cond::Ne, near(cursor, at)?),
        200 => Insn::Goto(far(cursor, at)?),
        201 => Insn::Jsr(far(cursor, at)?),
        _ => return start.wrong(format!("the unknown opcode {opcode}")),
    })
}

fn constant(cursor: &mut Cursor<'_>, opcode: u8) -> Result<Insn, Malformed> {
    Ok(match opcode {
        0 => Insn::Nop,
        1 => Insn::Null,
        2..=8 => Insn::PushInt(i32::from(opcode) - 3),
        9..=10 => Insn::PushLong(i64::from(opcode) - 9),
        11..=13 => Insn::PushFloat(f32::from(opcode - 11).to_bits()),
        14..=15 => Insn::PushDouble(f64::from(opcode - 14).to_bits()),
        16 => Insn::PushInt(i32::from(cursor.u1()? as i8)),
        17 => Insn::PushInt(i32::from(cursor.u2()? as i16)),
        18 => Insn::Constant(u16::from(cursor.u1()?)),
        _ => Insn::Constant(cursor.u2()?),
    })
}

fn array(number: u8) -> Array {
    [Array::Int, Array::Long, Array::Float, Array::Double, Array::Ref, Array::Byte, Array::Char, Array::Short]
        [usize::from(number.min(7))]
}

fn on_stack(opcode: u8) -> Insn {
    match opcode {
        87 => Insn::Pop,
        88 => Insn::Pop2,
        89 => Insn::Dup,
        90 => Insn::DupX1,
        91 => Insn::DupX2,
        92 => Insn::Dup2,
        93 => Insn::Dup2X1,
        94 => Insn::Dup2X2,
        _ => Insn::Swap,
    }
}

fn arithmetic(opcode: u8) -> Insn {
    let of_four = Kind::numbered((opcode - 96) % 4);
    let of_two = Kind::numbered(opcode % 2);
    match opcode {
        96..=99 => Insn::Arith(Arith::Add, of_four),
        100..=103 => Insn::Arith(Arith::Sub, of_four),
        104..=107 => Insn::Arith(Arith::Mul, of_four),
        108..=111 => Insn::Arith(Arith::Div, of_four),
        112..=115 => Insn::Arith(Arith::Rem, of_four),
        116..=119 => Insn::Neg(of_four),
        120..=121 => Insn::Arith(Arith::Shl, of_two),
        122..=123 => Insn::Arith(Arith::Shr, of_two),
        124..=125 => Insn::Arith(Arith::Ushr, of_two),
        126..=127 => Insn::Arith(Arith::And, of_two),
        128..=129 => Insn::Arith(Arith::Or, of_two),
        _ => Insn::Arith(Arith::Xor, of_two),
    }
}

fn conversion(opcode: u8) -> Insn {
    use Kind::{Double, Float, Int, Long};
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
        145 => Convert::Byte,
        146 => Convert::Char,
        147 => Convert::Short,
        _ => {
            let (from, to) = kinds[usize::from(opcode.saturating_sub(133)).min(11)];
            Convert::Kinds(from, to)
        }
    })
}

fn member(cursor: &mut Cursor<'_>, opcode: u8) -> Result<Insn, Malformed> {
    let start = cursor.clone();
    if matches!(opcode, 190 | 191) {
        return Ok(if opcode == 190 { Insn::ArrayLength } else { Insn::Throw });
    }
    if opcode == 188 {
        let letter = match cursor.u1()? {
            kind @ 4..=11 => b"ZCFDBSIJ"[usize::from(kind - 4)],
            kind => return start.wrong(format!("an array of the unknown kind {kind}")),
        };
        return Ok(Insn::NewArray(char::from(letter)));
    }
    let index = cursor.u2()?;
    Ok(match opcode {
        178 => Insn::GetStatic(index),
        179 => Insn::PutStatic(index),
        180 => Insn::GetField(index),
        181 => Insn::PutField(index),
        182 => Insn::InvokeVirtual(index),
        183 => Insn::InvokeSpecial(index),
        184 => Insn::InvokeStatic(index),
        185 => {
            cursor.u2()?;
            Insn::InvokeInterface(index)
        }
        186 => {
            cursor.u2()?;
            Insn::InvokeDynamic(index)
        }
        187 => Insn::New(index),
        189 => Insn::NewRefArray(index),
        192 => Insn::CheckCast(index),
        _ => Insn::InstanceOf(index),
    })
}

fn wide(cursor: &mut Cursor<'_>) -> Result<Insn, Malformed> {
    let start = cursor.clone();
    let (opcode, index) = (cursor.u1()?, cursor.u2()?);
    Ok(match opcode {
        21..=25 => Insn::Load(Kind::numbered(opcode - 21), index),
        54..=58 => Insn::Store(Kind::numbered(opcode - 54), index),
        132 => Insn::Increment(index, cursor.u2()? as i16),
        169 => Insn::Ret(index),
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
