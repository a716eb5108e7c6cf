//! What a run compiles once, whoever asks: the program's other files, and whether there are sanitizers.
//!
//! Each function is replayed by itself, several at a time, and all are linked with the same files.

use crate::EmitError;
use crate::c::build::compiler::{BuildVariant, Compiler};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What was compiled so far. The files go with the last user.
#[derive(Clone, Debug, Default)]
pub struct UnitObjects(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    dir: Mutex<Option<tempfile::TempDir>>,
    /// By unit and whether it has sanitizers.
    units: Mutex<BTreeMap<(usize, bool), Slot>>,
    sanitizers: OnceLock<bool>,
}

/// An object once it is there; held while it is made.
type Slot = Arc<Mutex<Option<PathBuf>>>;

impl UnitObjects {
    /// A directory for what stays until the end of the run.
    pub(crate) fn dir(&self) -> Result<PathBuf, EmitError> {
        let mut dir = locked(&self.0.dir);
        if let Some(dir) = dir.as_ref() {
            return Ok(dir.path().to_path_buf());
        }
        let made = tempfile::tempdir().map_err(EmitError::io(&std::env::temp_dir()))?;
        Ok(dir.insert(made).path().to_path_buf())
    }

    /// The object of a unit: there already, or made now. What could not be made is tried again.
    pub(crate) fn unit(
        &self,
        (unit, variant): (usize, BuildVariant),
        make: impl FnOnce(&Path) -> Result<PathBuf, EmitError>,
    ) -> Result<PathBuf, EmitError> {
        let dir = self.dir()?;
        let slot = Arc::clone(locked(&self.0.units).entry((unit, variant == BuildVariant::Sanitized)).or_default());
        let mut object = locked(&slot);
        if let Some(object) = object.as_ref() {
            return Ok(object.clone());
        }
        Ok(object.insert(make(&dir)?).clone())
    }

    /// Whether programs with sanitizers can be made, and run.
    pub(crate) fn has_sanitizers(&self, compiler: &Compiler) -> bool {
        *self.0.sanitizers.get_or_init(|| compiler.has_sanitizers())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
