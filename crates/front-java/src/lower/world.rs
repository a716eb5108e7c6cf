//! The functions and globals of a program: what each is, by its id.

use super::boxes::Boxes;
use super::builder::{Builder, ty_of};
use super::marked::{AllPlaced, Known};
use super::planning::Planned;
use super::types::Use;
use crate::classfile::{Desc, MethodDesc, access};
use crate::marks::Marks;
use crate::world::{ClassId, Classes, DescribedMethod, FieldRef, MethodRef, Refusal, Shape};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use touchstone_base::{FileId, Files, Id};
use touchstone_ir::{
    DataType, DataTypeId, DataTypes, FuncId, Function, FunctionRole, Global, GlobalId, IntKind, Module, Operand, Tag,
    Ty, Variant,
};

/// What a function is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Func {
    /// A method, or what stands for it.
    Method(MethodRef),
    /// The method itself where something stands for it.
    Original(MethodRef),
    /// A method of the receiver's class. A later generation knows classes that were not there before.
    Dispatch(MethodRef, u32),
    /// `(ptr) -> i1`: whether an object is of a class.
    InstanceOf(ClassId, u32),
    /// `(ptr)`: throws what a cast to the class throws.
    CastFailed(ClassId, u32),
    /// `(ptr array, ptr value)`: throws unless an array of this class may hold the value.
    StoreCheck(u32),
    /// Initialises a class.
    Init(ClassId),
    /// `(ptr message)`: throws an exception of a class of the JDK.
    Throw(ClassId),
    /// `(ptr message)`: throws a null pointer exception with what it says when it is asked.
    ThrowNull,
    /// `(i32 index, i32 length)`: throws.
    ThrowIndex,
    /// `(i32 size)`: throws.
    ThrowNegative,
    /// `(i32 length) -> ptr`: an array.
    NewArray(ClassId),
    /// `(i32…) -> ptr`: an array of arrays.
    MultiArray(ClassId, u8),
    /// `(ptr) -> ptr`: the class object of an object.
    Mirror(u32),
    /// What asks a class, by its number, for something: `(i32 class, …)`.
    Ask(Question, u32),
    /// `(i32 class, ptr name) -> i64`: where a field of the class stands.
    FieldOffset(ClassId),
    /// What the functional method of a lambda does.
    Lambda(ClassId, usize),
    /// What a method of a stub does.
    Stub(ClassId, usize),
    /// What an `invokedynamic` evaluates to.
    Site(ClassId, u16),
    /// A helper that natives share, by name.
    Helper(&'static str),
    /// Runs the program.
    Main(ClassId),
    /// `(ptr, ptr) -> i1`: whether two objects stand for the same box.
    SameBox,
    /// Makes an object, and calls a method of it: what tests of the method do.
    Scenario(MethodRef),
    /// The same without the last call: what it would get is kept.
    Prepared(MethodRef),
    /// `(parameters of what tests call, and the result) -> i32`: what the postcondition has said of that call.
    Judged(MethodRef),
    /// `(parameters of what tests call) -> i32`: whether these are values that a caller can have.
    Possible(MethodRef),
    /// The same, and whether its precondition allows them.
    Allowed(MethodRef),
}

/// What can be asked about a class that only its number is known of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Question {
    /// `(i32 class, ptr object) -> i1`: whether the object, which is not null, is of the class.
    IsInstance,
    /// `(i32 class, i32 length) -> ptr`: an array of the class.
    NewArrayOf,
    /// `(i32 class, ptr name) -> i64`: where a field of its objects stands, -1 if there is none.
    FieldOffset,
    /// `(i32 class) -> ptr`: the constants of an enumeration.
    EnumConstants,
    /// `(i32 class)`: initialises it.
    Initialise,
    /// `(i32 class, i32 other) -> i1`: whether the other is a subclass.
    IsSubclass,
    /// `(i32 class) -> i32`: bytes of an element of arrays of the class; negative for references, 0 if it is no array.
    ElementSize,
    /// `(i32 class) -> ptr`: the name without package.
    SimpleName,
    /// `(i32 class) -> ptr`: the class, if it says that its objects can be compared with each other, else null.
    ComparableClass,
    /// `(i32 class) -> ptr`: an object made by the constructor without parameters.
    NewInstance,
    /// `(i32 class) -> ptr`: the name as source writes it, or null.
    CanonicalName,
}

/// What a global is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Data {
    /// A string constant, as UTF-16.
    Literal(Rc<[u16]>),
    /// The bytes of one.
    LiteralBytes(Rc<[u16]>),
    /// A static field.
    Static(FieldRef),
    /// How far the initialisation of a class is: 0 not begun, 1 begun or done, 2 failed.
    InitFlag(ClassId),
    /// The class object of a class.
    Mirror(ClassId),
    /// The arguments of the program.
    Arguments,
    /// An object that the machine makes, by name.
    Named(&'static str),
    /// A number of eight bytes that the machine keeps, by name.
    Cell(&'static str),
    /// What was prepared for a call of a method.
    Kept(MethodRef, Kept),
    /// A text for people, with a zero behind it.
    Text(&'static str),
}

/// What of a prepared call is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kept {
    /// An object, by its number.
    Object(usize),
    /// An argument, the receiver included.
    Argument(usize),
    /// What the call returned that a parameter chose.
    Call(usize),
    /// What the postcondition said of the result.
    Answer,
}

/// Everything that lowering knows.
#[derive(Debug)]
pub(crate) struct World {
    pub classes: Classes,
    pub arguments: Vec<String>,
    /// What the JDK says that it is (`17`, `25`).
    pub release: u32,
    /// Language and country.
    pub locale: (String, String),
    pub files: Files,
    file_ids: FxHashMap<Arc<str>, FileId>,
    funcs: Vec<Func>,
    func_ids: FxHashMap<Func, FuncId>,
    data: Vec<Data>,
    data_ids: FxHashMap<Data, GlobalId>,
    needs_init: FxHashMap<ClassId, bool>,
    pub reaching_out: FxHashMap<ClassId, bool>,
    /// How many classes had objects when a dispatch was last made.
    pub seen_by: FxHashMap<Func, usize>,
    /// The newest generation of each dispatch.
    pub newest: FxHashMap<Func, u32>,
    /// What the source says, where it was compiled.
    pub marks: Option<Marks>,
    /// Who keeps small boxes.
    pub boxes: Boxes,
    /// How tests call methods.
    pub plans: FxHashMap<MethodRef, Planned>,
    /// What is said of methods without code.
    pub described: Vec<Arc<DescribedMethod>>,
    /// Whether the program asks for identities, once somebody wanted to know.
    pub asks_identity: Option<bool>,
    /// Classes of the program, as far as somebody named them.
    pub program: Vec<ClassId>,
    /// These and the classes inside of them, once somebody wanted to know.
    pub with_nested: Option<Rc<[ClassId]>>,
    /// Data types, and which of them stands for what.
    pub types: DataTypes,
    pub type_ids: FxHashMap<(Arc<str>, Use), DataTypeId>,
    /// Classes whose objects may be inputs.
    pub heap_types: FxHashMap<ClassId, DataTypeId>,
    /// By method that was lowered: where points stand that are about single instructions.
    pub placed: FxHashMap<MethodRef, AllPlaced>,
}

/// The type of everything, until types are needed.
pub(crate) const ANY: usize = 0;

/// The module that a program begins with: no functions, no globals.
pub(crate) fn empty_module() -> Module {
    let mut module = Module::default();
    let any = module.types.push(DataType::Opaque { name: "object".to_string(), size: 0, align: 8 });
    debug_assert_eq!(any.index(), ANY);
    let word =
        module.types.push(DataType::Int { name: "class".to_string(), bits: 32, signed: false, kind: IntKind::Number });
    let object = module.types.push(DataType::Struct {
        name: "java.lang.Throwable".to_string(),
        fields: vec![touchstone_ir::Field { name: "class".to_string(), ty: word, offset: 0 }],
        size: 8,
        align: 8,
        kind: Default::default(),
    });
    let thrown = module.types.push(DataType::OneOf {
        name: "java.lang.Throwable".to_string(),
        tag: Tag { offset: 0, bits: 32 },
        variants: vec![Variant { tag: 0, ty: object }],
    });
    module.thrown = Some(thrown);
    super::present::add_types(&mut module.types);
    module
}

impl World {
    pub fn new(classes: Classes, arguments: Vec<String>, release: u32, locale: (String, String)) -> World {
        World {
            classes,
            arguments,
            release,
            locale,
            files: Files::new(),
            file_ids: FxHashMap::default(),
            funcs: Vec::new(),
            func_ids: FxHashMap::default(),
            data: Vec::new(),
            data_ids: FxHashMap::default(),
            needs_init: FxHashMap::default(),
            reaching_out: FxHashMap::default(),
            seen_by: FxHashMap::default(),
            newest: FxHashMap::default(),
            marks: None,
            boxes: Boxes::Cached,
            plans: FxHashMap::default(),
            described: Vec::new(),
            asks_identity: None,
            placed: FxHashMap::default(),
            program: Vec::new(),
            with_nested: None,
            heap_types: FxHashMap::default(),
            types: World::base_types(),
            type_ids: FxHashMap::default(),
        }
    }

    pub fn func(&mut self, func: Func) -> FuncId {
        if let Some(id) = self.func_ids.get(&func) {
            return *id;
        }
        let id = FuncId::new(self.funcs.len());
        self.funcs.push(func.clone());
        self.func_ids.insert(func, id);
        id
    }

    pub fn functions(&self) -> usize {
        self.funcs.len()
    }

    pub fn globals(&self) -> usize {
        self.data.len()
    }

    /// Functions that a function is a later generation of.
    pub fn earlier(&self, id: FuncId) -> Vec<FuncId> {
        let known = |func: Func| self.func_ids.get(&func).copied();
        self.what(id).map_or(Vec::new(), |func| func.earlier().into_iter().filter_map(known).collect())
    }

    pub fn what(&self, id: FuncId) -> Option<&Func> {
        self.funcs.get(id.index())
    }

    /// The static field that a global is, if it is one.
    pub fn static_of(&self, id: GlobalId) -> Option<FieldRef> {
        match self.data.get(id.index()) {
            Some(Data::Static(field)) => Some(*field),
            _ => None,
        }
    }

    pub fn datum(&mut self, data: Data) -> GlobalId {
        if let Some(id) = self.data_ids.get(&data) {
            return *id;
        }
        let id = GlobalId::new(self.data.len());
        self.data.push(data.clone());
        self.data_ids.insert(data, id);
        id
    }

    pub fn file(&mut self, name: &Arc<str>) -> FileId {
        if let Some(id) = self.file_ids.get(name) {
            return *id;
        }
        let id = self.files.push(name.to_string());
        self.file_ids.insert(name.clone(), id);
        id
    }

    /// A class of the JDK that must be there.
    pub fn jdk(&mut self, name: &str) -> Result<ClassId, Refusal> {
        self.classes.load(&name.into())
    }

    /// A method of a class of the JDK that must be there.
    pub fn jdk_method(&mut self, class: &str, name: &str, desc: &str) -> Result<MethodRef, Refusal> {
        let id = self.jdk(class)?;
        let found = self.classes.find_method(id, name, desc);
        found.ok_or_else(|| Refusal::NoMethod(format!("{class}.{name}{desc}")))
    }

    /// The class word of a class's objects.
    pub fn word(&self, class: ClassId) -> u64 {
        class.index() as u64 + 1
    }

    /// Address of a string constant.
    pub fn literal(&mut self, b: &mut Builder, text: &str) -> Operand {
        let units: Vec<u16> = text.encode_utf16().collect();
        let global = self.datum(Data::Literal(units.into()));
        b.global(global)
    }

    /// Whether a class must be initialised before it is used.
    pub fn needs_init(&mut self, class: ClassId) -> bool {
        if let Some(known) = self.needs_init.get(&class) {
            return *known;
        }
        let own = self.classes.get(class);
        let above: Vec<ClassId> = match own.is(access::INTERFACE) {
            true => Vec::new(),
            false => own.superclass.into_iter().chain(self.default_interfaces(class)).collect(),
        };
        let needs = self.classes.initialiser(class).is_some() || above.into_iter().any(|above| self.needs_init(above));
        self.needs_init.insert(class, needs);
        needs
    }

    /// Interfaces that are initialised with a class: those with methods that have code.
    pub fn default_interfaces(&self, class: ClassId) -> Vec<ClassId> {
        let mut found = Vec::new();
        let mut waiting: Vec<ClassId> = self.classes.get(class).interfaces.iter().rev().copied().collect();
        while let Some(id) = waiting.pop() {
            let interface = self.classes.get(id);
            waiting.extend(interface.interfaces.iter().rev());
            let Some(file) = interface.file() else { continue };
            let has_code = file.methods.iter().any(|method| !method.is(access::STATIC | access::ABSTRACT));
            if has_code && !found.contains(&id) {
                found.push(id);
            }
        }
        found
    }

    /// Parameters and result of a method, the receiver included.
    pub fn signature(&self, method: MethodRef) -> (Vec<Ty>, Option<Ty>) {
        let member = self.classes.method(method);
        let desc = MethodDesc::parse(&member.desc).expect("invariant: descriptors were read with the class");
        let this = (!member.is(access::STATIC)).then_some(Ty::Ptr);
        (this.into_iter().chain(desc.params.iter().map(ty_of)).collect(), result_ty(&desc.result))
    }

    /// The name of a method, for people.
    pub fn method_title(&self, method: MethodRef) -> String {
        let member = self.classes.method(method);
        format!("{}.{}{}", self.classes.get(method.class).title(), member.name, member.desc)
    }

    /// Whether a class is the JDK's, and not what is tested.
    pub fn is_library(&self, class: ClassId) -> bool {
        self.classes.get(class).of_jdk && !self.program.contains(&class)
    }

    /// What is known of a method's decisions.
    pub fn known_of(&self, method: MethodRef) -> Known {
        let class = self.classes.get(method.class);
        if self.is_library(method.class) {
            return Known::Library;
        }
        let member = self.classes.method(method);
        let marks = self.marks.as_ref().and_then(|marks| marks.of(&class.name, &member.name, &member.desc));
        marks.map_or(Known::CodeOnly, Known::Source)
    }

    /// Finishes a function of ours.
    pub fn helper(&self, b: Builder, name: String, result: Option<Ty>) -> Function {
        b.finish(name, result, DataTypeId::new(ANY), FunctionRole::Model)
    }

    /// Makes the body of a function.
    pub fn lower(&mut self, id: FuncId) -> Function {
        let func = self.funcs[id.index()].clone();
        let name = format!("{id} {func:?}");
        self.lower_func(&func, &name).unwrap_or_else(|refusal| {
            let mut b = Builder::new(&[]);
            b.unsupported(refusal.to_string());
            let mut function = self.helper(b, name, None);
            // It is called with any arguments.
            let (params, result) = self.shape_of(&func);
            let other = Builder::new(&params);
            let shaped = self.helper(other, String::new(), result);
            (function.params, function.regs, function.result) = (shaped.params, shaped.regs, shaped.result);
            function
        })
    }

    /// A function without its body.
    pub fn declaration(&self, id: FuncId) -> Function {
        let func = &self.funcs[id.index()];
        let (params, result) = self.shape_of(func);
        let mut function = self.helper(Builder::new(&params), format!("{func:?}"), result);
        function.blocks = Default::default();
        function
    }

    /// Parameters and result of a function.
    fn shape_of(&self, func: &Func) -> (Vec<Ty>, Option<Ty>) {
        match func {
            Func::Method(method) | Func::Original(method) | Func::Dispatch(method, _) => self.signature(*method),
            Func::Possible(method) | Func::Allowed(method) => {
                (self.entry_params(*method).iter().map(ty_of).collect(), Some(Ty::I32))
            }
            Func::Prepared(method) => (self.entry_params(*method).iter().map(ty_of).collect(), None),
            Func::Judged(method) => {
                let (params, result) = self.shape_of(&Func::Scenario(*method));
                (params.into_iter().chain(result).collect(), Some(Ty::I32))
            }
            Func::Scenario(method) => {
                let result =
                    if self.drops_results(*method) { None } else { self.signature(self.called_for(*method)).1 };
                (self.entry_params(*method).iter().map(ty_of).collect(), result)
            }
            Func::InstanceOf(..) => (vec![Ty::Ptr], Some(Ty::I1)),
            Func::SameBox => (vec![Ty::Ptr, Ty::Ptr], Some(Ty::I1)),
            Func::CastFailed(..) | Func::Throw(_) | Func::ThrowNull => (vec![Ty::Ptr], None),
            Func::StoreCheck(_) => (vec![Ty::Ptr, Ty::Ptr], None),
            Func::Init(_) | Func::Main(_) | Func::Helper(_) => (vec![], None),
            Func::ThrowIndex => (vec![Ty::I32, Ty::I32], None),
            Func::ThrowNegative => (vec![Ty::I32], None),
            Func::NewArray(_) => (vec![Ty::I32], Some(Ty::Ptr)),
            Func::MultiArray(_, dimensions) => (vec![Ty::I32; usize::from(*dimensions)], Some(Ty::Ptr)),
            Func::Mirror(_) => (vec![Ty::Ptr], Some(Ty::Ptr)),
            Func::FieldOffset(_) => (vec![Ty::I32, Ty::Ptr], Some(Ty::I64)),
            Func::Ask(question, _) => question.shape(),
            Func::Lambda(class, index) => match &self.classes.get(*class).shape {
                Shape::Lambda(lambda) => {
                    let desc = &lambda.descs[*index];
                    let params = std::iter::once(Ty::Ptr).chain(desc.params.iter().map(ty_of)).collect();
                    (params, result_ty(&desc.result))
                }
                _ => (vec![], None),
            },
            Func::Stub(class, index) => match &self.classes.get(*class).shape {
                Shape::Stub(methods) => {
                    let desc = &methods[*index].desc;
                    let params = std::iter::once(Ty::Ptr).chain(desc.params.iter().map(ty_of)).collect();
                    (params, result_ty(&desc.result))
                }
                _ => (vec![], None),
            },
            Func::Site(class, index) => {
                let file = self.classes.get(*class).file();
                let desc = file.and_then(|file| file.pool.call_site(*index).ok());
                match desc.and_then(|(_, _, desc)| MethodDesc::parse(&desc)) {
                    Some(desc) => (desc.params.iter().map(ty_of).collect(), result_ty(&desc.result)),
                    None => (vec![], None),
                }
            }
        }
    }

    fn lower_func(&mut self, func: &Func, name: &str) -> Result<Function, Refusal> {
        let (params, result) = self.shape_of(func);
        let mut b = Builder::new(&params);
        match func {
            Func::Method(method) => match self.stand_in(*method, &mut b)? {
                true => {}
                false => return self.lower_body(*method, name),
            },
            Func::Original(method) => return self.lower_body(*method, name),
            Func::Dispatch(method, generation) => self.dispatch(&mut b, *method, *generation)?,
            Func::InstanceOf(class, generation) => self.instance_of(&mut b, *class, *generation),
            Func::CastFailed(class, generation) => self.cast_failed(&mut b, *class, *generation)?,
            Func::StoreCheck(generation) => self.store_check(&mut b, *generation)?,
            Func::SameBox => self.same_box(&mut b)?,
            Func::Init(class) => self.init(&mut b, *class)?,
            Func::Throw(class) => self.throw_new(&mut b, *class)?,
            Func::ThrowNull => self.throw_null(&mut b)?,
            Func::ThrowIndex => self.throw_index(&mut b)?,
            Func::ThrowNegative => self.throw_negative(&mut b)?,
            Func::NewArray(class) => self.new_array(&mut b, *class)?,
            Func::MultiArray(class, dimensions) => self.multi_array(&mut b, *class, *dimensions)?,
            Func::Mirror(generation) => self.mirror(&mut b, *generation),
            Func::Ask(question, generation) => self.ask(&mut b, *question, *generation)?,
            Func::FieldOffset(class) => self.field_offset(&mut b, *class)?,
            Func::Lambda(class, index) => self.lambda_body(&mut b, *class, *index)?,
            Func::Stub(class, index) => self.stub_body(&mut b, *class, *index)?,
            Func::Site(class, index) => self.site(&mut b, *class, *index)?,
            Func::Helper(helper) => self.system_helper(&mut b, helper)?,
            Func::Main(class) => self.main(&mut b, *class)?,
            Func::Possible(method) => self.possible(&mut b, *method)?,
            Func::Allowed(method) => self.allowed(&mut b, *method)?,
            Func::Scenario(method) => return self.scenario_function(*method),
            Func::Prepared(method) => return self.prepared_function(*method, name),
            Func::Judged(method) => self.judged(&mut b, *method),
        }
        Ok(self.helper(b, name.to_string(), result))
    }

    /// Makes a global.
    pub fn define(&mut self, id: GlobalId) -> Global {
        let data = self.data[id.index()].clone();
        self.define_data(&data)
    }
}

impl Func {
    /// Functions that this one is a later generation of.
    pub fn earlier(&self) -> Vec<Func> {
        let (generation, of): (u32, Box<dyn Fn(u32) -> Func>) = match self.clone() {
            Func::Dispatch(method, generation) => (generation, Box::new(move |g| Func::Dispatch(method, g))),
            Func::InstanceOf(class, generation) => (generation, Box::new(move |g| Func::InstanceOf(class, g))),
            Func::CastFailed(class, generation) => (generation, Box::new(move |g| Func::CastFailed(class, g))),
            Func::StoreCheck(generation) => (generation, Box::new(Func::StoreCheck)),
            Func::Mirror(generation) => (generation, Box::new(Func::Mirror)),
            Func::Ask(question, generation) => (generation, Box::new(move |g| Func::Ask(question, g))),
            _ => return Vec::new(),
        };
        (0..generation).map(of).collect()
    }
}

impl Question {
    fn shape(self) -> (Vec<Ty>, Option<Ty>) {
        match self {
            Question::IsInstance => (vec![Ty::I32, Ty::Ptr], Some(Ty::I1)),
            Question::NewArrayOf => (vec![Ty::I32, Ty::I32], Some(Ty::Ptr)),
            Question::FieldOffset => (vec![Ty::I32, Ty::Ptr], Some(Ty::I64)),
            Question::EnumConstants => (vec![Ty::I32], Some(Ty::Ptr)),
            Question::Initialise => (vec![Ty::I32], None),
            Question::IsSubclass => (vec![Ty::I32, Ty::I32], Some(Ty::I1)),
            Question::ElementSize => (vec![Ty::I32], Some(Ty::I32)),
            Question::SimpleName | Question::CanonicalName | Question::ComparableClass | Question::NewInstance => {
                (vec![Ty::I32], Some(Ty::Ptr))
            }
        }
    }
}

/// The register type of a result.
pub(crate) fn result_ty(desc: &Desc) -> Option<Ty> {
    (*desc != Desc::Void).then(|| ty_of(desc))
}
