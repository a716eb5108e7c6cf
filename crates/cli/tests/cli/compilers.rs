//! A build can't tell `touchstone cc gcc` from `gcc`: same output, same messages, same exit status, same files.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The result of a command: exit status, standard output and error, names of files, contents of dependency files.
type Left = (Option<i32>, String, String, BTreeMap<String, String>);

fn left(command: &str, compiler: &str) -> (Left, usize) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (folder, records) = (scratch.path().join("project"), scratch.path().join("records"));
    std::fs::create_dir(&folder).expect("writable");
    let main = "#include <stdio.h>\n#include \"h.h\"\nint b(int);\nint main(void) { if (X > 0) printf(\"%d\\n\", b(3)); return 0; }\n";
    for (name, text) in [
        ("a.c", main),
        ("b.c", "#include \"h.h\"\nint b(int x) { if (x > 2) return X; return 0; }\n"),
        ("h.h", "#define X 4\n"),
        ("bad.c", "int x = ;\n"),
        ("warns.c", "int f(int x) { int unused; if (x) return 1; }\n"),
        ("words", "-O1 \"-DY=1 2\" @more\n"),
        ("more", "-c a.c\n-o 'a.o'\n"),
    ] {
        std::fs::write(folder.join(name), text).expect("writable");
    }
    let run = Command::new("sh")
        .args(["-c", command])
        .env("CC", compiler)
        .env("TOUCHSTONE_DIR", &records)
        .env("TOUCHSTONE_CRITERIA", "stmt")
        .current_dir(&folder)
        .output()
        .expect("sh runs");
    let mut files = BTreeMap::new();
    collect(&folder, "", &mut files);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let probed = std::fs::read_dir(records.join("units")).map_or(0, |units| {
        let text = |path: &Path| std::fs::read_to_string(path).expect("a record");
        let paths = units.map(|unit| unit.expect("a record").path());
        let records = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
        records.filter(|path| !text(path).contains("\"size\":0,")).count()
    });
    ((run.status.code(), text(&run.stdout), text(&run.stderr), files), probed)
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = format!("{prefix}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files);
        } else {
            let text = if name.ends_with(".d") { std::fs::read_to_string(&path).expect("text") } else { String::new() };
            files.insert(name, text);
        }
    }
}

#[test]
fn a_build_sees_no_difference() {
    // How many units get probes.
    let check = |command: &str, probed: usize| {
        let (plain, _) = left(command, "gcc");
        let (ours, found) = left(command, &format!("{} cc gcc", env!("CARGO_BIN_EXE_touchstone")));
        assert_eq!(ours, plain, "{command}");
        assert_eq!(found, probed, "{command}: units with probes");
    };
    check("$CC @words && $CC a.o b.c -o p && ./p", 2);
    check("$CC -c a.c @nowhere", 0);
    check("$CC -pipe -O2 a.c b.c -o p && ./p", 2);
    check("$CC -MMD -MP -c a.c && $CC -MD -MFx.d -MTgoal -c b.c && $CC a.o b.o && ./a.out", 2);
    check("$CC -Wp,-MMD,dep.d -c a.c -o out.o", 1);
    check(
        "mkdir out && $CC -MMD -MP -O2 -c a.c -o 'out/a$ b.x.o' && $CC -MD -MT goal -MF out/b.d -c b.c -o b.o && \
         $CC -MD -MQ 'g$o' -c b.c -o out/b && $CC -O2 -D_FORTIFY_SOURCE=2 -MD -c b.c -o out/f.o",
        4,
    );
    check("$CC -MMD a.c b.c -o p && ./p", 2);
    check("$CC -MMD a.c b.c && ./a.out", 2);
    check("$CC -MMD -c a.c b.c && $CC a.o b.o -o p && ./p", 2);
    check("cat b.c | $CC -x c -c - -o b.o && $CC a.c b.o -o p && ./p", 1);
    check("cp a.c a.txt; $CC -xc a.txt -xnone b.c -o p && ./p", 2);
    check("$CC -E b.c; $CC -E a.c -o a.i; $CC -M b.c; $CC -dumpmachine", 0);
    check("$CC -S b.c && $CC -S b.c -o - | grep -c globl > /dev/null && $CC a.c b.s && ./a.out", 3);
    check("$CC -save-temps -c a.c -o a.o; rm -f a.i; ls", 1);
    check("mkdir s && mv b.c 's/b b.c' && $CC -I. -c 's/b b.c' -o s/b.o && $CC -g3 -flto -O2 a.c s/b.o -o p && ./p", 2);
    check(
        "mkdir .libs && $CC -c b.c -fPIC -DPIC -o .libs/b.o && $CC -c b.c -o b.o && $CC -shared .libs/b.o -o libb.so",
        2,
    );
    check("$CC -fPIC -shared b.c -o libb.so && $CC a.c -L. -lb -Wl,-rpath,. -o p && ./p", 2);
    check("$CC -include h.h -fdump-tree-original-raw -fstack-usage -c b.c; rm -f *.original", 1);
    check("$CC -c bad.c", 0);
    // Some warnings come from behind the parser, and may be errors.
    check("$CC -Wall -c warns.c", 1);
    check("$CC -O2 -Werror=return-type -c warns.c", 0);
    check("$CC -O2 -Wall -Werror -c warns.c -o w.o; ls; $CC -O2 -w -c warns.c", 1);
    check("$CC -Wall -Wextra -O2 -c a.c b.c && $CC -O2 -DX=3 -c b.c", 2);
    // What build tools try a compiler with is compiled as it is.
    check("cp b.c conftest.c && $CC -c conftest.c", 0);
    check("mkdir -p CMakeFiles/CMakeScratch/x && cd CMakeFiles/CMakeScratch/x && $CC -c -I../../.. ../../../b.c", 0);
    // Also in a hand-written script; what existed before the script is not a trial.
    check(
        "printf 'sleep 0.2; cp b.c try.c; if ( %s -c try.c ); then rm try.o; fi; %s -c a.c' \"$CC\" \"$CC\" > configure; \
         sleep 0.2; sh ./configure; rm configure",
        1,
    );
}

#[test]
fn clang_is_asked_once_for_a_source_and_its_variants() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    let source = "typedef struct s { int n; } *sp;\nint f(sp p, char *v[]) { if (p && v[0]) return p->n; return 0; }\n\
        #ifdef OTHER\nint g;\n#endif\nint main(int argc, char *argv[]) { struct s s = {0}; return argc > 9 ? f(&s, argv) : 0; }\n";
    std::fs::write(folder.join("a.c"), source).expect("writable");
    let asked = |command: &str| {
        let script = format!(
            "printf '#!/bin/sh\\necho asked >> {0}/log\\nexec {1} \"$@\"\\n' > clang; chmod +x clang; rm -f log; {command}",
            folder.display(),
            clang()
        );
        let run = Command::new("sh")
            .args(["-c", &script])
            .env("CC", format!("{} cc gcc", env!("CARGO_BIN_EXE_touchstone")))
            .env("TOUCHSTONE_CLANG", folder.join("clang"))
            .env("TOUCHSTONE_DIR", folder.join("records"))
            .current_dir(folder)
            .output()
            .expect("sh runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        std::fs::read_to_string(folder.join("log")).map_or(0, |log| log.lines().count())
    };
    // One for the library, one for its archive, and what each leaves is its own.
    assert_eq!(asked("$CC -c a.c -o a.o && $CC -fPIC -DPIC -c a.c -o pic.o && $CC a.o -o a && $CC pic.o -o b"), 1);
    assert_eq!(asked("$CC -DOTHER -c a.c -o other.o"), 1);
    let records = touchstone_instrument::read_measurements(&[folder.join("records")]).expect("records");
    let macros: Vec<&[String]> = records.units.iter().map(|unit| unit.record.macros.as_slice()).collect();
    assert_eq!(records.units.len(), 3, "{macros:?}");
    for expected in [&[][..], &["-DPIC".to_string()], &["-DOTHER".to_string()]] {
        assert!(macros.contains(&expected), "{expected:?} {macros:?}");
    }
    asked("./a && ./b");
    let measured = touchstone_instrument::read_measurements(&[folder.join("records")]).expect("records");
    let hit =
        measured.units.iter().filter(|unit| unit.record.objectives.iter().any(|one| !unit.covered(one).is_empty()));
    assert_eq!(hit.count(), 2, "units that ran");
}

#[test]
fn a_clang_that_stays_reads_sources_while_a_command_runs() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    std::fs::write(folder.join("a.c"), "int main(void) { return 0; }\n").expect("writable");
    let named = Command::new("sh").args(["-c", &format!("command -v {}", clang())]).output().expect("sh runs");
    let real = String::from_utf8_lossy(&named.stdout).trim().to_string();
    std::os::unix::fs::symlink(real, folder.join("clang")).expect("writable");
    // Once it stays, the one that would be started is no longer there.
    let command = "n=0; while [ ! -S \"$TOUCHSTONE_RESIDENT\" ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done; \
        rm clang; printf '#!/bin/sh\nexit 1\n' > clang; chmod +x clang; gcc a.c && ./a.out";
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", "stmt", "--", "sh", "-c", command])
        .env("TOUCHSTONE_CLANG", folder.join("clang"))
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("1/1") && !said.contains("warning"), "{said}");
}

/// A clang by its name.
fn clang() -> &'static str {
    let names = ["clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"];
    let is_there = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
    names.iter().find(is_there).expect("a clang: without one nothing can be measured")
}

#[test]
fn a_build_by_clang_sees_no_difference() {
    let clang = clang();
    let check = |command: &str, probed: usize| {
        let (plain, _) = left(command, clang);
        let (ours, found) = left(command, &format!("{} cc {clang}", env!("CARGO_BIN_EXE_touchstone")));
        assert_eq!(ours, plain, "{command}");
        assert_eq!(found, probed, "{command}: units with probes");
    };
    check("$CC -Wall -Werror a.c b.c -L. -Wl,--as-needed -lm -pthread -rdynamic -o p && ./p", 2);
    check("$CC -Wall -Werror -c b.c -lm; ls", 0);
    check("$CC -O2 -MMD -Wall -Iinc -c a.c && $CC -MD -MFx.d -c b.c && $CC a.o b.o -s -o p && ./p", 2);
    check("$CC -Wall -c warns.c", 1);
    check("$CC -flto -O2 -fPIC a.c b.c -o p && ./p", 2);
}

#[test]
fn a_cache_of_compiled_files_is_left_aside() {
    // A cache like ccache: a compiled file is not compiled again unless the cache is disabled.
    let cache = "#!/bin/sh\n[ -n \"$CCACHE_DISABLE\" ] && exec \"$@\"\n[ -e cache.o ] && cp cache.o a.o && exit\n\"$@\" && cp a.o cache.o\n";
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("a.c"), "int main(void) { return 0; }\n").expect("writable");
    std::fs::write(scratch.path().join("cache"), cache).expect("writable");
    let build = "sh cache gcc -c a.c && gcc a.o && ./a.out";
    let plain = Command::new("sh").args(["-c", build]).current_dir(scratch.path()).status().expect("sh runs");
    assert!(plain.success() && scratch.path().join("cache.o").exists());
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", "stmt", "--", "sh", "-c", build])
        .current_dir(scratch.path())
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("1/1") && !said.contains("warning"), "{said}");
}
