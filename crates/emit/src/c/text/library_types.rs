//! Obstacles to the construction of inputs: structures with contents that only the C library can create, and outcomes
//! that C does not have.

use crate::c::text::varargs::has_list_outside_arguments;
use touchstone_criteria::{Outcome, TestCase, TestKind, Untestable};
use touchstone_ir::{DataType, DataTypeId, DataValue, Module, PointerTarget};

/// The library's structures by their names in its headers, with the names that programs use.
const LIBRARY_TYPES: &[(&str, &str)] = &[
    ("_IO_FILE", "FILE"),
    ("__sFILE", "FILE"),
    ("__dirstream", "DIR"),
    ("__jmp_buf_tag", "jmp_buf"),
    ("__locale_struct", "locale_t"),
    ("re_pattern_buffer", "regex_t"),
    ("__va_list_tag", "va_list"),
    ("__va_list", "va_list"),
    ("pthread_mutex_t", "pthread_mutex_t"),
    ("pthread_cond_t", "pthread_cond_t"),
    ("pthread_rwlock_t", "pthread_rwlock_t"),
    ("pthread_barrier_t", "pthread_barrier_t"),
    ("pthread_attr_t", "pthread_attr_t"),
    ("sem_t", "sem_t"),
];

/// The programs' name for lists of variadic arguments.
pub(crate) const VA_LIST: &str = "va_list";

/// Returns the reason for which a test cannot be constructed, or `None` if it can: an object of it can only be created
/// by the library.
pub fn construction_obstacle(module: &Module, test: &TestCase) -> Option<Untestable> {
    if let Some(why) = thrown(test) {
        return Some(why);
    }
    let TestKind::Function { earlier, params, globals, objects } = &test.kind else { return None };
    if has_list_outside_arguments(module, params, objects) {
        return Some(Untestable::LibrarysOwn(VA_LIST.to_string()));
    }
    let object = objects.iter().find_map(|object| {
        let name = library_type(module, object.element).filter(|name| *name != VA_LIST)?;
        let used = object.values.iter().any(|value| !is_empty(value));
        (used || !is_zero_initialised(name)).then_some(name)
    });
    let value = earlier
        .iter()
        .flat_map(|call| &call.params)
        .chain(params)
        .chain(globals)
        .find_map(|input| library_type(module, input.data).filter(|_| !is_empty(&input.value)));
    let name = object.or(value)?;
    Some(Untestable::LibrarysOwn(name.to_string()))
}

/// Returns the reason for which C cannot express the end of a test, or `None` if it can.
pub(crate) fn thrown(test: &TestCase) -> Option<Untestable> {
    let Outcome::Threw { class } = &test.outcome else { return None };
    Some(Untestable::Thrown(class.clone()))
}

/// Returns the programs' name of a structure that only the library creates, or `None` for other types.
pub(crate) fn library_type(module: &Module, data: DataTypeId) -> Option<&'static str> {
    let name = match &module.types[data] {
        DataType::Struct { name, .. } | DataType::Union { name, .. } | DataType::Opaque { name, .. } => name,
        _ => return None,
    };
    let own = name.strip_prefix("struct ").or(name.strip_prefix("union ")).unwrap_or(name);
    LIBRARY_TYPES.iter().find(|(known, _)| *known == own).map(|(_, name)| *name)
}

/// Returns true if an object of zeros is valid: static initialisers of locks are zeros, and the contents of a stream
/// matter only to the library.
fn is_zero_initialised(name: &str) -> bool {
    matches!(name, "FILE" | "pthread_mutex_t" | "pthread_cond_t" | "pthread_rwlock_t")
}

/// Returns true for zeros, null pointers and undefined values.
fn is_empty(value: &DataValue) -> bool {
    match value {
        DataValue::Int(0) | DataValue::Undefined | DataValue::Pointer(PointerTarget::Null) => true,
        DataValue::Array(values) | DataValue::Struct(values) => values.iter().all(is_empty),
        DataValue::Member(_, value) => is_empty(value),
        DataValue::Int(_) | DataValue::Pointer(_) => false,
    }
}
