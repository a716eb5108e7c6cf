//! Encodings of single instructions.

use touchstone_classfile::opcode as op;

/// The number of probes that one hit array can have: `sipush` pushes the largest probe number.
pub(crate) const MAX_PROBES: u32 = 32_767;

/// The static method that hits a probe: the index of its constant, and the number of the class's first probe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HitCall {
    pub method: u16,
    pub first: u32,
}

/// Returns the shortest instruction that pushes a number, or `None` if it needs a constant.
pub(crate) fn push(number: u32) -> Option<Vec<u8>> {
    Some(match number {
        0..=5 => vec![op::ICONST_0 + number as u8],
        6..=127 => vec![op::BIPUSH, number as u8],
        _ => {
            let number = i16::try_from(number).ok()?.to_be_bytes();
            vec![op::SIPUSH, number[0], number[1]]
        }
    })
}

/// Appends an instruction with the index of a local variable; `None` if the index exceeds 16 bits.
pub(crate) fn local(opcode: u8, index: usize, bytes: &mut Vec<u8>) -> Option<()> {
    match u8::try_from(index) {
        Ok(index) => bytes.extend([opcode, index]),
        Err(_) => {
            bytes.extend([op::WIDE, opcode]);
            bytes.extend(u16::try_from(index).ok()?.to_be_bytes());
        }
    }
    Some(())
}
