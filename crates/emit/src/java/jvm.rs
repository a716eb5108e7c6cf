//! A JVM that stays: it compiles and runs the tests of one function after the other.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long compiling tests may take.
const COMPILING: Duration = Duration::from_secs(120);

/// Starts the runner when it is needed.
#[derive(Debug)]
pub struct Jvm {
    java: PathBuf,
    helper: PathBuf,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a JVM said of tests, until it stopped speaking.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub answers: Vec<String>,
    /// Whether it said that it is done.
    pub done: bool,
}

impl Jvm {
    /// None runs yet.
    pub fn new(java: PathBuf, helper: PathBuf) -> Jvm {
        Jvm { java, helper, running: Mutex::default() }
    }

    /// Starts it before anybody asks.
    pub fn prepare(&self) {
        let mut running = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if running.is_none() {
            *running = self.start().ok();
        }
    }

    fn start(&self) -> std::io::Result<Running> {
        let mut child = Command::new(&self.java)
            .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g", "-cp"])
            .arg(&self.helper)
            .arg("TouchstoneRunner")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (requests, output) = match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(output)) => (requests, output),
            _ => return Err(std::io::Error::other("no pipe")),
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Running { child, requests, answers })
    }

    /// Sends a request, and gives what was answered. A JVM that ended is started again by the next request.
    pub(crate) fn ask(&self, request: &str, each: Duration, mut progress: impl FnMut(&str)) -> std::io::Result<Said> {
        let mut slot = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let running = match slot.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let running = slot.insert(running);
        let mut said = Said::default();
        if writeln!(running.requests, "{request}").and_then(|()| running.requests.flush()).is_err() {
            *slot = None;
            return Ok(said);
        }
        let mut limit = COMPILING;
        while let Ok(line) = running.answers.recv_timeout(limit) {
            if line == "done" {
                said.done = true;
                return Ok(said);
            }
            progress(&line);
            said.answers.push(line);
            limit = each + Duration::from_secs(10);
        }
        *slot = None;
        Ok(said)
    }
}
