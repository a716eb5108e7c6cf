//! Progress on standard error while functions are explored. The only file that uses `indicatif`.

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
#[derive(Clone)]
pub struct Display {
    bars: Option<MultiProgress>,
}

impl Display {
    /// Creates a display. It is empty if standard error is no terminal, or if the user wants quiet.
    pub fn new(quiet: bool) -> Display {
        let shown = !quiet && std::io::stderr().is_terminal();
        Display { bars: shown.then(MultiProgress::new) }
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
        Box::new(Line { bar, last: std::time::Instant::now() })
    }
}

/// The line of one function.
struct Line {
    bar: Option<ProgressBar>,
    last: std::time::Instant,
}

impl FunctionProgress for Line {
    fn explored(&mut self, progress: &Progress) {
        let Some(bar) = &self.bar else { return };
        if self.last.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.last = std::time::Instant::now();
        bar.set_message(format!(
            "{} paths, {} open, {} tests, solver {:.0} %",
            progress.paths,
            progress.open,
            progress.tests,
            100.0 * progress.solver_share
        ));
    }

    fn replayed(&mut self, done: usize, total: usize) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("replaying {done}/{total} tests"));
        }
    }

    fn finish(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
