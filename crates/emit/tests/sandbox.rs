//! Replayed tests try to escape from the sandbox. None succeeds, with any layers that the machine has, and the attempts
//! are named.

// Tests may run processes and read files.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod common;

use common::{Bench, int};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use touchstone_criteria::{Replay, TestCase};
use touchstone_emit::{EmitError, Layer, Sandbox};

const ATTEMPTS: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *x) { return x; }
int attempt(int what) {
    char own[64] = "";
    switch (what) {
    case 0: { FILE *f = fopen(VICTIM, "w"); return f != 0; }
    case 1: return unlink(VICTIM);
    case 2: return rename(VICTIM, "here");
    case 3: return remove(VICTIM "-directory");
    case 4: return socket(AF_INET, SOCK_STREAM, 0);
    case 5: return kill(getppid(), SIGKILL);
    case 6: while (fork() >= 0) { } return 0;
    case 7: if (fork() == 0) { setsid(); prctl(PR_SET_NAME, DAEMON); if (fork() == 0) sleep(100); _exit(0); } return 0;
    case 8: return (int)ptrace(PTRACE_ATTACH, getppid(), 0, 0);
    case 9: return chmod(VICTIM, 0777);
    case 10: return system("echo no > " VICTIM);
    case 11: return symlink(VICTIM, "link") || open("link", O_WRONLY | O_TRUNC) >= 0;
    case 12: chdir("/"); return syscall(SYS_openat, AT_FDCWD, VICTIM, O_WRONLY | O_TRUNC, 0) >= 0;
    case 13: return syscall(SYS_unlinkat, AT_FDCWD, VICTIM, 0) == 0;
    case 14: chdir(".."); chdir(".."); chdir(".."); return syscall(SYS_mkdirat, AT_FDCWD, "made", 0777) == 0;
    case 15: return execl("/bin/sh", "sh", "-c", "echo no", (char *)0);
    case 16: return link(VICTIM, "link") == 0 && syscall(SYS_truncate, "link", 0) == 0;
    /* All that follows is allowed. */
    case 20: { FILE *f = fopen("own", "w+"); if (!f) return 1; fputs("text", f); rewind(f); fgets(own, 9, f); fclose(f);
               return strcmp(own, "text") || rename("own", "other") || unlink("other") || !unlink("own"); }
    case 21: { FILE *f = tmpfile(); return f == 0 || fputs("text", f) < 0; }
    case 22: { pthread_t t; return pthread_create(&t, 0, thread, 0) || pthread_join(t, 0); }
    case 23: { FILE *f = fopen("/dev/null", "w"); return f == 0 || fputs("text", f) < 0; }
    case 24: return fopen("not-there", "r") != 0 || unlink("/not/there") == 0;
    case 25: return access("own", F_OK) == 0 || access("other", F_OK) == 0;
    case 26: signal(SIGUSR1, SIG_IGN); return raise(SIGUSR1) || kill(getpid(), SIGUSR1);
    }
    return 99;
}
"#;

const REFUSED: &[(i64, &str)] = &[
    (0, "calls `fopen` on `"),
    (1, "calls `unlink` on `"),
    (2, "calls `rename` on `"),
    (3, "calls `remove` on `"),
    (4, "calls `socket`, which the sandbox does not allow"),
    (5, "calls `kill`, which the sandbox does not allow"),
    (6, "calls `fork`, which the sandbox does not allow"),
    (7, "calls `fork`, which the sandbox does not allow"),
    (8, "calls `ptrace`, which the sandbox does not allow"),
    (9, "calls `chmod`, which the sandbox does not allow"),
    // The library blocks signals there, so the guard cannot name the call.
    (10, "makes a system call that the sandbox does not allow"),
    (15, "calls `execve`, which the sandbox does not allow"),
];
/// The kernel refuses these calls, or the filter names them.
const FAILING: &[i64] = &[11, 12, 13, 14, 16];
const ALLOWED: &[i64] = &[20, 21, 22, 23, 24, 25, 26];

/// Returns the program, with victims in its directory, and the tests of all attempts.
fn attempts(sandbox: Sandbox) -> (Bench, Vec<TestCase>) {
    let mut bench = Bench::new(ATTEMPTS);
    let victim = bench.dir.path().join("victim");
    std::fs::write(&victim, "whole").expect("a victim");
    std::fs::create_dir(bench.dir.path().join("victim-directory")).expect("a victim");
    bench.target.units[0].flags = vec![
        format!("-DVICTIM=\"{}\"", victim.display()),
        format!("-DDAEMON=\"{}\"", daemon_name(&bench)),
        "-pthread".to_string(),
    ];
    bench.target.sandbox = sandbox;
    bench.function("attempt", &[("what", bench.int)], bench.int);
    let numbers =
        REFUSED.iter().map(|(number, _)| *number).chain(FAILING.iter().copied()).chain(ALLOWED.iter().copied());
    let tests = numbers.map(|number| {
        let mut test = bench.test(&format!("attempt_{number}"), "attempt", vec![int(number)], Vec::new());
        test.expected.result = Some(int(0));
        test
    });
    let tests = tests.collect();
    (bench, tests)
}

/// Returns a unique name that fits the 15 bytes of a process name.
fn daemon_name(bench: &Bench) -> String {
    let name = bench.dir.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    format!("tsd{}", name.trim_start_matches(".tmp"))
}

fn runs(name: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let names = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("comm")).ok());
    names.into_iter().any(|comm| comm.trim_end() == name)
}

fn unharmed(bench: &Bench) {
    let victim = bench.dir.path().join("victim");
    assert_eq!(std::fs::read_to_string(&victim).expect("the victim is there"), "whole");
    assert!(bench.dir.path().join("victim-directory").is_dir());
    let made = bench.dir.path().ancestors().map(|dir| dir.join("made"));
    made.for_each(|made| assert!(!made.exists(), "{}", made.display()));
    assert!(!runs(&daemon_name(bench)), "a daemon survived");
}

#[test]
fn no_attempt_gets_out_and_each_is_named() {
    let (bench, tests) = attempts(Sandbox::closed());
    let verdicts = bench.replay(&tests);
    unharmed(&bench);
    for (test, verdict) in tests.iter().zip(&verdicts) {
        let number: i64 = test.id.trim_start_matches("attempt_").parse().expect("a number");
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == number) {
            let Replay::NotCheckable(told) = verdict else { panic!("{}: {verdict:?}", test.id) };
            assert!(told.to_string().starts_with(why), "{}: {told}", test.id);
            assert!(["sandbox", "system_call"].contains(&told.word()), "{}: {}", test.id, told.word());
        } else if ALLOWED.contains(&number) {
            assert_eq!(*verdict, Replay::Agreed, "{}", test.id);
        } else {
            assert!(!matches!(verdict, Replay::Disagreed(_)), "{}: {verdict:?}", test.id);
        }
    }
}

#[test]
fn with_fewer_layers_still_nothing_is_harmed() {
    for without in [&[Layer::Landlock][..], &[Layer::Namespaces, Layer::Mounts], &[Layer::Seccomp]] {
        let (bench, mut tests) = attempts(Sandbox::closed_without(without));
        if without.contains(&Layer::Seccomp) {
            // Only the filter restricts file modes and the number of processes.
            tests.retain(|test| test.id != "attempt_6" && test.id != "attempt_9");
        }
        // Without a filter, a test can end the runner, which is in the same sandbox, and no further test runs.
        let suite = bench.write(&tests);
        touchstone_emit::replay(&suite, &bench.module, &bench.target, &tests, &mut |_| {}).expect("a replay");
        unharmed(&bench);
    }
}

#[test]
fn no_test_runs_without_a_layer_that_protects_files() {
    for without in
        [&[Layer::Landlock, Layer::Mounts, Layer::Namespaces, Layer::Seccomp][..], &[Layer::Landlock, Layer::Mounts]]
    {
        let (bench, tests) = attempts(Sandbox::closed_without(without));
        let suite = bench.write(&tests);
        let replayed = touchstone_emit::replay(&suite, &bench.module, &bench.target, &tests, &mut |_| {});
        assert!(matches!(replayed, Err(EmitError::NoSandbox)), "{without:?}");
        unharmed(&bench);
    }
}

#[test]
fn the_protection_that_a_machine_lacks_is_reported() {
    let (bench, mut tests) = attempts(Sandbox::closed_without(&[Layer::Seccomp]));
    tests.retain(|test| test.id == "attempt_20");
    assert_eq!(bench.replay(&tests), [Replay::Agreed]);
    let warning = bench.target.sandbox.unprotected().expect("the filter is missing");
    assert!(warning.contains("no seccomp"), "{warning}");
}

#[test]
fn constructors_are_kept_in_too() {
    let mut bench = Bench::new(
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n\
         __attribute__((constructor)) static void early(void) {\n\
         FILE *f = fopen(VICTIM, \"w\"); if (f) { fputs(\"torn\", f); fclose(f); }\n\
         if (fork() == 0) { setsid(); prctl(PR_SET_NAME, DAEMON); sleep(100); }\n\
         for (int i = 0; i < 20; i++) if (fork() == 0) prctl(PR_SET_NAME, DAEMON); }\n\
         int one(void) { return 1; }\n",
    );
    std::fs::write(bench.dir.path().join("victim"), "whole").expect("a victim");
    std::fs::create_dir(bench.dir.path().join("victim-directory")).expect("a victim");
    let victim = bench.dir.path().join("victim");
    bench.target.units[0].flags =
        vec![format!("-DVICTIM=\"{}\"", victim.display()), format!("-DDAEMON=\"{}\"", daemon_name(&bench))];
    bench.function("one", &[], bench.int);
    let mut test = bench.test("one_1", "one", Vec::new(), Vec::new());
    test.expected.result = Some(int(1));
    let suite = bench.write(std::slice::from_ref(&test));
    let begun = Instant::now();
    // The result does not matter; the run must not create processes without a limit.
    let _ = touchstone_emit::replay(&suite, &bench.module, &bench.target, &[test], &mut |_| {});
    assert!(begun.elapsed() < Duration::from_secs(60));
    // A machine without namespaces reports that.
    if bench.target.sandbox.unprotected().is_none() {
        unharmed(&bench);
    }
    assert_eq!(std::fs::read_to_string(&victim).expect("the victim is there"), "whole");
}

/// Builds the launcher alone, with these flags.
fn launcher(dir: &Path, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime/sandbox/touchstone_sandbox.c");
    let launcher = dir.join("launcher");
    let built = Command::new("cc").args(flags).arg(source).arg("-o").arg(&launcher).status();
    assert!(built.expect("a compiler").success());
    launcher
}

/// Returns true if this machine has all of these layers.
fn has(launcher: &Path, dir: &Path, layers: &str) -> bool {
    let output = Command::new(launcher).arg("--probe").arg(dir).output().expect("it runs");
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    layers.split(',').all(|layer| found.lines().any(|line| line == layer))
}

#[test]
fn kernels_without_a_call_for_all_mounts_get_them_closed_one_by_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let launcher = launcher(dir.path(), &["-DTOUCHSTONE_OLD_MOUNTS"]);
    let scratch = dir.path().join("in side");
    std::fs::create_dir(&scratch).expect("a directory");
    let (victim, own) = (dir.path().join("victim"), scratch.join("own"));
    let script = format!("echo x > own; echo x > {}", victim.display());
    if !has(&launcher, dir.path(), "mounts") {
        return;
    }
    let mut command = Command::new(launcher);
    command.args(["--parent", &std::process::id().to_string(), "--layers", "mounts"]).arg(&scratch);
    command.args(["/bin/sh", "-c", &script]).output().expect("it runs");
    assert!(own.exists() && !victim.exists());
}

#[test]
fn everything_ends_with_the_process_that_replays_also_if_that_is_killed() {
    let dir = tempfile::tempdir().expect("a directory");
    let launcher = launcher(dir.path(), &[]);
    // A copy could not be executed while a child of another test still has it open for writing.
    let name = dir.path().join(format!("ts{}", std::process::id() % 100_000));
    std::os::unix::fs::symlink("/bin/sleep", &name).expect("a program");
    for layers in ["namespaces,seccomp", "seccomp"].into_iter().filter(|layers| has(&launcher, dir.path(), layers)) {
        let script = format!(
            "{} --parent $$ --layers {layers} {} {} 100; true",
            launcher.display(),
            dir.path().display(),
            name.display()
        );
        let mut parent = Command::new("sh").arg("-c").arg(script).stdout(Stdio::null()).spawn().expect("a shell");
        let comm = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let waited = |wanted: bool| {
            (0..500).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                runs(&comm) == wanted
            })
        };
        assert!(waited(true), "{layers}: it runs");
        parent.kill().expect("killed");
        parent.wait().expect("ended");
        assert!(waited(false), "{layers}: it ends with its parent");
    }
}
