//! The options that a project file may set only if the command line trusts it (`--trust-config`).
//!
//! `touchstone.toml` comes with the sources, and sources may be foreign. So it can neither switch the sandbox off, nor
//! pass flags that make a compiler execute other programs, or write to other files than Touchstone asks for.

use clap::Arg;
use std::ffi::OsString;

/// The option that trusts the project file.
pub const TRUST_CONFIG: &str = "trust_config";

/// The beginnings of compiler flags that name a program or a plugin to execute, a file to write, or a file with more
/// flags.
const DANGEROUS_FLAGS: [&str; 28] = [
    "@",
    "-B",
    "--prefix",
    "-o",
    "--output",
    "-specs",
    "--specs",
    "-wrapper",
    "-fplugin",
    "-fpass-plugin",
    "-iplugindir",
    "-load",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Wp,",
    "-Wa,",
    "-fuse-ld",
    "--ld-path",
    "-ccc-",
    "--config",
    "-gcc-toolchain",
    "--gcc-toolchain",
    "-MF",
    "-aux-info",
    "-dumpdir",
    "-save-temps",
];

/// Parts of a linker flag that do the same.
const DANGEROUS_LINKER_OPTIONS: [&str; 6] = ["-o", "--output", "-plugin", "--plugin", "-Map", "@"];

/// Returns a description of the first value that only a trusted file may set for an option.
pub fn needs_trust(arg: &Arg, values: &[OsString]) -> Option<String> {
    let mut values = values.iter().map(|value| value.to_string_lossy());
    match arg.get_id().as_str() {
        "unsafe_replay" => values.next().map(|_| "it would switch the sandbox off".to_string()),
        "flags" => {
            let dangerous = values.find(|flag| is_dangerous(flag));
            dangerous.map(|flag| format!("the compiler flag `{flag}` may execute programs or overwrite files"))
        }
        // These are separate arguments of the compiler, which would read more flags from such a file.
        "define" | "include" => {
            let file = values.find(|value| value.starts_with('@'));
            file.map(|value| format!("`{value}` would be read as a file of compiler flags"))
        }
        _ => None,
    }
}

fn is_dangerous(flag: &str) -> bool {
    match flag.strip_prefix("-Wl,") {
        Some(options) => {
            let is_listed = |option: &str| DANGEROUS_LINKER_OPTIONS.iter().any(|listed| option.starts_with(listed));
            options.split(',').any(is_listed)
        }
        None => DANGEROUS_FLAGS.iter().any(|listed| flag.starts_with(listed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_execute_or_overwrite_need_trust() {
        for flag in ["-o", "-ofile", "-fplugin=./a.so", "-specs=x", "-B.", "@flags", "-Wl,-Map,x", "-Wl,--plugin=a.so"]
        {
            assert!(is_dangerous(flag), "{flag}");
        }
        for flag in ["-O2", "-DX=1", "-Iinclude", "-Wl,-rpath,lib", "-lm", "-std=c11", "-Wall", "-include", "-m32"] {
            assert!(!is_dangerous(flag), "{flag}");
        }
    }
}
