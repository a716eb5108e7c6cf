//! JaCoCo's XML (`report.dtd`, 1.1), which Sonar, Codecov and Jenkins read: a package for each package of Java or
//! directory of C.
//!
//! JaCoCo counts instructions, which no document has: `ci` and `mi` of a line only say whether it was executed, and
//! there are no counters of instructions and complexity.

use super::lines::{FileLines, Ratio, by_file, ratio};
use super::xml::escape;
use crate::document::Document;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The name of a function, split as in JaCoCo.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name<'d> {
    package: String,
    class: String,
    method: &'d str,
    parameters: &'d str,
}

impl<'d> Name<'d> {
    /// Creates the name of a function of a package.
    fn new(package: &str, file: &str, function: &'d str) -> Name<'d> {
        let (qualified, method, parameters) = split(function);
        let class = match qualified {
            Some(class) if file.ends_with(JAVA) => {
                let package = format!("{}.", package.replace('/', "."));
                let inside = class.strip_prefix(&package).unwrap_or(class).replace('.', "$");
                format!("{}{inside}", package.trim_start_matches('.').replace('.', "/"))
            }
            _ => file.to_string(),
        };
        Name { package: package.to_string(), class, method, parameters }
    }
}

const JAVA: &str = ".java";

/// Splits a function into its class, if it has one, its own name, and its parameters.
fn split(function: &str) -> (Option<&str>, &str, &str) {
    let (name, parameters) = function.find('(').map_or((function, "()"), |at| function.split_at(at));
    match name.split_once('#').or_else(|| name.rsplit_once('.')) {
        Some((class, method)) => (Some(class), method, parameters),
        None => (None, name, parameters),
    }
}

/// Returns the package of a file: the prefix of the class that is named like the file, otherwise the part of its
/// directory that occurs in the names of classes.
fn package_of<'f>(file: &str, functions: impl Iterator<Item = &'f str>) -> String {
    let (directory, base) = file.rsplit_once('/').unwrap_or(("", file));
    let Some(stem) = base.strip_suffix(JAVA) else {
        return if directory.is_empty() { ".".to_string() } else { directory.to_string() };
    };
    let of = |function: &'f str| {
        let parts: Vec<&str> = split(function).0?.split(['.', '$']).collect();
        let by_directory = |length: &usize| {
            let package = parts[..*length].join("/");
            directory == package || directory.ends_with(&format!("/{package}"))
        };
        let named = parts.iter().position(|part| *part == stem);
        let length = named.or_else(|| (1..parts.len()).rev().find(by_directory))?;
        Some(parts[..length].join("/"))
    };
    functions.filter_map(of).max_by_key(String::len).unwrap_or_default()
}

/// The counters of an element.
#[derive(Clone, Copy, Default)]
struct Counters {
    branches: Ratio,
    lines: Ratio,
    methods: Ratio,
    classes: Ratio,
}

impl Counters {
    fn join(self, other: Counters) -> Counters {
        Counters {
            branches: self.branches.join(other.branches),
            lines: self.lines.join(other.lines),
            methods: self.methods.join(other.methods),
            classes: self.classes.join(other.classes),
        }
    }

    fn of_lines(file: &FileLines<'_>, lines: &BTreeSet<u32>) -> Counters {
        let hits = lines.iter().filter_map(|line| file.lines.get(line));
        let branches = lines.iter().filter_map(|line| file.branches.get(line)).flatten().flatten();
        Counters {
            lines: ratio(hits.map(|hits| *hits > 0)),
            branches: ratio(branches.map(|hits| *hits > 0)),
            ..Counters::default()
        }
    }

    /// Writes the counters in JaCoCo's order, without empty ones.
    fn write(self, out: &mut String) {
        let all = [("BRANCH", self.branches), ("LINE", self.lines), ("METHOD", self.methods), ("CLASS", self.classes)];
        for (kind, ratio) in all.into_iter().filter(|(_, ratio)| ratio.found > 0) {
            let missed = ratio.found - ratio.hit;
            let _ = write!(out, "<counter type=\"{kind}\" missed=\"{missed}\" covered=\"{}\"/>", ratio.hit);
        }
    }
}

/// A method: its first line, its number of executions, and its lines.
struct Method<'d> {
    name: Name<'d>,
    line: u32,
    hits: u64,
    lines: BTreeSet<u32>,
}

/// The files of a package, and in each the classes with their methods.
type Packages<'d> = BTreeMap<String, BTreeMap<&'d str, BTreeMap<String, Vec<Method<'d>>>>>;

/// Returns the document as JaCoCo's XML.
pub fn jacoco(document: &Document) -> String {
    let files = by_file(document);
    let ends: BTreeMap<(&str, &str), u32> = document
        .functions
        .iter()
        .filter_map(|function| Some(((function.file.as_str(), function.name.as_str()), function.end_line?)))
        .collect();
    let mut packages: Packages<'_> = BTreeMap::new();
    for (path, file) in &files {
        let package = package_of(path, file.functions.keys().map(|(_, name)| *name));
        for ((line, function), hits) in &file.functions {
            let end = ends.get(&(*path, *function)).copied().unwrap_or(*line).max(*line);
            let lines = file.lines.range(*line..=end).map(|(line, _)| *line).collect();
            let name = Name::new(&package, path, function);
            let classes = packages.entry(name.package.clone()).or_default().entry(path).or_default();
            let class = classes.entry(name.class.clone()).or_default();
            class.push(Method { name, line: *line, hits: *hits, lines });
        }
    }
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\">\n<report name=\"touchstone\">\n",
    );
    let mut all = Counters::default();
    for (name, inside) in &packages {
        let _ = writeln!(out, "<package name=\"{}\">", escape(name));
        let mut whole = Counters::default();
        let mut sources = String::new();
        for (path, classes) in inside {
            let Some(file) = files.get(path) else { continue };
            let mut of_file = source_counters(file);
            for (class, methods) in classes {
                let counters = write_class(&mut out, class, path, methods, file);
                of_file.methods = of_file.methods.join(counters.methods);
                of_file.classes = of_file.classes.join(counters.classes);
            }
            write_source(&mut sources, path, file, of_file);
            whole = whole.join(of_file);
        }
        out.push_str(&sources);
        whole.write(&mut out);
        out.push_str("\n</package>\n");
        all = all.join(whole);
    }
    all.write(&mut out);
    out.push_str("\n</report>\n");
    out
}

fn source_counters(file: &FileLines<'_>) -> Counters {
    Counters { lines: file.line_ratio(), branches: file.branch_ratio(), ..Counters::default() }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn write_class(out: &mut String, class: &str, path: &str, methods: &[Method<'_>], file: &FileLines<'_>) -> Counters {
    let _ = writeln!(out, "<class name=\"{}\" sourcefilename=\"{}\">", escape(class), escape(base(path)));
    let mut lines = BTreeSet::new();
    for method in methods {
        let Method { name, line, hits, lines: own } = method;
        let counters = Counters { methods: ratio([*hits > 0].into_iter()), ..Counters::of_lines(file, own) };
        // Class initialisers have the JVM's name.
        let (method, parameters) = match name.method {
            "static" => ("<clinit>", "()V"),
            method => (method, name.parameters),
        };
        let (shown, desc) = (escape(method), escape(parameters));
        let _ = write!(out, "<method name=\"{shown}\" desc=\"{desc}\" line=\"{line}\">");
        counters.write(out);
        out.push_str("</method>\n");
        lines.extend(own);
    }
    let methods = ratio(methods.iter().map(|method| method.hits > 0));
    let classes = ratio([methods.hit > 0].into_iter());
    let counters = Counters { methods, classes, ..Counters::of_lines(file, &lines) };
    counters.write(out);
    out.push_str("\n</class>\n");
    counters
}

fn write_source(out: &mut String, path: &str, file: &FileLines<'_>, counters: Counters) {
    let _ = writeln!(out, "<sourcefile name=\"{}\">", escape(base(path)));
    for (line, hits) in &file.lines {
        let branches = ratio(file.branches.get(line).into_iter().flatten().flatten().map(|hits| *hits > 0));
        let (mi, ci) = if *hits > 0 { (0, 1) } else { (1, 0) };
        let (mb, cb) = (branches.found - branches.hit, branches.hit);
        let _ = writeln!(out, "<line nr=\"{line}\" mi=\"{mi}\" ci=\"{ci}\" mb=\"{mb}\" cb=\"{cb}\"/>");
    }
    counters.write(out);
    out.push_str("\n</sourcefile>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(file: &str, function: &str) -> [String; 4] {
        let package =
            package_of(file, ["com.acme.A.B#x", function].into_iter().skip(usize::from(!function.contains("acme"))));
        let Name { package, class, method, parameters } = Name::new(&package, file, function);
        [package, class, method.to_string(), parameters.to_string()]
    }

    #[test]
    fn names_are_in_jacocos_parts() {
        assert_eq!(parts("src/com/acme/A.java", "com.acme.A.m"), ["com/acme", "com/acme/A", "m", "()"]);
        assert_eq!(parts("x/A.java", "com.acme.A.B#m(int,a.C)"), ["com/acme", "com/acme/A$B", "m", "(int,a.C)"]);
        assert_eq!(parts("x/A.java", "com.acme.Other.m"), ["com/acme", "com/acme/Other", "m", "()"]);
        assert_eq!(parts("A.java", "A.m"), ["", "A", "m", "()"]);
        assert_eq!(parts("src/gate.c", "open"), ["src", "src/gate.c", "open", "()"]);
    }
}
