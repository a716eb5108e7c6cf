//! C programs as modules, lowered with the headers of the library models.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use touchstone_front_c::{Options, lower_files, write_headers};
use touchstone_ir::Module;

/// Modules by their files and compiler flags.
type LoweredModules = HashMap<(Vec<PathBuf>, Vec<String>), Arc<Module>>;

/// The modules of the examples that were lowered, by files and flags.
static EXAMPLES: Mutex<Option<LoweredModules>> = Mutex::new(None);

/// Lowers files with compiler flags.
pub fn lower(files: &[PathBuf], flags: Vec<String>) -> Module {
    let headers = tempfile::tempdir().expect("a scratch directory");
    write_headers(headers.path()).expect("headers");
    let options = Options { flags, include_dir: Some(headers.path().to_path_buf()), ..Options::default() };
    lower_files(files, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Lowers one file.
pub fn lower_file(file: &Path) -> Module {
    lower(&[file.to_path_buf()], Vec::new())
}

/// Lowers the text of a program.
pub fn lower_text(text: &str) -> Module {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("program.c");
    std::fs::write(&file, text).expect("a writable scratch directory");
    lower_file(&file)
}

/// Lowers files that do not change while the tests run. Several tests go through all examples, and clang reads each of
/// them once.
pub fn lower_once(files: &[PathBuf], flags: Vec<String>) -> Arc<Module> {
    let key = (files.to_vec(), flags);
    let known = EXAMPLES.lock().expect("no test panics with the lock").get_or_insert_default().get(&key).cloned();
    known.unwrap_or_else(|| {
        let module = Arc::new(lower(files, key.1.clone()));
        let mut all = EXAMPLES.lock().expect("no test panics with the lock");
        Arc::clone(all.get_or_insert_default().entry(key).or_insert(module))
    })
}
