//! The `touchstone` program: parses, prints and exits. Options become a request (`plan/`), a command runs it
//! (`verbs/`), and the result is printed and written (`output/`). A folder uses only folders before it: `output/`,
//! `plan/`, `verbs/`, `bench/`.
//!
//! This is the only crate that uses the terminal. Exit codes are an interface and are defined in `output/exit.rs`.

mod bench;
mod commands;
mod output;
mod plan;
mod verbs;

use clap::{CommandFactory, Parser};
use commands::{Args, Command};
use output::exit::Exit;
use output::{progress, stdout};
use plan::project_file::with_project_file;
use std::process::ExitCode;
use verbs::{
    annotate, cache, cc, explain, generate, init, instrument, measure, objectives, plan_classes, report, run, summary,
};

/// Forks of states allocate many small objects, which mimalloc makes cheap.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let (words, file) = match with_project_file(std::env::args_os().collect(), Args::command()) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{} {}", progress::error_label(), message(&error));
            return Exit::Usage.into();
        }
    };
    let args = match Args::try_parse_from(words) {
        Ok(args) => args,
        Err(error) => {
            // Help and version are not errors; everything else is a usage error (exit code 1, not clap's 2).
            let shown = stdout::arrived(error.print());
            if let Err(error) = &shown {
                eprintln!("{} {}", progress::error_label(), message(error));
            }
            if let Some(file) = file.filter(|_| error.use_stderr()) {
                eprintln!("note: options also come from {}", file.display());
            }
            return if error.use_stderr() || shown.is_err() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    let result = std::panic::catch_unwind(|| touchstone_base::on_deep_stack(|| carry_out(&args.command)));
    match result {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            eprintln!("{} {}", progress::error_label(), message(&error));
            Exit::Usage.into()
        }
        Err(_) => {
            eprintln!("{} internal error; please report it with the command and the source", progress::error_label());
            Exit::Internal.into()
        }
    }
}

fn carry_out(command: &Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Generate(options) => generate::generate(options),
        Command::Prove(options) => generate::prove(options),
        Command::Objectives(options) => objectives::objectives(options),
        Command::Annotate(options) => annotate::annotate(options),
        Command::Explain(options) => explain::explain(options),
        Command::Summary(options) => summary::summary(options),
        Command::Init(options) => init::init(options),
        Command::Cache(options) => cache::cache(options),
        Command::Report(options) => report::report(options),
        Command::Completions { shell } => report::completions(*shell, Args::command()),
        Command::Man { dir } => report::man(dir.as_deref(), Args::command()),
        Command::Measure(options) => measure::measure(options),
        Command::Merge(options) => measure::merge(options),
        Command::Cc(options) => cc::cc(options),
        Command::PlanClasses(options) => plan_classes::plan(options),
        Command::Instrument(options) => instrument::instrument(options),
        Command::Run(options) => run::run(options),
        Command::Bench(options) => bench::bench(options),
    }
}

/// Formats an error with its causes, and omits a cause that the previous message quotes.
fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
