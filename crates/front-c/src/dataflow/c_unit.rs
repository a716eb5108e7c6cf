//! Data flow analysis of a preprocessed translation unit of C.

use super::actions::UnitDataFlow;
use super::ast_walk::{origins, read};
use super::body_walk::UnitFacts;
use crate::clang::options::Options;
use crate::error::FrontError;
use std::collections::BTreeSet;
use std::path::Path;

/// Analyses the data flow of a preprocessed text; `original` is its source file, with its flags.
pub fn unit_data_flow(
    preprocessed: (&Path, &Options),
    original: (&Path, &Options),
    wanted: &BTreeSet<String>,
) -> Result<UnitDataFlow, FrontError> {
    touchstone_base::on_deep_stack(|| {
        let origins = origins(original.0, original.1, wanted)?;
        let mut unit = UnitFacts::default();
        read(preprocessed.0, preprocessed.1, |_, node| unit.declaration(node, wanted, &origins))?;
        Ok(unit.finish())
    })
}
