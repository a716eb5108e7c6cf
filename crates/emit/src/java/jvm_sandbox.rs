//! The sandbox of the JVM that runs tests: no writes outside of its directory, no network, and its processes end with
//! it.
//!
//! The JVM does not work with the system-call filter of C tests (`c/build/sandbox.rs`). The other layers confine it;
//! mounts are used even with Landlock, because only they protect file modes.

use crate::EmitError;
use crate::c::build::sandbox::{Layer, plain_launcher, protects_files};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The confinement of a JVM.
#[derive(Debug)]
pub(crate) struct JvmSandbox {
    dir: tempfile::TempDir,
    confinement: Confinement,
    unprotected: Option<String>,
}

/// The way in which a program is started.
#[derive(Debug)]
enum Confinement {
    /// As a plain process, by the user's request.
    None,
    /// By the launcher, which enters these layers.
    Layers { launcher: PathBuf, layers: String },
    /// No layer that protects files works on this machine, so nothing is started.
    Missing,
}

/// The confinement that the user requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SandboxMode {
    /// Every layer that the machine supports.
    Closed,
    /// None, by the user's request.
    Open,
}

impl JvmSandbox {
    pub fn new(mode: SandboxMode) -> std::io::Result<JvmSandbox> {
        let dir = tempfile::tempdir()?;
        std::fs::create_dir(dir.path().join("scratch"))?;
        if mode == SandboxMode::Open {
            let unprotected = "tests were replayed without a sandbox (--unsafe-replay)".to_string();
            return Ok(JvmSandbox { dir, confinement: Confinement::None, unprotected: Some(unprotected) });
        }
        let cc = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty()).unwrap_or_else(|| "cc".to_string());
        let found = plain_launcher(&cc, dir.path()).filter(|(_, layers)| protects_files(layers));
        let unprotected = found.as_ref().and_then(|(_, layers)| unprotected(layers)).map(str::to_string);
        let launcher = found.map(|(launcher, layers)| {
            let entered = layers.iter().filter(|layer| **layer != Layer::Seccomp);
            (launcher, entered.map(|layer| layer.name()).collect::<Vec<_>>().join(","))
        });
        let confinement =
            launcher.map_or(Confinement::Missing, |(launcher, layers)| Confinement::Layers { launcher, layers });
        Ok(JvmSandbox { dir, confinement, unprotected })
    }

    /// Returns the only directory that tests can write to.
    pub fn scratch(&self) -> PathBuf {
        self.dir.path().join("scratch")
    }

    /// Returns a sentence about what tests are not protected from, or `None` if they are confined completely.
    pub fn unprotected(&self) -> Option<String> {
        self.unprotected.clone()
    }

    /// Returns the command that starts a program. The thread that spawns it must outlive the program, which ends with
    /// the thread. Fails if no sandbox works.
    pub fn command(&self, program: &Path) -> Result<Command, EmitError> {
        let scratch = self.scratch();
        let mut command = match &self.confinement {
            Confinement::Layers { launcher, layers } => {
                let mut command = Command::new(launcher);
                command.args(["--parent", &std::process::id().to_string(), "--layers", layers]);
                command.arg(&scratch).arg(program);
                command
            }
            Confinement::None => Command::new(program),
            Confinement::Missing => return Err(EmitError::NoSandbox),
        };
        command.current_dir(&scratch);
        Ok(command)
    }
}

/// Returns a sentence about what a program is not prevented from by layers that protect files.
fn unprotected(layers: &[Layer]) -> Option<&'static str> {
    let text =
        "on this machine the replay is not prevented from changing modes and owners of files (no user namespaces)";
    (!layers.contains(&Layer::Mounts)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_writes_to_its_directory_and_nowhere_else() {
        let elsewhere = tempfile::tempdir().expect("a directory");
        let outside = elsewhere.path().join("outside");
        let confined = JvmSandbox::new(SandboxMode::Closed).expect("a directory");
        let script = format!("echo x > inside; echo x > {}; chmod 0 {}", outside.display(), elsewhere.path().display());
        let ended = confined.command(Path::new("/bin/sh")).expect("a sandbox").args(["-c", &script]).output();
        assert!(ended.is_ok() && confined.scratch().join("inside").is_file(), "{ended:?}");
        assert!(!outside.exists(), "{ended:?}");
        assert!(elsewhere.path().read_dir().is_ok());
    }
}
