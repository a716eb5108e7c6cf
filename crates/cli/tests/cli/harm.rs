//! Nothing of the user's is harmed: no directory is cleared that we did not make, and no program that is measured, or build
//! that makes it, behaves differently because of us.

use std::path::Path;
use std::process::{Command, Output};

/// Runs touchstone in a folder.
fn touchstone(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_touchstone")).args(words).current_dir(folder).output().expect("touchstone runs")
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything that a command says.
fn said(run: &Output) -> String {
    text(&run.stdout) + &text(&run.stderr)
}

const PROGRAM: &str = "int main(int n, char **v) { if (n > 1) return 1; (void)v; return 0; }\n";

#[test]
fn directories_of_the_user_s_are_refused_and_stay_as_they_are() {
    let check = |files: &[(&str, &str)], words: &[&str]| {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let folder = scratch.path();
        write(folder, &[("a.c", PROGRAM), ("f.c", "int f(int x) { return x > 3; }\n")]);
        assert!(touchstone(folder, &["measure", "-o", "m", "--", "sh", "-c", "gcc a.c && ./a.out"]).status.success());
        write(folder, files);
        let run = touchstone(folder, words);
        assert_eq!(run.status.code(), Some(1), "{words:?}: {}", said(&run));
        assert!(said(&run).contains("written by"), "{words:?}: {}", said(&run));
        for (name, text) in files {
            let left = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert_eq!(left, *text, "{words:?}: {name}");
        }
    };
    let measure = ["measure", "-o", ".", "--", "sh", "-c", "gcc a.c && ./a.out"];
    let keep = ["measure", "--keep", "-o", ".", "--", "sh", "-c", "gcc a.c && ./a.out"];
    let merge = ["merge", "-o", ".", "m"];
    let generate = ["generate", "-o", ".", "--no-replay", "a.c"];
    for words in [&measure[..], &keep[..], &merge[..]] {
        check(&[("units/metre.json", "{}")], words);
        check(&[("hits/best.hits", "la la")], words);
        check(&[("units/metre.json", "{}"), ("hits/deep/song.state", "x")], words);
    }
    for words in [&measure[..], &merge[..], &generate[..]] {
        check(&[("campaign.json", "{\"votes\": 3}")], words);
        check(&[("history.jsonl", "long ago\n")], words);
    }
    check(&[("test_main.c", "int mine;\n")], &generate);
    check(&[("test_main.002.c", "int mine;\n")], &generate);
    check(&[("include/klee/klee.h", "#define KLEE_ITSELF\n")], &generate);
    check(&[("touchstone_test.h", "#define MINE 1\n")], &generate);
    check(&[("touchstone_test.c", "int mine;\n")], &generate);
    check(&[("include/touchstone.h", "/* A touchstone of my own. */\n")], &generate);
    check(&[("exclusions.json", "[]\n")], &generate);
    let gtest = ["generate", "-o", ".", "--no-replay", "--emit", "gtest", "f.c"];
    check(&[("gtest/touchstone_gtest.h", "#define MINE 1\n")], &gtest);
    check(&[("gtest/touchstone_gtest.cc", "int mine;\n")], &gtest);
    let html = ["generate", "-o", "out", "--no-replay", "--html", "site", "a.c"];
    check(&[("site/index.html", "<!doctype html>\n<title>mine</title>\n")], &html);
    check(&[("site/style.css", "body { color: red }\n")], &html);
    check(&[("tests_main.jsonl", "mine\n")], &["generate", "-o", ".", "--no-replay", "--emit", "json", "a.c"]);
    let testcomp = ["generate", "-o", ".", "--no-replay", "--entry", "main", "--emit", "testcomp", "a.c"];
    check(&[("test-suite/metadata.xml", "<test-metadata/>\n")], &testcomp);
    check(&[("test-suite.zip", "PK mine\n")], &testcomp);
}

#[test]
fn links_out_of_an_output_directory_are_not_followed() {
    let check = |link: &str, target: &str, words: &[&str]| {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let folder = scratch.path();
        write(folder, &[("a.c", &format!("int f(int x) {{ return x > 3; }}\n{PROGRAM}")), ("elsewhere/mine", "mine")]);
        let link = folder.join(link);
        std::fs::create_dir_all(link.parent().expect("a directory")).expect("writable");
        std::os::unix::fs::symlink(folder.join("elsewhere").join(target), &link).expect("a link");
        let run = touchstone(folder, words);
        assert_eq!(run.status.code(), Some(1), "{words:?}: {}", said(&run));
        assert!(said(&run).contains("is a symbolic link to "), "{words:?}: {}", said(&run));
        let left: Vec<_> = std::fs::read_dir(folder.join("elsewhere")).expect("there").flatten().collect();
        assert_eq!(left.len(), 1, "{words:?}: {left:?}");
        assert_eq!(std::fs::read_to_string(folder.join("elsewhere/mine")).expect("there"), "mine");
    };
    let generate = ["generate", "-o", "out", "--no-replay", "a.c"];
    for name in ["test_f.c", "touchstone_test.h", "campaign.json", "history.jsonl", ".lock"] {
        check(&format!("out/{name}"), "new", &generate);
    }
    check("out/include", "", &generate);
    check("out/gtest", "", &["generate", "-o", "out", "--no-replay", "--emit", "gtest", "-f", "f", "a.c"]);
    check("site/index.html", "new", &["generate", "-o", "out", "--no-replay", "--html", "site", "a.c"]);
    check("site/f", "", &["generate", "-o", "out", "--no-replay", "--html", "site", "a.c"]);
    let measure = ["measure", "-o", "out", "--", "sh", "-c", "gcc a.c && ./a.out"];
    for name in ["hits", "units", "measurement.json"] {
        check(&format!("out/{name}"), if name.contains('.') { "new" } else { "" }, &measure);
    }
}

#[test]
fn what_we_wrote_is_replaced_and_what_lies_beside_it_stays() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("a.c", PROGRAM)]);
    let run = |words: &[&str]| {
        let run = touchstone(folder, words);
        assert!(run.status.success(), "{words:?}: {}", said(&run));
    };
    let count = |folder: &Path| std::fs::read_dir(folder).expect("a directory").count();
    for _ in 0..2 {
        run(&["measure", "-o", ".", "--", "sh", "-c", "gcc a.c && ./a.out"]);
        write(folder, &[("units/notes.txt", "mine")]);
        // Its marker and one hit file.
        assert_eq!(count(&folder.join("hits")), 2);
    }
    run(&["merge", "-o", "both", "."]);
    run(&["merge", "-o", "both", "."]);
    assert_eq!(count(&folder.join("both/hits")), 2);
    run(&["generate", "-o", ".", "--no-replay", "a.c"]);
    run(&["generate", "-o", ".", "--no-replay", "a.c"]);
    assert_eq!(std::fs::read_to_string(folder.join("units/notes.txt")).expect("there"), "mine");
}

#[test]
fn two_measurements_don_t_share_a_directory() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("a.c", PROGRAM)]);
    // The second one is started by the first.
    let inner = format!("gcc a.c && ./a.out && {} measure -o out -- true", env!("CARGO_BIN_EXE_touchstone"));
    let run = touchstone(folder, &["measure", "-o", "out", "--", "sh", "-c", &inner]);
    assert!(said(&run).contains("another touchstone is writing"), "{}", said(&run));
}

/// Builds a program plainly and under `measure`, runs both with a command, and compares what they say and how they end.
/// Gives what `measure` said.
fn same_with_probes(criteria: &str, files: &[(&str, &str)], build: &str, run: &str) -> String {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, files);
    let script = format!("{build} && {{ {run}; }} >said 2>&1; echo $? >>said");
    let plain = Command::new("sh").args(["-c", &script]).current_dir(folder).output().expect("sh runs");
    let expected = std::fs::read_to_string(folder.join("said")).expect("it ran");
    let measured = touchstone(folder, &["measure", "-c", criteria, "-o", "out", "--", "sh", "-c", &script]);
    let found = std::fs::read_to_string(folder.join("said")).expect("it ran");
    assert_eq!(found, expected, "{build}; {run}: {}\n{}", said(&measured), said(&plain));
    said(&measured)
}

/// Hits many probes, and keeps an eye on errno.
const LONG: &str = "#include <stdio.h>\n#include <errno.h>\nstatic int odd(int n) { return n % 2 ? 1 : 0; }\n\
    int main(void) { int sum = 0; for (int i = 0; i < 100000; i++) if (odd(i)) sum += i % 7;\n\
    printf(\"%d %d\\n\", sum, errno); return 3; }\n";

#[test]
fn a_limit_on_the_size_of_files_costs_hits_and_nothing_else() {
    for criteria in ["stmt,mcdc", "state"] {
        // Blocks of 512 bytes; in none of them there is room for hits, then for some.
        for limit in ["0", "1", "9", "200"] {
            let run = format!("(ulimit -f {limit}; exec ./p) | cat");
            let said = same_with_probes(criteria, &[("a.c", LONG)], "gcc -O1 a.c -o p", &run);
            let lost = said.contains("could not write what it hit");
            assert!(limit != "0" || lost, "{criteria}, {limit}: {said}");
            assert!(limit != "200" || criteria == "state" || !lost, "{criteria}, {limit}: {said}");
        }
    }
}

#[test]
fn a_full_disk_costs_hits_and_nothing_else() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("a.c", LONG)]);
    let own = env!("CARGO_BIN_EXE_touchstone");
    // A file system of 64 kB that is full once the program is built; hits go there, and nothing else.
    let script = format!(
        "mkdir small && mount -t tmpfs -o size=64k none small || exit 77; \
         {own} measure -c stmt,state -o out -- sh -c 'gcc a.c -o p && head -c 1M /dev/zero >small/fill; \
         TOUCHSTONE_HITS=$PWD/small ./p; echo ended with $?'; ls -l small"
    );
    let run = Command::new("unshare").args(["-rm", "sh", "-c", &script]).current_dir(folder).output();
    match run {
        Ok(run) if run.status.code() != Some(77) && !said(&run).contains("unshare:") => {
            assert!(said(&run).contains("ended with 3"), "{}", said(&run));
            assert!(said(&run).contains(".hits"), "no empty file tells of it: {}", said(&run));
        }
        // Containers may forbid to mount; then `ulimit` is what there is.
        _ => eprintln!("no small file system can be mounted here"),
    }
}

#[test]
fn libraries_that_come_and_go_leave_no_descriptor_and_keep_their_hits() {
    let main = "#include <dlfcn.h>\n#include <stdio.h>\n#include <fcntl.h>\n#include <unistd.h>\n\
        int main(void) { int ran = 0, last; for (int i = 0; i < 300; i++) { void *l = dlopen(\"./lib.so\", RTLD_NOW);\n\
        int (*f)(int) = (int (*)(int))dlsym(l, \"f\"); ran += f(i); dlclose(l); }\n\
        last = open(\"/dev/null\", O_RDONLY); printf(\"%d, descriptor %d\\n\", ran, last); return 0; }\n";
    let lib = "int f(int n) { if (n == 150) return 2; return 1; }\n";
    for flags in ["", "-DPLAIN"] {
        let build = format!("gcc -shared -fPIC lib.c -o lib.so && gcc {flags} main.c -o p -ldl");
        let said = same_with_probes("stmt,branch", &[("lib.c", lib), ("main.c", main)], &build, "./p");
        assert!(said.contains("100%"), "{said}");
    }
}

#[test]
fn a_program_may_close_descriptors_and_have_functions_called_like_the_c_library_s() {
    // All descriptors are closed, and a file of the program's gets the number that ours might have.
    let main = "#include <dlfcn.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n\
        int main(void) { for (int i = 3; i < 64; i++) close(i);\n\
        int mine = open(\"mine\", O_RDWR | O_CREAT | O_TRUNC, 0600); if (write(mine, \"abc\", 3) != 3) return 1;\n\
        void *l = dlopen(\"./lib.so\", RTLD_NOW); int (*f)(int) = (int (*)(int))dlsym(l, \"f\");\n\
        printf(\"%d %d %ld\\n\", mine, f(1), (long)lseek(mine, 0, SEEK_END)); return 0; }\n";
    let lib = "int f(int n) { if (n) return 2; return 1; }\n";
    let build = "gcc -shared -fPIC lib.c -o lib.so && gcc main.c -o p -ldl";
    same_with_probes("stmt", &[("lib.c", lib), ("main.c", main)], build, "./p; cat mine");
    // Functions of its own, and some that a test put in the place of others.
    let fakes = "#include <stdio.h>\n#include <stdlib.h>\nint open(const char *p, int f, ...) { (void)p; (void)f; abort(); }\n\
        long read(int f, void *b, unsigned long n) { (void)f; (void)b; (void)n; abort(); }\n\
        char *__wrap_getenv(const char *n) { (void)n; abort(); }\nvoid *__wrap_mmap(void *a) { (void)a; abort(); }\n\
        int main(void) { puts(\"well\"); return 4; }\n";
    let build = "gcc -Wl,--wrap=getenv,--wrap=mmap fakes.c -o p";
    let said = same_with_probes("stmt", &[("fakes.c", fakes)], build, "./p");
    assert!(!said.contains("no instrumented program ran"), "{said}");
}

#[test]
fn a_program_that_runs_as_another_user_keeps_its_hits() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    // Private, as directories of this kind are: another user can't come to the hits in it.
    write(folder, &[("a.c", PROGRAM)]);
    let script = "gcc a.c -o p && mkdir -m 755 /tmp/touchstone-test-$$ && cp p /tmp/touchstone-test-$$ && cd /tmp/touchstone-test-$$ && \
        env -i setpriv --reuid=65534 --regid=65534 --clear-groups ./p; ended=$?; rm p; rmdir /tmp/touchstone-test-$$; exit $ended";
    let run = touchstone(folder, &["measure", "-c", "stmt", "-o", "out", "--", "sh", "-c", script]);
    if said(&run).contains("setpriv: ") {
        eprintln!("not root: no other user is available");
        return;
    }
    assert!(run.status.success() && said(&run).contains("3/4"), "{}", said(&run));
}

#[test]
fn a_cache_that_stands_in_for_compilers_is_left_aside() {
    let cache = "#!/bin/sh\necho \"$0\" >>\"$LOG\"\nname=${0##*/}\nIFS=:\nfor d in $PATH; do\n  [ \"$d\" = \"$MASKS\" ] && continue\n  \
        [ -x \"$d/$name\" ] || continue\n  unset IFS\n  exec \"$d/$name\" \"$@\"\ndone\n";
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("masks/ccache", cache), ("a.c", PROGRAM)]);
    let prepare = "chmod +x masks/ccache && ln -s ccache masks/gcc && ln -s ccache masks/cc";
    assert!(Command::new("sh").args(["-c", prepare]).current_dir(folder).status().expect("sh runs").success());
    let masks = folder.join("masks");
    let path = format!("{}:{}", masks.display(), std::env::var("PATH").unwrap_or_default());
    // The cache is on the path before the measurement begins, or comes to it later.
    let inside = "PATH=$MASKS:$PATH; gcc a.c -o p && ./p && cc -c a.c && gcc a.o && ./a.out";
    for (path, script) in [(Some(path), "gcc a.c -o p && ./p && cc -c a.c && gcc a.o && ./a.out"), (None, inside)] {
        let mut run = Command::new("timeout");
        run.args([
            "100",
            env!("CARGO_BIN_EXE_touchstone"),
            "measure",
            "-c",
            "stmt",
            "-o",
            "out",
            "--",
            "sh",
            "-c",
            script,
        ]);
        run.env("LOG", folder.join("log")).env("MASKS", &masks).current_dir(folder);
        let run = run.envs(path.map(|path| ("PATH", path))).output().expect("touchstone runs");
        assert!(run.status.success() && said(&run).contains("3/4"), "{}", said(&run));
        let calls = std::fs::read_to_string(folder.join("log")).unwrap_or_default().lines().count();
        assert!(calls <= 3, "{calls} calls of the cache");
    }
}

#[test]
fn a_build_that_remembers_its_compiler_works_when_the_measurement_is_gone() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("a.c", PROGRAM)]);
    let script = "command -v gcc >remembered && gcc a.c -o p && ./p";
    let run = touchstone(folder, &["measure", "-c", "stmt", "-o", "out", "--", "sh", "-c", script]);
    assert!(run.status.success(), "{}", said(&run));
    std::fs::remove_dir_all(folder.join("out")).expect("it was there");
    let again = "$(cat remembered) a.c -o again && ./again && ! nm again | grep touchstone";
    let later = Command::new("sh").args(["-c", again]).current_dir(folder).output().expect("sh runs");
    assert!(later.status.success() && !folder.join("out").exists(), "{}", said(&later));
}

#[test]
fn a_compiler_that_is_named_by_its_place_gets_a_hint() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("a.c", PROGRAM), ("b.c", "int b;\n")]);
    let gcc = text(&Command::new("sh").args(["-c", "command -v gcc"]).output().expect("sh runs").stdout);
    let script = format!("{} a.c -o p && ./p", gcc.trim());
    let nothing = touchstone(folder, &["measure", "-o", "out", "--", "sh", "-c", &script]);
    assert!(!nothing.status.success() && said(&nothing).contains("by its place"), "{}", said(&nothing));
    let some = touchstone(folder, &["measure", "-o", "out", "--", "sh", "-c", &format!("gcc -c b.c && {script}")]);
    assert!(said(&some).contains("hint: ") && said(&some).contains(gcc.trim()), "{}", said(&some));
}

#[test]
fn arguments_that_are_not_utf_8_reach_the_compiler() {
    let main =
        "#include <stdio.h>\nint main(void) { const char *n = NAME; printf(\"%d %d\\n\", n[0], n[1]); return 0; }\n";
    let build = "gcc \"-DNAME=\\\"$(printf '\\374')\\\"\" a.c -o p";
    let said = same_with_probes("stmt", &[("a.c", main)], build, "./p");
    assert!(said.contains("a.c: an argument of its compiler is not UTF-8"), "{said}");
}

#[test]
fn a_replaced_launcher_in_the_cache_is_never_executed() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    write(folder, &[("a.c", "int f(int x) { if (x > 3) return 1; return 0; }\n")]);
    let generate = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command
            .args(["generate", "-c", "branch", "a.c"])
            .current_dir(folder)
            .env("XDG_CACHE_HOME", folder.join("cache"));
        let run = command.output().expect("touchstone runs");
        assert!(run.status.success() && said(&run).contains("replay: 2 agreed"), "{}", said(&run));
    };
    generate();
    let entries = std::fs::read_dir(folder.join("cache/touchstone/replay")).expect("the cache");
    let entry = entries.map(|entry| entry.expect("readable").path()).next().expect("an entry");
    let (launcher, trace) = (entry.join("touchstone_sandbox"), folder.join("executed"));
    let original = std::fs::read(&launcher).expect("the launcher");
    std::fs::write(&launcher, format!("#!/bin/sh\necho x > '{}'\n", trace.display())).expect("writable");
    std::fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o755)).expect("changed");
    generate();
    assert!(!trace.exists());
    assert_eq!(std::fs::read(&launcher).expect("the launcher").len(), original.len());
}
