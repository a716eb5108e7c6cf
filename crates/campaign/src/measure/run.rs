//! A command of the user's, with what a language puts before its tools.

use crate::measure::directory::{Earlier, Elsewhere, Measurement, open};
use crate::measure::error::MeasuringError;
use crate::measure::java;
use crate::measure::remark::Remark;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use touchstone_criteria::{STATE, criterion_named};
use touchstone_instrument::{
    AbsoluteCompilerPath, NothingCompiled, ProbeStorage, WrapperSetup, attach_agent, prune_content_cache, trim_traces,
};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Measuring {
    /// Criteria by name.
    pub criteria: Vec<String>,
    /// Where records and hits go; from the root.
    pub out: PathBuf,
    /// What probes keep.
    pub keeps: ProbeStorage,
    /// Tests say what they leave behind, so that assertions can be suggested.
    pub suggest: bool,
    /// What becomes of what an earlier measurement left.
    pub earlier: Earlier,
    /// The command that builds and runs the tests.
    pub command: Vec<String>,
    /// What it finds around it.
    pub surroundings: Surroundings,
}

impl Measuring {
    /// An error if something is asked for that can't be measured.
    pub fn check(&self) -> Result<(), MeasuringError> {
        match self.criteria.iter().find(|name| criterion_named(name).is_none() && *name != STATE) {
            Some(name) => Err(MeasuringError::Criterion { name: name.clone() }),
            None => Ok(()),
        }
    }
}

/// What a measured command finds around it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The program that has the verb `cc`.
    pub program: PathBuf,
    /// Where programs are searched.
    pub path: OsString,
    /// Where things may stay from one measurement to the next.
    pub cache: Option<PathBuf>,
    /// What reads sources, if somebody said it already.
    pub reader: Option<OsString>,
    /// Words that name compilers: `CC=cc`.
    pub compilers: Vec<String>,
    /// What JVMs are started with, if they are measured.
    pub jvms: Option<Jvms>,
}

/// What JVMs of a measured command are started with.
#[derive(Clone, Debug)]
pub struct Jvms {
    /// The agent.
    pub agent: PathBuf,
    /// Where the project is.
    pub root: PathBuf,
    /// What the user gives to all JVMs.
    pub options: Option<OsString>,
}

/// A command that was measured.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub status: ExitStatus,
    /// What it left.
    pub measurement: Measurement,
    /// A compiler whose work has no probes.
    pub by_place: Option<AbsoluteCompilerPath>,
}

impl Ran {
    /// Whether nothing was compiled with probes.
    pub fn has_no_unit(&self) -> bool {
        self.measurement.measured.units.is_empty()
    }

    /// What is to be said if executions were to be counted, and were not everywhere.
    pub fn not_counted(&self, asked: ProbeStorage) -> Option<Remark> {
        let units = self.measurement.measured.units.iter().filter(|unit| unit.record.keeps != asked);
        let files: BTreeSet<&str> = units.map(|unit| unit.record.file.as_str()).collect();
        (asked == ProbeStorage::Counts && !files.is_empty()).then_some(Remark::NotCounted { files: files.len() })
    }

    /// An error if nothing was compiled in our sight at all.
    pub fn check(&self) -> Result<(), MeasuringError> {
        match self.has_no_unit() && self.measurement.measured.untouched.is_empty() {
            true => Err(NothingCompiled(self.by_place.clone()).into()),
            false => Ok(()),
        }
    }
}

/// Runs a command with probes in all that it compiles, and reads what they left. `started` is told the process, which it may end.
pub fn measure(request: &Measuring, started: &dyn Fn(u32)) -> Result<Ran, MeasuringError> {
    request.check()?;
    let (program, words) = request.command.split_first().ok_or(MeasuringError::NoCommand)?;
    let directory = open(&request.out, request.earlier)?;
    let elsewhere = Elsewhere::prepare(&request.out.join("hits"));
    let mut command = Command::new(program);
    command.args(words);
    let around = &request.surroundings;
    let wrapping = WrapperSetup {
        program: &around.program,
        directory: &request.out,
        criteria: &request.criteria,
        keeps: request.keeps,
        suggest: request.suggest,
        path: &around.path,
        cache: around.cache.as_deref(),
        reader: around.reader.as_deref(),
    };
    let stays = wrapping.wrap_compilers(&mut command)?;
    if let Some(jvms) = &around.jvms {
        attach_agent(&mut command, &jvms.agent, &around.program, &jvms.root, jvms.options.as_deref());
    }
    let mut child =
        command.spawn().map_err(|source| MeasuringError::NotStarted { program: program.clone(), source })?;
    started(child.id());
    let status = child.wait().map_err(|source| MeasuringError::NotEnded { program: program.clone(), source })?;
    drop((stays, elsewhere));
    trim_traces(&request.out);
    around.cache.iter().chain([&request.out]).for_each(|owner| prune_content_cache(owner));
    if let Some(jvms) = &around.jvms {
        java::explain(&request.out, &jvms.root, &request.criteria)?;
    }
    let by_place = AbsoluteCompilerPath::find(&request.command, &around.compilers);
    Ok(Ran { status, measurement: Measurement::read(directory)?, by_place })
}
