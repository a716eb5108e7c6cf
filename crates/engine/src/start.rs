//! The states that a run of the function under test can start in: inputs as `inputs.rs` makes them, the precondition
//! assumed, every pointer that it looks at decided.

use crate::config::Entry;
use crate::executor::Executor;
use crate::inputs::Inputs;
use crate::memory::Memory;
use crate::state::{PathEnd, State, Stop};
use crate::value::Value;
use std::rc::Rc;
use touchstone_criteria::{Bound, Incomplete};
use touchstone_ir::{FuncId, PathHash};
use touchstone_solver::Path;

impl Executor<'_> {
    /// The state before the call, with globals, and the arguments: one for every number of words that a program can be
    /// called with, else just one.
    pub(crate) fn initial(&mut self, func: FuncId) -> Result<Vec<(State, Vec<Value>)>, Stop> {
        let proper = self.terms.truth(true);
        let mut state = State {
            frames: Vec::new(),
            memory: Memory::default(),
            path: Path::new(),
            hash: PathHash::new(),
            trail: None,
            depth: 0,
            steps: 0,
            inputs: Rc::new(Inputs::default()),
            fixed: Rc::default(),
            proper,
            pending: Rc::default(),
            doubts: Rc::default(),
            returned: None,
        };
        self.globals(&mut state, func)?;
        self.keep_doubts(&mut state);
        let function = &self.module.functions[func];
        let reads_words = function.params.iter().any(|param| function.reads(param.reg));
        match (self.config.entry, self.config.arguments) {
            (Entry::Function, _) => {
                let arguments = self.arguments(&mut state, func)?;
                Ok(vec![(state, arguments)])
            }
            (Entry::Program, Some((most, length))) if reads_words => {
                if function.params.len() > 2 {
                    let why = Incomplete::Unsupported("the third argument of the program".to_string());
                    self.give_up(why, function.span, 1);
                }
                // A caller may give more of them, or longer ones.
                self.give_up(Incomplete::Bound(Bound::Arguments), function.span, 1);
                let called = |words: u32| {
                    let mut state = state.clone();
                    let arguments = self.program_arguments(&mut state, func, words, length)?;
                    Ok((state, arguments))
                };
                (0..=most).map(called).collect()
            }
            (Entry::Program, _) => {
                if reads_words {
                    let what = "arguments of the program (it is run without any; --argv makes them inputs)";
                    self.give_up(Incomplete::Unsupported(what.to_string()), function.span, 1);
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
        self.assume_all(state, &[allowed])
    }

    /// The arguments without the hidden result pointer.
    pub(crate) fn visible(&self, func: FuncId, arguments: &[Value]) -> Vec<Value> {
        let hidden = usize::from(self.module.functions[func].aggregate_result);
        arguments[hidden.min(arguments.len())..].to_vec()
    }

    /// All states that a run can start in, inside of the function; `Err` if one of them can't be made. Goals of the
    /// entry are in `hits`.
    pub(crate) fn starts(&mut self, func: FuncId) -> Result<Vec<State>, Stop> {
        let mut pending = match self.initial(func) {
            Err(Stop::End(PathEnd::Assumed)) => return Ok(Vec::new()),
            other => other?,
        };
        let mut starts = Vec::new();
        while let Some((state, arguments)) = pending.pop() {
            let mut entered = state.clone();
            let ready = self
                .assume_precondition(&mut entered, func, &arguments)
                .and_then(|()| self.enter(&mut entered, func, arguments.clone(), None));
            match ready {
                Ok(()) => starts.push(entered),
                Err(Stop::Force(id, purpose)) => {
                    for option in self.force(&state, id, purpose) {
                        match option {
                            Ok(state) => pending.push((state, arguments.clone())),
                            Err(Stop::End(PathEnd::Assumed)) => {}
                            Err(stop) => return Err(stop),
                        }
                    }
                }
                Err(Stop::End(PathEnd::Assumed)) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(starts)
    }
}
