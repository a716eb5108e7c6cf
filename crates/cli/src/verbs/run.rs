//! `touchstone run` runs a program in the reference interpreter.

use crate::plan::args::Run;
use anyhow::{Result, bail};
use std::io::{Read, Write};
use std::process::ExitCode;
use touchstone_campaign::Reader;
use touchstone_engine::program_arguments;
use touchstone_interp::{End, Event, Limits, Machine, Observer, Value};
use touchstone_ir::ErrorKind;

/// Runs `run`.
pub fn run(options: &Run) -> Result<ExitCode> {
    if super::run_java::is_java(&options.files) {
        return super::run_java::run(options);
    }
    let scratch = tempfile::tempdir()?;
    let reader = Reader::new(&options.files, &options.compile.compilation(&[]), scratch.path())?;
    let program = reader.read(&options.files)?;
    let module = &program.module;
    let Some(main) = module
        .entry
        .as_deref()
        .and_then(|name| module.function_named(name))
        .filter(|&id| module.functions[id].is_defined())
    else {
        bail!("the files define no `main`; `touchstone run` runs whole programs");
    };
    let mut machine = Machine::new(module, Limits { steps: u64::MAX, ..Limits::default() });
    let name = options.files[0].with_extension("").display().to_string();
    let word = |word: &String| word.bytes().chain([0]).collect();
    let words: Vec<Vec<u8>> = std::iter::once(&name).chain(&options.arguments).map(word).collect();
    let arguments = program_arguments(&mut machine, module.functions[main].params.len(), &words);
    let mut output = Output::new();
    let end = machine.call(main, &arguments, &mut output);
    let end = machine.finish(end, &mut output);
    arrived(output)?;
    let at = |span: touchstone_base::Span| span.display(&module.files);
    Ok(match end {
        End::Returned(Some(Value::Int(status))) => ExitCode::from(status as u8),
        End::Returned(_) => ExitCode::SUCCESS,
        End::Hung => bail!("the program is in an infinite loop"),
        End::Threw { class, .. } => bail!("uncaught exception `{}`", module.class_name(class)),
        End::Exited(status) => ExitCode::from(status as u8),
        End::Error { kind, span } => {
            eprintln!("{} {kind} at {}", crate::output::progress::error_label(), at(span));
            ExitCode::from(signal_status(kind))
        }
        End::Unsupported { what, span } => bail!("unsupported: {what} at {}", at(span)),
        End::Assumed => bail!("an assumption of the program does not hold for its default inputs (all zero)"),
        End::Limit(limit) => bail!("a limit of the interpreter was hit: {limit:?}"),
    })
}

/// Returns the exit status that a shell shows for the compiled program: 128 plus the signal number.
fn signal_status(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Assert | ErrorKind::Abort | ErrorKind::InvalidFree => 134,
        ErrorKind::DivisionByZero => 136,
        _ => 139,
    }
}

/// Returns the first error of writing to standard output, if there was one.
pub(super) fn arrived(mut output: Output<'_>) -> Result<()> {
    let flushed = output.stdout.flush();
    let lost = output.lost.take();
    drop(output);
    crate::output::stdout::arrived(lost.map_or(flushed, Err))
}

/// Standard input and output of the interpreted program.
pub(super) struct Output<'a> {
    stdout: std::io::BufWriter<std::io::StdoutLock<'a>>,
    stdin: std::io::Bytes<std::io::StdinLock<'a>>,
    /// The first error of writing to standard output.
    lost: Option<std::io::Error>,
}

impl Output<'_> {
    pub(super) fn new() -> Self {
        Output {
            stdout: std::io::BufWriter::new(std::io::stdout().lock()),
            stdin: std::io::stdin().lock().bytes(),
            lost: None,
        }
    }

    fn noted(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written {
            self.lost.get_or_insert(error);
        }
    }
}

impl Observer for Output<'_> {
    const WATCHES_POINTS: bool = false;
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, bytes: &[u8]) {
        let written = self.stdout.write_all(bytes);
        self.noted(written);
    }
    fn error_output(&mut self, bytes: &[u8]) {
        let _ = std::io::stderr().write_all(bytes);
    }
    fn input(&mut self) -> Option<u8> {
        // A prompt must appear before the program reads its answer.
        let written = self.stdout.flush();
        self.noted(written);
        self.stdin.next()?.ok()
    }
}
