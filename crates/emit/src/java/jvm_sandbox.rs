//! The sandbox of the JVM that runs tests: no writes outside of its directory, no network, and its processes end with
//! it.
//!
//! The JVM does not work with the system-call filter of C tests (`c/build/sandbox.rs`). The other layers confine it;
//! mounts are used even with Landlock, because only they protect file modes.

use crate::c::build::sandbox::{Layer, plain_launcher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The confinement of a JVM.
#[derive(Debug)]
pub(crate) struct JvmSandbox {
    dir: tempfile::TempDir,
    /// The launcher, with the names of the layers that it enters.
    launcher: Option<(PathBuf, String)>,
    unprotected: Option<String>,
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
            return Ok(JvmSandbox { dir, launcher: None, unprotected: Some(unprotected) });
        }
        let cc = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty()).unwrap_or_else(|| "cc".to_string());
        let found = plain_launcher(&cc, dir.path());
        let unprotected = match &found {
            None => Some(
                "the replay is not prevented from changing files and using the network (no C compiler to build the sandbox)",
            ),
            Some((_, layers)) => unprotected(layers),
        };
        let unprotected = unprotected.map(|what| format!("on this machine {what}"));
        let usable = |(launcher, layers): (PathBuf, Vec<Layer>)| {
            let names: Vec<&str> =
                layers.iter().filter(|layer| **layer != Layer::Seccomp).map(|layer| layer.name()).collect();
            (!names.is_empty()).then(|| (launcher, names.join(",")))
        };
        Ok(JvmSandbox { launcher: found.and_then(usable), dir, unprotected })
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
    /// the thread.
    pub fn command(&self, program: &Path) -> Command {
        let scratch = self.scratch();
        let mut command = match &self.launcher {
            Some((launcher, layers)) => {
                let mut command = Command::new(launcher);
                command.args(["--parent", &std::process::id().to_string(), "--layers", layers]);
                command.arg(&scratch).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.current_dir(&scratch);
        command
    }
}

fn unprotected(layers: &[Layer]) -> Option<&'static str> {
    let has = |layer| layers.contains(&layer);
    match (has(Layer::Mounts), has(Layer::Landlock)) {
        (true, _) => None,
        (false, true) => {
            Some("the replay is not prevented from changing modes and owners of files (no user namespaces)")
        }
        (false, false) => Some(
            "the replay is not prevented from changing files and using the network (no landlock, no user namespaces)",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_writes_to_its_directory_and_nowhere_else_or_that_is_told() {
        let elsewhere = tempfile::tempdir().expect("a directory");
        let outside = elsewhere.path().join("outside");
        let confined = JvmSandbox::new(SandboxMode::Closed).expect("a directory");
        let script = format!("echo x > inside; echo x > {}; chmod 0 {}", outside.display(), elsewhere.path().display());
        let ended = confined.command(Path::new("/bin/sh")).args(["-c", &script]).output();
        assert!(ended.is_ok() && confined.scratch().join("inside").is_file(), "{ended:?}");
        assert!(!outside.exists() || confined.unprotected().is_some(), "{ended:?}");
        assert!(elsewhere.path().read_dir().is_ok());
    }
}
