//! Ctrl-C and SIGTERM. While a command of the user runs, the command and all that it started are told to end, and we go on
//! with what they left.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// From now on, Ctrl-C and SIGTERM make this true and end what was started (compilers, tests): all that waits for them goes
/// on at once. A second one ends at once.
pub fn on_ctrl_c(flag: Arc<AtomicBool>) -> Result<()> {
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        std::thread::spawn(|| {
            // What was about to be started when the signal came is there a little later.
            for _ in 0..AGAIN {
                end(&descendants(std::process::id()));
                std::thread::sleep(PAUSE);
            }
        });
    })
    .context("can't handle signals")
}

/// How often, and after what time, is looked for more to end.
const AGAIN: u32 = 20;
const PAUSE: Duration = Duration::from_millis(150);

/// Whether somebody wants us to stop.
pub struct Stop {
    asked: Arc<AtomicBool>,
    /// The process to end; 0 until there is one.
    child: Arc<AtomicU32>,
}

impl Stop {
    /// From now on, a signal does not end this process; a second one does.
    pub fn new() -> Result<Stop> {
        let stop = Stop { asked: Arc::default(), child: Arc::default() };
        let (asked, child) = (Arc::clone(&stop.asked), Arc::clone(&stop.child));
        ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            end_all(child.load(Ordering::SeqCst));
        })
        .context("can't handle signals")?;
        Ok(stop)
    }

    /// This process shall end when we are told to.
    pub fn watch(&self, child: u32) {
        self.child.store(child, Ordering::SeqCst);
        // The signal may have come before the process.
        if self.was_asked() {
            end_all(child);
        }
    }

    pub fn was_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Tells a process and all that it started to end.
fn end_all(process: u32) {
    if process != 0 {
        end(&[vec![process], descendants(process)].concat());
    }
}

/// All that a process started, directly or not.
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

/// Tells processes to end.
fn end(processes: &[u32]) {
    if processes.is_empty() {
        return;
    }
    let words = processes.iter().map(u32::to_string);
    // Some may have ended by themselves by now.
    let _ = Command::new("kill").arg("-TERM").args(words).stderr(std::process::Stdio::null()).status();
}

/// By process: who started it.
fn parents() -> BTreeMap<u32, u32> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name of the program stands in parentheses, and may contain anything.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        found.extend(parent.map(|parent: u32| (process, parent)));
    }
    found
}
