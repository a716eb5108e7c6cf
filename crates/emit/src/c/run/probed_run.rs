//! Runs suites against an instrumented copy of the unit that they test, to observe the probes that each test hits.
//!
//! The suites of a unit begin alike, so they are compiled as one file. If the compiler rejects that file, each suite is
//! compiled alone.

use crate::EmitError;
use crate::c::build::compiler::{BuildVariant, Compiler, compile_other_units};
use crate::c::build::configuration::Build;
use crate::c::build::object_cache::ObjectCache;
use crate::c::files::chunk::SplitChunk;
use crate::c::files::suite_file::chunk_paths;
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
        deadline: Deadline::after(Duration::from_secs(build.limits.total_seconds.into())),
    };
    let mut result = ProbedRun::default();
    for (number, group) in groups(build, probed.tested, &copy, suites)?.into_iter().enumerate() {
        if run.compile_and_run(&group, &format!("group{number}"), &mut result)? || group.parts.len() == 1 {
            continue;
        }
        result.obstacle = None;
        for (index, part) in group.parts.iter().enumerate() {
            let alone = Group { prologue: group.prologue.clone(), parts: vec![part.clone()] };
            run.compile_and_run(&alone, &format!("group{number}_{index}"), &mut result)?;
        }
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

/// Files that begin alike.
struct Group {
    /// The common beginning, with the instrumented copy instead of the unit.
    prologue: String,
    parts: Vec<Part>,
}

/// The tests of one file.
#[derive(Clone)]
struct Part {
    body: String,
    tests: Vec<String>,
    folder: PathBuf,
}

/// Reads the files of all suites, and groups those that begin alike.
fn groups(build: &Build, unit: usize, copy: &Path, suites: &[ProbedSuite]) -> Result<Vec<Group>, EmitError> {
    let source = build.units[unit].path.canonicalize().map_err(EmitError::io(&build.units[unit].path))?;
    let mut groups: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for ProbedSuite { suite, tests } in suites {
        let wanted: BTreeSet<&str> = tests.iter().map(String::as_str).collect();
        let folder = suite.parent().unwrap_or(Path::new(".")).to_path_buf();
        for file in chunk_paths(suite).take_while(|file| file.exists()) {
            let text = std::fs::read_to_string(&file).map_err(EmitError::io(&file))?;
            let SplitChunk { prologue, body, tests } = SplitChunk::new(&text);
            let tests: Vec<String> = tests.into_iter().filter(|name| wanted.contains(name.as_str())).collect();
            if tests.is_empty() {
                continue;
            }
            let prologue = with_copy(prologue, &folder, &source, copy);
            groups.entry(prologue).or_default().push(Part { body: body.to_string(), tests, folder: folder.clone() });
        }
    }
    Ok(groups.into_iter().map(|(prologue, parts)| Group { prologue, parts }).collect())
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
    /// Compiles a group as one file and runs its tests. Returns false if the compiler or the linker rejects it.
    fn compile_and_run(&self, group: &Group, name: &str, result: &mut ProbedRun) -> Result<bool, EmitError> {
        let compiler = self.compiler;
        if self.deadline.is_over() || compiler.target.is_interrupted() {
            result.obstacle.get_or_insert_with(|| "there was no time to run its tests with probes".to_string());
            return Ok(true);
        }
        let bodies = group.parts.iter().map(|part| part.body.as_str());
        let text: String = std::iter::once(group.prologue.as_str()).chain(bodies).collect();
        let file = write(compiler.dir, &format!("{name}.c"), &text)?;
        let mut flags = self.flags.clone();
        // Quoted includes are relative to the original files.
        let folders: BTreeSet<&PathBuf> = group.parts.iter().map(|part| &part.folder).collect();
        for folder in folders {
            flags.extend(["-iquote".to_string(), folder.display().to_string()]);
        }
        let object = compiler.compile(&file, &flags, &[], BuildVariant::Plain, &format!("{name}.o"));
        let linked = object.and_then(|object| {
            let objects: Vec<PathBuf> = std::iter::once(object).chain(self.objects.iter().cloned()).collect();
            compiler.link(&objects, BuildVariant::Plain, name)
        });
        let program = match linked {
            Err(EmitError::DoesNotCompile { stderr, .. }) => {
                result.obstacle.get_or_insert_with(|| first_error(&stderr));
                return Ok(false);
            }
            program => program?,
        };
        let names: Vec<String> = group.parts.iter().flat_map(|part| part.tests.iter().cloned()).collect();
        for (hits, stopped) in self.run(&program, name, &names)? {
            result.hits.extend(hits);
            result.obstacle = result.obstacle.take().or(stopped);
        }
        Ok(true)
    }

    /// Runs tests in one process for each processor, and returns the hits of each test.
    fn run(&self, program: &Path, name: &str, tests: &[String]) -> Result<Vec<ShardResult>, EmitError> {
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
