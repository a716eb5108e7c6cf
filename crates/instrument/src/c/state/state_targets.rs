//! The pieces of state that a function may leave changed: the static list that measured state is counted in.

use super::library_effects::writes_through_argument;
use crate::state::StateTarget;
use touchstone_front_c::{Action, FunctionDataFlow, SourceOrigin, WrittenObject};

/// A piece of state in a function's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocatedStateTarget {
    /// It, with the id that a measurement gives it.
    pub target: StateTarget,
    /// Where it is named first.
    pub origin: SourceOrigin,
    /// The function writes it itself, or lets the C library do so. What is only passed on can be a container of the user's.
    pub written: bool,
}

/// What a function names and could change, in the order of the text.
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
