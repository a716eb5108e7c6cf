//! Methods under test, and the module in which their runs are explored.
//!
//! The methods of the JDK that a run calls are not known in advance, so callees are lowered up to a bound. A function
//! beyond the bound has a body that ends the path with a reason; it is never treated as another function. Deliberately
//! not here: the state that class initialisers leave, which an executor computes between [`LazyProgram::load`] and
//! [`LazyProgram::loaded`].

use crate::classes::layout::STRING;
use crate::classes::synthetic::{SYNTHETIC, is_generated_class, is_synthetic};
use crate::classes::type_names::type_name;
use crate::classes::{ClassId, LoweringError, MethodRef};
use crate::classfile::{Desc, Member, MethodDesc, access};
use crate::fixtures::PreparedCall;
use crate::lower::entry_functions::TestPlan;
use crate::lower::symbols::FuncKind;
use crate::program::{LazyProgram, ProgramError};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_fixture_java::Fixture;
use touchstone_ir::{
    Block, Callee, DataType, DataTypeId, FuncId, Function, GlobalId, InstKind, LazyModule, Module, TaggedVariant,
    TermKind, Terminator, VariantTag,
};

/// Suffix of the name of the function that checks an entry function's arguments.
const PRECONDITION_SUFFIX: &str = "__touchstone_pre";

/// The reason for which a class initialiser is not tested.
const INITIALISER_REASON: &str = "the JVM calls it once, when its class is first used";

fn is_initialiser(member: &Member) -> bool {
    &*member.name == "<clinit>"
}

/// The kind of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MethodKind {
    /// It has no receiver.
    Static,
    /// It has a receiver.
    Instance,
    /// It constructs its receiver.
    Constructor,
}

/// The observable effect of a class initialiser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialiserEffect {
    /// None: the class has only constants.
    Invisible,
    /// The state of its own class: it may as well have run before.
    OwnClass,
    /// The state of other classes, too.
    OtherClasses,
}

/// The visibility of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberVisibility {
    /// The package of its class, at least.
    Package,
    /// The class only.
    ClassOnly,
}

/// A method of the program.
#[derive(Clone, Debug)]
pub struct MethodUnderTest {
    /// Its function.
    pub func: FuncId,
    /// The name of its function: `package.Class.method`.
    pub name: String,
    /// The package; empty if it has none.
    pub package: String,
    /// The package of its tests; the packages of the JDK are closed.
    pub test_package: String,
    /// The class without package, as source names it (`Outer.Inner`).
    pub class: String,
    /// The internal name of the class (`package/Outer$Inner`).
    pub internal: String,
    /// Its own name.
    pub method: String,
    /// Its kind.
    pub kind: MethodKind,
    /// Its visibility.
    pub visibility: MemberVisibility,
    /// Types of its parameters, as source writes them.
    pub params: Vec<String>,
    /// The type of its result.
    pub result: String,
    /// The function that checks the arguments, if not all are valid.
    pub possible: Option<FuncId>,
    /// The function that checks the result.
    pub post: Option<FuncId>,
    /// The entry function: the method itself, or a function that constructs a fixture for it.
    pub entry: FuncId,
    /// The name of the entry function.
    pub entry_name: String,
    /// The fixture, if the method needs one.
    pub fixture: Option<Arc<Fixture>>,
    /// The reason for which tests can't construct one.
    unconstructible: Option<String>,
    /// The ability of source to name it; obfuscators use names that are no identifiers.
    callable: Callable,
}

/// Returns true if a function contains calls.
fn calls(function: &Function) -> bool {
    let mut insts = function.blocks.values().flat_map(|block| &block.insts);
    insts.any(|inst| matches!(inst.kind, InstKind::Call { .. }))
}

/// The ability of source to call a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Callable {
    Yes,
    /// Its name, or that of its class, is not an identifier.
    NoName,
    /// Another method differs from it in its result only.
    AmbiguousResult,
}

/// A static field that the program may change.
#[derive(Clone, Debug)]
pub struct StaticField {
    /// The name of its global.
    pub name: String,
    /// The class, as source names it.
    pub class: String,
    /// Its own name.
    pub field: String,
    /// Its visibility.
    pub visibility: MemberVisibility,
}

impl MethodUnderTest {
    /// Returns the reason for which the method can't be tested, if there is one.
    pub fn refusal(&self) -> Option<String> {
        if self.visibility == MemberVisibility::ClassOnly && self.fixture.is_none() {
            return Some(self.unconstructible.clone().unwrap_or_else(|| "it is private".to_string()));
        }
        match self.callable {
            Callable::Yes => self.unconstructible.clone(),
            Callable::NoName => Some("its name is not a Java identifier".to_string()),
            Callable::AmbiguousResult => Some("another method differs from it in its result only".to_string()),
        }
    }
}

impl LazyProgram {
    /// Declares the classes of the program, which also implement wider types. Returns those that can't be loaded, with
    /// the reason: jars often contain classes with missing superclasses.
    pub fn add_program_classes(&self, classes: &[String]) -> Vec<(String, String)> {
        let mut lowering = self.lowering.borrow_mut();
        let mut unloadable = Vec::new();
        for class in classes {
            match lowering.classes.load(&class.as_str().into()) {
                Ok(id) => lowering.program.push(id),
                Err(error) => unloadable.push((class.clone(), error.to_string())),
            }
        }
        unloadable
    }

    /// Plans the tests of a method.
    pub fn plan_tests(&self, method: &mut MethodUnderTest) {
        let mut lowering = self.lowering.borrow_mut();
        let Some(FuncKind::Method(at)) = lowering.func_kind(method.func).cloned() else { return };
        if is_initialiser(lowering.classes.method(at)) {
            return;
        }
        let is_string = |param: &Desc| matches!(param, Desc::Ref(name) if &**name == STRING);
        match lowering.test_plan(at) {
            TestPlan::Fixture(planned) => {
                if planned.called() != at {
                    // Tests call another method, so its name does not matter.
                    method.callable = Callable::Yes;
                }
                method.entry = lowering.func(FuncKind::Scenario(at));
                method.fixture = Some(planned.fixture.clone());
            }
            TestPlan::Direct => {}
            TestPlan::Impossible(why) => method.unconstructible = Some(why),
        }
        method.entry_name = lowering.entry_name(at);
        method.possible = match lowering.precondition_before_call(at) {
            Some(_) => Some(lowering.func(FuncKind::Allowed(at))),
            // The entry function checks strings itself.
            None if method.fixture.is_some() => None,
            None => {
                let strings = lowering.entry_params(at).iter().any(is_string);
                strings.then(|| lowering.func(FuncKind::Possible(at)))
            }
        };
        method.post = match method.fixture {
            None => lowering.postcondition(at).map(|post| lowering.func(FuncKind::Method(post))),
            Some(_) => lowering.postcondition_after_call(at).map(|_| lowering.func(FuncKind::Judged(at))),
        };
    }

    /// Returns the set-up and the observers of a method's tested call, if it has a fixture. All relevant classes must
    /// be loaded.
    pub fn prepared_call(&self, method: &MethodUnderTest) -> Option<PreparedCall> {
        let mut lowering = self.lowering.borrow_mut();
        match lowering.func_kind(method.func).cloned() {
            Some(FuncKind::Method(at)) => lowering.prepared_call(at),
            _ => None,
        }
    }

    /// Returns the methods of a class that its source contains, by the internal name of the class.
    /// [`LazyProgram::plan_tests`] plans their tests.
    ///
    /// # Errors
    /// If the class can't be loaded.
    pub fn methods(&self, class: &str) -> Result<Vec<MethodUnderTest>, ProgramError> {
        let mut lowering = self.lowering.borrow_mut();
        let unloadable =
            |error: LoweringError| ProgramError::NoClass { class: class.to_string(), reason: error.to_string() };
        let id = lowering.classes.load(&class.into()).map_err(unloadable)?;
        let Some(file) = lowering.classes.get(id).file().cloned() else { return Ok(Vec::new()) };
        let (package, title) = match file.name.rsplit_once('/') {
            Some((package, title)) => (package.replace('/', "."), title.replace('$', ".")),
            None => (String::new(), file.name.replace('$', ".")),
        };
        if is_generated_class(&file) {
            return Ok(Vec::new());
        }
        let unnamed = title.split('.').any(|part| part.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()));
        let private = file.nesting().any(|inner| inner.access & access::PRIVATE != 0);
        let of_jdk = lowering.classes.get(id).of_jdk;
        let mut found = Vec::new();
        for (index, member) in file.methods.iter().enumerate() {
            if member.code().is_none() || is_synthetic(&file, member) {
                continue;
            }
            let Some(desc) = MethodDesc::parse(&member.desc) else { continue };
            // A constructor that only calls the superclass's: the default constructor.
            let is_plain = member.code().is_some_and(|code| code.bytes.len() == 5) && desc.params.is_empty();
            if &*member.name == "<init>" && is_plain {
                continue;
            }
            let method = MethodRef { class: id, index: index as u16 };
            if lowering.is_contract(method) {
                continue;
            }
            let kind = match &*member.name {
                "<init>" => MethodKind::Constructor,
                _ if member.is(access::STATIC) => MethodKind::Static,
                _ => MethodKind::Instance,
            };
            let func = lowering.func(FuncKind::Method(method));
            found.push(MethodUnderTest {
                func,
                entry: func,
                entry_name: lowering.entry_name(method),
                fixture: None,
                possible: None,
                post: None,
                unconstructible: is_initialiser(member).then(|| INITIALISER_REASON.to_string()),
                callable: {
                    let same = |other: &&Member| {
                        let rest = |desc: &str| desc.split(')').next().unwrap_or_default().to_string();
                        other.name == member.name && rest(&other.desc) == rest(&member.desc) && !other.is(SYNTHETIC)
                    };
                    let names = package.split('.').chain(title.split('.')).filter(|name| !name.is_empty());
                    match names.chain([&*member.name]).all(is_name) {
                        false if !is_initialiser(member) => Callable::NoName,
                        true if file.methods.iter().filter(same).count() > 1 => Callable::AmbiguousResult,
                        _ => Callable::Yes,
                    }
                },
                name: lowering.source_name(method),
                package: package.clone(),
                test_package: if of_jdk { format!("tests.{package}") } else { package.clone() },
                class: title.clone(),
                internal: file.name.to_string(),
                method: member.name.to_string(),
                kind,
                visibility: if member.is(access::PRIVATE) || unnamed || private || is_initialiser(member) {
                    MemberVisibility::ClassOnly
                } else {
                    MemberVisibility::Package
                },
                params: desc.params.iter().map(source_type).collect(),
                result: source_type(&desc.result),
            });
        }
        Ok(found)
    }

    /// Returns the function that initialises a class, if the class needs initialisation.
    ///
    /// # Errors
    /// If the class can't be loaded.
    pub fn initialiser(&self, class: &str) -> Result<Option<FuncId>, ProgramError> {
        let mut lowering = self.lowering.borrow_mut();
        let unloadable =
            |error: LoweringError| ProgramError::NoClass { class: class.to_string(), reason: error.to_string() };
        let id = lowering.classes.load(&class.into()).map_err(unloadable)?;
        Ok(lowering.needs_init(id).then(|| lowering.func(FuncKind::Init(id))))
    }

    /// Returns true if a class, by its internal name, is the JDK's.
    pub fn is_jdk_class(&self, class: &str) -> bool {
        self.lowering.borrow().classes.path().image().module_of_class(class).is_some()
    }

    /// Returns the loaded initialisers of the program's classes, with their observable effects.
    pub fn initialisers(&self, loaded: &LoadedFunctions) -> Vec<(FuncId, InitialiserEffect)> {
        let mut lowering = self.lowering.borrow_mut();
        let mut found = Vec::new();
        for id in &loaded.functions {
            let Some(FuncKind::Init(class)) = lowering.func_kind(*id).cloned() else { continue };
            if !lowering.classes.get(class).of_jdk {
                let shows = match lowering.init_uses_other_classes(class) {
                    true => InitialiserEffect::OtherClasses,
                    false if lowering.has_only_constants(class) => InitialiserEffect::Invisible,
                    false => InitialiserEffect::OwnClass,
                };
                found.push((*id, shows));
            }
        }
        found
    }

    /// Returns true if objects with this class word never change after construction.
    pub fn is_immutable(&self, word: u32) -> bool {
        let lowering = self.lowering.borrow();
        let Some((id, _)) = lowering.classes.iter().find(|(id, _)| lowering.word(*id) == u64::from(word)) else {
            return false;
        };
        lowering.is_immutable(id)
    }

    /// Returns the name of a global that is a static field of the program and that tests cannot set: a final field, or
    /// a reference.
    pub fn unsettable_field(&self, global: GlobalId) -> Option<String> {
        let lowering = self.lowering.borrow();
        let field = lowering.static_of(global).filter(|field| !lowering.classes.get(field.class).of_jdk)?;
        let is_reference = matches!(lowering.classes.static_field(field).1, Desc::Ref(_));
        if lowering.source_field_name(field).is_some() && !is_reference {
            return None;
        }
        let class = lowering.classes.get(field.class).title().replace('$', ".");
        Some(format!("{class}.{}", lowering.classes.static_field(field).0.name))
    }

    /// Returns the static fields that the program may change.
    pub fn fields(&self) -> Vec<StaticField> {
        let lowering = self.lowering.borrow();
        let fields = (0..lowering.globals()).filter_map(|index| lowering.static_of(GlobalId::new(index)));
        let shown = fields.filter_map(|field| {
            let (member, _) = lowering.classes.static_field(field);
            let class = lowering.classes.get(field.class);
            let inner = class.file().and_then(|file| file.inner()).map_or(0, |inner| inner.access);
            Some(StaticField {
                name: lowering.source_field_name(field)?,
                class: class.title().replace('$', "."),
                field: member.name.to_string(),
                visibility: match (member.access | inner) & access::PRIVATE {
                    0 if is_name(&member.name) => MemberVisibility::Package,
                    _ => MemberVisibility::ClassOnly,
                },
            })
        });
        shown.collect()
    }

    /// Lowers functions and their transitive callees: all of the program, and at most `most` functions of the JDK, in
    /// breadth-first order. Returns the initialisers of the JDK's classes among the callees.
    pub fn load(&self, roots: &[FuncId], most: usize, loaded: &mut LoadedFunctions) -> Vec<FuncId> {
        let mut initialisers = Vec::new();
        let mut worklist: VecDeque<FuncId> = roots.iter().copied().collect();
        let mut of_jdk = 0;
        let mut visited: BTreeSet<FuncId> = roots.iter().copied().collect();
        while let Some(id) = worklist.pop_front() {
            let is_new = self.is_of_jdk(id) && !loaded.functions.contains(&id);
            if is_new && of_jdk == most {
                continue;
            }
            let Some(function) = self.function(id) else { continue };
            // A leaf function adds no callees, so it does not count.
            if is_new && calls(function) {
                of_jdk += 1;
            }
            loaded.functions.insert(id);
            for inst in function.blocks.values().flat_map(|block| &block.insts) {
                let InstKind::Call { callee: Callee::Direct(callee), .. } = &inst.kind else { continue };
                if !visited.insert(*callee) {
                    continue;
                }
                let what = self.lowering.borrow().func_kind(*callee).cloned();
                match what {
                    Some(FuncKind::Init(class)) if self.lowering.borrow().classes.get(class).of_jdk => {
                        initialisers.push(*callee);
                    }
                    // A later generation is lowered once it covers more classes than the one before.
                    _ if self.lowering.borrow().is_premature(*callee) => {}
                    _ => worklist.push_back(*callee),
                }
            }
        }
        initialisers
    }

    /// Returns the functions beyond the bound, with the unique reason that their bodies end a path with.
    pub fn unloaded_functions(&self, loaded: &LoadedFunctions) -> Vec<(String, FuncId)> {
        let functions = self.lowering.borrow().functions();
        let all = (0..functions).map(FuncId::new).filter(|id| !loaded.functions.contains(id));
        all.map(|id| (self.unloaded_reason(id), id)).collect()
    }

    fn unloaded_reason(&self, id: FuncId) -> String {
        format!("{} ({id})", self.unloaded_text(id))
    }

    /// Returns the reason that a report gives for a path that ends at an unloaded function.
    pub fn unloaded_text(&self, id: FuncId) -> String {
        format!("{} is outside the part of the JDK that was loaded", self.title(id))
    }

    /// Lowers functions without their callees.
    pub fn load_without_callees(&self, functions: &[FuncId], loaded: &mut LoadedFunctions) {
        loaded.functions.extend(functions.iter().copied().filter(|id| self.function(*id).is_some()));
    }

    fn is_of_jdk(&self, id: FuncId) -> bool {
        let lowering = self.lowering.borrow();
        let class: Option<ClassId> = match lowering.func_kind(id) {
            Some(
                FuncKind::Method(method)
                | FuncKind::Original(method)
                | FuncKind::Scenario(method)
                | FuncKind::Prepared(method)
                | FuncKind::Judged(method)
                | FuncKind::Possible(method)
                | FuncKind::Allowed(method),
            ) => Some(method.class),
            Some(
                FuncKind::Init(class)
                | FuncKind::Lambda(class, _)
                | FuncKind::Stub(class, _)
                | FuncKind::Site(class, _),
            ) => Some(*class),
            _ => None,
        };
        class.is_none_or(|class| lowering.is_library(class))
    }

    /// Returns the module in which loaded functions have their bodies; the others end the path with a reason.
    pub fn loaded(&self, loaded: &LoadedFunctions) -> Module {
        let mut module = self.module.clone();
        module.types = self.lowering.borrow().types.clone();
        let mut global = 0;
        while global < self.lowering.borrow().globals() {
            if let Some(made) = self.global(GlobalId::new(global)) {
                module.globals.push(made.clone());
            }
            global += 1;
        }
        let functions = self.lowering.borrow().functions();
        for index in 0..functions {
            let id = FuncId::new(index);
            let body = loaded.functions.contains(&id).then(|| self.function(id)).flatten();
            let mut made = match body {
                Some(body) => body.clone(),
                None => self.unloaded_body(id),
            };
            let what = self.lowering.borrow().func_kind(id).cloned();
            let has_allowed = |method: MethodRef| self.lowering.borrow().precondition_before_call(method).is_some();
            if let Some(FuncKind::Allowed(method) | FuncKind::Possible(method)) = &what
                && (matches!(what, Some(FuncKind::Allowed(_))) || !has_allowed(*method))
            {
                made.name = format!("{}{PRECONDITION_SUFFIX}", self.lowering.borrow().entry_name(*method));
            } else if let Some(FuncKind::Judged(method)) = &what {
                made.name = format!("{}_post", self.lowering.borrow().entry_name(*method));
            } else if made.is_library() || module.function_named(&made.name).is_some() {
                made.name = format!("{id}: {}", made.name);
            }
            module.functions.push(made);
        }
        module.files = self.files();
        self.name_exceptions(&mut module);
        module
    }

    /// Returns a function whose body ends the path with a reason.
    fn unloaded_body(&self, id: FuncId) -> Function {
        let mut made = self.lowering.borrow().declaration(id);
        let kind = TermKind::Unsupported(self.unloaded_reason(id));
        let terminator = Terminator { kind, span: made.span };
        made.blocks.push(Block { insts: Vec::new(), terminator });
        made
    }

    /// Gives the module the classes of all throwable objects.
    fn name_exceptions(&self, module: &mut Module) {
        let lowering = self.lowering.borrow();
        let Some(thrown) = module.thrown else { return };
        let Some(throwable) = lowering.classes.iter().find(|(_, class)| &*class.name == "java/lang/Throwable") else {
            return;
        };
        let classes = lowering.classes.iter().filter(|(id, _)| lowering.classes.is_subtype(*id, throwable.0));
        let mut variants = Vec::new();
        for (id, class) in classes {
            let word = DataTypeId::new(1);
            let ty = module.types.push(DataType::Struct {
                name: class.title(),
                fields: vec![touchstone_ir::Field { name: "class".to_string(), ty: word, offset: 0 }],
                size: 8,
                align: 8,
                kind: Default::default(),
            });
            variants.push(TaggedVariant { tag: lowering.word(id), ty });
        }
        module.types[thrown] = DataType::OneOf {
            name: "java.lang.Throwable".to_string(),
            tag: VariantTag { offset: 0, bits: 32 },
            variants,
        };
    }
}

/// The functions that were lowered for methods under test.
#[derive(Clone, Debug, Default)]
pub struct LoadedFunctions {
    /// The functions with bodies.
    pub functions: BTreeSet<FuncId>,
}

/// The keywords of Java, which can't be identifiers.
const KEYWORDS: &str = " abstract assert boolean break byte case catch char class const continue default do double else enum extends \
    false final finally float for goto if implements import instanceof int interface long native new null package private \
    protected public return short static strictfp super switch synchronized this throw throws transient true try void volatile \
    while _ ";

/// Returns true if a name is an identifier, or the name of a constructor.
fn is_name(name: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    let goes_on = |c: char| begins(c) || c.is_numeric();
    name == "<init>"
        || name.starts_with(begins) && name.chars().all(goes_on) && !KEYWORDS.contains(&format!(" {name} "))
}

/// Returns a type as source writes it.
fn source_type(desc: &Desc) -> String {
    let text = match desc {
        Desc::Ref(name) => match name.strip_prefix('[').and_then(Desc::parse) {
            Some(element) => format!("{}[]", source_type(&element)),
            None => name.replace('/', "."),
        },
        other => type_name(other),
    };
    text.replace('$', ".")
}
