//! The CPU time of a thread: explorations are budgeted in it, so that a busy machine and other methods cost none.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Returns the CPU time of this thread so far.
pub(crate) fn thread_cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
