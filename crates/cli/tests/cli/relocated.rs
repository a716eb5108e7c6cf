//! Generated suites belong to a project that is moved and renamed: no committed file names a directory of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

/// All files below a directory, without documents.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.retain(|path| !path.extension().is_some_and(|end| end == "json" || end == "jsonl"));
    found
}

#[test]
fn suites_build_after_their_project_was_moved_and_renamed() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let root = scratch.path().canonicalize().expect("there");
    let project = root.join("project");
    let at = project.display();
    let commands = format!(
        "[{{\"directory\": \"{at}/build\", \"file\": \"{at}/src/a.c\", \"command\": \"cc -I{at}/include -isystem {at}/system \
         -include {at}/include/first.h -fdebug-prefix-map={at}=. -c {at}/src/a.c\"}},\n\
         {{\"directory\": \"{at}/build\", \"file\": \"{at}/src/b.c\", \"command\": \"cc -I../include -c {at}/src/b.c\"}}]\n"
    );
    let files_of_project = [
        ("include/a.h", "int twice(int);\n"),
        ("include/first.h", "#define LIMIT 3\n"),
        ("system/s.h", "#define BASE 1\n"),
        (
            "src/a.c",
            "#include \"a.h\"\n#include <s.h>\nint f(int x) { if (x > LIMIT) return BASE; return twice(x); }\n",
        ),
        ("src/b.c", "#include \"a.h\"\nint twice(int x) { return x + x; }\n"),
        ("build/compile_commands.json", &commands),
        ("unity/unity.c", ""),
    ];
    for (name, text) in files_of_project {
        let path = project.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }
    let standin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../emit/tests/standins/unity.h");
    std::fs::copy(standin, project.join("unity/unity.h")).expect("a stand-in");
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["generate", "-q", "--emit", "c,unity"])
        .args([project.join("src/a.c"), project.join("src/b.c")])
        .current_dir(&project)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("agreed"), "{said}");
    let written = files(&project.join("touchstone-out"));
    assert!(written.iter().any(|path| path.ends_with("unity/touchstone.mk")), "{written:?}");
    for path in &written {
        let text = std::fs::read_to_string(path).expect("readable");
        assert!(!text.contains(&root.display().to_string()), "{}: {text}", path.display());
    }
    let moved = root.join("elsewhere/renamed");
    std::fs::create_dir_all(root.join("elsewhere")).expect("writable");
    std::fs::rename(&project, &moved).expect("moved");
    let sh = |line: &str| {
        let run = Command::new("sh").args(["-c", line]).current_dir(&moved).env("UNITY_DIR", "unity").output();
        let run = run.expect("sh runs");
        let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && said.contains("ok "), "{line}\n{said}");
    };
    sh("make -f touchstone-out/unity/touchstone.mk UNITY_DIR=unity");
    let suite = std::fs::read_to_string(moved.join("touchstone-out/test_f.c")).expect("readable");
    sh(suite.lines().find_map(|line| line.strip_prefix(" *     ")).expect("a build command"));
}
