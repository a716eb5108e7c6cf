//! The context of lowering: the symbol tables of a program and what is known of its classes.

use crate::classes::layout::ty_of;
use crate::classes::{ClassId, Classes, DescribedMethod, FieldRef, MethodRef, Refusal, Shape};
use crate::classfile::{Desc, MethodDesc, access};
use crate::coverage::decisions::{AllPlaced, Known};
use crate::coverage::source_marks::Marks;
use crate::lower::builder::Builder;
use crate::lower::data_types::{Use, add_types};
use crate::lower::entry_functions::Planned;
use crate::lower::library::boxing::Boxes;
use crate::lower::symbols::{Data, Func};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_base::{FileId, Files};
use touchstone_ir::{
    DataType, DataTypeId, DataTypes, FuncId, Function, FunctionRole, Global, GlobalId, IntKind, Module, Operand, Tag,
    Ty, Variant,
};

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
    add_types(&mut module.types);
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

    pub fn func_at(&self, id: FuncId) -> &Func {
        &self.funcs[id.index()]
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

    /// A function without its body.
    pub fn declaration(&self, id: FuncId) -> Function {
        let func = &self.funcs[id.index()];
        let (params, result) = self.shape_of(func);
        let mut function = self.helper(Builder::new(&params), format!("{func:?}"), result);
        function.blocks = Default::default();
        function
    }

    /// Parameters and result of a function.
    pub fn shape_of(&self, func: &Func) -> (Vec<Ty>, Option<Ty>) {
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

    /// Makes a global.
    pub fn define(&mut self, id: GlobalId) -> Global {
        let data = self.data[id.index()].clone();
        self.define_data(&data)
    }
}

/// The register type of a result.
pub(crate) fn result_ty(desc: &Desc) -> Option<Ty> {
    (*desc != Desc::Void).then(|| ty_of(desc))
}
