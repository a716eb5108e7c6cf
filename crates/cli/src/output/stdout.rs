//! Standard output: what is asked for arrives there, or the run fails. A reader that left (`| head`) has what it wanted.

use anyhow::{Context, Result};
use std::io::{self, ErrorKind, Write};

/// Writes to standard output.
pub fn show(text: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    arrived(stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()))
}

/// What a write to standard output means for the run.
pub fn arrived(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("can't write to standard output"),
    }
}

/// A line for standard output, like `println`, for functions that return a result.
macro_rules! say {
    ($($words:tt)*) => { $crate::output::stdout::show(format!($($words)*) + "\n")? };
}
pub(crate) use say;
