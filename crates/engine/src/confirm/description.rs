//! The title of a test: the conditions on its path.

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

/// Describes a path by its conditions with their outcomes, shortened in the middle.
pub(crate) fn describe(module: &Module, way: impl Iterator<Item = ConditionOutcome>) -> String {
    // Conditions in models of the library are internal.
    let own = way.filter(|outcome| !module.functions[outcome.func].is_library());
    let mut outcomes: Vec<String> = own
        .map(|ConditionOutcome { func, tag, taken }| {
            let text = &module.functions[func].decisions[tag.decision].conditions[tag.condition].text;
            if taken { text.clone() } else { format!("!({text})") }
        })
        .collect();
    // Omitting a single outcome saves nothing.
    if outcomes.len() > MAX_OUTCOMES_SHOWN + 1 {
        let left_out = outcomes.len() - MAX_OUTCOMES_SHOWN;
        let tail = outcomes.split_off(outcomes.len() - MAX_OUTCOMES_SHOWN / 2);
        outcomes.truncate(MAX_OUTCOMES_SHOWN / 2);
        outcomes.push(format!("… {left_out} more …"));
        outcomes.extend(tail);
    }
    outcomes.join(", ")
}
