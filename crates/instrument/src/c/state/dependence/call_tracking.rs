//! Calls, arguments and returns.

use super::activation_stack::{Activity, ActivityKind, FunctionActivation, PendingCall};
use super::{DependenceAnalysis, EventStream, SiteRef, StateUpdate, close_until};
use crate::c::state::event_trace::{EventKind, StateEvent};
use crate::state::{Deps, NONE, SiteKind, StateSite};

impl DependenceAnalysis<'_> {
    pub(super) fn begin_call(&mut self, stream: &mut EventStream, site: SiteRef) {
        let guarded =
            matches!(self.site(site), Some((_, StateSite { kind: SiteKind::Call { guarded: true, .. }, .. })));
        let control = self.control(stream, guarded);
        let calling = PendingCall { site, control, ..PendingCall::default() };
        stream.stack.frames.push(Activity { what: ActivityKind::Call(Box::new(calling)), deps: Deps::new() });
    }

    pub(super) fn argument(&mut self, stream: &mut EventStream, event: &StateEvent) {
        if !close_until(self, stream, |what| matches!(what, ActivityKind::Call(calling) if !calling.left)) {
            return;
        }
        let index = event.site as usize;
        let Activity { what: ActivityKind::Call(calling), deps } = stream.stack.top() else { return };
        if event.kind == EventKind::BeginArgument {
            calling.settle(deps, None);
            calling.current = Some(index);
            return;
        }
        calling.settle(deps, Some(index));
        calling.current = None;
        if calling.values.len() <= index {
            calling.values.resize(index + 1, None);
        }
        calling.values[index] = Some((event.a, event.b));
    }

    pub(super) fn enter(&mut self, stream: &mut EventStream, site: SiteRef, frame: u64) {
        // The stack grows downwards: frames below the new one were left by a jump.
        while stream.stack.frames.len() > 1
            && matches!(stream.stack.running(), running if running.frame != 0 && running.frame < frame)
        {
            let at = stream.stack.function_at().max(1);
            while stream.stack.frames.len() > at {
                self.close(stream);
            }
        }
        let Some((record, described)) = self.site(site) else { return };
        let function = site >> 32 << 32 | u64::from(described.function);
        let name = record.functions.get(described.function as usize).map_or("", String::as_str);
        let outer = stream.stack.running();
        let (mut asserting, mut opaque, mut control) = (outer.asserting, outer.opaque, outer.now());
        let (mut parameters, mut called) = (Vec::new(), false);
        let rules = self.rules;
        let callee = match &stream.stack.top().what {
            ActivityKind::Call(calling) if !calling.entered => match self.site(calling.site) {
                Some((_, StateSite { kind: SiteKind::Call { callee, .. }, in_macro, .. })) => Some((callee, in_macro)),
                _ => None,
            },
            _ => None,
        };
        if let Activity { what: ActivityKind::Call(calling), deps } = stream.stack.top() {
            calling.settle(deps, None);
            control = calling.control;
            if let Some((callee, in_macro)) = callee {
                if callee.as_ref().is_none_or(|callee| callee == name) {
                    (calling.entered, called) = (true, true);
                    parameters = calling.arguments.clone();
                    asserting |= rules.asserts(name) || in_macro.as_deref().is_some_and(|name| rules.asserts(name));
                    opaque |= rules.modifies(name) || rules.queries(name);
                } else {
                    // A callback from an uninstrumented function: its parameters may be any of that function's
                    // arguments.
                    let all: Deps = calling.arguments.iter().flatten().copied().collect();
                    parameters = vec![all; 8];
                }
            }
        }
        self.serial += 1;
        let running = FunctionActivation {
            function: Some(function),
            serial: self.serial,
            frame,
            entry: control,
            control,
            controls: Vec::new(),
            parameters,
            called,
            returning: false,
            read: (0, 0),
            asserting,
            opaque,
        };
        stream.stack.frames.push(Activity { what: ActivityKind::Function(Box::new(running)), deps: Deps::new() });
    }

    pub(super) fn parameter(&mut self, stream: &mut EventStream, event: &StateEvent) {
        let deps = stream.stack.running().parameters.get(event.site as usize).cloned().unwrap_or_default();
        self.retire(stream.process, event.a, event.b);
        self.processes[stream.process].memory.remove(event.a, event.b);
        // An argument exists independently of the call: only its computation counts.
        let node = self.node(deps, NONE, None);
        self.processes[stream.process].memory.set(event.a, event.b, node);
    }

    /// Ends a call.
    pub(super) fn return_from(&mut self, stream: &mut EventStream, site: SiteRef, value: u64) {
        let ours = |what: &ActivityKind| matches!(what, ActivityKind::Call(other) if other.site == site);
        if close_until(self, stream, ours) {
            self.end_call(stream, value);
        }
    }

    /// Resolves the callee of a call through a pointer.
    pub(super) fn resolve_callee(&mut self, stream: &mut EventStream, site: SiteRef, address: u64) {
        let through = self.functions.get(&address).copied();
        let ours = |what: &ActivityKind| matches!(what, ActivityKind::Call(other) if other.site == site);
        if close_until(self, stream, ours)
            && let ActivityKind::Call(calling) = &mut stream.stack.top().what
        {
            calling.through = through;
        }
    }

    pub(super) fn leave(&mut self, stream: &mut EventStream, site: SiteRef) {
        if self.align(stream, site) {
            self.close(stream);
        }
    }

    /// Ends a function; its value becomes that of its call.
    pub(super) fn left(&mut self, stream: &mut EventStream, running: FunctionActivation, deps: Deps) {
        if !running.returning {
            return;
        }
        let is_main = running.function.and_then(|function| {
            let record = self.records.get((function >> 32) as usize)?.1;
            record.functions.get((function & 0xffff_ffff) as usize).map(|name| name == "main")
        });
        if is_main == Some(true) && self.rules.assertions.iter().any(|name| name == "main") {
            let test = self.processes[stream.process].test;
            self.tests[test].roots.extend(&deps);
            self.tests[test].roots.push(running.now());
        }
        if let (true, ActivityKind::Call(calling)) = (running.called, &mut stream.stack.top().what) {
            calling.result.extend(deps);
            (calling.left, calling.current) = (true, None);
            // The value depends on the conditions inside. The conditions of the call itself are those of the caller.
            if running.now() != running.entry {
                calling.result.push(running.now());
            }
        }
    }

    pub(super) fn end_call(&mut self, stream: &mut EventStream, value: u64) {
        let Some(Activity { what: ActivityKind::Call(mut calling), mut deps }) = stream.stack.frames.pop() else {
            return;
        };
        calling.settle(&mut deps, None);
        let Some((_, described)) = self.site(calling.site) else { return };
        let SiteKind::Call { callee, used, .. } = &described.kind else { return };
        let name = callee.as_deref().or(calling.through).unwrap_or_default();
        let mut result = std::mem::take(&mut calling.result);
        if !calling.entered {
            result.extend(self.library(stream, name, &calling, value));
        }
        let in_macro = described.in_macro.as_deref().is_some_and(|name| self.rules.asserts(name));
        if self.rules.asserts(name) || in_macro {
            let test = self.processes[stream.process].test;
            let mut looked_at: Deps = calling.arguments.iter().flatten().copied().collect();
            if !calling.entered {
                looked_at.extend(self.pointees(stream.process, &calling));
            }
            self.tests[test].roots.extend(looked_at);
        }
        result.extend(self.container(stream, name, &calling));
        if *used {
            result.into_iter().for_each(|node| stream.stack.depend(node));
        }
    }

    /// Applies the effect of a function on the container that it is called for.
    pub(super) fn container(&mut self, stream: &mut EventStream, name: &str, calling: &PendingCall) -> Deps {
        let (modifies, queries) = (self.rules.modifies(name), self.rules.queries(name));
        let Some((address, _)) = calling.value(0).filter(|_| modifies || queries) else { return Deps::new() };
        let before = self.processes[stream.process].containers.get(&address).copied().unwrap_or(NONE);
        if !modifies {
            return vec![before];
        }
        let target = match self.site(calling.site) {
            Some((_, StateSite { kind: SiteKind::Call { arguments, .. }, .. })) => {
                arguments.first().and_then(|argument| argument.target)
            }
            _ => None,
        };
        let mut deps: Deps = calling.arguments.iter().flatten().copied().collect();
        deps.push(before);
        let update = target.and_then(|target| self.change_of_container(stream, calling.site, target, address));
        let node = self.node(deps, calling.control, update);
        self.processes[stream.process].containers.insert(address, node);
        vec![node]
    }

    /// Returns the update of a container, which counts even if it is a variable of the function that modifies it.
    pub(super) fn change_of_container(
        &mut self,
        stream: &mut EventStream,
        site: SiteRef,
        target: u32,
        at: u64,
    ) -> Option<StateUpdate> {
        let running = stream.stack.running();
        if running.asserting || running.opaque {
            return None;
        }
        let object = self.processes[stream.process].memory.object(at).map_or(0, |(_, _, object)| object);
        Some(StateUpdate { target: ((site >> 32) as u32, target), object, site })
    }
}
