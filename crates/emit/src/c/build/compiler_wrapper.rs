//! The same build with a command before its compiler, which may leave something in a directory, and so may the programs.

use crate::EmitError;
use crate::c::build::configuration::Build;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

impl Build {
    /// Compiles through a command: `env X=1 tool cc` stands before the compiler. The directory must be there, by its whole
    /// name; programs may write to it. What is ours and no test is compiled as ever.
    pub fn with_compiler_wrapper(&self, command: &[String], directory: &Path) -> Result<Build, EmitError> {
        let quoted = |text: &String| format!("'{}'", text.replace('\'', "'\\''"));
        let words: Vec<String> = command.iter().map(quoted).collect();
        let (before, cc) = (words.join(" "), quoted(&self.cc));
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *touchstone_sandbox*|*touchstone_guard*) exec {cc} \"$@\";; esac\n\
             exec {before} {cc} \"$@\"\n"
        );
        let path = directory.join("cc");
        let written =
            fs::write(&path, script).and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o700)));
        written.map_err(EmitError::io(&path))?;
        let include_dir = std::path::absolute(&self.include_dir).map_err(EmitError::io(&self.include_dir))?;
        let sandbox = self.sandbox.with_writable_dir(directory);
        Ok(Build { cc: path.display().to_string(), sandbox, include_dir, ..self.clone() })
    }
}
