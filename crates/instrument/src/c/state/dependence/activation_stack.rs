//! The nested activities of an event stream: functions, calls, assignments and conditions that have not ended.

use crate::state::{Deps, NONE, NodeId};

/// An activity that has not ended.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    pub what: ActivityKind,
    /// The nodes that its value depends on so far.
    pub deps: Deps,
}

/// The kind of an activity.
#[derive(Clone, Debug)]
pub(super) enum ActivityKind {
    Function(Box<FunctionActivation>),
    Assignment(PendingAssignment),
    Call(Box<PendingCall>),
    /// A condition inside of an expression, at a site.
    Choice(u64),
}

/// A function that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionActivation {
    /// Its function, as a unit and an index into it.
    pub function: Option<u64>,
    /// A number that identifies the activation.
    pub serial: u64,
    /// The address of its stack frame.
    pub frame: u64,
    /// The reasons for which it was called.
    pub entry: NodeId,
    /// The same, with the conditions that could have ended it before.
    pub control: NodeId,
    /// The conditions of the enclosing statements, outer first.
    pub controls: Vec<ControllingCondition>,
    /// The dependences of each parameter.
    pub parameters: Vec<Deps>,
    /// True if the activity below is its call.
    pub called: bool,
    /// The last object that was read outside of assignments and calls.
    pub read: (u64, u64),
    /// True if a return value is being evaluated.
    pub returning: bool,
    /// True if it runs for an assertion, which depends on everything that it reads.
    pub asserting: bool,
    /// True if it implements a container operation, so that its writes belong to the container.
    pub opaque: bool,
}

/// A condition that controls a statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControllingCondition {
    pub depth: u32,
    pub site: u64,
    pub node: NodeId,
}

impl FunctionActivation {
    /// Returns the condition that the current statement depends on.
    pub fn now(&self) -> NodeId {
        self.controls.last().map_or(self.control, |control| control.node)
    }
}

/// An assignment that has begun.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingAssignment {
    pub site: u64,
    pub at: u64,
    pub size: u64,
    /// The condition that it depends on.
    pub control: NodeId,
    /// The last object that was read for it.
    pub read: (u64, u64),
    /// True if it initialises a variable.
    pub first: bool,
}

/// A call that has begun.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingCall {
    pub site: u64,
    pub control: NodeId,
    /// The dependences of each argument.
    pub arguments: Vec<Deps>,
    /// The value of each argument, and the size of its pointee.
    pub values: Vec<Option<(u64, u64)>>,
    pub current: Option<usize>,
    /// The function of the C library that is called through a pointer.
    pub through: Option<&'static str>,
    /// True if the instrumented callee was entered.
    pub entered: bool,
    /// True if the callee has returned. The event for the end of the call may follow, but some calls have none.
    pub left: bool,
    /// The dependences of its value.
    pub result: Deps,
}

impl PendingCall {
    /// Moves the dependences since the last event to the argument that is being evaluated.
    pub fn settle(&mut self, deps: &mut Deps, argument: Option<usize>) {
        let read = std::mem::take(deps);
        if let Some(index) = argument.or(self.current) {
            if self.arguments.len() <= index {
                self.arguments.resize(index + 1, Deps::new());
            }
            self.arguments[index].extend(read);
        } else if !read.is_empty() {
            // The expression that computes the callee.
            self.result.extend(read);
        }
    }
    pub fn value(&self, index: usize) -> Option<(u64, u64)> {
        self.values.get(index).copied().flatten()
    }
}

/// The activities of a stream. The lowest is an unknown function.
#[derive(Clone, Debug)]
pub(super) struct ActivityStack {
    pub frames: Vec<Activity>,
}

impl Default for ActivityStack {
    fn default() -> Self {
        let bottom = Activity { what: ActivityKind::Function(Box::default()), deps: Deps::new() };
        ActivityStack { frames: vec![bottom] }
    }
}

impl ActivityStack {
    pub fn top(&mut self) -> &mut Activity {
        self.frames.last_mut().expect("invariant: the lowest frame is never taken away")
    }
    /// Adds a dependence to the current value.
    pub fn depend(&mut self, node: NodeId) {
        let deps = &mut self.top().deps;
        if node != NONE && deps.last() != Some(&node) {
            deps.push(node);
        }
    }
    /// Returns the index of the innermost function.
    pub fn function_at(&self) -> usize {
        self.frames.iter().rposition(|frame| matches!(frame.what, ActivityKind::Function(_))).unwrap_or(0)
    }
    /// Returns the innermost function.
    pub fn running(&mut self) -> &mut FunctionActivation {
        let at = self.function_at();
        match &mut self.frames[at].what {
            ActivityKind::Function(running) => running,
            _ => unreachable!("invariant: the lowest frame is a function"),
        }
    }
}
