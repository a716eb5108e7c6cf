//! `touchstone report`: renders the last campaign again, without reading the program.

use crate::output::exit::Exit;
use crate::output::outputs::{self, Outputs};
use crate::plan::args::Format;
use crate::plan::git::{self, git};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use touchstone_report::{ChangedLines, Document, Past};

#[derive(ClapArgs, Debug)]
pub struct Report {
    /// Output directory of a run, or its campaign.json
    #[arg(value_name = "DIR", default_value = "touchstone-out")]
    pub dir: PathBuf,
    #[command(flatten)]
    pub shown: Shown,
}

/// How a document is shown, and what is written from it.
#[derive(ClapArgs, Debug)]
pub struct Shown {
    /// Only what stands on lines that changed since this revision of git
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// Of code that was compiled in several variants, only this one; the JSON form and the HTML report name them
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub variant: Option<String>,
    /// Form of the report on standard output
    #[arg(long, default_value = "text", value_name = "FORM")]
    pub format: Format,
    /// Say nothing on standard error but errors
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub outputs: Outputs,
}

impl Shown {
    /// Shows a document and writes the reports that are asked for.
    pub fn show(&self, mut document: Document, history: &[Past]) -> Result<Exit> {
        if let Some(revision) = &self.since {
            restrict(&mut document, revision)?;
        }
        if let Some(variant) = &self.variant {
            let known: Vec<String> =
                touchstone_report::variants_of(&document, None).into_iter().map(str::to_string).collect();
            if !touchstone_report::keep_variant(&mut document, variant) {
                let known = if known.is_empty() { "there is only one".to_string() } else { known.join(", ") };
                bail!("nothing was compiled as variant `{variant}`; known: {known}");
            }
        }
        let text = match self.format {
            Format::Json => document.to_json() + "\n",
            Format::Text => outputs::fitted(touchstone_report::overview(&document, outputs::style())),
        };
        // Files are written even where nobody can be shown anything.
        let shown = crate::output::stdout::show(text);
        let exit = self.outputs.write(&document, history, self.quiet)?;
        shown.map(|()| exit)
    }
}

/// Carries out `report`.
pub fn report(options: &Report) -> Result<ExitCode> {
    let (document, history) = outputs::load(&options.dir)?;
    Ok(options.shown.show(document, &history)?.into())
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
    // Files that git doesn't follow yet are new from their first line to their last.
    for path in git(Path::new("."), &["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"])?
        .split_terminator('\0')
    {
        changed.add_whole(path);
    }
    touchstone_report::restrict(document, &changed, |path| in_repository(&root, path));
    Ok(())
}

/// The path as git names it: from the root of the repository.
fn in_repository(root: &Path, path: &str) -> String {
    let full = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    full.strip_prefix(&root).map_or_else(|_| path.to_string(), |inside| inside.to_string_lossy().into_owned())
}

/// Carries out `completions`, for the command with all its verbs.
pub fn completions(shell: clap_complete::Shell, mut command: clap::Command) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "touchstone", &mut text);
    crate::output::stdout::show(&text)?;
    Ok(Exit::Done.into())
}

/// Carries out `man`: the page of the command on standard output, or one page a verb in a directory.
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
