//! The formula of a program point, evaluated at the point, equals the value that the program then uses; the formula of
//! a condition predicts the outcome of its branch.
//!
//! Each program gets additional points, called probes here, where values are used: after writes of variables and of
//! memory, before calls, returns and switches. A run compares the last formula with the probe that encloses its span.

// Tests may access the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use touchstone_base::{IndexMap, Span};
use touchstone_front_c::{Options, lower_files, write_headers};
use touchstone_interp::{Event, Limits, Machine, ObjectKind, Observer, StateView, Value};
use touchstone_ir::{
    CondTag, DataType, Expr, ExprKind, FuncId, Inst, InstKind, Module, Operand, Point, PointId, PointKind, Reg,
    RegInfo, TermKind, Ty,
};

fn lower(files: &[PathBuf], flags: &[&str]) -> Module {
    let headers = tempfile::tempdir().expect("a temporary directory");
    write_headers(headers.path()).expect("headers");
    let options = Options {
        flags: flags.iter().map(|flag| flag.to_string()).collect(),
        include_dir: Some(headers.path().to_path_buf()),
        ..Options::default()
    };
    lower_files(files, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The value that a probe observes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// The value that is written, returned or switched on.
    Result,
    /// An argument of a call, and the number of arguments.
    Argument(usize, usize),
    /// No value: values inside this span are used in a way that is not compared.
    Lost,
}

type Regs = IndexMap<Reg, RegInfo>;

/// The uses of values: the probes of each function by their points.
type Probes = BTreeMap<(FuncId, PointId), (Use, Span)>;

fn operand_of(regs: &Regs, operand: Operand) -> Expr {
    let (kind, ty) = match operand {
        Operand::Reg(reg) => (ExprKind::Reg(reg), regs[reg].ty),
        Operand::Const(ty, value) => (ExprKind::Const(value), ty),
    };
    Expr { kind, ty, signed: false, text: String::new() }
}

/// Adds probes to every function.
fn probe(module: &mut Module) -> Probes {
    let mut probes = Probes::new();
    let ids: Vec<FuncId> = module.functions.ids().collect();
    for id in ids {
        let function = &mut module.functions[id];
        let mut blocks = std::mem::take(&mut function.blocks);
        for block in blocks.values_mut() {
            let mut out = Vec::new();
            let mut add = |what: Use, expr: Expr, span: Span, out: &mut Vec<Inst>| {
                let point = function.points.push(Point::new(PointKind::Value(expr), span, String::new()));
                probes.insert((id, point), (what, span));
                out.push(Inst { kind: InstKind::Point { point }, span });
            };
            let nothing = Expr::constant(Ty::I32, 0);
            for inst in block.insts.drain(..) {
                let span = inst.span;
                match &inst.kind {
                    InstKind::Call { args, .. } => {
                        for (index, arg) in args.iter().enumerate() {
                            let expr = operand_of(&function.regs, *arg);
                            add(Use::Argument(index, args.len()), expr, span, &mut out);
                        }
                        if args.is_empty() {
                            add(Use::Lost, nothing.clone(), span, &mut out);
                        }
                    }
                    InstKind::Builtin { .. } | InstKind::MemCopy { .. } | InstKind::MemSet { .. } => {
                        add(Use::Lost, nothing.clone(), span, &mut out);
                    }
                    InstKind::Store { value, .. } => {
                        let expr = operand_of(&function.regs, *value);
                        add(Use::Result, expr, span, &mut out);
                    }
                    _ => {}
                }
                let written = inst.kind.dst().filter(|dst| function.regs[*dst].name.is_some());
                let is_call = matches!(inst.kind, InstKind::Call { .. } | InstKind::Builtin { .. });
                out.push(inst);
                if let Some(dst) = written.filter(|_| !is_call) {
                    let expr = operand_of(&function.regs, Operand::Reg(dst));
                    add(Use::Result, expr, span, &mut out);
                }
            }
            if let TermKind::Return(Some(value)) | TermKind::Switch { value, .. } = &block.terminator.kind {
                let expr = operand_of(&function.regs, *value);
                add(Use::Result, expr, block.terminator.span, &mut out);
            }
            block.insts = out;
        }
        function.blocks = blocks;
    }
    probes
}

fn is_inside(inner: Span, outer: Span) -> bool {
    let begins = |span: Span| (span.line, span.column);
    let ends = |span: Span| (span.end_line, span.end_column);
    inner.file == outer.file && begins(outer) <= begins(inner) && ends(inner) <= ends(outer)
}

/// A formula that was evaluated and is to be compared.
#[derive(Clone, Copy, Debug)]
struct Evaluated {
    func: FuncId,
    point: PointId,
    span: Span,
    depth: usize,
    value: Option<Value>,
}

/// Compares formulas with the values of the program.
struct Judge<'m> {
    module: &'m Module,
    probes: &'m Probes,
    texts: Vec<Vec<String>>,
    depth: usize,
    values: Vec<Evaluated>,
    conditions: Vec<(usize, CondTag, Option<Value>)>,
    arguments: Vec<Option<Value>>,
    compared_values: usize,
    compared_conditions: usize,
}

impl<'m> Judge<'m> {
    fn new(module: &'m Module, probes: &'m Probes) -> Judge<'m> {
        let lines = |name: &String| {
            let text = std::fs::read_to_string(name).unwrap_or_default();
            text.lines().map(str::to_string).collect()
        };
        Judge {
            module,
            probes,
            texts: module.files.values().map(lines).collect(),
            depth: 0,
            values: Vec::new(),
            conditions: Vec::new(),
            arguments: Vec::new(),
            compared_values: 0,
            compared_conditions: 0,
        }
    }
    fn reset(&mut self) {
        self.depth = 0;
        self.values.clear();
        self.conditions.clear();
        self.arguments.clear();
    }
    fn is_index(&self, span: Span) -> bool {
        let line = self.texts[touchstone_base::Id::index(span.file)].get(span.line as usize - 1);
        line.is_some_and(|line| line.get(..span.column as usize - 1).is_some_and(|before| before.ends_with('[')))
    }
    fn describe(&self, evaluated: &Evaluated) -> String {
        let point = &self.module.functions[evaluated.func].points[evaluated.point];
        format!("`{}` at {}: {:?}", point.text, point.span.display(&self.module.files), point.kind)
    }
    fn evaluated(&mut self, evaluated: Evaluated) {
        if self.is_index(evaluated.span) {
            assert!(evaluated.value.is_some(), "an index has a value: {}", self.describe(&evaluated));
        } else {
            self.values.push(evaluated);
        }
    }
    /// Truncates a value to the width of a formula: a variable argument is stored wider than its type.
    fn narrowed(&self, evaluated: &Evaluated, value: Option<Value>) -> Option<Value> {
        match (&self.module.functions[evaluated.func].points[evaluated.point].kind, value) {
            (PointKind::Value(expr), Some(Value::Int(value))) => {
                Some(Value::Int(touchstone_ir::mask(value, expr.ty.bits())))
            }
            _ => value,
        }
    }
    fn used(&mut self, what: Use, span: Span, depth: usize, value: Option<Value>) {
        let waits = |evaluated: &Evaluated| evaluated.depth == depth && is_inside(evaluated.span, span);
        match what {
            Use::Lost => self.values.retain(|evaluated| !waits(evaluated)),
            Use::Result => {
                if let Some(last) = self.values.last().copied()
                    && waits(&last)
                {
                    assert_eq!(last.value, self.narrowed(&last, value), "{}", self.describe(&last));
                    self.compared_values += 1;
                    self.values.pop();
                }
            }
            Use::Argument(index, count) => {
                self.arguments.push(value);
                if index + 1 == count {
                    let arguments = std::mem::take(&mut self.arguments);
                    let mut rest = arguments.iter();
                    for evaluated in self.values.iter().filter(|evaluated| waits(evaluated)) {
                        let found = rest.any(|argument| *argument == evaluated.value);
                        assert!(found, "{:?} is none of {arguments:?}: {}", evaluated.value, self.describe(evaluated));
                        self.compared_values += 1;
                    }
                    self.values.retain(|evaluated| !waits(evaluated));
                }
            }
        }
    }
}

impl Observer for Judge<'_> {
    fn event(&mut self, event: &Event) {
        match *event {
            Event::Call(_) => self.depth += 1,
            Event::Return => {
                let depth = self.depth;
                self.values.retain(|evaluated| evaluated.depth < depth);
                self.conditions.retain(|(of, _, _)| *of < depth);
                self.depth -= 1;
            }
            Event::Branch { func, tag: Some(tag), taken, .. } => {
                if let Some(&(depth, last, value)) = self.conditions.last()
                    && depth == self.depth
                    && last == tag
                {
                    let text = &self.module.functions[func].decisions[tag.decision].conditions[tag.condition].text;
                    assert_eq!(value, Some(Value::Int(u64::from(taken))), "{text}");
                    self.compared_conditions += 1;
                    self.conditions.pop();
                }
            }
            _ => {}
        }
    }
    fn output(&mut self, _: &[u8]) {}
    fn point(&mut self, point: PointId, at: &StateView<'_>) {
        let (func, depth) = (at.func(), at.depth());
        assert_eq!(depth, self.depth);
        let info = &self.module.functions[func].points[point];
        let (module, span) = (self.module, info.span);
        if let Some(&(what, span)) = self.probes.get(&(func, point)) {
            let PointKind::Value(expr) = &module.functions[func].points[point].kind else { return };
            return self.used(what, span, depth, at.eval(expr));
        }
        match &module.functions[func].points[point].kind {
            PointKind::Value(expr) => {
                self.evaluated(Evaluated { func, point, span, depth, value: at.eval(expr) });
            }
            PointKind::Condition { tag, value } => self.conditions.push((depth, *tag, at.eval(value))),
            PointKind::Statement
            | PointKind::TooDeep
            | PointKind::Hazard(_)
            | PointKind::Decision(_)
            | PointKind::Store { .. }
            | PointKind::Label { .. } => {}
        }
    }
}

/// Small numbers, and occasionally a large one; the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }
    fn small(&mut self) -> u64 {
        match self.next() % 8 {
            0 => self.next() | self.next() << 31,
            1 => (self.next() % 5).wrapping_neg(),
            2 => 32 + self.next() % 96,
            _ => self.next() % 6,
        }
    }
}

fn argument(machine: &mut Machine<'_>, module: &Module, data: &DataType, ty: Ty, numbers: &mut Numbers) -> Value {
    if ty != Ty::Ptr {
        return Value::Int(touchstone_ir::mask(numbers.small(), ty.bits()));
    }
    let size = match data {
        DataType::Pointer { pointee, .. } => module.types[*pointee].size(&module.types).clamp(1, 64) * 12,
        other => other.size(&module.types).max(1),
    };
    let object = machine.alloc(size, "argument", ObjectKind::Heap);
    let bytes: Vec<u8> = (0..size).map(|at| if at % 4 == 0 { numbers.small() as u8 } else { 0 }).collect();
    machine.write_bytes(object, 0, &bytes).expect("the object has these bytes");
    Value::ptr(object, 0)
}

/// Runs every function of a program `runs` times; returns the number of values and conditions that were compared.
fn judge(files: &[PathBuf], flags: &[&str], runs: usize) -> (usize, usize) {
    let mut module = lower(files, flags);
    let probes = probe(&mut module);
    let errors = touchstone_ir::verify(&module);
    assert!(errors.is_empty(), "{errors:?}");
    let mut judge = Judge::new(&module, &probes);
    let mut numbers = Numbers(7);
    for (id, function) in module.functions.iter() {
        if !function.is_defined() || function.is_library() {
            continue;
        }
        for _ in 0..runs {
            let mut machine = Machine::new(&module, Limits { steps: 100_000, ..Limits::default() });
            let mut args = Vec::new();
            for param in &function.params {
                let (data, ty) = (&module.types[param.data], function.regs[param.reg].ty);
                args.push(argument(&mut machine, &module, data, ty, &mut numbers));
            }
            judge.reset();
            machine.call(id, &args, &mut judge);
        }
    }
    (judge.compared_values, judge.compared_conditions)
}

/// Checks programs in a folder of the repository; at least this number of values and conditions must be compared.
#[track_caller]
fn check(folder: &str, programs: &[(&[&str], &[&str])], runs: usize, at_least: (usize, usize)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut all_values, mut all_conditions) = (0, 0);
    for (names, flags) in programs {
        let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        let (values, conditions) = judge(&files, flags, runs);
        assert!(values > 0, "no values of {names:?} were compared");
        all_values += values;
        all_conditions += conditions;
    }
    assert!(all_values >= at_least.0, "{all_values} values compared");
    assert!(all_conditions >= at_least.1, "{all_conditions} conditions compared");
}

#[test]
fn formulas_are_what_programs_compute() {
    let programs: [(&[&str], &[&str]); 9] = [
        (&["operators.c"], &[]),
        (&["statements.c"], &[]),
        (&["decisions.c"], &[]),
        (&["memory.c"], &[]),
        (&["layout.c"], &[]),
        (&["initialisers.c"], &[]),
        (&["floats.c"], &[]),
        (&["library.c"], &["-fno-builtin"]),
        (&["link_a.c", "link_b.c"], &["-fcommon", "-fno-builtin"]),
    ];
    check("tests/run", &programs, 1, (40_000, 40_000));
}

#[test]
fn formulas_are_what_the_examples_compute() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).expect("examples");
    let names = entries.map(|entry| entry.expect("an example").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".c")).collect();
    names.sort();
    assert!(names.len() >= 10, "{names:?}");
    for name in &names {
        check("../../examples", &[(&[name], &[])], 100, (50, 0));
    }
    check("../../examples", &[(&["ring/ring.c", "ring/session.c"], &[])], 100, (50, 50));
}
