//! Calls that are over: what they gave, and what methods did that are not followed.

use super::library_models::{AssertionRole, ElementAccess, assertion_role, boxes, element_access, modifies};
use super::method_facts::{DynamicCallResult, InsnOperand};
use super::method_frames::FrameWait;
use super::test_execution::{HeapUpdate, ObjectId, TracedValue, UpdatedLocation};
use super::trace_interpreter::{RunningThread, TraceInterpreter};
use crate::state::Deps;
use crate::state::NONE;
use touchstone_front_java::classfile::Desc;

impl TraceInterpreter<'_> {
    /// If a call waits to be over, it is, and its method runs on.
    pub(super) fn complete_pending_call(&mut self, running: &mut RunningThread<'_>) {
        if running.top().wait == FrameWait::Call {
            self.complete_call(running);
            self.run(running);
        }
    }

    /// The innermost call is over.
    pub(super) fn complete_call(&mut self, running: &mut RunningThread<'_>) {
        let frame = running.top();
        let (facts, at, now, entry, serial) = (frame.facts.clone(), frame.at, frame.now(), frame.entry, frame.serial);
        let initialises = frame.initialises;
        let (Some(call), InsnOperand::Call(site)) = (frame.call.take(), &facts.sites[at]) else { return };
        frame.wait = FrameWait::Insn;
        let objects: Vec<ObjectId> = call.values.iter().map(|value| value.object.get()).collect();
        let mut deps: Deps = call.values.iter().map(|value| value.node.get()).collect();
        let gives_nothing = site.result == Desc::Void;
        let receiver = objects.first().copied().filter(|_| site.has_receiver).unwrap_or(0);
        let was_verified = running.execution.verified_mocks.remove(&receiver);
        let listed = |names: &[String]| self.rules.names(names, &site.member.class, &site.member.name);
        let (changes, asks) = (listed(&self.rules.modifies), listed(&self.rules.queries));
        let by_name = assertion_role(&site.member, site.has_receiver, self.rules);
        let is_listed_assertion = listed(&self.rules.assertions);
        // Of an element that a constant names no other one is seen.
        let element = (!call.entered && !changes && !asks && receiver != 0)
            .then(|| Some((element_access(&site.member)?, call.values.get(1)?.key.clone()?)))
            .flatten();
        let mut own = Deps::new();
        if !call.entered || changes || asks || is_listed_assertion || was_verified {
            for (position, object) in objects.iter().enumerate() {
                match &element {
                    Some((_, key)) if position == 0 => {
                        running.execution.contents.collect_entry_dependences(*object, key, &mut own)
                    }
                    _ => running.execution.contents.collect_dependences(*object, &mut deps),
                }
            }
        }
        deps.extend([call.given_back, call.thrown.why]);
        let without = deps.clone();
        deps.extend(own);
        if site.makes == DynamicCallResult::RecordMember {
            let fields = self.classes.fields_of(&facts.class);
            for object in &objects {
                deps.extend(fields.iter().filter_map(|field| running.execution.fields.get(&(*object, *field))));
            }
        }
        if (!call.entered && by_name == AssertionRole::All) || is_listed_assertion || was_verified {
            running.execution.assert(&deps);
        }
        // What was thrown is asserted only where somebody looks at it.
        deps.push(call.thrown.what);
        if !call.entered && by_name == AssertionRole::Next {
            running.execution.verified_mocks.extend(objects.first().filter(|object| **object != 0));
        }
        // An object of the user's whose methods are not followed stands for another: all that it is told counts.
        let stands_in = !call.entered && site.has_receiver && self.classes.declares(&site.member);
        let is_library = !call.entered && modifies(&site.member, gives_nothing, self.rules);
        if (changes || is_library || stands_in) && by_name == AssertionRole::No && !was_verified {
            let is_copy = &*site.member.class == "java/lang/System" && &*site.member.name == "arraycopy";
            let targets: Vec<usize> = match (site.has_receiver, is_copy) {
                (true, _) => vec![0],
                (false, true) => vec![2],
                (false, false) => (0..objects.len()).collect(),
            };
            for position in targets.into_iter().filter(|position| objects[*position] != 0) {
                let (object, value) = (objects[position], &call.values[position]);
                let changed = UpdatedLocation::Contents {
                    object,
                    variable: running.top().variable(value),
                    is_array: is_copy,
                    is_own: value.born == serial,
                };
                let update = (!initialises).then(|| HeapUpdate { method: facts.clone(), insn: at, changed });
                let mut all = match element {
                    Some((ElementAccess::Replaces, _)) => without.clone(),
                    _ => deps.clone(),
                };
                all.extend([now, entry]);
                if let Some((_, key)) = &element {
                    let node = running.execution.changed(all, update);
                    running.execution.contents.set_entry(object, key.clone(), node, &objects);
                    continue;
                }
                all.push(running.execution.contents.content(object));
                let node = running.execution.changed(all, update);
                running.execution.contents.set_content(object, node, &objects);
            }
        }
        if &*site.member.name == "<init>" && !call.entered {
            // What a library's object is made of is in it.
            let node = running.execution.all(deps);
            if let Some(made) = call.values.first() {
                made.node.set(node);
            }
        } else if !gives_nothing {
            let result = match call.result {
                Some(result) if call.entered => {
                    let mut all = vec![result.node.get()];
                    if asks {
                        all.push(running.execution.contents.content(receiver));
                    }
                    let node = running.execution.all(all);
                    if node == result.node.get() { result } else { result.with(node) }
                }
                _ => {
                    deps.push(if call.values.is_empty() { now } else { NONE });
                    let key = call.values.first().filter(|_| boxes(&site.member)).and_then(|value| value.key.clone());
                    TracedValue::constant(running.execution.all(deps), key)
                }
            };
            running.top().push(result, site.result.is_wide());
        }
        self.advance(running, at + 1);
    }
}
