//! Programs have the same output and status in the interpreter as when they are compiled.

// Tests may access the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use touchstone_front_c::{Options, lower_files, write_headers};
use touchstone_interp::{End, Event, Limits, Machine, Observer, Value};
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

/// The output and input of a program.
struct Console<'a> {
    output: Vec<u8>,
    input: std::slice::Iter<'a, u8>,
}

impl Observer for Console<'_> {
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
    }
    fn input(&mut self) -> Option<u8> {
        self.input.next().copied()
    }
}

fn interpret(module: &Module, input: &str) -> (String, i32) {
    let mut machine = Machine::new(module, Limits { steps: 100_000_000, ..Limits::default() });
    let main = module.function_named("main").expect("a main function");
    let mut console = Console { output: Vec::new(), input: input.as_bytes().iter() };
    let args: Vec<Value> = module.functions[main].params.iter().map(|_| Value::Int(0)).collect();
    let end = machine.call(main, &args, &mut console);
    let end = machine.finish(end, &mut console);
    let output = String::from_utf8_lossy(&console.output).into_owned();
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

fn compile_and_run(files: &[PathBuf], flags: &[&str], input: &str) -> (String, i32) {
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
    let file = directory.path().join("input");
    std::fs::write(&file, input).expect("the input is written");
    let input = std::fs::File::open(&file).expect("the input is there");
    let ran = Command::new(&program).stdin(Stdio::from(input)).output().expect("the program runs");
    (String::from_utf8_lossy(&ran.stdout).into_owned(), ran.status.code().expect("a status"))
}

#[track_caller]
fn check(names: &[&str], flags: &[&str]) {
    check_with_input(names, flags, "");
}

#[track_caller]
fn check_with_input(names: &[&str], flags: &[&str], input: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let files: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
    let module = lower(&files, flags);
    assert_eq!(interpret(&module, input), compile_and_run(&files, flags, input));
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
fn integers_of_128_bits_agree_with_the_compiler() {
    check(&["wide.c"], &[]);
}

#[test]
fn vectors_agree_with_the_compiler() {
    check(&["vector.c"], &[]);
}

#[test]
fn complex_numbers_agree_with_the_compiler() {
    check(&["complex.c"], &[]);
}

#[test]
fn assembly_without_instructions_agrees_with_the_compiler() {
    check(&["assembly.c"], &[]);
}

#[test]
fn jumps_out_of_calls_agree_with_the_compiler() {
    check(&["jumps.c"], &[]);
}

#[test]
fn signals_agree_with_the_compiler() {
    check(&["signals.c"], &[]);
}

#[test]
fn arrays_of_variable_length_of_several_ranks_agree_with_the_compiler() {
    check(&["ranks.c"], &[]);
}

#[test]
fn extensions_of_gnu_c_agree_with_the_compiler() {
    check(&["gnu.c"], &[]);
}

#[test]
fn long_doubles_agree_with_the_compiler() {
    check(&["longdouble.c"], &[]);
}

#[test]
fn files_agree_with_the_compiler() {
    check(&["files.c"], &[]);
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
fn wide_bit_fields_are_computed_in_their_own_width_where_gcc_translates() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/widefields.c");
    let options = Options { compiler: Some("gcc".to_string()), ..Options::default() };
    let module = lower_files(std::slice::from_ref(&file), &options).expect("it lowers");
    assert!(touchstone_ir::verify(&module).is_empty());
    assert_eq!(interpret(&module, ""), compile_and_run(&[file], &[], ""));
}

#[test]
fn output_that_is_led_elsewhere_and_descriptors_agree_with_the_library() {
    check(&["redirected.c"], &[]);
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
fn old_style_parameters_agree_with_the_compiler() {
    check(&["oldstyle.c"], &[]);
}

#[test]
fn a_literal_or_variable_that_control_jumps_back_to_is_the_same_object() {
    check(&["literals.c"], &[]);
}

#[test]
fn compatible_types_are_those_of_the_compiler() {
    check(&["compatible.c"], &[]);
}

#[test]
fn types_of_expressions_agree_with_the_compiler() {
    check(&["typeof.c"], &[]);
}

#[test]
fn offsets_agree_with_the_compiler() {
    check(&["offsets.c"], &[]);
}

#[test]
fn offsets_beside_one_that_defines_its_type_agree_with_the_compiler() {
    check(&["offsets_in_place.c"], &[]);
}

#[test]
fn declarations_that_are_completed_documented_or_flexible_agree_with_the_compiler() {
    check(&["declarations.c"], &[]);
}

#[test]
fn a_program_may_have_its_own_bool() {
    check(&["bool.c"], &["-std=gnu11"]);
}

#[test]
fn atomics_agree_with_the_compiler() {
    check(&["atomics.c"], &[]);
}

#[test]
fn constructors_and_destructors_run_around_main_in_their_order() {
    check(&["startup.c"], &[]);
}

#[test]
fn assembler_labels_link_as_the_linker_does() {
    check(&["labels.c"], &[]);
}

#[test]
fn the_library_does_not_use_what_the_program_has_of_it_but_the_allocator() {
    check(&["own.c"], &["-fno-builtin"]);
}

#[test]
fn absolute_values_are_the_compilers_even_if_the_program_has_its_own() {
    check(&["inlined.c"], &[]);
}

#[test]
fn several_files_link_as_the_linker_does() {
    check(&["link_a.c", "link_b.c"], &["-fcommon", "-fno-builtin"]);
}

#[test]
fn output_functions_agree_with_the_library() {
    check(&["output.c"], &["-fno-builtin"]);
}

#[test]
fn the_standard_library_agrees_with_the_library() {
    check(&["stdlib.c"], &["-fno-builtin"]);
}

#[test]
fn input_functions_agree_with_the_library() {
    let input = "first\nline two is longer than the buffer\n\n12,-7 word x\n \nwhole line \nabcdrest of it\n";
    check_with_input(&["input.c"], &["-fno-builtin"], input);
}
