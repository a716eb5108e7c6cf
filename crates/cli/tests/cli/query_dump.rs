//! `--dump-queries`: what is written is SMT-LIB 2, is the same for every number of jobs, and is written once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

/// Questions that only the SAT solver answers: a product of primes, a prime, a table at an index, floats beside a prime.
const PROGRAM: &str = "
#include <math.h>

int factors(unsigned short a, unsigned short b) {
    return a > 1 && b > 1 && (unsigned)a * b == 251u * 65521u;
}

int prime(unsigned short a, unsigned short b) {
    return a > 1 && b > 1 && (unsigned)a * b == 65521u;
}

int same_prime(unsigned short a, unsigned short b) {
    return a > 1 && b > 1 && (unsigned)a * b == 65521u;
}

static const unsigned short squares[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};

int table(unsigned i, unsigned j, unsigned k) {
    return squares[i % 16] * 3u + k * j * k == 1234567u && squares[j % 16] + k * i == 7654321u;
}

int scaled(float x, unsigned short a, unsigned short b) {
    return x * a > 7.5f && a > 1 && b > 1 && (unsigned)a * b == 65521u;
}

int rest(double x, unsigned short a, unsigned short b) {
    return fmod(x, a) > 0.5 && a > 1 && b > 1 && (unsigned)a * b == 65521u;
}
";

fn touchstone(verb: &str, folder: &Path, options: &[&str]) -> Output {
    let arguments: &[&str] = if verb == "generate" { &["--no-replay", "-o", "out"] } else { &[] };
    Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args([verb, "questions.c", "-c", "mcdc"])
        .args(arguments)
        .args(options)
        .current_dir(folder)
        .output()
        .expect("touchstone runs")
}

fn program() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a directory");
    std::fs::write(scratch.path().join("questions.c"), PROGRAM).expect("written");
    scratch
}

/// Returns the files of a dump by name.
fn dump(folder: &Path) -> BTreeMap<String, String> {
    std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("text"))
        })
        .collect()
}

/// An expression of a script.
#[derive(Debug)]
enum Expression {
    Atom(String),
    List(Vec<Expression>),
}

impl Expression {
    fn list(&self) -> &[Expression] {
        match self {
            Expression::List(parts) => parts,
            Expression::Atom(atom) => panic!("{atom} is no list"),
        }
    }

    fn atom(&self) -> &str {
        match self {
            Expression::Atom(atom) => atom,
            Expression::List(parts) => panic!("{parts:?} is no atom"),
        }
    }

    /// Adds all atoms.
    fn atoms<'e>(&'e self, to: &mut Vec<&'e str>) {
        match self {
            Expression::Atom(atom) => to.push(atom),
            Expression::List(parts) => parts.iter().for_each(|part| part.atoms(to)),
        }
    }
}

/// Parses the commands of a script.
fn parse(text: &str) -> Vec<Expression> {
    let mut open: Vec<Vec<Expression>> = vec![Vec::new()];
    for line in text.lines().filter(|line| !line.starts_with(';')) {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let end = match first {
                '(' | ')' => 1,
                '|' => 2 + rest[1..].find('|').expect("a quoted symbol ends"),
                _ => rest.find([' ', '(', ')']).unwrap_or(rest.len()),
            };
            match first {
                '(' => open.push(Vec::new()),
                ')' => {
                    let list = Expression::List(open.pop().expect("an open list"));
                    open.last_mut().expect("no list is closed twice").push(list);
                }
                _ => open.last_mut().expect("a list").push(Expression::Atom(rest[..end].to_string())),
            }
            rest = rest[end..].trim_start();
        }
    }
    assert_eq!(open.len(), 1, "a list is not closed");
    open.pop().expect("the commands")
}

/// Checks a script: every symbol is defined once, before its use, and there is one question. Returns its status.
fn check(text: &str) -> String {
    let (mut symbols, mut status, mut questions) = (BTreeSet::new(), String::new(), 0);
    for command in parse(text) {
        let parts = command.list();
        let check_uses = |part: &Expression, symbols: &BTreeSet<String>| {
            let mut atoms = Vec::new();
            part.atoms(&mut atoms);
            let is_own = |atom: &&str| {
                let numbered = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
                atom.starts_with('|') || atom.strip_prefix(['t', 'm']).is_some_and(numbered)
            };
            for atom in atoms.into_iter().filter(is_own) {
                assert!(symbols.contains(atom), "{atom} is used before its definition: {text}");
            }
        };
        match parts[0].atom() {
            "set-info" if parts[1].atom() == ":status" => status = parts[2].atom().to_string(),
            "set-info" | "exit" => {}
            "set-logic" => assert!(["QF_BV", "QF_ABV", "QF_BVFP", "QF_ABVFP"].contains(&parts[1].atom()), "{text}"),
            "declare-const" => assert!(symbols.insert(parts[1].atom().to_string()), "{text}"),
            "define-fun" => {
                check_uses(&parts[4], &symbols);
                assert!(symbols.insert(parts[1].atom().to_string()), "{text}");
            }
            "assert" => check_uses(&parts[1], &symbols),
            "check-sat" => questions += 1,
            other => panic!("an unexpected command: {other}"),
        }
    }
    assert_eq!(questions, 1, "{text}");
    status
}

/// Removes the CPU time, which is measured.
fn without_cpu(text: &str) -> String {
    let first = text.lines().next().expect("a line");
    let (rest, cpu) = first.split_once(", CPU ").expect("the CPU time");
    assert!(cpu.strip_suffix(" s").expect("seconds").parse::<f64>().is_ok(), "{first}");
    text.replacen(first, rest, 1)
}

#[test]
fn dumped_queries_are_smt_lib_with_our_answer_and_the_same_for_every_number_of_jobs() {
    let scratch = program();
    let mut dumps = Vec::new();
    for (jobs, directory) in [("1", "alone"), ("2", "shared")] {
        let output = touchstone("generate", scratch.path(), &["-j", jobs, "--dump-queries", directory]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{message}");
        let files = dump(&scratch.path().join(directory));
        assert!(message.contains(&format!("{} hard queries: ", files.len())), "{message}");
        dumps.push(files);
    }
    let strip = |files: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        files.iter().map(|(name, text)| (name.clone(), without_cpu(text))).collect()
    };
    assert_eq!(strip(&dumps[0]), strip(&dumps[1]));
    let mut statuses = BTreeSet::new();
    for (name, text) in &dumps[0] {
        assert!(name.len() == 37 && name.ends_with(".smt2"), "{name}");
        let status = check(text);
        // Without the meaning of `fmod`, a proof is no status of the file.
        let answer = if text.contains("; SMT-LIB lacks fmod") { "unsat" } else { &status };
        assert!(text.starts_with(&format!("; Touchstone's answer: {answer}, work ")), "{text}");
        statuses.insert(status);
    }
    assert_eq!(statuses, ["sat", "unknown", "unsat"].map(str::to_string).into(), "{:#?}", dumps[0]);
    let all: String = dumps[0].values().cloned().collect();
    for part in ["(set-logic QF_BV)", "(set-logic QF_ABV)", "(set-logic QF_BVFP)", "(declare-const |a| (_ BitVec 16))"]
    {
        assert!(all.contains(part), "no query has {part}: {all}");
    }
    // The same question of two functions is one file.
    let is_prime =
        |text: &&String| text.contains("#x0000fff1") && text.contains("QF_BV)") && text.contains("status unsat");
    let primes = dumps[0].values().filter(is_prime).count();
    assert_eq!(primes, 1, "{all}");
}

#[test]
fn a_dump_asks_everything_again_although_results_are_in_the_cache() {
    let scratch = program();
    let options = ["-f", "prime", "--cache", "cache", "--quiet"];
    for verb in ["generate", "prove"] {
        for round in ["first", "second"] {
            let directory = format!("{verb}-{round}");
            let dumped: Vec<&str> = options.iter().copied().chain(["--dump-queries", &directory]).collect();
            let output = touchstone(verb, scratch.path(), &dumped);
            assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(!dump(&scratch.path().join(&directory)).is_empty(), "{directory}");
            // Fills the cache.
            assert!(touchstone(verb, scratch.path(), &options).status.success());
        }
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_before_the_search() {
    let scratch = program();
    let output = touchstone("generate", scratch.path(), &["--dump-queries", "questions.c"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{message}");
    assert!(message.contains("questions.c") && message.contains("--dump-queries"), "{message}");
    assert!(!scratch.path().join("out").join("campaign.json").exists());
}
