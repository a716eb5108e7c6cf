//! `touchstone objectives`: what there is to cover.

use crate::args::{Format, Generate};
use crate::exit::Exit;
use crate::options_file::OptionsFile;
use crate::plan;
use crate::program::Reader;
use anyhow::Result;
use std::io::Write;
use std::process::ExitCode;
use touchstone_criteria::Campaign;

/// Carries out `objectives`.
pub fn objectives(options: &Generate) -> Result<ExitCode> {
    let scratch = tempfile::tempdir()?;
    let reader = Reader::new(&options.files, &options.compile, &options.flags, scratch.path())?;
    let program = reader.read(&options.files)?;
    let module = &program.module;
    let (_, functions) = plan::targets(module, options)?;
    let file = OptionsFile::beside(&options.files[0])?;
    let mut objectives = Vec::new();
    for func in functions {
        let switches = plan::criteria_options(options, &file, &module.functions[func].name)?;
        let wanted = touchstone_criteria::objectives(module, &[func], &plan::labellings(options), &switches);
        objectives.extend(wanted.list.values().cloned());
    }
    let text = match options.format {
        Format::Json => touchstone_report::json(&Campaign { objectives, ..Campaign::default() }, module),
        Format::Text => {
            let width = objectives.iter().map(|objective| objective.id.len()).max().unwrap_or(0);
            let line = |objective: &touchstone_criteria::Objective| {
                let at = objective.span.display(&module.files);
                format!("{:<width$}  {at}  {}", objective.id, objective.text)
            };
            objectives.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    };
    // A closed pipe (`| head`) is no error.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
    Ok(Exit::Done.into())
}
