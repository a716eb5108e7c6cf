//! Builds with a compiler wrapper, which may write to a directory, as may the programs that it compiles.

use crate::EmitError;
use crate::c::build::configuration::Build;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

impl Build {
    /// Returns the same build with a command in front of the compiler: `env X=1 tool cc`. `directory` must exist and be
    /// absolute; programs may write to it. The sandbox's own sources are compiled without the wrapper.
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
