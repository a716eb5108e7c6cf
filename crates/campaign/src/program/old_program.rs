//! Reads an older version of the program with the options of the new one.
//!
//! Deliberately not here: how a revision gets into a directory.

use super::companion::CompanionCode;
use super::error::PlanError;
use super::reader::{Program, Reader};
use crate::externals::ExternalSpecs;
use crate::request::{Compilation, OldVersion, Request};
use std::path::{Path, PathBuf, absolute};

impl OldVersion {
    /// Reads the old version of a request's program.
    pub(crate) fn read(&self, request: &Request) -> Result<Program, PlanError> {
        let pairs: Vec<(PathBuf, PathBuf)> =
            request.files.iter().filter_map(|file| Some((file.clone(), self.was(file)?))).collect();
        let Some(first) = request.files.first() else { return Err(PlanError::NoFiles) };
        if pairs.is_empty() {
            return Err(PlanError::NoOldFiles { name: self.name.clone(), file: first.clone() });
        }
        let directory = request.out.join("old");
        let failed = |source| PlanError::OldVersion { name: self.name.clone(), source };
        let include_dir = directory.join("include");
        let class_path =
            request.compilation.class_path.iter().map(|path| self.was(path).unwrap_or(path.clone())).collect();
        let mut compilation = Compilation { class_path, ..request.compilation.clone() };
        if !crate::java::is_java(&request.files) {
            compilation.commands = Some(self.commands(request, &pairs, &directory)?);
            compilation.flags.clear();
        }
        let files: Vec<PathBuf> = pairs.into_iter().map(|(_, old)| old).collect();
        let reader = Reader::new(&files, &compilation, &include_dir).map_err(failed)?;
        let reader = reader.within(request.effort.timeout).with_environment(request.environment_inputs());
        // Both versions load the same classes in the same order, so class numbers are equal.
        let externals = ExternalSpecs::read(&request.inputs.external_specs)?;
        let reader = reader.about(&request.subject).with_externals(&externals);
        let program = reader.read(&files).map_err(failed)?;
        // External functions behave the same in both versions.
        let mut companion = CompanionCode::default();
        companion.describe(&externals, &program, &files)?;
        companion.read(&reader, program, &files, &include_dir)
    }

    /// Writes the compile commands of the old files: those of the new ones, with directories of the old version.
    fn commands(&self, request: &Request, pairs: &[(PathBuf, PathBuf)], to: &Path) -> Result<PathBuf, PlanError> {
        let reader = Reader::new(&request.files, &request.compilation, &request.out.join("include"))?;
        let mut entries = Vec::new();
        for (new, old) in pairs {
            let old = absolute(old).unwrap_or_else(|_| old.clone());
            let flags = reader.flags(new)?;
            let mut words = vec!["cc".to_string()];
            words.extend(flags.iter().map(|flag| self.word(flag)));
            words.extend(["-c".to_string(), old.to_string_lossy().into_owned()]);
            let directory = absolute(".").unwrap_or_default();
            entries.push(serde_json::json!({ "directory": directory, "file": old, "arguments": words }));
        }
        let failed = |why| PlanError::OldFiles { directory: to.to_path_buf(), why };
        let file = to.join("compile_commands.json");
        std::fs::create_dir_all(to).map_err(failed)?;
        std::fs::write(&file, serde_json::Value::from(entries).to_string()).map_err(failed)?;
        Ok(to.to_path_buf())
    }

    /// Replaces a path of the new version in a command-line word by that of the old version.
    fn word(&self, word: &str) -> String {
        const NAMES_A_PATH: [&str; 6] = ["-I", "-iquote", "-isystem", "-include", "-imacros", "-idirafter"];
        let was = |path: &str| (!path.is_empty()).then(|| self.was(Path::new(path))).flatten();
        if let Some(was) = was(word) {
            return was.to_string_lossy().into_owned();
        }
        let joined = NAMES_A_PATH.iter().find_map(|option| Some((option, was(word.strip_prefix(option)?)?)));
        joined.map_or_else(|| word.to_string(), |(option, was)| format!("{option}{}", was.display()))
    }
}
