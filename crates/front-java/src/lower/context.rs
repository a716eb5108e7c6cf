//! The context of lowering: the class table, the symbol tables, and caches of facts about classes and methods.

use crate::classes::layout::register_ty;
use crate::classes::{ClassId, ClassShape, ClassTable, FieldRef, LoweringError, MethodRef, MethodSpec};
use crate::classfile::{Desc, MethodDesc, access};
use crate::coverage::method_decisions::{DecisionSource, PointLocations};
use crate::coverage::source_marks::SourceMarks;
use crate::lower::builder::Builder;
use crate::lower::data_types::{DataUse, add_types};
use crate::lower::entry_functions::TestPlan;
use crate::lower::library::boxing::Wrappers;
use crate::lower::symbols::{FuncKind, GlobalKind};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_base::{FileId, Files};
use touchstone_ir::{
    DataType, DataTypeId, DataTypes, FuncId, Function, FunctionRole, Global, GlobalId, IntKind, Module, Operand,
    TaggedVariant, Ty, VariantTag,
};

/// The state of lowering.
#[derive(Debug)]
pub(crate) struct Lowering {
    pub classes: ClassTable,
    pub arguments: Vec<String>,
    /// The feature release of the JDK (`17`, `25`).
    pub release: u32,
    /// Language and country of the user.
    pub locale: (String, String),
    pub files: Files,
    file_ids: FxHashMap<Arc<str>, FileId>,
    funcs: Vec<FuncKind>,
    func_ids: FxHashMap<FuncKind, FuncId>,
    data: Vec<GlobalKind>,
    data_ids: FxHashMap<GlobalKind, GlobalId>,
    needs_init: FxHashMap<ClassId, bool>,
    pub init_uses_others: FxHashMap<ClassId, bool>,
    pub objects_outlive_init: FxHashMap<ClassId, bool>,
    /// The number of known classes when a generation of a dispatch was lowered.
    pub classes_seen: FxHashMap<FuncKind, usize>,
    /// The latest generation of each dispatch.
    pub latest_generation: FxHashMap<FuncKind, u32>,
    /// The marks of the source, if it was compiled.
    pub marks: Option<SourceMarks>,
    /// The identity of small wrapper objects.
    pub boxes: Wrappers,
    /// The test plans of methods.
    pub plans: FxHashMap<MethodRef, TestPlan>,
    /// The user's specifications of methods without code.
    pub specs: Vec<Arc<MethodSpec>>,
    /// True if the program compares references; computed on demand.
    pub compares_identity: Option<bool>,
    /// The classes of the program that the user named.
    pub program: Vec<ClassId>,
    /// These and their nested classes; computed on demand.
    pub nested_classes: Option<Rc<[ClassId]>>,
    /// The data types of the module; `type_ids` finds them by Java type and use.
    pub types: DataTypes,
    pub type_ids: FxHashMap<(Arc<str>, DataUse), DataTypeId>,
    /// The data types of classes whose objects may be symbolic.
    pub heap_types: FxHashMap<ClassId, DataTypeId>,
    /// The locations of points, by lowered method.
    pub point_locations: FxHashMap<MethodRef, PointLocations>,
}

/// Index of the opaque data type, for values without a data type of their own.
pub(crate) const ANY: usize = 0;

/// Returns the initial module, without functions and globals.
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
        tag: VariantTag { offset: 0, bits: 32 },
        variants: vec![TaggedVariant { tag: 0, ty: object }],
    });
    module.thrown = Some(thrown);
    add_types(&mut module.types);
    module
}

impl Lowering {
    pub fn new(classes: ClassTable, arguments: Vec<String>, release: u32, locale: (String, String)) -> Lowering {
        Lowering {
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
            init_uses_others: FxHashMap::default(),
            objects_outlive_init: FxHashMap::default(),
            classes_seen: FxHashMap::default(),
            latest_generation: FxHashMap::default(),
            marks: None,
            boxes: Wrappers::Cached,
            plans: FxHashMap::default(),
            specs: Vec::new(),
            compares_identity: None,
            point_locations: FxHashMap::default(),
            program: Vec::new(),
            nested_classes: None,
            heap_types: FxHashMap::default(),
            types: Lowering::base_types(),
            type_ids: FxHashMap::default(),
        }
    }

    pub fn func(&mut self, func: FuncKind) -> FuncId {
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

    /// Returns the earlier generations of a function.
    pub fn earlier_generations(&self, id: FuncId) -> Vec<FuncId> {
        let known = |func: FuncKind| self.func_ids.get(&func).copied();
        self.func_kind(id).map_or(Vec::new(), |func| func.earlier_generations().into_iter().filter_map(known).collect())
    }

    pub fn func_at(&self, id: FuncId) -> &FuncKind {
        &self.funcs[id.index()]
    }

    pub fn func_kind(&self, id: FuncId) -> Option<&FuncKind> {
        self.funcs.get(id.index())
    }

    /// Returns the static field of a global, if it is one.
    pub fn static_of(&self, id: GlobalId) -> Option<FieldRef> {
        match self.data.get(id.index()) {
            Some(GlobalKind::Static(field)) => Some(*field),
            _ => None,
        }
    }

    pub fn global_id(&mut self, data: GlobalKind) -> GlobalId {
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

    /// Loads a class of the JDK that must exist.
    pub fn jdk(&mut self, name: &str) -> Result<ClassId, LoweringError> {
        self.classes.load(&name.into())
    }

    /// Finds a method of the JDK that must exist.
    pub fn jdk_method(&mut self, class: &str, name: &str, desc: &str) -> Result<MethodRef, LoweringError> {
        let id = self.jdk(class)?;
        let found = self.classes.find_method(id, name, desc);
        found.ok_or_else(|| LoweringError::NoMethod(format!("{class}.{name}{desc}")))
    }

    /// Returns the class word of a class's objects.
    pub fn word(&self, class: ClassId) -> u64 {
        class.index() as u64 + 1
    }

    /// Returns the address of a string constant.
    pub fn literal(&mut self, b: &mut Builder, text: &str) -> Operand {
        let units: Vec<u16> = text.encode_utf16().collect();
        let global = self.global_id(GlobalKind::Literal(units.into()));
        b.global(global)
    }

    /// Returns true if a class must be initialised before its first use.
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

    /// Returns the interfaces that are initialised with a class: those with default methods.
    pub fn default_interfaces(&self, class: ClassId) -> Vec<ClassId> {
        let mut found = Vec::new();
        let mut worklist: Vec<ClassId> = self.classes.get(class).interfaces.iter().rev().copied().collect();
        while let Some(id) = worklist.pop() {
            let interface = self.classes.get(id);
            worklist.extend(interface.interfaces.iter().rev());
            let Some(file) = interface.file() else { continue };
            let has_code = file.methods.iter().any(|method| !method.is(access::STATIC | access::ABSTRACT));
            if has_code && !found.contains(&id) {
                found.push(id);
            }
        }
        found
    }

    /// Returns the types of a method's parameters, the receiver included, and of its result.
    pub fn signature(&self, method: MethodRef) -> (Vec<Ty>, Option<Ty>) {
        let member = self.classes.method(method);
        let desc = MethodDesc::parse(&member.desc).expect("invariant: descriptors were read with the class");
        let this = (!member.is(access::STATIC)).then_some(Ty::Ptr);
        (this.into_iter().chain(desc.params.iter().map(register_ty)).collect(), result_ty(&desc.result))
    }

    /// Returns the name of a method for messages.
    pub fn method_title(&self, method: MethodRef) -> String {
        let member = self.classes.method(method);
        format!("{}.{}{}", self.classes.get(method.class).title(), member.name, member.desc)
    }

    /// Returns true if a class is the JDK's and not under test.
    pub fn is_library(&self, class: ClassId) -> bool {
        self.classes.get(class).of_jdk && !self.program.contains(&class)
    }

    /// Returns the origin of a method's decisions.
    pub fn decision_source(&self, method: MethodRef) -> DecisionSource {
        let class = self.classes.get(method.class);
        if self.is_library(method.class) {
            return DecisionSource::Library;
        }
        let member = self.classes.method(method);
        let marks = self.marks.as_ref().and_then(|marks| marks.of(&class.name, &member.name, &member.desc));
        marks.map_or(DecisionSource::CodeOnly, DecisionSource::Source)
    }

    /// Finishes a function that has no counterpart in the source.
    pub fn helper(&self, b: Builder, name: String, result: Option<Ty>) -> Function {
        b.finish(name, result, DataTypeId::new(ANY), FunctionRole::Model)
    }

    /// Returns a function without its body.
    pub fn declaration(&self, id: FuncId) -> Function {
        let func = &self.funcs[id.index()];
        let (params, result) = self.shape_of(func);
        let mut function = self.helper(Builder::new(&params), format!("{func:?}"), result);
        function.blocks = Default::default();
        function
    }

    /// Returns the types of a function's parameters and of its result.
    pub fn shape_of(&self, func: &FuncKind) -> (Vec<Ty>, Option<Ty>) {
        match func {
            FuncKind::Method(method) | FuncKind::Original(method) | FuncKind::Dispatch(method, _) => {
                self.signature(*method)
            }
            FuncKind::Possible(method) | FuncKind::Allowed(method) => {
                (self.entry_params(*method).iter().map(register_ty).collect(), Some(Ty::I32))
            }
            FuncKind::Prepared(method) => (self.entry_params(*method).iter().map(register_ty).collect(), None),
            FuncKind::Judged(method) => {
                let (params, result) = self.shape_of(&FuncKind::Scenario(*method));
                (params.into_iter().chain(result).collect(), Some(Ty::I32))
            }
            FuncKind::Scenario(method) => {
                let result =
                    if self.drops_results(*method) { None } else { self.signature(self.entry_callee(*method)).1 };
                (self.entry_params(*method).iter().map(register_ty).collect(), result)
            }
            FuncKind::InstanceOf(..) => (vec![Ty::Ptr], Some(Ty::I1)),
            FuncKind::SameBox => (vec![Ty::Ptr, Ty::Ptr], Some(Ty::I1)),
            FuncKind::CastFailed(..) | FuncKind::Throw(_) | FuncKind::ThrowNull => (vec![Ty::Ptr], None),
            FuncKind::StoreCheck(_) => (vec![Ty::Ptr, Ty::Ptr], None),
            FuncKind::Init(_) | FuncKind::Main(_) | FuncKind::Helper(_) => (vec![], None),
            FuncKind::ThrowIndex => (vec![Ty::I32, Ty::I32], None),
            FuncKind::ThrowNegative => (vec![Ty::I32], None),
            FuncKind::NewArray(_) => (vec![Ty::I32], Some(Ty::Ptr)),
            FuncKind::MultiArray(_, dimensions) => (vec![Ty::I32; usize::from(*dimensions)], Some(Ty::Ptr)),
            FuncKind::Mirror(_) => (vec![Ty::Ptr], Some(Ty::Ptr)),
            FuncKind::FieldOffset(_) => (vec![Ty::I32, Ty::Ptr], Some(Ty::I64)),
            FuncKind::Ask(question, _) => question.shape(),
            FuncKind::Lambda(class, index) => match &self.classes.get(*class).shape {
                ClassShape::Lambda(lambda) => {
                    let desc = &lambda.descs[*index];
                    let params = std::iter::once(Ty::Ptr).chain(desc.params.iter().map(register_ty)).collect();
                    (params, result_ty(&desc.result))
                }
                _ => (vec![], None),
            },
            FuncKind::Stub(class, index) => match &self.classes.get(*class).shape {
                ClassShape::Stub(methods) => {
                    let desc = &methods[*index].desc;
                    let params = std::iter::once(Ty::Ptr).chain(desc.params.iter().map(register_ty)).collect();
                    (params, result_ty(&desc.result))
                }
                _ => (vec![], None),
            },
            FuncKind::Site(class, index) => {
                let file = self.classes.get(*class).file();
                let desc = file.and_then(|file| file.pool.call_site(*index).ok());
                match desc.and_then(|(_, _, desc)| MethodDesc::parse(&desc)) {
                    Some(desc) => (desc.params.iter().map(register_ty).collect(), result_ty(&desc.result)),
                    None => (vec![], None),
                }
            }
        }
    }

    /// Defines a global.
    pub fn define(&mut self, id: GlobalId) -> Global {
        let data = self.data[id.index()].clone();
        self.define_global(&data)
    }
}

/// Returns the register type of a result; `None` for `void`.
pub(crate) fn result_ty(desc: &Desc) -> Option<Ty> {
    (*desc != Desc::Void).then(|| register_ty(desc))
}
