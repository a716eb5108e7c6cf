//! Replay of a known path: its choices replace the search, its inputs replace the solver.

use crate::state::trail::Choice;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::collections::VecDeque;
use touchstone_solver::{Model, VarId};

/// The identity of an input: its number on its path, its width and its name, the same wherever the path is executed.
pub(crate) type InputKey = (u32, u8, Box<str>);

/// A path that is replayed.
pub(crate) struct PathReplay {
    /// The choices that are still ahead.
    choices: VecDeque<Choice>,
    /// Inputs that take the path.
    inputs: FxHashMap<InputKey, u64>,
    values: FxHashMap<VarId, u64>,
    /// The model of the values so far, computed on demand.
    model: OnceCell<Model>,
}

impl PathReplay {
    pub fn new(choices: &[Choice], inputs: FxHashMap<InputKey, u64>) -> PathReplay {
        let choices = choices.iter().copied().collect();
        PathReplay { choices, inputs, values: FxHashMap::default(), model: OnceCell::new() }
    }

    /// Creates the replay of a path of the same executor, where its variables are known.
    pub fn with_values(choices: &[Choice], values: impl IntoIterator<Item = (VarId, u64)>) -> PathReplay {
        PathReplay { values: values.into_iter().collect(), ..PathReplay::new(choices, FxHashMap::default()) }
    }

    /// Binds an input that the path has reached to its variable.
    pub fn meet(&mut self, key: &InputKey, var: VarId) {
        if let Some(value) = self.inputs.get(key)
            && self.values.insert(var, *value).is_none()
        {
            self.model = OnceCell::new();
        }
    }

    /// Returns the model of the inputs that the path has reached.
    pub fn model(&self) -> &Model {
        self.model.get_or_init(|| Model::from_values(self.values.iter().map(|(var, value)| (*var, *value))))
    }

    /// Consumes and returns the next choice if `of` accepts it.
    pub fn next<T>(&mut self, of: impl FnOnce(Choice) -> Option<T>) -> Option<T> {
        let found = of(*self.choices.front()?)?;
        self.choices.pop_front();
        Some(found)
    }

    /// Returns true if all choices were consumed.
    pub fn is_over(&self) -> bool {
        self.choices.is_empty()
    }
}
