//! Differential testing of two versions in the reference interpreter: do they differ on an input, and is there a
//! variation of the tests' inputs on which they do? A search of this kind proves nothing, and needs nothing but runs.

use super::product_program::ProductProgram;
use crate::plan::Work;
use std::time::Duration;
use touchstone_base::{Deadline, IndexMap};
use touchstone_criteria::{EnvironmentInput, Expected, GoalIndex, HeapOrigin, NamedValue, Replay, TestCase, TestKind};
use touchstone_engine::{ConcreteRun, End, MachineTemplates, MutationSearch, RunObservation, watch_kind};
use touchstone_ir::{DataValue, FuncId, InputSource};

/// DifferentialRunner versions, ready to run on the same inputs.
pub(super) struct DifferentialRunner<'m> {
    machines: MachineTemplates<'m>,
    new: FuncId,
    old: FuncId,
}

/// Variation gets at most this share of a function's time, and at most [`MAX_VARIATION_TIME`].
const VARIATION_TIME_SHARE: u32 = 4;
const MAX_VARIATION_TIME: Duration = Duration::from_secs(3);

impl<'m> DifferentialRunner<'m> {
    pub fn of(product: &'m ProductProgram, new: FuncId) -> DifferentialRunner<'m> {
        DifferentialRunner { machines: MachineTemplates::of(&product.module), new, old: product.old }
    }

    /// Returns true if the versions differ on these inputs.
    pub fn differ(&self, kind: &TestKind, answers: &[EnvironmentInput]) -> bool {
        // A difference after earlier calls may stem from those calls.
        let TestKind::Function { earlier, globals, .. } = kind else { return false };
        if !earlier.is_empty() {
            return false;
        }
        let run = |func: FuncId| run_result(watch_kind(&self.machines, func, kind, answers, RunObservation::default()));
        match run(self.new).zip(run(self.old)) {
            Some((new, old)) => new.differs(&old, globals),
            None => false,
        }
    }

    /// Varies tests until the versions differ. Paths through the old version count as much as those through the new
    /// one.
    pub fn vary(&self, work: &Work<'_>, tests: &[TestCase]) -> Option<TestCase> {
        let some = tests.first()?;
        // The goals of the new version are those that the change affects; the old version has none.
        let nothing = GoalIndex::new(self.machines.module(), IndexMap::default());
        let time = work
            .plan
            .request
            .effort
            .budget
            .map_or(MAX_VARIATION_TIME, |budget| (budget / VARIATION_TIME_SHARE).min(MAX_VARIATION_TIME));
        let varied = |func: FuncId| {
            let variation = MutationSearch {
                machines: &self.machines,
                func,
                watch: if func == self.new { &work.watch } else { &nothing },
                config: &work.config,
                deadline: Deadline::after(time / 2),
                longest: MAX_VARIED_ELEMENTS,
                patience: MAX_RUNS_WITHOUT_GAIN,
                seed: work.config.options.seed,
                still: None,
                first: &[],
            };
            variation.until(tests, &mut |kind, answers| self.differ(kind, answers))
        };
        let (kind, answers) = varied(self.new).or_else(|| varied(self.old))?;
        Some(TestCase { kind, answers, replayed: Replay::NotRun, heap: HeapOrigin::Made, ..some.clone() })
    }
}

/// The maximum number of elements of varied objects, and of runs without new coverage.
const MAX_VARIED_ELEMENTS: usize = 64;
const MAX_RUNS_WITHOUT_GAIN: u32 = 20_000;

/// The observable result of a run.
struct RunResult {
    end: String,
    expected: Expected,
}

/// Returns the observable result of a run, or `None` if it cannot be compared.
fn run_result(run: ConcreteRun) -> Option<RunResult> {
    let end = match run.end {
        End::Returned(_) => "returned".to_string(),
        End::Threw { class, .. } => format!("{class:?}"),
        End::Exited(status) => status.to_string(),
        End::Error { kind, .. } => kind.to_string(),
        End::Hung | End::Assumed | End::Limit(_) | End::Unsupported { .. } => return None,
    };
    let is_volatile = run.requested.iter().any(|input| input.source == InputSource::Volatile);
    let comparable = !run.shows_addresses && !run.guessed && !run.of_one_run && !run.traps && !is_volatile;
    comparable.then_some(RunResult { end, expected: run.expected })
}

impl RunResult {
    fn differs(&self, other: &RunResult, before: &[NamedValue]) -> bool {
        let (one, two) = (&self.expected, &other.expected);
        // A global that a version neither reads nor writes is not in its list.
        let of = |list: &'_ [NamedValue], name: &str| {
            list.iter().find(|value| value.name == name).map(|it| it.value.clone())
        };
        let value = |expected: &Expected, name: &str| of(&expected.globals, name).or_else(|| of(before, name));
        let differs = |global: &NamedValue| match (value(one, &global.name), value(two, &global.name)) {
            (Some(one), Some(two)) => differ(&one, &two),
            _ => false,
        };
        let results = one.result.as_ref().zip(two.result.as_ref());
        let mut objects = one.objects.iter().zip(&two.objects);
        self.end != other.end
            || results.is_some_and(|(one, two)| differ(one, two))
            || objects.any(|(one, two)| any_differ(one, two))
            || one.output != two.output
            || one.globals.iter().chain(&two.globals).any(differs)
    }
}

/// Returns true if two values differ where both are defined.
fn differ(one: &DataValue, two: &DataValue) -> bool {
    match (one, two) {
        (DataValue::Undefined, _) | (_, DataValue::Undefined) => false,
        (DataValue::Array(one), DataValue::Array(two)) | (DataValue::Struct(one), DataValue::Struct(two)) => {
            any_differ(one, two)
        }
        (DataValue::Member(one_is, one), DataValue::Member(two_is, two)) => one_is == two_is && differ(one, two),
        _ => one != two,
    }
}

fn any_differ(one: &[DataValue], two: &[DataValue]) -> bool {
    one.len() != two.len() || one.iter().zip(two).any(|(one, two)| differ(one, two))
}
