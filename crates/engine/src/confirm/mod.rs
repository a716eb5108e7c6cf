//! From inputs to a test: the reference interpreter runs them (`concrete.rs`), watched for goals (`watcher.rs`), and what
//! it saw is what the test expects (`testcase.rs`; `following.rs`: what more calls show), under a title (`description.rs`). Which of many inputs are taken is a little matter of taste (`fitting.rs`,
//! `rounding.rs`).

pub(crate) mod case;
pub(crate) mod concrete;
pub(crate) mod description;
pub(crate) mod fitting;
pub(crate) mod following;
pub(crate) mod mutants;
pub(crate) mod rounding;
mod testcase;
pub(crate) mod watcher;
