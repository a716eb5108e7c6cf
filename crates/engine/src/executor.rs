//! The executor: everything that executing one instruction needs, whoever drives it.
//!
//! Two drivers use it: exploration (`explore.rs`), which follows every feasible path, and folding (`fold.rs`), which
//! turns a whole function into one term. They differ in what a check and a branch mean; instructions are the same.

use crate::config::Config;
use crate::coverage::{Coverage, Hit, Postponed};
use crate::graph::Graph;
use crate::memory::Pointers;
use crate::state::{PathEnd, State, Stop};
use crate::value::Scalar;
use crate::world::World;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Doubt, Incomplete, IncompletePaths};
use touchstone_ir::{CondId, ErrorKind, FuncId, GlobalId, Module};
use touchstone_solver::{Op, Rel, Side, Solver, TermId, Terms};

/// Who drives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// A check that can fail splits the path.
    Explore,
    /// A check that can fail makes the execution improper under its negation.
    Fold,
}

/// A check of an instruction: what must hold, and the error if it does not.
pub(crate) struct Check {
    pub fine: TermId,
    pub kind: ErrorKind,
    pub span: Span,
}

/// Everything that executing one instruction needs.
pub(crate) struct Executor<'m> {
    pub module: &'m Module,
    pub config: &'m Config,
    pub mode: Mode,
    pub world: World,
    /// Inputs were left out: something has no defined result for them, or they have pointers in order whose objects are
    /// different, or objects have other addresses there.
    pub avoided: bool,
    /// What the tested world leaves out.
    pub met: BTreeSet<Doubt>,
    /// What the last step rests on in a wider world; it goes to the state.
    pub raised: Vec<Doubt>,
    /// Addresses that are null and an index: there is nothing, in any world.
    pub null_based: FxHashSet<TermId>,
    /// Globals that input pointers may lead to.
    pub reachable_globals: BTreeSet<GlobalId>,
    pub terms: Terms,
    pub solver: Solver,
    pub pointers: Pointers,
    /// Variables of inputs by their number on their path, width and name.
    pub input_vars: FxHashMap<(u32, u8, Box<str>), TermId>,
    /// Paths that a check has ended; the driver takes them from here.
    pub ended: Vec<(State, PathEnd)>,
    /// What is to be covered.
    pub coverage: Option<Coverage>,
    /// Goals that the last step reached; the driver takes them from here.
    pub hits: Vec<Hit>,
    /// Questions for labels that wait; the driver asks those of them that are still open when nothing else is left.
    pub postponed: Vec<Postponed>,
    /// Scratch: outcomes of one evaluation of a decision.
    pub outcomes: Vec<(CondId, bool)>,
    /// Checks that were made, for a driver that wants to know.
    pub checks: Option<Vec<Check>>,
    /// Questions asked for labels.
    pub labels_asked: u64,
    /// Of them, those that some input answers.
    pub labels_found: u64,
    /// Bytes of large objects that were made or copied since memory was looked at.
    pub heavy: u64,
    /// Branch sides and checks that no input of their path takes.
    pub infeasible: u64,
    incomplete: Vec<IncompletePaths>,
    last_given_up: Option<IncompletePaths>,
    graphs: Vec<Option<Graph>>,
}

impl<'m> Executor<'m> {
    pub fn new(module: &'m Module, config: &'m Config) -> Executor<'m> {
        let solver = Solver::new(touchstone_solver::Config {
            timeout: config.solver_timeout,
            deadline: config.deadline,
            interrupt: config.interrupt.clone(),
            seed: config.seed,
            ..touchstone_solver::Config::default()
        });
        Executor {
            module,
            config,
            mode: Mode::Explore,
            world: World::Tested,
            avoided: false,
            met: BTreeSet::new(),
            raised: Vec::new(),
            null_based: FxHashSet::default(),
            reachable_globals: BTreeSet::new(),
            terms: Terms::new(),
            solver,
            pointers: Pointers::default(),
            input_vars: FxHashMap::default(),
            ended: Vec::new(),
            coverage: None,
            hits: Vec::new(),
            postponed: Vec::new(),
            outcomes: Vec::new(),
            checks: None,
            labels_asked: 0,
            labels_found: 0,
            heavy: 0,
            infeasible: 0,
            incomplete: Vec::new(),
            last_given_up: None,
            graphs: module.functions.values().map(|_| None).collect(),
        }
    }

    /// The control flow of a function, computed once.
    pub fn graph(&mut self, func: FuncId) -> &Graph {
        let module = self.module;
        self.graphs[func.index()].get_or_insert_with(|| Graph::of(&module.functions[func]))
    }

    /// Remembers that a path was given up.
    pub fn give_up(&mut self, why: Incomplete, span: Span, count: u64) {
        self.last_given_up = Some(IncompletePaths { why: why.clone(), span, count });
        match self.incomplete.iter_mut().find(|known| known.why == why && known.span == span) {
            Some(known) => known.count += count,
            None => self.incomplete.push(IncompletePaths { why, span, count }),
        }
    }

    /// What was given up last.
    pub fn last_given_up(&self) -> Option<IncompletePaths> {
        self.last_given_up.clone()
    }

    /// How much was given up so far.
    pub fn given_up(&self) -> u64 {
        self.incomplete.iter().map(|paths| paths.count).sum()
    }

    /// What was given up, by reason and place.
    pub fn incomplete(&self) -> Vec<IncompletePaths> {
        let mut sorted = self.incomplete.clone();
        sorted.sort();
        sorted
    }

    /// Goes on only where `fine` holds; where it doesn't, the path ends with this error.
    pub fn require(&mut self, state: &mut State, fine: TermId, kind: ErrorKind, span: Span) -> Result<(), Stop> {
        self.require_near(state, fine, kind, span, Scalar::Const(0))
    }

    /// Like [`Self::require`]; the error's example prefers an offset close to zero, which a real program shows better.
    pub fn require_near(
        &mut self,
        state: &mut State,
        fine: TermId,
        kind: ErrorKind,
        span: Span,
        offset: Scalar,
    ) -> Result<(), Stop> {
        if self.mode == Mode::Explore
            && let Some(checks) = &mut self.checks
        {
            checks.push(Check { fine, kind, span });
        }
        match self.terms.as_const(fine) {
            Some(0) if self.mode == Mode::Explore => {
                self.prefer_near(state, offset);
                return Err(Stop::error(kind, span));
            }
            Some(0) => return Err(Stop::End(PathEnd::Assumed)),
            Some(_) => return Ok(()),
            None => {}
        }
        if self.mode == Mode::Fold {
            state.proper = self.terms.and(state.proper, fine);
            return Ok(());
        }
        let (yes, no) = self.solver.branch(&mut self.terms, &state.path, fine);
        let failed = match no {
            Side::Feasible(path) => {
                let mut failed = state.clone();
                failed.path = path;
                self.prefer_near(&mut failed, offset);
                Some(failed)
            }
            Side::Infeasible => None,
            Side::Unknown(why) => {
                self.give_up(Incomplete::Solver(format!("{why:?}")), span, 1);
                None
            }
        };
        match yes {
            Side::Feasible(path) => {
                self.ended.extend(failed.map(|failed| (failed, PathEnd::Error { kind, span })));
                state.path = path;
                Ok(())
            }
            Side::Infeasible => match failed {
                Some(failed) => {
                    *state = failed;
                    Err(Stop::error(kind, span))
                }
                None => Err(Stop::End(PathEnd::Assumed)),
            },
            Side::Unknown(why) => {
                self.ended.extend(failed.map(|failed| (failed, PathEnd::Error { kind, span })));
                let why = Incomplete::Solver(format!("{why:?}"));
                Err(Stop::End(PathEnd::Incomplete { why, span }))
            }
        }
    }

    /// Narrows an error's example to an offset near the object, where a real program shows the error best.
    fn prefer_near(&mut self, state: &mut State, offset: Scalar) {
        let Scalar::Term(offset) = offset else { return };
        for reach in [16, 1 << 8, 1 << 12] {
            let shift = self.terms.constant(64, reach);
            let shifted = self.terms.bin(Op::Add, offset, shift);
            let limit = self.terms.constant(64, 2 * reach);
            let near = self.terms.cmp(Rel::Ult, shifted, limit);
            if let Side::Feasible(path) = self.solver.assume(&mut self.terms, &state.path, near) {
                state.path = path;
                return;
            }
        }
    }
}
