//! Where control comes together again: the places that every way from a place leads to, and the places in between.

use super::matching::Place;
use std::collections::BTreeSet;
use touchstone_base::{Id, IndexMap};
use touchstone_ir::{BlockId, Cfg, Function, TermKind};

/// The flow of one version of a function.
pub(crate) struct Flow<'m> {
    pub function: &'m Function,
    cfg: Cfg,
    /// The next block that every way out of a block leads to.
    behind: IndexMap<BlockId, Option<BlockId>>,
}

impl<'m> Flow<'m> {
    pub fn new(function: &'m Function) -> Flow<'m> {
        let cfg = Cfg::new(function);
        let behind = meeting_blocks(function, &cfg);
        Flow { function, cfg, behind }
    }

    /// The end of a block.
    pub fn is_end(&self, place: Place) -> bool {
        place.index == self.function.blocks[place.block].insts.len()
    }

    pub fn end(&self, place: Place) -> &'m TermKind {
        &self.function.blocks[place.block].terminator.kind
    }

    /// The places that every way leads to, in order: from a place on, or behind the end of its block.
    pub fn ahead(&self, from: Place, behind: bool) -> Vec<Place> {
        let mut found = Vec::new();
        let mut next = match behind {
            true => self.behind[from.block].map(Place::first),
            false => Some(from),
        };
        while let Some(start) = next {
            let last = self.function.blocks[start.block].insts.len();
            found.extend((start.index..=last).map(|index| Place { index, ..start }));
            next = self.behind[start.block].map(Place::first);
        }
        found
    }

    /// All places that control may pass before it comes to one: from a place on, or behind the end of its block.
    pub fn between(&self, from: Place, behind: bool, to: Option<Place>) -> BTreeSet<Place> {
        let mut found = BTreeSet::new();
        let after = |block: BlockId| self.cfg.successors(block).iter().map(|next| Place::first(*next));
        let mut pending: Vec<Place> = if behind { after(from.block).collect() } else { vec![from] };
        while let Some(mut place) = pending.pop() {
            while Some(place) != to && found.insert(place) {
                if self.is_end(place) {
                    pending.extend(after(place.block));
                    break;
                }
                place = place.next();
            }
        }
        found
    }
}

/// For each block the next one that all ways to the function's end lead through; none if there is none, or no way to an end.
fn meeting_blocks(function: &Function, cfg: &Cfg) -> IndexMap<BlockId, Option<BlockId>> {
    let mut behind: IndexMap<BlockId, Option<BlockId>> = function.blocks.values().map(|_| None).collect();
    let order: Vec<BlockId> = cfg.reverse_post_order().to_vec();
    // All blocks that every way from a block leads to, itself included; none yet: unknown, which is everything.
    let mut always: IndexMap<BlockId, Option<BTreeSet<usize>>> = function.blocks.values().map(|_| None).collect();
    loop {
        let mut changed = false;
        for &block in order.iter().rev() {
            let successors = cfg.successors(block);
            let known = successors.iter().filter_map(|next| always[*next].as_ref());
            let mut common: Option<BTreeSet<usize>> = None;
            for set in known {
                common = Some(common.map_or_else(|| set.clone(), |common| common.intersection(set).copied().collect()));
            }
            if successors.is_empty() {
                common = Some(BTreeSet::new());
            }
            // No way to an end is known yet.
            let Some(mut common) = common else { continue };
            common.insert(block.index());
            if always[block].as_ref() != Some(&common) {
                always[block] = Some(common);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for &block in &order {
        let Some(all) = &always[block] else { continue };
        // The nearest one leads to all the others.
        let others: Vec<usize> = all.iter().copied().filter(|other| *other != block.index()).collect();
        let size = |index: &usize| always[BlockId::new(*index)].as_ref().map_or(0, BTreeSet::len);
        behind[block] = others.into_iter().max_by_key(size).map(BlockId::new);
    }
    behind
}
