//! Prefixes: a state that waits, as the choices that lead to it.
//!
//! States are made of shared pointers and of terms that only their own executor knows, so they can't leave it. A prefix can: it is
//! plain data, and any executor gets from it to the state again, without a question to the solver, since the inputs
//! that it carries satisfy every condition on the way. So a search can stop here and go on there: in another run,
//! thread or machine.
//!
//! Deliberately not here: who distributes prefixes; the paper's direct mode, whose forks are no outcomes; and goals with eager
//! aliases, where looking at a goal may fix an index, so that the way depends on which goals were open.

use crate::config::Config;
use crate::exec::executor::Executor;
use crate::exec::executor::path_replay::PathReplay;
use crate::search::events::Sink;
use crate::search::exploration::Exploration;
use crate::search::path_following::{LostPrefix, follow};
use crate::search::search_result::{Found, Wanted};
use crate::state::State;
use crate::state::trail::Choice;
use crate::state::value::Value;
use touchstone_ir::{FuncId, Module};

/// The way to a state.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Prefix {
    /// What was chosen, in order.
    pub choices: Vec<Choice>,
    /// Inputs that lead there; those that are missing are zero.
    pub inputs: Vec<PrefixInput>,
    /// Instructions on the way.
    pub steps: u64,
    /// What the state is there: whoever follows the prefix finds the same.
    pub fingerprint: u64,
}

/// The value of an input.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct PrefixInput {
    /// Its number on the path.
    pub number: u32,
    /// In bits.
    pub width: u8,
    /// What it is called.
    pub name: String,
    /// What leads there.
    pub value: u64,
}

/// Explores `func` for so many turns (a turn follows one state to its end, or to its next fork), and gives the way to every
/// state that is left.
pub fn explore_turns(
    module: &Module,
    func: FuncId,
    wanted: Wanted,
    config: &Config,
    sink: &mut dyn Sink,
    turns: u64,
) -> (Found, Vec<Prefix>) {
    let mut exploration = Exploration::new(module, func, wanted, config, sink);
    exploration.begin();
    exploration.turn(turns);
    let waiting = exploration.waiting();
    let prefixes = waiting.iter().map(|state| prefix(&mut exploration.executor, state)).collect();
    // Questions that were put off are about states that are gone by now: no prefix leads there.
    exploration.finish();
    (exploration.found(), prefixes)
}

/// Explores everything that a prefix leads to. Of goals, it only tells which it found: what is proved of them, a whole search says.
///
/// # Errors
/// If the prefix does not lead to the state that it was made of.
pub fn explore_from(
    module: &Module,
    func: FuncId,
    prefix: &Prefix,
    wanted: Wanted,
    config: &Config,
    sink: &mut dyn Sink,
) -> Result<Found, LostPrefix> {
    let mut exploration = Exploration::new(module, func, wanted, config, sink);
    let (state, arguments) = find(&mut exploration.executor, func, prefix)?;
    exploration.resume_from(state, arguments);
    exploration.turn(u64::MAX);
    exploration.finish();
    Ok(exploration.found())
}

/// The way to a state.
fn prefix(executor: &mut Executor<'_>, state: &State) -> Prefix {
    let input = |((number, width, name), value): ((u32, u8, Box<str>), u64)| PrefixInput {
        number,
        width,
        name: name.into(),
        value,
    };
    Prefix {
        choices: state.trail.choices(),
        inputs: executor.input_values(&state.path).into_iter().map(input).collect(),
        steps: state.steps,
        fingerprint: executor.fingerprint(state),
    }
}

/// The state that a prefix leads to, and what the function under test was called with.
fn find(executor: &mut Executor<'_>, func: FuncId, prefix: &Prefix) -> Result<(State, Vec<Value>), LostPrefix> {
    let value = |input: &PrefixInput| ((input.number, input.width, input.name.as_str().into()), input.value);
    executor.replay = Some(PathReplay::new(&prefix.choices, prefix.inputs.iter().map(value).collect()));
    let starts = executor.initial(func).map_err(|_| LostPrefix("it has no start"));
    let found = starts.and_then(|starts| follow(executor, func, starts.into_iter(), prefix.steps));
    executor.replay = None;
    let (state, arguments) = found?;
    if executor.fingerprint(&state) != prefix.fingerprint {
        return Err(LostPrefix("the state is another"));
    }
    Ok((state, arguments))
}
