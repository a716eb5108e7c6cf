//! Cobertura XML according to `coverage-04.dtd`: a package for each directory, a class for each file.

use super::lines::{FileLines, Ratio, by_file};
use super::xml::escape;
use crate::document::Document;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the document as Cobertura XML. The time stamp is 0, so that the same document gives the same bytes.
pub fn cobertura(document: &Document) -> String {
    let files = by_file(document);
    let mut packages: BTreeMap<&str, Vec<(&str, &FileLines<'_>)>> = BTreeMap::new();
    for (path, file) in &files {
        let directory = path.rsplit_once('/').map_or(".", |(directory, _)| directory);
        packages.entry(directory).or_default().push((path, file));
    }
    let sum = |files: &[(&str, &FileLines<'_>)]| {
        let start = (Ratio::default(), Ratio::default());
        files.iter().fold(start, |(lines, branches), (_, file)| {
            (lines.join(file.line_ratio()), branches.join(file.branch_ratio()))
        })
    };
    let all: Vec<(&str, &FileLines<'_>)> = files.iter().map(|(path, file)| (*path, file)).collect();
    let (lines, branches) = sum(&all);
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n",
    );
    let _ = writeln!(
        out,
        "<coverage line-rate=\"{}\" branch-rate=\"{}\" lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" \
         branches-valid=\"{}\" complexity=\"0\" version=\"touchstone {}\" timestamp=\"0\">",
        lines.rate(),
        branches.rate(),
        lines.hit,
        lines.found,
        branches.hit,
        branches.found,
        env!("CARGO_PKG_VERSION")
    );
    out.push_str("  <sources>\n    <source>.</source>\n  </sources>\n  <packages>\n");
    for (name, files) in &packages {
        let (lines, branches) = sum(files);
        let (line_rate, branch_rate) = (lines.rate(), branches.rate());
        let _ = writeln!(
            out,
            "    <package name=\"{}\" line-rate=\"{line_rate}\" branch-rate=\"{branch_rate}\" complexity=\"0\">",
            escape(name)
        );
        out.push_str("      <classes>\n");
        for (path, file) in files {
            class(&mut out, path, file);
        }
        out.push_str("      </classes>\n    </package>\n");
    }
    out.push_str("  </packages>\n</coverage>\n");
    out
}

fn class(out: &mut String, path: &str, file: &FileLines<'_>) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let _ = writeln!(
        out,
        "        <class name=\"{}\" filename=\"{}\" line-rate=\"{}\" branch-rate=\"{}\" complexity=\"0\">",
        escape(name),
        escape(path),
        file.line_ratio().rate(),
        file.branch_ratio().rate()
    );
    out.push_str("          <methods>\n");
    for ((line, name), hits) in &file.functions {
        let _ = writeln!(
            out,
            "            <method name=\"{}\" signature=\"()\" line-rate=\"{}\" branch-rate=\"1\" complexity=\"0\">\n              \
             <lines><line number=\"{line}\" hits=\"{hits}\"/></lines>\n            </method>",
            escape(name),
            u8::from(*hits > 0)
        );
    }
    out.push_str("          </methods>\n          <lines>\n");
    for (line, hits) in &file.lines {
        let _ = write!(out, "            <line number=\"{line}\" hits=\"{hits}\"");
        match file.branches.get(line) {
            None => out.push_str("/>\n"),
            Some(groups) => {
                let percent = |group: &mut dyn Iterator<Item = &u64>| {
                    let ratio = super::lines::ratio(group.map(|hits| *hits > 0));
                    (ratio, ratio.hit * 100 / ratio.found.max(1))
                };
                let (ratio, share) = percent(&mut groups.iter().flatten());
                let (hit, found) = (ratio.hit, ratio.found);
                let _ = writeln!(out, " branch=\"true\" condition-coverage=\"{share}% ({hit}/{found})\">");
                out.push_str("              <conditions>\n");
                for (number, group) in groups.iter().enumerate() {
                    let (_, share) = percent(&mut group.iter());
                    let _ = writeln!(
                        out,
                        "                <condition number=\"{number}\" type=\"jump\" coverage=\"{share}%\"/>"
                    );
                }
                out.push_str("              </conditions>\n            </line>\n");
            }
        }
    }
    out.push_str("          </lines>\n        </class>\n");
}
