//! The state that a function may modify, found statically: the denominator of state coverage.

use super::library_effects::writes_through_argument;
use crate::state::StateTarget;
use touchstone_front_c::{Action, FunctionDataFlow, SourceOrigin, WrittenObject};

/// A piece of state in the text of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocatedStateTarget {
    /// The objective, with the id that a measurement also uses.
    pub target: StateTarget,
    /// The first position at which it is named.
    pub origin: SourceOrigin,
    /// True if the function or the C library writes it. Otherwise it is only passed on, and may be a container.
    pub written: bool,
}

/// Returns the state that a function names and may modify, in source order.
pub fn state_targets(function: &FunctionDataFlow) -> Vec<LocatedStateTarget> {
    let mut found: Vec<LocatedStateTarget> = Vec::new();
    let mut add = |target: &WrittenObject, origin: &SourceOrigin, written: bool| {
        if !target.is_state || target.name.is_empty() {
            return;
        }
        if let Some(known) = found.iter_mut().find(|known| known.target.name == target.name) {
            if written && !known.written {
                (known.origin, known.written) = (origin.clone(), true);
            }
            return;
        }
        let made = StateTarget::new(&function.name, found.len(), &target.name);
        found.push(LocatedStateTarget { target: made, origin: origin.clone(), written });
    };
    for action in &function.actions {
        match action {
            Action::Write { target, origin, .. } | Action::Step { target, origin, .. } => add(target, origin, true),
            Action::Call { callee, arguments, origin, .. } => {
                for (index, argument) in arguments.iter().enumerate() {
                    let written = callee.as_deref().is_some_and(|name| writes_through_argument(name, index));
                    add(&argument.target, origin, written);
                }
            }
            _ => {}
        }
    }
    found
}
