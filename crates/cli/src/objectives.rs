//! `touchstone objectives`: what there is to cover.

use crate::args::{Format, Generate};
use crate::exit::Exit;
use crate::plan;
use crate::program::Reader;
use anyhow::Result;
use std::process::ExitCode;
use touchstone_criteria::Campaign;

/// Carries out `objectives`.
pub fn objectives(options: &Generate) -> Result<ExitCode> {
    let scratch = tempfile::tempdir()?;
    let reader = Reader::new(&options.files, &options.compile, &options.flags, scratch.path())?;
    let program = reader.read(&options.files)?;
    let module = &program.module;
    let (_, functions) = plan::targets(module, options)?;
    let wanted = touchstone_criteria::objectives(
        module,
        &functions,
        &plan::labellings(options),
        &plan::criteria_options(options),
    );
    let objectives: Vec<_> = wanted.list.values().cloned().collect();
    match options.format {
        Format::Json => {
            let campaign = Campaign { objectives, ..Campaign::default() };
            println!("{}", touchstone_report::json(&campaign, module));
        }
        Format::Text => {
            for objective in &objectives {
                println!("{}  {}  {}", objective.id, objective.span.display(&module.files), objective.text);
            }
        }
    }
    Ok(Exit::Done.into())
}
