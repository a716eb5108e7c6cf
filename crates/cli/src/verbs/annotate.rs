//! `touchstone annotate` prints the source with its objectives as labels, for other tools.

use crate::output::exit::Exit;
use crate::plan::args::Generate;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::process::ExitCode;
use touchstone_base::{FileId, Id};
use touchstone_campaign::ObjectiveList;
use touchstone_criteria::Objectives;
use touchstone_instrument::{AnnotateStyle, not_labels};

/// The options of `annotate`.
#[derive(clap::Args, Debug)]
pub struct Annotate {
    /// The code of a label
    #[arg(long, value_name = "STYLE", default_value = "direct")]
    pub style: LabelStyle,
    #[command(flatten)]
    pub options: Generate,
}

/// The code of a label.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelStyle {
    /// A branch on the predicate
    Direct,
    /// A nondeterministic choice: assert the predicate and stop, or continue
    Tight,
}

/// Runs `annotate`.
pub fn annotate(arguments: &Annotate) -> Result<ExitCode> {
    let options = &arguments.options;
    for criterion in &options.criteria {
        let name = criterion.to_string();
        if let Some(why) = not_labels(&name) {
            bail!(
                "`{name}` can't be written as labels: {why}; use -c with stmt, branch, decision, condition, dcc, mcc, wm, idc, rte or labels"
            );
        }
    }
    let [path] = options.files.as_slice() else { bail!("annotate takes one file at a time") };
    let scratch = tempfile::tempdir()?;
    let listed = ObjectiveList::new(&options.request_in(scratch.path()))?;
    let module = &listed.program.module;
    let mut wanted = Objectives::default();
    for (_, made) in &listed.functions {
        made.list.values().cloned().for_each(|objective| {
            wanted.list.push(objective);
        });
        made.goals.values().cloned().for_each(|goal| {
            wanted.goals.push(goal);
        });
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("can't read {} as UTF-8", path.display()))?;
    let style = match arguments.style {
        LabelStyle::Direct => AnnotateStyle::Direct,
        LabelStyle::Tight => AnnotateStyle::Tight,
    };
    // The given files are the first files of the module.
    let made = touchstone_instrument::annotate(module, FileId::new(0), &text, &wanted, style);
    // A byte order mark is only allowed at the start of a file.
    let made_text = made.text.replacen('\u{feff}', "", usize::from(text.starts_with('\u{feff}')));
    crate::output::stdout::show(made_text)?;
    if !options.quiet {
        eprintln!("{} labels, {} not placed (listed at the end)", made.placed.len(), made.not_placed.len());
    }
    Ok(Exit::Done.into())
}
