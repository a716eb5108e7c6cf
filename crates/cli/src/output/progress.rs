//! Progress on standard error while functions are explored. The only file that uses `indicatif`.

use crate::output::progress_lines::ProgressLines;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;
use touchstone_campaign::{FunctionProgress, ProgressListener};
use touchstone_engine::Progress;

/// Returns true if standard output is a terminal that wants colour.
pub fn color_on_stdout() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// `error:`, in red on a terminal.
pub fn error_label() -> &'static str {
    if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        "\x1b[1;31merror:\x1b[0m"
    } else {
        "error:"
    }
}

/// The progress of several explorations.
pub struct Display {
    bars: Option<MultiProgress>,
    lines: Option<ProgressLines>,
}

impl Display {
    /// Creates a display for this many functions. It prints lines if standard error is no terminal, and nothing if the
    /// user wants quiet.
    pub fn new(quiet: bool, functions: usize) -> Display {
        match std::io::stderr().is_terminal() {
            _ if quiet => Display { bars: None, lines: None },
            true => Display { bars: Some(MultiProgress::new()), lines: None },
            false => Display { bars: None, lines: Some(ProgressLines::start(functions)) },
        }
    }
}

impl ProgressListener for Display {
    /// Adds a line for one function.
    fn function(&self, name: &str) -> Box<dyn FunctionProgress + '_> {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new_spinner());
            let style = ProgressStyle::with_template("{spinner:.cyan} {prefix:.bold} {msg} {elapsed:.dim}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_prefix(name.to_string());
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        if let Some(lines) = &self.lines {
            lines.set(name, String::new());
        }
        Box::new(Line { bar, lines: self.lines.as_ref(), name: name.to_string(), last: std::time::Instant::now() })
    }
}

/// The line of one function.
struct Line<'d> {
    bar: Option<ProgressBar>,
    lines: Option<&'d ProgressLines>,
    name: String,
    last: std::time::Instant,
}

impl Line<'_> {
    fn show(&self, state: String) {
        if let Some(lines) = self.lines {
            lines.set(&self.name, state);
        } else if let Some(bar) = &self.bar {
            bar.set_message(state);
        }
    }
}

impl FunctionProgress for Line<'_> {
    fn explored(&mut self, progress: &Progress) {
        if self.bar.is_none() && self.lines.is_none() {
            return;
        }
        if self.last.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.last = std::time::Instant::now();
        self.show(format!(
            "{} paths, {} open, {} tests, solver {:.0} %",
            progress.paths,
            progress.open,
            progress.tests,
            100.0 * progress.solver_share
        ));
    }

    fn replayed(&mut self, done: usize, total: usize) {
        if self.bar.is_some() || self.lines.is_some() {
            self.show(format!("replaying {done}/{total} tests"));
        }
    }

    fn finish(&mut self) {
        if let Some(lines) = self.lines {
            lines.finish(&self.name);
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
