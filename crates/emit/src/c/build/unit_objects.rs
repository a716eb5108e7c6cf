//! Object files that are compiled once per run: the program's other translation units; and whether sanitizers and quick
//! links work.
//!
//! Functions are replayed independently and concurrently, and all are linked with the same object files.

use crate::EmitError;
use crate::c::build::compiler::{BuildVariant, Compiler};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The object files of a run. They are removed with the last user.
#[derive(Clone, Debug, Default)]
pub struct UnitObjects(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    dir: Mutex<Option<tempfile::TempDir>>,
    /// Maps a unit, and whether it is sanitized, to its object file.
    units: Mutex<BTreeMap<(usize, bool), Slot>>,
    sanitizers: OnceLock<bool>,
    quick_links_failed: AtomicBool,
    links_with_math: AtomicBool,
}

/// The object file, if it exists; locked during compilation.
type Slot = Arc<Mutex<Option<PathBuf>>>;

impl UnitObjects {
    /// Returns a directory that exists until the end of the run.
    pub(crate) fn dir(&self) -> Result<PathBuf, EmitError> {
        let mut dir = locked(&self.0.dir);
        if let Some(dir) = dir.as_ref() {
            return Ok(dir.path().to_path_buf());
        }
        let made = tempfile::tempdir().map_err(EmitError::io(&std::env::temp_dir()))?;
        Ok(dir.insert(made).path().to_path_buf())
    }

    /// Returns the object file of a unit, and compiles it if needed. A failed compilation is tried again.
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

    /// Returns true if sanitized programs can be built and run.
    pub(crate) fn has_sanitizers(&self, compiler: &Compiler) -> bool {
        *self.0.sanitizers.get_or_init(|| compiler.has_sanitizers())
    }

    /// Returns true if a quick link of the run failed.
    pub(crate) fn quick_links_failed(&self) -> bool {
        self.0.quick_links_failed.load(Ordering::Relaxed)
    }

    /// Returns true if a program of the run could not be linked without the mathematical library.
    pub(crate) fn links_with_math(&self) -> bool {
        self.0.links_with_math.load(Ordering::Relaxed)
    }

    /// Links all further programs of the run with the mathematical library.
    pub(crate) fn link_with_math(&self) {
        self.0.links_with_math.store(true, Ordering::Relaxed);
    }

    /// Links all further programs of the run as usual.
    pub(crate) fn give_up_quick_links(&self) {
        self.0.quick_links_failed.store(true, Ordering::Relaxed);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
