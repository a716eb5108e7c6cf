//! `touchstone objectives` lists objectives.

use crate::output::exit::Exit;
use crate::plan::args::{Generate, OutputFormat};
use anyhow::Result;
use std::process::ExitCode;
use touchstone_campaign::ObjectiveList;
use touchstone_report::document::Objective;

/// Runs `objectives`.
pub fn objectives(options: &Generate) -> Result<ExitCode> {
    let scratch = tempfile::tempdir()?;
    let list = ObjectiveList::new(&options.request_in(scratch.path()))?;
    list.notices.iter().filter(|_| !options.quiet).for_each(|notice| eprintln!("warning: {notice}"));
    let document = list.document();
    let text = match options.format {
        OutputFormat::Json => document.to_json(),
        OutputFormat::Text => {
            let width = document.objectives.iter().map(|objective| objective.id.len()).max().unwrap_or(0);
            let line = |objective: &Objective| {
                let at = objective.at.display();
                format!("{:<width$}  {at}  {}", objective.id, objective.text)
            };
            document.objectives.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    };
    crate::output::stdout::show(text + "\n")?;
    Ok(Exit::Done.into())
}
