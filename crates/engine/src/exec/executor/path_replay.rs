//! Following a path that is known: its choices instead of a search, its inputs instead of the solver.

use crate::state::trail::Choice;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::collections::VecDeque;
use touchstone_solver::{Model, VarId};

/// An input by its number on its path, its width and its name: the same wherever the path is executed.
pub(crate) type InputKey = (u32, u8, Box<str>);

/// What is known of a path.
pub(crate) struct PathReplay {
    /// Those that are still to come.
    choices: VecDeque<Choice>,
    /// Inputs that take the path.
    inputs: FxHashMap<InputKey, u64>,
    values: FxHashMap<VarId, u64>,
    /// Of the values so far, once somebody asked.
    model: OnceCell<Model>,
}

impl PathReplay {
    pub fn new(choices: &[Choice], inputs: FxHashMap<InputKey, u64>) -> PathReplay {
        let choices = choices.iter().copied().collect();
        PathReplay { choices, inputs, values: FxHashMap::default(), model: OnceCell::new() }
    }

    /// Of a path of the same executor: its variables are known.
    pub fn with_values(choices: &[Choice], values: impl IntoIterator<Item = (VarId, u64)>) -> PathReplay {
        PathReplay { values: values.into_iter().collect(), ..PathReplay::new(choices, FxHashMap::default()) }
    }

    /// An input came up.
    pub fn meet(&mut self, key: &InputKey, var: VarId) {
        if let Some(value) = self.inputs.get(key)
            && self.values.insert(var, *value).is_none()
        {
            self.model = OnceCell::new();
        }
    }

    /// The inputs that have come up.
    pub fn model(&self) -> &Model {
        self.model.get_or_init(|| Model::from_values(self.values.iter().map(|(var, value)| (*var, *value))))
    }

    /// The next choice, if it is of the right kind.
    pub fn next<T>(&mut self, of: impl FnOnce(Choice) -> Option<T>) -> Option<T> {
        let found = of(*self.choices.front()?)?;
        self.choices.pop_front();
        Some(found)
    }

    /// Whether every choice was made.
    pub fn is_over(&self) -> bool {
        self.choices.is_empty()
    }
}
