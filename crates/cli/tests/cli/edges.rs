//! The dependencies between crates, as ARCHITECTURE.md lists them, against cargo's metadata; those between folders; and words that
//! must not occur in some crates.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that each crate of the workspace may use.
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    BTreeMap::from([
        ("base", vec![]),
        ("ir", vec!["base"]),
        ("interp", vec!["base", "ir"]),
        ("criteria", vec!["base", "ir"]),
        ("front-c", vec!["base", "ir"]),
        ("classfile", vec![]),
        ("probes-java", vec!["base", "classfile"]),
        ("agent-java", vec!["base", "classfile", "probes-java"]),
        ("fixture-java", vec!["base"]),
        ("front-java", vec!["base", "ir", "classfile", "fixture-java"]),
        ("solver", vec!["base"]),
        ("engine", vec!["base", "ir", "interp", "criteria", "solver"]),
        ("emit", vec!["base", "ir", "criteria", "fixture-java"]),
        ("instrument", vec!["base", "ir", "criteria", "front-c", "front-java", "probes-java"]),
        ("report", vec!["base", "ir", "criteria"]),
        (
            "campaign",
            vec![
                "base",
                "ir",
                "criteria",
                "front-c",
                "front-java",
                "fixture-java",
                "engine",
                "emit",
                "instrument",
                "report",
            ],
        ),
        (
            "cli",
            vec![
                "base",
                "ir",
                "interp",
                "criteria",
                "front-c",
                "front-java",
                "engine",
                "instrument",
                "report",
                "campaign",
                "agent-java",
            ],
        ),
    ])
}

#[test]
fn crates_use_only_the_crates_that_the_architecture_allows() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let allowed = allowed();
    let mut seen = BTreeSet::new();
    for package in packages {
        let name = package["name"].as_str().expect("a name").trim_start_matches("touchstone-");
        let may = allowed.get(name).unwrap_or_else(|| panic!("crate {name} is not in the architecture"));
        seen.insert(name.to_string());
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            // A dependency of tests only is no edge of the architecture.
            if dependency["kind"].as_str() == Some("dev") {
                continue;
            }
            if let Some(used) = dependency["name"].as_str().and_then(|name| name.strip_prefix("touchstone-")) {
                assert!(may.contains(&used), "{name} must not use {used}");
            }
        }
    }
    assert_eq!(seen.len(), allowed.len(), "crates of the architecture that don't exist: {allowed:?} vs {seen:?}");
}

/// Returns every source file of a crate, with its path from `src`.
fn sources(krate: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src");
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                found.push((path.strip_prefix(&root).expect("inside").to_path_buf(), text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

/// The folders of crates. Each uses only those before it. Files in no folder may use all, or be used by all.
const FOLDERS: [(&str, &[&str]); 14] = [
    ("base", &["files"]),
    ("cli", &["output", "plan", "verbs", "bench"]),
    ("ir", &["analysis", "text", "verify"]),
    ("interp", &["machine", "c"]),
    ("criteria", &["mcdc", "criteria"]),
    ("emit", &["c/syntax", "c/build", "c/text", "c/files", "c/run", "java"]),
    ("campaign", &["request", "externals", "java", "program", "reuse", "plan", "change", "stages", "cache", "measure"]),
    (
        "engine",
        &[
            "state",
            "goals",
            "exec/executor",
            "exec/memory",
            "exec/environment",
            "exec/instructions",
            "exec/compose",
            "confirm",
            "inputs",
            "vary",
            "prover",
            "sequences",
            "search",
        ],
    ),
    (
        "front-c",
        &[
            "clang",
            "dataflow",
            "types",
            "link",
            "lower/context",
            "lower/numbers",
            "lower/objects",
            "lower/body",
            "lower/driver",
            "points",
        ],
    ),
    ("front-java", &["path", "classes", "coverage", "lower", "fixtures", "program"]),
    ("report", &["document", "analysis", "conversion", "export", "terminal", "html"]),
    ("probes-java", &["encode", "cfg", "trace", "predicates", "layout", "weave"]),
    (
        "instrument",
        &[
            "storage",
            "state",
            "record",
            "hits",
            "imports",
            "c/text",
            "c/annotate",
            "c/state",
            "c/probes",
            "c/wrapper",
            "c/suggest",
            "java/probes",
            "java/state",
            "java/suggest",
            "measurement",
        ],
    ),
    ("solver", &["terms", "models", "sat", "search", "float"]),
];

/// Returns the folders of a crate in their order.
fn order_of(name: &str) -> &'static [&'static str] {
    FOLDERS.iter().find(|(own, _)| *own == name).map_or(&[], |(_, folders)| folders)
}

#[test]
fn folders_use_only_those_before_them() {
    for (name, folders) in FOLDERS {
        let mut checked = 0;
        for (path, text) in sources(name) {
            let Some(own) = folders.iter().position(|folder| path.starts_with(folder)) else { continue };
            for used in text.split("crate::").skip(1) {
                let module: String =
                    used.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
                let module = module.replace("::", "/");
                let other = folders.iter().position(|folder| Path::new(&module).starts_with(folder));
                assert!(other.is_none_or(|other| other <= own), "{name}/{} uses crate::{module}", path.display());
                checked += 1;
            }
        }
        assert!(checked > 0 || folders.len() == 1, "{name} has no such folders");
    }
}

#[test]
fn every_folder_of_every_crate_has_its_place_in_the_order() {
    for name in allowed().keys() {
        let order = order_of(name);
        for (path, _) in sources(name) {
            let Some(first) = path.parent().and_then(|folder| folder.components().next()) else { continue };
            let known = order.iter().any(|folder| Path::new(folder).starts_with(first));
            assert!(known, "{name}: the folder {} is not in the order", first.as_os_str().display());
        }
    }
}

#[test]
fn files_of_cli_stand_in_folders() {
    let in_folder = |path: &std::path::Path| order_of("cli").iter().any(|folder| path.starts_with(folder));
    for (path, _) in sources("cli").into_iter().filter(|(path, _)| !in_folder(path)) {
        let name = path.display().to_string();
        assert!(["main.rs", "commands.rs"].contains(&name.as_str()), "{name} stands in no folder");
    }
}

#[test]
fn a_campaign_knows_no_command_line_no_terminal_and_no_environment() {
    for (path, text) in sources("campaign") {
        for word in ["clap::", "anyhow::", "print!(", "println!(", "std::env", "env::var", "process::exit", "stdout()"]
        {
            assert!(!text.contains(word), "{} has {word}", path.display());
        }
    }
}

/// Crates that know no language, but in files of the language's own (`c.rs`, `c/`, `java.rs`, `java/`).
const NEUTRAL: [&str; 6] = ["ir", "interp", "engine", "criteria", "solver", "campaign"];

/// Words that only C or only Java has: library functions, tools, harnesses.
const WORDS_OF_A_LANGUAGE: [&str; 43] = [
    "JavaBuiltin",
    "java_",
    "javac",
    "jdk",
    "jvm",
    "bytecode",
    "invokedynamic",
    "CBuiltin",
    "malloc",
    "calloc",
    "realloc",
    "alloca",
    "memcpy",
    "memset",
    "strlen",
    "strcpy",
    "printf",
    "vprintf",
    "putchar",
    "puts",
    "scanf",
    "errno",
    "setjmp",
    "longjmp",
    "atexit",
    "getenv",
    "argc",
    "argv",
    "typedef",
    "sizeof",
    "va_list",
    "c_string",
    "FILE",
    "klee",
    "__VERIFIER",
    "nondet",
    "clang",
    "gcc",
    "libc",
    "glibc",
    "uint8_t",
    "size_t",
    "touchstone_",
];

/// Names that would encode what the module has as data: types, entries, roles, sources of inputs.
const NAMES_WITH_A_MEANING: [&str; 11] = [
    "\"main\"",
    "\"char\"",
    "\"signed char\"",
    "\"unsigned char\"",
    "\"...\"",
    "\"<argv",
    "\"<stdin",
    "\"<volatile",
    "\"<getenv",
    "\"<low",
    "\"<high",
];

/// The exceptions: file, word, reason.
const ALLOWED: [(&str, &str, &str); 17] = [
    ("ir/inst.rs", "JavaBuiltin", "the door from the builtins of all languages to those of one"),
    ("ir/lib.rs", "JavaBuiltin", "the same"),
    ("ir/text/words.rs", "JavaBuiltin", "the same, in the text form"),
    ("ir/inst.rs", "CBuiltin", "the door from the builtins of all languages to those of one"),
    ("ir/lib.rs", "CBuiltin", "the same"),
    ("ir/text/words.rs", "CBuiltin", "the same, in the text form"),
    ("interp/unsupported_operation.rs", "printf", "all sentences of the interpreter stand in one file"),
    ("criteria/unsupported.rs", "atexit", "sentences of what is not supported, of all languages, stand in one file"),
    ("criteria/verdict.rs", "argv", "the option that lifts a bound"),
    ("interp/lib.rs", "printf", "its text of floats is one meaning for interpreter and engine"),
    (
        "criteria/testcase.rs",
        "argv",
        "titles of inputs, which documents have had since before there was a second language",
    ),
    ("criteria/testcase.rs", "getenv", "the same"),
    ("criteria/testcase.rs", "\"<", "the same"),
    ("campaign/measure/remark.rs", "bytecode", "remarks on measurements of all languages are in one file"),
    ("campaign/program/reader.rs", "clang", "the one place that chooses the reader"),
    ("solver/terms/infix.rs", "\"signed char\"", "printed expressions are those of C"),
    ("solver/terms/infix.rs", "\"unsigned char\"", "printed expressions are those of C"),
];

/// Returns the code of a file without comments and tests.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Returns the identifiers of code, also in strings; without command-line options and names of our crates.
fn words(code: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let crates = [
        "base",
        "ir",
        "interp",
        "criteria",
        "front_c",
        "front_java",
        "fixture_java",
        "solver",
        "engine",
        "emit",
        "instrument",
        "report",
        "campaign",
    ];
    let ours = move |word: &str| word.strip_prefix("touchstone_").is_some_and(|rest| crates.contains(&rest));
    code.split(move |c| !is_part(c)).filter(move |word| !word.starts_with("--") && !ours(word))
}

#[test]
fn crates_for_all_languages_have_no_words_of_one() {
    let (mut needed, mut wrong) = (BTreeSet::new(), Vec::new());
    for name in NEUTRAL {
        for (path, text) in sources(name) {
            if path.components().any(|part| {
                ["c", "c.rs", "java", "java.rs", "tests", "tests.rs"].iter().any(|own| part.as_os_str() == *own)
            }) {
                continue;
            }
            let (file, code) = (format!("{name}/{}", path.display()), code(&text));
            let is_of_one = |word: &&str| {
                WORDS_OF_A_LANGUAGE.iter().any(|own| word == own || (own.ends_with('_') && word.starts_with(own)))
            };
            let looks = NAMES_WITH_A_MEANING.iter().filter(|name| code.contains(**name)).copied();
            for word in words(&code).filter(is_of_one).chain(looks) {
                match ALLOWED.iter().position(|(at, known, _)| *at == file && word.starts_with(known)) {
                    Some(allowed) => drop(needed.insert(allowed)),
                    None => wrong.push(format!("{file} has `{word}`")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "the module says such things in data:\n{}", wrong.join("\n"));
    let unneeded: Vec<_> =
        (0..ALLOWED.len()).filter(|index| !needed.contains(index)).map(|index| ALLOWED[index]).collect();
    assert!(unneeded.is_empty(), "unneeded exceptions: {unneeded:?}");
}

#[test]
fn words_of_a_language_are_found_where_they_stand() {
    let text = "// malloc\nlet a = \"--argv\"; let b = touchstone_ir::x; let c = \"uses argv\"; let d = touchstone_errno; // free";
    let code = code(text);
    let found: Vec<&str> =
        words(&code).filter(|word| ["malloc", "argv", "touchstone_errno", "--argv"].contains(word)).collect();
    assert_eq!(found, ["argv", "touchstone_errno"]);
}

/// The files that build documents; everything else in `report` reads documents.
const MAKERS: [&str; 3] = ["conversion/campaign_document.rs", "conversion/call_text.rs", "conversion/value_text.rs"];

#[test]
fn renderers_read_documents_and_neither_programs_nor_campaigns() {
    let reads = |text: &str| code(text).contains("touchstone_ir") || code(text).contains("Campaign");
    for (path, text) in sources("report") {
        let is_maker = MAKERS.iter().any(|maker| path == Path::new(maker));
        assert_eq!(reads(&text), is_maker, "{}", path.display());
    }
}
