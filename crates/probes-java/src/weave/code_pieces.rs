//! Code as a list of pieces with symbolic jump targets, and its assembly into bytes.

use touchstone_classfile::opcode as op;

/// The target of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Label {
    /// An instruction, with the probes before it.
    Insn(usize),
    /// An out-of-line probe, by its number.
    OutOfLine(usize),
}

/// A piece of code.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// The target of jumps to an instruction.
    Start(usize),
    /// The beginning of the instruction itself.
    Own(usize),
    /// The beginning of an out-of-line probe, and the instruction at which execution continues after it.
    OutOfLine(usize),
    /// Encoded instructions.
    Bytes(Vec<u8>),
    /// A conditional jump; its opcode.
    Branch(u8, Label),
    /// An unconditional jump.
    Goto(Label),
    /// A switch: the default target, and the targets of values.
    Switch(Label, Vec<(i32, Label)>, SwitchForm),
}

/// The two instructions for switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SwitchForm {
    /// `tableswitch`.
    Table,
    /// `lookupswitch`.
    Lookup,
}

/// Assembled code.
#[derive(Debug)]
pub(crate) struct AssembledCode {
    pub bytes: Vec<u8>,
    /// Maps each instruction, and the end of the method's own code, to the target of jumps to it.
    pub start: Vec<usize>,
    /// Maps each instruction to its own offset.
    pub own: Vec<usize>,
    /// The offsets of the out-of-line probes, each with the instruction at which execution continues.
    pub out_of_line: Vec<(usize, usize)>,
}

/// Assembles pieces, or returns `None` if the code or a conditional jump is too long.
///
/// A `goto` is widened to `goto_w` where its distance requires it, and never narrowed again, so the iteration terminates.
pub(crate) fn assemble(pieces: &[Piece], insns: usize) -> Option<AssembledCode> {
    let mut wide = vec![false; pieces.len()];
    loop {
        let offsets = Offsets::new(pieces, insns, &wide);
        if offsets.end > usize::from(u16::MAX) {
            return None;
        }
        if !offsets.widen_gotos(pieces, &mut wide)? {
            let bytes = offsets.encode(pieces, &wide)?;
            let Offsets { start, own, out_of_line, end, .. } = offsets;
            return (bytes.len() == end).then_some(AssembledCode { bytes, start, own, out_of_line });
        }
    }
}

/// The offsets of pieces, for a choice of wide jumps.
struct Offsets {
    pieces: Vec<usize>,
    start: Vec<usize>,
    own: Vec<usize>,
    out_of_line: Vec<(usize, usize)>,
    end: usize,
}

impl Offsets {
    fn new(pieces: &[Piece], insns: usize, wide: &[bool]) -> Offsets {
        let mut offsets = Offsets {
            pieces: Vec::with_capacity(pieces.len()),
            start: vec![0; insns + 1],
            own: vec![0; insns],
            out_of_line: Vec::new(),
            end: 0,
        };
        let mut main_end = None;
        for (piece, is_wide) in pieces.iter().zip(wide) {
            let at = offsets.end;
            offsets.pieces.push(at);
            match piece {
                Piece::Start(insn) => offsets.start[*insn] = at,
                Piece::Own(insn) => offsets.own[*insn] = at,
                Piece::OutOfLine(continues_at) => {
                    main_end.get_or_insert(at);
                    offsets.out_of_line.push((at, *continues_at));
                }
                _ => {}
            }
            offsets.end += length(piece, at, *is_wide);
        }
        offsets.start[insns] = main_end.unwrap_or(offsets.end);
        offsets
    }

    /// Returns the distance of a label from a piece.
    fn distance(&self, piece: usize, label: Label) -> i32 {
        let target = match label {
            Label::Insn(insn) => self.start[insn],
            Label::OutOfLine(number) => self.out_of_line[number].0,
        };
        // Both are at most the length of the code, which 16 bits can hold.
        target as i32 - self.pieces[piece] as i32
    }

    /// Marks the `goto` pieces that must be wide. Returns true if one was narrow, or `None` if a conditional jump would have to be wide.
    fn widen_gotos(&self, pieces: &[Piece], wide: &mut [bool]) -> Option<bool> {
        let mut changed = false;
        for (index, piece) in pieces.iter().enumerate() {
            let is_far = |label: Label| i16::try_from(self.distance(index, label)).is_err();
            match piece {
                Piece::Goto(label) if !wide[index] && is_far(*label) => (wide[index], changed) = (true, true),
                Piece::Branch(_, label) if is_far(*label) => return None,
                _ => {}
            }
        }
        Some(changed)
    }

    fn encode(&self, pieces: &[Piece], wide: &[bool]) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.end);
        for (index, piece) in pieces.iter().enumerate() {
            let near = |label: Label| i16::try_from(self.distance(index, label)).ok();
            match piece {
                Piece::Start(_) | Piece::Own(_) | Piece::OutOfLine(_) => {}
                Piece::Bytes(own) => bytes.extend(own),
                Piece::Branch(opcode, label) => {
                    bytes.push(*opcode);
                    bytes.extend(near(*label)?.to_be_bytes());
                }
                Piece::Goto(label) if wide[index] => {
                    bytes.push(op::GOTO_W);
                    bytes.extend(self.distance(index, *label).to_be_bytes());
                }
                Piece::Goto(label) => {
                    bytes.push(op::GOTO);
                    bytes.extend(near(*label)?.to_be_bytes());
                }
                Piece::Switch(default, cases, form) => {
                    let distance = |label: Label| self.distance(index, label);
                    encode_switch(distance(*default), cases, *form, distance, &mut bytes)?;
                }
            }
        }
        Some(bytes)
    }
}

/// Returns the length of a piece at an offset in bytes.
fn length(piece: &Piece, at: usize, is_wide: bool) -> usize {
    match piece {
        Piece::Start(_) | Piece::Own(_) | Piece::OutOfLine(_) => 0,
        Piece::Bytes(bytes) => bytes.len(),
        Piece::Branch(..) => 3,
        Piece::Goto(_) if is_wide => 5,
        Piece::Goto(_) => 3,
        Piece::Switch(_, cases, form) => {
            let padding = 3 - at % 4;
            let table = match form {
                SwitchForm::Table => 4 + 4 * cases.len(),
                SwitchForm::Lookup => 8 * cases.len(),
            };
            1 + padding + 8 + table
        }
    }
}

fn encode_switch(
    default: i32,
    cases: &[(i32, Label)],
    form: SwitchForm,
    distance: impl Fn(Label) -> i32,
    bytes: &mut Vec<u8>,
) -> Option<()> {
    bytes.push(if form == SwitchForm::Table { op::TABLESWITCH } else { op::LOOKUPSWITCH });
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(default.to_be_bytes());
    match (form, cases.first(), cases.last()) {
        (SwitchForm::Table, Some((low, _)), Some((high, _))) => {
            bytes.extend(low.to_be_bytes());
            bytes.extend(high.to_be_bytes());
        }
        // An empty table has the bounds 0 and -1.
        (SwitchForm::Table, ..) => {
            bytes.extend(0i32.to_be_bytes());
            bytes.extend((-1i32).to_be_bytes());
        }
        (SwitchForm::Lookup, ..) => bytes.extend(u32::try_from(cases.len()).ok()?.to_be_bytes()),
    }
    for (value, label) in cases {
        if form == SwitchForm::Lookup {
            bytes.extend(value.to_be_bytes());
        }
        bytes.extend(distance(*label).to_be_bytes());
    }
    Some(())
}
