//! Attaches the agent to every JVM that a command starts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file name of the agent.
pub const AGENT_LIBRARY: &str = "libtouchstone_agent_java.so";
/// The environment variable with the root of the project. Classes in jars below it are measured.
pub const PROJECT_ROOT_VARIABLE: &str = "TOUCHSTONE_ROOT";
/// The environment variable with the program that computes plans of classes.
const PLANNER_VARIABLE: &str = "TOUCHSTONE_PLANNER";
/// The environment variable from which every JVM reads options.
const JVM_OPTIONS_VARIABLE: &str = "JAVA_TOOL_OPTIONS";

/// The agent was not found; the path is that of the program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{AGENT_LIBRARY} is neither beside {} nor in ../lib/touchstone: Java programs are not measured", .0.display())]
pub struct AgentError(pub PathBuf);

/// Finds the agent of a program: beside it, in the installation's library directory, or in cargo's.
pub fn find_agent(program: &Path) -> Result<PathBuf, AgentError> {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
    let beside = real.parent().unwrap_or(Path::new("."));
    let places = [beside.join("../lib/touchstone"), beside.to_path_buf(), beside.join("deps")];
    let found = places.into_iter().map(|place| place.join(AGENT_LIBRARY)).find(|file| file.is_file());
    found.and_then(|file| file.canonicalize().ok()).ok_or(AgentError(real))
}

/// Attaches the agent to every JVM that a command starts. The agent runs `program` to compute plans. `given` are the
/// options that the user already passes to all JVMs.
pub fn attach_agent(command: &mut Command, agent: &Path, program: &Path, root: &Path, given: Option<&OsStr>) {
    let path = agent.to_string_lossy();
    // Options are separated by spaces, unless they are quoted.
    let quote = if path.contains('"') { '\'' } else { '"' };
    let word = match path.contains(char::is_whitespace) {
        true => format!("{quote}-agentpath:{path}{quote}"),
        false => format!("-agentpath:{path}"),
    };
    let mut options = OsString::from(word);
    if let Some(given) = given.filter(|given| !given.is_empty()) {
        options.push(" ");
        options.push(given);
    }
    command.env(JVM_OPTIONS_VARIABLE, options).env(PROJECT_ROOT_VARIABLE, root).env(PLANNER_VARIABLE, program);
}
