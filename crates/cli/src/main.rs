//! The `touchstone` binary: arguments become one resolved plan, the plan is carried out, the result becomes an exit code.
//!
//! The only crate that talks to the terminal. Exit codes are an interface and live in `exit.rs`.

mod annotate;
mod args;
mod bench;
mod cc;
mod exit;
mod explain;
mod generate;
mod interrupt;
mod measure;
mod measured;
mod objectives;
mod on_top;
mod options_file;
mod outdir;
mod outputs;
mod plan;
mod precondition;
mod program;
mod progress;
mod report;
mod run;
mod states;
mod stdout;
mod tables;
mod variants;
mod wrappers;

use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

/// Paths fork states and make many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors; everything else is a usage error (1, not clap's 2).
            let shown = stdout::arrived(error.print());
            if let Err(error) = &shown {
                eprintln!("{} {}", progress::error_label(), message(error));
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

fn carry_out(command: &args::Command) -> anyhow::Result<ExitCode> {
    match command {
        args::Command::Generate(options) => generate::generate(options),
        args::Command::Prove(options) => generate::prove(options),
        args::Command::Objectives(options) => objectives::objectives(options),
        args::Command::Annotate(options) => annotate::annotate(options),
        args::Command::Explain(options) => explain::explain(options),
        args::Command::Report(options) => report::report(options),
        args::Command::Completions { shell } => report::completions(*shell),
        args::Command::Man { dir } => report::man(dir.as_deref()),
        args::Command::Measure(options) => measure::measure(options),
        args::Command::Merge(options) => measure::merge(options),
        args::Command::Cc(options) => cc::cc(options),
        args::Command::Run(options) => run::run(options),
        args::Command::Bench(options) => bench::bench(options),
    }
}

/// The error with its causes; a cause that the message before it quotes already is not said twice.
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
