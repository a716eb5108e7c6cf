//! Who looks on while a campaign runs. Nobody has to: `()` is a watcher that sees nothing.

use touchstone_engine::Progress;

/// Looks on. Functions are worked on at the same time, so it is told from several threads.
pub trait Watcher: Sync {
    /// Work on a function begins.
    fn function(&self, name: &str) -> Box<dyn FunctionWatcher + '_>;
}

/// Looks on at the work on one function.
pub trait FunctionWatcher {
    /// Exploration went on; told often.
    fn explored(&mut self, progress: &Progress);
    /// So many of all tests were replayed.
    fn replayed(&mut self, done: usize, total: usize);
    /// Nothing follows.
    fn finish(&mut self);
}

impl Watcher for () {
    fn function(&self, _: &str) -> Box<dyn FunctionWatcher + '_> {
        Box::new(())
    }
}

impl FunctionWatcher for () {
    fn explored(&mut self, _: &Progress) {}
    fn replayed(&mut self, _: usize, _: usize) {}
    fn finish(&mut self) {}
}
