//! The title of a test: the conditions on its path.

use std::collections::VecDeque;
use touchstone_ir::{CondTag, FuncId, Module};

/// The maximum number of outcomes that a title shows.
const MAX_OUTCOMES_SHOWN: usize = 8;

/// The outcome of a condition in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConditionOutcome {
    /// The function that contains the condition.
    pub func: FuncId,
    /// The condition.
    pub tag: CondTag,
    /// True if the condition held.
    pub taken: bool,
}

/// The outcomes of conditions on a path, without those in the middle of a long one: a loop evaluates a condition a
/// million times.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShortenedOutcomes {
    /// The first outcomes. Omitting a single one saves nothing, so they may be one more than a title shows.
    first: Vec<ConditionOutcome>,
    last: VecDeque<ConditionOutcome>,
    count: usize,
}

impl ShortenedOutcomes {
    /// Appends an outcome. Conditions in models of the library are internal, and are left out.
    pub(crate) fn push(&mut self, module: &Module, outcome: ConditionOutcome) {
        if module.functions[outcome.func].is_library() {
            return;
        }
        self.count += 1;
        if self.first.len() <= MAX_OUTCOMES_SHOWN {
            self.first.push(outcome);
        }
        if self.last.len() == MAX_OUTCOMES_SHOWN / 2 {
            self.last.pop_front();
        }
        self.last.push_back(outcome);
    }

    /// Returns the outcomes of a path, given newest first.
    pub(crate) fn of_newest_first(module: &Module, way: impl Iterator<Item = ConditionOutcome>) -> ShortenedOutcomes {
        let mut newest_first = ShortenedOutcomes::default();
        way.for_each(|outcome| newest_first.push(module, outcome));
        let ShortenedOutcomes { mut first, last, count } = newest_first;
        if count <= first.len() {
            first.reverse();
            return ShortenedOutcomes { first, last: VecDeque::new(), count };
        }
        first.truncate(MAX_OUTCOMES_SHOWN / 2);
        ShortenedOutcomes { first: last.into_iter().rev().collect(), last: first.into_iter().rev().collect(), count }
    }

    /// Describes the path by its conditions with their outcomes, shortened in the middle.
    pub(crate) fn describe(&self, module: &Module) -> String {
        let text = |ConditionOutcome { func, tag, taken }: &ConditionOutcome| {
            let text = &module.functions[*func].decisions[tag.decision].conditions[tag.condition].text;
            if *taken { text.clone() } else { format!("!({text})") }
        };
        if self.count <= self.first.len() {
            return self.first.iter().map(text).collect::<Vec<String>>().join(", ");
        }
        let left_out = self.count - MAX_OUTCOMES_SHOWN;
        let mut outcomes: Vec<String> = self.first.iter().take(MAX_OUTCOMES_SHOWN / 2).map(text).collect();
        outcomes.push(format!("… {left_out} more …"));
        outcomes.extend(self.last.iter().map(text));
        outcomes.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::Id;
    use touchstone_ir::{CondId, DecisionId};

    /// Returns what a title shows of outcomes: the numbers of their conditions, and the number of those left out.
    fn shown(outcomes: &ShortenedOutcomes) -> (Vec<usize>, usize) {
        let whole = outcomes.count <= outcomes.first.len();
        let begin = if whole { outcomes.first.len() } else { MAX_OUTCOMES_SHOWN / 2 };
        let last = outcomes.last.iter().filter(|_| !whole);
        let shown: Vec<usize> =
            outcomes.first.iter().take(begin).chain(last).map(|outcome| outcome.tag.condition.index()).collect();
        let left_out = outcomes.count - shown.len();
        (shown, left_out)
    }

    #[test]
    fn a_path_is_shortened_alike_from_both_ends() {
        let module = touchstone_ir::parse("func @f() {\nb0:\n  return\n}\n").expect("a module");
        let outcome = |number| ConditionOutcome {
            func: FuncId::new(0),
            tag: CondTag { decision: DecisionId::new(0), condition: CondId::new(number) },
            taken: true,
        };
        for length in 0..30 {
            let mut pushed = ShortenedOutcomes::default();
            (0..length).for_each(|number| pushed.push(&module, outcome(number)));
            let turned = ShortenedOutcomes::of_newest_first(&module, (0..length).rev().map(outcome));
            let expected = match length {
                0..=9 => ((0..length).collect(), 0),
                _ => ((0..4).chain(length - 4..length).collect(), length - 8),
            };
            assert_eq!(shown(&pushed), expected, "{length}");
            assert_eq!(shown(&turned), expected, "{length}");
        }
    }
}
