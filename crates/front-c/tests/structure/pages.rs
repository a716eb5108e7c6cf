//! The pages under `tests/lowering`: C, its IR, and its results. `TOUCHSTONE_BLESS=1` updates them.
//!
//! A block `c` is lowered; a following block `ir` has its functions, without spans and points, which would hide the
//! rest; a block `runs` has calls with integers and their results in the interpreter.

use crate::lower;
use std::fmt::Write;
use touchstone_interp::{End, Limits, Machine, NullObserver, Value};
use touchstone_ir::{Module, Ty};

#[test]
fn every_page_says_what_lowering_makes() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lowering");
    let bless = std::env::var_os("TOUCHSTONE_BLESS").is_some();
    let (mut failures, mut blocks) = (String::new(), 0);
    for entry in std::fs::read_dir(folder).expect("tests/lowering exists") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let (new, checked) = refreshed(&text);
        blocks += checked;
        if new != text {
            writeln!(failures, "{}:\n{}", path.display(), first_difference(&text, &new)).expect("a string");
        }
        if bless {
            std::fs::write(&path, new).expect("writable");
        }
    }
    assert!(blocks >= 20, "only {blocks} blocks found");
    assert!(bless || failures.is_empty(), "{failures}\nTOUCHSTONE_BLESS=1 rewrites the blocks");
}

/// Returns the updated page, and the number of its checked blocks.
fn refreshed(page: &str) -> (String, usize) {
    let (mut new, mut made) = (String::new(), 0);
    let mut module: Option<Module> = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        new += line;
        new.push('\n');
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let old: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let block = match (kind, &module) {
            ("c", _) => {
                let source = old.join("\n") + "\n";
                module = Some(lower(&source));
                source
            }
            ("ir", Some(module)) => functions(module),
            ("runs", Some(module)) => old.iter().map(|call| run(module, call)).collect(),
            _ => panic!("a block `{kind}` without C before it"),
        };
        made += usize::from(kind != "c");
        new += &block;
        new += "```\n";
    }
    (new, made)
}

/// Prints the functions of the module, without spans and points.
fn functions(module: &Module) -> String {
    let own: Vec<String> =
        module.functions.values().filter(|f| f.is_defined() && !f.is_library()).map(|f| f.name.clone()).collect();
    let text = touchstone_ir::print(module);
    let mut shown: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let begins = line
            .strip_prefix("func @")
            .is_some_and(|rest| own.iter().any(|name| rest.starts_with(&format!("{name}("))));
        if begins && !shown.is_empty() {
            shown.push(String::new());
        }
        inside |= begins;
        if inside && !line.trim_start().starts_with("point ") {
            shown.push(without_place(line));
        }
        inside &= line != "}";
    }
    shown.join("\n") + "\n"
}

/// Removes the span from a line: ` @f0:2:7-2:13`.
fn without_place(line: &str) -> String {
    let Some(at) = line.rfind(" @f") else { return line.to_string() };
    let place = line[at + 3..].split(' ').next().unwrap_or_default();
    let is_place = place.contains(':') && place.chars().all(|c| c.is_ascii_digit() || ":-".contains(c));
    if is_place { format!("{}{}", &line[..at], &line[at + 3 + place.len()..]) } else { line.to_string() }
}

/// Evaluates a call and returns it with its result: `f(1, -2) == 3`.
fn run(module: &Module, line: &str) -> String {
    let call = line.split(" == ").next().unwrap_or_default();
    let (name, args) = call.strip_suffix(')').and_then(|call| call.split_once('(')).expect("a call");
    let func = module.function_named(name).unwrap_or_else(|| panic!("no function {name}"));
    let args: Vec<Value> = args
        .split(", ")
        .filter(|arg| !arg.is_empty())
        .zip(&module.functions[func].params)
        .map(|(arg, param)| {
            let bits = module.functions[func].regs[param.reg].ty.bits();
            Value::Int(touchstone_ir::mask(arg.parse::<i64>().expect("a number") as u64, bits))
        })
        .collect();
    let mut machine = Machine::new(module, Limits::default());
    let result = match machine.call(func, &args, &mut NullObserver) {
        End::Returned(Some(Value::Int(bits))) => match module.functions[func].result {
            Some(ty @ Ty::Int(_)) => touchstone_ir::sign_extend(bits, ty.bits()).to_string(),
            _ => bits.to_string(),
        },
        End::Error { kind, .. } => kind.to_string(),
        other => format!("{other:?}"),
    };
    format!("{call} == {result}\n")
}

fn first_difference(old: &str, new: &str) -> String {
    let differs = old.lines().zip(new.lines()).position(|(old, new)| old != new).unwrap_or(0);
    let some = |text: &str| text.lines().skip(differs).take(12).collect::<Vec<_>>().join("\n");
    format!("--- page, line {}\n{}\n--- now\n{}", differs + 1, some(old), some(new))
}
