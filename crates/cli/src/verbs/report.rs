//! `touchstone report` renders the last run again, without reading the program.

use crate::output::exit::Exit;
use crate::output::outputs::{self, Outputs};
use crate::plan::args::OutputFormat;
use crate::plan::git::{self, git};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use touchstone_report::{ChangedLines, Detail, Document, Figures, HistoryEntry};

#[derive(ClapArgs, Debug)]
pub struct Report {
    /// The output directory of a run, or a document in it: campaign.json (generate, prove) or measurement.json (measure, merge)
    #[arg(value_name = "DIR", default_value = "touchstone-out")]
    pub dir: PathBuf,
    #[command(flatten)]
    pub shown: ReportOptions,
}

/// The options that render a document.
#[derive(ClapArgs, Debug)]
pub struct ReportOptions {
    /// Report only lines that changed since this git revision
    #[arg(long, alias = "since", value_name = "REV")]
    pub changed_lines: Option<String>,
    /// Report only this variant of code that was compiled in several variants; JSON and HTML list their names
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub variant: Option<String>,
    /// The format of the report on standard output
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: OutputFormat,
    /// List the objectives that are not covered
    #[arg(short, long)]
    pub verbose: bool,
    /// Print only errors on standard error
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub outputs: Outputs,
}

impl ReportOptions {
    fn detail(&self) -> Detail {
        if self.verbose { Detail::Everything } else { Detail::Short }
    }

    /// Prints a document and writes the requested reports. `criteria` are those of the run, if it just ended.
    pub fn show(&self, mut document: Document, history: &[HistoryEntry], criteria: &[String]) -> Result<Exit> {
        let all = figures_for_thresholds(&document, criteria);
        if let Some(revision) = &self.changed_lines {
            restrict(&mut document, revision)?;
        }
        if let Some(variant) = &self.variant {
            let known: Vec<String> =
                touchstone_report::variants_of(&document, None).into_iter().map(str::to_string).collect();
            if !touchstone_report::keep_variant(&mut document, variant) {
                let known = if known.is_empty() { "there is only one".to_string() } else { known.join(", ") };
                bail!("nothing was compiled as variant `{variant}`; variants: {known}");
            }
        }
        let text = match self.format {
            OutputFormat::Json => document.to_json() + "\n",
            OutputFormat::Text => {
                outputs::fitted(touchstone_report::overview(&document, self.detail(), outputs::style()))
            }
        };
        // The files are written even if standard output is closed.
        let shown = crate::output::stdout::show(text);
        let exit = self.outputs.write(&document, all.as_ref(), history, self.quiet)?;
        shown.map(|()| exit)
    }
}

/// Returns the figures that thresholds are compared with, with those criteria of the run that have no objectives. Of a change, it is enough
/// to cover what it affects, which may be nothing.
pub fn figures_for_thresholds(document: &Document, criteria: &[String]) -> Option<Figures> {
    let mut all = Figures::new(document);
    all.request(criteria);
    document.change.is_none().then_some(all)
}

/// Runs `report`.
pub fn report(options: &Report) -> Result<ExitCode> {
    let (document, history) = outputs::load(&options.dir, options.shown.quiet)?;
    Ok(options.shown.show(document, &history, &[])?.into())
}

/// Restricts a document to the lines that changed since a revision.
fn restrict(document: &mut Document, revision: &str) -> Result<()> {
    git::check_revision(revision)?;
    let root = git::root(Path::new("."))?;
    let diff = git(
        Path::new("."),
        &["diff", "-U0", "--no-prefix", "--no-color", "--no-ext-diff", "--no-renames", revision, "--"],
    )?;
    let mut changed = ChangedLines::parse(&diff);
    // All lines of untracked files are new.
    for path in git(Path::new("."), &["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"])?
        .split_terminator('\0')
    {
        changed.add_whole(path);
    }
    touchstone_report::restrict(document, &changed, |path| in_repository(&root, path));
    Ok(())
}

/// Returns the path relative to the root of the repository, as git writes it.
fn in_repository(root: &Path, path: &str) -> String {
    let full = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    full.strip_prefix(&root).map_or_else(|_| path.to_string(), |inside| inside.to_string_lossy().into_owned())
}

/// Runs `completions`.
pub fn completions(shell: clap_complete::Shell, mut command: clap::Command) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "touchstone", &mut text);
    crate::output::stdout::show(&text)?;
    Ok(Exit::Done.into())
}

/// Runs `man`: prints the page of the program, or writes one page for each command to a directory.
pub fn man(dir: Option<&Path>, command: clap::Command) -> Result<ExitCode> {
    match dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| format!("can't make {}", dir.display()))?;
            clap_mangen::generate_to(command, dir).with_context(|| format!("can't write to {}", dir.display()))?;
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text)?;
            crate::output::stdout::show(&text)?;
        }
    }
    Ok(Exit::Done.into())
}
