//! The control-flow graph of a method's bytecode.

use touchstone_base::DominatorTree;
use touchstone_classfile::{ArrayKind, Code, Decoded, Insn, SlotKind, decode};

/// A basic block: control enters at the first instruction and leaves after the last one, unless an exception is thrown.
#[derive(Clone, Debug)]
pub(crate) struct CodeBlock {
    /// The index of its first instruction.
    pub first: usize,
    /// The index of its last instruction.
    pub last: usize,
    /// The successors: after a conditional jump the fall-through block, then the target.
    pub next: Vec<usize>,
    /// The exception handlers that cover a part of the block.
    pub handlers: Vec<usize>,
}

/// The control-flow graph of a method. Instructions and blocks are identified by their indices.
#[derive(Clone, Debug)]
pub(crate) struct MethodCfg {
    pub insns: Vec<Decoded>,
    pub blocks: Vec<CodeBlock>,
    /// Maps each instruction to its block.
    block_of: Vec<usize>,
}

impl MethodCfg {
    /// Builds the graph, or returns `None` if the code is malformed or has subroutines (`jsr`), which compilers emit only before Java 6.
    pub fn new(code: &Code) -> Option<MethodCfg> {
        let insns = decode(&code.bytes, code.offset).ok()?;
        if insns.iter().any(|insn| matches!(insn.insn, Insn::Jsr(_) | Insn::Ret(_))) {
            return None;
        }
        let index = |at: usize| insns.binary_search_by_key(&at, |insn| insn.at).ok();
        let mut is_leader = vec![false; insns.len()];
        is_leader[0] = true;
        for (here, insn) in insns.iter().enumerate() {
            for target in insn.insn.targets() {
                is_leader[index(target)?] = true;
            }
            if (insn.insn.ends() || !insn.insn.targets().is_empty()) && here + 1 < insns.len() {
                is_leader[here + 1] = true;
            }
        }
        for handler in &code.handlers {
            is_leader[index(usize::from(handler.handler))?] = true;
        }
        let mut block_of = Vec::with_capacity(insns.len());
        let mut blocks: Vec<CodeBlock> = Vec::new();
        for (here, is_leader) in is_leader.iter().enumerate() {
            match blocks.last_mut() {
                Some(block) if !is_leader => block.last = here,
                _ => blocks.push(CodeBlock { first: here, last: here, next: Vec::new(), handlers: Vec::new() }),
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
        Some(MethodCfg { insns, blocks, block_of })
    }

    /// Returns the index of the instruction at a bytecode offset.
    pub fn index(&self, at: usize) -> Option<usize> {
        self.insns.binary_search_by_key(&at, |insn| insn.at).ok()
    }

    /// Returns the block that contains an instruction.
    pub fn block_of(&self, insn: usize) -> usize {
        self.block_of[insn]
    }

    /// Returns the conditional jump that ends a block, or `None` if it ends otherwise.
    pub fn jump_of(&self, block: usize) -> Option<usize> {
        let last = self.blocks[block].last;
        is_conditional(&self.insns[last].insn).then_some(last)
    }

    /// Returns the block that is reached from the start of `block` by following blocks that only jump, after probes of other tools at most.
    pub fn resolved(&self, block: usize) -> usize {
        let mut at = block;
        for _ in 0..self.blocks.len().min(MAX_GOTOS_FOLLOWED) {
            let CodeBlock { first, last, next, .. } = &self.blocks[at];
            let [only] = next[..] else { return at };
            let goto = matches!(self.insns[*last].insn, Insn::Goto(_));
            let before = &self.insns[*first..*last + usize::from(!goto)];
            if !before.chunks(4).all(is_array_probe) {
                return at;
            }
            at = only;
        }
        block
    }

    /// Computes the post-dominator tree of the blocks. Exceptions are not edges, and blocks in infinite loops are not in the tree.
    pub fn post_dominators(&self) -> DominatorTree {
        let successors: Vec<&[usize]> = self.blocks.iter().map(|block| block.next.as_slice()).collect();
        let exits: Vec<usize> = (0..successors.len()).filter(|block| successors[*block].is_empty()).collect();
        DominatorTree::post_dominators(&successors, &exits)
    }
}

/// Returns true if instructions set an element of a boolean array, as probes of coverage tools do.
fn is_array_probe(insns: &[Decoded]) -> bool {
    let [array, index, value, store] = insns else { return false };
    matches!(array.insn, Insn::Load(SlotKind::Ref, _))
        && matches!(index.insn, Insn::PushInt(_) | Insn::Constant(_))
        && value.insn == Insn::PushInt(1)
        && store.insn == Insn::ArrayStore(ArrayKind::Byte)
}

/// The maximum number of `goto` blocks that are followed in a row.
const MAX_GOTOS_FOLLOWED: usize = 64;

/// Returns true if an instruction is a conditional jump.
pub(crate) fn is_conditional(insn: &Insn) -> bool {
    matches!(insn, Insn::If(..) | Insn::IfInts(..) | Insn::IfRefs(..) | Insn::IfNull(..))
}

/// Returns true if an instruction may throw an exception.
pub(crate) fn may_throw(insn: &Insn) -> bool {
    use touchstone_classfile::Arith;
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
