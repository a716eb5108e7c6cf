//! C that stands beside the user's code: conditions and descriptions that are expressions of his program.
//!
//! It is compiled as the file is that it stands beside, in a file that includes the unmodified source, so macros, types and functions of
//! the source can be used in it.

use super::error::PlanError;
use super::reader::{Program, Reader};
use crate::externals::World;
use crate::request::same_file;
use std::path::{Path, PathBuf};
use touchstone_front_c::ExternalSpec;

/// What is read with a program's files.
#[derive(Default, Debug)]
pub(crate) struct Beside {
    /// Texts behind files, by their index.
    texts: Vec<(usize, String)>,
    /// What is said of functions that nobody defines.
    pub described: Vec<ExternalSpec>,
}

impl Beside {
    /// Adds a text behind a file.
    pub fn add(&mut self, file: usize, text: String) {
        self.texts.push((file, text));
    }

    /// Adds what is said of external functions of a C program of these files.
    pub fn describe(&mut self, world: &World, program: &Program, files: &[PathBuf]) -> Result<(), PlanError> {
        if program.java.is_none() {
            for helpers in world.in_c(&program.module, files)? {
                self.add(helpers.file, helpers.text);
                self.described.push(helpers.described);
            }
        }
        Ok(())
    }

    /// Reads the program again with all of it; what is made for that goes to a directory.
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
        let mut again = reader.read_beside(files, &wrapped, &self.described)?;
        // Reports and tests speak of the user's file, not of the wrapper.
        for path in again.module.files.values_mut() {
            if let Some(original) = files.iter().find(|file| same_file(file, Path::new(path.as_str()))) {
                *path = original.display().to_string();
            }
        }
        again.units = program.units;
        Ok(again)
    }
}
