//! Runs a command of the user with the compiler wrappers and agents of each language.

use crate::measure::directory::{EarlierMeasurement, Measurement, SharedHitDirectory, open};
use crate::measure::error::MeasuringError;
use crate::measure::java;
use crate::measure::remark::Remark;
use crate::measure::stored_exclusions::stored_exclusions;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use touchstone_criteria::{STATE, criterion_named};
use touchstone_instrument::{
    AbsoluteCompilerPath, NothingCompiled, ProbeStorage, WrapperSetup, attach_agent, prune_content_cache, trim_traces,
};

/// A request for a measurement.
#[derive(Clone, Debug)]
pub struct MeasureRequest {
    /// The names of the criteria.
    pub criteria: Vec<String>,
    /// The directory for records and hits, as an absolute path.
    pub out: PathBuf,
    /// The data that probes store.
    pub keeps: ProbeStorage,
    /// True if tests record the state that they leave, so that assertions can be suggested.
    pub suggest: bool,
    /// The treatment of an earlier measurement.
    pub earlier: EarlierMeasurement,
    /// The command that builds and runs the tests.
    pub command: Vec<String>,
    /// The destination of the command's standard output.
    pub output: CommandOutput,
    /// The environment of the command.
    pub environment: CommandEnvironment,
}

impl MeasureRequest {
    /// Returns an error if a criterion cannot be measured.
    pub fn check(&self) -> Result<(), MeasuringError> {
        match self.criteria.iter().find(|name| criterion_named(name).is_none() && *name != STATE) {
            Some(name) => Err(MeasuringError::Criterion { name: name.clone() }),
            None => Ok(()),
        }
    }
}

/// The destination of the standard output of a measured command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandOutput {
    /// Standard output.
    Inherited,
    /// Standard error, because standard output is reserved for a document.
    StandardError,
}

/// The environment of a measured command.
#[derive(Clone, Debug, Default)]
pub struct CommandEnvironment {
    /// The executable with the verb `cc`.
    pub program: PathBuf,
    /// The search path of executables.
    pub path: OsString,
    /// A directory that persists from one measurement to the next.
    pub cache: Option<PathBuf>,
    /// The clang that reads sources, if it is already configured.
    pub reader: Option<OsString>,
    /// Assignments that name compilers: `CC=cc`.
    pub compilers: Vec<String>,
    /// The options of JVMs, if they are measured.
    pub jvms: Option<JvmOptions>,
}

/// The options of JVMs of a measured command.
#[derive(Clone, Debug)]
pub struct JvmOptions {
    /// The agent library.
    pub agent: PathBuf,
    /// The root of the project.
    pub root: PathBuf,
    /// The user's options for all JVMs.
    pub options: Option<OsString>,
}

/// A command that was measured.
#[derive(Debug)]
pub struct MeasuredRun {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its measurement.
    pub measurement: Measurement,
    /// A compiler that was called by an absolute path, so that its output has no probes.
    pub by_place: Option<AbsoluteCompilerPath>,
}

impl MeasuredRun {
    /// Returns true if nothing was compiled with probes.
    pub fn has_no_unit(&self) -> bool {
        self.measurement.measured.units.is_empty()
    }

    /// Returns a remark if execution counts were requested and are incomplete.
    pub fn not_counted(&self, asked: ProbeStorage) -> Option<Remark> {
        let units = self.measurement.measured.units.iter().filter(|unit| unit.record.keeps != asked);
        let files: BTreeSet<&str> = units.map(|unit| unit.record.file.as_str()).collect();
        (asked == ProbeStorage::Counts && !files.is_empty()).then_some(Remark::NotCounted { files: files.len() })
    }

    /// Returns an error if no compilation was seen at all.
    pub fn check(&self) -> Result<(), MeasuringError> {
        match self.has_no_unit() && self.measurement.measured.untouched.is_empty() {
            true => Err(NothingCompiled(self.by_place.clone()).into()),
            false => Ok(()),
        }
    }
}

/// Runs a command with probes in everything that it compiles, and reads the hits. `started` receives the process id,
/// and may end the process.
pub fn measure(request: &MeasureRequest, started: &dyn Fn(u32)) -> Result<MeasuredRun, MeasuringError> {
    request.check()?;
    let (program, words) = request.command.split_first().ok_or(MeasuringError::NoCommand)?;
    let directory = open(&request.out, request.earlier)?;
    let earlier = match request.earlier {
        EarlierMeasurement::Extended => stored_exclusions(std::slice::from_ref(&request.out)),
        EarlierMeasurement::Deleted => Vec::new(),
    };
    let elsewhere = SharedHitDirectory::prepare(&request.out.join("hits"));
    let mut command = Command::new(program);
    command.args(words);
    if request.output == CommandOutput::StandardError {
        #[expect(clippy::disallowed_methods, reason = "the descriptor is passed on; nothing is written here")]
        command.stdout(std::io::stderr());
    }
    let around = &request.environment;
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
        attach_agent(
            &mut command,
            &jvms.agent,
            &around.program,
            &jvms.root,
            jvms.options.as_deref(),
            &request.criteria,
        );
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
    Ok(MeasuredRun { status, measurement: Measurement::read(directory, earlier)?, by_place })
}
