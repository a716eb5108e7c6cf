//! Other SMT solvers as peers: Z3 and Bitwuzla from PyPI, in a virtual environment that lives as long as the benchmark.

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Answers files with the Python package of a solver.
const SCRIPT: &str = include_str!("../../../../bench/solver/peer.py");

/// The wall-clock seconds that a peer has for a query.
const SECONDS_PER_QUERY: u32 = 10;

/// A solver: its name for the script, and its package.
pub struct SmtPeer {
    pub name: &'static str,
    package: &'static str,
}

pub const SMT_PEERS: [SmtPeer; 2] =
    [SmtPeer { name: "z3", package: "z3-solver" }, SmtPeer { name: "bitwuzla", package: "bitwuzla" }];

/// The answer of a peer.
#[derive(Clone, Serialize, Debug)]
pub struct PeerAnswer {
    /// `sat`, `unsat`, `unknown`, or an error.
    pub answer: String,
    pub cpu_seconds: f64,
}

impl PeerAnswer {
    /// Parses a line of the script.
    fn parse(line: &str) -> Result<PeerAnswer> {
        let (seconds, answer) =
            line.split_once(' ').with_context(|| format!("an unexpected line of a peer: {line}"))?;
        let cpu_seconds = seconds.parse().with_context(|| format!("an unexpected line of a peer: {line}"))?;
        Ok(PeerAnswer { answer: answer.to_string(), cpu_seconds })
    }
}

/// An environment with one of the peers.
pub struct PeerEnvironment {
    python: PathBuf,
    script: PathBuf,
}

impl SmtPeer {
    /// Installs the peer below a directory. The error says what is missing.
    pub fn install(&self, scratch: &Path) -> Result<PeerEnvironment> {
        let directory = scratch.join(self.name);
        run(Command::new("python3").args(["-m", "venv"]).arg(&directory))
            .context("python3 can't create a virtual environment; install python3 with the modules venv and pip")?;
        let python = directory.join("bin").join("python");
        run(Command::new(&python).args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            self.package,
        ]))
        .with_context(|| format!("pip can't install {}; the benchmark needs access to PyPI", self.package))?;
        let script = directory.join("peer.py");
        std::fs::write(&script, SCRIPT).with_context(|| format!("can't write {}", script.display()))?;
        Ok(PeerEnvironment { python, script })
    }

    /// Answers queries, in order.
    pub fn answers(&self, environment: &PeerEnvironment, queries: &[PathBuf]) -> Result<Vec<PeerAnswer>> {
        let mut process = Command::new(&environment.python)
            .arg(&environment.script)
            .args([self.name, &SECONDS_PER_QUERY.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("can't run {}", environment.python.display()))?;
        let paths: Vec<String> = queries.iter().map(|path| format!("{}\n", path.display())).collect();
        let mut input = process.stdin.take().context("invariant: standard input is piped")?;
        let writer = std::thread::spawn(move || input.write_all(paths.concat().as_bytes()));
        let output = process.wait_with_output()?;
        // A peer that ends early does not read its input.
        let written = writer.join().map_err(|_| anyhow::anyhow!("invariant: writing doesn't panic"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let answers: Vec<PeerAnswer> = text.lines().map(PeerAnswer::parse).collect::<Result<_>>()?;
        ensure!(
            answers.len() == queries.len(),
            "{} answered {} of {} queries ({})",
            self.name,
            answers.len(),
            queries.len(),
            output.status
        );
        written.context("can't pass queries to the peer")?;
        Ok(answers)
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", message.lines().last().unwrap_or_default());
    Ok(())
}
