//! Both versions on the same inputs, in the interpreter: whether they differ there, and a search for inputs on which they do among those that are like the
//! inputs of tests. That proves nothing, and needs nothing but runs.

use super::product_program::Together;
use crate::plan::Work;
use std::time::Duration;
use touchstone_base::{Deadline, IndexMap};
use touchstone_criteria::{Expected, Heap, MadeInput, NamedValue, Replay, TestCase, TestKind, Watch};
use touchstone_engine::{ConcreteRun, End, Look, Machines, Variation, watch_kind};
use touchstone_ir::{DataValue, FuncId, InputSource};

/// Both versions, to be run on the same inputs.
pub(super) struct Both<'m> {
    machines: Machines<'m>,
    new: FuncId,
    old: FuncId,
}

/// Tests are varied for at most this share of the time for a function, and for so long.
const VARIED: u32 = 4;
const LONGEST: Duration = Duration::from_secs(3);

impl<'m> Both<'m> {
    pub fn of(together: &'m Together, new: FuncId) -> Both<'m> {
        Both { machines: Machines::of(&together.module), new, old: together.old }
    }

    /// Whether the versions differ on these inputs.
    pub fn differ(&self, kind: &TestKind, answers: &[MadeInput]) -> bool {
        // What earlier calls leave differs by itself.
        let TestKind::Function { earlier, globals, .. } = kind else { return false };
        if !earlier.is_empty() {
            return false;
        }
        let run = |func: FuncId| left(watch_kind(&self.machines, func, kind, answers, Look::default()));
        match run(self.new).zip(run(self.old)) {
            Some((new, old)) => new.differs(&old, globals),
            None => false,
        }
    }

    /// Varies tests until the versions differ. Ways through the old version count as much as those through the new one.
    pub fn vary(&self, work: &Work<'_>, tests: &[TestCase]) -> Option<TestCase> {
        let some = tests.first()?;
        // What the change touches is the way to what differs. Of the old version nothing is known.
        let nothing = Watch::new(self.machines.module(), IndexMap::default());
        let time = work.plan.request.effort.timeout.map_or(LONGEST, |timeout| (timeout / VARIED).min(LONGEST));
        let varied = |func: FuncId| {
            let variation = Variation {
                machines: &self.machines,
                func,
                watch: if func == self.new { &work.watch } else { &nothing },
                config: &work.config,
                deadline: Deadline::after(time / 2),
                longest: MOST_ELEMENTS,
                patience: PATIENCE,
                seed: work.config.seed,
                still: None,
                first: &[],
            };
            variation.until(tests, &mut |kind, answers| self.differ(kind, answers))
        };
        let (kind, answers) = varied(self.new).or_else(|| varied(self.old))?;
        Some(TestCase { kind, answers, replayed: Replay::NotRun, heap: Heap::Made, ..some.clone() })
    }
}

/// Elements of objects that tests are varied with, at most, and runs that may show nothing new.
const MOST_ELEMENTS: usize = 64;
const PATIENCE: u32 = 20_000;

/// All that a run leaves.
struct Left {
    end: String,
    expected: Expected,
}

/// What a run leaves; `None` if that can't be compared.
fn left(run: ConcreteRun) -> Option<Left> {
    let end = match run.end {
        End::Returned(_) => "returned".to_string(),
        End::Threw { class, .. } => format!("{class:?}"),
        End::Exited(status) => status.to_string(),
        End::Error { kind, .. } => kind.to_string(),
        End::Hung | End::Assumed | End::Limit(_) | End::Unsupported { .. } => return None,
    };
    let is_volatile = run.requested.iter().any(|input| input.source == InputSource::Volatile);
    let comparable = !run.shows_addresses && !run.guessed && !run.of_one_run && !run.traps && !is_volatile;
    comparable.then_some(Left { end, expected: run.expected })
}

impl Left {
    fn differs(&self, other: &Left, before: &[NamedValue]) -> bool {
        let (one, two) = (&self.expected, &other.expected);
        // What a version neither reads nor writes is not in its list.
        let of = |list: &'_ [NamedValue], name: &str| {
            list.iter().find(|value| value.name == name).map(|it| it.value.clone())
        };
        let value = |expected: &Expected, name: &str| of(&expected.globals, name).or_else(|| of(before, name));
        let differs = |global: &NamedValue| match (value(one, &global.name), value(two, &global.name)) {
            (Some(one), Some(two)) => clash(&one, &two),
            _ => false,
        };
        let results = one.result.as_ref().zip(two.result.as_ref());
        let mut objects = one.objects.iter().zip(&two.objects);
        self.end != other.end
            || results.is_some_and(|(one, two)| clash(one, two))
            || objects.any(|(one, two)| any_clash(one, two))
            || one.output != two.output
            || one.globals.iter().chain(&two.globals).any(differs)
    }
}

/// Whether values differ wherever both are something.
fn clash(one: &DataValue, two: &DataValue) -> bool {
    match (one, two) {
        (DataValue::Undefined, _) | (_, DataValue::Undefined) => false,
        (DataValue::Array(one), DataValue::Array(two)) | (DataValue::Struct(one), DataValue::Struct(two)) => {
            any_clash(one, two)
        }
        (DataValue::Member(one_is, one), DataValue::Member(two_is, two)) => one_is == two_is && clash(one, two),
        _ => one != two,
    }
}

fn any_clash(one: &[DataValue], two: &[DataValue]) -> bool {
    one.len() != two.len() || one.iter().zip(two).any(|(one, two)| clash(one, two))
}
