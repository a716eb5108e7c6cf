//! Suites of all forms, compiled with the stand-ins of the frameworks and run.

use std::path::Path;
use std::process::Command;

/// All forms of suites that can be run.
pub const FORMS: [&str; 4] = ["c", "unity", "cmocka", "gtest"];

/// Returns the forms that a test of the library's models tries: by default all but GoogleTest, whose suites take as long
/// to compile as all others together.
pub fn tried() -> &'static [&'static str] {
    if super::long() { &FORMS } else { &FORMS[..3] }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.is_empty(), "{command:?}\n{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compiles the tests of a function in a form, with a macro defined and without warnings, and returns their output.
pub fn ends(out: &Path, form: &str, function: &str, define: &str) -> String {
    let standins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../emit/tests/standins");
    let (program, object) = (out.join("tests"), out.join("tests.o"));
    let dir = if form == "c" { out.to_path_buf() } else { out.join(form) };
    let compile = |compiler: &str| {
        let mut command = Command::new(compiler);
        command.arg("-I").arg(&standins).arg(format!("-D{define}"));
        command
    };
    run(compile("cc")
        .args(["-Wall", "-Wno-unused", "-c"])
        .arg(dir.join(format!("test_{function}.c")))
        .arg("-o")
        .arg(&object));
    let mut link = compile(if form == "gtest" { "c++" } else { "cc" });
    match form {
        "c" => link.arg(dir.join("touchstone_test.c")),
        "gtest" => {
            let glue = out.join("glue.o");
            run(compile("c++").arg("-c").arg(dir.join("touchstone_gtest.cc")).arg("-o").arg(&glue));
            link.arg("-DGTEST_STAND_IN_MAIN").arg(dir.join(format!("test_{function}.cc"))).arg(glue)
        }
        _ => &mut link,
    };
    run(link.arg(&object).arg("-lm").arg("-o").arg(&program));
    let output = Command::new(&program).output().expect("the tests run");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
