//! Selects the functions under test: those that the request names, or else those that the files define.

use super::error::SubjectError;
use super::reader::Program;
use crate::java::JavaProgram;
use crate::request::{Request, Subject};
use std::collections::BTreeSet;
use touchstone_base::Span;
use touchstone_engine::Entry;
use touchstone_ir::{Builtin, FuncId, Function, FunctionRole, InputSource, InstKind, Module};

/// Returns the functions under test, and whether they are called directly or start a whole program.
pub(crate) fn resolve(program: &Program, request: &Request) -> Result<(Entry, Vec<FuncId>), SubjectError> {
    let module = &program.module;
    if let Some(java) = &program.java {
        return Ok((Entry::Function, methods(program, java, request)?));
    }
    match (&request.subject, request.inputs.arguments) {
        (Subject::Program(entry), _) => Ok((Entry::Program, vec![find(module, entry)?])),
        (Subject::Functions(_), Some(_)) => Err(SubjectError::ArgumentsOfFunction),
        (Subject::EveryFunction, Some(_)) => {
            let entry = module.entry.as_deref().ok_or(SubjectError::NoFunction)?;
            Ok((Entry::Program, vec![find(module, entry)?]))
        }
        (Subject::Functions(names), None) => {
            let found = names.iter().map(|name| find(module, name)).collect::<Result<Vec<_>, _>>()?;
            Ok((Entry::Function, found))
        }
        (Subject::EveryFunction, None) => every_function(module),
    }
}

/// Returns the methods under test.
fn methods(program: &Program, java: &JavaProgram, request: &Request) -> Result<Vec<FuncId>, SubjectError> {
    let module = &program.module;
    let known: Vec<FuncId> = program.methods();
    let names = match &request.subject {
        Subject::EveryFunction if known.is_empty() => return Err(SubjectError::NoFunction),
        Subject::EveryFunction => return Ok(known),
        Subject::Functions(names) => names.clone(),
        Subject::Program(name) => vec![name.clone()],
    };
    let mut found = Vec::new();
    for name in names {
        let names_class = |name: &str| known.iter().any(|id| java.is_of_class(*id, name) && !java.is_named(*id, name));
        let title = |id: &FuncId| module.functions[*id].name.clone();
        let meant: Vec<FuncId> = known.iter().copied().filter(|id| java.is_named(*id, &name)).collect();
        let is_refused = |id: &FuncId| java.refusal(&module.functions[*id].name).is_some();
        match meant.as_slice() {
            // The name of a class is also that of its constructor, which tests of an enum cannot call.
            [only] if !(is_refused(only) && names_class(&name)) => found.push(*only),
            [] | [_] if known.iter().any(|id| java.is_of_class(*id, &name)) => {
                let of_class = known.iter().copied().filter(|id| java.is_of_class(*id, &name));
                // A class as a whole leaves out methods that cannot be tested, as it does if no name is given.
                let (left_out, tested): (Vec<FuncId>, Vec<FuncId>) = of_class.partition(is_refused);
                found.extend(if tested.is_empty() { left_out } else { tested });
            }
            [] => return Err(SubjectError::Unknown { name, known: known.iter().map(title).collect() }),
            [only] => found.push(*only),
            several => return Err(SubjectError::Ambiguous { name, which: several.iter().map(title).collect() }),
        }
    }
    Ok(found)
}

/// Returns the entry points of functions that can be tested; a named function that cannot is an error.
pub(crate) fn testable(
    program: &Program,
    request: &Request,
    functions: Vec<FuncId>,
) -> Result<Vec<FuncId>, SubjectError> {
    let Some(java) = &program.java else { return Ok(functions) };
    let name = |id: FuncId| program.module.functions[id].name.clone();
    if let Subject::EveryFunction = request.subject {
        let possible: Vec<FuncId> = functions.into_iter().filter(|id| java.refusal(&name(*id)).is_none()).collect();
        let entries: Vec<FuncId> = possible.into_iter().map(|id| java.entry(id)).collect();
        return if entries.is_empty() { Err(SubjectError::NoFunction) } else { Ok(entries) };
    }
    for id in &functions {
        if let Some(why) = java.refusal(&name(*id)) {
            return Err(SubjectError::NotTestable { name: name(*id), why });
        }
    }
    Ok(functions.into_iter().map(|id| java.entry(id)).collect())
}

fn every_function(module: &Module) -> Result<(Entry, Vec<FuncId>), SubjectError> {
    let is_helper = |function: &Function| {
        let base = function.name.strip_suffix("_pre").or_else(|| function.name.strip_suffix("_post"));
        base.is_some_and(|base| module.function_named(base).is_some())
    };
    let own = |function: &Function| function.is_defined() && !function.is_library() && !is_helper(function);
    let mut seen = BTreeSet::new();
    let all = module.functions.iter().filter(|(_, function)| own(function));
    let all: Vec<FuncId> = all.map(|(id, _)| id).filter(|id| seen.insert(text(module, *id))).collect();
    let main = module.entry.as_deref().and_then(|name| module.function_named(name)).filter(|main| all.contains(main));
    match (all.as_slice(), main) {
        ([], _) => Err(SubjectError::NoFunction),
        ([only], Some(main)) if *only == main => Ok((Entry::Program, vec![main])),
        (_, Some(main)) if asks_for_inputs(module) => Ok((Entry::Program, vec![main])),
        _ => Ok((Entry::Function, all.into_iter().filter(|id| Some(*id) != main).collect())),
    }
}

/// Identifies a function by name, position and meaning: all files that include a header have its inline functions. If
/// macros make different functions of one text, both are tested.
fn text(module: &Module, id: FuncId) -> (&str, Span, u64) {
    let function = &module.functions[id];
    let name = function.name.split(['@', '$']).next().unwrap_or(&function.name);
    (name, function.span, module.body_hash(id))
}

/// Returns true if the code creates its own inputs, as a harness (for Touchstone or KLEE) does.
fn asks_for_inputs(module: &Module) -> bool {
    let asks = |kind: &InstKind| match kind {
        // Reads of volatile objects create inputs, too, and make no harness.
        InstKind::Builtin { builtin: Builtin::MakeSymbolic(source) | Builtin::FreshInt(source), .. } => {
            *source == InputSource::Request
        }
        _ => false,
    };
    // Models of the library create inputs if the environment is symbolic.
    let harness = |f: &&Function| !f.is_library() || f.role == FunctionRole::Harness;
    module
        .functions
        .values()
        .filter(harness)
        .flat_map(|f| f.blocks.values())
        .flat_map(|b| &b.insts)
        .any(|inst| asks(&inst.kind))
}

fn find(module: &Module, name: &str) -> Result<FuncId, SubjectError> {
    let names = || module.functions.values().map(|function| function.name.clone());
    let twin = |other: &String| other.strip_prefix(name).is_some_and(|rest| rest.starts_with(['@', '$']));
    let others: Vec<String> = names().filter(twin).collect();
    if !others.is_empty() {
        return Err(SubjectError::AmbiguousStatic { name: name.to_string(), others });
    }
    // An external function has a generated body that returns inputs.
    let stands_in = |function: &Function| matches!(function.role, FunctionRole::External | FunctionRole::Library);
    match module.function_named(name) {
        Some(id) if module.functions[id].is_defined() && !stands_in(&module.functions[id]) => Ok(id),
        Some(_) => Err(SubjectError::OnlyDeclared { name: name.to_string() }),
        None => {
            let own = module.functions.values().filter(|f| f.is_defined() && !f.is_library());
            let mut known: Vec<String> = own.map(|f| f.name.clone()).collect();
            known.sort_unstable();
            Err(SubjectError::Unknown { name: name.to_string(), known })
        }
    }
}
