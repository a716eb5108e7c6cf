//! The resident clang and an ordinary one give the same AST of a file, in either format.

use super::*;
use crate::clang::ast_reader::{PositionReader, read, read_bytes};
use crate::clang::compact::is_compact;
use crate::clang::dump_pair::{ACTION, read_reply};
use crate::clang::node::AstNode;
use crate::clang::options::Options;
use crate::clang::process::{ClangInput, find, start, words};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A resident clang in a directory of its own.
struct Stays {
    clang: PathBuf,
    socket: PathBuf,
    _running: ClangServer,
    _folder: tempfile::TempDir,
}

impl Stays {
    fn new() -> Stays {
        let folder = tempfile::tempdir().expect("a directory");
        let clang = find(&Options::default()).expect("a clang").program;
        let socket = folder.path().join("s");
        let running = ClangServer::start(&clang, folder.path(), &socket).expect("a clang that stays");
        let begun = Instant::now();
        while !socket.exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Stays { clang, socket, _running: running, _folder: folder }
    }

    /// Returns the whole reply; `None` if clang rejects the file.
    fn says(&self, flags: &[String], input: ClangInput<'_>) -> Option<Vec<u8>> {
        let mut asked = send_request_to(&self.socket, &self.clang, &words(ACTION, flags, input)).expect("an answer");
        let mut said = Vec::new();
        read_reply(&mut asked, &mut said).expect("a socket");
        assert!(matches!(asked.status(), Some(0 | 1)), "{:?}", asked.status());
        (asked.status() == Some(0)).then_some(said)
    }
}

/// The declarations of a file, with file names, and with node ids replaced by the order of their occurrence.
#[derive(Default)]
struct Told {
    files: Vec<String>,
    nodes: Vec<AstNode>,
    ids: BTreeMap<u64, u64>,
}

impl Told {
    fn numbered(mut self) -> String {
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.iter_mut().for_each(|node| self.number(node));
        format!("{:?}\n{}", self.files, nodes.iter().map(|node| format!("{node:?}\n")).collect::<String>())
    }

    fn number(&mut self, node: &mut AstNode) {
        let mentioned = node.decl.as_mut().map(|decl| &mut decl.id);
        for id in [Some(&mut node.id), Some(&mut node.link), mentioned].into_iter().flatten().filter(|id| **id != 0) {
            let next = self.ids.len() as u64 + 1;
            *id = *self.ids.entry(*id).or_insert(next);
        }
        node.inner.iter_mut().chain(&mut node.filler).for_each(|node| self.number(node));
    }
}

/// Reads the AST from an ordinary clang.
fn plainly(flags: &[String], input: ClangInput<'_>) -> Option<String> {
    let clang = find(&Options::default()).expect("a clang");
    let mut run = start(&clang, ACTION, flags, input).expect("a clang");
    let (mut told, mut positions) = (Told::default(), PositionReader::default());
    let output = run.output().expect("an output");
    read(output, &mut positions, |_, node| told.nodes.push(node)).expect("JSON");
    run.finish().expect("an end").ok()?;
    told.files = positions.files.iter().map(ToString::to_string).collect();
    Some(told.numbered())
}

/// Reads the AST from a reply of the resident clang.
fn shortly(said: &[u8]) -> String {
    let (mut told, mut positions) = (Told::default(), PositionReader::default());
    read_bytes(said, &mut positions, |_, node| told.nodes.push(node)).expect("an answer");
    told.files = positions.files.iter().map(ToString::to_string).collect();
    told.numbered()
}

/// Compares both ASTs; returns the reply of the resident clang.
#[track_caller]
fn check(stays: &Stays, file: &Path, flags: &[&str]) -> Option<Vec<u8>> {
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    let said = stays.says(&flags, ClangInput::File(file));
    let plain = plainly(&flags, ClangInput::File(file));
    let Some((said, plain)) = said.clone().zip(plain.clone()) else {
        assert_eq!((said.is_none(), plain.is_none()), (true, true), "{}", file.display());
        return None;
    };
    let short = shortly(&said);
    let differs = plain.lines().zip(short.lines()).find(|(plain, short)| plain != short);
    assert_eq!(differs, None, "{}", file.display());
    assert_eq!(plain.len(), short.len(), "{}", file.display());
    Some(said)
}

#[test]
fn a_clang_that_stays_says_of_every_program_what_another_says() {
    let stays = Stays::new();
    let mut compact = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run")).expect("programs").flatten()
    {
        if entry.path().extension().is_some_and(|extension| extension == "c") {
            let said = check(&stays, &entry.path(), &["-fgnuc-version=6.5.0"]);
            compact += usize::from(said.is_some_and(|said| is_compact(&said)));
        }
    }
    // The compact format supports only clangs with a tested object layout; others print JSON.
    let version = Command::new(&stays.clang).arg("--version").output().expect("a version").stdout;
    if cfg!(target_arch = "x86_64") && String::from_utf8_lossy(&version).contains("version 19.") {
        assert!(compact > 30, "{compact} were told shortly");
    }
}

#[test]
fn words_of_other_alphabets_and_large_numbers_are_told_as_they_are() {
    let stays = Stays::new();
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("größe.c");
    let text = "int größe = 3; const char *s = \"\\0é\\n\"; int c = '\\377';\n\
        unsigned long long u = 18446744073709551615u; long m = -9223372036854775807 - 1; double d = 1e308;\n\
        #define TWICE(x) (x) + (x)\nint f(int a) { return TWICE(a ? größe : TWICE(2)); }\n\
        #line 70 \"other.c\"\nint g(void) { return sizeof(int [3]) > u; }\n";
    std::fs::write(&file, text).expect("a file");
    let said = check(&stays, &file, &[]).expect("C");
    // A damaged reply is an error and never a panic.
    if is_compact(&said) {
        for length in 0..said.len() {
            assert!(read_bytes(&said[..length], &mut PositionReader::default(), |_, _| {}).is_err(), "{length}");
        }
        for damaged in touchstone_base::CorruptedInputs::of(&said).take(300) {
            let _ = read_bytes(&damaged, &mut PositionReader::default(), |_, _| {});
        }
    }
}
