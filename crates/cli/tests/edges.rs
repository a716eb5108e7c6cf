//! The edges between crates, as ARCHITECTURE.md draws them, against what cargo says.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Who may use whom inside the workspace.
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    BTreeMap::from([
        ("base", vec![]),
        ("ir", vec!["base"]),
        ("interp", vec!["base", "ir"]),
        ("criteria", vec!["base", "ir"]),
        ("front-c", vec!["base", "ir"]),
        ("solver", vec!["base"]),
        ("engine", vec!["base", "ir", "interp", "criteria", "solver"]),
        ("emit", vec!["base", "ir", "criteria"]),
        ("instrument", vec!["base", "ir", "criteria", "front-c"]),
        ("report", vec!["base", "ir", "criteria"]),
        ("campaign", vec!["base", "ir", "criteria", "front-c", "engine", "emit", "instrument", "report"]),
        ("cli", vec!["base", "ir", "interp", "criteria", "front-c", "engine", "instrument", "report", "campaign"]),
    ])
}

#[test]
fn crates_use_only_the_crates_that_the_architecture_allows() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let allowed = allowed();
    let mut seen = BTreeSet::new();
    for package in packages {
        let name = package["name"].as_str().expect("a name").trim_start_matches("touchstone-");
        let may = allowed.get(name).unwrap_or_else(|| panic!("crate {name} is not in the architecture"));
        seen.insert(name.to_string());
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            // What only tests use is no edge of the architecture.
            if dependency["kind"].as_str() == Some("dev") {
                continue;
            }
            if let Some(used) = dependency["name"].as_str().and_then(|name| name.strip_prefix("touchstone-")) {
                assert!(may.contains(&used), "{name} must not use {used}");
            }
        }
    }
    assert_eq!(seen.len(), allowed.len(), "crates of the architecture that don't exist: {allowed:?} vs {seen:?}");
}
