//! `touchstone.toml` and `touchstone init`: options of a project, as if they had been typed.

use std::path::Path;
use std::process::Command;

/// A directory with a source in `src/`, and what a command in one of its directories says.
struct Project(tempfile::TempDir);

impl Project {
    fn new(toml: &str) -> Project {
        let project = Project(tempfile::tempdir().expect("a scratch directory"));
        project.write(
            "src/sign.c",
            "#include <limit.h>\nint sign(int x) { if (x > LIMIT || x < -LIMIT) return 1; return 0; }\n",
        );
        project.write("include/limit.h", "#ifndef LIMIT\n#define LIMIT 10\n#endif\n");
        if !toml.is_empty() {
            project.write("touchstone.toml", toml);
        }
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).expect("readable")
    }

    /// The exit code, and both outputs.
    fn run(&self, folder: &str, words: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_touchstone"))
            .args(words)
            .current_dir(self.0.path().join(folder))
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said.into_owned())
    }

    #[track_caller]
    fn says(&self, folder: &str, words: &[&str], code: i32, wanted: &[&str]) {
        let (status, said) = self.run(folder, words);
        assert!(status == Some(code) && wanted.iter().all(|wanted| said.contains(wanted)), "{status:?}\n{said}");
    }
}

const WHOLE: &str = r#"files = ["src/sign.c"]
include = ["include"]
criteria = ["branch", "stmt"]
no-replay = true
range = { x = "-5..5" }

[prove]
criteria = "mcdc"
"#;

#[test]
fn what_the_file_says_is_as_if_it_had_been_typed_and_what_is_typed_wins() {
    let project = Project::new(WHOLE);
    // Files, the path to headers, criteria, and a range that leaves one branch without inputs.
    project.says("", &["generate"], 0, &["branch", "1/2", "stmt"]);
    project.says("", &["generate", "--range", "x=0..20"], 0, &["2/2"]);
    project.says("", &["generate", "-c", "mcdc", "-DLIMIT=3"], 0, &["mcdc", "4/4"]);
    // The table of a verb is before the top.
    project.says("", &["prove", "--range", "x=-20..20"], 0, &["mcdc", "4/4"]);
    // It is found from below, and from the source.
    project.says("src", &["objectives"], 0, &["sign.branch.1"]);
    project.says("", &["objectives", "src/sign.c", "-c", "mcdc"], 0, &["sign.mcdc.1"]);
    project.says("", &["explain", "sign.branch.1", "--range", "x=0..20"], 0, &["sign.branch.1.", "covered"]);
}

#[test]
fn former_names_of_options_are_accepted() {
    let project = Project::new("files = [\"src/sign.c\"]\ninclude = [\"include\"]\npair-questions = 0\n");
    project.says("", &["objectives"], 0, &["sign.mcdc.1"]);
    project.says("", &["objectives", "--pair-questions", "3"], 0, &["sign.mcdc.1"]);
    project.says("", &["objectives", "--pair-queries", "3"], 0, &["sign.mcdc.1"]);
}

#[test]
fn what_is_wrong_in_the_file_is_said_with_its_place_and_what_was_meant() {
    let says = |toml: &str, wanted: &[&str]| Project::new(toml).says("", &["generate", "src/sign.c"], 1, wanted);
    says(
        "critera = [\"mcdc\"]\n",
        &["touchstone.toml:1: `critera` is not an option of any verb; did you mean `criteria`?"],
    );
    says("\ncolour = 3\n", &["touchstone.toml:2: `colour` is not an option of any verb\n"]);
    says("[measure]\nexternals = \"inputs\"\n", &["touchstone.toml:2: `externals` is not an option of `measure`"]);
    says(
        "timeout = \"soon\"\n",
        &["invalid value 'soon' for '--timeout", "note: options also come from", "touchstone.toml"],
    );
    says("strict = 3\n", &["touchstone.toml:1: `strict` can't be integer"]);
    says("len = [[1]]\n", &["touchstone.toml:1: `len` can't be array"]);
    says("criteria = [\n", &["touchstone.toml", "line 1"]);
    says(
        "include = [\"include\"]\n[function.sing]\nlen = { x = 1 }\n",
        &["there is no function `sing`; did you mean `sign`?"],
    );
    says("include = [\"include\"]\n[function.sign]\nlenght = { x = 1 }\n", &["unknown field `lenght`", "`len`"]);
    // Of another file, for all we know.
    let other = Project::new("include = [\"include\"]\n[function.parse]\npre = \"1\"\n");
    other.says("", &["objectives", "src/sign.c"], 0, &["sign.mcdc.1"]);
}

#[test]
fn a_project_is_begun_from_its_compile_commands_or_its_sources() {
    let project = Project::new("");
    project.write("src/deep/more.c", "int more(int a) { return a > 1; }\n");
    project.write("tests/test_sign.c", "int main(void) { return 0; }\n");
    project.says("", &["init"], 0, &["wrote touchstone.toml: 2 files, from the sources here"]);
    let written = project.read("touchstone.toml");
    assert!(written.contains("    \"src/deep/more.c\",\n    \"src/sign.c\",\n"), "{written}");
    project.says("", &["generate", "--no-replay", "-I", "include"], 0, &["more", "sign", "4/4"]);
    project.says("", &["init"], 1, &["touchstone.toml is there already"]);
    std::fs::remove_file(project.0.path().join("touchstone.toml")).expect("there");
    let entry = |file: &str| {
        let root = project.0.path().display();
        format!(r#"{{"directory": "{root}/build", "file": "../{file}", "command": "cc -I../include -c ../{file}"}}"#)
    };
    project.write("build/compile_commands.json", &format!("[{}, {}]", entry("src/sign.c"), entry("tests/test_sign.c")));
    project.says("", &["init"], 0, &["wrote touchstone.toml: 1 file, from build/compile_commands.json"]);
    assert!(project.read("touchstone.toml").contains("commands = \"build\"\n"));
    project.says("", &["generate", "--no-replay"], 0, &["sign", "4/4"]);
    let empty = Project(tempfile::tempdir().expect("a scratch directory"));
    empty.says("", &["init"], 1, &["there are no C sources here"]);
    empty.says("", &["init", "-p", "nowhere"], 1, &["there is no compile_commands.json in nowhere"]);
    assert!(!Path::new(&empty.0.path().join("touchstone.toml")).exists());
}

#[test]
fn a_project_file_cannot_switch_the_sandbox_off_or_make_the_compiler_execute_anything() {
    for (line, why) in [
        ("unsafe_replay = true", "switch the sandbox off"),
        ("flags = [\"-O2\", \"-fplugin=./evil.so\"]", "`-fplugin=./evil.so`"),
        ("flags = [\"-o\", \"sign.c\"]", "`-o`"),
        ("include = [\"include\", \"@flags\"]", "file of compiler flags"),
    ] {
        let project = Project::new(&format!("files = [\"src/sign.c\"]\n{line}\n"));
        project.says("", &["objectives"], 1, &["touchstone.toml:2", why, "--trust-config"]);
        // The option cannot come from the file.
        project.write("touchstone.toml", &format!("trust_config = true\nfiles = [\"src/sign.c\"]\n{line}\n"));
        project.says("", &["objectives"], 1, &["`trust_config` is not an option"]);
    }
    let project = Project::new("files = [\"src/sign.c\"]\ninclude = [\"include\"]\nunsafe_replay = true\n");
    project.says("", &["objectives", "--trust-config"], 0, &["sign"]);
}
