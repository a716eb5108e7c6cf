//! The frontier: states that wait, and which of them is next.
//!
//! The nearest state alone would be unfair: one in an endless loop that stands close to a goal is the nearest for ever.
//! So once that has found nothing for a while, every fourth turn is that of the state that has executed least. Not
//! before: in a wide decision the shortest states are as many as it has rows, and lead nowhere new.
//!
//! Of many states that wait, only the nearest stay as they are; of the others there is the way to them (`parked.rs`).

use crate::config::Search;
use crate::search::parked_state::ParkedState;
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// States that wait.
pub(crate) enum Frontier {
    Newest(Vec<State>),
    Oldest(VecDeque<State>),
    Any {
        states: Vec<State>,
        seed: u64,
    },
    /// By distance to an open goal, then newest first; sometimes by steps, then oldest first.
    Nearest(Box<Nearest>),
}

/// A state that waits.
pub(crate) enum Waiting {
    State(Box<State>),
    ParkedState(Box<ParkedState>),
}

impl Waiting {
    fn steps(&self) -> u64 {
        match self {
            Waiting::State(state) => state.steps,
            Waiting::ParkedState(parked) => parked.steps,
        }
    }
}

/// Which states are parked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parking {
    /// All but so many of the nearest.
    Beyond(usize),
    /// None: the way to a state is not enough to find it again.
    Never,
}

/// States in two orders.
pub(crate) struct Nearest {
    states: BTreeMap<(u32, u64), Waiting>,
    /// Those of them that are states.
    live: BTreeSet<(u32, u64)>,
    parking: Parking,
    /// Steps and the key among the states.
    shortest: BTreeSet<(u64, u64, u32)>,
    made: u64,
    /// Turns since something was found.
    unproductive_turns: u64,
    /// How much was found then.
    found: u64,
}

/// So many states stay as they are however scarce memory is.
const MIN_LIVE_STATES: usize = 64;

/// Out of so many turns one is the shortest state's.
const SHORTEST_STATE_INTERVAL: u64 = 4;

/// So many turns may find nothing before the shortest states get theirs.
const MAX_UNPRODUCTIVE_TURNS: u64 = 200;

impl Nearest {
    fn push(&mut self, state: State, distance: u32) {
        self.made += 1;
        let key = (distance, u64::MAX - self.made);
        self.shortest.insert((state.steps, self.made, distance));
        self.states.insert(key, Waiting::State(Box::new(state)));
        self.live.insert(key);
        self.park_beyond();
    }

    fn park_beyond(&mut self) {
        let Parking::Beyond(most) = self.parking else { return };
        while self.live.len() > most {
            self.park_furthest();
        }
    }

    fn park_more_states(&mut self) {
        if let Parking::Beyond(most) = self.parking {
            self.parking = Parking::Beyond((most / 4).max(MIN_LIVE_STATES).min(most));
            self.park_beyond();
        }
    }

    /// Of the state that is next after all others only the way to it stays.
    fn park_furthest(&mut self) {
        let Some(key) = self.live.pop_last() else { return };
        if let Some(waiting) = self.states.get_mut(&key)
            && let Waiting::State(state) = waiting
        {
            *waiting = Waiting::ParkedState(Box::new(ParkedState::new(state)));
        }
    }

    fn pop(&mut self, found: u64) -> Option<Waiting> {
        if found != self.found {
            (self.found, self.unproductive_turns) = (found, 0);
        }
        self.unproductive_turns += 1;
        let (distance, age) = if self.unproductive_turns > MAX_UNPRODUCTIVE_TURNS
            && self.unproductive_turns.is_multiple_of(SHORTEST_STATE_INTERVAL)
        {
            self.shortest.first().map(|(_, made, distance)| (*distance, u64::MAX - made))?
        } else {
            *self.states.first_key_value()?.0
        };
        let state = self.states.remove(&(distance, age))?;
        self.live.remove(&(distance, age));
        self.shortest.remove(&(state.steps(), u64::MAX - age, distance));
        Some(state)
    }

    fn new(parking: Parking) -> Nearest {
        let (states, live, shortest) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Nearest { states, live, parking, shortest, made: 0, unproductive_turns: 0, found: 0 }
    }
}

impl Frontier {
    pub fn new(search: Search, seed: u64, parking: Parking) -> Frontier {
        match search {
            Search::Dfs => Frontier::Newest(Vec::new()),
            Search::Bfs => Frontier::Oldest(VecDeque::new()),
            Search::Random => Frontier::Any { states: Vec::new(), seed: seed ^ 0x9e37_79b9_7f4a_7c15 },
            Search::Nearest => Frontier::Nearest(Box::new(Nearest::new(parking))),
        }
    }

    /// Adds a state; `distance` matters only to `Nearest`.
    pub fn push(&mut self, state: State, distance: u32) {
        match self {
            Frontier::Newest(states) | Frontier::Any { states, .. } => states.push(state),
            Frontier::Oldest(states) => states.push_back(state),
            Frontier::Nearest(nearest) => nearest.push(state, distance),
        }
    }

    /// The next state. `found` is how much was found so far; it matters only to `Nearest`.
    pub fn pop(&mut self, found: u64) -> Option<Waiting> {
        let state = match self {
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
            Frontier::Nearest(nearest) => return nearest.pop(found),
        };
        state.map(|state| Waiting::State(Box::new(state)))
    }

    /// Memory is scarce: fewer of those that wait stay as they are.
    pub fn park_more_states(&mut self) {
        if let Frontier::Nearest(nearest) = self {
            nearest.park_more_states();
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        match self {
            Frontier::Newest(states) | Frontier::Any { states, .. } => states.clear(),
            Frontier::Oldest(states) => states.clear(),
            Frontier::Nearest(nearest) => {
                nearest.states.clear();
                nearest.live.clear();
                nearest.shortest.clear();
            }
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Frontier::Newest(states) | Frontier::Any { states, .. } => states.len(),
            Frontier::Oldest(states) => states.len(),
            Frontier::Nearest(nearest) => nearest.states.len(),
        }
    }
}
