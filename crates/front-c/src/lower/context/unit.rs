//! A translation unit: lowers its declarations in document order.

use crate::clang::ast_enums::Storage;
use crate::clang::ast_queries::initialiser;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::{AstNode, AstPosition, TypeText};
use crate::construct::Construct;
use crate::error::FrontError;
use crate::link::linked_program::{Declaration, GlobalDeclaration, LinkedProgram};
use crate::link::models;
use crate::lower::context::attributes::is_file_assembly;
use crate::types::ctype::{Type, TypeKind};
use crate::types::scope::Scopes;
use crate::types::typename::{parse_known, parse_type};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_ir::{FuncId, FunctionRole, GlobalId, Linkage};

/// The functions of a unit that are lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum UnitSelection {
    /// All except functions of system headers that are not called.
    Program,
    /// Only these models and the functions that they call, with their role in the program.
    Library(Vec<String>, FunctionRole),
}

/// A translation unit that is being read.
pub(crate) struct Unit<'p> {
    pub program: &'p mut LinkedProgram,
    pub scopes: Scopes,
    /// File names by the indices in positions.
    pub names: Vec<Rc<str>>,
    /// The main file.
    pub file: String,
    /// Values of enumeration constants by clang's id.
    pub constants: FxHashMap<u64, i64>,
    /// Record and index of fields by clang's id.
    pub fields: FxHashMap<u64, (usize, usize)>,
    /// Functions with parameters that may be declared as arrays.
    pub array_candidates: Vec<FuncId>,
    /// Alignments of declarations that differ from those of their types, by clang's id.
    pub alignments: FxHashMap<u64, u64>,
    /// The number of side effects in the array lengths of a function's parameters that were lowered, by function name.
    pub evaluated_length_effects: FxHashMap<String, usize>,
    /// Numbers of labels by clang's id, which serve as their addresses.
    pub label_numbers: FxHashMap<u64, u64>,
    /// Static locals by clang's id.
    pub static_locals: FxHashMap<u64, GlobalId>,
    /// The index of the first global that this file adds.
    pub first_global: usize,
    /// True if the file contains instructions in assembly.
    pub has_assembly: bool,
    /// True if `extern inline` is no external definition, as in gnu89.
    pub gnu89_inline: bool,
    /// True if compilers inline some library functions regardless of the program's own.
    pub inlines: bool,
    selection: UnitSelection,
    types: RefCell<FxHashMap<Rc<str>, Type>>,
    declarations: FxHashMap<String, Declaration>,
    functions: FxHashMap<String, FuncId>,
    global_declarations: FxHashMap<String, GlobalDeclaration>,
    globals: FxHashMap<String, GlobalId>,
    postponed: FxHashMap<String, AstNode>,
    wanted: VecDeque<String>,
}

impl<'p> Unit<'p> {
    /// Creates an empty unit.
    pub fn new(program: &'p mut LinkedProgram, file: &str, selection: UnitSelection) -> Unit<'p> {
        Unit {
            first_global: program.globals.len(),
            has_assembly: false,
            gnu89_inline: false,
            program,
            scopes: Scopes::new(),
            names: Vec::new(),
            file: file.to_string(),
            constants: FxHashMap::default(),
            fields: FxHashMap::default(),
            array_candidates: Vec::new(),
            alignments: FxHashMap::default(),
            evaluated_length_effects: FxHashMap::default(),
            label_numbers: FxHashMap::default(),
            static_locals: FxHashMap::default(),
            inlines: false,
            selection,
            types: RefCell::new(FxHashMap::default()),
            declarations: FxHashMap::default(),
            functions: FxHashMap::default(),
            global_declarations: FxHashMap::default(),
            globals: FxHashMap::default(),
            postponed: FxHashMap::default(),
            wanted: VecDeque::new(),
        }
    }

    /// Returns the span of a node.
    pub fn span(&mut self, node: &AstNode) -> Span {
        self.program.sources.span(&mut self.program.files, &self.names, node)
    }
    /// Returns the span of a declared name.
    pub fn point(&mut self, position: &AstPosition) -> Span {
        self.program.sources.point(&mut self.program.files, &self.names, position)
    }
    /// Returns the span and text of a statement's head, up to the parenthesis that closes after its keyword.
    pub fn head(&mut self, node: &AstNode, condition: Option<&AstNode>) -> (Span, String) {
        let end = condition.map_or(&node.begin, |condition| &condition.end);
        self.program.sources.head(&mut self.program.files, &self.names, &node.begin, end)
    }
    /// Returns the span and text of a statement's first token.
    pub fn keyword(&mut self, node: &AstNode) -> (Span, String) {
        self.program.sources.piece(&mut self.program.files, &self.names, &node.begin, &node.begin)
    }
    /// Returns the source text of a node, shortened.
    pub fn short_text(&mut self, node: &AstNode) -> String {
        self.program.sources.short_text(&self.names, node)
    }
    /// Returns the source text of a node.
    pub fn text(&mut self, node: &AstNode) -> String {
        self.program.sources.node_text(&self.names, node)
    }

    /// Returns the type of a node.
    pub fn type_of(&self, node: &AstNode) -> Type {
        match &node.ty {
            Some(text) => self.type_named(text),
            None => Type::plain(TypeKind::Void),
        }
    }
    /// Returns the type that clang's spelling denotes.
    pub fn type_named(&self, text: &TypeText) -> Type {
        if let Some(ty) = self.types.borrow().get(&text.written) {
            return ty.clone();
        }
        let known = |text: &str| parse_known(text, &self.scopes, &self.program.types);
        let desugared = || text.desugared.as_deref().and_then(known);
        // clang knows the type of a `typeof` operand better than the parser.
        let first = if text.written.contains("typeof") { desugared() } else { None };
        let ty = first
            .or_else(|| known(&text.written))
            .or_else(desugared)
            .unwrap_or_else(|| parse_type(&text.written, &self.scopes, &self.program.types));
        // `typeof (x)` depends on the scope.
        if !text.written.contains("typeof") {
            self.types.borrow_mut().insert(Rc::clone(&text.written), ty.clone());
        }
        ty
    }
    /// Clears the cache of parsed types, after a declaration that may change the meaning of a name.
    pub fn forget_types(&self) {
        self.types.borrow_mut().clear();
    }
    /// Enters a block of a function.
    pub fn push_scope(&mut self) {
        self.scopes.push();
    }
    /// Leaves a block of a function.
    pub fn pop_scope(&mut self) {
        if self.scopes.pop() {
            self.forget_types();
        }
    }

    /// Lowers a declaration at file scope.
    pub fn declaration(&mut self, node: AstNode) -> Result<(), FrontError> {
        match &node.kind {
            K::TypedefDecl | K::RecordDecl | K::EnumDecl => self.type_declaration(&node),
            K::FunctionDecl => return self.function_declaration(node),
            K::VarDecl => return self.global_declaration(&node),
            kind if is_file_assembly(kind) => self.note_assembly(),
            _ => {}
        }
        Ok(())
    }

    /// Lowers a declaration of a function, at file or block scope.
    pub fn function_declaration(&mut self, node: AstNode) -> Result<(), FrontError> {
        let internal =
            node.storage == Storage::Static || self.declarations.get(&node.name).is_some_and(|d| d.internal.is_some());
        let param_nodes: Vec<&AstNode> = node.inner.iter().filter(|inner| inner.kind == K::ParmVarDecl).collect();
        let param_names: Vec<String> = param_nodes.iter().map(|param| param.name.clone()).collect();
        let has_body = node.inner.iter().any(|inner| inner.kind == K::CompoundStmt);
        self.note_alignment(&node);
        let mut ty = self.type_of(&node);
        self.scopes.add_global(&node.name, ty.clone());
        if has_body && let TypeKind::Function(signature) = &ty.kind {
            // The parameters as the body sees them; the type of an old-style definition has the promoted ones.
            let mut signature = (**signature).clone();
            signature.params = param_nodes.iter().map(|param| self.type_of(param)).collect();
            ty.kind = TypeKind::Function(Rc::new(signature));
        }
        let returns = node.ty.as_ref().is_none_or(|ty| !ty.written.contains("noreturn"));
        if !returns || node.inner.iter().any(|inner| inner.kind == K::C11NoReturnAttr) {
            self.program.noreturn.insert(node.name.clone());
        }
        if self.is_system(&node.loc) {
            self.program.system_functions.insert(node.name.clone());
        }
        self.note_weak(&node);
        let declaration = Declaration {
            name: node.name.clone(),
            ty,
            param_names,
            span: self.point(&node.loc),
            internal: internal.then(|| self.file.clone()),
            label: self.assembler_label(&node),
        };
        if has_body || !self.declarations.contains_key(&node.name) {
            self.declarations.insert(node.name.clone(), declaration);
        } else if let Some(known) =
            self.declarations.get_mut(&node.name).filter(|_| !self.functions.contains_key(&node.name))
        {
            // clang itself declares functions of the library first.
            known.label = declaration.label.or(known.label.take());
        }
        if let Some(target) = alias_of(&node).filter(|_| !has_body) {
            let id = self.function_named(target, node.ty.as_ref());
            self.functions.insert(node.name.clone(), id);
            if !internal {
                self.program.alias_function(&node.name, id);
            }
        }
        if !has_body {
            return Ok(());
        }
        let postpone = match &self.selection {
            UnitSelection::Library(..) => true,
            UnitSelection::Program => self.is_system(&node.loc),
        };
        if postpone {
            self.postponed.insert(node.name.clone(), node);
            return Ok(());
        }
        self.define_function(&node)
    }
    /// Returns the linker name that an assembler label gives a declaration. Those of system headers are ignored.
    fn assembler_label(&self, node: &AstNode) -> Option<String> {
        let labelled = node.inner.iter().any(|inner| inner.kind == K::AsmLabelAttr);
        (labelled && !self.is_system(&node.loc)).then(|| node.mangled.clone())
    }
    /// Returns true if a position is in a header of the system or the compiler.
    fn is_system(&self, position: &AstPosition) -> bool {
        position.expansion.is_none_or(|loc| self.is_system_file(loc.file) || self.is_system_line(&loc))
    }
    /// Returns true if a token is spelled in a macro of a system header.
    pub fn is_made_by_system(&self, position: &AstPosition) -> bool {
        match (&position.spelling, &position.expansion) {
            (Some(loc), _) => self.is_system_file(loc.file),
            (None, Some(loc)) => self.is_system_line(loc),
            (None, None) => false,
        }
    }
    /// Returns true if a line marker of preprocessed text attributes the line to a system header.
    fn is_system_line(&self, loc: &crate::clang::node::RawLoc) -> bool {
        self.names.get(loc.file as usize).is_some_and(|name| self.program.sources.is_system_line(name, loc.line))
    }
    /// Returns true if a token is spelled in a macro's definition and not at its use.
    pub fn is_made_by_macro(&self, position: &AstPosition) -> bool {
        position.spelling.is_some() && !position.macro_argument
    }
    fn is_system_file(&self, file: u32) -> bool {
        self.names.get(file as usize).is_some_and(|name| {
            name.as_ref() != self.file && (name.starts_with("/usr/") || name.contains("/lib/clang/"))
        })
    }

    /// Returns true if this is a file of library models.
    pub fn is_library(&self) -> bool {
        matches!(self.selection, UnitSelection::Library(..))
    }
    /// Returns the role of this file's functions in the program.
    fn role(&self) -> FunctionRole {
        match self.selection {
            UnitSelection::Program => FunctionRole::Program,
            UnitSelection::Library(_, role) => role,
        }
    }
    /// Returns true if compilers inline calls of a function instead of calling the program's own.
    pub fn is_always_inlined(&self, name: &str) -> bool {
        let standard = |declaration: &Declaration| match &declaration.ty.kind {
            TypeKind::Function(signature) => {
                let of_itself = matches!(signature.params.as_slice(), [only] if only.kind == signature.result.kind);
                let declared = match &signature.result.kind {
                    TypeKind::Int { name, .. } | TypeKind::Float { name, .. } => *name,
                    _ => "",
                };
                let expected = match name {
                    "abs" => "int",
                    "labs" => "long",
                    "llabs" => "long long",
                    "fabs" => "double",
                    _ => "float",
                };
                declaration.internal.is_none() && of_itself && declared == expected
            }
            _ => false,
        };
        self.inlines && models::is_always_inlined(name) && self.declarations.get(name).is_some_and(standard)
    }
    /// Returns the library's version of a function that the program overrides.
    pub fn library_function(&mut self, name: &str, ty: Option<&TypeText>) -> FuncId {
        let ty = match self.declarations.get(name) {
            Some(declaration) => declaration.ty.clone(),
            None => {
                ty.map_or_else(|| Type::unsupported(name, Construct::UnknownFunction), |text| self.type_named(text))
            }
        };
        self.program.library_function(name, ty)
    }
    /// Returns the function of a name, which is added if it is new. `ty` is used if it has no declaration.
    pub fn function_named(&mut self, name: &str, ty: Option<&TypeText>) -> FuncId {
        if let Some(&id) = self.functions.get(name) {
            return id;
        }
        // A model calls the library's version.
        let beside = self.is_library() && !models::is_replaceable(name) && self.program.overrides(name);
        if beside && !self.is_internal(name) {
            let id = self.library_function(name, ty);
            self.functions.insert(name.to_string(), id);
            if self.postponed.contains_key(name) && !self.program.functions[id].is_defined() {
                self.wanted.push_back(name.to_string());
            }
            return id;
        }
        if !self.declarations.contains_key(name) {
            let ty =
                ty.map_or_else(|| Type::unsupported(name, Construct::UnknownFunction), |text| self.type_named(text));
            let declaration = Declaration {
                name: name.to_string(),
                ty,
                param_names: Vec::new(),
                span: Span::none(),
                internal: None,
                label: None,
            };
            self.declarations.insert(name.to_string(), declaration);
        }
        let declaration = &self.declarations[name];
        let id = self.program.function(declaration);
        self.functions.insert(name.to_string(), id);
        if self.postponed.contains_key(name) {
            self.wanted.push_back(name.to_string());
        }
        id
    }
    /// Returns the type of the function of this name, if it is declared.
    pub fn function_declared(&self, name: &str) -> Option<Type> {
        self.declarations.get(name).map(|declaration| declaration.ty.clone())
    }
    /// Returns the global that represents the address of a function.
    pub fn function_address(&mut self, name: &str, ty: Option<&TypeText>, span: Span) -> GlobalId {
        let id = self.function_named(name, ty);
        let ty = self.declarations[name].ty.clone();
        self.program.function_mark(id, &ty, span)
    }
    /// Returns the address of a label, which only `goto *` can use: its number in the function.
    pub fn label_address(&self, node: &AstNode) -> Option<u64> {
        self.label_numbers.get(&node.link).copied()
    }
    /// Returns the operand that `__builtin_choose_expr` selects.
    pub fn chosen<'n>(&self, node: &'n AstNode) -> Option<&'n AstNode> {
        let [condition, yes, no] = node.inner.as_slice() else { return None };
        // Where a constant is required, `__builtin_constant_p` of anything else is false.
        let is_true = match self.const_int(condition) {
            Some(value) => value != 0,
            None if node.kind == K::ChooseExpr => false,
            None => return None,
        };
        Some(if is_true { yes } else { no })
    }
    /// Returns the operand that `__builtin_types_compatible_p(a, b) ? x : y` selects. Headers use it like `_Generic`;
    /// it does not depend on a run, so it is no decision.
    pub fn chosen_by_type<'n>(&self, node: &'n AstNode) -> Option<&'n AstNode> {
        let asks_for_type = node.inner.first().is_some_and(|condition| condition.kind == K::TypeTraitExpr);
        if node.kind == K::ConditionalOperator && asks_for_type { self.chosen(node) } else { None }
    }
    /// Returns true if this unit has defined the function so far.
    pub fn has_body(&self, name: &str) -> bool {
        self.postponed.contains_key(name)
            || self.functions.get(name).is_some_and(|&id| self.program.functions[id].is_defined())
    }

    /// Returns true if a function of this name is declared internal or with another linker name.
    pub fn is_internal(&self, name: &str) -> bool {
        let other = |declaration: &Declaration| declaration.internal.is_some() || declaration.label.is_some();
        self.declarations.get(name).is_some_and(other)
    }

    /// Returns true if an assembler label gives the function another linker name.
    pub fn is_labelled(&self, name: &str) -> bool {
        self.declarations.get(name).is_some_and(|declaration| declaration.label.is_some())
    }

    fn define_function(&mut self, node: &AstNode) -> Result<(), FrontError> {
        let id = self.function_named(&node.name, node.ty.as_ref());
        let span = self.declarations[&node.name].span;
        // A file of models may be read repeatedly, and the program's definitions take precedence.
        if matches!(self.selection, UnitSelection::Library(..)) && self.program.functions[id].is_defined() {
            return Ok(());
        }
        let gnu_inline = self.gnu89_inline || node.inner.iter().any(|inner| inner.kind.word() == "GNUInlineAttr");
        let inline = node.is_inline && (node.storage != Storage::Extern || gnu_inline);
        let Some(id) = self.program.define(id, span, inline)? else { return Ok(()) };
        let ty = self.declarations[&node.name].ty.clone();
        self.program.function_types.insert(id, ty);
        let mut function = self.program.declared(&self.declarations[&node.name]);
        function.role = self.role();
        if node.inner.iter().any(|param| param.kind == K::ParmVarDecl && self.may_be_array(param)) {
            self.array_candidates.push(id);
        }
        let mut function = crate::lower::context::func::lower(self, function, node)?;
        if inline && node.storage != Storage::Static && !self.is_library() {
            let text = format!("calls of `{}` use the inline definition, and not another one", node.name);
            function.left_open.insert(text);
        }
        self.program.functions[id] = function;
        self.startup_functions(node, id);
        Ok(())
    }
    /// Returns true if a pointer parameter may have been declared as an array with a length: its type is spelled as a
    /// pointer (and not as a typedef), and its source text has no `*`, or a length in brackets.
    fn may_be_array(&mut self, param: &AstNode) -> bool {
        let became_pointer = param.ty.as_ref().is_some_and(|ty| ty.written.contains('*'));
        if !became_pointer || !self.type_of(param).is_pointer() {
            return false;
        }
        let text = self.text(param);
        if !text.contains('[') {
            return !text.contains('*');
        }
        // `char *argv[]`, the frequent case, has no length to restore.
        let dense: String = text.split_whitespace().collect();
        text.matches('[').count() > 1 || !dense.ends_with("[]")
    }

    /// Records the alignment that attributes give a declaration.
    pub fn note_alignment(&mut self, node: &AstNode) {
        let attributes = node.inner.iter().filter(|inner| inner.kind == K::AlignedAttr);
        if let Some(most) = attributes.filter_map(|attribute| self.alignment(attribute)).max() {
            self.alignments.insert(node.id, most);
        }
    }

    /// Records a weak symbol.
    fn note_weak(&mut self, node: &AstNode) {
        if node.inner.iter().any(|inner| inner.kind == K::WeakAttr) && !is_injected(Fault::WeakIsStrong) {
            self.program.weak.insert(node.name.clone());
        }
    }

    /// Lowers a declaration of a global, at file or block scope (`extern`).
    pub fn global_declaration(&mut self, node: &AstNode) -> Result<(), FrontError> {
        let internal = node.storage == Storage::Static
            || self.global_declarations.get(&node.name).is_some_and(|d| d.internal.is_some());
        let ty = self.type_of(node);
        self.note_alignment(node);
        self.scopes.add_global(&node.name, ty.clone());
        let span = self.point(&node.loc);
        let declaration = GlobalDeclaration {
            name: node.name.clone(),
            ty: ty.clone(),
            span,
            internal: internal.then(|| self.file.clone()),
            label: self.assembler_label(node),
        };
        self.global_declarations.insert(node.name.clone(), declaration);
        self.note_weak(node);
        if let Some(target) = alias_of(node) {
            let id = self.global_named(target, node.ty.as_ref());
            self.globals.insert(node.name.clone(), id);
            self.program.alias_global(&node.name, id);
            self.expose(id);
            return Ok(());
        }
        if node.inner.iter().any(|inner| inner.kind == K::WeakRefAttr) {
            let id = self.global_named(&node.name, None);
            self.program.mark_unsupported(id, Construct::WeakRef);
        }
        if node.storage == Storage::Register {
            let id = self.global_named(&node.name, None);
            self.program.mark_unsupported(id, Construct::MachineRegister);
        }
        if node.storage == Storage::Extern && !node.has_init {
            return Ok(());
        }
        let library = matches!(self.selection, UnitSelection::Library(..));
        // A file of models may be read repeatedly, but defines its variables once.
        if library && !internal && self.program.defines_variable(&node.name) {
            return Ok(());
        }
        let id = self.global_named(&node.name, None);
        if !matches!(ty.kind, TypeKind::OpenArray(_)) {
            self.program.set_global_type(id, &ty);
        }
        let linkage = match (library, internal) {
            // Code outside of the library can't set it.
            (true, _) => Linkage::Local,
            (false, true) => Linkage::Internal,
            (false, false) => Linkage::External,
        };
        if library {
            models::describe(&mut self.program.globals[id], &node.name);
        }
        self.note_attributes(node, id);
        // Defined before its initialiser, which may refer to it.
        self.program.define_global(id, span, linkage, None)?;
        if let Some(value) = initialiser(node) {
            let init = self.global_init(id, value, &ty);
            self.program.define_global(id, span, linkage, Some(init))?;
        }
        Ok(())
    }
    /// Returns the global of a name, which is added if it is new.
    pub fn global_named(&mut self, name: &str, ty: Option<&TypeText>) -> GlobalId {
        if let Some(&id) = self.globals.get(name) {
            return id;
        }
        if !self.global_declarations.contains_key(name) {
            let ty = ty.map_or_else(Type::int, |text| self.type_named(text));
            let declaration =
                GlobalDeclaration { name: name.to_string(), ty, span: Span::none(), internal: None, label: None };
            self.global_declarations.insert(name.to_string(), declaration);
        }
        let id = self.program.global(&self.global_declarations[name]);
        self.globals.insert(name.to_string(), id);
        id
    }
    /// Returns the global of a name and its type, if it is declared.
    pub fn global_declared(&mut self, name: &str) -> Option<(GlobalId, Type)> {
        let ty = self.global_declarations.get(name)?.ty.clone();
        Some((self.global_named(name, None), ty))
    }

    /// Lowers postponed functions that turned out to be needed.
    pub fn finish(&mut self) -> Result<(), FrontError> {
        self.lower_postponed()?;
        // clang's JSON does not contain the attribute of a type in a cast.
        self.program.any_aliasing |= self.mentions(b"may_alias");
        self.expose_to_assembly();
        Ok(())
    }

    fn lower_postponed(&mut self) -> Result<(), FrontError> {
        self.complete_globals();
        if let UnitSelection::Library(names, _) = self.selection.clone() {
            for name in &names {
                if self.postponed.contains_key(name) {
                    self.function_named(name, None);
                }
            }
        }
        while let Some(name) = self.wanted.pop_front() {
            if let Some(node) = self.postponed.remove(&name) {
                self.define_function(&node)?;
            }
        }
        Ok(())
    }
}

impl Unit<'_> {
    /// Sets the types of globals that were declared before their structure was complete.
    fn complete_globals(&mut self) {
        for (name, &id) in &self.globals {
            let ty = &self.global_declarations[name].ty;
            if self.program.globals[id].size == 0 && self.program.types.size(ty) > 0 {
                self.program.set_global_type(id, ty);
            }
        }
    }
}

/// Returns the target of an `alias` attribute.
fn alias_of(node: &AstNode) -> Option<&str> {
    let attribute = node.inner.iter().find(|inner| inner.kind == K::AliasAttr)?;
    (!attribute.name.is_empty()).then_some(attribute.name.as_str())
}
