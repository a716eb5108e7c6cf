//! Tests on the user's JVM: whether the real classes do what was predicted.

use crate::java::suite::{test_class, test_method, unwritable};
use crate::java::target::JavaTarget;
use crate::{EmitError, Replayed};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use touchstone_criteria::{Disagreement, NotCheckable, Replay, TestCase};

/// Compiles the class that has the tests of a method, and runs them in one JVM.
pub fn replay_java(
    suite: &Path,
    function: &str,
    target: &JavaTarget,
    tests: &[TestCase],
    progress: &mut dyn FnMut(usize),
) -> Result<Replayed, EmitError> {
    let Some(method) = target.methods.get(function) else { return Ok(Replayed::default()) };
    let scratch = target.jvm.scratch().map_err(EmitError::io(suite))?;
    // The JVM is in a directory of its own.
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string();
    let class = match method.package.is_empty() {
        true => test_class(suite),
        false => format!("{}.{}", method.package, test_class(suite)),
    };
    let path: Vec<_> = target.class_path.iter().chain([&target.shim]).map(|part| absolute(part)).collect();
    let limit = Duration::from_secs(target.limits.seconds.into());
    let names: Vec<String> = tests.iter().map(|test| test_method(method, test)).collect();
    let left_out = tests.iter().zip(&names).filter_map(|(test, name)| Some((name.clone(), unwritable(test)?)));
    let mut verdicts: BTreeMap<String, Replay> =
        left_out.map(|(name, why)| (name, Replay::NotCheckable(NotCheckable::NotWritten(why.to_string())))).collect();
    let (mut given_up, began) = (None, Instant::now());
    loop {
        let open: Vec<&str> = names.iter().map(String::as_str).filter(|name| !verdicts.contains_key(*name)).collect();
        if open.is_empty() || given_up.is_some() {
            break;
        }
        if began.elapsed() > Duration::from_secs(target.limits.total_seconds.into()) {
            open.iter()
                .for_each(|name| drop(verdicts.insert(name.to_string(), Replay::NotCheckable(NotCheckable::Timeout))));
            break;
        }
        let request = [
            absolute(suite),
            scratch.path().display().to_string(),
            path.join(":"),
            class.clone(),
            limit.as_millis().to_string(),
            open.join(","),
        ];
        let mut done = verdicts.len();
        let said = target.jvm.ask(&request.join("\t"), limit, |line| {
            if !line.starts_with("begin ") {
                done += 1;
                progress(done.min(tests.len()));
            }
        });
        let said = said.map_err(|source| EmitError::CannotRun { program: "java".into(), source })?;
        let mut begun = None;
        for answer in &said.answers {
            let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
            let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let verdict = match word {
                "begin" => {
                    begun = Some(name.to_string());
                    continue;
                }
                "compile" => {
                    given_up = Some(rest.to_string());
                    continue;
                }
                "ok" => Replay::Agreed,
                "late" => {
                    let why = format!("it did not end within {} s", limit.as_secs());
                    Replay::Disagreed(Disagreement::CheckFailed(why))
                }
                _ => Replay::Disagreed(Disagreement::CheckFailed(text.to_string())),
            };
            verdicts.insert(name.to_string(), verdict);
        }
        if !said.done {
            // The test that ran took the JVM with it; without one, nothing can be run.
            match begun.filter(|name| !verdicts.contains_key(name)) {
                Some(name) => {
                    let why = "the JVM ended while it ran".to_string();
                    verdicts.insert(name, Replay::Disagreed(Disagreement::CheckFailed(why)));
                }
                None => given_up = Some("the JVM ended".to_string()),
            }
        } else if given_up.is_none() && open.iter().any(|name| !verdicts.contains_key(*name)) {
            given_up = Some("the runner left tests out".to_string());
        }
    }
    let of = |name: &String| match (verdicts.get(name), &given_up) {
        (Some(verdict), _) => verdict.clone(),
        (None, Some(why)) => Replay::NotCheckable(NotCheckable::TestDoesNotCompile(why.clone())),
        (None, None) => Replay::NotRun,
    };
    Ok(Replayed { verdicts: names.iter().map(of).collect(), left_out: BTreeMap::new(), given_up: None })
}
