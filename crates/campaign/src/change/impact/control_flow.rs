//! The control-flow graph of one version of a function, with post-dominators: where diverged control joins again, and
//! which locations lie in between.

use super::matching::CodeLocation;
use std::collections::BTreeSet;
use touchstone_base::IndexMap;
use touchstone_ir::{BlockId, Cfg, Exits, Function, TermKind};

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
}

impl<'m> VersionCfg<'m> {
    pub fn new(function: &'m Function) -> VersionCfg<'m> {
        let cfg = Cfg::new(function);
        let post_dominators = cfg.post_dominators(function, Exits::All);
        VersionCfg { function, cfg, post_dominators }
    }

    /// Returns true if the location is the terminator of its block.
    pub fn is_end(&self, location: CodeLocation) -> bool {
        location.index == self.function.blocks[location.block].insts.len()
    }

    pub fn end(&self, location: CodeLocation) -> &'m TermKind {
        &self.function.blocks[location.block].terminator.kind
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
