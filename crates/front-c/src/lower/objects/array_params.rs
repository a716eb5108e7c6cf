//! Array parameters: clang's JSON has only the pointers that they decay to; `-ast-print` shows them as declared.

use crate::clang::process::{self, Clang, ClangInput};
use crate::construct::Construct;
use crate::error::FrontError;
use crate::lower::context::unit::Unit;
use crate::lower::objects::vla::effects;
use crate::types::ctype::TypeKind;
use crate::types::tokens::{TypeToken, tokenize};
use crate::types::typename::{TypeParser, split_commas};
use rustc_hash::{FxHashMap, FxHashSet};
use touchstone_ir::Function;

/// Restores the array types of parameters that were declared as arrays.
pub(crate) fn restore(
    unit: &mut Unit<'_>,
    clang: &Clang,
    flags: &[String],
    input: ClangInput<'_>,
) -> Result<(), FrontError> {
    if unit.array_candidates.is_empty() {
        return Ok(());
    }
    // Without this output, parameters are plain pointers, which is sound.
    let Ok(printed) = process::capture(clang, "-ast-print", flags, input)? else { return Ok(()) };
    let candidates = std::mem::take(&mut unit.array_candidates);
    let names: FxHashSet<String> = candidates.iter().map(|&id| unit.program.functions[id].name.clone()).collect();
    let definitions = definitions(&tokenize(&printed), &names);
    for id in candidates {
        let Some(tokens) = definitions.get(&unit.program.functions[id].name) else { continue };
        let hidden = usize::from(unit.program.functions[id].aggregate_result);
        // The lengths may have side effects at function entry, which clang's JSON does not contain.
        let done = unit.evaluated_length_effects.get(&unit.program.functions[id].name).copied().unwrap_or(0);
        if effects(tokens) != done {
            refuse(&mut unit.program.functions[id]);
        }
        for (index, tokens) in split_commas(tokens).into_iter().enumerate() {
            let parameter = TypeParser::new(tokens, &unit.scopes, &unit.program.types).parameter();
            if let Some((ty, _)) = parameter
                && matches!(ty.kind, TypeKind::Array(..))
            {
                let data = unit.program.types.data(&ty);
                if let Some(param) = unit.program.functions[id].params.get_mut(index + hidden) {
                    param.data = data;
                }
            }
        }
    }
    Ok(())
}

/// Makes a function unsupported at its entry.
fn refuse(function: &mut Function) {
    let span = function.span;
    if let Some(entry) = function.blocks.ids().next() {
        crate::link::cleanup::stop_at(function, entry, 0, Construct::LengthEffectInParameter, span);
    }
}

/// Returns the tokens of the parameter lists of the functions that a text defines.
fn definitions(tokens: &[TypeToken], wanted: &FxHashSet<String>) -> FxHashMap<String, Vec<TypeToken>> {
    let mut found = FxHashMap::default();
    let mut depth = 0i32;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is("{") || token.is("(") {
            depth += 1;
        } else if token.is("}") || token.is(")") {
            depth -= 1;
        }
        if depth == 0
            && let TypeToken::Word(name) = token
            && wanted.contains(name)
            && tokens.get(at + 1).is_some_and(|next| next.is("("))
            && let Some(close) = matching(tokens, at + 1)
        {
            if tokens.get(after_attributes(tokens, close + 1)).is_some_and(|next| next.is("{")) {
                found.insert(name.clone(), tokens[at + 2..close].to_vec());
            }
            at = close;
        }
        at += 1;
    }
    found
}

/// Returns the index of the parenthesis that closes the one at `open`.
fn matching(tokens: &[TypeToken], open: usize) -> Option<usize> {
    let mut depth = 0;
    tokens[open..]
        .iter()
        .position(|token| {
            depth += i32::from(token.is("(")) - i32::from(token.is(")"));
            depth == 0
        })
        .map(|length| open + length)
}

fn after_attributes(tokens: &[TypeToken], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|token| token.is_word("__attribute__")) {
        match matching(tokens, at + 1) {
            Some(close) => at = close + 1,
            None => return at,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definitions_are_found() {
        let text =
            "int f(int a[3]); int g(void) { f(1); } static int f(int a[4], perm p) __attribute__((cold)) { g(); }";
        let wanted = FxHashSet::from_iter(["f".to_string()]);
        let found = definitions(&tokenize(text), &wanted);
        assert_eq!(found["f"], tokenize("int a[4], perm p"));
    }
}
