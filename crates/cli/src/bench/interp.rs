//! The interpreter beside the compiled program: how many instructions a second, and how many times slower than `cc -O0`.
//!
//! Both run in this process's neighbourhood within the same second, best of several, so a busy machine changes the ratio
//! little.

use crate::args::{Bench, Format};
use crate::exit::Exit;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use touchstone_interp::{End, Event, Limits, Machine, Observer, Value};

const LOOPS: &str = include_str!("../../../../bench/interp/loops.c");
const PROGRAMS: [&str; 4] = ["registers", "sieve", "calls", "matrices"];
const TRIES: usize = 3;
/// The bars: instructions a second, and slower than `cc -O0` at most so many times.
const LEAST_RATE: f64 = 20e6;
const MOST_RATIO: f64 = 60.0;

#[derive(Serialize)]
struct Row {
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
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Runs the bench.
pub fn interp(options: &Bench) -> Result<Exit> {
    let mut rows = Vec::new();
    for (index, program) in PROGRAMS.into_iter().enumerate() {
        let row = measure(program, index + 1).with_context(|| format!("bench {program}"))?;
        if options.format == Format::Text {
            if rows.is_empty() {
                println!(
                    "{:<10} {:>13} {:>8} {:>12} {:>8} {:>6}",
                    "program", "instructions", "seconds", "a second", "cc -O0", "ratio"
                );
            }
            let rate = format!("{:.1} M", row.instructions_per_second / 1e6);
            println!(
                "{:<10} {:>13} {:>8.3} {rate:>12} {:>8.4} {:>6.1}",
                row.program, row.instructions, row.seconds, row.cc_seconds, row.ratio
            );
        }
        rows.push(row);
    }
    if options.format == Format::Json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    }
    let slow = rows.iter().any(|row| row.instructions_per_second < LEAST_RATE || row.ratio > MOST_RATIO);
    if slow && options.format == Format::Text {
        println!("the bar is {} million instructions a second and {MOST_RATIO} times `cc -O0`", LEAST_RATE / 1e6);
    }
    Ok(if slow { Exit::Disagreed } else { Exit::Done })
}

fn measure(program: &'static str, number: usize) -> Result<Row> {
    let define = format!("PROGRAM={number}");
    let lowered = super::read(LOOPS, std::slice::from_ref(&define))?;
    let module = &lowered.module;
    let main = module.function_named("main").context("the bench program lacks `main`")?;
    let scratch = tempfile::tempdir()?;
    let binary = compile(scratch.path(), &define)?;
    let (mut seconds, mut cc_seconds, mut instructions) = (f64::MAX, f64::MAX, 0);
    for _ in 0..TRIES {
        let started = Instant::now();
        let ran = Command::new(&binary).output()?;
        cc_seconds = cc_seconds.min(started.elapsed().as_secs_f64());
        let mut machine = Machine::new(module, Limits { steps: u64::MAX, ..Limits::default() });
        let mut output = Output::default();
        let started = Instant::now();
        let end = machine.call(main, &[], &mut output);
        seconds = seconds.min(started.elapsed().as_secs_f64());
        instructions = machine.steps_taken();
        ensure!(end == End::Returned(Some(Value::Int(0))), "it ends with {end:?}");
        ensure!(output.0 == ran.stdout, "it prints something else than the compiled program");
    }
    let (instructions_per_second, ratio) = (instructions as f64 / seconds, seconds / cc_seconds);
    Ok(Row { program, instructions, seconds, instructions_per_second, cc_seconds, ratio })
}

fn compile(directory: &Path, define: &str) -> Result<std::path::PathBuf> {
    let (source, binary) = (directory.join("loops.c"), directory.join("loops"));
    std::fs::write(&source, LOOPS)?;
    let done = Command::new("cc").args(["-O0", "-w", "-D", define, "-o"]).arg(&binary).arg(&source).output();
    let done = done.context("the bench needs a C compiler named `cc`")?;
    ensure!(done.status.success(), "cc: {}", String::from_utf8_lossy(&done.stderr));
    Ok(binary)
}
