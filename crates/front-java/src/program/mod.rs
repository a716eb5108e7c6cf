//! A program: the classes that it begins with, and all that a run meets.

use crate::classes::{Classes, MethodRef, Refusal};
use crate::coverage::source_marks::Marks;
use crate::lower::context::{World, empty_module};
use crate::lower::library::boxing::Boxes;
use crate::lower::symbols::{Data, Func};
use crate::path::{ClassPath, PathError};
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use touchstone_base::{Files, Grown, Id};
use touchstone_ir::{FuncId, Function, Global, GlobalId, Growing, Module};

mod code_locations;
mod definitions;
mod jdk;
mod methods_under_test;
mod specifications;

pub use code_locations::{Located, LocatedJump};
pub use jdk::{Compiled, Compiling, Jdk, JdkError, LABELS};
pub use methods_under_test::{Field, Kind, Loaded, Method, Shows, Visible};
pub use specifications::Unspoken;

/// Why a program can't be run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The class path is wrong.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A class can't be loaded.
    #[error("can't load the class {class}: {reason}")]
    NoClass {
        /// Which one.
        class: String,
        /// Why.
        reason: String,
    },
    /// The main class can't be loaded.
    #[error("can't load the main class {class}: {reason}")]
    NoMainClass {
        /// Which one.
        class: String,
        /// Why.
        reason: String,
    },
    /// It has no `main`.
    #[error("the class {0} has no method `main` that a program can begin with")]
    NoMain(String),
}

/// A program that is lowered as it runs.
pub struct Program {
    pub(crate) module: Module,
    pub(crate) world: RefCell<World>,
    /// Bodies, and which of them each function has: a later generation takes the place of earlier ones.
    bodies: Grown<Function>,
    functions: RefCell<Vec<Option<usize>>>,
    globals: Grown<OnceCell<Global>>,
    entry: FuncId,
}

/// What a program is made of.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The JDK.
    pub java_home: PathBuf,
    /// Its feature release (17, 25).
    pub release: u32,
    /// Directories and jars.
    pub class_path: Vec<PathBuf>,
    /// The class that has `main`, as people write it.
    pub main_class: String,
    /// Language and country of the user (`en`, `US`).
    pub locale: (String, String),
    /// Words of the command line.
    pub arguments: Vec<String>,
}

impl Program {
    /// Looks up the main class.
    ///
    /// # Errors
    /// If it, or something of the class path, is not there.
    pub fn new(setup: Setup) -> Result<Program, ProgramError> {
        let path = ClassPath::new(&setup.java_home, &setup.class_path)?;
        let mut world = World::new(Classes::new(path), setup.arguments, setup.release, setup.locale);
        let class = setup.main_class.replace('.', "/");
        let unloadable = |refusal: Refusal| ProgramError::NoMainClass {
            class: setup.main_class.clone(),
            reason: refusal.to_string(),
        };
        let class = world.classes.load(&class.as_str().into()).map_err(unloadable)?;
        if world.main_method(class).is_none() {
            return Err(ProgramError::NoMain(setup.main_class));
        }
        let entry = world.func(Func::Main(class));
        Ok(Program::of(world, entry))
    }

    /// A program whose methods are called one by one; nobody runs it as a whole.
    ///
    /// # Errors
    /// If something of the class path is not there.
    pub fn of_methods(setup: Setup, marks: Option<Marks>) -> Result<Program, ProgramError> {
        let path = ClassPath::new(&setup.java_home, &setup.class_path)?;
        let mut world = World::new(Classes::new(path), setup.arguments, setup.release, setup.locale);
        world.marks = marks;
        world.boxes = Boxes::Marked;
        let entry = world.func(Func::Helper("system"));
        Ok(Program::of(world, entry))
    }

    fn of(world: World, entry: FuncId) -> Program {
        Program {
            module: empty_module(),
            world: RefCell::new(world),
            bodies: Grown::default(),
            functions: RefCell::default(),
            globals: Grown::default(),
            entry,
        }
    }

    /// The module that a run begins with: it has no functions, since all of them come later.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The function that runs the program: no parameters, no result.
    pub fn entry(&self) -> FuncId {
        self.entry
    }

    /// Source files of what was lowered so far.
    pub fn files(&self) -> Files {
        self.world.borrow().files.clone()
    }

    /// How many functions were lowered so far.
    pub fn lowered(&self) -> usize {
        self.bodies.len()
    }

    /// The functions of a class's methods, by its internal name; those that have neither code nor a stand-in are left out.
    ///
    /// # Errors
    /// If the class can't be loaded.
    pub fn methods_of(&self, class: &str) -> Result<Vec<FuncId>, ProgramError> {
        let mut world = self.world.borrow_mut();
        let unloadable =
            |refusal: Refusal| ProgramError::NoMainClass { class: class.to_string(), reason: refusal.to_string() };
        let id = world.classes.load(&class.into()).map_err(unloadable)?;
        let methods = world.classes.get(id).file().map_or(0, |file| file.methods.len());
        let methods = (0..methods as u16).map(|index| MethodRef { class: id, index });
        let methods: Vec<MethodRef> = methods.filter(|method| world.classes.method(*method).code().is_some()).collect();
        Ok(methods.into_iter().map(|method| world.func(Func::Method(method))).collect())
    }

    /// All that was met so far as one module; functions that nobody called are only declared.
    pub fn met(&self) -> Module {
        let mut module = self.module.clone();
        module.types = self.world.borrow().types.clone();
        let mut function = 0;
        let mut global = 0;
        loop {
            let (functions, globals) = (self.world.borrow().functions(), self.world.borrow().globals());
            if (function, global) == (functions, globals) {
                module.types = self.world.borrow().types.clone();
                module.files = self.files();
                return module;
            }
            for index in function..functions {
                let body = self.functions.borrow().get(index).copied().flatten().and_then(|body| self.bodies.get(body));
                let id = FuncId::new(index);
                let mut made = match body {
                    Some(body) => body.clone(),
                    None => self.world.borrow().declaration(id),
                };
                // A body may stand for several generations.
                made.name = format!("{id}: {}", made.name);
                module.functions.push(made);
            }
            // What they hold may lead to more of them.
            for index in global..globals {
                let made = self.global(GlobalId::new(index)).cloned();
                if let Some(made) = made {
                    module.globals.push(made);
                }
            }
            (function, global) = (functions, globals);
        }
    }

    /// What a function is, for people.
    pub fn title(&self, id: FuncId) -> String {
        let world = self.world.borrow();
        match world.what(id) {
            Some(Func::Method(method) | Func::Original(method)) => world.method_title(*method),
            Some(Func::Dispatch(method, _)) => format!("a call of {}", world.method_title(*method)),
            Some(Func::Init(class)) => format!("the initialiser of {}", world.classes.get(*class).title()),
            Some(Func::InstanceOf(class, _)) => format!("instanceof {}", world.classes.get(*class).title()),
            Some(other) => format!("{other:?}"),
            None => id.to_string(),
        }
    }
}

impl Growing for Program {
    fn function(&self, id: FuncId) -> Option<&Function> {
        let known = self.functions.borrow().get(id.index()).copied().flatten();
        if let Some(body) = known {
            return self.bodies.get(body);
        }
        self.world.borrow().what(id)?;
        let premature = self.world.borrow().is_premature(id);
        let function = self.world.borrow_mut().lower(id);
        let body = self.bodies.push(function);
        if premature {
            return self.bodies.get(body);
        }
        let world = self.world.borrow();
        let mut functions = self.functions.borrow_mut();
        functions.resize(world.functions(), None);
        for same in world.earlier(id).into_iter().chain([id]) {
            functions[same.index()] = Some(body);
        }
        drop(functions);
        self.bodies.get(body)
    }

    fn global(&self, id: GlobalId) -> Option<&Global> {
        while self.globals.len() <= id.index() && self.globals.len() < self.world.borrow().globals() {
            self.globals.push(OnceCell::new());
        }
        let cell = self.globals.get(id.index())?;
        Some(cell.get_or_init(|| self.world.borrow_mut().define(id)))
    }

    fn constant(&self, text: &[u16]) -> Option<GlobalId> {
        Some(self.world.borrow_mut().datum(Data::Literal(text.into())))
    }

    fn named(&self, name: &[u16]) -> Option<GlobalId> {
        let name = String::from_utf16(name).ok()?.replace('.', "/");
        let mut world = self.world.borrow_mut();
        let class = world.classes.load(&name.as_str().into()).ok()?;
        Some(world.datum(Data::Mirror(class)))
    }
}

/// The feature release of a JDK, as its `release` file says.
pub fn release_of(java_home: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(java_home.join("release")).ok()?;
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    version.trim_matches('"').split(['.', '+', '-']).next()?.parse().ok()
}
