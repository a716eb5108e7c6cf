//! The interpreter beside the compiled program: instructions per second, and the slowdown against `cc -O0`.
//!
//! Both are measured in CPU time, in turn, best of several runs, so that load on the machine changes the ratio little.

use crate::output::exit::Exit;
use crate::output::stdout::say;
use crate::plan::args::{Bench, OutputFormat};
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::path::Path;
use std::process::Command;
use touchstone_interp::{End, Event, Limits, Machine, Observer, Value};

const LOOPS: &str = include_str!("../../../../bench/interp/loops.c");
const PROGRAMS: [&str; 4] = ["registers", "sieve", "calls", "matrices"];
const TRIES: usize = 5;
/// A `main` that prints the CPU seconds of the program on standard error.
const TIMER: &str = "#include <stdio.h>\n#include <time.h>\nint bench_main(void);\nint main(void) {\n    \
                     clock_t start = clock();\n    int status = bench_main();\n    \
                     fprintf(stderr, \"%.6f\", (double)(clock() - start) / CLOCKS_PER_SEC);\n    return status;\n}\n";
/// The bars: instructions per second, and the maximum slowdown against `cc -O0`.
const MIN_RATE: f64 = 20e6;
const MAX_RATIO: f64 = 60.0;

#[derive(Serialize)]
struct InterpRow {
    program: &'static str,
    instructions: u64,
    seconds: f64,
    instructions_per_second: f64,
    cc_seconds: f64,
    ratio: f64,
}

#[derive(Default)]
struct Output(Vec<u8>);

impl Observer for Output {
    const WATCHES_POINTS: bool = false;
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Runs the benchmark.
pub fn interp(options: &Bench) -> Result<Exit> {
    let mut rows = Vec::new();
    for (index, program) in PROGRAMS.into_iter().enumerate() {
        let row = measure(program, index + 1).with_context(|| format!("bench {program}"))?;
        if options.format == OutputFormat::Text {
            if rows.is_empty() {
                say!(
                    "{:<10} {:>13} {:>8} {:>12} {:>8} {:>6}",
                    "program",
                    "instructions",
                    "seconds",
                    "a second",
                    "cc -O0",
                    "ratio"
                );
            }
            let rate = format!("{:.1} M", row.instructions_per_second / 1e6);
            say!(
                "{:<10} {:>13} {:>8.3} {rate:>12} {:>8.4} {:>6.1}",
                row.program,
                row.instructions,
                row.seconds,
                row.cc_seconds,
                row.ratio
            );
        }
        rows.push(row);
    }
    if options.format == OutputFormat::Json {
        say!("{}", serde_json::to_string_pretty(&rows)?);
    }
    let slow = rows.iter().any(|row| row.instructions_per_second < MIN_RATE || row.ratio > MAX_RATIO);
    if slow && options.format == OutputFormat::Text {
        say!("the bar is {} million instructions a second and {MAX_RATIO} times `cc -O0`", MIN_RATE / 1e6);
    }
    Ok(if slow { Exit::Disagreed } else { Exit::Done })
}

fn measure(program: &'static str, number: usize) -> Result<InterpRow> {
    let define = format!("PROGRAM={number}");
    let lowered = super::read(LOOPS, std::slice::from_ref(&define))?;
    let module = &lowered.module;
    let main = module.function_named("main").context("the bench program lacks `main`")?;
    let scratch = tempfile::tempdir()?;
    let binary = compile(scratch.path(), &define)?;
    let (mut seconds, mut cc_seconds, mut instructions) = (f64::MAX, f64::MAX, 0);
    for _ in 0..TRIES {
        let ran = Command::new(&binary).output()?;
        let spent =
            String::from_utf8_lossy(&ran.stderr).trim().parse::<f64>().context("the compiled program's time")?;
        cc_seconds = cc_seconds.min(spent.max(1e-6));
        let mut machine = Machine::new(module, Limits { steps: u64::MAX, ..Limits::default() });
        let mut output = Output::default();
        let started = super::timing::worked();
        let end = machine.call(main, &[], &mut output);
        seconds = seconds.min(super::timing::worked() - started);
        instructions = machine.steps_taken();
        ensure!(end == End::Returned(Some(Value::Int(0))), "it ends with {end:?}");
        ensure!(output.0 == ran.stdout, "it prints something else than the compiled program");
    }
    let (instructions_per_second, ratio) = (instructions as f64 / seconds, seconds / cc_seconds);
    Ok(InterpRow { program, instructions, seconds, instructions_per_second, cc_seconds, ratio })
}

fn compile(directory: &Path, define: &str) -> Result<std::path::PathBuf> {
    let (source, timer, binary) = (directory.join("loops.c"), directory.join("timer.c"), directory.join("loops"));
    std::fs::write(&source, format!("#define main bench_main\n{LOOPS}"))?;
    std::fs::write(&timer, TIMER)?;
    let mut cc = Command::new("cc");
    cc.args(["-O0", "-w", "-D", define, "-o"]).arg(&binary).arg(&source).arg(&timer);
    let done = cc.output().context("the bench needs a C compiler named `cc`")?;
    ensure!(done.status.success(), "cc: {}", String::from_utf8_lossy(&done.stderr));
    Ok(binary)
}
