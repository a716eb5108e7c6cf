//! Modules: whole programs.

use crate::{DataType, DataTypeId, DataTypes, Function, MemoryRules, Pointee, Ty, VariantTag};
use touchstone_base::{Files, IndexMap, Span, define_id};

define_id! {
    /// A function of a module.
    FuncId, "fn"
}
define_id! {
    /// A global variable of a module (also string literals and static locals).
    GlobalId, "g"
}

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Module {
    /// Source files.
    pub files: Files,
    /// Data types.
    pub types: DataTypes,
    /// The name of the function that programs of the language begin with, if they all begin with one.
    pub entry: Option<String>,
    /// What pointers from outside may lead to.
    pub memory: MemoryRules,
    /// The type of what is thrown, a [`DataType::OneOf`]: the tag of an object is its class.
    pub thrown: Option<DataTypeId>,
    /// Globals.
    pub globals: IndexMap<GlobalId, Global>,
    /// Functions.
    pub functions: IndexMap<FuncId, Function>,
    /// Functions that run before any other, in order; none has parameters or a result. Whoever runs them gets a module
    /// without them, in which globals and objects of the [`GlobalRole::Heap`] hold what they left.
    pub startup: Vec<FuncId>,
}

/// A global variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Name; unique in the module (`function.name` for static locals, `.str0` for literals).
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Data type.
    pub data: DataTypeId,
    /// Bytes.
    pub size: u64,
    /// May never be written.
    pub constant: bool,
    /// Who can see it.
    pub linkage: Linkage,
    /// What it is to the program under test.
    pub role: GlobalRole,
    /// What people call it, where it is no variable of theirs: `the library's streams`.
    pub display_name: Option<String>,
    /// It has no contents and stands for a function: its address is the function's.
    pub function: Option<FuncId>,
    /// Initial contents; `None` if the program gives no initialiser (the bytes are zero at program start).
    pub init: Option<Vec<Init>>,
}

/// What a global is to the program under test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum GlobalRole {
    /// A variable like others.
    #[default]
    Variable,
    /// What earlier calls of the library left behind: any value, until a call sets it.
    LeftBehind,
    /// An object of the heap that is there when a run begins. It holds what the module says, no test sets it, and its life
    /// never ends (whoever ends it stops as unsupported).
    Heap,
    /// The same, of the language's own library: what earlier calls may have left there makes no difference to any run.
    Runtime,
}

/// Who can see a global.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Linkage {
    /// Every file.
    External,
    /// Its own file.
    Internal,
    /// Its own function (a static local): a test can't name it.
    Local,
    /// Nobody: a literal.
    Literal,
    /// Declared here, defined nowhere in the module.
    Undefined,
}

/// A piece of initial contents; pieces are in order and don't overlap, gaps are zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Init {
    /// Bytes at an offset.
    Bytes {
        /// Where.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// The address of a global plus an offset, 8 bytes.
    GlobalAddr {
        /// Where.
        offset: u64,
        /// Of what.
        global: GlobalId,
        /// Plus so many bytes.
        addend: i64,
    },
}

impl Global {
    /// How sentences for people name it.
    pub fn quoted_name(&self) -> String {
        self.display_name.clone().unwrap_or_else(|| format!("`{}`", self.name))
    }
}

impl Module {
    /// The functions whose address is taken.
    pub fn addressed_functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.globals.values().filter_map(|global| global.function)
    }
    /// Whether a function can be called with registers of these types, and its result be taken as this.
    pub fn can_call(&self, callee: FuncId, args: impl ExactSizeIterator<Item = Ty>, result: Option<Ty>) -> bool {
        let callee = &self.functions[callee];
        args.len() == callee.params.len()
            && args.zip(&callee.params).all(|(arg, param)| callee.regs[param.reg].ty == arg)
            && (result.is_none() || callee.result == result)
    }
    /// What an input pointer to a type leads to, and what shares memory with that.
    pub fn pointee(&self, id: DataTypeId) -> Pointee {
        self.memory.pointee(id, &self.types)
    }
    /// Where a thrown object has its class, if the module says so.
    pub fn class_tag(&self) -> Option<VariantTag> {
        match self.thrown.map(|thrown| &self.types[thrown]) {
            Some(DataType::OneOf { tag, .. }) => Some(*tag),
            _ => None,
        }
    }

    /// Whether objects have classes: the numbers in them (class, length) hang together, and can't be any.
    pub fn has_classes(&self) -> bool {
        self.thrown.is_some()
    }

    /// The name of a class of thrown objects.
    pub fn class_name(&self, class: Option<u64>) -> String {
        let name = |class: u64| match self.types[self.thrown?].variant(class).map(|ty| &self.types[ty]) {
            Some(DataType::Struct { name, .. }) => Some(name.clone()),
            _ => None,
        };
        match class {
            Some(class) => name(class).unwrap_or_else(|| format!("class {class}")),
            None => "an object".to_string(),
        }
    }
    /// The function with this name.
    pub fn function_named(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }
    /// The global with this name.
    pub fn global_named(&self, name: &str) -> Option<GlobalId> {
        self.globals.iter().find(|(_, global)| global.name == name).map(|(id, _)| id)
    }
    /// The global that people call so, or that has this name.
    pub fn global_displayed_as(&self, name: &str) -> Option<GlobalId> {
        let known = self.globals.iter().find(|(_, global)| global.display_name.as_deref() == Some(name));
        known.map(|(id, _)| id).or_else(|| self.global_named(name))
    }
    /// Where functions leave the number of an error.
    pub fn error_number(&self) -> Option<GlobalId> {
        self.globals.iter().find(|(_, global)| global.role == GlobalRole::LeftBehind).map(|(id, _)| id)
    }
}
