//! Report files that are rendered from a document, and coverage thresholds. All commands that produce a document share them.

use crate::output::exit::Exit;
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use touchstone_campaign::{CAMPAIGN, CAMPAIGN_HISTORY, MEASUREMENT, MEASUREMENT_HISTORY};
use touchstone_report::{Document, Figures, HistoryEntry, Style, Threshold, ThresholdResult, export, html};

/// A document in the output directory, with the figures of all runs that wrote it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// Written by `generate` and `prove`.
    Campaign,
    /// Written by `measure` and `merge`.
    Measurement,
}

impl Stored {
    fn document(self) -> &'static str {
        match self {
            Stored::Campaign => CAMPAIGN,
            Stored::Measurement => MEASUREMENT,
        }
    }

    fn history(self) -> &'static str {
        match self {
            Stored::Campaign => CAMPAIGN_HISTORY,
            Stored::Measurement => MEASUREMENT_HISTORY,
        }
    }

    /// Returns the document that was written last to a directory, and the other one if it exists.
    fn newest_in(directory: &Path) -> (Stored, Option<Stored>) {
        let written =
            |stored: Stored| std::fs::metadata(directory.join(stored.document())).and_then(|meta| meta.modified());
        match (written(Stored::Campaign), written(Stored::Measurement)) {
            (Ok(campaign), Ok(measured)) if measured > campaign => (Stored::Measurement, Some(Stored::Campaign)),
            (Ok(_), Ok(_)) => (Stored::Campaign, Some(Stored::Measurement)),
            (Err(_), Ok(_)) => (Stored::Measurement, None),
            (_, Err(_)) => (Stored::Campaign, None),
        }
    }
}

/// The patch with the suggested assertions.
const PATCH: &str = "suggested.patch";

/// The options that select report files.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct Outputs {
    /// Write an HTML report; open DIR/index.html
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    pub html: Option<PathBuf>,
    /// Write an LCOV tracefile, with MC/DC records
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub lcov: Option<PathBuf>,
    /// Write Cobertura XML
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub cobertura: Option<PathBuf>,
    /// Write JaCoCo XML, for SonarQube and Codecov
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub jacoco: Option<PathBuf>,
    /// Write SARIF, for code review: objectives that no test covers
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub sarif: Option<PathBuf>,
    /// Write JUnit XML: the tests and the results of their replay
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub junit: Option<PathBuf>,
    /// Write a badge (SVG)
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub badge: Option<PathBuf>,
    /// Write the JSON report
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub json: Option<PathBuf>,
    /// Exit with 2 if less than this percentage of the feasible objectives is covered; for example mcdc=90,branch=100
    #[arg(long, value_name = "CRITERION=PERCENT", help_heading = "Reports", value_delimiter = ',')]
    pub fail_under: Vec<Threshold>,
}

impl Outputs {
    /// Rejects a threshold for a criterion that is not measured, before the run starts.
    pub fn check_criteria(&self, criteria: &[String]) -> Result<()> {
        for threshold in &self.fail_under {
            if !criteria.contains(&threshold.criterion) {
                bail!(
                    "--fail-under {0}=… needs {0} among the criteria; add it to -c {1}",
                    threshold.criterion,
                    criteria.join(",")
                );
            }
        }
        Ok(())
    }

    /// Writes the selected files and prints the thresholds that are missed. `all` are the figures of the document before it was restricted;
    /// without them, it may have no objectives.
    pub fn write(
        &self,
        document: &Document,
        all: Option<&Figures>,
        history: &[HistoryEntry],
        quiet: bool,
    ) -> Result<Exit> {
        if let Some(dir) = &self.html {
            write_site(dir, document, history, quiet)?;
        }
        type Render = fn(&Document) -> String;
        let files: [(&Option<PathBuf>, Render); 7] = [
            (&self.lcov, export::lcov),
            (&self.cobertura, export::cobertura),
            (&self.jacoco, export::jacoco),
            (&self.sarif, export::sarif),
            (&self.junit, export::junit),
            (&self.badge, export::badge),
            (&self.json, |document| document.to_json() + "\n"),
        ];
        for (path, render) in files {
            if let Some(path) = path {
                write(path, &render(document))?;
            }
        }
        self.judge(&Figures::new(document), all)
    }

    fn judge(&self, figures: &Figures, all: Option<&Figures>) -> Result<Exit> {
        let mut exit = Exit::Done;
        for threshold in &self.fail_under {
            match threshold.judge(figures, all) {
                ThresholdResult::Reached => {}
                ThresholdResult::Below(what) => {
                    eprintln!("below threshold: {what}");
                    exit = Exit::Below;
                }
                ThresholdResult::NotAsked(what) => bail!(what),
            }
        }
        Ok(exit)
    }
}

/// Writes the patch with the suggested assertions.
pub fn write_patch(out: &Path, document: &Document, quiet: bool) -> Result<()> {
    let path = out.join(PATCH);
    touchstone_base::check_confined(out, &path)?;
    let patch = touchstone_report::patch(document, &|file| std::fs::read_to_string(file).ok());
    if patch.is_empty() {
        // The patch of an earlier measurement is stale.
        let _ = std::fs::remove_file(&path);
        return Ok(());
    }
    write(&path, &patch)?;
    if !quiet {
        let shown = std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
        eprintln!("assertions to add are in {0}: git apply {0}", shown.unwrap_or(path).display());
    }
    Ok(())
}

/// Stores the document of a run in its output directory, appends its figures to the history, and returns the history.
pub fn store(out: &Path, stored: Stored, document: &Document) -> Result<Vec<HistoryEntry>> {
    write_in(out, &out.join(stored.document()), &document.to_stored())?;
    let path = out.join(stored.history());
    let mut text = match std::fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("can't read {}", path.display())),
    };
    // A run that was killed while writing leaves an incomplete line.
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    text += &HistoryEntry::new(now, &Figures::new(document)).to_line();
    write_in(out, &path, &text)?;
    Ok(touchstone_report::read_history(&text))
}

/// Reads the document and the history that [`store`] wrote. `path` is the document itself or the output directory; of a
/// directory with two documents, the newer one is read, and the other one is named on standard error.
pub fn load(path: &Path, quiet: bool) -> Result<(Document, Vec<HistoryEntry>)> {
    let (file, dir, stored) = match path.is_file() {
        true => {
            let is_measured = path.file_name().is_some_and(|name| name == MEASUREMENT);
            let stored = if is_measured { Stored::Measurement } else { Stored::Campaign };
            (path.to_path_buf(), path.parent().unwrap_or(Path::new(".")).to_path_buf(), stored)
        }
        false => {
            let (stored, other) = Stored::newest_in(path);
            if let Some(other) = other.filter(|_| !quiet) {
                let shown = path.join(other.document());
                eprintln!(
                    "{}",
                    match other {
                        Stored::Campaign => format!(
                            "this is the last measurement; for generated tests: touchstone report {}",
                            shown.display()
                        ),
                        Stored::Measurement => format!(
                            "this is the last run of generate or prove; for the measurement: touchstone report {}",
                            shown.display()
                        ),
                    }
                );
            }
            (path.join(stored.document()), path.to_path_buf(), stored)
        }
    };
    let text = std::fs::read_to_string(&file).with_context(|| {
        format!(
            "can't read {}; run touchstone generate, prove or measure first, or name the directory of a run",
            file.display()
        )
    })?;
    let document = Document::parse(&text).with_context(|| format!("{} is not a campaign", file.display()))?;
    let history = std::fs::read_to_string(dir.join(stored.history())).unwrap_or_default();
    Ok((document, touchstone_report::read_history(&history)))
}

/// A line width that no line exceeds.
const UNLIMITED: usize = 10_000;

/// Returns the style of text on standard output. Nothing is truncated if a file or a pipe reads it.
pub fn style() -> Style {
    let width = columns().map_or(UNLIMITED, |width| width.clamp(40, 160));
    Style { color: crate::output::progress::color_on_stdout(), width }
}

/// Returns the width of the terminal on standard output, or `COLUMNS`; `None` if standard output is a file or a pipe.
fn columns() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let is_terminal = std::io::stdout().is_terminal();
    let size = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|_| is_terminal);
    size.or(said).or(is_terminal.then_some(80))
}

/// Wraps text to the width of the terminal.
pub fn fitted(text: String) -> String {
    columns().map_or(text.clone(), |width| touchstone_report::fit(&text, width))
}

fn write_site(dir: &Path, document: &Document, history: &[HistoryEntry], quiet: bool) -> Result<()> {
    let mut sources = BTreeMap::new();
    let mut paths: Vec<&str> =
        document.objectives.iter().filter_map(|objective| objective.at.file.as_deref()).collect();
    paths.extend(document.functions.iter().map(|function| function.file.as_str()));
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        match std::fs::read(path) {
            Ok(bytes) => {
                sources.insert(path.to_string(), String::from_utf8_lossy(&bytes).into_owned());
            }
            Err(error) if !quiet => eprintln!("warning: can't read {path} ({error}); its page shows no source"),
            Err(_) => {}
        }
    }
    let pages = html::site(&html::SiteInput { document, sources: &sources, history });
    for page in &pages {
        let path = dir.join(&page.path);
        if std::fs::read(&path)
            .is_ok_and(|there| !html::is_page(&page.path, &page.text, &String::from_utf8_lossy(&there)))
        {
            bail!(
                "{} was not written by Touchstone and would be overwritten; choose another directory with --html",
                path.display()
            );
        }
    }
    for page in pages {
        write_in(dir, &dir.join(&page.path), &page.text)?;
    }
    if !quiet {
        eprintln!("report: {}", dir.join("index.html").display());
    }
    Ok(())
}

/// Writes a file in a directory, which no symbolic link may lead out of.
fn write_in(root: &Path, path: &Path, text: &str) -> Result<()> {
    touchstone_base::check_confined(root, path)?;
    write(path, text)
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).with_context(|| format!("can't make {}", dir.display()))?;
    }
    touchstone_base::write_atomically(path, text).with_context(|| format!("can't write {}", path.display()))
}
