//! The program that translation units are linked into.
//!
//! External functions and globals exist once per name; internal ones exist once per file and get their final, unique
//! names after all files were read.

use crate::clang::source_text::SourceTexts;
use crate::construct::Construct;
use crate::error::FrontError;
use crate::link::build_assumptions;
use crate::link::cleanup;
use crate::link::constructor::StartupFunction;
use crate::types::ctype::{Type, TypeKind, TypeTable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::float::{FloatOp, Format};
use touchstone_base::{Files, Id, IndexMap, Span};
use touchstone_ir::{
    Callee, CastOp, DataType, DataTypeId, ExprKind, FuncId, Function, FunctionRole, Global, GlobalId, GlobalRole, Init,
    Inst, InstKind, Linkage, Module, Operand, Param, PointKind, Reg, RegInfo, Ty,
};

/// The program under construction.
pub(crate) struct LinkedProgram {
    pub files: Files,
    pub sources: SourceTexts,
    /// The number of files that the user gave; they come first.
    pub given_files: usize,
    pub types: TypeTable,
    pub globals: IndexMap<GlobalId, Global>,
    pub functions: IndexMap<FuncId, Function>,
    /// Recognised names (`malloc`, `klee_assume`, …) that were lowered as builtins.
    pub recognised: BTreeSet<String>,
    /// Names that are not recognised because the program defines them.
    pub own: BTreeSet<String>,
    /// Functions that are declared `noreturn`.
    pub noreturn: BTreeSet<String>,
    /// Functions that a system header declares.
    pub system_functions: BTreeSet<String>,
    /// Names of weak symbols: another file, or none, may define them instead.
    pub weak: BTreeSet<String>,
    external_functions: FxHashMap<String, FuncId>,
    /// Library functions that the program overrides, as the library itself calls them.
    library_functions: FxHashMap<String, FuncId>,
    external_globals: FxHashMap<String, GlobalId>,
    /// Inline functions, which may have several equivalent definitions.
    inline: FxHashSet<FuncId>,
    /// File names of internal functions and globals, from which final names are derived.
    function_files: BTreeMap<FuncId, String>,
    global_files: BTreeMap<GlobalId, String>,
    /// Globals with an unsupported initialiser, and its construct.
    unsupported_globals: FxHashMap<GlobalId, Construct>,
    literals: FxHashMap<(Vec<u8>, DataTypeId), GlobalId>,
    function_marks: FxHashMap<FuncId, GlobalId>,
    /// The types of functions, to compute the points-to sets of function pointers.
    pub function_types: BTreeMap<FuncId, Type>,
    names: FxHashSet<String>,
    /// True if the program is executed, and not only analysed.
    pub executes: bool,
    /// True if `-finstrument-functions` is given.
    pub instruments_functions: bool,
    /// Assumptions of all verdicts about the program.
    pub assumptions: BTreeSet<String>,
    /// True if objects may be accessed as any type.
    pub any_aliasing: bool,
    /// The flags by which compilers may fuse operations on floats.
    pub fused: BTreeSet<String>,
    /// Constructors and destructors, in the order of their definitions.
    pub startup_functions: Vec<StartupFunction>,
}

/// A declaration of a function.
pub(crate) struct Declaration {
    pub name: String,
    pub ty: Type,
    pub param_names: Vec<String>,
    pub span: Span,
    /// The file, if the function is internal.
    pub internal: Option<String>,
    /// The linker name, if an assembler label gives one.
    pub label: Option<String>,
}

impl Declaration {
    fn link_name(&self) -> &str {
        self.label.as_ref().unwrap_or(&self.name)
    }
}

/// A declaration of a global.
pub(crate) struct GlobalDeclaration {
    pub name: String,
    pub ty: Type,
    pub span: Span,
    pub internal: Option<String>,
    /// The linker name, if an assembler label gives one.
    pub label: Option<String>,
}

impl GlobalDeclaration {
    fn link_name(&self) -> &str {
        self.label.as_ref().unwrap_or(&self.name)
    }
}

impl LinkedProgram {
    /// Creates an empty program in which the names in `own` are not recognised.
    pub fn new(own: BTreeSet<String>) -> LinkedProgram {
        LinkedProgram {
            files: Files::new(),
            sources: SourceTexts::default(),
            given_files: 0,
            types: TypeTable::new(),
            globals: IndexMap::new(),
            functions: IndexMap::new(),
            recognised: BTreeSet::new(),
            own,
            noreturn: BTreeSet::new(),
            system_functions: BTreeSet::new(),
            weak: BTreeSet::new(),
            external_functions: FxHashMap::default(),
            library_functions: FxHashMap::default(),
            external_globals: FxHashMap::default(),
            inline: FxHashSet::default(),
            function_files: BTreeMap::new(),
            global_files: BTreeMap::new(),
            unsupported_globals: FxHashMap::default(),
            literals: FxHashMap::default(),
            function_marks: FxHashMap::default(),
            function_types: BTreeMap::new(),
            names: FxHashSet::default(),
            executes: false,
            instruments_functions: false,
            assumptions: BTreeSet::new(),
            fused: BTreeSet::new(),
            any_aliasing: false,
            startup_functions: Vec::new(),
        }
    }

    /// Returns the function of a declaration, which is added if it is new.
    pub fn function(&mut self, declaration: &Declaration) -> FuncId {
        if declaration.internal.is_none()
            && let Some(&id) = self.external_functions.get(declaration.link_name())
        {
            return id;
        }
        let mut function = self.declared(declaration);
        // Until the function is defined, models and stubs are found by this name.
        function.name = declaration.link_name().to_string();
        let id = self.functions.push(function);
        match &declaration.internal {
            Some(file) => drop(self.function_files.insert(id, file.clone())),
            None => drop(self.external_functions.insert(declaration.link_name().to_string(), id)),
        }
        id
    }

    /// Returns the library's version of a function that the program overrides.
    pub fn library_function(&mut self, name: &str, ty: Type) -> FuncId {
        if let Some(&id) = self.library_functions.get(name) {
            return id;
        }
        let (name, file) = (name.to_string(), "library".to_string());
        let declaration =
            Declaration { name, ty, param_names: Vec::new(), span: Span::none(), internal: Some(file), label: None };
        let id = self.function(&declaration);
        self.library_functions.insert(declaration.name, id);
        id
    }

    /// Turns library functions that the program does not override after all into external ones. Called after all files
    /// were read.
    pub fn resolve_library(&mut self) {
        let unneeded: Vec<String> =
            self.library_functions.keys().filter(|name| !self.overrides(name)).cloned().collect();
        let mut instead: FxHashMap<FuncId, FuncId> = FxHashMap::default();
        for name in unneeded {
            let Some(beside) = self.library_functions.remove(&name) else { continue };
            let external = *self.external_functions.entry(name).or_insert(beside);
            if external == beside {
                self.function_files.remove(&beside);
                self.functions[beside].internal = false;
            } else {
                instead.insert(beside, external);
            }
        }
        if instead.is_empty() {
            return;
        }
        for block in self.functions.values_mut().flat_map(|function| function.blocks.values_mut()) {
            for inst in &mut block.insts {
                if let InstKind::Call { callee: Callee::Direct(callee), .. } = &mut inst.kind
                    && let Some(&external) = instead.get(callee)
                {
                    *callee = external;
                }
            }
        }
    }

    /// Creates a function without a body, with registers for its parameters.
    pub fn declared(&mut self, declaration: &Declaration) -> Function {
        let nothing = Type::plain(TypeKind::Void);
        let (result, params) = match &declaration.ty.kind {
            TypeKind::Function(signature) => (signature.result.clone(), signature.params.clone()),
            _ => (nothing, Vec::new()),
        };
        let aggregate_result = result.is_record();
        let mut function = Function {
            name: declaration.name.clone(),
            span: declaration.span,
            internal: declaration.internal.is_some(),
            role: FunctionRole::Program,
            params: Vec::new(),
            result: match result.kind {
                TypeKind::Void => None,
                _ => (!aggregate_result).then(|| self.types.scalar(&result)),
            },
            result_data: self.types.data(&result),
            aggregate_result,
            variadic: matches!(&declaration.ty.kind, TypeKind::Function(signature) if signature.variadic),
            left_open: BTreeSet::new(),
            regs: IndexMap::new(),
            slots: IndexMap::new(),
            decisions: IndexMap::new(),
            points: IndexMap::new(),
            blocks: IndexMap::new(),
        };
        if aggregate_result {
            let data = self.types.data(&result.clone().pointer_to());
            let reg = function.regs.push(RegInfo { ty: Ty::Ptr, name: None });
            function.params.push(Param { name: String::new(), reg, data, aggregate: false });
        }
        for (index, ty) in params.iter().enumerate() {
            let name = declaration.param_names.get(index).cloned().unwrap_or_default();
            let register = if ty.is_record() { Ty::Ptr } else { self.types.scalar(ty) };
            let reg_name = (!name.is_empty()).then(|| name.clone());
            let reg = function.regs.push(RegInfo { ty: register, name: reg_name });
            let data = self.types.data(ty);
            function.params.push(Param { name, reg, data, aggregate: ty.is_record() });
        }
        if function.variadic {
            let reg = function.regs.push(RegInfo { ty: Ty::Ptr, name: None });
            let data = self.types.arguments_pointer();
            function.params.push(Param { name: String::new(), reg, data, aggregate: false });
        }
        function
    }

    /// Prepares the definition of a function; `None` for a further definition of an inline function, which is ignored.
    pub fn define(&mut self, id: FuncId, span: Span, inline: bool) -> Result<Option<FuncId>, FrontError> {
        if self.functions[id].is_defined() {
            if inline || self.inline.contains(&id) {
                return Ok(None);
            }
            return Err(self.duplicate(&self.functions[id].name, self.functions[id].span, span));
        }
        if inline {
            self.inline.insert(id);
        }
        Ok(Some(id))
    }
    fn duplicate(&self, name: &str, first: Span, second: Span) -> FrontError {
        FrontError::DuplicateDefinition {
            name: name.to_string(),
            first: first.display(&self.files),
            second: second.display(&self.files),
        }
    }
    /// Returns true if the user's files define an external function of this name.
    pub fn overrides(&self, name: &str) -> bool {
        self.external_functions.get(name).is_some_and(|&id| {
            let function = &self.functions[id];
            function.is_defined() && !function.is_library()
        })
    }
    /// Returns true if an external function of this name has a body.
    pub fn defines(&self, name: &str) -> bool {
        self.external_functions.get(name).is_some_and(|&id| self.functions[id].is_defined())
    }
    /// Returns true if the program may redirect a standard stream.
    pub fn redirects(&self) -> bool {
        self.external_functions.contains_key("freopen") && !self.overrides("freopen")
    }
    /// Returns true if the program calls output functions without using their result, so that no model sees the output.
    pub fn has_quiet_output(&self) -> bool {
        const QUIET: [&str; 7] = ["fprintf", "fputs", "printf", "putchar", "puts", "vfprintf", "vprintf"];
        QUIET.iter().any(|name| self.recognised.contains(*name))
    }
    /// Returns the names of external functions that are used but not defined.
    pub fn undefined_functions(&self) -> Vec<String> {
        let undefined = self.functions.values().filter(|function| !function.is_defined());
        undefined.map(|function| function.name.clone()).collect()
    }

    /// Returns true if an external variable of this name is defined.
    pub fn defines_variable(&self, name: &str) -> bool {
        self.external_globals.get(name).is_some_and(|&id| self.globals[id].linkage != Linkage::Undefined)
    }
    /// Returns the names of external variables that are used but not defined.
    pub fn undefined_variables(&self) -> Vec<String> {
        let undefined = self.globals.values().filter(|global| global.linkage == Linkage::Undefined);
        undefined.map(|global| global.name.clone()).collect()
    }

    /// Returns the global of a declaration, which is added (undefined) if it is new.
    pub fn global(&mut self, declaration: &GlobalDeclaration) -> GlobalId {
        if declaration.internal.is_none()
            && let Some(&id) = self.external_globals.get(declaration.link_name())
        {
            if !matches!(declaration.ty.kind, TypeKind::OpenArray(_)) && self.globals[id].size == 0 {
                self.set_global_type(id, &declaration.ty);
            }
            return id;
        }
        let id = self.push_global(declaration.link_name(), &declaration.ty, declaration.span, Linkage::Undefined);
        match &declaration.internal {
            Some(file) => drop(self.global_files.insert(id, file.clone())),
            None => drop(self.external_globals.insert(declaration.link_name().to_string(), id)),
        }
        id
    }
    /// Adds another name for a global.
    pub fn alias_global(&mut self, name: &str, id: GlobalId) {
        self.external_globals.entry(name.to_string()).or_insert(id);
    }
    /// Adds another name for a function.
    pub fn alias_function(&mut self, name: &str, id: FuncId) {
        self.external_functions.entry(name.to_string()).or_insert(id);
    }
    /// Returns true if the program uses an external function of this name.
    pub fn external_function(&self, name: &str) -> bool {
        self.external_functions.contains_key(name)
    }
    /// Adds a static local variable.
    pub fn static_local(&mut self, name: &str, ty: &Type, span: Span, file: &str) -> GlobalId {
        let id = self.push_global(name, ty, span, Linkage::Local);
        self.global_files.insert(id, file.to_string());
        id
    }
    fn push_global(&mut self, name: &str, ty: &Type, span: Span, linkage: Linkage) -> GlobalId {
        let data = self.types.data(ty);
        let size = self.types.size(ty);
        let constant = ty.is_deep_const();
        self.globals.push(Global {
            name: name.to_string(),
            span,
            data,
            size,
            constant,
            linkage,
            role: GlobalRole::Variable,
            display_name: None,
            function: None,
            init: None,
        })
    }
    /// Sets a global's type, if a later declaration is more complete.
    pub fn set_global_type(&mut self, id: GlobalId, ty: &Type) {
        let (data, size) = (self.types.data(ty), self.types.size(ty));
        let global = &mut self.globals[id];
        global.data = data;
        global.size = size;
        global.constant = ty.is_deep_const();
    }
    /// Defines a global, perhaps tentatively.
    pub fn define_global(
        &mut self,
        id: GlobalId,
        span: Span,
        linkage: Linkage,
        init: Option<Vec<Init>>,
    ) -> Result<(), FrontError> {
        if init.is_some() && self.globals[id].init.is_some() {
            return Err(self.duplicate(&self.globals[id].name, self.globals[id].span, span));
        }
        let global = &mut self.globals[id];
        if global.linkage == Linkage::Undefined || init.is_some() {
            global.span = span;
        }
        global.linkage = linkage;
        if init.is_some() {
            global.init = init;
        }
        Ok(())
    }
    /// Marks a global with an unsupported initialiser: every use of it is unsupported.
    pub fn mark_unsupported(&mut self, id: GlobalId, construct: Construct) {
        self.unsupported_globals.insert(id, construct);
    }

    /// Returns the global of a string literal.
    pub fn literal(&mut self, bytes: Vec<u8>, ty: &Type, span: Span) -> GlobalId {
        let data = self.types.data(ty);
        let key = (bytes, data);
        if let Some(&id) = self.literals.get(&key) {
            return id;
        }
        let name = format!(".str{}", self.literals.len());
        let size = key.0.len() as u64;
        let init = Some(vec![Init::Bytes { offset: 0, bytes: key.0.clone() }]);
        let linkage = Linkage::Literal;
        let id = self.globals.push(Global {
            name,
            span,
            data,
            size,
            constant: true,
            linkage,
            role: GlobalRole::Variable,
            display_name: None,
            function: None,
            init,
        });
        self.literals.insert(key, id);
        id
    }
    /// Returns the global of a string that is not in the source.
    pub fn text_literal(&mut self, text: &str, span: Span) -> GlobalId {
        let byte = Type::plain(TypeKind::Int { name: "char", bits: 8, signed: self.types.char_signed });
        let ty = Type::plain(TypeKind::Array(std::rc::Rc::new(byte), text.len() as u64 + 1));
        self.literal(text.bytes().chain([0]).collect(), &ty, span)
    }
    /// Returns the global that represents a function: its address is the function's.
    pub fn function_mark(&mut self, function: FuncId, ty: &Type, span: Span) -> GlobalId {
        if let Some(&id) = self.function_marks.get(&function) {
            return id;
        }
        let name = format!(".fn.{}", self.functions[function].name);
        let data = self.types.data(ty);
        let id = self.globals.push(Global {
            name,
            span,
            data,
            size: 0,
            constant: true,
            linkage: Linkage::Literal,
            role: GlobalRole::Variable,
            display_name: None,
            function: Some(function),
            init: None,
        });
        self.function_marks.insert(function, id);
        id
    }

    /// Builds the module: assigns final names, replaces calls that don't match their definition, merges data types.
    pub fn finish(mut self) -> Module {
        self.surround_main();
        self.check_hooks();
        self.add_assumptions();
        self.expose_build_stamps();
        self.add_function_pointees();
        self.name_functions();
        self.name_globals();
        for global in self.globals.values_mut() {
            // `int a[];` without a complete declaration has one element.
            if global.size == 0
                && global.linkage != Linkage::Undefined
                && let DataType::Array { element, length: 0 } = self.types.data[global.data]
            {
                global.size = self.types.data[element].size(&self.types.data);
            }
        }
        for function in self.functions.values_mut() {
            let unsupported_globals = |global| self.unsupported_globals.contains_key(&global);
            cleanup::drop_points(function, |kind| {
                !matches!(kind, PointKind::Label { .. }) && mentions(kind, unsupported_globals)
            });
        }
        self.adapt_calls();
        let fits = LinkCheck { functions: &self.functions, unsupported_globals: &self.unsupported_globals };
        let stops: Vec<_> = self.functions.ids().flat_map(|id| fits.stops(id)).collect();
        for (function, block, at, what) in stops {
            let span = self.functions[function].blocks[block].insts[at].span;
            cleanup::stop_at(&mut self.functions[function], block, at, what, span);
        }
        let mut module = Module {
            files: self.files,
            types: self.types.data,
            entry: Some("main".to_string()),
            globals: self.globals,
            functions: self.functions,
            ..Module::default()
        };
        cleanup::merge_types(&mut module);
        cleanup::add_byte(&mut module);
        crate::link::memory_rules::set_rules(&mut module, self.any_aliasing);
        cleanup::drop_unused_files(&mut module, self.given_files);
        let stamps = build_assumptions::build_stamps(&module);
        module.end_paths_at(stamps);
        module
    }

    /// Marks `main` as unsupported if the program defines the hooks of `-finstrument-functions`, which are not called.
    fn check_hooks(&mut self) {
        let has_hooks = ["__cyg_profile_func_enter", "__cyg_profile_func_exit"].iter().any(|name| self.overrides(name));
        let main = self.external_functions.get("main").copied().filter(|_| self.instruments_functions && has_hooks);
        if let Some(main) = main
            && let Some(entry) = self.functions[main].blocks.ids().next()
        {
            let span = self.functions[main].span;
            cleanup::stop_at(&mut self.functions[main], entry, 0, Construct::InstrumentFunctions, span);
        }
    }

    /// Adds to the points-to set of function pointers every function of a type that something points to.
    fn add_function_pointees(&mut self) {
        let pointed: FxHashSet<DataTypeId> = self
            .types
            .data
            .values()
            .filter_map(|data| if let DataType::Pointer { pointee, .. } = data { Some(*pointee) } else { None })
            .collect();
        let offered: Vec<(FuncId, Type)> = std::mem::take(&mut self.function_types).into_iter().collect();
        for (id, ty) in offered {
            let (data, span) = (self.types.data(&ty), self.functions[id].span);
            if pointed.contains(&data) && self.functions[id].is_defined() && !self.functions[id].is_library() {
                self.function_mark(id, &ty, span);
            }
        }
    }

    /// Adapts calls with a declaration that is less precise than the definition. A result that is declared narrower (`int
    /// strlen();`) is truncated, and so is an argument of an old-style parameter that is narrower than the promoted
    /// argument. An old-style `float` is passed as a `double`.
    fn adapt_calls(&mut self) {
        let types = &self.types.data;
        let param = |function: &Function, param: &Param| {
            let single = matches!(types[param.data], DataType::Float { format: Format::F32, .. });
            (function.regs[param.reg].ty, if single { Narrowing::Float } else { Narrowing::LowBits })
        };
        let signature = |function: &Function| {
            let params: Vec<ParamConversion> = function.params.iter().map(|info| param(function, info)).collect();
            // If any value is passed by address, the call must match the definition exactly.
            let hidden = function.variadic || function.aggregate_result;
            let plain = !hidden && !function.params.iter().any(|param| param.aggregate);
            (params, function.result, plain)
        };
        let signatures: Vec<(Vec<ParamConversion>, Option<Ty>, bool)> =
            self.functions.values().map(signature).collect();
        for function in self.functions.values_mut() {
            for block in function.blocks.values_mut() {
                let mut insts = Vec::with_capacity(block.insts.len());
                for mut inst in std::mem::take(&mut block.insts) {
                    let mut after = None;
                    if let InstKind::Call { dst, callee: Callee::Direct(callee), args } = &mut inst.kind {
                        let (params, result, plain) = &signatures[callee.index()];
                        // An old-style definition ignores surplus arguments.
                        args.truncate(if *plain { params.len() } else { args.len() });
                        for (arg, &(param, how)) in args.iter_mut().zip(params) {
                            let from = match *arg {
                                Operand::Reg(reg) => function.regs[reg].ty,
                                Operand::Const(ty, _) => ty,
                            };
                            if is_narrower(param, from) {
                                let low = function.regs.push(RegInfo { ty: param, name: None });
                                insts.push(Inst { kind: how.inst(low, *arg, from), span: inst.span });
                                *arg = Operand::Reg(low);
                            }
                            // An address and an integer of 64 bits are passed alike.
                            let op = match (from, param) {
                                (Ty::Ptr, Ty::I64) if *plain => CastOp::PtrToInt,
                                (Ty::I64, Ty::Ptr) if *plain => CastOp::IntToPtr,
                                _ => continue,
                            };
                            let same = function.regs.push(RegInfo { ty: param, name: None });
                            insts.push(Inst { kind: InstKind::Cast { dst: same, op, src: *arg }, span: inst.span });
                            *arg = Operand::Reg(same);
                        }
                        if let (Some(dst), Some(result)) = (dst.as_mut(), *result)
                            && is_narrower(function.regs[*dst].ty, result)
                        {
                            let whole = function.regs.push(RegInfo { ty: result, name: None });
                            let low = std::mem::replace(dst, whole);
                            after = Some(InstKind::Cast { dst: low, op: CastOp::Trunc, src: Operand::Reg(whole) });
                        }
                    }
                    let span = inst.span;
                    insts.push(inst);
                    insts.extend(after.map(|kind| Inst { kind, span }));
                }
                block.insts = insts;
            }
        }
    }

    fn name_functions(&mut self) {
        for (id, function) in self.functions.iter() {
            if !self.function_files.contains_key(&id) {
                self.names.insert(function.name.clone());
            }
        }
        for (id, file) in std::mem::take(&mut self.function_files) {
            let name = unique(&mut self.names, &self.functions[id].name, &file);
            self.functions[id].name = name;
        }
    }
    fn name_globals(&mut self) {
        let mut names: FxHashSet<String> = FxHashSet::default();
        for (id, global) in self.globals.iter() {
            if !self.global_files.contains_key(&id) {
                names.insert(global.name.clone());
            }
        }
        for (id, file) in std::mem::take(&mut self.global_files) {
            let name = unique(&mut names, &self.globals[id].name, &file);
            self.globals[id].name = name;
        }
    }
}

/// The register type of a parameter, and the conversion of a wider argument.
type ParamConversion = (Ty, Narrowing);

/// The conversion of an argument to a narrower old-style parameter.
#[derive(Clone, Copy)]
enum Narrowing {
    LowBits,
    Float,
}

impl Narrowing {
    fn inst(self, dst: Reg, src: Operand, from: Ty) -> InstKind {
        match self {
            Narrowing::Float if from == Ty::I64 => {
                InstKind::Float { dst, op: FloatOp::Convert(Format::F32), format: Format::F64, args: vec![src] }
            }
            _ => InstKind::Cast { dst, op: CastOp::Trunc, src },
        }
    }
}

fn is_narrower(narrow: Ty, wide: Ty) -> bool {
    matches!((narrow, wide), (Ty::Int(narrow), Ty::Int(wide)) if narrow < wide)
}

/// Returns the first free name among the name itself, `name@file.c`, `name$2`, ….
fn unique(names: &mut FxHashSet<String>, name: &str, file: &str) -> String {
    let base = std::path::Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    let with_file = format!("{name}@{}", base.unwrap_or_default());
    let mut candidates = [name.to_string(), with_file].into_iter().chain((2u32..).map(|n| format!("{name}${n}")));
    let free = candidates.find(|candidate| !names.contains(candidate)).expect("invariant: some number is free");
    names.insert(free.clone());
    free
}

/// Returns true if a formula of a point refers to a matching global.
fn mentions(kind: &PointKind, mut wanted: impl FnMut(GlobalId) -> bool) -> bool {
    let mut pending = kind.exprs();
    while let Some(expr) = pending.pop() {
        if let ExprKind::Global(global) = expr.kind
            && wanted(global)
        {
            return true;
        }
        pending.extend(expr.parts());
    }
    false
}

/// Finds instructions that can't be executed: calls that don't match their definition, uses of poisoned globals.
struct LinkCheck<'a> {
    functions: &'a IndexMap<FuncId, Function>,
    unsupported_globals: &'a FxHashMap<GlobalId, Construct>,
}

impl LinkCheck<'_> {
    fn stops(&self, id: FuncId) -> Vec<(FuncId, touchstone_ir::BlockId, usize, Construct)> {
        let function = &self.functions[id];
        let mut stops = Vec::new();
        for (block, body) in function.blocks.iter() {
            let stop = body
                .insts
                .iter()
                .enumerate()
                .find_map(|(at, inst)| self.problem(function, &inst.kind).map(|what| (id, block, at, what)));
            stops.extend(stop);
        }
        stops
    }
    fn problem(&self, function: &Function, kind: &InstKind) -> Option<Construct> {
        match kind {
            InstKind::GlobalAddr { global, .. } => self.unsupported_globals.get(global).cloned(),
            InstKind::Point { point } => {
                let mut what = None;
                mentions(&function.points[*point].kind, |global| {
                    what = what.take().or_else(|| self.unsupported_globals.get(&global).cloned());
                    what.is_some()
                });
                what
            }
            InstKind::Call { dst, callee: Callee::Direct(callee), args } => {
                let callee = &self.functions[*callee];
                let of = |operand: &Operand| match operand {
                    Operand::Reg(reg) => function.regs[*reg].ty,
                    Operand::Const(ty, _) => *ty,
                };
                let fits = args.len() == callee.params.len()
                    && args.iter().zip(&callee.params).all(|(arg, param)| of(arg) == callee.regs[param.reg].ty)
                    && dst.is_none_or(|dst: Reg| callee.result == Some(function.regs[dst].ty));
                match (fits, callee.is_defined()) {
                    (true, _) => None,
                    (false, true) => Some(Construct::MismatchedCall(callee.name.clone())),
                    (false, false) => Some(Construct::UndefinedCallee(callee.name.clone())),
                }
            }
            _ => None,
        }
    }
}
