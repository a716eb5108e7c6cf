//! Progress as lines on standard error, for logs: every few seconds, the functions that are finished and those that are
//! worked on. Runs that are shorter than that print none.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time between two lines.
const INTERVAL: Duration = Duration::from_secs(3);

/// The maximum number of functions in a line.
const MAX_NAMES: usize = 3;

/// The functions of a run, and the thread that prints them.
pub struct ProgressLines {
    functions: Arc<Mutex<Functions>>,
    /// Ends the thread when it is dropped.
    end: Option<Sender<()>>,
    printer: Option<JoinHandle<()>>,
}

/// The state of the functions.
#[derive(Default)]
struct Functions {
    total: usize,
    finished: usize,
    /// The functions that are worked on, with the state of the work.
    active: BTreeMap<String, String>,
}

impl ProgressLines {
    /// Starts to print the progress of a run with this many functions.
    pub fn start(total: usize) -> ProgressLines {
        let functions = Arc::new(Mutex::new(Functions { total, ..Functions::default() }));
        let (end, ended) = channel::<()>();
        let shown = Arc::clone(&functions);
        let began = Instant::now();
        let printer = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(INTERVAL) {
                eprintln!("{}", shown.lock().unwrap_or_else(PoisonError::into_inner).line(began.elapsed()));
            }
        });
        ProgressLines { functions, end: Some(end), printer: Some(printer) }
    }

    /// Sets the state of the work on a function.
    pub fn set(&self, function: &str, state: String) {
        self.with(|functions| drop(functions.active.insert(function.to_string(), state)));
    }

    /// Counts a function as finished.
    pub fn finish(&self, function: &str) {
        self.with(|functions| {
            functions.finished += 1;
            functions.active.remove(function);
        });
    }

    fn with(&self, change: impl FnOnce(&mut Functions)) {
        change(&mut self.functions.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for ProgressLines {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(printer) = self.printer.take() {
            let _ = printer.join();
        }
    }
}

impl Functions {
    fn line(&self, elapsed: Duration) -> String {
        let described = |(function, state): (&String, &String)| match state.is_empty() {
            true => function.clone(),
            false => format!("{function} ({state})"),
        };
        let mut names: Vec<String> = self.active.iter().take(MAX_NAMES).map(described).collect();
        if self.active.len() > MAX_NAMES {
            names.push(format!("{} more", self.active.len() - MAX_NAMES));
        }
        let now = if names.is_empty() { String::new() } else { format!("; now {}", names.join(", ")) };
        format!("progress: {} of {} functions after {} s{now}", self.finished, self.total, elapsed.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_few_functions() {
        let mut functions = Functions { total: 9, finished: 2, active: BTreeMap::new() };
        assert_eq!(functions.line(Duration::from_secs(3)), "progress: 2 of 9 functions after 3 s");
        functions.active = ["a", "b", "c", "d", "e"].map(|name| (name.to_string(), String::new())).into();
        functions.active.insert("a".to_string(), "12 paths".to_string());
        let line = functions.line(Duration::from_secs(6));
        assert_eq!(line, "progress: 2 of 9 functions after 6 s; now a (12 paths), b, c, 2 more");
    }
}
