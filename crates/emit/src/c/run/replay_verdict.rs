//! Verdicts of the replay: compares the result of a run with the prediction.

use crate::c::build::compiler::BuildVariant;
use crate::c::run::sanitizer_report::{Finding, SanitizerReport, reports};
use crate::tap::TapResult;
use touchstone_base::{Files, Span};
use touchstone_criteria::{Disagreement, NotCheckable, Outcome, Replay, TestCase};
use touchstone_ir::ErrorKind;

/// Returns the verdict on one test.
pub(crate) fn verdict(test: &TestCase, result: &TapResult, variant: BuildVariant, files: &Files) -> Replay {
    if result.end.starts_with("signal 31 ") {
        // The guard names the call, unless the library has blocked all signals, as in `system`.
        return Replay::NotCheckable(NotCheckable::SystemCall);
    }
    match &test.outcome {
        Outcome::Error { kind, span } => error_verdict(test, (*kind, *span), result, variant, files),
        Outcome::OracleRejected => match (&result.skipped, result.ok) {
            (Some(why), _) => skipped(test, why),
            (None, true) => Replay::Disagreed(Disagreement::OracleAccepted),
            (None, false) if result.message == "oracle rejected" => Replay::Agreed,
            (None, false) => Replay::Disagreed(Disagreement::CheckFailed(full_message(result))),
        },
        Outcome::Returned | Outcome::Exited(_) | Outcome::Hung | Outcome::Threw { .. } => {
            match (&result.skipped, result.ok) {
                (Some(why), _) => skipped(test, why),
                (None, true) => Replay::Agreed,
                (None, false) => Replay::Disagreed(Disagreement::CheckFailed(full_message(result))),
            }
        }
    }
}

/// Returns all failures, and the first line on standard error if the process died.
fn full_message(result: &TapResult) -> String {
    let mut message = result.message.clone();
    for failure in &result.also {
        message.push_str("; ");
        message.push_str(failure);
    }
    if !result.end.is_empty()
        && result.end != "returned"
        && let Some(line) = result.stderr.iter().find(|line| !line.trim().is_empty() && !line.starts_with("===="))
    {
        message.push_str(&format!(" (standard error: {line})"));
    }
    message
}

/// Returns the verdict on a test that skipped itself: for a known reason, because of the sandbox
/// (`runtime/sandbox/touchstone_guard.c`), or because it could not be expressed.
fn skipped(test: &TestCase, why: &str) -> Replay {
    Replay::NotCheckable(match &test.replayed {
        Replay::NotCheckable(known) if known.to_string() == why => known.clone(),
        _ if why.starts_with("calls `") || why == "can't be kept in" => NotCheckable::Sandbox(why.to_string()),
        _ => NotCheckable::NotWritten(why.to_string()),
    })
}

fn error_verdict(
    test: &TestCase,
    (kind, span): (ErrorKind, Span),
    result: &TapResult,
    variant: BuildVariant,
    files: &Files,
) -> Replay {
    // A skip without an end is a test that could not be expressed; with an end, the plain build observed nothing.
    if let (Some(why), true) = (&result.skipped, result.end.is_empty()) {
        return skipped(test, why);
    }
    if kind == ErrorKind::Uninitialised {
        return Replay::NotCheckable(NotCheckable::Uninitialised);
    }
    if result.end == "time-out" || result.message.starts_with("input ") || result.message.starts_with("an assumption") {
        return Replay::Disagreed(Disagreement::ErrorNotReached(kind, result.message.clone()));
    }
    let reports = reports(&result.stderr);
    // Reports of declared bounds are only hints: they occur where an address is computed, and are harmless inside of an
    // object.
    let fitting: Vec<&SanitizerReport> = reports.iter().filter(|report| fits(kind, report)).collect();
    let locations: Vec<Replay> = fitting.iter().map(|report| check_location(kind, span, report, files)).collect();
    if locations.contains(&Replay::Agreed) {
        return Replay::Agreed;
    }
    if let Some(index) = fitting.iter().position(|report| !is_bounds(report)) {
        return locations[index].clone();
    }
    if fits_end(kind, &result.end) && reports.iter().all(is_bounds) {
        return Replay::Agreed;
    }
    if let Some(other) = reports.iter().find(|report| !is_bounds(report)) {
        if matches!(kind, ErrorKind::OutOfBounds | ErrorKind::Dangling) {
            return Replay::NotCheckable(NotCheckable::ReportedLater(shown(other)));
        }
        return Replay::Disagreed(Disagreement::OtherError(kind, span.display(files), shown(other)));
    }
    match kind {
        ErrorKind::InvalidPointer | ErrorKind::Unreachable => Replay::NotCheckable(NotCheckable::InvisibleError(kind)),
        // Far outside of its object, an access may hit other memory of the program unnoticed.
        ErrorKind::OutOfBounds | ErrorKind::Dangling | ErrorKind::InvalidFree if variant == BuildVariant::Plain => {
            Replay::NotCheckable(NotCheckable::NoSanitizers(kind))
        }
        ErrorKind::OutOfBounds | ErrorKind::Dangling if result.end == "returned" || result.end == "exit 0" => {
            Replay::NotCheckable(NotCheckable::NotReported)
        }
        _ => {
            let end = if result.end.is_empty() { &result.message } else { &result.end };
            Replay::Disagreed(Disagreement::OtherEnd(kind, span.display(files), end.clone()))
        }
    }
}

/// Returns true if the report is of this kind of error.
fn fits(kind: ErrorKind, report: &SanitizerReport) -> bool {
    match (kind, &report.finding) {
        (ErrorKind::Assert, Finding::Assertion) => true,
        (ErrorKind::DivisionByZero, Finding::Undefined(what)) => what.contains("division by zero"),
        (ErrorKind::DivisionByZero, Finding::Address(word)) => word == "FPE",
        (ErrorKind::Unreachable, Finding::Undefined(what)) => what.contains("unreachable"),
        (ErrorKind::OutOfBounds, Finding::Undefined(_)) => is_bounds(report),
        (ErrorKind::NullPointer | ErrorKind::ReadOnly, Finding::Address(word)) => word == "SEGV",
        (ErrorKind::OutOfBounds | ErrorKind::Dangling | ErrorKind::InvalidPointer, Finding::Address(word)) => {
            word != "FPE" && word != "ABRT"
        }
        (ErrorKind::InvalidFree, Finding::Address(word)) => word.contains("free"),
        _ => false,
    }
}

/// Returns true if the end of the process is that of this kind of error, in the absence of a report.
fn fits_end(kind: ErrorKind, end: &str) -> bool {
    let signal = |number: u32| end.starts_with(&format!("signal {number} "));
    let (aborted, division, bus, access) = (signal(6), signal(8), signal(7), signal(11));
    match kind {
        ErrorKind::Abort => aborted,
        // glibc checks its heap itself.
        ErrorKind::InvalidFree => aborted || access,
        ErrorKind::DivisionByZero => division,
        ErrorKind::NullPointer
        | ErrorKind::OutOfBounds
        | ErrorKind::Dangling
        | ErrorKind::InvalidPointer
        | ErrorKind::ReadOnly => access || bus,
        ErrorKind::Assert | ErrorKind::Uninitialised | ErrorKind::Unreachable => false,
    }
}

/// Returns true for reports of declared array bounds, after which the run continues.
fn is_bounds(report: &SanitizerReport) -> bool {
    matches!(&report.finding, Finding::Undefined(what) if what.contains("out of bounds"))
}

/// Compares the innermost location in the predicted file with the predicted one. If the error is inside of the library,
/// or the report has no locations, they agree trivially.
fn check_location(kind: ErrorKind, span: Span, report: &SanitizerReport, files: &Files) -> Replay {
    let Some(path) = files.get(span.file).filter(|_| span.is_some()) else { return Replay::Agreed };
    let file = path.rsplit('/').next().unwrap_or(path);
    match report.locations.iter().find(|location| location.file == file) {
        Some(location) if location.line < span.line || location.line > span.end_line.max(span.line) => {
            Replay::Disagreed(Disagreement::OtherLine(kind, span.display(files), location.line))
        }
        _ => Replay::Agreed,
    }
}

fn shown(report: &SanitizerReport) -> String {
    let what = match &report.finding {
        Finding::Address(word) => word.as_str(),
        Finding::Undefined(what) => what.as_str(),
        Finding::Assertion => "a failed assertion",
    };
    match report.locations.first() {
        Some(location) => format!("{what} at {}:{}", location.file, location.line),
        None => what.to_string(),
    }
}
