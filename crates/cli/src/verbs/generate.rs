//! `touchstone generate` and `touchstone prove`: a run from options to an exit code.

use crate::output::exit::Exit;
use crate::output::outputs::{self, Stored};
use crate::output::progress::Display;
use crate::output::query_dump::QueryDump;
use crate::plan::args::{Generate, OutputFormat};
use crate::plan::{cache_location, old_version};
use crate::verbs::interrupt;
use crate::verbs::report::figures_for_thresholds;
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use touchstone_campaign::{BaselineSuite, Notice, Plan, Purpose, Request, SuiteGain, run};
use touchstone_criteria::Criterion;
use touchstone_engine::QueryLog;
use touchstone_report::document::Replay;
use touchstone_report::{Detail, Document, ReportedSuite};

/// Runs `generate`.
pub fn generate(options: &Generate) -> Result<ExitCode> {
    carry_out(options, Purpose::Tests)
}

/// Runs `prove`, which prints verdicts and writes no tests.
pub fn prove(options: &Generate) -> Result<ExitCode> {
    carry_out(options, Purpose::Verdicts)
}

fn carry_out(options: &Generate, purpose: Purpose) -> Result<ExitCode> {
    let criteria = criteria(options)?;
    if options.prune && !(options.update || options.since.is_some() || options.old.is_some()) {
        bail!("--prune removes tests that a change made unnecessary; add --since REV, --old DIR or --update");
    }
    options.outputs.check_criteria(&criteria.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let cache = cache_location::of_campaigns(options.cache.as_deref());
    let old = old_version::find(options)?;
    let dump = options.dump_queries.as_deref().map(QueryDump::create).transpose()?.map(Arc::new);
    let query_log = dump.clone().map(|dump| dump as Arc<dyn QueryLog>);
    let tool = std::env::current_exe().ok();
    let request = Request { criteria, tool, cache, old, query_log, ..options.request(purpose) };
    interrupt::on_ctrl_c(Arc::clone(&request.interrupt))?;
    let interrupted = || request.interrupt.load(Ordering::Relaxed);
    let plan = match Plan::new(&request) {
        Err(_) if interrupted() => {
            eprintln!("interrupted while the program was read: nothing was explored");
            return Ok(Exit::Interrupted.into());
        }
        plan => plan?,
    };
    warn(options, &plan.notices);
    let is_resumed = options.resume && !options.quiet;
    if is_resumed && plan.finished_before() > 0 {
        eprintln!("{}", resumed(&plan));
    }
    let finished = run(&plan, &Display::new(options.quiet, plan.tasks.len()))?;
    warn(options, &finished.notices());
    let document = finished.document(&plan);
    if is_resumed && plan.finished_before() == 0 {
        eprintln!("{}", resumed_from_cache(&plan, &document));
    }
    let below = report(options, &plan, &document)?;
    if let Some((dump, directory)) = dump.zip(options.dump_queries.as_ref()) {
        let summary = dump.finish()?;
        if !options.quiet {
            eprintln!("{summary}; written to {}", directory.display());
        }
    }
    if interrupted() && !options.quiet {
        eprintln!("interrupted: the report has the results so far; continue with --resume");
    }
    Ok(verdict(options, &document, interrupted(), below).into())
}

/// Returns the requested criteria. By default, tests are added to a measured suite for all criteria that it was measured for.
fn criteria(options: &Generate) -> Result<Vec<Criterion>> {
    let criteria = match &options.on_top_of {
        Some(suite) if options.criteria.is_empty() => BaselineSuite::criteria(suite)?,
        _ => options.criteria.clone(),
    };
    Ok(if criteria.is_empty() { vec![Criterion::standard()] } else { criteria })
}

/// Returns a message with the number of functions that a resumed run does not explore again.
fn resumed(plan: &Plan) -> String {
    match plan.finished_before() {
        1 => format!("resumed: 1 function was finished, {} to go", plan.tasks.len()),
        finished => format!("resumed: {finished} functions were finished, {} to go", plan.tasks.len()),
    }
}

/// Returns a message for a run without a document to resume: a killed run leaves its finished functions in the cache.
fn resumed_from_cache(plan: &Plan, document: &Document) -> String {
    let known: BTreeSet<&str> =
        document.functions.iter().filter(|function| function.cached).map(|function| function.name.as_str()).collect();
    match (known.len(), plan.request.cache.is_some()) {
        (0, true) => "nothing to resume: every function was explored".to_string(),
        (0, false) => "nothing to resume: every function was explored; a killed run can be resumed from the cache, \
                       which is off (--cache DIR)"
            .to_string(),
        (1, _) => format!("resumed: 1 function was finished, {} explored now", plan.tasks.len().saturating_sub(1)),
        (some, _) => {
            format!("resumed: {some} functions were finished, {} explored now", plan.tasks.len().saturating_sub(some))
        }
    }
}

fn warn(options: &Generate, notices: &[Notice]) {
    for notice in notices.iter().filter(|_| !options.quiet) {
        eprintln!("warning: {notice}");
    }
}

/// Stores the document, prints it, and writes the requested reports.
fn report(options: &Generate, plan: &Plan, document: &Document) -> Result<Exit> {
    let history = outputs::store(plan.out.path(), Stored::Campaign, &plan.stored_document(document))?;
    let text = match options.format {
        OutputFormat::Json => document.to_json(),
        OutputFormat::Text => {
            let style = outputs::style();
            let detail = if options.verbose { Detail::Everything } else { Detail::Short };
            let mut text = touchstone_report::text(document, detail, style);
            // With other forms, the report itself says so.
            let is_replayed = document.tests.iter().any(|test| test.replay != Replay::NotRun);
            let generates = plan.request.purpose == Purpose::Tests && !document.tests.is_empty();
            if generates && !is_replayed && document.forms.is_empty() {
                text += "\nreplay: not run; coverage is predicted\n";
            }
            if let Some(directory) = &options.on_top_of {
                let SuiteGain { before, new, missing } = SuiteGain::of(document);
                let missing =
                    if missing > 0 { format!(", {missing} that a test can cover are not") } else { String::new() };
                text += &format!("\non top of {}: {before} covered before, {new} new{missing}\n", directory.display());
            }
            outputs::fitted(text)
        }
    };
    // The files are written even if standard output is closed.
    let shown = crate::output::stdout::show(if text.ends_with('\n') { text } else { text + "\n" });
    let all = figures_for_thresholds(document, &[]);
    let exit = options.outputs.write(document, all.as_ref(), &history, options.quiet)?;
    shown.map(|()| exit)
}

fn verdict(options: &Generate, document: &Document, interrupted: bool, below: Exit) -> Exit {
    let disagreed = document.tests.iter().any(|test| test.replay == Replay::Disagreed);
    if interrupted {
        Exit::Interrupted
    } else if disagreed || document.kept.iter().any(ReportedSuite::is_broken) {
        Exit::Disagreed
    } else if below != Exit::Done {
        below
    } else if options.strict && document.functions.iter().any(|function| function.objectives.unknown > 0) {
        Exit::Unknowns
    } else {
        Exit::Done
    }
}
