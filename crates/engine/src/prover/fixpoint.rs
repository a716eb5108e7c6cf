//! The fixpoint of a function: the abstract state at the start of every block, by iteration with widening, then
//! narrowing.
//!
//! Narrowing recomputes the state of a block from its predecessors. Every state in the process covers every run, so
//! stopping it anywhere is sound.

use crate::prover::abstract_state::AbstractState;
use crate::prover::function_facts::FunctionFacts;
use crate::prover::transfer::Edge;
use std::collections::BTreeSet;
use touchstone_base::{Deadline, Id, WorkKind, spend};
use touchstone_ir::{BlockId, Cfg, Inst};

/// The number of arrivals at a block after which it is widened to landmarks.
const WIDEN_AFTER: u32 = 3;
/// The number of arrivals after which it is widened to the limits of its types.
const WIDEN_TO_TOP_AFTER: u32 = 40;
/// The number of narrowing passes.
const NARROWING_PASSES: usize = 3;
/// The maximum number of blocks executed for one function.
const MAX_BLOCKS_EXECUTED: u32 = 40_000;
/// The maximum number of abstract values (registers at every block) that are stored for a function.
const MAX_VALUES_STORED: u64 = 2_000_000;
/// The maximum number of abstract values computed for one proof, over all functions: about two seconds.
const MAX_VALUES_COMPUTED: u64 = 40_000_000;
/// The number of blocks between two checks of the deadline.
const BLOCKS_PER_DEADLINE_CHECK: u32 = 64;

/// The remaining budget of one proof, over all functions.
pub(crate) struct ProofBudget {
    values: u64,
    deadline: Deadline,
}

impl ProofBudget {
    pub fn new(deadline: Deadline) -> ProofBudget {
        ProofBudget { values: MAX_VALUES_COMPUTED, deadline }
    }
}

/// The abstract state at the start of every block; `None` for unreachable blocks.
pub(crate) struct Fixpoint {
    pub states: Vec<Option<AbstractState>>,
}

impl FunctionFacts<'_> {
    /// Computes the fixpoint from an initial state; `None` if the budget does not suffice.
    pub fn fixpoint(&self, start: &AbstractState, work: &mut ProofBudget) -> Option<Fixpoint> {
        let blocks = &self.function.blocks;
        let values = self.function.regs.len() as u64;
        if values * blocks.len() as u64 > MAX_VALUES_STORED {
            return None;
        }
        let cfg = Cfg::new(self.function);
        let mut order = vec![usize::MAX; blocks.len()];
        for (position, block) in cfg.reverse_post_order().iter().enumerate() {
            order[block.index()] = position;
        }
        let mut states: Vec<Option<AbstractState>> = vec![None; blocks.len()];
        let mut entered = vec![0u32; blocks.len()];
        let first = BlockId::new(0);
        states[first.index()] = Some(start.clone());
        let mut pending = BTreeSet::from([(order[first.index()], first)]);
        let mut steps = 0;
        while let Some((_, block)) = pending.pop_first() {
            steps += 1;
            if steps > MAX_BLOCKS_EXECUTED
                || (steps.is_multiple_of(BLOCKS_PER_DEADLINE_CHECK) && work.deadline.is_over())
            {
                return None;
            }
            work.values = work.values.checked_sub(values)?;
            spend(WorkKind::AbstractValue, values);
            let Some(state) = states[block.index()].clone() else { continue };
            for edge in self.run_block(block, state, &mut |_, _| {}) {
                let target = edge.target.index();
                let joined = match &states[target] {
                    None => edge.state,
                    Some(known) => {
                        let landmarks = match entered[target] {
                            0..WIDEN_AFTER => None,
                            WIDEN_AFTER..WIDEN_TO_TOP_AFTER => Some(self.landmarks.as_slice()),
                            _ => Some([].as_slice()),
                        };
                        known.join(&edge.state, landmarks)
                    }
                };
                if states[target].as_ref() != Some(&joined) {
                    states[target] = Some(joined);
                    entered[target] += 1;
                    pending.insert((order[target], edge.target));
                }
            }
        }
        self.narrow(start, &cfg, &mut states, work.deadline);
        Some(Fixpoint { states })
    }

    fn narrow(&self, start: &AbstractState, cfg: &Cfg, states: &mut [Option<AbstractState>], deadline: Deadline) {
        let run = |states: &[Option<AbstractState>], block: BlockId| match &states[block.index()] {
            Some(state) => self.run_block(block, state.clone(), &mut |_, _| {}),
            None => Vec::new(),
        };
        let mut edges: Vec<Vec<Edge>> = self.function.blocks.ids().map(|block| run(states, block)).collect();
        for _ in 0..NARROWING_PASSES {
            for &block in cfg.reverse_post_order() {
                if deadline.is_over() {
                    return;
                }
                spend(WorkKind::AbstractValue, self.function.regs.len() as u64);
                let mut all = (block.index() == 0).then(|| start.clone());
                for from in cfg.predecessors(block) {
                    for edge in edges[from.index()].iter().filter(|edge| edge.target == block) {
                        all = Some(all.map_or_else(|| edge.state.clone(), |all| all.join(&edge.state, None)));
                    }
                }
                if all != states[block.index()] {
                    states[block.index()] = all;
                    edges[block.index()] = run(states, block);
                }
            }
        }
    }

    /// Executes a block and returns its outgoing edges; `look` receives every instruction with the state before it, and
    /// the terminator as `None`.
    pub fn run_block(
        &self,
        block: BlockId,
        mut state: AbstractState,
        look: &mut dyn FnMut(Option<&Inst>, &AbstractState),
    ) -> Vec<Edge> {
        let content = &self.function.blocks[block];
        for inst in &content.insts {
            look(Some(inst), &state);
            if self.step(&mut state, inst).is_err() {
                return Vec::new();
            }
        }
        look(None, &state);
        let mut edges = self.edges(state, &content.terminator.kind);
        edges.retain(|edge| edge.outcome.is_none_or(|outcome| !self.dead.contains(&(block, outcome))));
        edges
    }
}
