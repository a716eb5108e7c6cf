//! Translation of addresses in a report to source lines.
//!
//! A sanitizer that symbolizes itself reads all debug information in every process, which takes a fifth of a second per
//! test. Without that it prints `(program+0x1234)`, and these few addresses are resolved here, each once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The source locations of a program's addresses, as far as they were requested.
pub(crate) struct Symbolizer<'a> {
    program: &'a Path,
    known: BTreeMap<String, Option<String>>,
}

impl<'a> Symbolizer<'a> {
    pub(crate) fn new(program: &'a Path) -> Self {
        Symbolizer { program, known: BTreeMap::new() }
    }

    /// Appends `file:line` to stack lines with addresses of the program.
    pub(crate) fn resolve(&mut self, lines: &mut [String]) {
        let unknown: Vec<String> = lines
            .iter()
            .filter_map(|line| self.address(line))
            .filter(|address| !self.known.contains_key(*address))
            .map(str::to_string)
            .collect();
        if !unknown.is_empty() {
            let locations = self.look_up(&unknown);
            self.known.extend(unknown.into_iter().zip(locations));
        }
        for line in lines {
            let location = self.address(line).and_then(|address| self.known.get(address)).cloned().flatten();
            if let Some(location) = location {
                line.push(' ');
                line.push_str(&location);
            }
        }
    }

    /// Returns the offset in `#0 0x55d0  (/tmp/x/tests1+0x1234)`, or `None` if the line is not of this program. Newer
    /// versions append a build id.
    fn address<'l>(&self, line: &'l str) -> Option<&'l str> {
        if !line.trim_start().starts_with('#') {
            return None;
        }
        let (_, inside) = line.split_once(" (")?;
        let (path, rest) = inside.split_once("+0x")?;
        if self.program != Path::new(path) {
            return None;
        }
        rest.split(|char: char| !char.is_ascii_hexdigit()).next().filter(|offset| !offset.is_empty())
    }

    fn look_up(&self, addresses: &[String]) -> Vec<Option<String>> {
        for tool in ["addr2line", "llvm-addr2line"] {
            let mut command = Command::new(tool);
            command.arg("-e").arg(self.program).args(addresses.iter().map(|address| format!("0x{address}")));
            let Ok(output) = command.output() else { continue };
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let locations: Vec<Option<String>> = text.lines().map(location).collect();
            if locations.len() == addresses.len() {
                return locations;
            }
        }
        vec![None; addresses.len()]
    }
}

/// Parses `dir/a.c:12 (discriminator 3)`; unknown locations are `??:0` or `??:?`.
fn location(line: &str) -> Option<String> {
    let location = line.split(' ').next()?;
    let known = !location.starts_with("??") && !location.ends_with(":?") && !location.ends_with(":0");
    known.then(|| location.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stack_lines_of_the_program_have_addresses() {
        let symbols = Symbolizer::new(Path::new("/tmp/x/tests1"));
        let check = |line: &str, expected: Option<&str>| assert_eq!(symbols.address(line), expected);
        check("    #0 0x55d0c1  (/tmp/x/tests1+0x12af)", Some("12af"));
        check("    #1 0x55d0c1  (/tmp/x/tests1+0x12af) (BuildId: 00ff)", Some("12af"));
        check("    #2 0x7f00  (/lib/libc.so.6+0x2724)", None);
        check("SUMMARY: AddressSanitizer: SEGV (/tmp/x/tests1+0x12af)", None);
    }

    #[test]
    fn unknown_places_are_none() {
        let check = |line: &str, expected: Option<&str>| assert_eq!(location(line).as_deref(), expected);
        check("/p/a.c:12 (discriminator 3)", Some("/p/a.c:12"));
        check("/p/a.c:12", Some("/p/a.c:12"));
        check("??:0", None);
        check("a.c:?", None);
    }
}
