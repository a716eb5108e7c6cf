//! Methods under test: which there are, and the module that speaks of all their runs.
//!
//! A run meets few of the JDK's methods, but nobody knows which before it; so what a method may call is lowered up to a bound.
//! Beyond it functions have a body that stops with their name: a path that gets there is given up, never taken for another.
//! Deliberately not here: what initialisers leave. Whoever can run code does that, between [`Program::load`] and
//! [`Program::loaded`].

use crate::classes::layout::STRING;
use crate::classes::synthetic::{SYNTHETIC, is_generated_class, is_synthetic};
use crate::classes::type_names::type_name;
use crate::classes::{ClassId, LoweringError, MethodRef};
use crate::classfile::{Desc, Member, MethodDesc, access};
use crate::fixtures::PreparedCall;
use crate::lower::entry_functions::TestPlan;
use crate::lower::symbols::FuncKind;
use crate::program::{Program, ProgramError};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_fixture_java::Fixture;
use touchstone_ir::{
    Block, Callee, DataType, DataTypeId, FuncId, Function, GlobalId, Growing, InstKind, Module, Tag, TermKind,
    Terminator, Variant,
};

/// What the name of the function that knows possible arguments of another ends with.
const PRECONDITION_SUFFIX: &str = "__touchstone_pre";

/// Why nobody tests the initialiser of a class.
const INITIALISER_REASON: &str = "it runs by itself, once, when its class is used for the first time";

fn is_initialiser(member: &Member) -> bool {
    &*member.name == "<clinit>"
}

/// What a method is to its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MethodKind {
    /// It is called without an object.
    Static,
    /// It is called on an object.
    Instance,
    /// It makes an object.
    Constructor,
}

/// Where it shows that an initialiser ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialiserEffect {
    /// Nowhere: its class has only constants.
    Invisible,
    /// Only in what its class has: it may as well have run before.
    OwnClass,
    /// In other classes, too.
    OtherClasses,
}

/// Who may call a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberVisibility {
    /// Classes of its package, at least.
    Package,
    /// Only its own class.
    ClassOnly,
}

/// A method of the program.
#[derive(Clone, Debug)]
pub struct MethodUnderTest {
    /// Its function.
    pub func: FuncId,
    /// As its function is called: `package.Class.method`.
    pub name: String,
    /// The package; empty if it has none.
    pub package: String,
    /// The package that its tests are in: nobody adds classes to those of the JDK.
    pub test_package: String,
    /// The class without package, as source names it (`Outer.Inner`).
    pub class: String,
    /// The name of the class's file, without extension (`package/Outer$Inner`).
    pub internal: String,
    /// Its own name.
    pub method: String,
    /// What it is.
    pub kind: MethodKind,
    /// Who may call it.
    pub visibility: MemberVisibility,
    /// Types of its parameters, as source writes them.
    pub params: Vec<String>,
    /// The type of its result.
    pub result: String,
    /// The function that says whether arguments are such as a caller can have, if not all are.
    pub possible: Option<FuncId>,
    /// The function that says whether a result is right.
    pub post: Option<FuncId>,
    /// What tests call: the method itself, or the function that also makes an object for it.
    pub entry: FuncId,
    /// As that is called.
    pub entry_name: String,
    /// How objects for it are made.
    pub fixture: Option<Arc<Fixture>>,
    /// Why tests can't make them.
    unconstructible: Option<String>,
    /// Whether source can call it: tools that obfuscate give names that it can't.
    callable: Callable,
}

/// Whether a function calls another.
fn calls(function: &Function) -> bool {
    let mut insts = function.blocks.values().flat_map(|block| &block.insts);
    insts.any(|inst| matches!(inst.kind, InstKind::Call { .. }))
}

/// Whether source can call a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Callable {
    Yes,
    /// Its name, or that of its class, is none that source can have.
    NoName,
    /// Another one differs from it in its result only.
    AmbiguousResult,
}

/// A static field that the program may change.
#[derive(Clone, Debug)]
pub struct StaticField {
    /// As its global is called.
    pub name: String,
    /// The class, as source names it.
    pub class: String,
    /// Its own name.
    pub field: String,
    /// Who may use it.
    pub visibility: MemberVisibility,
}

impl MethodUnderTest {
    /// Why no tests of it can be made, if none can.
    pub fn refusal(&self) -> Option<String> {
        if self.visibility == MemberVisibility::ClassOnly && self.fixture.is_none() {
            return Some(self.unconstructible.clone().unwrap_or_else(|| "it is private".to_string()));
        }
        match self.callable {
            Callable::Yes => self.unconstructible.clone(),
            Callable::NoName => Some("source can't write its name".to_string()),
            Callable::AmbiguousResult => Some("another method differs from it in its result only".to_string()),
        }
    }
}

impl Program {
    /// Names the classes of the program: those that fit stand for wider types. Gives those that can't be loaded, and why: jars
    /// often have some whose superclasses are elsewhere.
    pub fn add_program_classes(&self, classes: &[String]) -> Vec<(String, String)> {
        let mut lowering = self.lowering.borrow_mut();
        let mut unloadable = Vec::new();
        for class in classes {
            match lowering.classes.load(&class.as_str().into()) {
                Ok(id) => lowering.program.push(id),
                Err(refusal) => unloadable.push((class.clone(), refusal.to_string())),
            }
        }
        unloadable
    }

    /// Finds out how tests of a method make what it needs.
    pub fn plan_tests(&self, method: &mut MethodUnderTest) {
        let mut lowering = self.lowering.borrow_mut();
        let Some(FuncKind::Method(at)) = lowering.what(method.func).cloned() else { return };
        if is_initialiser(lowering.classes.method(at)) {
            return;
        }
        let is_string = |param: &Desc| matches!(param, Desc::Ref(name) if &**name == STRING);
        match lowering.test_plan(at) {
            TestPlan::Fixture(scenario) => {
                if scenario.called() != at {
                    // Tests don't write its name.
                    method.callable = Callable::Yes;
                }
                method.entry = lowering.func(FuncKind::Scenario(at));
                method.fixture = Some(scenario.fixture.clone());
            }
            TestPlan::Direct => {}
            TestPlan::Impossible(why) => method.unconstructible = Some(why),
        }
        method.entry_name = lowering.entry_name(at);
        method.possible = match lowering.precondition_before_call(at) {
            Some(_) => Some(lowering.func(FuncKind::Allowed(at))),
            // Where objects are made, that looks at texts itself.
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

    /// How a call of a method is prepared and looked at, if tests make objects for it. Asked when all classes that matter are
    /// known.
    pub fn prepared_call(&self, method: &MethodUnderTest) -> Option<PreparedCall> {
        let mut lowering = self.lowering.borrow_mut();
        match lowering.what(method.func).cloned() {
            Some(FuncKind::Method(at)) => lowering.prepared_call(at),
            _ => None,
        }
    }

    /// The methods of a class that a source has, by its internal name. How tests call them, [`Program::plan`] finds out.
    ///
    /// # Errors
    /// If the class can't be loaded.
    pub fn methods(&self, class: &str) -> Result<Vec<MethodUnderTest>, ProgramError> {
        let mut lowering = self.lowering.borrow_mut();
        let unloadable =
            |refusal: LoweringError| ProgramError::NoClass { class: class.to_string(), reason: refusal.to_string() };
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
            // One that only calls that of the superclass: what the compiler makes where the source has none.
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

    /// The function that initialises a class, if it needs any.
    ///
    /// # Errors
    /// If the class can't be loaded.
    pub fn initialiser(&self, class: &str) -> Result<Option<FuncId>, ProgramError> {
        let mut lowering = self.lowering.borrow_mut();
        let unloadable =
            |refusal: LoweringError| ProgramError::NoClass { class: class.to_string(), reason: refusal.to_string() };
        let id = lowering.classes.load(&class.into()).map_err(unloadable)?;
        Ok(lowering.needs_init(id).then(|| lowering.func(FuncKind::Init(id))))
    }

    /// Whether a class, by its internal name, is the JDK's.
    pub fn is_jdk_class(&self, class: &str) -> bool {
        self.lowering.borrow().classes.path().image().module_of_class(class).is_some()
    }

    /// The initialisers of the program's classes among what was loaded, and those of them that show when they run.
    pub fn initialisers(&self, loaded: &LoadedFunctions) -> Vec<(FuncId, InitialiserEffect)> {
        let mut lowering = self.lowering.borrow_mut();
        let mut found = Vec::new();
        for id in &loaded.functions {
            let Some(FuncKind::Init(class)) = lowering.what(*id).cloned() else { continue };
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

    /// Whether objects with this class word hold what they held when their constructor was done.
    pub fn is_immutable(&self, word: u32) -> bool {
        let lowering = self.lowering.borrow();
        let Some((id, _)) = lowering.classes.iter().find(|(id, _)| lowering.word(*id) == u64::from(word)) else {
            return false;
        };
        lowering.is_immutable(id)
    }

    /// The static fields that the program may change, by the names of their globals.
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

    /// Lowers functions and what they may call: all of the program, and so many functions of the JDK, the nearest ones. Gives
    /// the initialisers of the JDK that it met.
    pub fn load(&self, roots: &[FuncId], most: usize, loaded: &mut LoadedFunctions) -> Vec<FuncId> {
        let mut initialisers = Vec::new();
        let mut waiting: VecDeque<FuncId> = roots.iter().copied().collect();
        let mut of_jdk = 0;
        let mut met: BTreeSet<FuncId> = roots.iter().copied().collect();
        while let Some(id) = waiting.pop_front() {
            let is_new = self.is_of_jdk(id) && !loaded.functions.contains(&id);
            if is_new && of_jdk == most {
                continue;
            }
            let Some(function) = self.function(id) else { continue };
            // One that calls nobody leads no further.
            if is_new && calls(function) {
                of_jdk += 1;
            }
            loaded.functions.insert(id);
            for inst in function.blocks.values().flat_map(|block| &block.insts) {
                let InstKind::Call { callee: Callee::Direct(callee), .. } = &inst.kind else { continue };
                if !met.insert(*callee) {
                    continue;
                }
                let what = self.lowering.borrow().what(*callee).cloned();
                match what {
                    Some(FuncKind::Init(class)) if self.lowering.borrow().classes.get(class).of_jdk => {
                        initialisers.push(*callee);
                    }
                    // Made when there are classes that it knows and the one before doesn't.
                    _ if self.lowering.borrow().is_premature(*callee) => {}
                    _ => waiting.push_back(*callee),
                }
            }
        }
        initialisers
    }

    /// Functions that stop whoever gets there, with what they say.
    pub fn unloaded_functions(&self, loaded: &LoadedFunctions) -> Vec<(String, FuncId)> {
        let functions = self.lowering.borrow().functions();
        let all = (0..functions).map(FuncId::new).filter(|id| !loaded.functions.contains(id));
        all.map(|id| (self.unloaded_reason(id), id)).collect()
    }

    fn unloaded_reason(&self, id: FuncId) -> String {
        format!("{} is too far from the method under test ({id})", self.title(id))
    }

    /// Lowers functions themselves, whatever they call.
    pub fn load_without_callees(&self, functions: &[FuncId], loaded: &mut LoadedFunctions) {
        loaded.functions.extend(functions.iter().copied().filter(|id| self.function(*id).is_some()));
    }

    fn is_of_jdk(&self, id: FuncId) -> bool {
        let lowering = self.lowering.borrow();
        let class: Option<ClassId> = match lowering.what(id) {
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

    /// The module in which functions that were loaded have their bodies; the others stop with their names.
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
            let what = self.lowering.borrow().what(id).cloned();
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

    /// A function that nobody gets through.
    fn unloaded_body(&self, id: FuncId) -> Function {
        let mut made = self.lowering.borrow().declaration(id);
        let kind = TermKind::Unsupported(self.unloaded_reason(id));
        let terminator = Terminator { kind, span: made.span };
        made.blocks.push(Block { insts: Vec::new(), terminator });
        made
    }

    /// Lists the classes of what may be thrown.
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
            variants.push(Variant { tag: lowering.word(id), ty });
        }
        module.types[thrown] =
            DataType::OneOf { name: "java.lang.Throwable".to_string(), tag: Tag { offset: 0, bits: 32 }, variants };
    }
}

/// What was lowered for methods under test.
#[derive(Clone, Debug, Default)]
pub struct LoadedFunctions {
    /// Functions that have bodies.
    pub functions: BTreeSet<FuncId>,
}

/// Words that no name can be.
const KEYWORDS: &str = " abstract assert boolean break byte case catch char class const continue default do double else enum extends \
    false final finally float for goto if implements import instanceof int interface long native new null package private \
    protected public return short static strictfp super switch synchronized this throw throws transient true try void volatile \
    while _ ";

/// Whether source can write a name.
fn is_name(name: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    let goes_on = |c: char| begins(c) || c.is_numeric();
    name == "<init>"
        || name.starts_with(begins) && name.chars().all(goes_on) && !KEYWORDS.contains(&format!(" {name} "))
}

/// A type as source writes it.
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
