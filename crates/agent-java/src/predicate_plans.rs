//! Predicate plans of classes. Before the first class from a code source gets its probes, the planner reads the sources of all classes from
//! there, and writes a plan for each. The program waits for it once for each code source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Set by `touchstone measure`: the executable that makes plans.
const PLANNER: &str = "TOUCHSTONE_PLANNER";

/// Code sources for which the planner has run.
static PLANNED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Returns the encoded plan of a class, or `None` if it has none. Other threads that load classes wait for the planner, too.
pub fn plan(units: &Path, source: &Path, class_path: &[String], unit: u64) -> Option<Vec<u8>> {
    let mut planned = PLANNED.lock().ok()?;
    if planned.insert(source.to_path_buf()) {
        let mut command = Command::new(std::env::var_os(PLANNER)?);
        command.arg("plan-classes").arg(source).arg("--class-path").arg(class_path.join(":"));
        // JVMs that the planner starts are not measured.
        command.env_remove("JAVA_TOOL_OPTIONS").current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = command.status();
    }
    drop(planned);
    std::fs::read(units.join(format!("{unit:016x}.plan"))).ok()
}
