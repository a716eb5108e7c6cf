//! Compile flags that change the meaning of a program.
//!
//! Types and layouts are computed here and not by clang, so that a flag that changes them must be known. A flag is
//! honoured, known to be irrelevant, refused, or named as an assumption: none is ignored silently.

use crate::error::FrontError;
use touchstone_base::fault::{Fault, is_injected};

/// The effects of flags on one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FlagEffects {
    /// Enumerations are as narrow as their values allow.
    pub short_enums: bool,
    /// The maximum alignment of members, as by `#pragma pack`.
    pub packing: Option<u64>,
    /// Objects may be accessed as any type.
    pub any_aliasing: bool,
    /// Plain `char` is unsigned.
    pub unsigned_char: bool,
    /// Inline functions follow the rules of gnu89: `extern inline` is no external definition.
    pub gnu89_inline: bool,
    /// The flag by which multiplications and additions of floats may be fused, which changes their rounding.
    pub fused: Option<String>,
    /// Flags with an unknown effect.
    pub unknown: Vec<String>,
}

/// Flags that select another target, or other types, than those of x86-64 Linux.
const OTHER_TARGETS: [&str; 8] = ["-m32", "-mx32", "-m16", "-miamcu", "-mbig-endian", "-EB", "-mthumb", "-marm"];

/// Flags that change the meaning of programs and are not honoured, with their effect.
const REFUSED: [(&str, &str); 8] = [
    ("-funsigned-bitfields", "makes plain bit-fields unsigned"),
    ("-fno-signed-bitfields", "makes plain bit-fields unsigned"),
    ("-fsingle-precision-constant", "makes floating constants single"),
    ("-fshort-double", "makes `double` single"),
    ("-fsso-struct=big-endian", "reverses the bytes of members"),
    ("-mms-bitfields", "places bit-fields differently"),
    ("-mlong-double-64", "makes `long double` double"),
    ("-mlong-double-128", "makes `long double` a quadruple float"),
];

/// Beginnings of `-f` flags, without `no-`, that are honoured elsewhere or do not change what a program computes.
const IRRELEVANT: &str = "PIC PIE pic pie plt stack- omit-frame visibility function-sections data-sections diagnostics \
    color-diagnostics message-length lto fat-lto use-linker inline unroll tree- ipa- gcse loop peel split sched align- \
    reorder optimize merge-constants ident verbose-asm debug dwarf var-tracking eliminate record profile test-coverage \
    coverage auto-profile branch guess prefetch rename rerun section-anchors shrink ssa- stdarg store-merging \
    strict-overflow wrapv thread-jumps toplevel trampolines vect web whole-program zero common asynchronous-unwind \
    unwind-tables exceptions non-call math-errno trapping-math crossjumping defer delayed builtin freestanding hosted \
    signed-bitfields unsigned-bitfields short-wchar instrument-functions gnuc-version ms-extensions ms-compatibility plan9 permissive sanitize \
    syntax-only max- macro- working-directory preprocessed directives-only file-prefix debug-prefix cf-protection \
    caller-saves combine compare-elim conserve cprop cse dce dse devirtualize early-inlining expensive float-store \
    forward hoist if-conversion indirect ira isolate ivopts jump-tables keep lifetime live-range modulo move multiflags \
    partial predictive printf-return random-seed ree save-optimization semantic-interposition strict-volatile \
    tracer track-macro use-ld bracket-depth spell template caret show- ansi-escape crash integrated declspec xray \
    experimental standalone limit-debug emulated-tls extended-identifiers tls-model checking compilation report \
    mem-report time-report opt-info pch dump analyzer callgraph stats fp-contract=off fp-contract=on strict-flex \
    analyze gnu-unique cond-mismatch lax-vector allow-store code-hoisting unit-at";

/// Beginnings of `-m` flags, without `no-`, that do not change what a program computes on x86-64.
const IRRELEVANT_FOR_MACHINE: &str = "arch= tune= sse ssse avx mmx 3dnow fma bmi popcnt lzcnt aes pclmul rdrnd rdseed \
    sha adx f16c xsave cx16 movbe prf red-zone cmodel= 64 fentry general-regs-only stackrealign preferred-stack \
    incoming-stack stack- indirect-branch function-return retpoline omit-leaf accumulate push-args sahf tls- \
    vzeroupper align- shstk cet skip-rax harden large-data fpmath=sse veclibabi abi=sysv record-mcount nop-mcount \
    prefer-vector branches mitigate relax llvm crc32 fsgsbase";

/// Processors without instructions that fuse a multiplication and an addition.
const UNFUSED_PROCESSORS: [&str; 14] = [
    "x86-64",
    "x86-64-v2",
    "nocona",
    "core2",
    "nehalem",
    "corei7",
    "westmere",
    "sandybridge",
    "corei7-avx",
    "ivybridge",
    "silvermont",
    "k8",
    "amdfam10",
    "btver1",
];

/// Returns the effects of flags; an error for a flag under which verdicts would be wrong.
pub(crate) fn effects(flags: &[String]) -> Result<FlagEffects, FrontError> {
    let mut found = FlagEffects::default();
    let mut unfused = false;
    if is_injected(Fault::FlagsIgnored) {
        return Ok(found);
    }
    let mut words = flags.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let target = match word {
            "-target" | "-arch" => words.next(),
            _ => word.strip_prefix("--target=").or_else(|| word.strip_prefix("-target=")),
        };
        if OTHER_TARGETS.contains(&word) {
            return Err(FrontError::OtherTarget { flag: word.to_string() });
        }
        if let Some(target) = target.filter(|target| !is_own_target(target)) {
            let flag = if word.contains('=') { word.to_string() } else { format!("{word} {target}") };
            return Err(FrontError::OtherTarget { flag });
        }
        if let Some((flag, effect)) = REFUSED.iter().find(|(flag, _)| *flag == word) {
            return Err(FrontError::RefusedFlag { flag, effect });
        }
        match word {
            "-fshort-enums" => found.short_enums = true,
            "-fno-short-enums" => found.short_enums = false,
            "-fpack-struct" => found.packing = Some(1),
            "-fno-pack-struct" => found.packing = None,
            "-fno-strict-aliasing" => found.any_aliasing = true,
            "-fstrict-aliasing" => found.any_aliasing = false,
            "-funsigned-char" | "-fno-signed-char" | "--unsigned-chars" => found.unsigned_char = true,
            "-fsigned-char" | "-fno-unsigned-char" | "--signed-chars" => found.unsigned_char = false,
            "-fgnu89-inline"
            | "-ansi"
            | "-std=c89"
            | "-std=c90"
            | "-std=gnu89"
            | "-std=gnu90"
            | "-std=iso9899:1990"
            | "-std=iso9899:199409" => found.gnu89_inline = true,
            "-fno-gnu89-inline" => found.gnu89_inline = false,
            "-ffp-contract=off" => unfused = true,
            "-ffp-contract=on" | "-ffp-contract=fast" => unfused = false,
            _ => {
                if let Some(bytes) = word.strip_prefix("-fpack-struct=") {
                    found.packing = bytes.parse().ok();
                } else if can_fuse(word) {
                    found.fused = Some(word.to_string());
                } else if word.starts_with("-std=") {
                    found.gnu89_inline = false;
                } else if !is_irrelevant(word) {
                    found.unknown.push(word.to_string());
                }
            }
        }
    }
    if unfused {
        found.fused = None;
    }
    Ok(found)
}

/// Returns true for a target with the types and layouts of x86-64 Linux.
fn is_own_target(target: &str) -> bool {
    let machine = target.split('-').next().unwrap_or_default();
    let environment = target.split('-').next_back().unwrap_or_default();
    let known = ["x86_64", "amd64", "linux", "gnu", "musl"].contains(&environment);
    matches!(machine, "x86_64" | "amd64") && known
}

/// Returns true for a flag that lets compilers fuse operations on floats.
fn can_fuse(word: &str) -> bool {
    let rest = word.strip_prefix("-m").unwrap_or_default();
    match rest.strip_prefix("arch=") {
        Some(processor) => !UNFUSED_PROCESSORS.contains(&processor),
        None => rest.starts_with("fma") || rest.starts_with("avx512"),
    }
}

/// Returns true for a flag of the code generator that does not change what a program computes, and for flags of other
/// kinds: the preprocessor's, warnings, and the language that clang knows.
fn is_irrelevant(word: &str) -> bool {
    let begins = |list: &str, rest: &str| {
        let rest = rest.strip_prefix("no-").unwrap_or(rest);
        list.split_ascii_whitespace().any(|start| rest.starts_with(start))
    };
    match (word.strip_prefix("-f"), word.strip_prefix("-m")) {
        (Some(rest), _) => begins(IRRELEVANT, rest),
        (_, Some(rest)) => begins(IRRELEVANT_FOR_MACHINE, rest),
        _ => word != "-Ofast",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flags: &str) -> Result<FlagEffects, FrontError> {
        effects(&flags.split(' ').map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn flags_that_change_the_target_are_refused_by_name() {
        for flags in [
            "-O2 -m32",
            "-mx32",
            "--target=x86_64-linux-gnux32",
            "--target=arm-none-eabi",
            "-target aarch64-linux-gnu",
            "-fshort-double",
        ] {
            let error = of(flags).expect_err(flags).to_string();
            assert!(error.contains(flags.trim_start_matches("-O2 ")), "{error}");
        }
        assert_eq!(
            of("-m64 --target=x86_64-linux-gnu -fPIC -march=native -std=c99 -Wall").ok(),
            Some(FlagEffects { fused: Some("-march=native".to_string()), ..Default::default() })
        );
        assert_eq!(of("-march=native -ffp-contract=off -march=x86-64").ok(), Some(Default::default()));
    }

    #[test]
    fn the_last_of_two_contrary_flags_counts_and_unknown_ones_are_named() {
        let found = of("-fshort-enums -fno-short-enums -fpack-struct=2 -fno-strict-aliasing -fsigned-char \
                        -fno-signed-char -std=c89 -std=c99 -ffast-math -mwhatever");
        let expected = FlagEffects {
            short_enums: false,
            packing: Some(2),
            any_aliasing: true,
            unsigned_char: true,
            gnu89_inline: false,
            fused: None,
            unknown: vec!["-ffast-math".to_string(), "-mwhatever".to_string()],
        };
        assert_eq!(found.ok(), Some(expected));
    }
}
