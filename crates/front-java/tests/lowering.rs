//! Lowered code is well-formed: everything that a run of the programs in `tests/java` reaches passes the verifier, and
//! behaves the same as a complete module.

use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_base::CorruptedInputs;
use touchstone_front_java::path::Image;
use touchstone_front_java::{LazyProgram, ProgramSetup, release_of};
use touchstone_interp::{End, Event, Limits, Machine, Observer};
use touchstone_ir::{LazyModule, TermKind};

#[derive(Default)]
struct Printed(Vec<u8>);

impl Observer for Printed {
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

fn homes() -> Vec<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").expect("a JDK is installed").flatten();
    let homes = homes.filter_map(|entry| entry.path().canonicalize().ok());
    let mut homes: Vec<PathBuf> =
        homes.filter(|home| home.join("lib/modules").is_file() && home.join("bin/javac").is_file()).collect();
    homes.sort();
    homes.dedup();
    assert!(!homes.is_empty());
    homes
}

fn compile(home: &Path, to: &Path, program: &Path) {
    let status = Command::new(home.join("bin/javac")).args(["-g", "-nowarn", "-d"]).arg(to).arg(program).status();
    assert!(status.expect("javac runs").success());
}

fn program(home: &Path, class_path: &Path, main: &str) -> LazyProgram {
    let setup = ProgramSetup {
        release: release_of(home).expect("a release"),
        java_home: home.to_path_buf(),
        class_path: vec![class_path.to_path_buf()],
        main_class: main.to_string(),
        locale: ("en".to_string(), String::new()),
        arguments: vec![],
    };
    LazyProgram::new(setup).expect("a program")
}

#[test]
fn every_method_of_java_util_and_java_lang_is_lowered_to_what_the_verifier_accepts() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/java");
    for home in homes() {
        let scratch = tempfile::tempdir().expect("a directory");
        compile(&home, scratch.path(), &programs.join("Switches.java"));
        let program = program(&home, scratch.path(), "Switches");
        let image = Image::open(&home.join("lib/modules")).expect("an image");
        let mut lowered = 0;
        let mut refused: Vec<String> = Vec::new();
        for class in image.classes_of("java.base") {
            let package = class.rsplit_once('/').map_or("", |(package, _)| package);
            if !matches!(package, "java/util" | "java/lang") {
                continue;
            }
            for id in program.methods_of(&class).expect("it is there") {
                let function = program.function(id).expect("a function");
                lowered += 1;
                if let [block] = function.blocks.values().as_slice()
                    && let TermKind::Unsupported(what) = &block.terminator.kind
                {
                    refused.push(what.clone());
                }
            }
        }
        assert!(lowered > 8000, "{lowered} methods");
        let whole: Vec<&String> =
            refused.iter().filter(|what| !what.starts_with("a ") && !what.starts_with("the ")).collect();
        assert!(whole.is_empty(), "{whole:?}");
        let errors = touchstone_ir::verify(&program.snapshot());
        assert!(errors.is_empty(), "{} errors in {lowered} methods, first: {}", errors.len(), errors[0]);
    }
}

#[test]
fn methods_of_damaged_classes_are_lowered_or_refused_and_never_panic() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/java");
    let home = homes().remove(0);
    let scratch = tempfile::tempdir().expect("a directory");
    compile(&home, scratch.path(), &programs.join("Switches.java"));
    let file = scratch.path().join("Switches.class");
    let whole = std::fs::read(&file).expect("a class file");
    let (mut lowered, mut refused) = (0, 0);
    for damaged in CorruptedInputs::of(&whole).take(1500) {
        std::fs::write(&file, damaged).expect("written");
        let setup = ProgramSetup {
            release: 17,
            java_home: home.clone(),
            class_path: vec![scratch.path().to_path_buf()],
            main_class: "Switches".to_string(),
            locale: ("en".to_string(), String::new()),
            arguments: vec![],
        };
        let Ok(program) = LazyProgram::new(setup) else {
            refused += 1;
            continue;
        };
        for id in program.methods_of("Switches").expect("it was loaded") {
            lowered += usize::from(program.function(id).is_some());
        }
    }
    assert!(lowered > 500 && refused > 100, "{lowered} lowered, {refused} refused");
}

#[test]
fn all_that_a_run_meets_is_a_well_formed_module_that_does_the_same() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/java");
    for home in homes() {
        for name in ["Classes", "Switches", "Streams"] {
            let scratch = tempfile::tempdir().expect("a directory");
            compile(&home, scratch.path(), &programs.join(format!("{name}.java")));
            let program = program(&home, scratch.path(), name);
            let limits = Limits { steps: u64::MAX, frames: 10_000, heap_bytes: 1 << 32 };
            let mut printed = Printed::default();
            let end = Machine::growing(program.module(), &program, limits).call(program.entry(), &[], &mut printed);
            assert_eq!(end, End::Returned(None), "{name}");
            let module = program.snapshot();
            let errors = touchstone_ir::verify(&module);
            assert!(errors.is_empty(), "{name}: {} errors, first: {}", errors.len(), errors[0]);
            // Streams looks up classes by name and interns strings, which needs the growing program.
            if name == "Streams" {
                continue;
            }
            let mut again = Printed::default();
            let end = Machine::new(&module, limits).call(program.entry(), &[], &mut again);
            assert_eq!(end, End::Returned(None), "{name} as a whole");
            assert_eq!(String::from_utf8_lossy(&again.0), String::from_utf8_lossy(&printed.0), "{name} as a whole");
        }
    }
}
