//! Builds modules and test cases for small C programs by hand, and replays them with the real compiler.
#![allow(dead_code)]

use std::path::PathBuf;
use touchstone_base::{FileId, Id, IndexMap, Span};
use touchstone_criteria::{Disagreement, Expected, NamedValue, ObjectInput, Outcome, Replay, TestCase, TestKind};
use touchstone_emit::{
    Build, CSuite, CTestForm, PreprocessedUnits, ReplayLimits, Sandbox, SourceUnit, UnitObjects, replay,
};
use touchstone_ir::{
    Block, DataType, DataTypeId, DataValue, ErrorKind, Field, Function, FunctionRole, Global, IntKind, Linkage, Module,
    Param, PointerTarget, Reg, TermKind, Terminator,
};

/// A program in a directory of its own.
pub struct Bench {
    pub dir: tempfile::TempDir,
    pub module: Module,
    pub target: Build,
    pub int: DataTypeId,
    pub char: DataTypeId,
    pub void: DataTypeId,
}

/// Returns the verdict on a failed check, with its message.
pub fn disagreed(why: &str) -> Replay {
    Replay::Disagreed(Disagreement::CheckFailed(why.to_string()))
}

pub fn int(value: i64) -> DataValue {
    DataValue::Int(touchstone_ir::mask(value as u64, 32))
}

pub fn ints(values: &[i64]) -> Vec<DataValue> {
    values.iter().map(|&value| int(value)).collect()
}

pub fn chars(text: &[u8]) -> Vec<DataValue> {
    text.iter().map(|&byte| DataValue::Int(u64::from(byte))).collect()
}

pub fn to(object: usize) -> DataValue {
    DataValue::Pointer(PointerTarget::Object { object, offset: 0 })
}

pub fn null() -> DataValue {
    DataValue::Pointer(PointerTarget::Null)
}

pub fn span(line: u32) -> Span {
    Span::at(FileId::new(0), line, 1)
}

pub fn error(kind: ErrorKind, line: u32) -> Outcome {
    Outcome::Error { kind, span: span(line) }
}

impl Bench {
    /// Creates a program of one file, `code.c`.
    pub fn new(source: &str) -> Bench {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut module = Module::default();
        let int =
            module.types.push(DataType::Int { name: "int".into(), bits: 32, signed: true, kind: IntKind::Number });
        let char =
            module.types.push(DataType::Int { name: "char".into(), bits: 8, signed: true, kind: IntKind::Character });
        let void = module.types.push(DataType::Void);
        std::fs::create_dir(dir.path().join("include")).expect("a directory");
        let target = Build {
            units: Vec::new(),
            include_dir: dir.path().join("include"),
            cc: std::env::var("CC").unwrap_or_else(|_| "cc".to_string()),
            interrupt: Default::default(),
            limits: ReplayLimits { seconds: 2, memory_mib: 512, total_seconds: 60 },
            sandbox: Sandbox::closed(),
            preprocessed: PreprocessedUnits::default(),
            unit_objects: UnitObjects::default(),
        };
        let mut bench = Bench { dir, module, target, int, char, void };
        bench.file("code.c", source);
        bench
    }

    /// Adds a file to the program.
    pub fn file(&mut self, name: &str, source: &str) -> FileId {
        let path = self.dir.path().join(name);
        std::fs::write(&path, source).expect("a written file");
        self.target.units.push(SourceUnit { path: path.clone(), flags: Vec::new() });
        self.module.files.push(path.display().to_string())
    }

    pub fn pointer(&mut self, pointee: DataTypeId) -> DataTypeId {
        self.module.types.push(DataType::Pointer { pointee, to_const: false })
    }

    pub fn array(&mut self, element: DataTypeId, length: u64) -> DataTypeId {
        self.module.types.push(DataType::Array { element, length })
    }

    pub fn structure(&mut self, name: &str, fields: &[(&str, u64, DataTypeId)], size: u64) -> DataTypeId {
        let fields = fields.iter().map(|(name, offset, ty)| Field { name: name.to_string(), offset: *offset, ty: *ty });
        self.module.types.push(DataType::Struct {
            name: name.into(),
            fields: fields.collect(),
            size,
            align: 8,
            kind: touchstone_ir::StructKind::Record,
        })
    }

    pub fn global(&mut self, name: &str, data: DataTypeId, linkage: Linkage, file: usize) {
        let size = self.module.types[data].size(&self.module.types);
        let span = Span::at(FileId::new(file), 1, 1);
        let name = name.to_string();
        self.module.globals.push(Global {
            name,
            span,
            data,
            size,
            constant: false,
            linkage,
            role: touchstone_ir::GlobalRole::Variable,
            display_name: None,
            function: None,
            init: None,
        });
    }

    pub fn function(&mut self, name: &str, params: &[(&str, DataTypeId)], result: DataTypeId) {
        self.function_in(name, params, result, 0);
    }

    pub fn function_in(&mut self, name: &str, params: &[(&str, DataTypeId)], result: DataTypeId, file: usize) {
        let params = params.iter().map(|(name, data)| Param {
            name: name.to_string(),
            reg: Reg::new(0),
            data: *data,
            aggregate: false,
        });
        let span = Span::at(FileId::new(file), 1, 1);
        let mut blocks = IndexMap::new();
        let terminator = Terminator { kind: TermKind::Unreachable, span };
        blocks.push(Block { insts: Vec::new(), terminator });
        self.module.functions.push(Function {
            name: name.to_string(),
            span,
            internal: false,
            role: FunctionRole::Program,
            variadic: false,
            left_open: Default::default(),
            params: params.collect(),
            result: None,
            result_data: result,
            aggregate_result: false,
            regs: IndexMap::new(),
            slots: IndexMap::new(),
            decisions: IndexMap::new(),
            points: IndexMap::new(),
            blocks,
        });
    }

    /// Returns a test of a function with these parameters; everything else is empty.
    pub fn test(&self, id: &str, function: &str, params: Vec<DataValue>, objects: Vec<ObjectInput>) -> TestCase {
        let found = self.module.function_named(function).expect("a function of the program");
        let declared = &self.module.functions[found].params;
        let params = declared.iter().zip(params).map(|(param, value)| NamedValue {
            name: param.name.clone(),
            data: param.data,
            value,
        });
        TestCase {
            id: id.to_string(),
            function: function.to_string(),
            kind: TestKind::Function { earlier: Vec::new(), params: params.collect(), globals: Vec::new(), objects },
            answers: Vec::new(),
            outcome: Outcome::Returned,
            expected: Expected { output: Some(Vec::new()), ..Expected::default() },
            oracle: None,
            description: format!("a path of {function}"),
            path: 0,
            covers: vec![],
            heap: touchstone_criteria::HeapOrigin::Made,
            needs_initial_state: false,
            older: None,
            replayed: Replay::NotRun,
        }
    }

    /// Writes the tests.
    pub fn write(&self, tests: &[TestCase]) -> PathBuf {
        self.write_as(tests, CTestForm::Touchstone)
    }

    /// Writes the tests for a framework.
    pub fn write_as(&self, tests: &[TestCase], form: CTestForm) -> PathBuf {
        let function = self.module.function_named(&tests[0].function).expect("a function of the program");
        let out = self.dir.path().join("out");
        let mut suite = CSuite::create(&out, &self.module, function, &self.target, form).expect("a suite");
        for test in tests {
            suite.add(test, &[]).expect("a written test");
        }
        suite.finish().expect("a finished suite");
        suite.path().to_path_buf()
    }

    /// Returns the text of the suite's first file.
    pub fn text(&self, tests: &[TestCase]) -> String {
        std::fs::read_to_string(self.write(tests)).expect("a readable suite")
    }

    /// Writes and replays the tests.
    pub fn replay(&self, tests: &[TestCase]) -> Vec<Replay> {
        let suite = self.write(tests);
        let mut last = 0;
        let verdicts = replay(&suite, &self.module, &self.target, tests, &mut |done| last = done);
        let verdicts = verdicts.unwrap_or_else(|error| {
            panic!("{error}\n{}", std::fs::read_to_string(&suite).unwrap_or_default());
        });
        let verdicts = verdicts.verdicts;
        assert_eq!(last, tests.len(), "progress ends with all tests");
        verdicts
    }

    /// Checks that every test agrees.
    pub fn agrees(&self, tests: &[TestCase]) {
        for (test, verdict) in tests.iter().zip(self.replay(tests)) {
            assert_eq!(verdict, Replay::Agreed, "{}\n{}", test.id, self.text(tests));
        }
    }
}

pub fn object(name: &str, element: DataTypeId, values: Vec<DataValue>) -> ObjectInput {
    let is_array = values.len() != 1;
    ObjectInput {
        name: name.to_string(),
        element,
        values,
        is_array,
        on_heap: false,
        origin: touchstone_criteria::ObjectOrigin::Values,
    }
}
