//! The models of the C library: external functions that the program calls are lowered from these C files.

use touchstone_ir::{FunctionRole, Global, GlobalRole};

/// A file of models.
pub(crate) struct LibraryModel {
    pub name: &'static str,
    pub text: &'static str,
    functions: &'static [&'static str],
    /// Variables that programs may refer to.
    variables: &'static [&'static str],
}

impl LibraryModel {
    /// Returns the role of its functions in a program.
    pub fn role(&self) -> FunctionRole {
        match self.name {
            "<library>/time.c" => FunctionRole::Environment,
            "<library>/verifier.c" => FunctionRole::Harness,
            _ => FunctionRole::Model,
        }
    }
    pub fn provides(&self, name: &str) -> bool {
        self.functions.contains(&name) || self.variables.contains(&name)
    }
}

pub(crate) const MODELS: [LibraryModel; 16] = [
    LibraryModel {
        name: "<library>/string.c",
        text: include_str!("../../models/string.c"),
        functions: &[
            "strlen",
            "strnlen",
            "strcmp",
            "strncmp",
            "strcpy",
            "strncpy",
            "strcat",
            "strncat",
            "strchr",
            "strrchr",
            "strstr",
            "strspn",
            "strcspn",
            "memcmp",
            "memchr",
            "memrchr",
            "memccpy",
            "memcpy",
            "memmove",
            "memset",
            "mempcpy",
            "bzero",
            "explicit_bzero",
            "bcopy",
            "bcmp",
            "index",
            "rindex",
            "strcoll",
            "memmem",
            "strchrnul",
            "stpcpy",
            "stpncpy",
            "strpbrk",
            "strtok_r",
            "strtok",
            "strsep",
            "strndup",
            "strdup",
            "strcasecmp",
            "strncasecmp",
            "strcasestr",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/ctype.c",
        text: include_str!("../../models/ctype.c"),
        functions: &[
            "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint", "ispunct",
            "isspace", "isupper", "isxdigit", "tolower", "toupper", "isascii", "toascii",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/stdlib.c",
        text: include_str!("../../models/stdlib.c"),
        functions: &[
            "abs",
            "labs",
            "llabs",
            "imaxabs",
            "atoi",
            "atol",
            "atoll",
            "realloc",
            "strtol",
            "strtoll",
            "strtoul",
            "strtoull",
            "strtoimax",
            "strtoumax",
            "div",
            "ldiv",
            "lldiv",
            "qsort",
            "bsearch",
            "srand",
            "rand",
            "srandom",
            "random",
            "getenv",
            "atexit",
            "_Exit",
            "_exit",
            "malloc",
            "calloc",
            "free",
            "exit",
            "abort",
            "aligned_alloc",
            "reallocarray",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/math.c",
        text: include_str!("../../models/math.c"),
        functions: &[
            "fesetenv",
            "fesetround",
            "feupdateenv",
            "modf",
            "modff",
            "frexp",
            "frexpf",
            "ldexp",
            "ldexpf",
            "scalbn",
            "scalbnf",
            "scalbln",
            "logb",
            "ilogb",
            "nextafter",
            "nextafterf",
            "remquo",
            "remquof",
            "remainder",
            "remainderf",
            "drem",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/strtod.c",
        text: include_str!("../../models/strtod.c"),
        functions: &["strtod", "strtof", "atof"],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/bits.c",
        text: include_str!("../../models/bits.c"),
        functions: &[
            "htonl",
            "htons",
            "ntohl",
            "ntohs",
            "ffs",
            "ffsl",
            "ffsll",
            "touchstone_bswap16",
            "touchstone_bswap32",
            "touchstone_bswap64",
            "touchstone_popcount",
            "touchstone_popcountl",
            "touchstone_popcountll",
            "touchstone_parity",
            "touchstone_parityl",
            "touchstone_parityll",
            "touchstone_ffs",
            "touchstone_ffsl",
            "touchstone_ffsll",
            "touchstone_clrsb",
            "touchstone_clrsbl",
            "touchstone_clrsbll",
            "touchstone_ctz",
            "touchstone_ctzl",
            "touchstone_ctzll",
            "touchstone_clz",
            "touchstone_clzl",
            "touchstone_clzll",
            "touchstone_umul_overflows",
            "touchstone_smul_overflows",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/wide.c",
        text: include_str!("../../models/wide.c"),
        functions: &[
            "touchstone_wide_divide",
            "touchstone_wide_divide_signed",
            "touchstone_wide_multiply",
            "touchstone_wide_to_double",
            "touchstone_wide_to_float",
            "touchstone_wide_from_double",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/longdouble.c",
        text: include_str!("../../models/longdouble.c"),
        functions: &[
            "touchstone_long_add",
            "touchstone_long_subtract",
            "touchstone_long_multiply",
            "touchstone_long_divide",
            "touchstone_long_compare",
            "touchstone_long_exponent",
            "touchstone_long_from_integer",
            "touchstone_long_to_integer",
            "touchstone_long_from_double",
            "touchstone_long_to_float",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/complex.c",
        text: include_str!("../../models/complex.c"),
        functions: &[
            "touchstone_complex_multiply",
            "touchstone_complex_multiplyf",
            "touchstone_complex_multiplyl",
            "touchstone_complex_divide",
            "touchstone_complex_dividef",
            "touchstone_complex_dividel",
            "touchstone_complex_divide_integer",
            "touchstone_complex_divide_unsigned",
            "creal",
            "crealf",
            "creall",
            "cimag",
            "cimagf",
            "cimagl",
            "conj",
            "conjf",
            "conjl",
            "cabs",
            "cabsf",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/signal.c",
        text: include_str!("../../models/signal.c"),
        functions: &["signal", "raise"],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/format.c",
        text: include_str!("../../models/format.c"),
        functions: &["snprintf", "sprintf", "vsnprintf", "vsprintf"],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/stdio.c",
        text: include_str!("../../models/stdio.c"),
        functions: &[
            "fclose",
            "ferror",
            "fflush",
            "fopen",
            "freopen",
            "fprintf",
            "fputc",
            "fputs",
            "fseek",
            "ftell",
            "fwrite",
            "perror",
            "printf",
            "putc",
            "putchar",
            "puts",
            "remove",
            "rename",
            "rewind",
            "setbuf",
            "setbuffer",
            "setlinebuf",
            "setvbuf",
            "tmpfile",
            "tmpnam",
            "touchstone_file_exists",
            "touchstone_file_rights",
            "touchstone_file_at_end",
            "touchstone_file_broke",
            "touchstone_file_clear",
            "touchstone_file_get",
            "touchstone_file_unget",
            "touchstone_quiet_fprintf",
            "touchstone_quiet_fputs",
            "touchstone_quiet_vfprintf",
            "touchstone_quiet_vprintf",
            "unlink",
            "vfprintf",
            "vprintf",
        ],
        variables: &["stderr", "stdin", "stdout"],
    },
    LibraryModel {
        name: "<library>/stdin.c",
        text: include_str!("../../models/stdin.c"),
        functions: &[
            "clearerr", "feof", "fgetc", "fgets", "fread", "fscanf", "getc", "getchar", "getline", "scanf", "sscanf",
            "ungetc", "vfscanf", "vscanf", "vsscanf",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/errno.c",
        text: include_str!("../../models/errno.c"),
        functions: &["__errno_location", "setlocale"],
        variables: &["touchstone_errno"],
    },
    LibraryModel {
        name: "<library>/klee.c",
        text: include_str!("../../models/klee.c"),
        functions: &[
            "klee_choose",
            "klee_is_symbolic",
            "klee_is_replay",
            "klee_get_valuef",
            "klee_get_valued",
            "klee_get_valuel",
            "klee_get_valuell",
            "klee_get_value_i32",
            "klee_get_value_i64",
            "klee_get_obj_size",
        ],
        variables: &[],
    },
    LibraryModel {
        name: "<library>/verifier.c",
        text: include_str!("../../models/verifier.c"),
        functions: &[
            "__VERIFIER_nondet_char",
            "__VERIFIER_nondet_uchar",
            "__VERIFIER_nondet_unsigned_char",
            "__VERIFIER_nondet_short",
            "__VERIFIER_nondet_ushort",
            "__VERIFIER_nondet_int",
            "__VERIFIER_nondet_uint",
            "__VERIFIER_nondet_unsigned",
            "__VERIFIER_nondet_long",
            "__VERIFIER_nondet_ulong",
            "__VERIFIER_nondet_longlong",
            "__VERIFIER_nondet_ulonglong",
            "__VERIFIER_nondet_float",
            "__VERIFIER_nondet_double",
            "__VERIFIER_nondet_u8",
            "__VERIFIER_nondet_u16",
            "__VERIFIER_nondet_u32",
            "__VERIFIER_nondet_U32",
            "__VERIFIER_nondet_bool",
            "__VERIFIER_nondet_size_t",
            "__VERIFIER_nondet_ssize_t",
            "__VERIFIER_nondet_loff_t",
            "__VERIFIER_nondet_sector_t",
            "__VERIFIER_nondet_pthread_t",
            "__VERIFIER_nondet_schar",
            "__VERIFIER_nondet_int8",
            "__VERIFIER_nondet_uint8",
            "__VERIFIER_nondet_int16",
            "__VERIFIER_nondet_uint16",
            "__VERIFIER_nondet_int32",
            "__VERIFIER_nondet_uint32",
            "__VERIFIER_nondet_int64",
            "__VERIFIER_nondet_uint64",
            "__VERIFIER_nondet_u64",
            "__VERIFIER_nondet_S8",
            "__VERIFIER_nondet_pointer",
            "__VERIFIER_nondet_pchar",
            "__VERIFIER_nondet_charp",
            "__VERIFIER_nondet_const_char_pointer",
            "__VERIFIER_nondet_memory",
        ],
        variables: &[],
    },
];

/// Models of nondeterministic functions (time, random numbers); they replace others where external functions are
/// inputs.
pub(crate) static NONDETERMINISTIC: LibraryModel = LibraryModel {
    name: "<library>/time.c",
    text: include_str!("../../models/time.c"),
    functions: &["time", "clock", "rand", "random", "srand", "srandom"],
    variables: &[],
};

/// Models for concrete execution only; where external functions are inputs, these are external functions.
pub(crate) static DESCRIPTORS: LibraryModel = LibraryModel {
    name: "<library>/descriptors.c",
    text: include_str!("../../models/descriptors.c"),
    functions: &["close", "creat", "lseek", "open", "read", "write"],
    variables: &[],
};

/// The state of models in the words that messages use.
const STATE_DESCRIPTIONS: [(&str, &str); 18] = [
    ("handlers", "the handlers of signals"),
    ("tmpnam.count", "the names that `tmpnam` gave"),
    ("tmpnam.own", "the names that `tmpnam` gave"),
    ("touchstone_at_end", "standard input"),
    ("touchstone_clock", "what `clock` gave"),
    ("touchstone_descriptors.opened", "the library's files"),
    ("touchstone_errno", "errno"),
    ("touchstone_files.first", "the library's files"),
    ("touchstone_given", "standard input"),
    ("touchstone_given_at", "standard input"),
    ("touchstone_pending", "standard input"),
    ("touchstone_random", "the state of `rand`"),
    ("touchstone_random_at", "the state of `rand`"),
    ("touchstone_stream_table.all", "the library's streams"),
    ("touchstone_streams", "the library's streams"),
    ("touchstone_strtok_rest", "what `strtok` keeps"),
    ("touchstone_time", "what `time` gave"),
    ("touchstone_variables", "the environment"),
];

/// Functions that the library itself calls from the program, if the program defines them.
const REPLACEABLE: [&str; 4] = ["malloc", "calloc", "realloc", "free"];
/// Recognised functions on standard output, unless the program redirects it.
pub(crate) const CONSOLE_OUTPUT: [&str; 3] = ["printf", "putchar", "puts"];
/// Functions that compilers always inline (without `-fno-builtin`), even if the program defines them.
const ALWAYS_INLINED: [&str; 5] = ["abs", "labs", "llabs", "fabs", "fabsf"];

/// Returns true if the library itself calls the program's definition of a function.
pub(crate) fn is_replaceable(name: &str) -> bool {
    REPLACEABLE.contains(&name)
}
/// Returns true if compilers inline a function even if the program defines it.
pub(crate) fn is_always_inlined(name: &str) -> bool {
    ALWAYS_INLINED.contains(&name)
}
/// Sets the role of a model's variable and its name in messages, since its own name is unknown to users.
pub(crate) fn describe(global: &mut Global, variable: &str) {
    let known = STATE_DESCRIPTIONS.iter().find(|(name, _)| *name == variable);
    global.display_name = known.map(|(_, display_name)| display_name.to_string());
    global.role = match variable {
        "touchstone_errno" => GlobalRole::LibraryState,
        // Output may fail independently of their contents; where files are inputs, only the addresses of streams
        // matter.
        "touchstone_console.out" | "touchstone_streams" => GlobalRole::Runtime,
        _ => GlobalRole::Variable,
    };
}
/// Returns true if a function has a model.
pub(crate) fn has(name: &str) -> bool {
    MODELS.iter().any(|model| model.functions.contains(&name))
}

/// Returns the modelled function that implements a compiler builtin.
pub(crate) fn of_builtin(name: &str) -> Option<String> {
    let plain = name.strip_prefix("__builtin_")?;
    // Programs run in one thread, so that locks have no effect.
    let plain = plain.strip_suffix("_unlocked").unwrap_or(plain);
    let own = format!("touchstone_{plain}");
    if has(&own) { Some(own) } else { has(plain).then(|| plain.to_string()) }
}
