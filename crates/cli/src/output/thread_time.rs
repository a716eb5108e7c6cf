//! The CPU time of a thread, so that load on the machine matters less.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Returns the CPU time of this thread.
pub fn thread_cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}
