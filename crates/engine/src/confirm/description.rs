//! What a test is called for people: the conditions on its way.

use touchstone_ir::{CondTag, FuncId, Module};

/// Outcomes that a description shows.
const MAX_OUTCOMES_SHOWN: usize = 8;

/// The outcome of a condition on a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConditionOutcome {
    /// The function that has the condition.
    pub func: FuncId,
    /// Which one it is.
    pub tag: CondTag,
    /// Whether it held.
    pub taken: bool,
}

/// The conditions on the way with their outcomes, shortened in the middle.
pub(crate) fn describe(module: &Module, way: impl Iterator<Item = ConditionOutcome>) -> String {
    // How models of the library do things is of no interest to anybody.
    let own = way.filter(|outcome| !module.functions[outcome.func].is_library());
    let mut outcomes: Vec<String> = own
        .map(|ConditionOutcome { func, tag, taken }| {
            let text = &module.functions[func].decisions[tag.decision].conditions[tag.condition].text;
            if taken { text.clone() } else { format!("!({text})") }
        })
        .collect();
    // To leave out one saves nothing.
    if outcomes.len() > MAX_OUTCOMES_SHOWN + 1 {
        let left_out = outcomes.len() - MAX_OUTCOMES_SHOWN;
        let tail = outcomes.split_off(outcomes.len() - MAX_OUTCOMES_SHOWN / 2);
        outcomes.truncate(MAX_OUTCOMES_SHOWN / 2);
        outcomes.push(format!("… {left_out} more …"));
        outcomes.extend(tail);
    }
    outcomes.join(", ")
}
