//! What is said of methods without code becomes a class beside the program: static methods over their parameters and their result, which stubs ask.
//! Every expression has a line of its own, so messages of the compiler lead back to it.

use super::specification::{Case, Piece, Said, Values, When, World, WorldError};
use std::path::{Path, PathBuf};
use touchstone_front_java::{Jdk, JdkError, MethodSpec, Program, SpecError, SpecifiedMethod};
use touchstone_ir::FuncId;

/// What became of what is said.
#[derive(Default, Debug)]
pub(crate) struct Spoken {
    /// Classes that say it, with the index of what is said.
    pub by: Vec<(usize, String)>,
    /// What is not used, and why.
    pub unused: Vec<(usize, SpecError)>,
    /// What checks it: the class that says it, which method of it, and what is called.
    pub checks: Vec<(String, String, FuncId)>,
}

/// Why it can't be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SayingError {
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Jdk(#[from] JdkError),
}

/// Compiles what is said of a program's methods into a directory of its class path, and tells the program.
pub(crate) fn tell(
    world: &World,
    program: &Program,
    jdk: &Jdk,
    class_path: &[PathBuf],
    to: &Path,
) -> Result<Spoken, SayingError> {
    let mut spoken = Spoken::default();
    let mut found = Vec::new();
    for (index, said) in world.said.iter().enumerate() {
        let Some((class, name)) = said.function.rsplit_once('.') else {
            spoken.unused.push((index, SpecError::NoClass));
            continue;
        };
        let of = match program.specified_method(class, name, said.params.len()) {
            Ok(of) => of,
            Err(why) => {
                spoken.unused.push((index, why));
                continue;
            }
        };
        let source = Source::of(said, &of, index, program)?;
        spoken.by.push((index, source.class.clone()));
        found.push((said, of, source));
    }
    let mut files = Vec::new();
    for (_, _, source) in &found {
        let file = to.join(format!("{}.java", source.class.replace('/', "_")));
        let failed = |error: std::io::Error| JdkError::Refused(format!("can't write {}: {error}", file.display()));
        std::fs::write(&file, &source.text).map_err(failed)?;
        files.push(file);
    }
    if files.is_empty() {
        return Ok(spoken);
    }
    if let Err(error) = jdk.compile_alongside(&files, class_path, to) {
        let JdkError::Refused(text) = &error else { return Err(error.into()) };
        let placed = found.iter().zip(&files).find_map(|((said, _, source), file)| source.place(said, file, text));
        return Err(placed.map_or(error.into(), SayingError::World));
    }
    for (_, of, source) in found {
        program.add_spec(MethodSpec { method: of, spec_class: source.class, throws: source.throws });
    }
    Ok(spoken)
}

/// A class that says something.
struct Source {
    class: String,
    text: String,
    throws: Vec<String>,
    /// By line: the expression that stands there.
    lines: Vec<(usize, Piece)>,
}

impl Source {
    fn of(said: &Said, of: &SpecifiedMethod, index: usize, program: &Program) -> Result<Source, WorldError> {
        let package = of.class.rsplit_once('/').map_or("", |(package, _)| package);
        let name = format!("TouchstoneWorld{}", index + 1);
        let class = if package.is_empty() { name.clone() } else { format!("{package}/{name}") };
        let mut writer =
            Writer { said, of, source: Source { class, text: String::new(), throws: Vec::new(), lines: Vec::new() } };
        if !package.is_empty() {
            writer.add(&format!("package {};", package.replace('/', ".")));
        }
        writer.add(&format!("final class {name} {{"));
        writer.cases(program)?;
        writer.add("}");
        Ok(writer.source)
    }

    /// The place of the first message about this file.
    fn place(&self, said: &Said, file: &Path, messages: &str) -> Option<WorldError> {
        let prefix = format!("{}:", file.display());
        let (line, message) = messages.lines().find_map(|line| line.strip_prefix(&prefix)?.split_once(": error: "))?;
        let line: usize = line.parse().ok()?;
        // A message about what follows an expression is about the expression.
        let piece = self.lines.iter().rev().find(|(at, _)| *at <= line).map(|(_, piece)| piece)?;
        let help = format!("in `{}`", piece.text);
        Some(said.wrong(piece, message, help))
    }
}

struct Writer<'s> {
    said: &'s Said,
    of: &'s SpecifiedMethod,
    source: Source,
}

impl Writer<'_> {
    fn add(&mut self, line: &str) {
        self.source.text.push_str(line);
        self.source.text.push('\n');
    }

    fn expression(&mut self, piece: &Piece) {
        let line = self.source.text.matches('\n').count() + 1;
        self.source.lines.push((line, piece.clone()));
        self.add(&piece.text);
    }

    fn cases(&mut self, program: &Program) -> Result<(), WorldError> {
        let said = self.said;
        let returns = self.of.result != "void";
        let mut throwing: Vec<(String, Vec<&Case>)> = Vec::new();
        for case in &said.cases {
            if let Some(
                super::specification::Write::Value(place, _) | super::specification::Write::Anything(place, _),
            ) = case.writes.first()
            {
                let help = "stubs of Java answer and throw; leave `writes` out";
                return Err(said.wrong(place, "methods of Java write nothing here", help));
            }
            if let (Some(Values::One(at) | Values::Range(at, _)), false) = (&case.returns, returns) {
                return Err(said.wrong(at, format!("`{}` returns nothing", said.function), "leave `returns` out"));
            }
            let thrown = match (&case.throws, case.fails) {
                (Some(class), _) => program.exception(&class.text).ok_or_else(|| {
                    let what = format!("`{}` is no exception that can be made without arguments", class.text);
                    said.wrong(class, what, "write its class with its package: java.io.IOException")
                })?,
                (None, true) => "java/lang/AssertionError".to_string(),
                (None, false) => continue,
            };
            if case.returns.is_some() {
                let what = "a case that returns and throws".to_string();
                return Err(said.wrong(&said.place_of(case), what, "make two cases of it"));
            }
            match throwing.iter_mut().find(|(class, _)| *class == thrown) {
                Some((_, cases)) => cases.push(case),
                None => throwing.push((thrown, vec![case])),
            }
        }
        let returning: Vec<&Case> = said.cases.iter().filter(|case| case.throws.is_none() && !case.fails).collect();
        self.method("boolean returns", true);
        self.any(&returning, true);
        self.end("false");
        for (number, (class, cases)) in throwing.iter().enumerate() {
            self.method(&format!("boolean throws{}", number + 1), false);
            self.any(cases, false);
            self.end("false");
            self.source.throws.push(class.clone());
        }
        self.method("int never", false);
        self.add("boolean some =");
        for case in &said.cases {
            self.when(case);
            self.add("||");
        }
        self.add("false; if (true) return some ? 0 : 1;");
        self.end("0");
        self.method("int twice", true);
        for cases in std::iter::once(&returning).chain(throwing.iter().map(|(_, cases)| cases)) {
            for (second, b) in cases.iter().enumerate() {
                for a in &cases[..second] {
                    let number = |case: &Case| said.cases.iter().position(|other| other == case).unwrap_or(0) + 1;
                    self.add("if (");
                    self.holds(a, true);
                    self.add("&&");
                    self.holds(b, true);
                    self.add(&format!(") return {};", 1000 * number(a) + number(b)));
                }
            }
        }
        self.end("0");
        Ok(())
    }

    fn method(&mut self, start: &str, with_result: bool) {
        let mut params: Vec<String> =
            self.of.params.iter().zip(&self.said.params).map(|(ty, name)| format!("{ty} {name}")).collect();
        if with_result && self.of.result != "void" {
            params.push(format!("{} result", self.of.result));
        }
        self.add(&format!("static {start}({}) {{ try {{", params.join(", ")));
    }

    /// What goes wrong has not said yes.
    fn end(&mut self, otherwise: &str) {
        self.add(&format!("}} catch (RuntimeException e) {{ }} return {otherwise}; }}"));
    }

    fn any(&mut self, cases: &[&Case], with_result: bool) {
        self.add("if (");
        for case in cases {
            self.holds(case, with_result);
            self.add("||");
        }
        self.add("false) return true;");
    }

    fn holds(&mut self, case: &Case, with_result: bool) {
        self.add("(");
        self.when(case);
        if let (true, Some(values)) = (with_result, &case.returns) {
            self.add("&& (");
            self.within(values);
            self.add(")");
        }
        self.add(")");
    }

    fn when(&mut self, case: &Case) {
        match &case.when {
            When::Always => self.add("true"),
            When::Holds(piece) => {
                self.add("(");
                self.expression(piece);
                self.add(")");
            }
            When::Otherwise => {
                let said = self.said;
                self.add("(true");
                for other in &said.cases {
                    match &other.when {
                        When::Holds(piece) => {
                            self.add("&& !(");
                            self.expression(piece);
                            self.add(")");
                        }
                        When::Always => self.add("&& false"),
                        When::Otherwise => {}
                    }
                }
                self.add(")");
            }
        }
    }

    fn within(&mut self, values: &Values) {
        const PRIMITIVE: [&str; 8] = ["boolean", "byte", "char", "short", "int", "long", "float", "double"];
        let is_primitive = PRIMITIVE.contains(&self.of.result.as_str());
        match values {
            Values::Any => self.add("true"),
            Values::One(piece) if is_primitive => {
                self.add(&format!("result == ({}) (", self.of.result));
                self.expression(piece);
                self.add(")");
            }
            Values::One(piece) => {
                self.add("java.util.Objects.equals(result,");
                self.expression(piece);
                self.add(")");
            }
            Values::Range(low, high) => {
                self.add("(");
                self.expression(low);
                self.add(") <= result && result <= (");
                self.expression(high);
                self.add(")");
            }
        }
    }
}
