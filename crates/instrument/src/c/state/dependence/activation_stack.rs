//! What a stream of events is in the middle of: calls, assignments, conditions, one inside the other.

use crate::state::{Deps, NONE, NodeId};

/// One of the things that a stream is in the middle of.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    pub what: ActivityKind,
    /// What the value so far depends on.
    pub deps: Deps,
}

/// What a frame is.
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
    /// Its function, as a unit and a position in it.
    pub function: Option<u64>,
    /// Tells runs apart.
    pub serial: u64,
    /// The address of its frame.
    pub frame: u64,
    /// What its running at all depends on.
    pub entry: NodeId,
    /// That, and the conditions that it was not left by.
    pub control: NodeId,
    /// What the statements under way depend on, outer before inner.
    pub controls: Vec<ControllingCondition>,
    /// By parameter: what its value depends on.
    pub parameters: Vec<Deps>,
    /// It was called by the call below.
    pub called: bool,
    /// The last object that was read outside of assignments and calls.
    pub read: (u64, u64),
    /// A value is being returned.
    pub returning: bool,
    /// It runs for an assertion: all that it reads is looked at.
    pub asserting: bool,
    /// It runs inside of a container: what it writes is the container's.
    pub opaque: bool,
}

/// A statement that a condition controls.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControllingCondition {
    pub depth: u32,
    pub site: u64,
    pub node: NodeId,
}

impl FunctionActivation {
    /// What happening now depends on.
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
    /// What its happening depends on.
    pub control: NodeId,
    /// The last object that was read for it.
    pub read: (u64, u64),
    /// It gives a variable its first value.
    pub first: bool,
}

/// A call that has begun.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingCall {
    pub site: u64,
    pub control: NodeId,
    /// By argument.
    pub arguments: Vec<Deps>,
    /// By argument: its value, and the size of what it points to.
    pub values: Vec<Option<(u64, u64)>>,
    pub current: Option<usize>,
    /// The function of the C library that is called through a pointer.
    pub through: Option<&'static str>,
    /// The function that is called has probes, and began.
    pub entered: bool,
    /// That function is over: only the event of the call's end is missing, and some calls have none.
    pub left: bool,
    /// What its value depends on.
    pub result: Deps,
}

impl PendingCall {
    /// Gives what was read since to the argument that is evaluated.
    pub fn settle(&mut self, deps: &mut Deps, argument: Option<usize>) {
        let read = std::mem::take(deps);
        if let Some(index) = argument.or(self.current) {
            if self.arguments.len() <= index {
                self.arguments.resize(index + 1, Deps::new());
            }
            self.arguments[index].extend(read);
        } else if !read.is_empty() {
            // The expression that says whom to call.
            self.result.extend(read);
        }
    }
    pub fn value(&self, index: usize) -> Option<(u64, u64)> {
        self.values.get(index).copied().flatten()
    }
}

/// The frames of a stream; the lowest is a function that nobody knows.
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
    /// Adds to what the value under way depends on.
    pub fn depend(&mut self, node: NodeId) {
        let deps = &mut self.top().deps;
        if node != NONE && deps.last() != Some(&node) {
            deps.push(node);
        }
    }
    /// The position of the innermost function.
    pub fn function_at(&self) -> usize {
        self.frames.iter().rposition(|frame| matches!(frame.what, ActivityKind::Function(_))).unwrap_or(0)
    }
    /// The innermost function.
    pub fn running(&mut self) -> &mut FunctionActivation {
        let at = self.function_at();
        match &mut self.frames[at].what {
            ActivityKind::Function(running) => running,
            _ => unreachable!("invariant: the lowest frame is a function"),
        }
    }
}
