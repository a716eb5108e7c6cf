//! A resident JVM with the JDK's compiler, extended by the helper.
//!
//! One process serves all compilations of a program and its tests, since most of the time of a small compilation is
//! that of starting a JVM and of loading the compiler. An archive of the compiler's classes makes the start faster.

use super::jdk::{JdkError, io};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The jar in the helper's directory with the main class: archives need a class path of jars.
pub(super) const JAR: &str = "compiler.jar";

/// The archive of the compiler's classes in the helper's directory.
const ARCHIVE: &str = "compiler.jsa";

/// The first release of the JDK that can archive the classes of a run.
pub(super) const ARCHIVE_RELEASE: u32 = 13;

/// The timeout of a compilation, for a compiler that hangs.
const COMPILATION_TIMEOUT: Duration = Duration::from_secs(600);

/// A compiler, started by the first compilation.
#[derive(Debug, Default)]
pub(super) struct JavaCompiler {
    running: Mutex<Option<CompilerProcess>>,
}

impl JavaCompiler {
    /// Sends a request (see `TouchstoneCompile.run`), and waits for the result.
    ///
    /// # Errors
    /// If the compiler rejects the sources, or can't run.
    pub fn compile(&self, java: &Path, helper: &Path, request: &[String]) -> Result<(), JdkError> {
        if let Some(part) = request.iter().find(|part| part.contains(['\t', '\r', '\n'])) {
            return Err(JdkError::Refused(format!("{part:?}: paths with tabs or line ends can't be compiled")));
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut process = match running.take() {
            Some(process) => process,
            None => CompilerProcess::start(java, helper, &[])?,
        };
        let (status, messages) = process.ask(request)?;
        *running = Some(process);
        match status {
            0 => Ok(()),
            1 => Err(JdkError::Refused(messages)),
            _ => Err(JdkError::Helper(messages)),
        }
    }

    /// Ends the process; the next compilation starts another one.
    pub fn stop(&self) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Archives the classes that the compilation of a source file loads. Errors are ignored: a compiler without the
    /// archive only starts more slowly.
    pub fn archive_classes(java: &Path, helper: &Path, source: &Path) {
        let archive = helper.join(format!("{ARCHIVE}-{}", std::process::id()));
        let Ok(scratch) = Scratch::create(helper) else { return };
        let output = scratch.0.display().to_string();
        let records = scratch.0.join("records").display().to_string();
        let option = format!("-XX:ArchiveClassesAtExit={}", archive.display());
        let Ok(mut process) = CompilerProcess::start(java, helper, &[option]) else { return };
        let mut request = ["marks", &records, &output].map(str::to_string).to_vec();
        request.extend(["", "", "", "", ""].map(str::to_string));
        request.push(source.display().to_string());
        if process.ask(&request).is_ok_and(|(status, _)| status == 0) && process.end() {
            let _ = std::fs::rename(&archive, helper.join(ARCHIVE));
        }
    }
}

/// A directory for the output of the compilation whose classes are archived.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn create(helper: &Path) -> std::io::Result<Scratch> {
        let directory = helper.join(format!("archived-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        Ok(Scratch(directory))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running compiler.
#[derive(Debug)]
struct CompilerProcess {
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
    errors: Option<ChildStderr>,
}

impl CompilerProcess {
    fn start(java: &Path, helper: &Path, options: &[String]) -> Result<CompilerProcess, JdkError> {
        let archive = helper.join(ARCHIVE);
        let mut command = Command::new(java);
        command.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xlog:disable"]).args(options);
        if archive.is_file() {
            command.arg(format!("-XX:SharedArchiveFile={}", archive.display()));
        }
        command
            .arg("--add-opens=jdk.compiler/com.sun.tools.javac.jvm=ALL-UNNAMED")
            .arg("-cp")
            .arg(helper.join(JAR))
            .arg("TouchstoneMain")
            .arg(helper)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // An interrupt from the terminal ends the search, whose tests are still compiled.
            .process_group(0);
        let mut child = command.spawn().map_err(io("can't run java"))?;
        let (requests, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(CompilerProcess { child, requests, answers, errors })
    }

    /// Sends a request. Returns the result and the messages of the compiler.
    fn ask(&mut self, request: &[String]) -> Result<(i32, String), JdkError> {
        // A process that has ended explains itself below.
        if let Some(requests) = &mut self.requests {
            let _ = writeln!(requests, "{}", request.join("\t")).and_then(|()| requests.flush());
        }
        let mut messages = Vec::new();
        while let Ok(line) = self.answers.recv_timeout(COMPILATION_TIMEOUT) {
            if let Some(message) = line.strip_prefix("m ") {
                messages.push(message.to_string());
            } else if let Some(status) = line.strip_prefix("done ").and_then(|status| status.parse().ok()) {
                return Ok((status, messages.join("\n").trim_end().to_string()));
            }
        }
        let _ = self.child.kill();
        let mut said = String::new();
        if let Some(errors) = &mut self.errors {
            let _ = errors.read_to_string(&mut said);
        }
        Err(JdkError::Helper(format!("the compiler's JVM ended or did not answer\n{}", said.trim_end())))
    }

    /// Lets the process end by itself. Returns true if it succeeds.
    fn end(mut self) -> bool {
        self.requests = None;
        self.child.wait().is_ok_and(|status| status.success())
    }
}

impl Drop for CompilerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
