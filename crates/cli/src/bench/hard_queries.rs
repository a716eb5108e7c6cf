//! `touchstone bench solver` compares our answers to hard queries with those of other SMT solvers.
//!
//! The queries are those that reach the SAT solver in a search (`--dump-queries`). Our CPU time is that of the search,
//! which knows earlier models and clauses; a peer reads a file and answers it from the start. Two answers that
//! contradict each other are an error.

use super::query_sources::{QUERY_SOURCES, QuerySource};
use super::smt_peers::{PeerAnswer, SMT_PEERS};
use crate::output::exit::Exit;
use crate::output::stdout::say;
use crate::plan::args::{Bench, OutputFormat};
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The maximum number of queries of one program, those with the most work.
const MAX_QUERIES_PER_PROGRAM: usize = 20;

/// A query is listed if a solver takes this many seconds.
const LISTED_SECONDS: f64 = 0.1;

/// A query with all answers.
#[derive(Serialize)]
struct QueryRow {
    program: &'static str,
    query: String,
    /// Our answer about the script: a proof does not count if the script lacks the meaning of an operation.
    #[serde(skip)]
    status: String,
    answer: String,
    /// The work time of our answer.
    work_seconds: f64,
    cpu_seconds: f64,
    /// The answers of the peers that could be installed.
    peers: BTreeMap<&'static str, PeerAnswer>,
    #[serde(skip)]
    path: PathBuf,
}

/// Runs the benchmark.
pub fn hard_queries(options: &Bench) -> Result<Exit> {
    let scratch = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for source in QUERY_SOURCES.iter().filter(|source| source.quick || !options.quick) {
        let queries = dumped(source, scratch.path()).with_context(|| format!("bench solver: {}", source.name))?;
        if queries.len() > MAX_QUERIES_PER_PROGRAM {
            eprintln!("{}: the {MAX_QUERIES_PER_PROGRAM} hardest of {} queries", source.name, queries.len());
        }
        rows.extend(queries.into_iter().take(MAX_QUERIES_PER_PROGRAM));
    }
    let paths: Vec<PathBuf> = rows.iter().map(|row| row.path.clone()).collect();
    for peer in &SMT_PEERS {
        match peer.install(scratch.path()) {
            Ok(environment) => {
                for (row, answer) in rows.iter_mut().zip(peer.answers(&environment, &paths)?) {
                    row.peers.insert(peer.name, answer);
                }
            }
            Err(error) => eprintln!("{} is missing: {error:#}", peer.name),
        }
    }
    match options.format {
        OutputFormat::Json => say!("{}", serde_json::to_string_pretty(&rows)?),
        OutputFormat::Text => table(&rows)?,
    }
    Ok(verdict(&rows))
}

/// Returns the queries of a program, those with the most work first.
fn dumped(source: &QuerySource, scratch: &Path) -> Result<Vec<QueryRow>> {
    let folder = scratch.join("programs").join(source.name);
    std::fs::create_dir_all(&folder)?;
    for (name, text) in source.files {
        std::fs::write(folder.join(name), text)?;
    }
    let own = std::env::current_exe().context("can't find this program itself")?;
    let output = Command::new(own)
        .arg("generate")
        .args(source.sources())
        .args(source.arguments.split(' '))
        .args(["--no-replay", "--cache", "off", "--dump-queries", "queries", "-o", "out", "--quiet"])
        .current_dir(&folder)
        .output()?;
    // Verdicts that stay open are no failure of the benchmark.
    let is_done = matches!(output.status.code(), Some(0 | 2..=4));
    ensure!(is_done, "{}", String::from_utf8_lossy(&output.stderr));
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(folder.join("queries"))? {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path)?;
        rows.push(row(source.name, path, &text).context("a dumped query lacks its answer")?);
    }
    rows.sort_by(|a, b| b.work_seconds.total_cmp(&a.work_seconds).then_with(|| a.query.cmp(&b.query)));
    Ok(rows)
}

/// Reads our answer from the comment and the status of a query.
fn row(program: &'static str, path: PathBuf, text: &str) -> Option<QueryRow> {
    let mut answer = text.lines().next()?.strip_prefix("; Touchstone's answer: ")?.split(", ");
    let word = answer.next()?.to_string();
    let mut seconds = |name: &str| answer.next()?.strip_prefix(name)?.trim_end_matches(" s").trim().parse::<f64>().ok();
    let (work_seconds, cpu_seconds) = (seconds("work ")?, seconds("CPU ")?);
    let status = text.lines().find_map(|line| line.strip_prefix("(set-info :status ")?.strip_suffix(')'))?.to_string();
    let query = path.file_stem()?.to_str()?.chars().take(8).collect();
    Some(QueryRow { program, query, status, answer: word, work_seconds, cpu_seconds, peers: BTreeMap::new(), path })
}

fn table(rows: &[QueryRow]) -> Result<()> {
    let names: Vec<&str> = SMT_PEERS.iter().map(|peer| peer.name).collect();
    let header: String = names.iter().map(|name| format!(" {name:>9} {:>8}", "CPU s")).collect();
    say!("{:<16} {:<8} {:>9} {:>8}{header}", "program", "query", "ours", "CPU s");
    let slowest = |row: &QueryRow| row.peers.values().map(|peer| peer.cpu_seconds).fold(row.cpu_seconds, f64::max);
    for row in rows.iter().filter(|row| slowest(row) >= LISTED_SECONDS) {
        let peers: String = names
            .iter()
            .map(|name| match row.peers.get(name) {
                Some(peer) => format!(" {:>9} {:>8.3}", short(&peer.answer), peer.cpu_seconds),
                None => format!(" {:>9} {:>8}", "–", ""),
            })
            .collect();
        say!("{:<16} {:<8} {:>9} {:>8.3}{peers}", row.program, row.query, row.answer, row.cpu_seconds);
    }
    let sums: String = names
        .iter()
        .map(|name| match rows.iter().map(|row| Some(row.peers.get(name)?.cpu_seconds)).sum::<Option<f64>>() {
            Some(sum) => format!(" {:>9} {sum:>8.3}", ""),
            None => format!(" {:>9} {:>8}", "–", ""),
        })
        .collect();
    let ours: f64 = rows.iter().map(|row| row.cpu_seconds).sum();
    say!("{:<16} {:<8} {:>9} {ours:>8.3}{sums}", format!("all {} queries", rows.len()), "", "");
    say!(
        "queries that take a solver {LISTED_SECONDS} s are listed; ours are answered within a search, those of others from the start"
    );
    Ok(())
}

/// The answer, or a word for an error or a timeout.
fn short(answer: &str) -> &str {
    match answer {
        "sat" | "unsat" | "unknown" => answer,
        "timeout" | "canceled" => "unknown",
        _ => "error",
    }
}

/// Reports contradictions.
fn verdict(rows: &[QueryRow]) -> Exit {
    let mut exit = Exit::Done;
    for row in rows {
        for (name, peer) in &row.peers {
            let contradiction =
                matches!((row.status.as_str(), peer.answer.as_str()), ("sat", "unsat") | ("unsat", "sat"));
            if contradiction {
                eprintln!("{} {}: {}, but {name} says {}", row.program, row.query, row.status, peer.answer);
                exit = Exit::Disagreed;
            } else if short(&peer.answer) == "error" {
                eprintln!("{} {}: {name} says {}", row.program, row.query, peer.answer);
                exit = Exit::Disagreed;
            }
        }
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(answer: &str, status: &str) -> QueryRow {
        let text =
            format!("; Touchstone's answer: {answer}, work 0.250000 s, CPU 0.125000 s\n(set-info :status {status})\n");
        row("factors", PathBuf::from("queries/0123456789abcdef.smt2"), &text).expect("a query")
    }

    #[test]
    fn the_answer_and_its_cost_are_read_from_a_query() {
        let row = parsed("unsat", "unknown");
        assert_eq!((row.query.as_str(), row.answer.as_str(), row.status.as_str()), ("01234567", "unsat", "unknown"));
        assert_eq!((row.work_seconds, row.cpu_seconds), (0.25, 0.125));
    }

    #[test]
    fn contradictions_and_errors_of_peers_are_errors_and_open_answers_are_not() {
        let check = |status: &str, peer: &str, expected: Exit| {
            let mut row = parsed("sat", status);
            row.peers.insert("z3", PeerAnswer { answer: peer.to_string(), cpu_seconds: 0.1 });
            assert_eq!(verdict(&[row]), expected, "{status} {peer}");
        };
        check("sat", "sat", Exit::Done);
        check("unknown", "sat", Exit::Done);
        check("unsat", "unknown", Exit::Done);
        check("unsat", "timeout", Exit::Done);
        check("sat", "unsat", Exit::Disagreed);
        check("unsat", "sat", Exit::Disagreed);
        check("sat", "error: no memory", Exit::Disagreed);
    }
}
