//! One function's share of a plan, as it is worked on: what every stage reads.

use super::campaign_plan::{Plan, Task};
use crate::reuse::measured_suite::Suite;
use std::rc::Rc;
use touchstone_criteria::{GoalCriterion, GoalIndex, Objectives, Status, TestKind};
use touchstone_engine::{Config, EvaluatedRow};
use touchstone_ir::{DecisionId, FuncId, Module};

/// One function's share of a plan.
pub(crate) struct Work<'p> {
    pub plan: &'p Plan,
    pub task: &'p Task,
    /// How it is explored, with its deadline.
    pub config: Config,
    /// The criteria whose objectives are goals.
    pub criteria: Vec<&'static dyn GoalCriterion>,
    /// What is to be covered, and at last the verdicts.
    pub wanted: Objectives,
    /// Looks for what is wanted. Made once: the graphs of wide decisions take long.
    pub watch: Rc<GoalIndex>,
    /// What a measured suite evaluated of decisions, with the test.
    pub known: Vec<(String, EvaluatedRow)>,
    /// Inputs of tests that are there, which are run first.
    pub again: Vec<TestKind>,
}

impl<'p> Work<'p> {
    /// From now on, time counts.
    pub fn begin(plan: &'p Plan, task: &'p Task) -> Work<'p> {
        let module = &plan.program.module;
        let first_round = plan.request.first_round();
        let config = Config { deadline: plan.deadline(), first_round, ..task.config.clone() };
        let criteria = plan.request.labellings();
        let mut wanted = touchstone_criteria::objectives(module, &task.functions, &criteria, &task.criteria);
        let mut known = Vec::new();
        if let Some(suite) = &plan.suite {
            suite.settle(module, &mut wanted);
            known = task.functions.iter().flat_map(|func| suite.rows(module, *func)).collect();
        }
        let watch = Rc::new(GoalIndex::new(module, wanted.goals.clone()));
        let again = match plan.request.runs_first() {
            true => plan.earlier.inputs(module, task.func),
            false => Vec::new(),
        };
        Work { plan, task, config, criteria, wanted, watch, known, again }
    }

    /// What this suite covers is covered.
    pub fn settle(&mut self, suite: &Suite) {
        let module = self.module();
        suite.settle(module, &mut self.wanted);
        self.known.extend(self.task.functions.iter().flat_map(|func| suite.rows(module, *func)));
    }

    /// Whether all that is asked of a decision is left alone.
    pub fn is_unaffected(&self, func: FuncId, decision: DecisionId) -> bool {
        let mut asked = self.watch.decision(func, decision).into_iter().flat_map(|watch| &watch.goals).peekable();
        asked.peek().is_some() && asked.all(|goal| self.wanted.list[*goal].status == Status::Unaffected)
    }

    pub fn module(&self) -> &'p Module {
        &self.plan.program.module
    }

    pub fn name(&self) -> &'p str {
        &self.module().functions[self.task.func].name
    }
}
