//! Standard output. A failed write fails the run, except if the reader closed the pipe (`| head`).

use anyhow::{Context, Result};
use std::io::{self, ErrorKind, Write};

/// Writes to standard output.
pub fn show(text: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    arrived(stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()))
}

/// Maps the result of a write to standard output to that of the run.
pub fn arrived(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("can't write to standard output"),
    }
}

/// Prints a line, as `println!` does, in functions that return a result.
macro_rules! say {
    ($($words:tt)*) => { $crate::output::stdout::show(format!($($words)*) + "\n")? };
}
pub(crate) use say;
