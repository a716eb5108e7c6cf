//! The agent: where it is, and how it gets into every JVM that a command starts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the agent is called.
pub const AGENT_LIBRARY: &str = "libtouchstone_agent_java.so";
/// Set for JVMs: where the project is. Jars in it have classes of the user.
pub const PROJECT_ROOT_VARIABLE: &str = "TOUCHSTONE_ROOT";
/// Set for JVMs: who makes plans of classes.
const PLANNER_VARIABLE: &str = "TOUCHSTONE_PLANNER";
/// Every JVM reads its options from here.
const JVM_OPTIONS_VARIABLE: &str = "JAVA_TOOL_OPTIONS";

/// Why there is no agent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{AGENT_LIBRARY} is neither beside {} nor in ../lib/touchstone: Java programs are not measured", .0.display())]
pub struct AgentError(pub PathBuf);

/// The agent of a program: beside it, where it was installed, or where cargo puts it.
pub fn find_agent(program: &Path) -> Result<PathBuf, AgentError> {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
    let beside = real.parent().unwrap_or(Path::new("."));
    let places = [beside.join("../lib/touchstone"), beside.to_path_buf(), beside.join("deps")];
    let found = places.into_iter().map(|place| place.join(AGENT_LIBRARY)).find(|file| file.is_file());
    found.and_then(|file| file.canonicalize().ok()).ok_or(AgentError(real))
}

/// Puts the agent into every JVM that a command starts; the agent asks the program for plans. What the user gives to all JVMs is
/// kept.
pub fn attach_agent(command: &mut Command, agent: &Path, program: &Path, root: &Path, given: Option<&OsStr>) {
    let path = agent.to_string_lossy();
    // Options are separated by spaces, unless quotes are around them.
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
