//! A JVM that stays: it compiles and runs the tests of one function after the other.

use crate::java::jvm_sandbox::{JvmSandbox, SandboxMode};
use std::io::{BufRead, BufReader, Error, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// How long compiling tests may take.
const COMPILATION_TIMEOUT: Duration = Duration::from_secs(120);

/// Starts the runner when it is needed.
#[derive(Debug)]
pub struct Jvm {
    java: PathBuf,
    helper: PathBuf,
    mode: SandboxMode,
    sandbox: OnceLock<Option<JvmSandbox>>,
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

/// What a JVM response of tests, until it stopped speaking.
#[derive(Debug, Default)]
pub(crate) struct JvmResponse {
    pub answers: Vec<String>,
    /// Whether it response that it is done.
    pub done: bool,
}

impl Jvm {
    /// The program that is started.
    pub(crate) fn program(&self) -> &Path {
        &self.java
    }

    /// None runs yet.
    pub fn new(java: PathBuf, helper: PathBuf, mode: SandboxMode) -> Jvm {
        Jvm { java, helper, mode, sandbox: OnceLock::new(), running: Mutex::default() }
    }

    fn sandbox(&self) -> std::io::Result<&JvmSandbox> {
        let made = self.sandbox.get_or_init(|| JvmSandbox::new(self.mode).ok());
        made.as_ref().ok_or_else(|| Error::other("no directory for tests can be made"))
    }

    /// A new directory in the only place that tests can write to.
    pub(crate) fn scratch(&self) -> std::io::Result<tempfile::TempDir> {
        tempfile::tempdir_in(self.sandbox()?.scratch())
    }

    /// What nothing keeps tests from, as a sentence; `None` as long as there are no tests.
    pub(crate) fn unprotected(&self) -> Option<String> {
        self.sandbox.get().and_then(|sandbox| sandbox.as_ref()?.unprotected())
    }

    /// Starts it before anybody asks.
    pub fn prepare(&self) {
        let mut running = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if running.is_none() {
            *running = self.start().ok();
        }
    }

    fn start(&self) -> std::io::Result<Running> {
        let mut command = self.sandbox()?.command(&self.java);
        command
            .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx1g", "-cp"])
            .arg(&self.helper)
            .arg("TouchstoneRunner")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let (sender, answers) = channel();
        let (started, starts) = channel();
        // Who hears it also starts it: the sandbox ends with the thread that made it.
        std::thread::spawn(move || {
            let spawned = command.spawn().and_then(|mut child| match (child.stdin.take(), child.stdout.take()) {
                (Some(requests), Some(output)) => Ok((child, requests, output)),
                _ => Err(Error::other("no pipe")),
            });
            let output = match spawned {
                Ok((child, requests, output)) => {
                    let _ = started.send(Ok((child, requests)));
                    output
                }
                Err(error) => return drop(started.send(Err(error))),
            };
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let (child, requests) = starts.recv().map_err(|_| Error::other("it could not be started"))??;
        Ok(Running { child, requests, answers })
    }

    /// Sends a request, and gives what was answered. A JVM that ended is started again by the next request.
    pub(crate) fn ask(
        &self,
        request: &str,
        each: Duration,
        mut progress: impl FnMut(&str),
    ) -> std::io::Result<JvmResponse> {
        let mut slot = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let running = match slot.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let running = slot.insert(running);
        let mut response = JvmResponse::default();
        if writeln!(running.requests, "{request}").and_then(|()| running.requests.flush()).is_err() {
            *slot = None;
            return Ok(response);
        }
        let mut limit = COMPILATION_TIMEOUT;
        while let Ok(line) = running.answers.recv_timeout(limit) {
            if line == "done" {
                response.done = true;
                return Ok(response);
            }
            progress(&line);
            response.answers.push(line);
            limit = each + Duration::from_secs(10);
        }
        *slot = None;
        Ok(response)
    }
}
