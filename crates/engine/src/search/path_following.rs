//! Replay of a path by its choices.

use crate::exec::executor::Executor;
use crate::exec::executor::path_replay::PathReplay;
use crate::exec::instructions::fork::Fork;
use crate::exec::instructions::step::{Flow, StepResult};
use crate::search::parked_state::ParkedState;
use crate::state::trail::Choice;
use crate::state::value::Value;
use crate::state::{State, Unfixed};
use std::rc::Rc;
use touchstone_ir::FuncId;
use touchstone_solver::Side;

/// A prefix that cannot be replayed: it belongs to another program, or to other options.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the prefix is of another program or of other options: {0}")]
pub struct InvalidPrefix(pub(super) &'static str);

/// Replays a parked state from the initial states of the executor, which are expensive for programs with large globals.
/// Also returns the arguments of the function under test. Effects of the replay were already reported.
pub(super) fn find_parked(
    executor: &mut Executor<'_>,
    func: FuncId,
    starts: &[(State, Vec<Value>)],
    parked: &ParkedState,
    replay: PathReplay,
) -> Option<(State, Vec<Value>)> {
    let deferred = executor.goal_tracker.deferred.len();
    let ledger = executor.ledger.clone();
    executor.replay = Some(replay);
    let found = follow(executor, func, starts.iter().cloned(), parked.steps);
    executor.replay = None;
    executor.ledger = ledger;
    executor.goal_tracker.deferred.truncate(deferred);
    let (mut state, arguments) = found.ok()?;
    state.charged_steps = parked.charged_steps;
    state.pending = parked.pending.clone().into();
    parked.is_at(&state).then_some((state, arguments))
}

pub(super) fn follow(
    executor: &mut Executor<'_>,
    func: FuncId,
    mut starts: impl Iterator<Item = (State, Vec<Value>)>,
    steps: u64,
) -> Result<(State, Vec<Value>), InvalidPrefix> {
    let chosen = next(executor, |choice| match choice {
        Choice::Start(number) => Some(number as usize),
        _ => None,
    });
    let start = starts.nth(chosen.unwrap_or(0));
    let (mut state, arguments) = start.ok_or(InvalidPrefix("it has another start"))?;
    loop {
        let begun = executor.begin(&mut state, func, &arguments);
        match begun.flow {
            Flow::Next => {
                keep_hits(&mut state, begun);
                break;
            }
            Flow::Fork(fork) => state = taken(executor, state, fork)?,
            Flow::End(_) => return Err(InvalidPrefix("it ends before the function")),
        }
    }
    while !(is_over(executor) && state.steps == steps) {
        if state.steps > steps {
            return Err(InvalidPrefix("it goes on elsewhere"));
        }
        let mut stepped = executor.step(&mut state);
        let flow = std::mem::replace(&mut stepped.flow, Flow::Next);
        keep_hits(&mut state, stepped);
        match flow {
            Flow::Next => {}
            Flow::Fork(fork) => state = taken(executor, state, fork)?,
            Flow::End(_) => return Err(InvalidPrefix("it ends early")),
        }
    }
    Ok((state, arguments))
}

/// Keeps the goals that the replay reached: they are reported when the path ends.
fn keep_hits(state: &mut State, stepped: StepResult) {
    for hit in stepped.hits.into_iter().filter(|hit| hit.path.is_none()) {
        Rc::make_mut(&mut state.pending).push(hit.goal);
    }
}

/// Takes the outcome of a fork that the replay prescribes.
fn taken(executor: &mut Executor<'_>, mut state: State, fork: Fork) -> Result<State, InvalidPrefix> {
    match fork {
        Fork::Outcome(fork) => {
            let wanted = next(executor, Some).ok_or(InvalidPrefix("a choice is missing"))?;
            state.depth += u32::from(fork.role().is_outcome());
            for outcome in executor.fork_outcomes(&state, &fork) {
                if let Side::Feasible(path) = outcome.side
                    && outcome.choice == wanted
                {
                    let taken = executor.take_outcome(&mut state, &fork, wanted, path);
                    keep_hits(&mut state, taken);
                    return Ok(state);
                }
            }
            Err(InvalidPrefix("another outcome"))
        }
        Fork::Shape { id, purpose } => {
            let number = next(executor, |choice| match choice {
                Choice::Shape(number) => Some(number as usize),
                _ => None,
            });
            let number = number.ok_or(InvalidPrefix("a shape is missing"))?;
            let shape = executor.pointer_targets(&state, id, purpose).into_iter().nth(number);
            shape.and_then(Result::ok).ok_or(InvalidPrefix("another shape"))
        }
        Fork::Value(unfixed) => fixed(executor, &state, unfixed),
        Fork::Labels { .. } => Err(InvalidPrefix("a fork on labels")),
    }
}

fn fixed(executor: &mut Executor<'_>, state: &State, unfixed: Unfixed) -> Result<State, InvalidPrefix> {
    let choice = next(executor, Some).ok_or(InvalidPrefix("a value is missing"))?;
    let fixed = match choice {
        Choice::Value(value) | Choice::Callee(value) => executor.fix(state, unfixed, value),
        Choice::Beyond(end) => executor.beyond(state, unfixed, end).ok().flatten(),
        _ => None,
    };
    fixed.ok_or(InvalidPrefix("another value"))
}

fn next<T>(executor: &mut Executor<'_>, of: impl FnOnce(Choice) -> Option<T>) -> Option<T> {
    executor.replay.as_mut().and_then(|replay| replay.next(of))
}

fn is_over(executor: &Executor<'_>) -> bool {
    executor.replay.as_ref().is_none_or(PathReplay::is_over)
}
