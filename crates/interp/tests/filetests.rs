//! Runs every `tests/ir/*.ir` file: parses, verifies, round-trips, and compares the behaviour of the interpreter with
//! the expectations in the file. `TOUCHSTONE_BLESS=1` rewrites the expectations instead.

// Tests may read files and the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use touchstone_interp::{End, Event, LimitKind, Limits, Machine, Observer, StateView, Value, started};
use touchstone_ir::filetest::{self, Call, Expectation};
use touchstone_ir::{BranchRole, FuncId, Module, PointId, PointKind, Ty, parse, print, sign_extend, verify};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir")
}

#[test]
fn every_file_test_gives_what_it_expects() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("tests/ir exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ir"))
        .collect();
    files.sort();
    assert!(files.len() >= 12, "only {} file tests found", files.len());
    let bless = std::env::var_os("TOUCHSTONE_BLESS").is_some();
    let mut failures = String::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        match run_file(&text) {
            Err(message) => writeln!(failures, "{name}: {message}").expect("a string"),
            Ok(outcomes) => {
                if bless {
                    let blessed: Vec<Expectation> = outcomes
                        .into_iter()
                        .map(|(expectation, expected)| Expectation { expected, ..expectation })
                        .collect();
                    std::fs::write(&path, filetest::bless(&text, &blessed)).expect("writable");
                    continue;
                }
                for (expectation, got) in outcomes {
                    let Expectation { line, command, subject, expected } = expectation;
                    if got != expected {
                        let line = line + 1;
                        writeln!(
                            failures,
                            "{name}:{line}: {command} {subject}\n  expected {expected}\n  found    {got}"
                        )
                        .expect("a string");
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Returns the actual result for each expectation that this runner knows.
fn run_file(text: &str) -> Result<Vec<(Expectation, String)>, String> {
    let expectations = filetest::expectations(text)?;
    if expectations.is_empty() {
        return Err("no expectation".to_string());
    }
    let expects = |command: &str| expectations.iter().any(|expectation| expectation.command == command);
    let parsed = parse(text);
    let parse_outcome = match &parsed {
        Ok(_) => "ok".to_string(),
        Err(error) if expects("parse") => format!("error {:?}", error.to_string()),
        Err(error) => return Err(error.to_string()),
    };
    let mut module = parsed.unwrap_or_default();
    if parse(&print(&module)).as_ref() != Ok(&module) {
        return Err("printing and parsing gives another module".to_string());
    }
    let errors: Vec<String> = verify(&module).iter().map(|error| format!("error {:?}", error.to_string())).collect();
    if !errors.is_empty() && !expects("verify") {
        return Err(errors.join(", "));
    }
    if errors.is_empty() {
        let limits = Limits { steps: 1_000_000, frames: 1000, heap_bytes: 1 << 24 };
        let show_end = |end: End| format!("start-up: {}", show(&end, None, &module));
        let left = started(&module, limits).map_err(show_end);
        match left {
            Ok(left) => module = left,
            Err(end) => return Err(end),
        }
        let errors = verify(&module);
        if parse(&print(&module)).as_ref() != Ok(&module) || !errors.is_empty() {
            return Err(format!("start-up leaves a bad module: {errors:?}"));
        }
    }
    // Each `verify` line is for one error; the last one takes the rest.
    let mut verify_lines = expectations.iter().filter(|expectation| expectation.command == "verify").count();
    let mut errors_left = &errors[..];
    let mut outcomes = Vec::new();
    for expectation in expectations {
        let outcome = match expectation.command.as_str() {
            "parse" => parse_outcome.clone(),
            "verify" if errors_left.is_empty() => "ok".to_string(),
            "verify" => {
                verify_lines -= 1;
                let count = if verify_lines == 0 { errors_left.len() } else { 1 };
                let (now, later) = errors_left.split_at(count);
                errors_left = later;
                now.join(", ")
            }
            "run" | "trace" if !errors.is_empty() => return Err("a module with errors is not run".to_string()),
            "run" => run(&module, &expectation.call()?)?.0,
            "trace" => run(&module, &expectation.call()?)?.1,
            _ => continue,
        };
        outcomes.push((expectation, outcome));
    }
    Ok(outcomes)
}

struct Recorder<'m> {
    module: &'m Module,
    trace: String,
    output: Vec<u8>,
}

impl Observer for Recorder<'_> {
    fn event(&mut self, event: &Event) {
        let space = if self.trace.is_empty() { "" } else { " " };
        match event {
            Event::Branch { func, block, role, tag, taken } => {
                let tag = tag.map_or(String::new(), |tag| format!("[{}.{}]", tag.decision, tag.condition));
                write!(self.trace, "{space}{func}.{block}{tag}{}={}", role_sign(*role), u8::from(*taken))
            }
            Event::Switch { func, block, role, arm, target } => {
                write!(self.trace, "{space}{func}.{block}{}#{arm}=>{target}", role_sign(*role))
            }
            Event::Indirect { func, block, callee } => write!(self.trace, "{space}{func}.{block}->{callee}"),
            Event::Call(func) => write!(self.trace, "{space}{func}("),
            Event::Return => write!(self.trace, "{space})"),
        }
        .expect("a string");
    }
    fn output(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
    }
    /// Records `fn0.p1=7`, with `none` for an expression without a value; a statement has only its point.
    fn point(&mut self, point: PointId, at: &StateView<'_>) {
        let value = match &self.module.functions[at.func()].points[point].kind {
            PointKind::Statement | PointKind::TooDeep => String::new(),
            PointKind::Value(value)
            | PointKind::Decision(value)
            | PointKind::Store { address: value, .. }
            | PointKind::Condition { value, .. }
            | PointKind::Hazard(value)
            | PointKind::Label { predicate: value, .. } => match at.eval(value) {
                Some(found) => format!("={}", show_value(found, Some(value.ty))),
                None => "=none".to_string(),
            },
        };
        write!(self.trace, " {}.{point}{value}", at.func()).expect("a string");
    }
}

/// Returns the sign that distinguishes a check or a dispatch from an outcome of the path.
fn role_sign(role: BranchRole) -> &'static str {
    match role {
        BranchRole::Condition => "",
        BranchRole::Check => "?",
        BranchRole::Dispatch => "!",
    }
}

/// Returns the end with its output, and the trace.
fn run(module: &Module, call: &Call) -> Result<(String, String), String> {
    let function = module.function_named(&call.function).ok_or_else(|| format!("no function `{}`", call.function))?;
    let limits = Limits { steps: 1_000_000, frames: 1000, heap_bytes: 1 << 24 };
    let machine = Machine::new(module, limits);
    let outcome = run_in(machine.clone(), module, function, call);
    let defined = run_in(machine.without_decoding(), module, function, call);
    match outcome == defined {
        true => Ok((outcome.0, outcome.1)),
        false => Err(format!("decoded code gives {outcome:?}, its definition {defined:?}")),
    }
}

/// Returns the end with its output, the trace, and the number of steps.
fn run_in(mut machine: Machine<'_>, module: &Module, function: FuncId, call: &Call) -> (String, String, u64) {
    let provided = |bytes: &Vec<u8>| touchstone_interp::Provided {
        source: touchstone_ir::InputSource::Request,
        name: String::new(),
        bytes: bytes.clone(),
        pointers: Vec::new(),
    };
    machine.provide_inputs(call.inputs.iter().map(provided).collect());
    let args: Vec<Value> = call.args.iter().map(|&arg| Value::Int(arg)).collect();
    let mut recorder = Recorder { module, trace: String::new(), output: Vec::new() };
    let end = machine.call(function, &args, &mut recorder);
    let mut outcome = show(&end, module.functions[function].result, module);
    if !recorder.output.is_empty() {
        write!(outcome, " output {:?}", String::from_utf8_lossy(&recorder.output)).expect("a string");
    }
    (outcome, recorder.trace, machine.steps_taken())
}

fn show(end: &End, ty: Option<Ty>, module: &Module) -> String {
    let place = |span: &touchstone_base::Span| match span.is_some() {
        true => format!(" at {}", span.display(&module.files)),
        false => String::new(),
    };
    match end {
        End::Returned(None) => "void".to_string(),
        End::Returned(Some(value)) => show_value(*value, ty),
        End::Exited(status) => format!("exit {status}"),
        End::Error { kind, span } => format!("error \"{kind}\"{}", place(span)),
        End::Threw { class, .. } => format!("threw {:?}", module.class_name(*class)),
        End::Assumed => "assumed".to_string(),
        End::Hung => "hung".to_string(),
        End::Limit(LimitKind::Steps) => "limit steps".to_string(),
        End::Limit(LimitKind::Frames) => "limit frames".to_string(),
        End::Limit(LimitKind::Memory) => "limit memory".to_string(),
        End::Unsupported { what, span } => format!("unsupported {what:?}{}", place(span)),
    }
}

fn show_value(value: Value, ty: Option<Ty>) -> String {
    match (value, ty) {
        (Value::Undefined, _) => "undefined".to_string(),
        (Value::Ptr(pointer), _) => format!("pointer + {}", { pointer.offset }),
        (Value::Int(0), Some(Ty::Ptr)) => "null".to_string(),
        (Value::Int(value), Some(Ty::Int(bits))) if bits > 1 => sign_extend(value, bits).to_string(),
        (Value::Int(value), _) => value.to_string(),
    }
}
