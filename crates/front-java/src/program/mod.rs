//! The program: classes and functions that grow while a run or a search reaches them.
//!
//! Two circles. `jdk.rs` and `java_compiler.rs`: a JDK keeps its compiler, whose errors are those of the JDK. This file and
//! those that extend `LazyProgram` (`methods_under_test.rs`, `specifications.rs`, `code_locations.rs`).

use crate::classes::{ClassTable, LoweringError, MethodRef};
use crate::coverage::source_marks::SourceMarks;
use crate::lower::context::{Lowering, empty_module};
use crate::lower::library::boxing::Wrappers;
use crate::lower::symbols::{FuncKind, GlobalKind};
use crate::path::{ClassPath, PathError};
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use touchstone_base::{AppendList, Files, Id};
use touchstone_ir::{FuncId, Function, Global, GlobalId, LazyModule, Module};

mod code_locations;
mod definitions;
mod java_compiler;
mod jdk;
mod methods_under_test;
mod specifications;

pub use code_locations::{CodeLocations, ConditionJump};
pub use jdk::{CompileOptions, CompiledSources, Jdk, JdkError, LABELS_DIR};
pub use methods_under_test::{
    InitialiserEffect, LoadedFunctions, MemberVisibility, MethodKind, MethodUnderTest, StaticField,
};
pub use specifications::SpecError;

/// An error of a program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The class path is invalid.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A class can't be loaded.
    #[error("can't load the class {class}: {reason}")]
    NoClass {
        /// The class.
        class: String,
        /// The reason.
        reason: String,
    },
    /// The main class can't be loaded.
    #[error("can't load the main class {class}: {reason}")]
    NoMainClass {
        /// The class.
        class: String,
        /// The reason.
        reason: String,
    },
    /// The class has no `main` method.
    #[error("the class {0} has no method `main` that a program can begin with")]
    NoMain(String),
}

/// A program that is lowered on demand.
pub struct LazyProgram {
    pub(crate) module: Module,
    pub(crate) lowering: RefCell<Lowering>,
    /// The bodies, and the body of each function: a later generation replaces the earlier ones.
    bodies: AppendList<Function>,
    functions: RefCell<Vec<Option<usize>>>,
    globals: AppendList<OnceCell<Global>>,
    entry: FuncId,
}

/// The inputs of a program.
#[derive(Clone, Debug)]
pub struct ProgramSetup {
    /// The directory of the JDK.
    pub java_home: PathBuf,
    /// Its feature release (17, 25).
    pub release: u32,
    /// Directories and jars.
    pub class_path: Vec<PathBuf>,
    /// The class with `main`, with dots.
    pub main_class: String,
    /// Language and country of the user (`en`, `US`).
    pub locale: (String, String),
    /// The arguments of `main`.
    pub arguments: Vec<String>,
}

impl LazyProgram {
    /// Creates a program that starts at `main`.
    ///
    /// # Errors
    /// If the class path is invalid, or the main class does not exist.
    pub fn new(setup: ProgramSetup) -> Result<LazyProgram, ProgramError> {
        let path = ClassPath::new(&setup.java_home, &setup.class_path)?;
        let mut lowering = Lowering::new(ClassTable::new(path), setup.arguments, setup.release, setup.locale);
        let class = setup.main_class.replace('.', "/");
        let unloadable = |error: LoweringError| ProgramError::NoMainClass {
            class: setup.main_class.clone(),
            reason: error.to_string(),
        };
        let class = lowering.classes.load(&class.as_str().into()).map_err(unloadable)?;
        if lowering.main_method(class).is_none() {
            return Err(ProgramError::NoMain(setup.main_class));
        }
        let entry = lowering.func(FuncKind::Main(class));
        Ok(LazyProgram::with_entry(lowering, entry))
    }

    /// Creates a program whose methods are called one by one.
    ///
    /// # Errors
    /// If the class path is invalid.
    pub fn of_methods(setup: ProgramSetup, marks: Option<SourceMarks>) -> Result<LazyProgram, ProgramError> {
        let path = ClassPath::new(&setup.java_home, &setup.class_path)?;
        let mut lowering = Lowering::new(ClassTable::new(path), setup.arguments, setup.release, setup.locale);
        lowering.marks = marks;
        lowering.boxes = Wrappers::Marked;
        let entry = lowering.func(FuncKind::Helper("system"));
        Ok(LazyProgram::with_entry(lowering, entry))
    }

    fn with_entry(lowering: Lowering, entry: FuncId) -> LazyProgram {
        LazyProgram {
            module: empty_module(),
            lowering: RefCell::new(lowering),
            bodies: AppendList::default(),
            functions: RefCell::default(),
            globals: AppendList::default(),
            entry,
        }
    }

    /// Returns the initial module, which has no functions.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Returns the function that runs the program, without parameters and result.
    pub fn entry(&self) -> FuncId {
        self.entry
    }

    /// Returns the source files of all lowered functions.
    pub fn files(&self) -> Files {
        self.lowering.borrow().files.clone()
    }

    /// Returns the number of lowered functions.
    pub fn lowered_count(&self) -> usize {
        self.bodies.len()
    }

    /// Returns the functions of a class's methods that have code, by the internal name of the class.
    ///
    /// # Errors
    /// If the class can't be loaded.
    pub fn methods_of(&self, class: &str) -> Result<Vec<FuncId>, ProgramError> {
        let mut lowering = self.lowering.borrow_mut();
        let unloadable =
            |error: LoweringError| ProgramError::NoMainClass { class: class.to_string(), reason: error.to_string() };
        let id = lowering.classes.load(&class.into()).map_err(unloadable)?;
        let methods = lowering.classes.get(id).file().map_or(0, |file| file.methods.len());
        let methods = (0..methods as u16).map(|index| MethodRef { class: id, index });
        let methods: Vec<MethodRef> =
            methods.filter(|method| lowering.classes.method(*method).code().is_some()).collect();
        Ok(methods.into_iter().map(|method| lowering.func(FuncKind::Method(method))).collect())
    }

    /// Returns everything lowered so far as one module; functions that were not lowered are declarations.
    pub fn snapshot(&self) -> Module {
        let mut module = self.module.clone();
        module.types = self.lowering.borrow().types.clone();
        let mut function = 0;
        let mut global = 0;
        loop {
            let (functions, globals) = (self.lowering.borrow().functions(), self.lowering.borrow().globals());
            if (function, global) == (functions, globals) {
                module.types = self.lowering.borrow().types.clone();
                module.files = self.files();
                return module;
            }
            for index in function..functions {
                let body = self.functions.borrow().get(index).copied().flatten().and_then(|body| self.bodies.get(body));
                let id = FuncId::new(index);
                let mut made = match body {
                    Some(body) => body.clone(),
                    None => self.lowering.borrow().declaration(id),
                };
                // A body may belong to several generations.
                made.name = format!("{id}: {}", made.name);
                module.functions.push(made);
            }
            // The contents of a global may refer to further globals.
            for index in global..globals {
                let made = self.global(GlobalId::new(index)).cloned();
                if let Some(made) = made {
                    module.globals.push(made);
                }
            }
            (function, global) = (functions, globals);
        }
    }

    /// Returns the name of a function for messages.
    pub fn title(&self, id: FuncId) -> String {
        let lowering = self.lowering.borrow();
        match lowering.func_kind(id) {
            Some(FuncKind::Method(method) | FuncKind::Original(method)) => lowering.method_title(*method),
            Some(FuncKind::Dispatch(method, _)) => format!("a call of {}", lowering.method_title(*method)),
            Some(FuncKind::Init(class)) => format!("the initialiser of {}", lowering.classes.get(*class).title()),
            Some(FuncKind::InstanceOf(class, _)) => format!("instanceof {}", lowering.classes.get(*class).title()),
            Some(other) => format!("{other:?}"),
            None => id.to_string(),
        }
    }
}

impl LazyModule for LazyProgram {
    fn function(&self, id: FuncId) -> Option<&Function> {
        let known = self.functions.borrow().get(id.index()).copied().flatten();
        if let Some(body) = known {
            return self.bodies.get(body);
        }
        self.lowering.borrow().func_kind(id)?;
        let premature = self.lowering.borrow().is_premature(id);
        let function = self.lowering.borrow_mut().lower(id);
        let body = self.bodies.push(function);
        if premature {
            return self.bodies.get(body);
        }
        let lowering = self.lowering.borrow();
        let mut functions = self.functions.borrow_mut();
        functions.resize(lowering.functions(), None);
        for same in lowering.earlier_generations(id).into_iter().chain([id]) {
            functions[same.index()] = Some(body);
        }
        drop(functions);
        self.bodies.get(body)
    }

    fn global(&self, id: GlobalId) -> Option<&Global> {
        while self.globals.len() <= id.index() && self.globals.len() < self.lowering.borrow().globals() {
            self.globals.push(OnceCell::new());
        }
        let cell = self.globals.get(id.index())?;
        Some(cell.get_or_init(|| self.lowering.borrow_mut().define(id)))
    }

    fn constant(&self, text: &[u16]) -> Option<GlobalId> {
        Some(self.lowering.borrow_mut().global_id(GlobalKind::Literal(text.into())))
    }

    fn is_library_initialiser(&self, id: FuncId) -> bool {
        let lowering = self.lowering.borrow();
        matches!(lowering.func_kind(id), Some(FuncKind::Init(class)) if lowering.classes.get(*class).of_jdk)
    }

    fn named(&self, name: &[u16]) -> Option<GlobalId> {
        let name = String::from_utf16(name).ok()?.replace('.', "/");
        let mut lowering = self.lowering.borrow_mut();
        let class = lowering.classes.load(&name.as_str().into()).ok()?;
        Some(lowering.global_id(GlobalKind::Mirror(class)))
    }
}

/// Returns the feature release of a JDK, from its file `release`.
pub fn release_of(java_home: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(java_home.join("release")).ok()?;
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    version.trim_matches('"').split(['.', '+', '-']).next()?.parse().ok()
}
