//! Prefixes: a waiting state as the choices from the entry to it.
//!
//! States consist of shared pointers and of terms of their own executor, so they cannot leave it. A prefix can: it is
//! plain data, and any executor replays it to the same state without a solver query, since the inputs that it carries
//! satisfy every condition on the way. So a search can be continued in another run, thread or machine.
//!
//! Deliberately not here: the distribution of prefixes; the paper's direct mode, in which forks are no outcomes; goals
//! with eager aliases, where the detection of a goal may fix an index, so that the path depends on which goals were
//! open.

use crate::config::Config;
use crate::exec::executor::Executor;
use crate::exec::executor::path_replay::PathReplay;
use crate::search::exploration::Exploration;
use crate::search::path_following::{InvalidPrefix, follow};
use crate::search::search_events::Sink;
use crate::search::search_result::{ExplorationResult, SearchTarget};
use crate::state::State;
use crate::state::trail::Choice;
use crate::state::value::Value;
use touchstone_ir::{FuncId, Module};

/// The prefix of a path, up to a state.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Prefix {
    /// The choices, in order.
    pub choices: Vec<Choice>,
    /// Inputs that take the prefix; missing ones are zero.
    pub inputs: Vec<PrefixInput>,
    /// The number of instructions.
    pub steps: u64,
    /// Those that count for `Config::steps`.
    pub charged_steps: u64,
    /// The fingerprint of the state, checked after a replay.
    pub fingerprint: u64,
}

/// The value of an input.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct PrefixInput {
    /// Its number on the path.
    pub number: u32,
    /// Its width in bits.
    pub width: u8,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: u64,
}

/// Explores `func` for a number of turns (a turn follows one state to its end, or to its next fork), and returns the
/// prefixes of the remaining states.
pub fn explore_turns(
    module: &Module,
    func: FuncId,
    wanted: SearchTarget,
    config: &Config,
    sink: &mut dyn Sink,
    turns: u64,
) -> (ExplorationResult, Vec<Prefix>) {
    let mut exploration = Exploration::new(module, func, wanted, config, sink);
    exploration.begin();
    exploration.turn(turns);
    let waiting = exploration.waiting();
    let prefixes = waiting.iter().map(|state| prefix(&mut exploration.executor, state)).collect();
    // Deferred queries belong to states that are gone by now: no prefix describes them.
    exploration.finish();
    (exploration.found(), prefixes)
}

/// Explores everything behind a prefix. It only reports goals that it covers: proofs need a complete search.
///
/// # Errors
///
/// If the prefix does not reproduce its state.
pub fn explore_from(
    module: &Module,
    func: FuncId,
    prefix: &Prefix,
    wanted: SearchTarget,
    config: &Config,
    sink: &mut dyn Sink,
) -> Result<ExplorationResult, InvalidPrefix> {
    let mut exploration = Exploration::new(module, func, wanted, config, sink);
    let (state, arguments) = find(&mut exploration.executor, func, prefix)?;
    exploration.resume_from(state, arguments);
    exploration.turn(u64::MAX);
    exploration.finish();
    Ok(exploration.found())
}

/// Returns the prefix of a state.
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
        charged_steps: state.charged_steps,
        fingerprint: executor.fingerprint(state),
    }
}

/// Replays a prefix; returns the state and the arguments of the function under test.
fn find(executor: &mut Executor<'_>, func: FuncId, prefix: &Prefix) -> Result<(State, Vec<Value>), InvalidPrefix> {
    let value = |input: &PrefixInput| ((input.number, input.width, input.name.as_str().into()), input.value);
    executor.replay = Some(PathReplay::new(&prefix.choices, prefix.inputs.iter().map(value).collect()));
    let starts = executor.initial(func).map_err(|_| InvalidPrefix("it has no start"));
    let found = starts.and_then(|starts| follow(executor, func, starts.into_iter(), prefix.steps));
    executor.replay = None;
    let (mut state, arguments) = found?;
    state.charged_steps = prefix.charged_steps;
    if executor.fingerprint(&state) != prefix.fingerprint {
        return Err(InvalidPrefix("the state is another"));
    }
    Ok((state, arguments))
}
