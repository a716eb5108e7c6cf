//! A resident JVM that runs the tests of one function after the other.

use crate::EmitError;
use crate::java::jvm_sandbox::{JvmSandbox, SandboxMode};
use std::io::{BufRead, BufReader, Error, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// The timeout for the start of the JVM.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A JVM with the runner, started on demand.
#[derive(Debug)]
pub struct Jvm {
    java: PathBuf,
    helper: PathBuf,
    mode: SandboxMode,
    /// The options besides those of every JVM.
    options: Vec<String>,
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

/// The response of the runner, up to its end.
#[derive(Debug, Default)]
pub(crate) struct JvmResponse {
    pub answers: Vec<String>,
    /// True if the runner reported the end of the request.
    pub done: bool,
}

impl Jvm {
    /// Returns the executable of the JVM.
    pub(crate) fn program(&self) -> &Path {
        &self.java
    }

    /// Creates a handle; the JVM is not started yet.
    pub fn new(java: PathBuf, helper: PathBuf, mode: SandboxMode) -> Jvm {
        Jvm { java, helper, mode, options: Vec::new(), sandbox: OnceLock::new(), running: Mutex::default() }
    }

    /// Returns a JVM in which classes in directories replace those of modules. It only interprets: compiled code has
    /// intrinsics instead of some methods.
    pub(crate) fn patched(&self, modules: &[(String, PathBuf)]) -> Jvm {
        let patches =
            modules.iter().map(|(module, directory)| format!("--patch-module={module}={}", directory.display()));
        let options = std::iter::once("-Xint".to_string()).chain(patches).collect();
        Jvm { options, ..Jvm::new(self.java.clone(), self.helper.clone(), self.mode) }
    }

    fn sandbox(&self) -> std::io::Result<&JvmSandbox> {
        let made = self.sandbox.get_or_init(|| JvmSandbox::new(self.mode).ok());
        made.as_ref().ok_or_else(|| Error::other("no directory for tests can be made"))
    }

    /// Creates a directory inside of the only one that tests can write to. Fails if no test may run.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir, EmitError> {
        let sandbox = self.sandbox().map_err(EmitError::io(&std::env::temp_dir()))?;
        sandbox.command(&self.java)?;
        tempfile::tempdir_in(sandbox.scratch()).map_err(EmitError::io(&sandbox.scratch()))
    }

    /// Returns a sentence about what tests are not protected from, or `None` before the first test or if they are
    /// confined completely.
    pub(crate) fn unprotected(&self) -> Option<String> {
        self.sandbox.get().and_then(|sandbox| sandbox.as_ref()?.unprotected())
    }

    /// Starts the JVM before the first request.
    pub fn prepare(&self) {
        let mut running = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if running.is_none() {
            *running = self.start().ok();
        }
    }

    fn start(&self) -> std::io::Result<Running> {
        let mut command = self.sandbox()?.command(&self.java).map_err(Error::other)?;
        command
            .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx1g"])
            .args(&self.options)
            .arg("-cp")
            .arg(&self.helper)
            .arg("TouchstoneRunner")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let (sender, answers) = channel();
        let (started, starts) = channel();
        // The thread that reads the output also starts the JVM: the sandbox ends with the thread that created it.
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

    /// Sends a request, and returns the response. A JVM that has ended is restarted by the next request.
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
        let mut limit = START_TIMEOUT;
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
