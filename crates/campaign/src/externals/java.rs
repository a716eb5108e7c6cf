//! Translates the specifications of abstract methods to a Java class: static methods over the parameters and the
//! result, which stubs call. Every expression has a line of its own, so compiler messages can be mapped to the
//! specification.

use super::specification::{
    ExternalSpecs, FAILED_IN_JAVA, Fragment, FunctionSpec, ParsedCase, SpecGuard, SpecificationError, TOO_LARGE,
    ValueSet,
};
use std::path::{Path, PathBuf};
use touchstone_front_java::{Jdk, JdkError, LazyProgram, MethodSpec, SpecError, SpecifiedMethod};
use touchstone_ir::FuncId;

/// The specifications of a Java program, after translation.
#[derive(Default, Debug)]
pub(crate) struct JavaSpecs {
    /// The generated classes, with the index of their specification.
    pub by: Vec<(usize, String)>,
    /// Specifications without effect, with the reason.
    pub unused: Vec<(usize, SpecError)>,
    /// The methods that check specifications: generated class, name of the method, entry point.
    pub checks: Vec<(String, String, FuncId)>,
}

/// Errors of specifications for Java.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum JavaSpecError {
    #[error(transparent)]
    ExternalSpecs(#[from] SpecificationError),
    #[error(transparent)]
    Jdk(#[from] JdkError),
}

/// Compiles the specifications into a directory of the class path, and registers them with the program.
pub(crate) fn compile_specs(
    externals: &ExternalSpecs,
    program: &LazyProgram,
    jdk: &Jdk,
    class_path: &[PathBuf],
    to: &Path,
) -> Result<JavaSpecs, JavaSpecError> {
    let mut specs = JavaSpecs::default();
    let mut found = Vec::new();
    for (index, spec) in externals.functions.iter().enumerate() {
        let Some((class, name)) = spec.function.rsplit_once('.') else {
            specs.unused.push((index, SpecError::NoClass));
            continue;
        };
        let of = match program.specified_method(class, name, spec.params.len()) {
            Ok(of) => of,
            Err(why) => {
                specs.unused.push((index, why));
                continue;
            }
        };
        let source = Source::of(spec, &of, index, program)?;
        specs.by.push((index, source.class.clone()));
        found.push((spec, of, source));
    }
    let mut files = Vec::new();
    for (_, _, source) in &found {
        let file = to.join(format!("{}.java", source.class.replace('/', "_")));
        let failed = |error: std::io::Error| JdkError::Refused(format!("can't write {}: {error}", file.display()));
        std::fs::write(&file, &source.text).map_err(failed)?;
        files.push(file);
    }
    if files.is_empty() {
        return Ok(specs);
    }
    if let Err(error) = jdk.compile_alongside(&files, class_path, to) {
        let JdkError::Refused(text) = &error else { return Err(error.into()) };
        let placed = found.iter().zip(&files).find_map(|((spec, _, source), file)| source.place(spec, file, text));
        return Err(placed.map_or(error.into(), JavaSpecError::ExternalSpecs));
    }
    for (_, of, source) in found {
        program.add_spec(MethodSpec { method: of, spec_class: source.class, throws: source.throws });
    }
    Ok(specs)
}

/// A generated class.
struct Source {
    class: String,
    text: String,
    throws: Vec<String>,
    /// The expressions by line of the generated source.
    lines: Vec<(usize, Fragment)>,
}

impl Source {
    fn of(
        spec: &FunctionSpec,
        of: &SpecifiedMethod,
        index: usize,
        program: &LazyProgram,
    ) -> Result<Source, SpecificationError> {
        let package = of.class.rsplit_once('/').map_or("", |(package, _)| package);
        let name = format!("TouchstoneWorld{}", index + 1);
        let class = if package.is_empty() { name.clone() } else { format!("{package}/{name}") };
        let mut writer =
            Writer { spec, of, source: Source { class, text: String::new(), throws: Vec::new(), lines: Vec::new() } };
        if !package.is_empty() {
            writer.add(&format!("package {};", package.replace('/', ".")));
        }
        writer.add(&format!("final class {name} {{"));
        writer.cases(program)?;
        writer.add("}");
        Ok(writer.source)
    }

    /// Maps the first compiler message about this file to the specification.
    fn place(&self, spec: &FunctionSpec, file: &Path, messages: &str) -> Option<SpecificationError> {
        let prefix = format!("{}:", file.display());
        let (line, message) = messages.lines().find_map(|line| line.strip_prefix(&prefix)?.split_once(": error: "))?;
        let line: usize = line.parse().ok()?;
        // A message about what follows an expression concerns the expression.
        let fragment = self.lines.iter().rev().find(|(at, _)| *at <= line).map(|(_, fragment)| fragment)?;
        let help = format!("in `{}`", fragment.text);
        Some(spec.error_at(fragment, message, help))
    }
}

struct Writer<'s> {
    spec: &'s FunctionSpec,
    of: &'s SpecifiedMethod,
    source: Source,
}

impl Writer<'_> {
    fn add(&mut self, line: &str) {
        self.source.text.push_str(line);
        self.source.text.push('\n');
    }

    fn expression(&mut self, fragment: &Fragment) {
        let line = self.source.text.matches('\n').count() + 1;
        self.source.lines.push((line, fragment.clone()));
        self.add(&fragment.text);
    }

    fn cases(&mut self, program: &LazyProgram) -> Result<(), SpecificationError> {
        let spec = self.spec;
        let returns = self.of.result != "void";
        let mut throwing: Vec<(String, Vec<&ParsedCase>)> = Vec::new();
        for case in &spec.cases {
            if let Some(
                super::specification::SpecWrite::Value(place, _) | super::specification::SpecWrite::Anything(place, _),
            ) = case.writes.first()
            {
                let help = "stubs of Java answer and throw; leave `writes` out";
                return Err(spec.error_at(place, "methods of Java write nothing here", help));
            }
            if let (Some(ValueSet::One(at) | ValueSet::Range(at, _)), false) = (&case.returns, returns) {
                return Err(spec.error_at(at, format!("`{}` returns nothing", spec.function), "leave `returns` out"));
            }
            let thrown = match (&case.throws, case.fails) {
                (Some(class), _) => program.exception(&class.text).ok_or_else(|| {
                    let what = format!("`{}` is no exception that can be made without arguments", class.text);
                    spec.error_at(class, what, "write its class with its package: java.io.IOException")
                })?,
                (None, true) => "java/lang/AssertionError".to_string(),
                (None, false) => continue,
            };
            if case.returns.is_some() {
                let what = "a case that returns and throws".to_string();
                return Err(spec.error_at(&spec.position_of(case), what, "make two cases of it"));
            }
            match throwing.iter_mut().find(|(class, _)| *class == thrown) {
                Some((_, cases)) => cases.push(case),
                None => throwing.push((thrown, vec![case])),
            }
        }
        let returning: Vec<&ParsedCase> =
            spec.cases.iter().filter(|case| case.throws.is_none() && !case.fails).collect();
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
        self.values();
        self.add("boolean some =");
        for case in &spec.cases {
            self.when(case);
            self.add("||");
        }
        self.add("false; if (true) return some ? 0 : 1;");
        self.end("0");
        self.method("int twice", true);
        for cases in std::iter::once(&returning).chain(throwing.iter().map(|(_, cases)| cases)) {
            for (second, b) in cases.iter().enumerate() {
                for a in &cases[..second] {
                    let number = |case: &ParsedCase| spec.cases.iter().position(|other| other == case).unwrap_or(0) + 1;
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

    /// Evaluates the returned values, so that expressions that fail are found, and constants that do not fit the type.
    fn values(&mut self) {
        const INTEGERS: [&str; 4] = ["byte", "char", "short", "int"];
        let spec = self.spec;
        for (index, case) in spec.cases.iter().enumerate() {
            for fragment in case.returns.iter().flat_map(ValueSet::fragments) {
                self.add("if (");
                self.when(case);
                self.add(") try { Object value =");
                self.expression(fragment);
                self.add(";");
                let is_literal = fragment.text.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit() || b == b'L');
                if is_literal && INTEGERS.contains(&self.of.result.as_str()) {
                    self.add("if ((");
                    self.expression(fragment);
                    self.add(&format!(") != ({}) (", self.of.result));
                    self.expression(fragment);
                    self.add(&format!(")) return {};", TOO_LARGE + index as u64));
                }
                self.add(&format!("}} catch (ArithmeticException e) {{ return {FAILED_IN_JAVA}; }}"));
            }
        }
    }

    fn method(&mut self, start: &str, with_result: bool) {
        let mut params: Vec<String> =
            self.of.params.iter().zip(&self.spec.params).map(|(ty, name)| format!("{ty} {name}")).collect();
        if with_result && self.of.result != "void" {
            params.push(format!("{} result", self.of.result));
        }
        self.add(&format!("static {start}({}) {{ try {{", params.join(", ")));
    }

    /// Ends a method; an expression that throws does not hold.
    fn end(&mut self, otherwise: &str) {
        self.add(&format!("}} catch (RuntimeException e) {{ }} return {otherwise}; }}"));
    }

    fn any(&mut self, cases: &[&ParsedCase], with_result: bool) {
        self.add("if (");
        for case in cases {
            self.holds(case, with_result);
            self.add("||");
        }
        self.add("false) return true;");
    }

    fn holds(&mut self, case: &ParsedCase, with_result: bool) {
        self.add("(");
        self.when(case);
        if let (true, Some(values)) = (with_result, &case.returns) {
            self.add("&& (");
            self.within(values);
            self.add(")");
        }
        self.add(")");
    }

    fn when(&mut self, case: &ParsedCase) {
        match &case.when {
            SpecGuard::Always => self.add("true"),
            SpecGuard::Holds(fragment) => {
                self.add("(");
                self.expression(fragment);
                self.add(")");
            }
            SpecGuard::Otherwise => {
                let spec = self.spec;
                self.add("(true");
                for other in &spec.cases {
                    match &other.when {
                        SpecGuard::Holds(fragment) => {
                            self.add("&& !(");
                            self.expression(fragment);
                            self.add(")");
                        }
                        SpecGuard::Always => self.add("&& false"),
                        SpecGuard::Otherwise => {}
                    }
                }
                self.add(")");
            }
        }
    }

    fn within(&mut self, values: &ValueSet) {
        const PRIMITIVE: [&str; 8] = ["boolean", "byte", "char", "short", "int", "long", "float", "double"];
        let is_primitive = PRIMITIVE.contains(&self.of.result.as_str());
        match values {
            ValueSet::Any => self.add("true"),
            ValueSet::One(fragment) if is_primitive => {
                self.add(&format!("result == ({}) (", self.of.result));
                self.expression(fragment);
                self.add(")");
            }
            ValueSet::One(fragment) => {
                self.add("java.util.Objects.equals(result,");
                self.expression(fragment);
                self.add(")");
            }
            ValueSet::Range(low, high) => {
                self.add("(");
                self.expression(low);
                self.add(") <= result && result <= (");
                self.expression(high);
                self.add(")");
            }
        }
    }
}
