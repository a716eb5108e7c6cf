//! Handling of Ctrl-C and SIGTERM. A measured command and all its descendants are terminated, and the run continues
//! with the results so far.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Installs a handler that sets the flag and terminates all child processes (compilers, tests) on the first Ctrl-C or
/// SIGTERM. Another one, more than a second later, terminates this process.
pub fn on_ctrl_c(flag: Arc<AtomicBool>) -> Result<()> {
    let signals = SignalCount::default();
    ctrlc::set_handler(move || {
        match signals.next() {
            Signal::First => flag.store(true, Ordering::Relaxed),
            Signal::Echo => return,
            Signal::Second => std::process::exit(130),
        }
        std::thread::spawn(|| {
            // A child that was being started when the signal arrived appears a little later.
            for _ in 0..AGAIN {
                end(&descendants(std::process::id()));
                std::thread::sleep(PAUSE);
            }
        });
    })
    .context("can't handle signals")
}

/// The time during which further signals are those of one request: `timeout` sends its signal to the process and to its
/// group, and a terminal may add its own.
const ECHO: Duration = Duration::from_millis(1000);

/// The role of a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Signal {
    /// The request to end.
    First,
    /// A repetition of the first signal by the same sender.
    Echo,
    /// The request to end at once.
    Second,
}

/// The signals so far.
#[derive(Default)]
struct SignalCount(OnceLock<Instant>);

impl SignalCount {
    /// Counts a signal that has arrived now.
    fn next(&self) -> Signal {
        match self.0.get() {
            None => {
                // Signals are handled one after the other.
                let _ = self.0.set(Instant::now());
                Signal::First
            }
            Some(first) if first.elapsed() < ECHO => Signal::Echo,
            Some(_) => Signal::Second,
        }
    }
}

/// The number of scans for further descendants, and the time between them.
const AGAIN: u32 = 20;
const PAUSE: Duration = Duration::from_millis(150);

/// A request to stop the measured command.
pub struct StopRequest {
    asked: Arc<AtomicBool>,
    /// The process to terminate; 0 until it has started.
    child: Arc<AtomicU32>,
}

impl StopRequest {
    /// Installs a handler: the first signal sets the flag, another one more than a second later terminates this process.
    pub fn new() -> Result<StopRequest> {
        let stop = StopRequest { asked: Arc::default(), child: Arc::default() };
        let (asked, child) = (Arc::clone(&stop.asked), Arc::clone(&stop.child));
        let signals = SignalCount::default();
        ctrlc::set_handler(move || {
            match signals.next() {
                Signal::First => asked.store(true, Ordering::SeqCst),
                Signal::Echo => return,
                Signal::Second => std::process::exit(130),
            }
            end_all(child.load(Ordering::SeqCst));
        })
        .context("can't handle signals")?;
        Ok(stop)
    }

    /// Sets the process to terminate on a signal.
    pub fn watch(&self, child: u32) {
        self.child.store(child, Ordering::SeqCst);
        // The signal may have arrived before the process was started.
        if self.was_asked() {
            end_all(child);
        }
    }

    pub fn was_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Terminates a process and all its descendants.
fn end_all(process: u32) {
    if process != 0 {
        end(&[vec![process], descendants(process)].concat());
    }
}

/// Returns all descendants of a process.
fn descendants(process: u32) -> Vec<u32> {
    let parents = parents();
    let mut all = vec![process];
    let mut next = 0;
    while let Some(parent) = all.get(next).copied() {
        all.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(child, _)| *child));
        next += 1;
    }
    all.split_off(1)
}

/// Sends SIGTERM to processes.
fn end(processes: &[u32]) {
    if processes.is_empty() {
        return;
    }
    let words = processes.iter().map(u32::to_string);
    // Some processes may have exited already.
    let _ = Command::new("kill").arg("-TERM").args(words).stderr(std::process::Stdio::null()).status();
}

/// Maps each process to its parent.
fn parents() -> BTreeMap<u32, u32> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The program name is in parentheses and may contain any character.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        found.extend(parent.map(|parent: u32| (process, parent)));
    }
    found
}
