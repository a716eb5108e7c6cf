//! The memory effects of C library functions.

/// The effect of a function on memory.
pub(super) enum MemoryEffect {
    /// No known effect.
    Nothing,
    /// Copies from argument 1 to argument 0; argument 2 is the number of bytes.
    Copies,
    /// Writes through an argument; another argument is the number of bytes.
    Writes { to: usize, size: Option<usize> },
    /// Writes through all pointers from an argument on.
    WritesAll { from: usize },
    /// Allocates an object; its size is the product of arguments.
    Allocates { size: &'static [usize] },
    /// Moves the pointee of argument 0.
    Reallocates,
    /// Allocates a copy of a string.
    Duplicates,
    /// Frees the pointee of argument 0.
    Frees,
}

pub(super) fn memory_effect(name: &str) -> MemoryEffect {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let name = name.strip_prefix("__").and_then(|name| name.strip_suffix("_chk")).unwrap_or(name);
    let name = name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name);
    match name {
        "memcpy" | "memmove" | "mempcpy" => MemoryEffect::Copies,
        "memset" => MemoryEffect::Writes { to: 0, size: Some(2) },
        "bzero" | "fgets" => MemoryEffect::Writes { to: 0, size: Some(1) },
        "read" | "recv" | "pread" => MemoryEffect::Writes { to: 1, size: Some(2) },
        "strcpy" | "strncpy" | "strcat" | "strncat" | "stpcpy" | "strlcpy" | "sprintf" | "snprintf" | "vsprintf"
        | "vsnprintf" | "gets" | "strftime" | "fread" | "qsort" => MemoryEffect::Writes { to: 0, size: None },
        "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod" | "strtof" => {
            MemoryEffect::Writes { to: 1, size: None }
        }
        "scanf" => MemoryEffect::WritesAll { from: 1 },
        "sscanf" | "fscanf" => MemoryEffect::WritesAll { from: 2 },
        "malloc" => MemoryEffect::Allocates { size: &[0] },
        "calloc" => MemoryEffect::Allocates { size: &[0, 1] },
        "aligned_alloc" | "memalign" => MemoryEffect::Allocates { size: &[1] },
        "realloc" => MemoryEffect::Reallocates,
        "strdup" | "strndup" => MemoryEffect::Duplicates,
        "free" => MemoryEffect::Frees,
        _ => MemoryEffect::Nothing,
    }
}

/// Returns true if a function of the C library writes through an argument.
pub(super) fn writes_through_argument(name: &str, argument: usize) -> bool {
    match memory_effect(name) {
        MemoryEffect::Copies => argument == 0,
        MemoryEffect::Writes { to, .. } => argument == to,
        MemoryEffect::WritesAll { from } => argument >= from,
        MemoryEffect::Nothing
        | MemoryEffect::Allocates { .. }
        | MemoryEffect::Reallocates
        | MemoryEffect::Duplicates
        | MemoryEffect::Frees => false,
    }
}
