//! The frontier: the waiting states, and the order in which they are explored.
//!
//! The nearest state alone would be unfair: a state in an infinite loop near a goal stays the nearest. So after a
//! number of turns without a new test, every fourth turn explores the state with the fewest steps. Not before: in a
//! wide decision the shortest states are as many as it has rows, and reach nothing new.
//!
//! Of many waiting states only the nearest are kept as states; the others are replaced by their prefixes
//! (`parked_state.rs`).

use crate::config::Search;
use crate::search::parked_state::{ParkedState, TransferredState};
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The waiting states, by search order.
pub(crate) enum Frontier {
    Newest(Vec<Waiting>),
    Oldest(VecDeque<Waiting>),
    Any {
        states: Vec<Waiting>,
        seed: u64,
    },
    /// By distance to an open goal, then newest first; sometimes by steps, then oldest first.
    Nearest(Box<Nearest>),
}

/// A waiting state.
pub(crate) enum Waiting {
    State(Box<State>),
    ParkedState(Arc<ParkedState>),
    /// A state of another executor.
    Transferred(Arc<TransferredState>),
}

impl Waiting {
    fn steps(&self) -> u64 {
        match self {
            Waiting::State(state) => state.steps,
            Waiting::ParkedState(parked) => parked.steps,
            Waiting::Transferred(transferred) => transferred.parked.steps,
        }
    }
}

/// The states that are parked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parking {
    /// All but this number of the nearest states.
    Beyond(usize),
    /// None: a prefix would not suffice to replay the state.
    Never,
}

/// The waiting states in two orders.
pub(crate) struct Nearest {
    states: BTreeMap<(u32, u64), Waiting>,
    /// The keys of those that are not parked.
    live: BTreeSet<(u32, u64)>,
    parking: Parking,
    /// Steps, age and distance of each state.
    shortest: BTreeSet<(u64, u64, u32)>,
    made: u64,
    /// The number of turns since the last test.
    unproductive_turns: u64,
    /// The number of tests at that time.
    found: u64,
}

/// The minimum number of states that are never parked.
const MIN_LIVE_STATES: usize = 64;

/// The interval of turns that explore the state with the fewest steps.
const SHORTEST_STATE_INTERVAL: u64 = 4;

/// The number of turns without a test after which such turns begin.
const MAX_UNPRODUCTIVE_TURNS: u64 = 200;

impl Nearest {
    fn push(&mut self, waiting: Waiting, distance: u32) {
        self.made += 1;
        let key = (distance, u64::MAX - self.made);
        self.shortest.insert((waiting.steps(), self.made, distance));
        if let Waiting::State(_) = waiting {
            self.live.insert(key);
        }
        self.states.insert(key, waiting);
        self.park_beyond();
    }

    /// Removes and returns all states with their distances, in the order of this search.
    fn drain(&mut self) -> Vec<(u32, Waiting)> {
        self.live.clear();
        self.shortest.clear();
        std::mem::take(&mut self.states).into_iter().map(|((distance, _), waiting)| (distance, waiting)).collect()
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

    /// Parks the state that would be explored last.
    fn park_furthest(&mut self) {
        let Some(key) = self.live.pop_last() else { return };
        if let Some(waiting) = self.states.get_mut(&key)
            && let Waiting::State(state) = waiting
        {
            *waiting = Waiting::ParkedState(Arc::new(ParkedState::new(state)));
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

    /// Adds a state; only `Nearest` uses `distance`.
    pub fn push(&mut self, state: State, distance: u32) {
        self.put(Waiting::State(Box::new(state)), distance);
    }

    /// Adds states in the order in which they are to be explored, as [`Frontier::drain`] returns them.
    pub fn extend(&mut self, states: Vec<(u32, Waiting)>) {
        for (distance, waiting) in states.into_iter().rev() {
            self.put(waiting, distance);
        }
    }

    fn put(&mut self, waiting: Waiting, distance: u32) {
        match self {
            Frontier::Newest(states) | Frontier::Any { states, .. } => states.push(waiting),
            Frontier::Oldest(states) => states.push_back(waiting),
            Frontier::Nearest(nearest) => nearest.push(waiting, distance),
        }
    }

    /// Removes and returns all states with their distances, in the order of the search.
    pub fn drain(&mut self) -> Vec<(u32, Waiting)> {
        match self {
            Frontier::Nearest(nearest) => nearest.drain(),
            _ => std::iter::from_fn(|| self.pop(0)).map(|waiting| (0, waiting)).collect(),
        }
    }

    /// Removes and returns the next state. `found` is the number of tests so far; only `Nearest` uses it.
    pub fn pop(&mut self, found: u64) -> Option<Waiting> {
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
            Frontier::Nearest(nearest) => nearest.pop(found),
        }
    }

    /// Reduces the number of states that are not parked, if memory is scarce.
    pub fn park_more_states(&mut self) {
        if let Frontier::Nearest(nearest) = self {
            nearest.park_more_states();
        }
    }

    /// Removes all states.
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
