//! Companion sources: generated C over the user's code, for preconditions and specifications of external functions.
//!
//! Each is compiled with the flags of a source file, in a file that includes the unmodified source, so the generated
//! code can use its macros, types and functions.

use super::error::PlanError;
use super::reader::{Program, Reader};
use crate::externals::ExternalSpecs;
use crate::request::same_file;
use std::path::{Path, PathBuf};
use touchstone_front_c::ExternalSpec;

/// The generated code for a program.
#[derive(Default, Debug)]
pub(crate) struct CompanionCode {
    /// The code to append, with the index of the source file.
    texts: Vec<(usize, String)>,
    /// The specifications of external functions.
    pub described: Vec<ExternalSpec>,
}

impl CompanionCode {
    /// Appends code to a source file.
    pub fn add(&mut self, file: usize, text: String) {
        self.texts.push((file, text));
    }

    /// Adds the specifications of external functions, if the program is written in C.
    pub fn describe(
        &mut self,
        externals: &ExternalSpecs,
        program: &Program,
        files: &[PathBuf],
    ) -> Result<(), PlanError> {
        if program.java.is_none() {
            for helpers in externals.in_c(&program.module, files)? {
                self.add(helpers.file, helpers.text);
                self.described.push(helpers.described);
            }
        }
        Ok(())
    }

    /// Reads the program again with the generated code, which is written to a directory.
    pub fn read(
        &self,
        reader: &Reader,
        program: Program,
        files: &[PathBuf],
        directory: &Path,
    ) -> Result<Program, PlanError> {
        if self.texts.is_empty() {
            return Ok(program);
        }
        let mut wrapped: Vec<PathBuf> = files.to_vec();
        for (index, path) in files.iter().enumerate() {
            let texts: Vec<&str> =
                self.texts.iter().filter(|(file, _)| *file == index).map(|(_, text)| text.as_str()).collect();
            if texts.is_empty() {
                continue;
            }
            let source =
                std::path::absolute(path).map_err(|source| PlanError::NoPath { path: path.clone(), source })?;
            let made = directory.join(format!("beside_{index}.c"));
            let text = format!("#include \"{}\"\n{}", source.display(), texts.concat());
            std::fs::write(&made, text).map_err(|source| PlanError::NotWritten { path: made.clone(), source })?;
            wrapped[index] = made;
        }
        let mut again = reader.read_companions(files, &wrapped, &self.described)?;
        // Reports and tests refer to the user's file, not to the companion.
        for path in again.module.files.values_mut() {
            if let Some(original) = files.iter().find(|file| same_file(file, Path::new(path.as_str()))) {
                *path = original.display().to_string();
            }
        }
        again.units = program.units;
        Ok(again)
    }
}
