//! Attaches the agent to every JVM that a command starts.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_criteria::{STATE, criterion_named};

/// The file name of the agent.
pub const AGENT_LIBRARY: &str = "libtouchstone_agent_java.so";
/// The environment variable with the root of the project. Classes in jars below it are measured.
pub const PROJECT_ROOT_VARIABLE: &str = "TOUCHSTONE_ROOT";
/// The environment variable with the program that computes plans of classes.
const PLANNER_VARIABLE: &str = "TOUCHSTONE_PLANNER";
/// The environment variable with the kinds of events that the agent records, separated by commas.
const PROBES_VARIABLE: &str = "TOUCHSTONE_JAVA_PROBES";
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
pub fn attach_agent(
    command: &mut Command,
    agent: &Path,
    program: &Path,
    root: &Path,
    given: Option<&OsStr>,
    criteria: &[String],
) {
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
    let mut probes = probe_words(criteria.iter().map(String::as_str));
    if criteria.iter().any(|name| name != STATE) {
        probes.insert("jumps");
    }
    if criteria.iter().any(|name| name == STATE) {
        probes.insert("state");
    }
    let probes: Vec<&str> = probes.into_iter().collect();
    command.env(JVM_OPTIONS_VARIABLE, options).env(PROJECT_ROOT_VARIABLE, root).env(PLANNER_VARIABLE, program);
    command.env(PROBES_VARIABLE, probes.join(","));
}

/// Returns the words for the kinds of events that criteria, given by name, need besides jumps and switches.
pub(super) fn probe_words<'c>(criteria: impl IntoIterator<Item = &'c str>) -> BTreeSet<&'static str> {
    let probes = criteria.into_iter().filter_map(criterion_named).flat_map(|criterion| criterion.recorded_events());
    probes.map(|probe| probe.word()).collect()
}
