//! Blocks of a method's code: stretches that control runs through, and which follow which.

use touchstone_classfile::{Code, Decoded, Insn, decode};

/// A stretch of instructions that control enters at its first and leaves behind its last, unless something is thrown.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Its first instruction,
    pub first: usize,
    /// and its last one.
    pub last: usize,
    /// Blocks that follow: of a conditional jump the next one, then the target.
    pub next: Vec<usize>,
    /// Where control goes if something is thrown.
    pub handlers: Vec<usize>,
}

/// The code of a method with its blocks. Instructions and blocks are numbers.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub insns: Vec<Decoded>,
    pub blocks: Vec<Block>,
    /// By instruction: its block.
    block_of: Vec<usize>,
}

impl Flow {
    /// Reads code; `None` if it is none, or if it has subroutines, which no compiler makes since Java 6.
    pub fn new(code: &Code) -> Option<Flow> {
        let insns = decode(&code.bytes, code.offset).ok()?;
        if insns.iter().any(|insn| matches!(insn.insn, Insn::Jsr(_) | Insn::Ret(_))) {
            return None;
        }
        let index = |at: usize| insns.binary_search_by_key(&at, |insn| insn.at).ok();
        let mut leads = vec![false; insns.len()];
        leads[0] = true;
        for (here, insn) in insns.iter().enumerate() {
            for target in insn.insn.targets() {
                leads[index(target)?] = true;
            }
            if (insn.insn.ends() || !insn.insn.targets().is_empty()) && here + 1 < insns.len() {
                leads[here + 1] = true;
            }
        }
        for handler in &code.handlers {
            leads[index(usize::from(handler.handler))?] = true;
        }
        let mut block_of = Vec::with_capacity(insns.len());
        let mut blocks: Vec<Block> = Vec::new();
        for (here, leads) in leads.iter().enumerate() {
            match blocks.last_mut() {
                Some(block) if !leads => block.last = here,
                _ => blocks.push(Block { first: here, last: here, next: Vec::new(), handlers: Vec::new() }),
            }
            block_of.push(blocks.len() - 1);
        }
        for block in &mut blocks {
            let last = &insns[block.last];
            if !last.insn.ends() && block.last + 1 < insns.len() {
                block.next.push(block_of[block.last + 1]);
            }
            for target in last.insn.targets() {
                block.next.push(block_of[index(target)?]);
            }
            let (from, to) = (insns[block.first].at, last.next);
            for handler in &code.handlers {
                if usize::from(handler.start) < to && from < usize::from(handler.end) {
                    block.handlers.push(block_of[index(usize::from(handler.handler))?]);
                }
            }
        }
        Some(Flow { insns, blocks, block_of })
    }

    /// The instruction at a position.
    pub fn index(&self, at: usize) -> Option<usize> {
        self.insns.binary_search_by_key(&at, |insn| insn.at).ok()
    }

    /// The block of an instruction.
    pub fn block_of(&self, insn: usize) -> usize {
        self.block_of[insn]
    }

    /// The conditional jump that a block ends with, if it does.
    pub fn jump_of(&self, block: usize) -> Option<usize> {
        let last = self.blocks[block].last;
        is_conditional(&self.insns[last].insn).then_some(last)
    }

    /// The block that control comes to which goes to a block: one that only goes on is passed.
    pub fn resolved(&self, block: usize) -> usize {
        let mut at = block;
        for _ in 0..self.blocks.len().min(PASSED) {
            let Block { first, last, next, .. } = &self.blocks[at];
            match (&self.insns[*last].insn, next.as_slice()) {
                (Insn::Goto(_), [only]) if first == last => at = *only,
                _ => return at,
            }
        }
        block
    }

    /// By block: the first block that every way from it passes, if every way ends somewhere.
    pub fn passed_by_all(&self) -> Vec<Option<usize>> {
        let count = self.blocks.len();
        // Control leaves the method by way of a block that is behind all others.
        let exit = count;
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
        for (index, block) in self.blocks.iter().enumerate() {
            block.next.iter().for_each(|next| before[*next].push(index));
            if block.next.is_empty() {
                before[exit].push(index);
            }
        }
        let mut order = Vec::with_capacity(count + 1);
        let mut seen = vec![false; count + 1];
        seen[exit] = true;
        let mut stack = vec![(exit, 0)];
        while let Some((block, done)) = stack.pop() {
            match before[block].get(done) {
                Some(next) => {
                    stack.push((block, done + 1));
                    if !std::mem::replace(&mut seen[*next], true) {
                        stack.push((*next, 0));
                    }
                }
                None => order.push(block),
            }
        }
        let mut rank = vec![usize::MAX; count + 1];
        order.iter().enumerate().for_each(|(number, block)| rank[*block] = number);
        let mut passed: Vec<Option<usize>> = vec![None; count + 1];
        passed[exit] = Some(exit);
        let common = |passed: &[Option<usize>], mut a: usize, mut b: usize| -> Option<usize> {
            while a != b {
                while rank[a] < rank[b] {
                    a = passed[a]?;
                }
                while rank[b] < rank[a] {
                    b = passed[b]?;
                }
            }
            Some(a)
        };
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().rev().copied().filter(|block| *block != exit) {
                let next = &self.blocks[block].next;
                let all: &[usize] = if next.is_empty() { &[exit] } else { next };
                let mut found: Option<usize> = None;
                for next in all.iter().filter(|next| passed[**next].is_some()) {
                    found = match found {
                        None => Some(*next),
                        Some(known) => common(&passed, known, *next),
                    };
                }
                if found.is_some() && passed[block] != found {
                    passed[block] = found;
                    changed = true;
                }
            }
        }
        passed.truncate(count);
        passed.into_iter().map(|found| found.filter(|found| *found != exit)).collect()
    }
}

/// So many blocks that only go on are passed.
const PASSED: usize = 64;

/// Whether an instruction jumps or goes on.
pub(crate) fn is_conditional(insn: &Insn) -> bool {
    matches!(insn, Insn::If(..) | Insn::IfInts(..) | Insn::IfRefs(..) | Insn::IfNull(..))
}

/// Whether an instruction may throw something.
pub(crate) fn may_throw(insn: &Insn) -> bool {
    use touchstone_classfile::{Arith, SlotKind};
    matches!(
        insn,
        Insn::Constant(_)
            | Insn::ArrayLoad(_)
            | Insn::ArrayStore(_)
            | Insn::GetStatic(_)
            | Insn::PutStatic(_)
            | Insn::GetField(_)
            | Insn::PutField(_)
            | Insn::InvokeVirtual(_)
            | Insn::InvokeSpecial(_)
            | Insn::InvokeStatic(_)
            | Insn::InvokeInterface(_)
            | Insn::InvokeDynamic(_)
            | Insn::New(_)
            | Insn::NewArray(_)
            | Insn::NewRefArray(_)
            | Insn::NewMultiArray(..)
            | Insn::ArrayLength
            | Insn::Throw
            | Insn::CheckCast(_)
            | Insn::InstanceOf(_)
            | Insn::MonitorEnter
            | Insn::MonitorExit
            | Insn::Return(_)
            | Insn::Arith(Arith::Div | Arith::Rem, SlotKind::Int | SlotKind::Long)
    )
}
