//! The control-flow graph of one version of a function, with post-dominators: where diverged control joins again, and
//! which locations lie in between.

use super::matching::CodeLocation;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::IndexMap;
use touchstone_ir::{Block, BlockId, Cfg, Exits, Function, InstKind, Operand, Reg, TermKind};

/// The start of a walk along the control flow, relative to a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WalkStart {
    /// The location itself.
    Here,
    /// The successors of its block.
    AfterTerminator,
}

/// The control flow of one version of a function.
pub(crate) struct VersionCfg<'m> {
    pub function: &'m Function,
    cfg: Cfg,
    /// The immediate post-dominator of every block.
    post_dominators: IndexMap<BlockId, Option<BlockId>>,
    /// The block of every register that only one block mentions, except parameters and named variables.
    temporaries: BTreeMap<Reg, BlockId>,
}

impl<'m> VersionCfg<'m> {
    pub fn new(function: &'m Function) -> VersionCfg<'m> {
        let cfg = Cfg::new(function);
        let post_dominators = cfg.post_dominators(function, Exits::All);
        VersionCfg { function, cfg, post_dominators, temporaries: temporaries(function) }
    }

    /// Returns true if the register is a temporary of another block. An equality of it can be dropped here: that is
    /// always sound, and loses precision only if the other block reads the value of an earlier iteration.
    pub fn is_temporary_elsewhere(&self, reg: Reg, block: BlockId) -> bool {
        self.temporaries.get(&reg).is_some_and(|home| *home != block)
    }

    /// Returns true if the location is the terminator of its block.
    pub fn is_end(&self, location: CodeLocation) -> bool {
        location.index == self.function.blocks[location.block].insts.len()
    }

    pub fn end(&self, location: CodeLocation) -> &'m TermKind {
        &self.function.blocks[location.block].terminator.kind
    }

    /// Returns the locations that no path reaches.
    pub fn unreachable(&self) -> Vec<CodeLocation> {
        let reached: BTreeSet<BlockId> = self.cfg.reverse_post_order().iter().copied().collect();
        let blocks = self.function.blocks.iter().filter(|(id, _)| !reached.contains(id));
        blocks
            .flat_map(|(id, block)| (0..=block.insts.len()).map(move |index| CodeLocation { block: id, index }))
            .collect()
    }

    /// Returns the locations that post-dominate a location, nearest first: from the location itself on, or from behind
    /// the terminator of its block.
    pub fn post_dominating(&self, from: CodeLocation, start: WalkStart) -> Vec<CodeLocation> {
        let mut found = Vec::new();
        let mut next = match start {
            WalkStart::AfterTerminator => self.post_dominators[from.block].map(CodeLocation::first),
            WalkStart::Here => Some(from),
        };
        while let Some(start) = next {
            let last = self.function.blocks[start.block].insts.len();
            found.extend((start.index..=last).map(|index| CodeLocation { index, ..start }));
            next = self.post_dominators[start.block].map(CodeLocation::first);
        }
        found
    }

    /// Returns all locations that control may pass before it reaches `to`: from a location on, or from behind the
    /// terminator of its block.
    pub fn locations_before(
        &self,
        from: CodeLocation,
        start: WalkStart,
        to: Option<CodeLocation>,
    ) -> BTreeSet<CodeLocation> {
        let mut found = BTreeSet::new();
        let after = |block: BlockId| self.cfg.successors(block).iter().map(|next| CodeLocation::first(*next));
        let mut pending: Vec<CodeLocation> = match start {
            WalkStart::AfterTerminator => after(from.block).collect(),
            WalkStart::Here => vec![from],
        };
        while let Some(mut location) = pending.pop() {
            while Some(location) != to && found.insert(location) {
                if self.is_end(location) {
                    pending.extend(after(location.block));
                    break;
                }
                location = location.next();
            }
        }
        found
    }
}

fn temporaries(function: &Function) -> BTreeMap<Reg, BlockId> {
    let mut homes: BTreeMap<Reg, Option<BlockId>> = function.params.iter().map(|param| (param.reg, None)).collect();
    for (id, block) in function.blocks.iter() {
        for reg in mentioned(function, block) {
            let home = homes.entry(reg).or_insert(Some(id));
            *home = home.filter(|home| *home == id);
        }
    }
    let unnamed = homes.into_iter().filter(|(reg, _)| function.regs[*reg].name.is_none());
    unnamed.filter_map(|(reg, home)| Some((reg, home?))).collect()
}

/// Returns the registers that a block reads or writes, also those that its points read.
fn mentioned(function: &Function, block: &Block) -> BTreeSet<Reg> {
    let mut found = BTreeSet::new();
    let mut operands = block.terminator.kind.operands();
    found.extend(block.terminator.kind.dst());
    for inst in &block.insts {
        operands.extend(inst.kind.operands());
        found.extend(inst.kind.dst());
        if let InstKind::Point { point } = inst.kind {
            let point = &function.points[point];
            let all = point.kind.exprs().into_iter().chain(point.variables.iter().flat_map(|all| all.iter()));
            all.for_each(|expr| expr.add_registers(&mut found));
        }
    }
    found.extend(operands.into_iter().filter_map(|operand| match operand {
        Operand::Reg(reg) => Some(reg),
        Operand::Const(..) => None,
    }));
    found
}
