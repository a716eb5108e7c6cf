//! `touchstone objectives`: what there is to cover.

use crate::args::{Format, Generate};
use crate::exit::Exit;
use crate::options_file::OptionsFile;
use crate::plan;
use crate::program::Reader;
use crate::states::STATE;
use anyhow::Result;
use std::collections::BTreeSet;
use std::process::ExitCode;
use touchstone_criteria::Campaign;
use touchstone_instrument::state_targets;
use touchstone_report::document::{Objective, Stretch, Verdict};

/// Carries out `objectives`.
pub fn objectives(options: &Generate) -> Result<ExitCode> {
    let scratch = tempfile::tempdir()?;
    let reader = Reader::new(&options.files, &options.compile, &options.flags, scratch.path())?;
    let program = reader.read(&options.files)?;
    let module = &program.module;
    let (_, functions) = plan::targets(module, options)?;
    let file = OptionsFile::beside(&options.files[0])?;
    let mut objectives = Vec::new();
    let names: BTreeSet<String> = functions.iter().map(|func| module.functions[*func].name.clone()).collect();
    for func in functions {
        let switches = plan::criteria_options(options, &file, &module.functions[func].name)?;
        let wanted = touchstone_criteria::objectives(module, &[func], &plan::labellings(options), &switches);
        objectives.extend(wanted.list.values().cloned());
    }
    let campaign = Campaign { objectives, ..Campaign::default() };
    let mut document = touchstone_report::document(&campaign, module, &touchstone_report::Extras::default());
    if plan::wants_state(options) {
        document.objectives.extend(state(&reader, options, &names)?);
    }
    let text = match options.format {
        Format::Json => document.to_json(),
        Format::Text => {
            let width = document.objectives.iter().map(|objective| objective.id.len()).max().unwrap_or(0);
            let line = |objective: &Objective| {
                let at = objective.at.display();
                format!("{:<width$}  {at}  {}", objective.id, objective.text)
            };
            document.objectives.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    };
    crate::stdout::show(text + "\n")?;
    Ok(Exit::Done.into())
}

/// What functions may leave changed. A measurement counts those of them that a test changed last.
fn state(reader: &Reader, options: &Generate, functions: &BTreeSet<String>) -> Result<Vec<Objective>> {
    let mut found = Vec::new();
    for file in &options.files {
        let followed = reader.followed(file, functions)?;
        let named = followed.functions.iter().flat_map(state_targets).filter(|named| named.written);
        found.extend(named.map(|named| {
            let (line, column) = (Some(named.origin.line), Some(named.origin.column));
            Objective {
                text: format!("{} is checked", named.target.name),
                id: named.target.id,
                criterion: STATE.to_string(),
                function: named.target.function,
                at: Stretch { file: Some(named.origin.file), line, column, end_line: line, end_column: column },
                status: Verdict::Unknown,
                why: Some("not tried".to_string()),
                tests: Vec::new(),
                excluded: None,
                variant: None,
                count: None,
            }
        }));
    }
    Ok(found)
}
