//! The cost of instrumentation at build time: a trivial compile, one of 10,000 lines, and a small project with its
//! tests, each with a cold and a warm cache, beside the compiler alone.
//!
//! Times are the CPU time of all processes (the shell's `times`), so that load on the machine matters less.

use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const TRIVIAL: &str = "#include <stdio.h>\n\nint main(void)\n{\n    puts(\"hello\");\n    return 0;\n}\n";

/// One build: its name, its CPU seconds, the ratio to the compiler alone, and the bar.
pub struct Compiled {
    pub name: String,
    pub seconds: f64,
    pub ratio: f64,
    pub bar: Option<f64>,
}

/// A small project with tests: a whole build under `measure`, including the report.
const PROJECT: [(&str, &str); 8] = [
    ("journal.c", include_str!("../../../../examples/project/src/journal.c")),
    ("journal.h", include_str!("../../../../examples/project/src/journal.h")),
    ("thermostat.c", include_str!("../../../../examples/project/src/thermostat.c")),
    ("thermostat.h", include_str!("../../../../examples/project/src/thermostat.h")),
    ("unity.h", include_str!("../../../../examples/project/tests/unity.h")),
    ("test_journal.c", include_str!("../../../../examples/project/tests/test_journal.c")),
    ("test_thermostat.c", include_str!("../../../../examples/project/tests/test_thermostat.c")),
    ("pack.c", include_str!("../../../../bench/measure/pack.c")),
];
const BUILD: &str = "gcc -O2 -Wall -c journal.c thermostat.c && for t in journal thermostat; do \
    gcc -O2 -Wall -o test_$t test_$t.c journal.o thermostat.o && ./test_$t; done && gcc -O2 -o pack pack.c && ./pack 1\n";

/// Builds a project and runs its tests, with and without instrumentation.
pub fn project(scratch: &Path, quick: bool) -> Result<Vec<Compiled>> {
    let folder = scratch.join("project");
    std::fs::create_dir(&folder)?;
    for (name, text) in PROJECT {
        std::fs::write(folder.join(name), text)?;
    }
    std::fs::write(folder.join("build.sh"), BUILD)?;
    let Beside { alone, first, again } = beside(&folder, "branch,mcdc", if quick { 1 } else { 3 })?;
    let row = |what: &str, seconds: f64, bar: Option<f64>| Compiled {
        name: format!("project, {what}"),
        seconds,
        ratio: seconds / alone,
        bar,
    };
    Ok(vec![row("gcc", alone, None), row("first", first, Some(2.0)), row("again", again, Some(2.0))])
}

/// The number of trivial sources in one build, about as many as in a small library.
const TRIVIAL_SOURCES: u32 = 30;

/// Compiles in all ways, as a build under `measure` does.
pub fn compile(scratch: &Path, quick: bool) -> Result<Vec<Compiled>> {
    let mut all = Vec::new();
    let large = large();
    // The bar is 2x for a build and 3x for its smallest parts.
    let sources = [("trivial", TRIVIAL, TRIVIAL_SOURCES, 3.0), ("10,000 lines", large.as_str(), 1, 2.0)];
    for (name, text, files, bar) in sources.into_iter().filter(|(name, ..)| !quick || *name == "trivial") {
        let files = if quick { 2 } else { files };
        let folder = scratch.join(name.replace(' ', "-"));
        std::fs::create_dir(&folder)?;
        for file in 0..files {
            std::fs::write(folder.join(format!("a{file}.c")), text)?;
        }
        std::fs::write(folder.join("build.sh"), "for f in a*.c; do gcc -O2 -c $f; done\n")?;
        let row = |what: &str, seconds: f64, alone: f64, bar: Option<f64>| Compiled {
            name: format!("{name}, {what}"),
            seconds: seconds / f64::from(files),
            ratio: seconds / alone,
            bar,
        };
        let Beside { alone, first, again } = beside(&folder, "stmt,branch,mcdc", if quick { 1 } else { 3 })?;
        all.extend([
            row("gcc", alone, alone, None),
            row("first", first, alone, Some(bar)),
            row("again", again, alone, Some(bar)),
        ]);
    }
    Ok(all)
}

/// The CPU seconds of a folder's `build.sh`: plain, measured with a cold cache, and measured with a warm one.
struct Beside {
    alone: f64,
    first: f64,
    again: f64,
}

fn beside(folder: &Path, criteria: &str, times: u32) -> Result<Beside> {
    let own = std::env::current_exe().context("can't find this program itself")?;
    let measured = format!("'{}' measure -o out -c {criteria} -- sh build.sh >/dev/null 2>&1", own.display());
    // The runtime of a compiler is built once and kept for all measurements.
    spent(folder, &measured, 1)?;
    Ok(Beside {
        alone: spent(folder, "sh build.sh >/dev/null 2>&1", times)?,
        first: spent(folder, &format!("rm -rf out; {measured}"), times)?,
        again: spent(folder, &measured, times)?,
    })
}

/// Runs a command and returns the CPU seconds of all its processes.
pub fn spent(folder: &Path, command: &str, times: u32) -> Result<f64> {
    let script = format!("n=0; while [ $n -lt {times} ]; do {command}; n=$((n+1)); done; times");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder);
    let ran = shell.output().context("sh")?;
    let said = String::from_utf8_lossy(&ran.stdout);
    ensure!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    let seconds = |text: &str| -> Option<f64> {
        let (minutes, seconds) = text.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    // User and system time, of the shell and of its children.
    let all: Option<Vec<f64>> = said.split_whitespace().map(seconds).collect();
    let all = all.filter(|all| all.len() == 4).context("what the shell says of times")?;
    Ok((all.iter().sum::<f64>() / f64::from(times)).max(1e-6))
}

/// Returns a source file of about 10,000 lines: decisions, loops, switches and calls in functions of a usual size.
fn large() -> String {
    let mut text = String::from("static int seen[64];\n");
    let mut seed = 5u32;
    let mut next = |most: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % most
    };
    for function in 0..500 {
        let _ = writeln!(text, "int f{function}(int a, int b, const unsigned char *p)\n{{\n    int s = a, k;");
        for _ in 0..10 {
            let (kind, n) = (next(6), next(50));
            let _ = match kind {
                0 => writeln!(text, "    if (a > {n} && (b < {n} || s == a))\n        s += p[{}] * {n};", n % 16),
                1 => writeln!(text, "    if (s & {n})\n        s ^= b + {n};\n    else\n        s -= a;"),
                2 => writeln!(text, "    for (k = 0; k < {n}; k++)\n        if (p[k] == s)\n            seen[k] += a;"),
                3 => writeln!(text, "    switch (s % 3) {{\n    case 0: s++; break;\n    default: s = b - s;\n    }}"),
                4 => writeln!(text, "    s = b > {n} ? s + 1 : s * {n};"),
                _ if function > 0 => {
                    writeln!(text, "    if (!f{}(s, {n}, p))\n        return {n};", next(function))
                }
                _ => writeln!(text, "    seen[{n}] = s;"),
            };
        }
        let _ = writeln!(text, "    return s;\n}}");
    }
    text
}
