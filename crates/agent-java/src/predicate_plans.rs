//! What whoever has the source wants to know of classes: before the first class of a place gets its probes, somebody else reads the
//! sources of all of them, and leaves a plan for each. The program waits for that, once a place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Set by `touchstone measure`: who makes plans.
const PLANNER: &str = "TOUCHSTONE_PLANNER";

/// Places that were asked for.
static ASKED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The plan of a class from a place, as bytes; `None` if there is none. Others that load classes from there wait, too.
pub fn plan(units: &Path, place: &Path, class_path: &[String], unit: u64) -> Option<Vec<u8>> {
    let mut asked = ASKED.lock().ok()?;
    if asked.insert(place.to_path_buf()) {
        let mut command = Command::new(std::env::var_os(PLANNER)?);
        command.arg("plan-classes").arg(place).arg("--class-path").arg(class_path.join(":"));
        // JVMs that it starts are none of the program's.
        command.env_remove("JAVA_TOOL_OPTIONS").current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = command.status();
    }
    drop(asked);
    std::fs::read(units.join(format!("{unit:016x}.plan"))).ok()
}
