//! Of several calls, those that find what was found before: whatever follows them follows without them, too.
//!
//! A call can differ from another at its place only in what variables hold, and in what earlier inputs are that later ones
//! may lead to. So a state is given up that holds the same numbers as one that came to the same call before, or to a call
//! before this one. Sequences only add tests: nothing is concluded from what is given up here.

use crate::config::Calls;
use crate::exec::executor::Executor;
use crate::state::State;
use crate::state::memory::{Cell, Contents, global_object};
use touchstone_base::Id;
use touchstone_ir::GlobalId;

/// States with the same numbers, but different inputs that later calls may see, that come to the same call.
const WITH_OTHER_INPUTS: usize = 8;

/// A state that came to a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundBefore {
    /// How many calls were made before it.
    turn: usize,
    /// Which instruction of the caller it is.
    place: (usize, usize),
    /// Which path, and how far: a state comes to the same instruction again where an input had to be decided first.
    identity: (u64, u64),
}

impl Executor<'_> {
    /// Whether another state came to this call of a sequence, or to an earlier one, with the same in memory.
    pub(super) fn is_found_again(&mut self, state: &State) -> bool {
        let Calls::Several { ways, .. } = self.config.calls else { return false };
        if state.frames.len() != 1 || state.is_folded() || !state.pending.is_empty() {
            return false;
        }
        let Some(key) = self.numbers_left(state) else { return false };
        let frame = state.top();
        let own = FoundBefore {
            turn: frame.block.index() / (ways + 1),
            place: (frame.block.index(), frame.inst),
            identity: (state.hash.value(), state.steps),
        };
        let alone = state.inputs.globals.is_empty() && state.inputs.objects.is_empty();
        let known = self.found_before.entry(key).or_default();
        let others = known.iter().filter(|other| other.identity != own.identity);
        let earlier = others.clone().any(|other| other.turn < own.turn);
        let same = others.filter(|other| other.place == own.place).count();
        let again = (earlier && alone) || same >= if alone { 1 } else { WITH_OTHER_INPUTS };
        if !again && !known.contains(&own) {
            known.push(own);
        }
        again
    }

    /// What variables hold that calls change; `None` if it depends on inputs of earlier calls.
    fn numbers_left(&self, state: &State) -> Option<Vec<u8>> {
        let mut key = Vec::new();
        for id in &self.left {
            let Contents::Cells(cells) = &state.memory.get(global_object(*id)).contents else { return None };
            for cell in cells {
                match cell {
                    Cell::Byte(byte) => key.push(*byte),
                    _ => return None,
                }
            }
        }
        // What is an input may have been given a number since.
        let inputs = state.inputs.globals.iter().filter_map(|input| self.module.global_named(&input.name));
        for id in inputs {
            self.add_numbers(state, id, &mut key);
        }
        Some(key)
    }

    fn add_numbers(&self, state: &State, id: GlobalId, key: &mut Vec<u8>) {
        let Contents::Cells(cells) = &state.memory.get(global_object(id)).contents else { return };
        for cell in cells {
            match cell {
                Cell::Byte(byte) => key.extend([1, *byte]),
                _ => key.push(0),
            }
        }
    }
}
