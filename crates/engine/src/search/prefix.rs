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
use crate::exec::executor::path_replay::Guide;
use crate::exec::instructions::fork::Fork;
use crate::exec::instructions::step::{Flow, Stepped};
use crate::search::explore::{Exploration, Sink};
use crate::search::found::{Found, Wanted};
use crate::search::parked::Parked;
use crate::state::trail::Choice;
use crate::state::value::Value;
use crate::state::{State, Unfixed};
use std::rc::Rc;
use touchstone_ir::{FuncId, Module};
use touchstone_solver::Side;

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

/// A prefix leads nowhere: it belongs to another program, or other options.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the prefix is of another program or of other options: {0}")]
pub struct LostPrefix(&'static str);

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
    exploration.go_on_from(state, arguments);
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
    executor.guide = Some(Guide::new(&prefix.choices, prefix.inputs.iter().map(value).collect()));
    let starts = executor.initial(func).map_err(|_| LostPrefix("it has no start"));
    let found = starts.and_then(|starts| follow(executor, func, starts.into_iter(), prefix.steps));
    executor.guide = None;
    let (state, arguments) = found?;
    if executor.fingerprint(&state) != prefix.fingerprint {
        return Err(LostPrefix("the state is another"));
    }
    Ok((state, arguments))
}

/// A state of the same executor that was parked, from the states that it started in: where a program has much in its globals, these are
/// dear. What happens on the way was told when it happened first.
pub(super) fn find_parked(
    executor: &mut Executor<'_>,
    func: FuncId,
    starts: &[(State, Vec<Value>)],
    parked: &Parked,
) -> Option<State> {
    let postponed = executor.watching.postponed.len();
    executor.guide = Some(parked.guide());
    let found = follow(executor, func, starts.iter().cloned(), parked.steps);
    executor.guide = None;
    executor.watching.postponed.truncate(postponed);
    let (mut state, _) = found.ok()?;
    state.pending = Rc::clone(&parked.pending);
    parked.is_at(&state).then_some(state)
}

fn follow(
    executor: &mut Executor<'_>,
    func: FuncId,
    mut starts: impl Iterator<Item = (State, Vec<Value>)>,
    steps: u64,
) -> Result<(State, Vec<Value>), LostPrefix> {
    let chosen = next(executor, |choice| match choice {
        Choice::Start(number) => Some(number as usize),
        _ => None,
    });
    let start = starts.nth(chosen.unwrap_or(0));
    let (mut state, arguments) = start.ok_or(LostPrefix("it has another start"))?;
    loop {
        let begun = executor.begin(&mut state, func, &arguments);
        match begun.flow {
            Flow::Next => {
                keep_hits(&mut state, begun);
                break;
            }
            Flow::Fork(fork) => state = taken(executor, state, fork)?,
            Flow::End(_) => return Err(LostPrefix("it ends before the function")),
        }
    }
    while !(is_over(executor) && state.steps == steps) {
        if state.steps > steps {
            return Err(LostPrefix("it goes on elsewhere"));
        }
        let mut stepped = executor.step(&mut state);
        let flow = std::mem::replace(&mut stepped.flow, Flow::Next);
        keep_hits(&mut state, stepped);
        match flow {
            Flow::Next => {}
            Flow::Fork(fork) => state = taken(executor, state, fork)?,
            Flow::End(_) => return Err(LostPrefix("it ends early")),
        }
    }
    Ok((state, arguments))
}

/// What was reached on the way is told when the path ends.
fn keep_hits(state: &mut State, stepped: Stepped) {
    for hit in stepped.hits.into_iter().filter(|hit| hit.path.is_none()) {
        Rc::make_mut(&mut state.pending).push(hit.goal);
    }
}

/// The state behind a fork, as the guide says.
fn taken(executor: &mut Executor<'_>, mut state: State, fork: Fork) -> Result<State, LostPrefix> {
    match fork {
        Fork::Outcome(fork) => {
            let wanted = next(executor, Some).ok_or(LostPrefix("a choice is missing"))?;
            state.depth += u32::from(fork.role().is_outcome());
            for way in executor.ways(&state, &fork) {
                if let Side::Feasible(path) = way.side
                    && way.choice == wanted
                {
                    let taken = executor.take(&mut state, &fork, wanted, path);
                    keep_hits(&mut state, taken);
                    return Ok(state);
                }
            }
            Err(LostPrefix("another outcome"))
        }
        Fork::Shape { id, purpose } => {
            let number = next(executor, |choice| match choice {
                Choice::Shape(number) => Some(number as usize),
                _ => None,
            });
            let number = number.ok_or(LostPrefix("a shape is missing"))?;
            let shape = executor.shapes(&state, id, purpose).into_iter().nth(number);
            shape.and_then(Result::ok).ok_or(LostPrefix("another shape"))
        }
        Fork::Value(unfixed) => fixed(executor, &state, unfixed),
        Fork::Labels { .. } => Err(LostPrefix("a fork on labels")),
    }
}

fn fixed(executor: &mut Executor<'_>, state: &State, unfixed: Unfixed) -> Result<State, LostPrefix> {
    let choice = next(executor, Some).ok_or(LostPrefix("a value is missing"))?;
    let fixed = match choice {
        Choice::Value(value) | Choice::Callee(value) => executor.fix(state, unfixed, value),
        Choice::Beyond(end) => executor.beyond(state, unfixed, end).ok().flatten(),
        _ => None,
    };
    fixed.ok_or(LostPrefix("another value"))
}

fn next<T>(executor: &mut Executor<'_>, of: impl FnOnce(Choice) -> Option<T>) -> Option<T> {
    executor.guide.as_mut().and_then(|guide| guide.next(of))
}

fn is_over(executor: &Executor<'_>) -> bool {
    executor.guide.as_ref().is_none_or(Guide::is_over)
}
