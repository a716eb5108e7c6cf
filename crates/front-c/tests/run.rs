//! Programs run by the interpreter must print and return what they print and return when a compiler made them.

use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_front_c::{Options, lower_files, write_headers};
use touchstone_interp::{End, Limits, Machine, PathRecorder, Value};
use touchstone_ir::Module;

fn lower(files: &[PathBuf], flags: &[&str]) -> Module {
    let headers = tempfile::tempdir().expect("a temporary directory");
    write_headers(headers.path()).expect("headers");
    let options = Options {
        flags: flags.iter().map(|flag| flag.to_string()).collect(),
        include_dir: Some(headers.path().to_path_buf()),
        ..Options::default()
    };
    let module = lower_files(files, &options).unwrap_or_else(|error| panic!("{error}"));
    let errors = touchstone_ir::verify(&module);
    assert!(errors.is_empty(), "{errors:#?}\n{}", touchstone_ir::print(&module));
    let text = touchstone_ir::print(&module);
    let parsed = touchstone_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(parsed == module, "the text form of {files:?} is another module");
    module
}

fn interpret(module: &Module) -> (String, i32) {
    let mut machine = Machine::new(module, Limits::default());
    let main = module.function_named("main").expect("a main function");
    let mut recorder = PathRecorder::default();
    let args: Vec<Value> = module.functions[main].params.iter().map(|_| Value::Int(0)).collect();
    let end = machine.call(main, &args, &mut recorder);
    let output = String::from_utf8_lossy(&recorder.output).into_owned();
    let status = match end {
        End::Returned(Some(Value::Int(status))) => status as i32 & 255,
        End::Exited(status) => status & 255,
        End::Error { span, .. } | End::Unsupported { span, .. } => {
            panic!("{end:?} at {}\n{output}\n{}", span.display(&module.files), touchstone_ir::print(module))
        }
        other => panic!("{other:?}\n{output}"),
    };
    (output, status)
}

fn compile_and_run(files: &[PathBuf], flags: &[&str]) -> (String, i32) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = directory.path().join("program");
    let compiled = Command::new("gcc")
        .args(["-w", "-fwrapv", "-O0", "-o"])
        .arg(&program)
        .args(flags)
        .args(files)
        .arg("-lm")
        .output()
        .expect("gcc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).output().expect("the program runs");
    (String::from_utf8_lossy(&ran.stdout).into_owned(), ran.status.code().expect("a status"))
}

#[track_caller]
fn check(names: &[&str], flags: &[&str]) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let files: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
    let module = lower(&files, flags);
    assert_eq!(interpret(&module), compile_and_run(&files, flags));
}

#[test]
fn operators_agree_with_the_compiler() {
    check(&["operators.c"], &[]);
}

#[test]
fn statements_agree_with_the_compiler() {
    check(&["statements.c"], &[]);
}

#[test]
fn decisions_agree_with_the_compiler() {
    check(&["decisions.c"], &[]);
}

#[test]
fn memory_agrees_with_the_compiler() {
    check(&["memory.c"], &[]);
}

#[test]
fn layouts_agree_with_the_compiler() {
    check(&["layout.c"], &[]);
}

#[test]
fn initialisers_agree_with_the_compiler() {
    check(&["initialisers.c"], &[]);
}

#[test]
fn floats_agree_with_the_compiler() {
    check(&["floats.c"], &[]);
}

#[test]
fn mathematical_functions_agree_with_the_library() {
    check(&["math.c"], &[]);
}

#[test]
fn function_pointers_agree_with_the_compiler() {
    check(&["functions.c"], &[]);
}

#[test]
fn unions_and_packed_structures_agree_with_the_compiler() {
    check(&["unions.c"], &[]);
}

#[test]
fn bit_fields_agree_with_the_compiler() {
    check(&["bitfields.c"], &[]);
}

#[test]
fn variable_arguments_agree_with_the_compiler() {
    check(&["variadic.c"], &[]);
}

#[test]
fn arrays_of_variable_length_agree_with_the_compiler() {
    check(&["arrays.c"], &[]);
}

#[test]
fn builtins_and_extensions_agree_with_the_compiler() {
    check(&["builtins.c"], &[]);
}

#[test]
fn library_models_agree_with_the_library() {
    check(&["library.c"], &["-fno-builtin"]);
}

#[test]
fn several_files_link_as_the_linker_does() {
    check(&["link_a.c", "link_b.c"], &["-fcommon", "-fno-builtin"]);
}
