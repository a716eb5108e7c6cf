//! Evaluates `offsetof(type, member.path[3])` from its source text. Used only where the AST does not contain the
//! member's address (see [`OffsetofMode`]).

use crate::clang::options::OffsetofMode;
use crate::types::ctype::{Type, TypeKind, TypeTable};
use crate::types::scope::Scopes;
use crate::types::tokens::{TypeToken, tokenize};
use crate::types::typename::{TypeParser, split_commas};

/// Returns the value of the `offsetof` (or `__builtin_offsetof`, or a macro of the same form) at the start of a text.
pub(crate) fn evaluate(text: &str, scopes: &Scopes, types: &TypeTable) -> Option<u64> {
    let open = text.find('(')?;
    if types.offsets == OffsetofMode::Opaque || !text[..open].trim_end().ends_with("offsetof") {
        return None;
    }
    let parts = split_commas(&tokenize(&inside(&text[open + 1..])?));
    let [ty, path] = parts.as_slice() else { return None };
    let ty = TypeParser::new(ty.clone(), scopes, types).type_name()?;
    let mut words = path.iter();
    let Some(TypeToken::Word(first)) = words.next() else { return None };
    let (mut offset, mut ty) = member(types, &ty, first)?;
    while let Some(token) = words.next() {
        let (step, inner) = if token.is(".") {
            let Some(TypeToken::Word(name)) = words.next() else { return None };
            member(types, &ty, name)?
        } else if token.is("[") {
            let element = match &ty.kind {
                TypeKind::Array(element, _) | TypeKind::OpenArray(element) => (**element).clone(),
                _ => return None,
            };
            let index: Vec<TypeToken> = words.by_ref().take_while(|token| !token.is("]")).cloned().collect();
            let index = TypeParser::new(index, scopes, types).constant()?;
            (types.size(&element) * u64::try_from(index).ok()?, element)
        } else {
            return None;
        };
        offset += step;
        ty = inner;
    }
    Some(offset)
}

/// Returns the text before the closing parenthesis, without comments and the line markers of preprocessed text.
fn inside(text: &str) -> Option<String> {
    let mut made = String::new();
    let (mut depth, mut rest) = (1, text);
    loop {
        let until = if rest.starts_with("/*") {
            rest.find("*/")? + 2
        } else if rest.starts_with("//") || rest.starts_with('#') {
            rest.find('\n')?
        } else {
            let next = rest.chars().next()?;
            depth += i32::from(next == '(') - i32::from(next == ')');
            if depth == 0 {
                return Some(made);
            }
            made.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        made.push(' ');
        rest = &rest[until..];
    }
}

/// Returns the offset and type of a member, also through unnamed members.
pub(crate) fn member(types: &TypeTable, ty: &Type, name: &str) -> Option<(u64, Type)> {
    let TypeKind::Record(id) = ty.kind else { return None };
    let record = &types.records[id];
    if !record.complete || record.problem.is_some() {
        return None;
    }
    record.fields.iter().filter(|field| field.bits.is_none()).find_map(|field| {
        if field.name == name {
            Some((field.offset, field.ty.clone()))
        } else if field.name.is_empty() {
            member(types, &field.ty, name).map(|(offset, ty)| (field.offset + offset, ty))
        } else {
            None
        }
    })
}
