//! For which test each thread of a trace works, as marks say it: the one that began in it, or that started it, or the only one that runs.

use super::java_trace::{BEGINS, CUT_OFF, ENDS, Event, HELPS, Kind, OVER, OWNS, TOGETHER};
use super::method_frames::Frame;
use super::test_execution::World;
use super::trace_interpreter::Machine;

/// What threads do of which nobody knows for which of several tests they work.
pub(super) const NOBODY: usize = usize::MAX;

/// A thread.
#[derive(Default)]
pub(super) struct Thread {
    pub frames: Vec<Frame>,
    /// The test that it works for.
    pub world: usize,
    /// A test began in it,
    pub has_own: bool,
    /// or some did before.
    pub had_own: bool,
    /// Its number, if a test started it.
    pub helps: Option<u32>,
    /// Tests that began in it and did not end yet, by their numbers, and how many methods ran when they began.
    begun: Vec<(u32, usize)>,
    /// Objects that constructors made since others called something else: frameworks make tests before they say that these begin.
    pub fresh: Vec<u32>,
    /// A name that is being told.
    name: Vec<u8>,
}

impl Machine<'_> {
    /// For which test a thread works in which none began. While one runs at a time it is that one.
    pub fn works_for(&self, thread: &Thread) -> usize {
        let started = thread.helps.and_then(|helper| self.owners.get(self.over.get(&helper)?)).copied();
        match started.filter(|world| self.worlds.contains_key(world)) {
            Some(world) => world,
            None if self.together => NOBODY,
            None => self.current,
        }
    }

    /// A thread works for another test from now on.
    pub fn join(&mut self, thread: &mut Thread, world: usize) {
        if thread.world != world {
            thread.world = world;
            thread.frames.iter_mut().for_each(Frame::forget);
        }
    }

    pub fn mark(&mut self, thread: &mut Thread, event: &Event) {
        match event.method {
            BEGINS => self.begins(thread, event),
            CUT_OFF => {
                self.left_out = event.what;
                // There was no room to say how the methods of the test that was cut off came to their ends, nor that it did.
                if let Some((test, _)) = thread.begun.last().copied() {
                    self.leave_test(thread, test);
                }
                self.worlds.values_mut().for_each(|world| world.is_cut_off = true);
            }
            OWNS => {
                self.owners.insert(event.what as u32, thread.world);
                self.running.push(event.what as u32);
                thread.begun.push((event.what as u32, thread.frames.len()));
            }
            ENDS => self.ends(thread, event.what as u32),
            HELPS => thread.helps = Some(event.what as u32),
            TOGETHER => self.together = true,
            _ => {}
        }
    }

    /// A test begins, once all of its name is there.
    fn begins(&mut self, thread: &mut Thread, event: &Event) {
        thread.name.extend(event.what.to_le_bytes().iter().filter(|byte| **byte != 0));
        if event.insn == 0 {
            return;
        }
        let name = String::from_utf8_lossy(&std::mem::take(&mut thread.name)).into_owned();
        self.expected(thread, 0);
        let before = thread.world;
        let is_shared = self.threads.values().any(|other| other.has_own && other.world == before);
        let made = std::mem::take(&mut thread.fresh).into_iter().collect();
        self.worlds.insert(self.next_world, Box::new(World::of(name, made)));
        self.join(thread, self.next_world);
        (thread.has_own, thread.had_own) = (true, true);
        (self.current, self.next_world) = (self.next_world, self.next_world + 1);
        // What was done before the first test belongs to none of them.
        if before != 0 && before != NOBODY && !is_shared {
            self.finish(before);
        }
    }

    /// A test ended that had begun in a thread: so did all methods that ran for it there, also those of which nobody told.
    fn leave_test(&mut self, thread: &mut Thread, test: u32) {
        let Some(position) = thread.begun.iter().rposition(|(begun, _)| *begun == test) else { return };
        let before = thread.begun[position].1;
        self.expected(thread, before);
        thread.frames.truncate(before);
        thread.begun.truncate(position);
    }

    /// A test ends. While tests run at the same time, what its thread does before the next one begins is for none of them.
    fn ends(&mut self, thread: &mut Thread, owner: u32) {
        self.running.retain(|other| *other != owner);
        self.leave_test(thread, owner);
        let Some(world) = self.owners.remove(&owner).filter(|_| self.together) else { return };
        if thread.world == world {
            thread.has_own = false;
        }
        self.threads.values_mut().filter(|other| other.world == world).for_each(|other| other.has_own = false);
        self.finish(world);
    }
}

/// A thread that was over before the test that started it, and the test.
pub(super) fn over(event: Event) -> Option<(u32, u32)> {
    (event.kind == Kind::Mark && event.method == OVER).then_some((event.what as u32, (event.what >> 32) as u32))
}
