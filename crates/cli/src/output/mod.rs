//! What people and scripts get: documents of measured suites, reports on disk, the terminal, exit codes. Uses no other folder.

pub mod exit;
pub mod measured;
pub mod outputs;
pub mod progress;
pub mod selection;
pub mod states;
pub mod stdout;
mod variants;
