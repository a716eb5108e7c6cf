//! The folders of this crate, and that each uses only those before it.

use std::collections::BTreeSet;
use std::path::Path;

/// Who may use whom.
const ALLOWED: [(&str, &[&str]); 6] = [
    ("clang", &[]),
    ("types", &["clang"]),
    ("link", &["clang", "types"]),
    ("lower", &["clang", "types", "link"]),
    ("points", &["clang", "types", "lower"]),
    ("follow", &["clang"]),
];

#[test]
fn a_folder_uses_only_those_before_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names: BTreeSet<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    let mut seen = 0;
    for (folder, allowed) in ALLOWED {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a file of text");
            let mentioned = text.split("crate::").skip(1).map(|rest| rest.split("::").next().unwrap_or_default());
            for used in mentioned.filter(|used| names.contains(used) && *used != folder) {
                assert!(allowed.contains(&used), "{} uses {used}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "only {seen} uses were found");
}
