//! Runs suites against an instrumented copy of the unit that they test, to observe the probes that each test hits.
//!
//! The suites of a unit are compiled as one file where that is possible (`merged_suites.rs`). If the compiler rejects that
//! file, its halves are tried.

use crate::EmitError;
use crate::c::build::compiler::{BuildVariant, Compiler, compile_other_units};
use crate::c::build::configuration::Build;
use crate::c::build::object_cache::ObjectCache;
use crate::c::run::merged_suites::{MergedFile, merge};
use crate::c::run::suite_replay::run_tests;
use crate::tap::ProbeHits;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_ir::Module;

/// A program with probes.
pub struct ProbedProgram<'a> {
    /// The unit that the tests include, as an index into [`Build::units`].
    pub tested: usize,
    /// The instrumented copies of units, with their indices. One of them is the tested unit.
    pub copies: Vec<(usize, &'a str)>,
    /// The C source of the runtime that prints the probes that a test hit.
    pub runtime: &'a str,
}

/// A suite to run.
pub struct ProbedSuite {
    /// Its first file.
    pub suite: PathBuf,
    /// The tests to run.
    pub tests: Vec<String>,
}

/// The result of a run with probes.
#[derive(Debug, Default)]
pub struct ProbedRun {
    /// The probes that each test hit.
    pub hits: BTreeMap<String, ProbeHits>,
    /// The first reason why some test is missing.
    pub obstacle: Option<String>,
}

/// Compiles the suites of a unit against its instrumented copy, and runs them.
pub fn run_with_probes(
    build: &Build,
    module: &Module,
    probed: &ProbedProgram<'_>,
    suites: &[ProbedSuite],
) -> Result<ProbedRun, EmitError> {
    let dir = tempfile::tempdir().map_err(EmitError::io(&std::env::temp_dir()))?;
    let compiler = Compiler { target: build, module, dir: dir.path() };
    let mut objects = match other_objects(&compiler, probed) {
        Err(EmitError::DoesNotCompile { stderr, .. }) => return Ok(ProbedRun::stopped(first_error(&stderr))),
        objects => objects?,
    };
    objects.extend(build.sandbox.objects(&compiler)?);
    objects.push(runtime_object(&compiler, probed.runtime)?);
    let own = probed.copies.iter().find(|(unit, _)| *unit == probed.tested);
    let copy = write(dir.path(), "probed_unit.c", own.map_or("", |(_, text)| *text))?;
    let run = Run {
        compiler: &compiler,
        objects: &objects,
        flags: without_macros(&build.units[probed.tested].flags),
        deadline: Deadline::wall_clock(Some(Duration::from_secs(build.limits.total_seconds.into()))),
    };
    let mut result = ProbedRun::default();
    for (number, merged) in merged_files(build, probed.tested, &copy, suites)?.iter().enumerate() {
        run.run(merged, &format!("group{number}"), &mut result)?;
    }
    Ok(result)
}

/// Returns the compiled runtime of the probes, from the cache if possible.
fn runtime_object(compiler: &Compiler<'_>, text: &str) -> Result<PathBuf, EmitError> {
    const OBJECT: &str = "runtime.o";
    let cache = ObjectCache::new(&compiler.target.cc, &[text], compiler.dir);
    if let Some(entry) = cache.as_ref().and_then(|cache| cache.find(&[OBJECT])) {
        return Ok(entry.join(OBJECT));
    }
    let source = write(compiler.dir, "runtime.c", text)?;
    let object = compiler.compile(&source, &[], &[], BuildVariant::Plain, OBJECT)?;
    cache.iter().for_each(|cache| cache.store(&[(OBJECT, &object)]));
    Ok(object)
}

/// Compiles the units that the tests don't include, with probes if there is an instrumented copy.
fn other_objects(compiler: &Compiler<'_>, probed: &ProbedProgram<'_>) -> Result<Vec<PathBuf>, EmitError> {
    let plain: Vec<usize> = probed.copies.iter().map(|(unit, _)| *unit).chain([probed.tested]).collect();
    let mut objects = compile_other_units(compiler, &plain, BuildVariant::Plain)?;
    for (unit, text) in probed.copies.iter().filter(|(unit, _)| *unit != probed.tested) {
        let source = write(compiler.dir, &format!("probed{unit}.c"), text)?;
        let flags = without_macros(&compiler.target.units[*unit].flags);
        let defines = compiler.target.rename_of_main(compiler.module, *unit);
        objects.push(compiler.compile(&source, &flags, defines, BuildVariant::Plain, &format!("probed{unit}.o"))?);
    }
    Ok(objects)
}

impl ProbedRun {
    pub(crate) fn stopped(why: String) -> ProbedRun {
        ProbedRun { obstacle: Some(why), ..ProbedRun::default() }
    }
}

/// Reads the files of all suites, which include the instrumented copy instead of the unit, and merges those that begin
/// alike.
fn merged_files(build: &Build, unit: usize, copy: &Path, suites: &[ProbedSuite]) -> Result<Vec<MergedFile>, EmitError> {
    let source = build.units[unit].path.canonicalize().map_err(EmitError::io(&build.units[unit].path))?;
    let wanted: Vec<BTreeSet<&str>> =
        suites.iter().map(|suite| suite.tests.iter().map(String::as_str).collect()).collect();
    let paths: Vec<&Path> = suites.iter().map(|suite| suite.suite.as_path()).collect();
    merge(&paths, &|suite, name| wanted[suite].contains(name), &|prologue, folder| {
        with_copy(prologue, folder, &source, copy)
    })
}

/// Replaces the include directive of the unit by that of its instrumented copy.
fn with_copy(prologue: &str, folder: &Path, source: &Path, copy: &Path) -> String {
    let is_source = |line: &str| {
        let name = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
        name.is_some_and(|name| folder.join(name).canonicalize().is_ok_and(|path| path == source))
    };
    let line = |line: &str| match is_source(line) {
        true => format!("#include \"{}\"\n", copy.display()),
        false => format!("{line}\n"),
    };
    prologue.lines().map(line).collect()
}

/// Returns the flags without those that define macros: the copy is preprocessed already, and defines them at its end.
fn without_macros(flags: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match flag.as_str() {
            "-D" | "-U" | "-include" | "-imacros" => drop(flags.next()),
            flag if ["-D", "-U", "-Wp,"].iter().any(|start| flag.starts_with(start)) => {}
            flag => kept.push(flag.to_string()),
        }
    }
    kept
}

/// The context of the runs of one unit.
struct Run<'a> {
    compiler: &'a Compiler<'a>,
    /// The object files of everything but the tests.
    objects: &'a [PathBuf],
    flags: Vec<String>,
    deadline: Deadline,
}

impl Run<'_> {
    /// Compiles a merged file and runs its tests. If the compiler or the linker rejects it, its halves are tried.
    fn run(&self, merged: &MergedFile, name: &str, result: &mut ProbedRun) -> Result<(), EmitError> {
        let compiler = self.compiler;
        if self.deadline.is_over() || compiler.target.is_interrupted() {
            result.obstacle.get_or_insert_with(|| "there was no time to run its tests with probes".to_string());
            return Ok(());
        }
        let file = write(compiler.dir, &format!("{name}.c"), &merged.text())?;
        let mut flags = self.flags.clone();
        flags.extend(merged.include_flags());
        let object = compiler.compile(&file, &flags, &[], BuildVariant::Plain, &format!("{name}.o"));
        let linked = object.and_then(|object| {
            let objects: Vec<PathBuf> = std::iter::once(object).chain(self.objects.iter().cloned()).collect();
            compiler.link(&objects, BuildVariant::Plain, name)
        });
        match linked {
            Ok(program) => {
                for (hits, stopped) in self.run_tests(&program, name, &merged.tests())? {
                    result.hits.extend(hits);
                    result.obstacle = result.obstacle.take().or(stopped);
                }
                Ok(())
            }
            Err(EmitError::DoesNotCompile { stderr, .. }) => {
                let Some(halves) = merged.halves() else {
                    result.obstacle.get_or_insert_with(|| first_error(&stderr));
                    return Ok(());
                };
                let numbered = halves.iter().enumerate();
                numbered.into_iter().try_for_each(|(number, half)| self.run(half, &format!("{name}_{number}"), result))
            }
            Err(error) => Err(error),
        }
    }

    /// Runs tests in one process for each processor, and returns the hits of each test.
    fn run_tests(&self, program: &Path, name: &str, tests: &[String]) -> Result<Vec<ShardResult>, EmitError> {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
        let shard = tests.len().div_ceil(processors).max(50);
        std::thread::scope(|scope| {
            let shards: Vec<_> = tests
                .chunks(shard)
                .enumerate()
                .map(|(number, tests)| {
                    let scratch = self.compiler.dir.join(format!("{name}.scratch{number}"));
                    scope.spawn(move || {
                        let mut hits = BTreeMap::new();
                        let target = self.compiler.target;
                        let stopped = run_tests(program, &scratch, tests, target, self.deadline, &mut |result| {
                            hits.extend(result.hits.map(|probes| (result.name, probes)));
                        })?;
                        Ok((hits, stopped))
                    })
                })
                .collect();
            shards.into_iter().map(|shard| shard.join().expect("invariant: a shard doesn't panic")).collect()
        })
    }
}

/// The probes that each test hit, and the reason if the runner stopped early.
type ShardResult = (BTreeMap<String, ProbeHits>, Option<String>);

fn write(dir: &Path, name: &str, text: &str) -> Result<PathBuf, EmitError> {
    let path = dir.join(name);
    std::fs::write(&path, text).map_err(EmitError::io(&path))?;
    Ok(path)
}

fn first_error(stderr: &str) -> String {
    let line = stderr.lines().find(|line| line.contains("error: ")).or(stderr.lines().next()).unwrap_or_default();
    line.split_once("error: ").map_or(line, |(_, what)| what).trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_define_macros_are_left_out() {
        let flags = ["-DA=1", "-D", "B", "-Iinc", "-include", "x.h", "-UC", "-O2", "-Wp,-DE"].map(str::to_string);
        assert_eq!(without_macros(&flags), ["-Iinc", "-O2"]);
    }
}
