//! Progress reports of a running campaign. `()` is a listener that ignores them.

use touchstone_engine::Progress;

/// Receives progress reports. Functions are worked on concurrently, so it is called from several threads.
pub trait ProgressListener: Sync {
    /// Reports that the work on a function starts.
    fn function(&self, name: &str) -> Box<dyn FunctionProgress + '_>;
}

/// Receives progress reports about one function, from one thread at a time.
pub trait FunctionProgress: Send {
    /// Reports progress of the exploration; called often.
    fn explored(&mut self, progress: &Progress);
    /// Reports the number of replayed tests.
    fn replayed(&mut self, done: usize, total: usize);
    /// Reports the end of the work.
    fn finish(&mut self);
}

impl ProgressListener for () {
    fn function(&self, _: &str) -> Box<dyn FunctionProgress + '_> {
        Box::new(())
    }
}

impl FunctionProgress for () {
    fn explored(&mut self, _: &Progress) {}
    fn replayed(&mut self, _: usize, _: usize) {}
    fn finish(&mut self) {}
}
