//! Output: reports on disk, the terminal, exit codes. Uses no other folder.

pub mod exit;
pub mod outputs;
pub mod progress;
pub mod progress_lines;
pub mod query_dump;
pub mod stdout;
pub mod thread_time;
