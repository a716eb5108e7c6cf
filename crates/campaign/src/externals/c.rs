//! What is said of a function becomes C beside the program: small functions over its parameters and its result, which the body made in
//! `touchstone_front_c` calls. Every expression stands at its own line and column, so the compiler's messages lead to it.

use super::specification::{Case, Piece, Said, Values, When, WorldError, Write};
use crate::request::index_of;
use std::path::PathBuf;
use touchstone_front_c::{ExternalSpec, SpecCase, WriteTarget, helper_name};
use touchstone_ir::{Callee, DataType, FuncId, InstKind, Module};

/// Functions in C for the specification of one external function.
pub(crate) struct Helpers {
    /// The index of the source file that they are appended to.
    pub file: usize,
    pub text: String,
    pub described: ExternalSpec,
}

/// Translates the specification of a function.
pub(super) fn translate(module: &Module, files: &[PathBuf], said: &Said, id: FuncId) -> Result<Helpers, WorldError> {
    let function = &module.functions[id];
    let start = Piece { text: String::new(), line: said.line, column: 1 };
    let (has, given) = (function.own_params().len(), said.params.len());
    if has != given {
        let what = format!("`{}` has {has} parameters, not {given}", said.function);
        let help = match function.own_params().is_empty() {
            true => "name them all, in their order; a program that does not declare it knows none: include its header",
            false => "name them all, in their order",
        };
        return Err(said.wrong(&start, what, help));
    }
    let returns = function.result.is_some();
    if function.aggregate_result {
        let what = format!("`{}` returns a structure, which can't be described", said.function);
        return Err(said.wrong(&start, what, "leave it out: what it returns is an input then"));
    }
    if returns && said.params.iter().any(|param| param == "result") {
        let help = "`result` is what it returns: call the parameter something else here";
        return Err(said.wrong(&start, "a parameter is called `result`", help));
    }
    let parameters = touchstone_emit::parameter_list_with_names(module, id, &said.params)?;
    let result = touchstone_emit::result_declaration(module, id, "result")?;
    let own = if given == 0 { String::new() } else { parameters.clone() };
    if let DataType::Pointer { .. } = module.types[function.result_data] {
        check_pointers(said)?;
    }
    let maker = Maker { said, own, result: result.filter(|_| returns) };
    let mut described = ExternalSpec { function: said.function.clone(), cases: Vec::new() };
    let mut text = maker.case_of()?;
    text += &maker.checks();
    for (index, case) in said.cases.iter().enumerate() {
        let (more, found) = maker.case(case, index + 1)?;
        text += &more;
        described.cases.push(found);
    }
    let errors = said
        .cases
        .iter()
        .flat_map(|case| &case.writes)
        .any(|write| matches!(write, Write::Value(place, _) if place.text == "errno"));
    let include = if errors { "#include <errno.h>\n" } else { "" };
    let file = calling_file(module, files, id).unwrap_or(0);
    Ok(Helpers { file, text: format!("\n{include}{text}"), described })
}

/// A test can let a stub return null, or an object of its own; other places it can't name.
fn check_pointers(said: &Said) -> Result<(), WorldError> {
    for values in said.cases.iter().filter_map(|case| case.returns.as_ref()) {
        let (Values::One(piece) | Values::Range(piece, _)) = values else { continue };
        let is_null = matches!(values, Values::One(_)) && ["0", "NULL", "((void *)0)"].contains(&piece.text.as_str());
        if !is_null {
            let what = format!("`{}` returns a pointer, of which only null can be said", said.function);
            return Err(said.wrong(piece, what, "returns 0, returns NULL, or returns any"));
        }
    }
    Ok(())
}

/// The first file that calls a function: it knows its types.
fn calling_file(module: &Module, files: &[PathBuf], id: FuncId) -> Option<usize> {
    let calls = |inst: &touchstone_ir::Inst| matches!(&inst.kind, InstKind::Call { callee: Callee::Direct(callee), .. } if *callee == id);
    let callers =
        module.functions.values().filter(|function| function.blocks.values().flat_map(|block| &block.insts).any(calls));
    callers.filter_map(|function| index_of(files, module.files.get(function.span.file)?)).next()
}

struct Maker<'s> {
    said: &'s Said,
    /// The declared parameters, `int fd, void *buf`.
    own: String,
    /// The declared result, `long result`.
    result: Option<String>,
}

impl Maker<'_> {
    /// A function beside the program.
    fn function(&self, ty: &str, what: &str, more: &[String], body: &str) -> String {
        let parameters: Vec<&str> = [self.own.as_str()]
            .into_iter()
            .filter(|own| !own.is_empty())
            .chain(self.result.as_deref())
            .chain(more.iter().map(String::as_str))
            .collect();
        let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
        let (line, file) = (self.said.line, self.file());
        format!("#line {line} \"{file}\"\n{ty} {}({parameters}) {{ {body} }}\n", helper_name(&self.said.function, what))
    }

    /// An expression at its place.
    fn at(&self, piece: &Piece) -> String {
        let indent = " ".repeat(piece.column as usize - 1);
        format!("(\n#line {} \"{}\"\n{indent}{}\n)", piece.line, self.file(), piece.text)
    }

    /// The name of the file, as a literal has it.
    fn file(&self) -> String {
        self.said.file.display().to_string().replace('\\', "\\\\").replace('"', "\\\"")
    }

    /// Whether a case may happen, whatever it returns.
    fn when(&self, case: &Case) -> String {
        match &case.when {
            When::Always => "1".to_string(),
            When::Holds(piece) => self.at(piece),
            When::Otherwise => {
                let others: Vec<String> = self
                    .said
                    .cases
                    .iter()
                    .filter_map(|other| match &other.when {
                        When::Holds(piece) => Some(format!("!{}", self.at(piece))),
                        When::Always => Some("0".to_string()),
                        When::Otherwise => None,
                    })
                    .collect();
                if others.is_empty() { "1".to_string() } else { format!("({})", others.join(" && ")) }
            }
        }
    }

    /// Whether a value is one of some.
    fn within(&self, value: &str, values: &Values) -> String {
        let cast = |piece: &Piece| format!("(__typeof__({value})){}", self.at(piece));
        match values {
            Values::Any => "1".to_string(),
            Values::One(piece) => format!("({value} == {})", cast(piece)),
            Values::Range(low, high) => format!("({} <= {value} && {value} <= {})", cast(low), cast(high)),
        }
    }

    /// Whether a case allows what was returned.
    fn holds(&self, case: &Case) -> String {
        let returned = match (&case.returns, &self.result) {
            (Some(values), Some(_)) => self.within("result", values),
            _ => "1".to_string(),
        };
        format!("({} && {returned})", self.when(case))
    }

    /// Which case a call with its result is, from 1 on.
    fn case_of(&self) -> Result<String, WorldError> {
        if let (None, Some((case, values))) =
            (&self.result, self.said.cases.iter().find_map(|case| Some((case, case.returns.as_ref()?))))
        {
            let at = match values {
                Values::One(piece) | Values::Range(piece, _) => piece.clone(),
                Values::Any => self.said.place_of(case),
            };
            let what = format!("`{}` returns nothing", self.said.function);
            return Err(self.said.wrong(&at, what, "leave `returns` out"));
        }
        if let Some(thrown) = self.said.cases.iter().find_map(|case| case.throws.as_ref()) {
            return Err(self.said.wrong(thrown, "functions of C throw nothing", "`fails` ends the program"));
        }
        let cases = self.said.cases.iter().enumerate();
        let chain: String = cases.map(|(index, case)| format!("{} ? {} : ", self.holds(case), index + 1)).collect();
        Ok(self.function("int", "case", &[], &format!("return {chain}0;")))
    }

    /// What finds two cases for one call, and calls that there is no case for: 1000 times the one and the other, 1 if there is none.
    fn checks(&self) -> String {
        let holds: Vec<String> = self.said.cases.iter().map(|case| self.holds(case)).collect();
        let mut pairs = String::new();
        for (second, b) in holds.iter().enumerate() {
            for (first, a) in holds[..second].iter().enumerate() {
                pairs += &format!("if ({a} && {b}) return {};\n", 1000 * (first + 1) + second + 1);
            }
        }
        let possible: Vec<String> = self
            .said
            .cases
            .iter()
            .map(|case| {
                let some = match (&case.returns, &self.result) {
                    (Some(Values::Range(low, high)), Some(_)) => {
                        let cast = |piece: &Piece| format!("(__typeof__(result)){}", self.at(piece));
                        format!("{} <= {}", cast(low), cast(high))
                    }
                    _ => "1".to_string(),
                };
                format!("({} && {some})", self.when(case))
            })
            .collect();
        let twice = self.function("int", "twice", &[], &format!("{pairs}return 0;"));
        let never = self.function("int", "never", &[], &format!("return !({});", possible.join(" || ")));
        format!("{twice}{never}")
    }

    /// What a case chooses and writes.
    fn case(&self, case: &Case, number: usize) -> Result<(String, SpecCase), WorldError> {
        let mut found = SpecCase { fails: case.fails, ..SpecCase::default() };
        let (mut text, mut values, mut stores) = (String::new(), String::new(), String::new());
        let (mut choices, mut within, mut sizes) = (Vec::new(), Vec::new(), Vec::<(usize, String)>::new());
        for (index, write) in case.writes.iter().enumerate() {
            let root = self.root(write)?;
            let guard = match &root {
                Root::Param(param) => self.said.params[*param].clone(),
                Root::Global(_) => "1".to_string(),
            };
            match (write, &root) {
                (Write::Value(place, value), _) => {
                    let at = self.at(place);
                    let value = match value {
                        Values::One(piece) => self.at(piece),
                        open => {
                            let choice = format!("choice{}", choices.len() + 1);
                            choices.push(format!("__typeof__{at} {choice}"));
                            within.push(format!("(!({guard}) || {})", self.within(&choice, open)));
                            choice
                        }
                    };
                    values += &format!("__typeof__{at} value{index}; if ({guard}) value{index} = {value};\n");
                    stores += &format!("if ({guard}) {at} = value{index};\n");
                    if let Root::Param(param) = &root {
                        let end = format!("(unsigned long)((char *)(&{at} + 1) - (char *)({guard}))");
                        sizes.push((*param, end));
                    }
                }
                (Write::Anything(_, count), Root::Param(param)) => {
                    let size = format!("(unsigned long){} * sizeof(*({guard}))", self.at(count));
                    text += &self.size(number, *param, &[&size]);
                }
                (Write::Anything(root, _), Root::Global(_)) => {
                    let help = "a global is written by a value: writes mode = any";
                    return Err(self.said.wrong(root, format!("`{}` is no parameter", root.text), help));
                }
            }
            let place = match (root, write) {
                (Root::Global(name), _) => WriteTarget::Global(name),
                (Root::Param(param), Write::Value(..)) => WriteTarget::Object(param),
                (Root::Param(param), Write::Anything(..)) => WriteTarget::Anything(param),
            };
            let of = |place: &WriteTarget| match place {
                WriteTarget::Object(param) | WriteTarget::Anything(param) => Some(*param),
                WriteTarget::Global(_) => None,
            };
            let anything = |place: &WriteTarget| matches!(place, WriteTarget::Anything(_));
            let clash = found
                .written
                .iter()
                .any(|other| of(other).is_some() && of(other) == of(&place) && (anything(other) || anything(&place)));
            if clash {
                let what = "anything is left there, and something else as well".to_string();
                return Err(self.said.wrong(&self.said.place_of(case), what, "say one of both"));
            }
            if !found.written.contains(&place) {
                found.written.push(place);
            }
        }
        for place in &found.written {
            if let WriteTarget::Object(param) = place {
                let ends: Vec<&str> =
                    sizes.iter().filter(|(of, _)| of == param).map(|(_, size)| size.as_str()).collect();
                text += &self.size(number, *param, &ends);
            }
        }
        found.chosen = choices.len();
        if !within.is_empty() {
            let body = format!("return {};", within.join(" && "));
            text += &self.function("int", &format!("within_{number}"), &choices, &body);
        }
        if !stores.is_empty() {
            text += &self.function("void", &format!("write_{number}"), &choices, &format!("{values}{stores}"));
        }
        Ok((text, found))
    }

    /// How many bytes of what a parameter leads to are written: whole elements, as far as the last one.
    fn size(&self, number: usize, param: usize, ends: &[&str]) -> String {
        let name = &self.said.params[param];
        let ends: String = ends.iter().map(|end| format!("end = {end}; if (end > most) most = end;\n")).collect();
        let body = format!(
            "unsigned long most = 0, end, each = sizeof(*({name})); if (!({name})) return 0;\n{ends}\
             return (most + each - 1) / each * each;"
        );
        self.function("unsigned long", &format!("size_{number}_{}", param + 1), &[], &body)
    }

    /// What a place begins with. A stub writes what its parameters lead to, and nothing behind that.
    fn root(&self, write: &Write) -> Result<Root, WorldError> {
        let (Write::Value(place, _) | Write::Anything(place, _)) = write;
        let text = place.text.as_str();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words =
            text.split(|c| !is_part(c)).filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        let words: Vec<&str> = words.collect();
        let steps = text.matches("->").count() + usize::from(text.starts_with('*'));
        let further = steps > 1 || text.starts_with("**") || text.get(1..).is_some_and(|rest| rest.contains('*'));
        if further {
            let what = format!("`{text}` leads further than its parameter");
            return Err(self.said.wrong(place, what, "a stub writes what a parameter points to: *p, p->x, p[i]"));
        }
        let param = words.first().and_then(|word| self.said.params.iter().position(|param| param == word));
        match (param, words.first()) {
            (Some(param), _) => Ok(Root::Param(param)),
            (None, Some(name)) if steps == 0 => Ok(Root::Global(name.to_string())),
            _ => {
                let what = format!("`{text}` is neither behind a parameter nor a global");
                Err(self.said.wrong(place, what, "writes *p = 0, writes p->x = 0, writes mode = 0"))
            }
        }
    }
}

enum Root {
    Param(usize),
    Global(String),
}
