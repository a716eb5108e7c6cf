//! Lists objectives without a search.

use super::campaign_plan::{criteria_options, skipped_decisions};
use crate::program::PlanError;
use crate::program::subject;
use crate::program::{Program, Reader};
use crate::request::Notice;
use crate::request::OptionsFile;
use crate::request::Request;
use std::collections::BTreeSet;
use std::path::PathBuf;
use touchstone_criteria::{Campaign, Criterion, Objectives, WhyUnknown};
use touchstone_instrument::state_targets;
use touchstone_ir::FuncId;
use touchstone_report::document::{Objective, ReportedRange, Verdict};
use touchstone_report::{Document, Supplements};

/// The objectives of a request.
#[derive(Debug)]
pub struct ObjectiveList {
    /// The program.
    pub program: Program,
    /// Each function with its own objectives.
    pub functions: Vec<(FuncId, Objectives)>,
    /// State that functions may change, if state coverage is requested.
    pub state: Vec<Objective>,
    /// Notices about decisions without objectives.
    pub notices: Vec<Notice>,
}

impl ObjectiveList {
    /// Reads the program and lists its objectives.
    pub fn new(request: &Request) -> Result<ObjectiveList, PlanError> {
        let first = request.files.first().ok_or(PlanError::NoFiles)?;
        let reader = Reader::new(&request.files, &request.compilation, &request.out.join("include"))?
            .within(request.effort.timeout)
            .about(&request.subject)
            .for_listing();
        let program = reader.read(&request.files)?;
        let module = &program.module;
        let (_, found) = subject::resolve(&program, request)?;
        let file = OptionsFile::near(first)?;
        let notices = skipped_decisions(&program, &found, &request.labellings());
        let mut functions = Vec::new();
        for func in found {
            let switches = criteria_options(request, &file, &module.functions[func].name)?;
            functions.push((func, touchstone_criteria::objectives(module, &[func], &request.labellings(), &switches)));
        }
        let mut listed = ObjectiveList { program, functions, state: Vec::new(), notices };
        if request.wants_state() {
            listed.state = listed.state(&reader, &request.files)?;
        }
        Ok(listed)
    }

    /// Returns the list as a document.
    pub fn document(&self) -> Document {
        let objectives = self.functions.iter().flat_map(|(_, wanted)| wanted.list.values().cloned()).collect();
        let campaign = Campaign { objectives, ..Campaign::default() };
        let mut document = touchstone_report::document(&campaign, &self.program.module, &Supplements::default());
        document.objectives.extend(self.state.iter().cloned());
        document
    }

    /// Lists the state that functions may change. A measurement counts what tests change and check.
    fn state(&self, reader: &Reader, files: &[PathBuf]) -> Result<Vec<Objective>, PlanError> {
        let name = |(func, _): &(FuncId, Objectives)| self.program.module.functions[*func].name.clone();
        let functions: BTreeSet<String> = self.functions.iter().map(name).collect();
        let mut found = Vec::new();
        for file in files {
            let followed = reader.followed(file, &functions)?;
            let named = followed.functions.iter().flat_map(state_targets).filter(|named| named.written);
            found.extend(named.map(|named| {
                let (line, column) = (Some(named.origin.line), Some(named.origin.column));
                Objective {
                    by_error: false,
                    text: format!("{} is checked", named.target.name),
                    id: named.target.id,
                    criterion: Criterion::State.to_string(),
                    function: named.target.function,
                    at: ReportedRange {
                        file: Some(named.origin.file),
                        line,
                        column,
                        end_line: line,
                        end_column: column,
                    },
                    status: Verdict::Unknown,
                    why: Some(WhyUnknown::NotTried.to_string()),
                    reason: Some(WhyUnknown::NotTried.word().to_string()),
                    tests: Vec::new(),
                    excluded: None,
                    variant: None,
                    count: None,
                }
            }));
        }
        Ok(found)
    }
}
