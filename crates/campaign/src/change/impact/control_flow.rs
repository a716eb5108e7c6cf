//! Where control comes together again: the places that every way from a place leads to, and the places in between.

use super::matching::Place;
use std::collections::BTreeSet;
use touchstone_base::IndexMap;
use touchstone_ir::{BlockId, Cfg, Exits, Function, TermKind};

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
        let behind = cfg.post_dominators(function, Exits::All);
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
