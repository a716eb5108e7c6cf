//! Calls that are over: what they gave, and what methods did that are not followed.

use super::library_models::{Asserting, Keyed, asserting, boxes, keyed, modifies};
use super::method_facts::{Makes, Site};
use super::method_frames::Waiting;
use super::test_execution::{Changed, ObjectId, Update, Value};
use super::trace_interpreter::{Machine, Running};
use crate::state::Deps;
use crate::state::NONE;
use touchstone_front_java::classfile::Desc;

impl Machine<'_> {
    /// If a call waits to be over, it is, and its method runs on.
    pub(super) fn settle(&mut self, running: &mut Running<'_>) {
        if running.top().waiting == Waiting::Call {
            self.over(running);
            self.run(running);
        }
    }

    /// The innermost call is over.
    pub(super) fn over(&mut self, running: &mut Running<'_>) {
        let frame = running.top();
        let (facts, at, now, entry, serial) = (frame.facts.clone(), frame.at, frame.now(), frame.entry, frame.serial);
        let initialises = frame.initialises;
        let (Some(calling), Site::Call(site)) = (frame.calling.take(), &facts.sites[at]) else { return };
        frame.waiting = Waiting::Insn;
        let objects: Vec<ObjectId> = calling.values.iter().map(|value| value.object.get()).collect();
        let mut deps: Deps = calling.values.iter().map(|value| value.node.get()).collect();
        let gives_nothing = site.result == Desc::Void;
        let receiver = objects.first().copied().filter(|_| site.has_receiver).unwrap_or(0);
        let was_verified = running.world.verified.remove(&receiver);
        let listed = |names: &[String]| self.rules.names(names, &site.member.class, &site.member.name);
        let (changes, asks) = (listed(&self.rules.modifies), listed(&self.rules.queries));
        let by_name = asserting(&site.member, site.has_receiver, self.rules);
        let is_listed_assertion = listed(&self.rules.assertions);
        // Of an element that a constant names no other one is seen.
        let element = (!calling.entered && !changes && !asks && receiver != 0)
            .then(|| Some((keyed(&site.member)?, calling.values.get(1)?.key.clone()?)))
            .flatten();
        let mut own = Deps::new();
        if !calling.entered || changes || asks || is_listed_assertion || was_verified {
            for (position, object) in objects.iter().enumerate() {
                match &element {
                    Some((_, key)) if position == 0 => running.world.insides.look_at(*object, key, &mut own),
                    _ => running.world.insides.look(*object, &mut deps),
                }
            }
        }
        deps.extend([calling.given_back, calling.thrown.why]);
        let without = deps.clone();
        deps.extend(own);
        if site.makes == Makes::RecordMember {
            let fields = self.classes.fields_of(&facts.class);
            for object in &objects {
                deps.extend(fields.iter().filter_map(|field| running.world.fields.get(&(*object, *field))));
            }
        }
        if (!calling.entered && by_name == Asserting::All) || is_listed_assertion || was_verified {
            running.world.assert(&deps);
        }
        // What was thrown is asserted only where somebody looks at it.
        deps.push(calling.thrown.what);
        if !calling.entered && by_name == Asserting::Next {
            running.world.verified.extend(objects.first().filter(|object| **object != 0));
        }
        // An object of the user's whose methods are not followed stands for another: all that it is told counts.
        let stands_in = !calling.entered && site.has_receiver && self.classes.declares(&site.member);
        let is_library = !calling.entered && modifies(&site.member, gives_nothing, self.rules);
        if (changes || is_library || stands_in) && by_name == Asserting::No && !was_verified {
            let is_copy = &*site.member.class == "java/lang/System" && &*site.member.name == "arraycopy";
            let targets: Vec<usize> = match (site.has_receiver, is_copy) {
                (true, _) => vec![0],
                (false, true) => vec![2],
                (false, false) => (0..objects.len()).collect(),
            };
            for position in targets.into_iter().filter(|position| objects[*position] != 0) {
                let (object, value) = (objects[position], &calling.values[position]);
                let changed = Changed::Inside {
                    object,
                    variable: running.top().variable(value),
                    is_array: is_copy,
                    is_own: value.born == serial,
                };
                let update = (!initialises).then(|| Update { method: facts.clone(), insn: at, changed });
                let mut all = match element {
                    Some((Keyed::Replaces, _)) => without.clone(),
                    _ => deps.clone(),
                };
                all.extend([now, entry]);
                if let Some((_, key)) = &element {
                    let node = running.world.changed(all, update);
                    running.world.insides.set_entry(object, key.clone(), node, &objects);
                    continue;
                }
                all.push(running.world.insides.content(object));
                let node = running.world.changed(all, update);
                running.world.insides.set_content(object, node, &objects);
            }
        }
        if &*site.member.name == "<init>" && !calling.entered {
            // What a library's object is made of is in it.
            let node = running.world.all(deps);
            if let Some(made) = calling.values.first() {
                made.node.set(node);
            }
        } else if !gives_nothing {
            let result = match calling.result {
                Some(result) if calling.entered => {
                    let mut all = vec![result.node.get()];
                    if asks {
                        all.push(running.world.insides.content(receiver));
                    }
                    let node = running.world.all(all);
                    if node == result.node.get() { result } else { result.with(node) }
                }
                _ => {
                    deps.push(if calling.values.is_empty() { now } else { NONE });
                    let key =
                        calling.values.first().filter(|_| boxes(&site.member)).and_then(|value| value.key.clone());
                    Value::constant(running.world.all(deps), key)
                }
            };
            running.top().push(result, site.result.is_wide());
        }
        self.advance(running, at + 1);
    }
}
