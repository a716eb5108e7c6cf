//! A process that is killed at its deadline, and its output, which ends at the same time.
//!
//! Both are needed: killing a process does not kill its children (a compiler started by a script), which keep the pipe
//! open, so that a read could block forever.

use std::io::Read;
use std::process::{Child, ChildStdout, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use touchstone_base::Deadline;

/// Kills a process at the deadline unless it has ended.
pub(crate) struct Watchdog {
    child: Arc<Mutex<Child>>,
    deadline: Deadline,
    /// The thread that waits for the deadline, and the channel that cancels it. `None` without a deadline.
    guard: Option<(JoinHandle<Ended>, Sender<()>)>,
}

/// The cause of a process's end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Itself,
    Guard,
}

impl Watchdog {
    pub fn new(child: Child, deadline: Deadline) -> Watchdog {
        let child = Arc::new(Mutex::new(child));
        let guard = deadline.left().map(|left| {
            let (done, wait) = channel();
            let watched = Arc::clone(&child);
            let guard = std::thread::spawn(move || match wait.recv_timeout(left) {
                Err(RecvTimeoutError::Timeout) => {
                    // The process may have ended meanwhile; then the kill fails harmlessly.
                    let _ = watched.lock().unwrap_or_else(PoisonError::into_inner).kill();
                    Ended::Guard
                }
                Ok(()) | Err(RecvTimeoutError::Disconnected) => Ended::Itself,
            });
            (guard, done)
        });
        Watchdog { child, deadline, guard }
    }

    /// Waits for the end of a process, after that of its output; `None` if the deadline passed.
    pub fn wait(self) -> std::io::Result<Option<ExitStatus>> {
        let ended = self.guard.map_or(Ended::Itself, |(guard, done)| {
            // After the deadline, the output may have ended for that reason: then the guard is about to kill the
            // process.
            if !self.deadline.is_over() {
                // The send fails only if the guard has already killed the process.
                let _ = done.send(());
            }
            guard.join().unwrap_or(Ended::Itself)
        });
        let status = self.child.lock().unwrap_or_else(PoisonError::into_inner).wait()?;
        Ok((ended == Ended::Itself).then_some(status))
    }
}

/// The output of a process; reading fails at the deadline.
pub(crate) enum ChildOutput {
    /// Output without a deadline.
    Direct(ChildStdout),
    Timed(TimedOutput),
}

/// Output that another thread reads.
pub(crate) struct TimedOutput {
    pieces: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    /// The number of bytes of the chunk that were read.
    read: usize,
    deadline: Deadline,
}

/// The number of bytes read at a time.
const CHUNK_BYTES: usize = 1 << 16;
/// The maximum number of chunks that are queued.
const MAX_QUEUED_CHUNKS: usize = 4;

impl ChildOutput {
    pub fn new(mut pipe: ChildStdout, deadline: Deadline) -> ChildOutput {
        if deadline == Deadline::NEVER {
            return ChildOutput::Direct(pipe);
        }
        let (send, pieces) = sync_channel(MAX_QUEUED_CHUNKS);
        // This thread leaks if the pipe is neither written nor closed; nothing waits for it.
        std::thread::spawn(move || {
            let mut piece = vec![0; CHUNK_BYTES];
            while let Ok(count @ 1..) = pipe.read(&mut piece) {
                if send.send(piece[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        ChildOutput::Timed(TimedOutput { pieces, piece: Vec::new(), read: 0, deadline })
    }
}

impl Read for ChildOutput {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            ChildOutput::Direct(pipe) => pipe.read(buffer),
            ChildOutput::Timed(timed) => timed.read(buffer),
        }
    }
}

impl Read for TimedOutput {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.read == self.piece.len() {
            let left = self.deadline.left().unwrap_or(Duration::MAX);
            match self.pieces.recv_timeout(left) {
                Ok(piece) => (self.piece, self.read) = (piece, 0),
                Err(RecvTimeoutError::Timeout) => return Err(std::io::ErrorKind::TimedOut.into()),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let rest = &self.piece[self.read..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    /// Returns the output of a script, and true if it ended before the deadline.
    fn run(script: &str, deadline: Deadline) -> (String, bool) {
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", script]).stdout(Stdio::piped()).spawn().expect("a shell");
        let mut output = child.stdout.take().map(|pipe| ChildOutput::new(pipe, deadline)).expect("a pipe");
        let watcher = Watchdog::new(child, deadline);
        let mut said = Vec::new();
        let _ = output.read_to_end(&mut said);
        drop(output);
        let ended = watcher.wait().expect("a status");
        (String::from_utf8_lossy(&said).into_owned(), ended.is_some())
    }

    #[test]
    fn a_process_ends_by_itself_or_at_the_deadline() {
        for deadline in [Deadline::NEVER, Deadline::wall_clock(Some(Duration::from_secs(1000)))] {
            assert_eq!(run("echo word", deadline), ("word\n".to_string(), true));
        }
        let started = Instant::now();
        let soon = || Deadline::wall_clock(Some(Duration::from_millis(200)));
        assert!(!run("exec sleep 1000", soon()).1, "one that says nothing");
        assert!(!run("sleep 20; exit 0", soon()).1, "one that lets another sleep");
        assert!(!run("while :; do echo word; done", soon()).1, "one that never stops");
        assert!(!run("(while echo word; do :; done); exit 0", soon()).1, "one that lets another speak");
        assert!(started.elapsed() < Duration::from_secs(15));
    }
}
