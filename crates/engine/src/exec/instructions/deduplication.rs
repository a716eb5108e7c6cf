//! Prunes call sequences with a state that is subsumed by an already visited one.
//!
//! Two states at a call of a sequence can differ only in the contents of variables, and in the earlier inputs that
//! later ones may alias. So a state is pruned if a state with the same constants reached the same call, or an earlier
//! one. With [`SequenceStates::Few`] it is also pruned if enough other states differ only in input-dependent contents.
//! Sequences only add tests: no verdict rests on a pruned state.

use crate::config::{Calls, SequenceStates};
use crate::exec::executor::Executor;
use crate::exec::executor::visited_call::VisitedCall;
use crate::state::State;
use crate::state::memory::{Cell, Contents, global_object};
use touchstone_base::Id;

/// The maximum number of states with the same constants but different inputs that continue at a call.
const MAX_STATES_WITH_OTHER_INPUTS: usize = 8;

/// The maximum number of states with the same constants and other input-dependent contents that continue.
const MAX_STATES_WITH_SAME_CONSTANTS: usize = 4;

impl Executor<'_> {
    /// Returns true if another state with the same memory reached this call of a sequence, or an earlier one.
    pub(in crate::exec) fn is_subsumed(&mut self, state: &State) -> bool {
        let Calls::Several { ways, kept_states, .. } = self.config.calls else { return false };
        if state.frames.len() != 1 || state.is_folded() || !state.pending.is_empty() {
            return false;
        }
        let SequenceState { key, depends } = self.sequence_state(state);
        if depends && kept_states == SequenceStates::All {
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

    /// Returns the contents of the variables that calls change.
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
        // An input global may hold a constant by now.
        let inputs = state.inputs.globals.iter().filter_map(|input| self.module.global_named(&input.name));
        for id in inputs {
            if let Contents::Cells(cells) = &state.memory.get(global_object(id)).contents {
                add_constants(cells, &mut key);
            }
        }
        SequenceState { key, depends }
    }
}

/// The state that earlier calls of a sequence left.
struct SequenceState {
    /// The constants in it.
    key: Vec<u8>,
    /// True if it also contains terms over inputs of earlier calls.
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
