//! From inputs to a test: the reference interpreter runs them (`concrete.rs`), watched for goals (`watcher.rs`), and what
//! it saw is what the test expects (`testcase.rs`).

pub(crate) mod concrete;
mod testcase;
mod watcher;
