//! The code of a method, laid out again with its probes.
//!
//! What belongs to an instruction stands before it, where jumps to it arrive. What belongs to a jump that is not taken stands
//! behind it; what belongs to one that is taken stands behind the method's code, and goes on from there. The stack map
//! there is that of where it goes on.

use crate::cfg::blocks::is_conditional;
use crate::cfg::jump_groups::Way;
use crate::layout::probe_layout::MethodProbes;
use crate::predicates::emit_checks::Questions;
use crate::trace::emit_events::{self, Inserted};
use touchstone_classfile::opcode as op;
use touchstone_classfile::{Code, Decoded, Insn};

/// Where something goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    /// At an instruction, with the probes before it.
    Insn(usize),
    /// At a probe behind the code.
    Beside(usize),
}

/// A piece of code.
#[derive(Clone, Debug)]
enum Piece {
    /// Here jumps to an instruction arrive.
    Start(usize),
    /// Here the instruction itself begins.
    Own(usize),
    /// Here a probe behind the code begins.
    Beside,
    Bytes(Vec<u8>),
    /// A conditional jump.
    Branch(u8, Label),
    Goto(Label),
    /// The default, the values, and where they lead.
    Switch(Label, Vec<(i32, Label)>, Table),
}

/// The two forms of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Table {
    Dense,
    Sparse,
}

/// How a probe is hit: a static method that takes a number, as a constant of the class, and the number of the first probe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hitting {
    pub method: u16,
    pub first: u32,
}

/// Code with probes.
#[derive(Debug)]
pub(crate) struct Laid {
    pub bytes: Vec<u8>,
    /// Locals behind those that the method had: numbers, which stay,
    pub numbers: usize,
    /// and those that are used between two instructions only.
    pub spilled: u16,
    /// What it needs of the stack beyond what the method needed.
    pub stack: u16,
    /// By instruction, and of the end of the code: where jumps to it arrive.
    pub start: Vec<usize>,
    /// By instruction: where it is itself.
    pub own: Vec<usize>,
    /// Probes behind the code: where they are, and the instruction that they go on at.
    pub beside: Vec<(usize, usize)>,
}

/// What our code needs of the stack.
pub(crate) const STACK: u16 = 2;

/// The largest number that a probe may have: it is pushed as one constant.
pub(crate) const MOST_PROBES: u32 = 32_767;

struct Laying<'m> {
    probes: &'m MethodProbes,
    code: &'m Code,
    hitting: Hitting,
    inserted: Inserted,
    questions: Questions,
    pieces: Vec<Piece>,
    /// Probes behind the code: what is there, and the instruction that they go on at.
    beside: Vec<(Vec<u8>, usize)>,
    /// By instruction of a jump: what is there if it is not taken, and if it is.
    on_ways: std::collections::BTreeMap<usize, [Vec<u8>; 2]>,
    numbers: usize,
}

/// Lays code out again; `None` if it gets too long.
pub(crate) fn lay(
    probes: &MethodProbes,
    code: &Code,
    hitting: Hitting,
    mut inserted: Inserted,
    mut questions: Questions,
) -> Option<Laid> {
    let spilled = inserted.locals.max(questions.locals);
    let asks = !(questions.enter.is_empty() && questions.before.is_empty() && questions.after.is_empty());
    let asking = if asks { questions.stack } else { STACK };
    let stack = if inserted.enter.is_empty() { asking } else { asking.max(emit_events::STACK) };
    let enter = [std::mem::take(&mut inserted.enter), std::mem::take(&mut questions.enter)].concat();
    let mut laying = Laying {
        probes,
        code,
        hitting,
        inserted,
        questions,
        pieces: vec![Piece::Bytes(enter)],
        beside: Vec::new(),
        on_ways: Default::default(),
        numbers: 0,
    };
    laying.groups()?;
    for number in 0..laying.numbers {
        let mut bytes = vec![op::ICONST_0];
        laying.local(op::ISTORE, number, &mut bytes)?;
        laying.pieces.push(Piece::Bytes(bytes));
    }
    for index in 0..probes.flow.insns.len() {
        laying.insn(index)?;
    }
    for (bytes, goes_on) in std::mem::take(&mut laying.beside) {
        laying.pieces.extend([Piece::Beside, Piece::Bytes(bytes), Piece::Goto(Label::Insn(goes_on))]);
    }
    debug_assert_eq!(laying.numbers, probes.numbers());
    place(&laying.pieces, probes.flow.insns.len(), laying.numbers).map(|laid| Laid { spilled, stack, ..laid })
}

/// Instructions that push a small number.
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

impl Laying<'_> {
    fn hit(&self) -> Vec<u8> {
        let method = self.hitting.method.to_be_bytes();
        vec![op::INVOKESTATIC, method[0], method[1]]
    }

    fn hit_probe(&self, probe: u32) -> Option<Vec<u8>> {
        let mut bytes = push(self.hitting.first + probe)?;
        bytes.extend(self.hit());
        Some(bytes)
    }

    /// An instruction with one of our locals.
    fn local(&self, opcode: u8, number: usize, bytes: &mut Vec<u8>) -> Option<()> {
        let local = u16::try_from(usize::from(self.code.max_locals) + number).ok()?;
        match u8::try_from(local) {
            Ok(local) => bytes.extend([opcode, local]),
            Err(_) => {
                bytes.extend([op::WIDE, opcode]);
                bytes.extend(local.to_be_bytes());
            }
        }
        Some(())
    }

    /// Adds to one of our locals.
    fn add(&self, number: usize, by: u32) -> Option<Vec<u8>> {
        let local = usize::from(self.code.max_locals) + number;
        Some(match (u8::try_from(local), i8::try_from(by)) {
            (Ok(local), Ok(by)) => vec![op::IINC, local, by as u8],
            _ => {
                let (local, by) = (u16::try_from(local).ok()?.to_be_bytes(), i16::try_from(by).ok()?.to_be_bytes());
                vec![op::WIDE, op::IINC, local[0], local[1], by[0], by[1]]
            }
        })
    }

    /// What is to be done on the ways out of jumps.
    fn groups(&mut self) -> Option<()> {
        for ((group, first), parts) in self.probes.groups().zip(self.probes.parts()) {
            let adds = group.adds();
            let own = self.numbers;
            self.numbers += usize::from(group.nodes.len() > 1);
            for (position, node) in group.nodes.iter().enumerate() {
                let mut on_ways = [Vec::new(), Vec::new()];
                for (way, bytes) in on_ways.iter_mut().enumerate() {
                    let by = if way == 1 { adds[position] } else { 0 };
                    match (position, node.ways[way]) {
                        (0, Way::Out) => *bytes = self.hit_probe(first + by)?,
                        (0, Way::To(_)) => {
                            *bytes = push(by)?;
                            self.local(op::ISTORE, own, bytes)?;
                        }
                        (_, Way::Out) => {
                            self.local(op::ILOAD, own, bytes)?;
                            bytes.extend(push(self.hitting.first + first + by)?);
                            bytes.push(op::IADD);
                            bytes.extend(self.hit());
                        }
                        (_, Way::To(_)) if by > 0 => *bytes = self.add(own, by)?,
                        (_, Way::To(_)) => {}
                    }
                    let part = parts.iter().find(|(part, _)| part.node == position && part.taken == (way == 1));
                    if let Some((part, probe)) = part {
                        // Behind the probes of all ways, of which there are more than the least number is.
                        let from = (self.hitting.first + probe).checked_sub(part.least)?;
                        self.local(op::ILOAD, own, bytes)?;
                        bytes.extend(push(from)?);
                        bytes.push(op::IADD);
                        bytes.extend(self.hit());
                    }
                }
                self.on_ways.insert(node.insn, on_ways);
            }
        }
        Some(())
    }

    /// Where something goes on that has to be done on the way there.
    fn by_way_of(&mut self, bytes: Vec<u8>, to: usize) -> Label {
        if bytes.is_empty() {
            return Label::Insn(to);
        }
        self.beside.push((bytes, to));
        Label::Beside(self.beside.len() - 1)
    }

    fn insn(&mut self, index: usize) -> Option<()> {
        let Decoded { at, next, insn } = self.probes.flow.insns[index].clone();
        let around = self.inserted.around.remove(&index).unwrap_or_default();
        self.pieces.extend([Piece::Start(index), Piece::Bytes(around.start)]);
        if let Some(probe) = self.probes.places.get(&index) {
            let bytes = self.hit_probe(*probe)?;
            self.pieces.push(Piece::Bytes(bytes));
        }
        let questions = self.questions.before.remove(&index).unwrap_or_default();
        self.pieces.extend([Piece::Bytes(questions), Piece::Bytes(around.before), Piece::Own(index)]);
        match &insn {
            Insn::Goto(target) => {
                let target = self.probes.flow.index(*target)?;
                self.pieces.push(Piece::Goto(Label::Insn(target)));
            }
            Insn::Switch(default, cases) => {
                let mut labels: std::collections::BTreeMap<usize, Label> = Default::default();
                for side in self.probes.switches.get(&index).cloned().unwrap_or_default() {
                    let bytes = self.hit_probe(side.probe)?;
                    let to = self.probes.flow.index(side.target)?;
                    labels.insert(side.target, self.by_way_of(bytes, to));
                }
                for target in insn.targets() {
                    let to = self.probes.flow.index(target)?;
                    labels.entry(target).or_insert(Label::Insn(to));
                }
                let table = match self.code.bytes.get(at) {
                    Some(&op::TABLESWITCH) => Table::Dense,
                    _ => Table::Sparse,
                };
                let cases = cases.iter().map(|(value, target)| Some((*value, *labels.get(target)?)));
                let cases = cases.collect::<Option<Vec<_>>>()?;
                self.pieces.push(Piece::Switch(*labels.get(default)?, cases, table));
            }
            jump if is_conditional(jump) => {
                let target = self.probes.flow.index(*jump.targets().first()?)?;
                let [not_taken, taken] = self.on_ways.remove(&index).unwrap_or_default();
                let label = self.by_way_of(taken, target);
                self.pieces.push(Piece::Branch(*self.code.bytes.get(at)?, label));
                self.pieces.push(Piece::Bytes(not_taken));
            }
            _ => self.pieces.push(Piece::Bytes(self.code.bytes.get(at..next)?.to_vec())),
        }
        let questions = self.questions.after.remove(&index).unwrap_or_default();
        self.pieces.extend([Piece::Bytes(questions), Piece::Bytes(around.after)]);
        Some(())
    }
}

/// Gives pieces their places. Jumps get longer where they must, and never shorter, so that this ends.
fn place(pieces: &[Piece], insns: usize, numbers: usize) -> Option<Laid> {
    let mut far = vec![false; pieces.len()];
    loop {
        let mut start = vec![0; insns + 1];
        let mut own = vec![0; insns];
        let mut beside: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        let mut places = Vec::with_capacity(pieces.len());
        let mut main_end = None;
        for (index, piece) in pieces.iter().enumerate() {
            places.push(at);
            at += match piece {
                Piece::Start(insn) => {
                    start[*insn] = at;
                    0
                }
                Piece::Own(insn) => {
                    own[*insn] = at;
                    0
                }
                Piece::Beside => {
                    main_end.get_or_insert(at);
                    let Some(Piece::Goto(Label::Insn(goes_on))) = pieces.get(index + 2) else { return None };
                    beside.push((at, *goes_on));
                    0
                }
                Piece::Bytes(bytes) => bytes.len(),
                Piece::Branch(..) => 3,
                Piece::Goto(_) => {
                    if far[index] {
                        5
                    } else {
                        3
                    }
                }
                Piece::Switch(_, cases, table) => {
                    let padding = 3 - at % 4;
                    1 + padding + 8 + if *table == Table::Dense { 4 + 4 * cases.len() } else { 8 * cases.len() }
                }
            };
        }
        start[insns] = main_end.unwrap_or(at);
        if at > usize::from(u16::MAX) {
            return None;
        }
        let target = |label: Label| match label {
            Label::Insn(insn) => start[insn],
            Label::Beside(number) => beside[number].0,
        };
        let distance = |from: usize, label: Label| target(label) as i64 - from as i64;
        let mut grown = false;
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Goto(label) if !far[index] && i16::try_from(distance(places[index], *label)).is_err() => {
                    far[index] = true;
                    grown = true;
                }
                Piece::Branch(_, label) if i16::try_from(distance(places[index], *label)).is_err() => return None,
                _ => {}
            }
        }
        if grown {
            continue;
        }
        let mut bytes = Vec::with_capacity(at);
        for (index, piece) in pieces.iter().enumerate() {
            let near = |label: Label| i16::try_from(distance(places[index], label)).ok();
            let wide = |label: Label| i32::try_from(distance(places[index], label)).ok();
            match piece {
                Piece::Start(_) | Piece::Own(_) | Piece::Beside => {}
                Piece::Bytes(own) => bytes.extend(own),
                Piece::Branch(opcode, label) => {
                    bytes.push(*opcode);
                    bytes.extend(near(*label)?.to_be_bytes());
                }
                Piece::Goto(label) if far[index] => {
                    bytes.push(op::GOTO_W);
                    bytes.extend(wide(*label)?.to_be_bytes());
                }
                Piece::Goto(label) => {
                    bytes.push(op::GOTO);
                    bytes.extend(near(*label)?.to_be_bytes());
                }
                Piece::Switch(default, cases, table) => {
                    bytes.push(if *table == Table::Dense { op::TABLESWITCH } else { op::LOOKUPSWITCH });
                    bytes.resize(bytes.len().next_multiple_of(4), 0);
                    bytes.extend(wide(*default)?.to_be_bytes());
                    match (table, cases.first(), cases.last()) {
                        (Table::Dense, Some((low, _)), Some((high, _))) => {
                            bytes.extend(low.to_be_bytes());
                            bytes.extend(high.to_be_bytes());
                        }
                        // A table of nothing from 0 to -1.
                        (Table::Dense, ..) => {
                            bytes.extend(0i32.to_be_bytes());
                            bytes.extend((-1i32).to_be_bytes());
                        }
                        (Table::Sparse, ..) => bytes.extend(u32::try_from(cases.len()).ok()?.to_be_bytes()),
                    }
                    for (value, label) in cases {
                        if *table == Table::Sparse {
                            bytes.extend(value.to_be_bytes());
                        }
                        bytes.extend(wide(*label)?.to_be_bytes());
                    }
                }
            }
        }
        return (bytes.len() == at).then_some(Laid { bytes, numbers, spilled: 0, stack: STACK, start, own, beside });
    }
}
