//! Of several calls, those that find what was found before: whatever follows them follows without them, too.
//!
//! A call can differ from another at its place only in what variables hold, and in what earlier inputs are that later ones
//! may lead to. So a state is given up that holds the same numbers as one that came to the same call before, or to a call
//! before this one. Where only few are asked for ([`GoingOn::Few`]), so is one that differs from enough others only in what
//! depends on inputs. Sequences only add tests: nothing is concluded from what is given up here.

use crate::config::{Calls, GoingOn};
use crate::exec::executor::Executor;
use crate::exec::executor::visited_call::VisitedCall;
use crate::state::State;
use crate::state::memory::{Cell, Contents, global_object};
use touchstone_base::Id;

/// States with the same numbers, but different inputs that later calls may see, that come to the same call.
const MAX_STATES_WITH_OTHER_INPUTS: usize = 8;

/// States that differ only in what depends on inputs, where few of them go on.
const MAX_STATES_WITH_SAME_CONSTANTS: usize = 4;

impl Executor<'_> {
    /// Whether another state came to this call of a sequence, or to an earlier one, with the same in memory.
    pub(in crate::exec) fn is_subsumed(&mut self, state: &State) -> bool {
        let Calls::Several { ways, going_on, .. } = self.config.calls else { return false };
        if state.frames.len() != 1 || state.is_folded() || !state.pending.is_empty() {
            return false;
        }
        let SequenceState { key, depends } = self.sequence_state(state);
        if depends && going_on == GoingOn::All {
            return false;
        }
        let frame = state.top();
        let own = VisitedCall {
            turn: frame.block.index() / (ways + 1),
            place: (frame.block.index(), frame.inst),
            identity: (state.hash.value(), state.steps),
        };
        let alone = state.inputs.globals.is_empty() && state.inputs.objects.is_empty();
        let known = self.visited_calls.entry(key).or_default();
        let others = known.iter().filter(|other| other.identity != own.identity);
        let earlier = others.clone().any(|other| other.turn < own.turn);
        let same = others.filter(|other| other.place == own.place).count();
        let subsumed = match depends {
            true => same >= MAX_STATES_WITH_SAME_CONSTANTS,
            false => (earlier && alone) || same >= if alone { 1 } else { MAX_STATES_WITH_OTHER_INPUTS },
        };
        if !subsumed && !known.contains(&own) {
            known.push(own);
        }
        subsumed
    }

    /// What variables hold that calls change.
    fn sequence_state(&self, state: &State) -> SequenceState {
        let (mut key, mut depends) = (Vec::new(), false);
        for id in &self.sequence_globals {
            let Contents::Cells(cells) = &state.memory.get(global_object(*id)).contents else {
                depends = true;
                continue;
            };
            depends |= cells.iter().any(|cell| !matches!(cell, Cell::Byte(_)));
            add_constants(cells, &mut key);
        }
        // What is an input may have been given a number since.
        let inputs = state.inputs.globals.iter().filter_map(|input| self.module.global_named(&input.name));
        for id in inputs {
            if let Contents::Cells(cells) = &state.memory.get(global_object(id)).contents {
                add_constants(cells, &mut key);
            }
        }
        SequenceState { key, depends }
    }
}

/// What calls left.
struct SequenceState {
    /// The numbers in it.
    key: Vec<u8>,
    /// Whether something in it is no number, but depends on inputs of earlier calls.
    depends: bool,
}

fn add_constants<'c>(cells: impl IntoIterator<Item = &'c Cell>, key: &mut Vec<u8>) {
    for cell in cells {
        match cell {
            Cell::Byte(byte) => key.extend([1, *byte]),
            _ => key.push(0),
        }
    }
}
