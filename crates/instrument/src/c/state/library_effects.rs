//! What functions of the C library do to memory.

/// What a function does to memory.
pub(super) enum Effect {
    /// Nothing that is known.
    Nothing,
    /// Copies from argument 1 to argument 0, as many bytes as argument 2 says.
    Copies,
    /// Writes behind an argument; how many bytes another says.
    Writes { to: usize, size: Option<usize> },
    /// Writes behind all pointers from an argument on.
    WritesAll { from: usize },
    /// Makes an object of as many bytes as the product of arguments.
    Allocates { size: &'static [usize] },
    /// Moves the object behind argument 0.
    Reallocates,
    /// Makes a copy of a string.
    Duplicates,
    /// Ends the object behind argument 0.
    Frees,
}

pub(super) fn effect(name: &str) -> Effect {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let name = name.strip_prefix("__").and_then(|name| name.strip_suffix("_chk")).unwrap_or(name);
    let name = name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name);
    match name {
        "memcpy" | "memmove" | "mempcpy" => Effect::Copies,
        "memset" => Effect::Writes { to: 0, size: Some(2) },
        "bzero" | "fgets" => Effect::Writes { to: 0, size: Some(1) },
        "read" | "recv" | "pread" => Effect::Writes { to: 1, size: Some(2) },
        "strcpy" | "strncpy" | "strcat" | "strncat" | "stpcpy" | "strlcpy" | "sprintf" | "snprintf" | "vsprintf"
        | "vsnprintf" | "gets" | "strftime" | "fread" | "qsort" => Effect::Writes { to: 0, size: None },
        "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod" | "strtof" => Effect::Writes { to: 1, size: None },
        "scanf" => Effect::WritesAll { from: 1 },
        "sscanf" | "fscanf" => Effect::WritesAll { from: 2 },
        "malloc" => Effect::Allocates { size: &[0] },
        "calloc" => Effect::Allocates { size: &[0, 1] },
        "aligned_alloc" | "memalign" => Effect::Allocates { size: &[1] },
        "realloc" => Effect::Reallocates,
        "strdup" | "strndup" => Effect::Duplicates,
        "free" => Effect::Frees,
        _ => Effect::Nothing,
    }
}

/// Whether a function of the C library writes behind one of its arguments.
pub(super) fn writes_behind(name: &str, argument: usize) -> bool {
    match effect(name) {
        Effect::Copies => argument == 0,
        Effect::Writes { to, .. } => argument == to,
        Effect::WritesAll { from } => argument >= from,
        Effect::Nothing | Effect::Allocates { .. } | Effect::Reallocates | Effect::Duplicates | Effect::Frees => false,
    }
}
