//! The work on one function: the part of a plan that every stage reads.

use super::campaign_plan::{Plan, Task};
use crate::reuse::baseline_suite::BaselineSuite;
use std::sync::Arc;
use touchstone_criteria::{GoalCriterion, GoalIndex, Objectives, Status, TestKind};
use touchstone_engine::{Config, EvaluatedRow};
use touchstone_ir::{DecisionId, FuncId, Module};

/// The work on one function.
pub(crate) struct Work<'p> {
    pub plan: &'p Plan,
    pub task: &'p Task,
    /// The configuration of the exploration, with its deadline.
    pub config: Config,
    /// The criteria that have goals as objectives.
    pub criteria: Vec<&'static dyn GoalCriterion>,
    /// The objectives, and finally their verdicts.
    pub objectives: Objectives,
    /// Detects goals in runs. It is created once: the graphs of wide decisions are expensive.
    pub watch: Arc<GoalIndex>,
    /// The rows of decisions that a measured suite evaluated, with the test.
    pub suite_rows: Vec<(String, EvaluatedRow)>,
    /// Inputs of existing tests, which are run first.
    pub earlier_inputs: Vec<TestKind>,
}

impl<'p> Work<'p> {
    /// Starts the work, and with it the time.
    pub fn begin(plan: &'p Plan, task: &'p Task) -> Work<'p> {
        let module = &plan.program.module;
        let first_round = plan.request.first_round();
        let config = Config { deadline: plan.deadline(), first_round, ..task.config.clone() };
        let criteria = plan.request.labellings();
        let mut objectives = touchstone_criteria::objectives(module, &task.functions, &criteria, &task.criteria);
        let mut suite_rows = Vec::new();
        if let Some(suite) = &plan.suite {
            suite.settle(module, &mut objectives);
            suite_rows = task.functions.iter().flat_map(|func| suite.rows(module, *func)).collect();
        }
        let watch = Arc::new(GoalIndex::new(module, objectives.goals.clone()));
        let earlier_inputs = match plan.request.runs_first() {
            true => plan.earlier.inputs(module, task.func),
            false => Vec::new(),
        };
        Work { plan, task, config, criteria, objectives, watch, suite_rows, earlier_inputs }
    }

    /// Marks the objectives that a suite covers.
    pub fn settle(&mut self, suite: &BaselineSuite) {
        let module = self.module();
        suite.settle(module, &mut self.objectives);
        self.suite_rows.extend(self.task.functions.iter().flat_map(|func| suite.rows(module, *func)));
    }

    /// Returns true if all goals of a decision are unaffected by the change.
    pub fn is_unaffected(&self, func: FuncId, decision: DecisionId) -> bool {
        let mut asked = self.watch.decision(func, decision).into_iter().flat_map(|watch| &watch.goals).peekable();
        asked.peek().is_some() && asked.all(|goal| self.objectives.list[*goal].status == Status::Unaffected)
    }

    pub fn module(&self) -> &'p Module {
        &self.plan.program.module
    }

    pub fn name(&self) -> &'p str {
        &self.module().functions[self.task.func].name
    }
}
