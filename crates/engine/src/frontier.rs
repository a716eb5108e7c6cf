//! The frontier: states that wait, and which of them is next.

use crate::config::Search;
use crate::state::State;
use std::collections::{BTreeMap, VecDeque};

/// States that wait.
pub(crate) enum Frontier {
    Newest(Vec<State>),
    Oldest(VecDeque<State>),
    Any {
        states: Vec<State>,
        seed: u64,
    },
    /// By distance to an open goal, then newest first.
    Nearest {
        states: BTreeMap<(u32, u64), State>,
        made: u64,
    },
}

impl Frontier {
    pub fn new(search: Search, seed: u64) -> Frontier {
        match search {
            Search::Dfs => Frontier::Newest(Vec::new()),
            Search::Bfs => Frontier::Oldest(VecDeque::new()),
            Search::Random => Frontier::Any { states: Vec::new(), seed: seed ^ 0x9e37_79b9_7f4a_7c15 },
            Search::Nearest => Frontier::Nearest { states: BTreeMap::new(), made: 0 },
        }
    }

    /// Adds a state; `distance` matters only to `Nearest`.
    pub fn push(&mut self, state: State, distance: u32) {
        match self {
            Frontier::Newest(states) | Frontier::Any { states, .. } => states.push(state),
            Frontier::Oldest(states) => states.push_back(state),
            Frontier::Nearest { states, made } => {
                *made += 1;
                states.insert((distance, u64::MAX - *made), state);
            }
        }
    }

    pub fn pop(&mut self) -> Option<State> {
        match self {
            Frontier::Newest(states) => states.pop(),
            Frontier::Oldest(states) => states.pop_front(),
            Frontier::Any { states, seed } => {
                if states.is_empty() {
                    return None;
                }
                *seed ^= *seed << 13;
                *seed ^= *seed >> 7;
                *seed ^= *seed << 17;
                let index = (*seed % states.len() as u64) as usize;
                Some(states.swap_remove(index))
            }
            Frontier::Nearest { states, .. } => states.pop_first().map(|(_, state)| state),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Frontier::Newest(states) | Frontier::Any { states, .. } => states.len(),
            Frontier::Oldest(states) => states.len(),
            Frontier::Nearest { states, .. } => states.len(),
        }
    }
}
