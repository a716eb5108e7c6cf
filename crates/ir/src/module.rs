//! Modules: whole programs.

use crate::{
    Builtin, DataType, DataTypeId, DataTypes, Function, Inst, InstKind, MemoryRules, ModuleFacts, Operand, Pointee,
    RegInfo, Ty, VariantTag,
};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{Files, Id, IndexMap, Span, define_id};

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
    /// The points-to and aliasing rules.
    pub memory: MemoryRules,
    /// The type of what is thrown, a [`DataType::OneOf`]: the tag of an object is its class.
    pub thrown: Option<DataTypeId>,
    /// Globals.
    pub globals: IndexMap<GlobalId, Global>,
    /// Functions.
    pub functions: IndexMap<FuncId, Function>,
    /// Functions that run before all others, in order; they have no parameters and no result. After they have run, the
    /// module has none, and its globals and [`GlobalRole::Heap`] objects hold the values that they left.
    pub startup: Vec<FuncId>,
    /// Facts that are computed on demand.
    pub facts: ModuleFacts,
}

/// A global variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Name; unique in the module (`function.name` for static locals, `.str0` for literals).
    pub name: String,
    /// The source position.
    pub span: Span,
    /// Data type.
    pub data: DataTypeId,
    /// Bytes.
    pub size: u64,
    /// May never be written.
    pub constant: bool,
    /// The visibility.
    pub linkage: Linkage,
    /// The role in the program under test.
    pub role: GlobalRole,
    /// The name for people, if it is no variable of the program: `the library's streams`.
    pub display_name: Option<String>,
    /// The function that the global represents: it has no contents, and its address is the function's.
    pub function: Option<FuncId>,
    /// Initial contents; `None` if the program gives no initialiser (the bytes are zero at program start).
    pub init: Option<Vec<Init>>,
}

/// The role of a global in the program under test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum GlobalRole {
    /// A variable like others.
    #[default]
    Variable,
    /// A variable that opaque code also names, reads and writes: assembly, the linker, another symbol.
    Exposed,
    /// State of the library, set by earlier calls: any value until a call sets it.
    LibraryState,
    /// A heap object that exists when a run starts. It holds the value in the module, no test sets it, and it is never
    /// freed (freeing it is unsupported).
    Heap,
    /// The same, of the language's own library: what earlier calls may have left there makes no difference to any run.
    Runtime,
}

/// The visibility of a global.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Linkage {
    /// Every file.
    External,
    /// Its own file.
    Internal,
    /// Its own function (a static local): a test can't name it.
    Local,
    /// A literal, which has no name.
    Literal,
    /// Declared here, defined nowhere in the module.
    Undefined,
}

/// A piece of initial contents; pieces are in order and don't overlap, gaps are zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Init {
    /// Bytes at an offset.
    Bytes {
        /// The offset.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The address of a global plus an offset, 8 bytes.
    GlobalAddr {
        /// The offset.
        offset: u64,
        /// The target global.
        global: GlobalId,
        /// The offset from the start of the target, in bytes.
        addend: i64,
    },
}

impl Global {
    /// Returns the name as messages write it.
    pub fn quoted_name(&self) -> String {
        self.display_name.clone().unwrap_or_else(|| format!("`{}`", self.name))
    }
}

impl Module {
    /// The functions whose address is taken.
    pub fn addressed_functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.globals.values().filter_map(|global| global.function)
    }
    /// Returns true if a function can be called with registers of these types and its result used with this type.
    pub fn can_call(&self, callee: FuncId, args: impl ExactSizeIterator<Item = Ty>, result: Option<Ty>) -> bool {
        let callee = &self.functions[callee];
        args.len() == callee.params.len()
            && args.zip(&callee.params).all(|(arg, param)| callee.regs[param.reg].ty == arg)
            && (result.is_none() || callee.result == result)
    }
    /// Returns the module with the bodies of some functions only: the others are declared.
    pub fn with_bodies_of(&self, kept: &BTreeSet<FuncId>) -> Module {
        let function = |(id, function): (FuncId, &Function)| match kept.contains(&id) {
            true => function.clone(),
            false => function.declaration(),
        };
        Module {
            files: self.files.clone(),
            types: self.types.clone(),
            entry: self.entry.clone(),
            memory: self.memory.clone(),
            thrown: self.thrown,
            globals: self.globals.clone(),
            functions: self.functions.iter().map(function).collect(),
            startup: self.startup.clone(),
            facts: ModuleFacts::default(),
        }
    }
    /// Returns the pointees of an input pointer to a type, and the memory that they share.
    pub fn pointee(&self, id: DataTypeId) -> Pointee {
        self.memory.pointee(id, &self.types)
    }
    /// Returns the location of the class tag of thrown objects, if the module declares it.
    pub fn class_tag(&self) -> Option<VariantTag> {
        match self.thrown.map(|thrown| &self.types[thrown]) {
            Some(DataType::OneOf { tag, .. }) => Some(*tag),
            _ => None,
        }
    }

    /// Returns true if objects have classes: their class and length fields are related and cannot have any value.
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
    /// Returns the global that holds the error number of library functions.
    pub fn error_number(&self) -> Option<GlobalId> {
        self.globals.iter().find(|(_, global)| global.role == GlobalRole::LibraryState).map(|(id, _)| id)
    }
}

impl Module {
    /// Ends every path that uses one of these globals, with a description of the global as the reason: only a real run knows
    /// the contents.
    pub fn end_paths_at(&mut self, globals: BTreeMap<GlobalId, String>) {
        let mut texts: BTreeMap<GlobalId, GlobalId> = BTreeMap::new();
        for (id, text) in globals {
            let bytes = text.into_bytes();
            let size = bytes.len() as u64 + 1;
            let init = Some(vec![Init::Bytes { offset: 0, bytes }]);
            let name = format!("<environment {}>", id.index());
            texts.insert(id, self.globals.push(Global { name, size, init, ..self.globals[id].clone() }));
        }
        if texts.is_empty() {
            return;
        }
        for function in self.functions.values_mut() {
            end_paths_in(function, &texts);
        }
    }
}

fn end_paths_in(function: &mut Function, texts: &BTreeMap<GlobalId, GlobalId>) {
    let Function { blocks, regs, .. } = function;
    let text = |inst: &Inst| match inst.kind {
        InstKind::GlobalAddr { global, .. } => texts.get(&global).copied(),
        _ => None,
    };
    for block in blocks.values_mut() {
        if !block.insts.iter().any(|inst| text(inst).is_some()) {
            continue;
        }
        let mut insts = Vec::with_capacity(block.insts.len() + 2);
        for inst in std::mem::take(&mut block.insts) {
            if let Some(global) = text(&inst) {
                let dst = regs.push(RegInfo { ty: Ty::Ptr, name: None });
                let (args, span) = (vec![Operand::Reg(dst)], inst.span);
                insts.push(Inst { kind: InstKind::GlobalAddr { dst, global }, span });
                insts.push(Inst { kind: InstKind::Builtin { dst: None, builtin: Builtin::RunOnly, args }, span });
            }
            insts.push(inst);
        }
        block.insts = insts;
    }
}
