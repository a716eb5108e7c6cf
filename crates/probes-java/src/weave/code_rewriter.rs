//! The code of a method with its probes.
//!
//! Probes of an instruction are inserted before it, so that jumps to the instruction execute them. Probes of a jump that is not taken follow the
//! jump. Probes of a taken jump or of a switch target are out of line: they are appended to the method's code and continue at the target, with
//! the stack map of the target.

use crate::cfg::blocks::is_conditional;
use crate::cfg::jump_groups::{GroupSuccessor, JumpGroup, PathPrefixes};
use crate::encode::instructions::{HitCall, local, push};
use crate::layout::probe_layout::MethodProbes;
use crate::predicates::emit_checks::CheckCode;
use crate::trace::emit_events::{self, InsertedCode};
use crate::weave::code_pieces::{AssembledCode, Label, Piece, SwitchForm, assemble};
use std::collections::BTreeMap;
use touchstone_classfile::opcode as op;
use touchstone_classfile::{Code, Decoded, Insn};

/// Code with probes.
#[derive(Debug)]
pub(crate) struct RewrittenCode {
    pub bytes: Vec<u8>,
    /// The number of additional locals that hold numbers of paths. They follow the locals of the method and are alive everywhere.
    pub path_locals: usize,
    /// The number of further locals, which are used only between two instructions or within a block.
    pub spill_locals: u16,
    /// The operand stack that it needs beyond the method's own.
    pub stack: u16,
    /// Maps each instruction, and the end of the method's own code, to the target of jumps to it.
    pub start: Vec<usize>,
    /// Maps each instruction to its own offset.
    pub own: Vec<usize>,
    /// The offsets of the out-of-line probes, each with the instruction at which execution continues.
    pub out_of_line: Vec<(usize, usize)>,
}

/// The operand stack that a probe needs.
pub(crate) const STACK: u16 = 2;

struct CodeRewriter<'m> {
    probes: &'m MethodProbes,
    code: &'m Code,
    hit: HitCall,
    events: InsertedCode,
    checks: CheckCode,
    pieces: Vec<Piece>,
    /// The code of the out-of-line probes, each with the instruction at which execution continues.
    out_of_line: Vec<(Vec<u8>, usize)>,
    /// Maps a jump to the code of its outcomes: not taken, and taken.
    on_outcome: BTreeMap<usize, [Vec<u8>; 2]>,
    path_locals: usize,
}

/// Rewrites code with its probes, events and checks, or returns `None` if it gets too long.
pub(crate) fn rewrite(
    probes: &MethodProbes,
    code: &Code,
    hit: HitCall,
    mut events: InsertedCode,
    mut checks: CheckCode,
) -> Option<RewrittenCode> {
    let spill_locals = events.locals.max(checks.locals);
    let check_stack = if checks.is_empty() { STACK } else { checks.stack };
    let stack = if events.enter.is_empty() { check_stack } else { check_stack.max(emit_events::STACK) };
    let enter = [std::mem::take(&mut events.enter), std::mem::take(&mut checks.enter)].concat();
    let mut rewriter = CodeRewriter {
        probes,
        code,
        hit,
        events,
        checks,
        pieces: vec![Piece::Bytes(enter)],
        out_of_line: Vec::new(),
        on_outcome: BTreeMap::new(),
        path_locals: 0,
    };
    rewriter.groups()?;
    for number in 0..rewriter.path_locals {
        let mut bytes = vec![op::ICONST_0];
        rewriter.path_local(op::ISTORE, number, &mut bytes)?;
        rewriter.pieces.push(Piece::Bytes(bytes));
    }
    for index in 0..probes.cfg.insns.len() {
        rewriter.insn(index)?;
    }
    for (bytes, target) in std::mem::take(&mut rewriter.out_of_line) {
        rewriter.pieces.extend([Piece::OutOfLine(target), Piece::Bytes(bytes), Piece::Goto(Label::Insn(target))]);
    }
    let path_locals = rewriter.path_locals;
    debug_assert_eq!(path_locals, probes.path_locals());
    let AssembledCode { bytes, start, own, out_of_line } = assemble(&rewriter.pieces, probes.cfg.insns.len())?;
    Some(RewrittenCode { bytes, path_locals, spill_locals, stack, start, own, out_of_line })
}

impl CodeRewriter<'_> {
    fn call_hit(&self) -> [u8; 3] {
        let [high, low] = self.hit.method.to_be_bytes();
        [op::INVOKESTATIC, high, low]
    }

    /// Hits a probe.
    fn hit_probe(&self, probe: u32) -> Option<Vec<u8>> {
        let mut bytes = push(self.hit.first + probe)?;
        bytes.extend(self.call_hit());
        Some(bytes)
    }

    /// Hits the probe whose number is that of `from` plus the number of a path.
    fn hit_path(&self, from: u32, path: usize, bytes: &mut Vec<u8>) -> Option<()> {
        self.path_local(op::ILOAD, path, bytes)?;
        bytes.extend(push(from)?);
        bytes.push(op::IADD);
        bytes.extend(self.call_hit());
        Some(())
    }

    /// Appends an instruction with the local that holds the number of a path.
    fn path_local(&self, opcode: u8, path: usize, bytes: &mut Vec<u8>) -> Option<()> {
        local(opcode, usize::from(self.code.max_locals) + path, bytes)
    }

    /// Adds to the number of a path.
    fn add_to_path(&self, path: usize, by: u32) -> Option<Vec<u8>> {
        let local = usize::from(self.code.max_locals) + path;
        Some(match (u8::try_from(local), i8::try_from(by)) {
            (Ok(local), Ok(by)) => vec![op::IINC, local, by as u8],
            _ => {
                let (local, by) = (u16::try_from(local).ok()?.to_be_bytes(), i16::try_from(by).ok()?.to_be_bytes());
                vec![op::WIDE, op::IINC, local[0], local[1], by[0], by[1]]
            }
        })
    }

    /// Emits the code of the outcomes of all jumps.
    fn groups(&mut self) -> Option<()> {
        for ((group, first), prefixes) in self.probes.groups().zip(self.probes.path_prefixes()) {
            let path = self.path_locals;
            self.path_locals += usize::from(group.jumps.len() > 1);
            for (position, jump) in group.jumps.iter().enumerate() {
                let outcomes = self.outcomes(group, position, first, path, prefixes)?;
                self.on_outcome.insert(jump.insn, outcomes);
            }
        }
        Some(())
    }

    /// Emits the code of the outcomes of a jump: the first jump of a group sets the number of the path, others add to it, and the last
    /// one of a path hits its probe.
    fn outcomes(
        &self,
        group: &JumpGroup,
        position: usize,
        first: u32,
        path: usize,
        prefixes: &[(PathPrefixes, u32)],
    ) -> Option<[Vec<u8>; 2]> {
        let increment = group.increments()[position];
        let mut outcomes = [Vec::new(), Vec::new()];
        for (outcome, bytes) in outcomes.iter_mut().enumerate() {
            let by = if outcome == 1 { increment } else { 0 };
            match (position, group.jumps[position].successors[outcome]) {
                (0, GroupSuccessor::Exit) => *bytes = self.hit_probe(first + by)?,
                (0, GroupSuccessor::Jump(_)) => {
                    *bytes = push(by)?;
                    self.path_local(op::ISTORE, path, bytes)?;
                }
                (_, GroupSuccessor::Exit) => self.hit_path(self.hit.first + first + by, path, bytes)?,
                (_, GroupSuccessor::Jump(_)) if by > 0 => *bytes = self.add_to_path(path, by)?,
                (_, GroupSuccessor::Jump(_)) => {}
            }
            let ends_here = |prefix: &PathPrefixes| prefix.jump == position && prefix.taken == (outcome == 1);
            if let Some((prefix, probe)) = prefixes.iter().find(|(prefix, _)| ends_here(prefix)) {
                // The probes of prefixes follow those of all paths, which are more than the least number.
                let from = (self.hit.first + probe).checked_sub(prefix.least)?;
                self.hit_path(from, path, bytes)?;
            }
        }
        Some(outcomes)
    }

    /// Returns the label at which `bytes` are executed before control reaches an instruction.
    fn through(&mut self, bytes: Vec<u8>, target: usize) -> Label {
        if bytes.is_empty() {
            return Label::Insn(target);
        }
        self.out_of_line.push((bytes, target));
        Label::OutOfLine(self.out_of_line.len() - 1)
    }

    fn insn(&mut self, index: usize) -> Option<()> {
        let Decoded { at, next, insn } = self.probes.cfg.insns[index].clone();
        let events = self.events.around.remove(&index).unwrap_or_default();
        self.pieces.extend([Piece::Start(index), Piece::Bytes(events.start)]);
        if let Some(probe) = self.probes.statements.get(&index) {
            let bytes = self.hit_probe(*probe)?;
            self.pieces.push(Piece::Bytes(bytes));
        }
        let checks = self.checks.before.remove(&index).unwrap_or_default();
        self.pieces.extend([Piece::Bytes(checks), Piece::Bytes(events.before), Piece::Own(index)]);
        match &insn {
            Insn::Goto(target) => {
                let target = self.probes.cfg.index(*target)?;
                self.pieces.push(Piece::Goto(Label::Insn(target)));
            }
            Insn::Switch(default, cases) => {
                let form = match self.code.bytes.get(at) {
                    Some(&op::TABLESWITCH) => SwitchForm::Table,
                    _ => SwitchForm::Lookup,
                };
                self.switch(index, *default, cases, form)?;
            }
            jump if is_conditional(jump) => {
                let target = self.probes.cfg.index(*jump.targets().first()?)?;
                let [not_taken, taken] = self.on_outcome.remove(&index).unwrap_or_default();
                let label = self.through(taken, target);
                self.pieces.push(Piece::Branch(*self.code.bytes.get(at)?, label));
                self.pieces.push(Piece::Bytes(not_taken));
            }
            _ => self.pieces.push(Piece::Bytes(self.code.bytes.get(at..next)?.to_vec())),
        }
        let checks = self.checks.after.remove(&index).unwrap_or_default();
        self.pieces.extend([Piece::Bytes(checks), Piece::Bytes(events.after)]);
        Some(())
    }

    fn switch(&mut self, index: usize, default: usize, cases: &[(i32, usize)], form: SwitchForm) -> Option<()> {
        let mut labels: BTreeMap<usize, Label> = BTreeMap::new();
        for target in self.probes.switches.get(&index).cloned().unwrap_or_default() {
            let bytes = self.hit_probe(target.probe)?;
            let to = self.probes.cfg.index(target.target)?;
            labels.insert(target.target, self.through(bytes, to));
        }
        for target in cases.iter().map(|(_, target)| *target).chain([default]) {
            let to = self.probes.cfg.index(target)?;
            labels.entry(target).or_insert(Label::Insn(to));
        }
        let cases = cases.iter().map(|(value, target)| Some((*value, *labels.get(target)?)));
        let cases = cases.collect::<Option<Vec<_>>>()?;
        self.pieces.push(Piece::Switch(*labels.get(&default)?, cases, form));
        Some(())
    }
}
