//! Follows a trace: every thread's methods are executed again, without values, from what they told.
//!
//! A method runs on silently until it comes to something that it tells; the next event of its thread is that, or it was left by an exception.

use super::java_trace::{Event, JavaTrace, Kind};
use super::method_facts::{MethodFacts, Site, Step};
use super::method_frames::{Calling, Entered, Frame, Thrown, Waiting};
use super::test_execution::{Val, Value, World};
use super::thread_ownership::{NOBODY, Thread, over};
use super::traced_classes::{Classes, FieldId};
use crate::state::{NONE, NodeId};
use crate::state::{StateRules, StateUse};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use touchstone_front_java::classfile::Insn;
use touchstone_probes_java::Told;

/// Who did something.
pub(crate) enum Whose {
    Test(String),
    /// The process, before the first test begins.
    Process,
    /// Threads of which nobody knows for which of several tests they work.
    Nobody,
}

/// What one test did, judged.
pub(crate) struct JudgedTest {
    pub whose: Whose,
    pub uses: Vec<StateUse>,
    pub asserts: bool,
    /// It did more than there was room for.
    pub is_cut_off: bool,
    /// Somebody worked beside it who may have worked for it.
    pub is_beside: bool,
}

/// Follows a trace.
pub(super) struct Machine<'a> {
    pub classes: Classes,
    pub rules: &'a StateRules,
    unit_of: &'a dyn Fn(u64) -> usize,
    pub worlds: FxHashMap<usize, Box<World>>,
    /// The test that began last.
    pub current: usize,
    pub next_world: usize,
    pub threads: FxHashMap<u32, Box<Thread>>,
    serial: u64,
    judged: Vec<JudgedTest>,
    /// Tests that run, by their numbers; and all that did, with what they did.
    pub running: Vec<u32>,
    pub owners: FxHashMap<u32, usize>,
    /// Tests run at the same time, or did.
    pub together: bool,
    /// Threads that were over before the test that started them.
    pub over: FxHashMap<u32, u32>,
    /// What had no room so far, as marks say it.
    pub left_out: u64,
    /// Events that fitted nothing.
    pub unfit: u64,
}

/// A thread's methods, and what its test did so far.
pub(super) struct Running<'r> {
    pub frames: &'r mut Vec<Frame>,
    pub world: &'r mut World,
    /// Objects that its constructors made.
    pub fresh: &'r mut Vec<u32>,
}

impl Running<'_> {
    pub fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("invariant: somebody runs while something is followed")
    }
}

impl<'a> Machine<'a> {
    /// Follows a trace to its end: what its tests did.
    pub fn follow(
        classes: Classes,
        rules: &'a StateRules,
        unit_of: &'a dyn Fn(u64) -> usize,
        trace: &JavaTrace,
    ) -> (Vec<JudgedTest>, u64) {
        let mut machine = Machine {
            classes,
            rules,
            unit_of,
            worlds: FxHashMap::from_iter([(0, Box::default())]),
            current: 0,
            next_world: 1,
            threads: FxHashMap::default(),
            serial: 0,
            judged: Vec::new(),
            running: Vec::new(),
            owners: FxHashMap::default(),
            together: false,
            over: trace.events().filter_map(over).collect(),
            left_out: 0,
            unfit: 0,
        };
        for event in trace.events() {
            machine.event(&event);
        }
        // What had no room behind the last mark was done by who still ran.
        if trace.left_out > machine.left_out {
            machine.worlds.values_mut().for_each(|world| world.is_cut_off = true);
        }
        for mut thread in std::mem::take(&mut machine.threads).into_values() {
            machine.expected(&mut thread, 0);
        }
        let mut left: Vec<usize> = machine.worlds.keys().copied().collect();
        left.sort_unstable();
        left.into_iter().for_each(|world| machine.finish(world));
        (machine.judged, machine.unfit)
    }

    pub fn finish(&mut self, number: usize) {
        let Some(world) = self.worlds.remove(&number) else { return };
        let uses = world.uses(&self.classes, self.rules, self.unit_of);
        if world.name.is_some() || !uses.is_empty() || world.asserts {
            let (asserts, is_cut_off) = (world.asserts, world.is_cut_off);
            let (whose, is_beside) = match world.name {
                Some(name) => (Whose::Test(name), world.is_beside),
                None if number == NOBODY => (Whose::Nobody, true),
                None => (Whose::Process, world.is_beside),
            };
            self.judged.push(JudgedTest { whose, uses, asserts, is_cut_off, is_beside });
        }
    }

    fn event(&mut self, event: &Event) {
        let mut thread = self.threads.remove(&event.thread).unwrap_or_default();
        if event.kind == Kind::Mark {
            self.mark(&mut thread, event);
        } else {
            if !self.worlds.contains_key(&thread.world) || (!thread.has_own && thread.frames.is_empty()) {
                let world = self.works_for(&thread);
                self.join(&mut thread, world);
            }
            if thread.world == NOBODY && !thread.had_own {
                for world in self.running.iter().filter_map(|owner| self.owners.get(owner)) {
                    if let Some(world) = self.worlds.get_mut(world) {
                        world.is_beside = true;
                    }
                }
            }
            let mut world = self.worlds.remove(&thread.world).unwrap_or_default();
            self.step(&mut Running { frames: &mut thread.frames, world: &mut world, fresh: &mut thread.fresh }, event);
            self.worlds.insert(thread.world, world);
        }
        self.threads.insert(event.thread, thread);
    }

    /// A test is over, with its methods from a position on. If it had to end with an exception, that was an assertion about why it was thrown.
    pub fn expected(&mut self, thread: &mut Thread, from: usize) {
        let expects = |(position, frame): &(usize, &Frame)| *position >= from && frame.facts.expects_exception();
        let Some((position, _)) = thread.frames.iter().enumerate().rfind(expects) else { return };
        let Some(mut world) = self.worlds.remove(&thread.world) else { return };
        let mut running = Running { frames: &mut thread.frames, world: &mut world, fresh: &mut thread.fresh };
        self.unwind(&mut running, position);
        self.throw_made(&mut running);
        if let Some(mut left) = running.frames.pop() {
            let thrown = thrown(&mut left, running.world);
            running.world.assert(&[thrown.why]);
        }
        self.worlds.insert(thread.world, world);
    }

    fn step(&mut self, running: &mut Running<'_>, event: &Event) {
        match event.kind {
            Kind::Mark => {}
            Kind::Enter => self.enter(running, event),
            Kind::Init => {
                if let Some(frame) = running.frames.iter_mut().rfind(|frame| frame.method == event.method) {
                    frame.object = event.object();
                    frame.local(0).object.set(event.object());
                    if !frame.initialises {
                        running.world.made.insert(event.object());
                    }
                    if running.frames.first().is_some_and(Frame::is_constructor) {
                        running.fresh.push(event.object());
                    }
                    self.early(running);
                }
            }
            Kind::More => {
                let waits = |frame: &&mut Frame| frame.method == event.method && frame.at == event.insn;
                if let Some(frame) = running.frames.last_mut().filter(waits) {
                    told(frame, &[event.object(), event.second()]);
                }
            }
            Kind::Block => self.block(running, event),
            Kind::At | Kind::On | Kind::In | Kind::Two => {
                if !self.find(running, event) {
                    self.unfit += 1;
                    return;
                }
                self.settle(running);
                if running.top().at != event.insn {
                    // The trace has a gap: it goes on from here.
                    self.unfit += 1;
                    let frame = running.top();
                    (frame.at, frame.waiting) = (event.insn.min(frame.facts.sites.len() - 1), Waiting::Insn);
                }
                self.tell(running, event);
                self.run(running);
            }
        }
    }

    /// Fields that an object got before it was one.
    fn early(&mut self, running: &mut Running<'_>) {
        let (frame, early) = {
            let frame = running.top();
            let early = std::mem::take(&mut frame.early);
            (frame.object, early)
        };
        for (insn, value) in early {
            self.put_field(running, insn, frame, &Val::default(), &value);
        }
    }

    /// Finds the method that an event belongs to; those above it were left by an exception.
    fn find(&mut self, running: &mut Running<'_>, event: &Event) -> bool {
        let fits =
            |frame: &Frame| frame.method == event.method && (frame.waiting == Waiting::Call || frame.at == event.insn);
        let is_it = |frame: &Frame| frame.method == event.method;
        let frames = &running.frames;
        let found = frames.iter().rposition(fits).or_else(|| frames.iter().rposition(is_it));
        let Some(position) = found else { return false };
        self.unwind(running, position);
        true
    }

    /// Leaves methods by an exception.
    fn unwind(&mut self, running: &mut Running<'_>, to: usize) {
        while running.frames.len() > to + 1 {
            self.throw_made(running);
            let Some(mut left) = running.frames.pop() else { return };
            let thrown = thrown(&mut left, running.world);
            let below = running.frames.last_mut();
            if let Some(calling) = below.and_then(|below| below.calling.as_mut()) {
                calling.thrown = calling.thrown.and(running.world, thrown);
            }
        }
    }

    /// An exception that the innermost method makes and throws: nothing is told between the two.
    fn throw_made(&mut self, running: &mut Running<'_>) {
        let frame = running.top();
        let waits = frame.waiting == Waiting::Call && frame.calling.as_ref().is_some_and(|calling| !calling.entered);
        let (followed, mut at) = (&frame.facts.followed, frame.at + 1);
        while followed.insns().get(at).is_some_and(|insn| insn.insn.targets().is_empty() && !insn.insn.ends())
            && *followed.told(at) == Told::Nothing
        {
            at += 1;
        }
        if waits && matches!(followed.insns().get(at).map(|insn| &insn.insn), Some(Insn::Throw)) {
            self.settle(running);
        }
    }

    fn block(&mut self, running: &mut Running<'_>, event: &Event) {
        let block_of = |frame: &Frame| frame.facts.followed.block_of(event.insn.min(frame.facts.sites.len() - 1));
        // All frames of a method have the same code: of a deep recursion only one is asked.
        let known = running.frames.iter().rfind(|frame| frame.method == event.method);
        let handler = known.map(block_of).filter(|block| known.is_some_and(|frame| frame.facts.is_handler(*block)));
        let catches =
            |block: usize| move |frame: &Frame| frame.method == event.method && frame.facts.catches(frame.at, block);
        if let Some(block) = handler
            && let Some(position) = running.frames.iter().rposition(catches(block))
        {
            self.unwind(running, position);
            self.caught(running, event);
            return;
        }
        let waits = |frame: &Frame| frame.method == event.method && frame.waiting != Waiting::Insn;
        let Some(position) = running.frames.iter().rposition(waits) else {
            self.unfit += 1;
            return;
        };
        self.unwind(running, position);
        self.settle(running);
        let Running { frames, world, .. } = running;
        let frame = frames.last_mut().expect("invariant: it was found");
        let block = block_of(frame);
        let asked = frame.facts.followed.block_of(frame.at);
        let condition = std::mem::take(&mut frame.chosen);
        if let Some(choice) = frame.facts.clone().choices.get(&asked)
            && frame.facts.followed.stretch(asked).1 == frame.at
        {
            if choice.asserts {
                world.assert(&[condition]);
            }
            frame.under(world, asked, choice.until, condition);
        }
        frame.arrive(world, block);
        (frame.at, frame.waiting) = (frame.facts.followed.stretch(block).0, Waiting::Insn);
        self.run(running);
    }

    /// An exception came to a handler.
    fn caught(&mut self, running: &mut Running<'_>, event: &Event) {
        self.throw_made(running);
        let Running { frames, world, .. } = running;
        let frame = frames.last_mut().expect("invariant: it was found");
        let thrown = thrown(frame, world);
        let (from, block) = (frame.facts.followed.block_of(frame.at), frame.facts.followed.block_of(event.insn));
        let until = frame.facts.joined(from, block).filter(|joined| *joined != block);
        frame.stack.clear();
        frame.calling = None;
        frame.arrive(world, block);
        // It is no condition of a block.
        frame.under(world, frame.facts.followed.blocks() + block, until, thrown.why);
        let node = world.both(thrown.why, thrown.what);
        frame.push(Value::of(node), false);
        (frame.at, frame.waiting) = (frame.facts.followed.stretch(block).0, Waiting::Insn);
        self.run(running);
    }

    fn enter(&mut self, running: &mut Running<'_>, event: &Event) {
        let Some(facts) = self.classes.method(event.method, self.rules) else { return };
        if !facts.is_numbered.replace(true) {
            for (way, insn) in facts.choices.values().flat_map(|choice| &choice.fields) {
                self.field(&facts, *insn);
                for step in way {
                    if let Step::Field(insn) = step {
                        self.field(&facts, *insn);
                    }
                }
            }
        }
        self.serial += 1;
        if running.frames.is_empty() && &**facts.name() != "<init>" {
            running.fresh.clear();
        }
        // Whoever was left by an exception that others caught is gone once its caller calls again; until then it only waits.
        let (mut values, mut entry, mut entered) = (Vec::new(), NONE, Entered::ByOthers);
        let initialises =
            &**facts.name() == "<clinit>" || running.frames.last().is_some_and(|caller| caller.initialises);
        if &**facts.name() != "<clinit>"
            && let Some(caller) = running.frames.last_mut()
            && caller.calling.is_some()
        {
            entry = running.world.both(caller.entry, caller.now());
            (values, entered) = self.passed(running, &facts);
        }
        let frame = running.frames.last_mut();
        if let Some(calling) = frame.and_then(|frame| frame.calling.as_mut()) {
            calling.entered |= entered == Entered::Directly;
        }
        let mut frame = Frame {
            method: event.method,
            at: 0,
            waiting: Waiting::Insn,
            locals: Vec::new(),
            stack: Vec::new(),
            controls: Vec::new(),
            entry,
            serial: self.serial,
            entered,
            initialises,
            calling: None,
            chosen: NONE,
            thrown: Thrown::default(),
            early: Vec::new(),
            object: event.object(),
            facts: facts.clone(),
        };
        let mut local = 0;
        values.resize_with(facts.params.len(), Val::default);
        for (value, wide) in values.into_iter().zip(&facts.params) {
            frame.set_local(local, value, *wide);
            local += if *wide { 2 } else { 1 };
        }
        if event.object() != 0 {
            frame.local(0).object.set(event.object());
        }
        running.frames.push(frame);
        self.run(running);
    }

    /// What a method gets from the call that is under way, and whether that call leads to it.
    fn passed(&mut self, running: &mut Running<'_>, facts: &Rc<MethodFacts>) -> (Vec<Val>, Entered) {
        let Running { frames, world, .. } = running;
        let caller = frames.last_mut().expect("invariant: somebody calls");
        let Some(calling) = &caller.calling else { return (Vec::new(), Entered::ByOthers) };
        if let Site::Call(site) = &caller.facts.sites[caller.at]
            && site.member.name == *facts.name()
            && site.member.desc == *facts.desc()
            && (&**facts.name() != "<init>" || site.member.class == facts.class.class.name)
        {
            return (calling.values.clone(), Entered::Directly);
        }
        // It may get anything that was given to who calls it.
        let mut all: Vec<NodeId> = calling.values.iter().map(|value| value.node.get()).collect();
        calling.values.iter().for_each(|value| world.insides.look(value.object.get(), &mut all));
        let all = world.all(all);
        (facts.params.iter().map(|_| Value::of(all)).collect(), Entered::Back)
    }

    /// Runs on until something is told.
    pub fn run(&mut self, running: &mut Running<'_>) {
        loop {
            let Some(frame) = running.frames.last_mut() else { return };
            if frame.waiting != Waiting::Insn || frame.facts.sites.get(frame.at).is_none() {
                return;
            }
            if *frame.facts.followed.told(frame.at) != Told::Nothing {
                return;
            }
            self.silent(running);
        }
    }

    /// Goes on behind an instruction.
    pub fn advance(&mut self, running: &mut Running<'_>, to: usize) {
        let Running { frames, world, .. } = running;
        let frame = frames.last_mut().expect("invariant: somebody runs");
        let facts = frame.facts.clone();
        if to >= facts.sites.len() {
            frame.waiting = Waiting::Block;
            return;
        }
        let block = facts.followed.block_of(to);
        if facts.followed.stretch(block).0 != to {
            frame.at = to;
        } else if facts.followed.tells_begin(block) {
            frame.waiting = Waiting::Block;
        } else {
            frame.arrive(world, block);
            frame.at = to;
        }
    }

    /// The number of a field that an instruction names.
    pub fn field(&mut self, facts: &MethodFacts, insn: usize) -> Option<FieldId> {
        let Site::Field(site) = &facts.sites[insn] else { return None };
        Some(*site.number.get_or_init(|| self.classes.field(&site.member.class, &site.member.name)))
    }
}

/// What was thrown by a method that is left, or that catches it.
fn thrown(frame: &mut Frame, world: &mut World) -> Thrown {
    let now = frame.now();
    let thrown = std::mem::take(&mut frame.thrown);
    let mut why = vec![thrown.why, now];
    match &frame.calling {
        Some(calling) => {
            // Whoever is not followed may throw because of anything that it was given.
            if !calling.entered {
                why.extend(calling.values.iter().map(|value| value.node.get()));
                why.push(calling.given_back);
            }
            why.push(calling.thrown.why);
            Thrown { why: world.all(why), what: world.both(thrown.what, calling.thrown.what) }
        }
        None => {
            // Which instruction it was follows from what it was given, unless something was thrown on purpose.
            let is_throw = matches!(frame.facts.followed.insns()[frame.at].insn, Insn::Throw);
            if !is_throw {
                why.extend(frame.stack.iter().map(|value| value.node.get()));
            }
            Thrown { why: world.all(why), what: thrown.what }
        }
    }
}

/// References of a call were told.
pub(super) fn told(frame: &mut Frame, objects: &[u32]) {
    let Told::Call(positions) = frame.facts.followed.told(frame.at) else { return };
    let Some(Calling { values, told, .. }) = &mut frame.calling else { return };
    for (position, object) in positions.iter().skip(*told).zip(objects) {
        if let Some(value) = values.get(*position) {
            value.object.set(*object);
        }
        *told += 1;
    }
}
