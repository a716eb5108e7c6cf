//! The initial states of the function under test: its inputs, with the precondition assumed and every pointer
//! materialised that it reads.

use crate::config::Entry;
use crate::exec::executor::Executor;
use crate::exec::instructions::fork::Fork;
use crate::exec::instructions::step::{Flow, StepResult};
use crate::goals::tracker::GoalHit;
use crate::state::inputs::Inputs;
use crate::state::memory::Memory;
use crate::state::trail::{Choice, Trail};
use crate::state::value::Value;
use crate::state::{PathEnd, State, Stop};
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Incomplete, IncompletePaths, Unsupported};
use touchstone_ir::{FuncId, PathHash};
use touchstone_solver::Path;

impl Executor<'_> {
    /// Creates the states before the call with their globals and arguments: one for every number of command-line
    /// arguments of a program, else just one.
    pub(crate) fn initial(&mut self, func: FuncId) -> Result<Vec<(State, Vec<Value>)>, Stop> {
        let mut state = State {
            frames: Vec::new(),
            memory: Memory::default(),
            path: Path::new(),
            hash: PathHash::new(),
            trail: Trail::default(),
            depth: 0,
            steps: 0,
            charged_steps: 0,
            inputs: Rc::new(Inputs::default()),
            fixed: Rc::default(),
            proper: None,
            pending: Rc::default(),
            caveats: Rc::default(),
            composed: false,
            returned: None,
        };
        if !self.module.startup.is_empty() {
            let span = self.module.functions[func].span;
            return Err(Stop::unsupported(Unsupported::StartUp, span));
        }
        self.globals(&mut state, func)?;
        self.keep_caveats(&mut state);
        let function = &self.module.functions[func];
        let reads_words = function.params.iter().any(|param| function.reads(param.reg));
        match (self.config.entry, self.config.arguments) {
            (Entry::Function, _) => {
                let arguments = self.arguments(&mut state, func)?;
                Ok(vec![(state, arguments)])
            }
            (Entry::Program, Some((most, length))) if reads_words => {
                if function.params.len() > 2 {
                    self.give_up(Unsupported::ThirdArgument.into(), function.span, 1);
                }
                // A caller may pass more arguments, or longer ones.
                self.give_up(Incomplete::Bound(Bound::Arguments), function.span, 1);
                let called = |words: u32| {
                    let mut state = state.clone();
                    state.trail.choose(Choice::Start(words));
                    let arguments = self.program_arguments(&mut state, func, words, length)?;
                    Ok((state, arguments))
                };
                (0..=most).map(called).collect()
            }
            (Entry::Program, _) => {
                if reads_words {
                    self.give_up(Unsupported::ProgramArguments.into(), function.span, 1);
                }
                let arguments = self.program_arguments(&mut state, func, 0, 0)?;
                Ok(vec![(state, arguments)])
            }
        }
    }

    /// Assumes the precondition, if there is one.
    pub(crate) fn assume_precondition(
        &mut self,
        state: &mut State,
        func: FuncId,
        arguments: &[Value],
    ) -> Result<(), Stop> {
        let Some(name) = &self.config.precondition else { return Ok(()) };
        let Some(precondition) = self.module.function_named(name) else { return Ok(()) };
        let visible = self.visible(func, arguments);
        let allowed = self.fold_truth(state, precondition, visible)?;
        Ok(self.assume_all(state, &[allowed])?)
    }

    /// Returns the arguments without the hidden result pointer.
    pub(crate) fn visible(&self, func: FuncId, arguments: &[Value]) -> Vec<Value> {
        let hidden = usize::from(self.module.functions[func].aggregate_result);
        arguments[hidden.min(arguments.len())..].to_vec()
    }

    /// Assumes the precondition and enters the function under test. At a fork the state has not entered yet.
    pub(crate) fn begin(&mut self, state: &mut State, func: FuncId, arguments: &[Value]) -> StepResult {
        let begun = self.assume_precondition(state, func, arguments).and_then(|()| {
            let before = state.clone();
            self.enter(state, func, arguments.to_vec(), None).inspect_err(|_| *state = before)
        });
        self.stepped(begun.map(|()| Flow::Next))
    }

    /// Returns all initial states, inside of the function.
    pub(crate) fn starts(&mut self, func: FuncId) -> Result<Starts, PathEnd> {
        let initial = self.initial(func);
        let mut starts = Starts { states: Vec::new(), hits: Vec::new(), gave_up: self.stepped(Ok(Flow::Next)).gave_up };
        let mut pending = match initial {
            Ok(states) => states,
            Err(Stop::End(PathEnd::Assumed)) => return Ok(starts),
            Err(Stop::End(end)) => return Err(end),
            Err(Stop::Materialise(..) | Stop::Enumerate(_)) => return Err(undecided(self.module.functions[func].span)),
        };
        while let Some((mut state, arguments)) = pending.pop() {
            let begun = self.begin(&mut state, func, &arguments);
            starts.hits.extend(begun.hits);
            starts.gave_up.extend(begun.gave_up);
            match begun.flow {
                Flow::Next => starts.states.push(state),
                Flow::Fork(Fork::Shape { id, purpose }) => {
                    for option in self.pointer_targets(&state, id, purpose) {
                        match option {
                            Ok(state) => pending.push((state, arguments.clone())),
                            Err(PathEnd::Assumed) => {}
                            Err(end) => return Err(end),
                        }
                    }
                }
                Flow::End(PathEnd::Assumed) => {}
                Flow::End(end) => return Err(end),
                Flow::Fork(_) => return Err(undecided(self.module.functions[func].span)),
            }
        }
        Ok(starts)
    }
}

/// The initial states, and what was reached or given up before them.
pub(crate) struct Starts {
    pub states: Vec<State>,
    /// Goals at the entry.
    pub hits: Vec<GoalHit>,
    pub gave_up: Vec<IncompletePaths>,
}

fn undecided(span: Span) -> PathEnd {
    PathEnd::Incomplete { why: Unsupported::Start.into(), span }
}
