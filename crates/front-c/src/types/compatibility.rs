//! Compatible types (C11 6.2.7), for `__builtin_types_compatible_p`.

use crate::types::ctype::{FunctionSignature, Type, TypeKind, TypeTable};

/// Returns true if two types are compatible apart from their top-level qualifiers.
pub(crate) fn compatible(types: &TypeTable, a: &Type, b: &Type) -> bool {
    match (&a.kind, &b.kind) {
        (TypeKind::Pointer(a), TypeKind::Pointer(b)) => qualifiers(a) == qualifiers(b) && compatible(types, a, b),
        (TypeKind::Array(a, length), TypeKind::Array(b, other)) => length == other && compatible(types, a, b),
        (
            TypeKind::OpenArray(a) | TypeKind::Array(a, _) | TypeKind::Variable(a, _),
            TypeKind::OpenArray(b) | TypeKind::Array(b, _) | TypeKind::Variable(b, _),
        ) => compatible(types, a, b),
        (TypeKind::Function(a), TypeKind::Function(b)) => compatible_functions(types, a, b),
        (TypeKind::Enum(a), TypeKind::Enum(b)) => a == b,
        (TypeKind::Enum(_), TypeKind::Int { name, .. }) => *name == underlying(types, a),
        (TypeKind::Int { name, .. }, TypeKind::Enum(_)) => *name == underlying(types, b),
        (a, b) => a == b,
    }
}

fn compatible_functions(types: &TypeTable, a: &FunctionSignature, b: &FunctionSignature) -> bool {
    let params = match (a.prototype, b.prototype) {
        (true, true) => {
            let pairs = || a.params.iter().zip(&b.params);
            let same = a.variadic == b.variadic && a.params.len() == b.params.len();
            same && pairs().all(|(a, b)| compatible(types, a, b))
        }
        (true, false) => survives_promotion(types, a),
        (false, true) => survives_promotion(types, b),
        (false, false) => true,
    };
    params && compatible(types, &a.result, &b.result)
}

/// Returns true if a call without a prototype passes arguments of the parameters' types.
fn survives_promotion(types: &TypeTable, signature: &FunctionSignature) -> bool {
    let stays = |ty: &Type| match &ty.kind {
        TypeKind::Bool => false,
        TypeKind::Int { bits, .. } => *bits >= 32,
        TypeKind::Float { .. } => types.size(ty) == 8,
        _ => true,
    };
    !signature.variadic && signature.params.iter().all(stays)
}

/// Returns the qualifiers of a type; an array has those of its elements.
fn qualifiers(ty: &Type) -> (bool, bool) {
    match &ty.kind {
        TypeKind::Array(element, _) | TypeKind::OpenArray(element) => {
            let (is_const, is_volatile) = qualifiers(element);
            (ty.is_const || is_const, ty.is_volatile || is_volatile)
        }
        _ => (ty.is_const, ty.is_volatile),
    }
}

/// Returns the integer type that GNU C chooses for an enumeration.
fn underlying(types: &TypeTable, ty: &Type) -> &'static str {
    match (types.size(ty), types.is_signed(ty)) {
        (1, true) => "signed char",
        (1, false) => "unsigned char",
        (2, true) => "short",
        (2, false) => "unsigned short",
        (8, true) => "long",
        (8, false) => "unsigned long",
        (_, true) => "int",
        (_, false) => "unsigned int",
    }
}
