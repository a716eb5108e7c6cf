//! Plans how tests make the arguments of a method and the object that it is called on: as a caller would, by constructors,
//! static methods, constants and calls, a few levels deep.
//!
//! What is left out (more calls, longer collections, other classes) is a way that stops by name, so no verdict says that there
//! is none. Deliberately not here: heaps that no calls make (`heaps.rs`).

use super::callers::Callers;
use super::generics::Types;
use super::known_classes::{collection, is_usual};
use super::making::{PlannedFixture, Results};
use super::outer::{object_of, outer_of};
use super::world::World;
use super::{MADE, STRING};
use crate::classfile::{Desc, Generic, Insn, Member, MethodDesc, access, decode};
use crate::world::{ClassId, MethodRef};
use std::sync::Arc;
use touchstone_fixture_java::{
    ApiCall, CallSlot, Completeness, Construction, Fixture, FixtureValue, ObjectPlan, Overloading, TestedCall,
};

/// So many methods are called to change an object.
const MOST_CALLS: usize = 6;
/// Objects in objects in objects.
const DEEPEST: u32 = 3;
/// From so many parameters of one argument on, objects have no others inside.
const MOST_PARAMETERS: usize = 40;

/// What code asks an object for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asks {
    /// To be of a type.
    ForType,
    /// To be of just this class: one below it is another.
    ForClass,
}

/// What tests of a method call.
#[derive(Clone, Debug)]
pub(crate) enum Planned {
    /// The method itself.
    Directly,
    /// A function that makes objects for it.
    Made(Arc<PlannedFixture>),
    /// Nothing: tests can't make what it needs.
    Not(String),
}

/// Whether a value is a parameter as it is.
pub(super) fn is_given(desc: &Desc) -> bool {
    match desc {
        Desc::Ref(name) => match name.strip_prefix('[').and_then(Desc::parse) {
            Some(element) => !element.is_ref(),
            None => &**name == STRING,
        },
        _ => true,
    }
}

impl World {
    /// How tests call a method.
    pub fn planned(&mut self, method: MethodRef) -> Planned {
        if let Some(known) = self.plans.get(&method) {
            return known.clone();
        }
        let planned = self.plan(method);
        self.plans.insert(method, planned.clone());
        planned
    }

    fn plan(&mut self, method: MethodRef) -> Planned {
        let Some(desc) = MethodDesc::parse(&self.classes.method(method).desc) else {
            return Planned::Not("its descriptor is none".to_string());
        };
        let wide_texts = self.asks_for_wide_texts(method);
        let class = self.classes.get(method.class).name.clone();
        let package = class.rsplit_once('/').map_or("", |(package, _)| package).to_string();
        let asks_identity = compares_references(self.classes.method(method));
        let is_equals = &*self.classes.method(method).name == "equals";
        let handlers = self.classes.method(method).code().map_or(&[][..], |code| &code.handlers);
        // What a `finally` sees is any exception.
        let any = || "java/lang/Throwable".into();
        let caught = handlers.iter().map(|handler| handler.class.clone().unwrap_or_else(any)).collect();
        let mut planner = Planner {
            world: self,
            package,
            params: Vec::new(),
            count: 0,
            shared: Vec::new(),
            variables: Vec::new(),
            asks_identity,
            is_equals,
            wide_texts,
            limit: MOST_PARAMETERS,
            caught,
            mentioned: Vec::new(),
            meddling: None,
        };
        planner.load_outer(method.class);
        match planner.may_call_directly(method) {
            true if planner.needs_nothing(method, &desc) => Planned::Directly,
            true => {
                let itself = Callers { calls: vec![method], completeness: Completeness::Complete };
                planner.scenario(method, &itself).unwrap_or_else(Planned::Not)
            }
            false => {
                let not = |why: &str| Planned::Not(format!("tests may not call it, and {why}"));
                match planner.callers(method) {
                    None => not("nobody leads to it whom they may call"),
                    Some(callers) => planner
                        .scenario(method, &callers)
                        .unwrap_or_else(|_| not("they can't make what its callers need")),
                }
            }
        }
    }
}

impl World {
    /// The classes that a method asks objects for: whether they are theirs, or to be taken for them.
    fn asked_for(&self, method: MethodRef) -> Vec<(Arc<str>, Asks)> {
        let Some(file) = self.classes.get(method.class).file() else { return Vec::new() };
        let Some(code) = self.classes.method(method).code() else { return Vec::new() };
        let insns = decode(&code.bytes, code.offset).unwrap_or_default();
        let class = |insn: &Insn| match insn {
            Insn::InstanceOf(index) | Insn::CheckCast(index) => Some((file.pool.class(*index).ok()?, Asks::ForType)),
            Insn::Constant(index) => Some((file.pool.class(*index).ok()?, Asks::ForClass)),
            _ => None,
        };
        insns.iter().filter_map(|insn| class(&insn.insn)).collect()
    }

    /// The class of a type, if it is not there.
    pub(super) fn missing_class(&mut self, desc: &Desc) -> Option<String> {
        match (desc, self.classes.of_desc(desc)) {
            (Desc::Ref(name), Err(_)) => Some(name.replace('/', ".")),
            _ => None,
        }
    }

    /// Whether code of the program asks anywhere whether two references are the same.
    pub(super) fn asks_identity(&mut self) -> bool {
        if let Some(known) = self.asks_identity {
            return known;
        }
        let methods = |id: &ClassId| self.classes.get(*id).file().map_or(&[][..], |file| &file.methods);
        let asks = self.program.iter().flat_map(methods).any(compares_references);
        self.asks_identity = Some(asks);
        asks
    }
}

pub(super) struct Planner<'w> {
    pub(super) world: &'w mut World,
    /// Where tests stand.
    pub(super) package: String,
    pub(super) params: Vec<(String, Desc)>,
    pub(super) count: usize,
    /// Objects that later ones may be.
    pub(super) shared: Vec<(usize, ClassId)>,
    pub(super) variables: Vec<String>,
    /// Whether the tested method itself asks whether two references are the same.
    pub(super) asks_identity: bool,
    /// Whether the tested method is `equals`.
    pub(super) is_equals: bool,
    /// Whether texts have other characters than the first 256.
    pub(super) wide_texts: bool,
    /// From so many parameters on, objects have no others inside.
    pub(super) limit: usize,
    /// The exceptions that handlers of the tested method catch.
    pub(super) caught: Vec<Arc<str>>,
    /// The classes that the tested method, and whoever calls it for tests, asks objects for.
    pub(super) mentioned: Vec<(Arc<str>, Asks)>,
    /// What lambda expressions may do to the object whose method is tested: its number, and the method that changes it.
    pub(super) meddling: Option<(usize, MethodRef)>,
}

impl Planner<'_> {
    /// Whether tests can write a call of a method.
    fn may_call_directly(&self, method: MethodRef) -> bool {
        self.is_accessible(method.class) && self.may_call(method)
    }

    /// Whether a call of a method needs no object.
    fn needs_nothing(&self, method: MethodRef, desc: &MethodDesc) -> bool {
        let is_static = self.world.classes.method(method).is(access::STATIC);
        let is_plain = desc.result == Desc::Void || is_given(&desc.result);
        let is_text = |param: &Desc| matches!(param, Desc::Ref(name) if &**name == STRING);
        let is_wide = self.wide_texts && desc.params.iter().any(is_text);
        is_static && is_plain && !is_wide && desc.params.iter().all(is_given)
    }

    /// How a method is tested by calls of some: of itself, or of others that lead to it. They are alike: all need an object of one
    /// class, or none.
    fn scenario(&mut self, method: MethodRef, callers: &Callers) -> Result<Planned, String> {
        let Callers { calls: callers, completeness } = callers;
        let first = callers[0];
        self.mentioned = self.world.asked_for(method);
        for caller in callers.iter().filter(|caller| **caller != method) {
            let asked = self.world.asked_for(*caller);
            self.mentioned.extend(asked);
        }
        let member = self.world.classes.method(first);
        let (is_static, name) = (member.is(access::STATIC), member.name.clone());
        let types = self.defaults(first.class);
        let receiver = match is_static || &*name == "<init>" {
            true => None,
            false => Some(self.receiver(first, &types).ok_or("it needs an object, and tests can't make any")?),
        };
        if &*name == "<init>" && !self.has_constructors(first.class) {
            return Err("it makes objects of a class that has none".to_string());
        }
        let outer = match self.outer_class(first.class).filter(|_| &*name == "<init>") {
            Some(outer) => {
                let made = self.outer_object(outer, 1).ok_or("tests can't make the object that it is inside of")?;
                self.share(&made, outer);
                Some(made)
            }
            None => None,
        };
        if let Some(FixtureValue::Object(object)) = &receiver {
            let number = object.number;
            self.meddling = self.meddler(first.class).map(|called| (number, called));
        }
        let selector =
            (callers.len() > 1 || *completeness == Completeness::Incomplete).then(|| self.param("caller", Desc::Int));
        let shared = self.shared.clone();
        let mut calls = Vec::new();
        for caller in callers {
            self.shared.clone_from(&shared);
            let text = self.call_text(*caller);
            let names = self.param_names(*caller);
            match self.call(*caller, &types, text, &names, 1) {
                Some(call) => calls.push(ApiCall { enclosing: outer.clone(), ..call }),
                None => return Err(self.unmade(*caller)),
            }
        }
        let overloaded = calls.iter().any(|call| self.world.shown_name(call.method).contains('('));
        let (result, results) = self.results_of(callers, &types);
        let overloading = if overloaded { Overloading::Overloaded } else { Overloading::Unique };
        let tested = TestedCall { calls, completeness: *completeness, selector, overloading };
        let changing = self.looked_at(receiver.as_ref(), &tested);
        let result_class = self.looked_at_result(&result);
        let (heaps, inputs) = self.heaps(receiver.as_ref(), &tested.calls).into_iter().unzip();
        let (parameters, param_types) = std::mem::take(&mut self.params).into_iter().unzip();
        let fixture = Arc::new(Fixture { receiver, tested, result: result.text(), heaps, parameters });
        let objects = self.count;
        let planned = PlannedFixture { fixture, results, changing, result_class, param_types, objects, heaps: inputs };
        Ok(Planned::Made(Arc::new(planned)))
    }

    /// What one of several calls gives.
    fn results_of(&self, methods: &[MethodRef], types: &Types) -> (Generic, Results) {
        let mut all: Vec<Generic> = methods.iter().map(|method| self.result_of(*method, types)).collect();
        all.dedup();
        match (all.pop(), all.is_empty()) {
            (Some(one), true) => (one, Results::OfOneType),
            _ => (Generic::Value(Desc::Void), Results::Dropped),
        }
    }

    /// What a call of a method gives: the object, if it makes one.
    pub(super) fn result_of(&self, method: MethodRef, types: &Types) -> Generic {
        match &*self.world.classes.method(method).name {
            "<init>" => self.full(method.class, types),
            _ => self.method_types(method, types).pop().unwrap_or(Generic::Value(Desc::Void)),
        }
    }

    /// What stands before the arguments of a call.
    fn call_text(&self, method: MethodRef) -> String {
        let member = self.world.classes.method(method);
        match &*member.name {
            "<init>" => self.new_text(method.class),
            name if member.is(access::STATIC) => format!("{}.{name}", self.title(method.class)),
            name => name.to_string(),
        }
    }

    /// Why tests can't make the arguments of a method.
    fn unmade(&mut self, method: MethodRef) -> String {
        let desc = MethodDesc::parse(&self.world.classes.method(method).desc);
        let params = desc.map_or(Vec::new(), |desc| desc.params);
        match params.iter().find_map(|param| self.world.missing_class(param)) {
            Some(class) => format!("no class {class}, which it takes, is there: --class-path names jars"),
            None => "it has a parameter that tests don't make yet".to_string(),
        }
    }

    // Names.

    pub(super) fn title(&self, class: ClassId) -> String {
        self.world.classes.get(class).title().replace('$', ".")
    }

    pub(super) fn new_text(&self, class: ClassId) -> String {
        let formals = self.signature(class).is_some_and(|signature| !signature.formals.is_empty());
        let name = match self.outer_class(class) {
            Some(_) => self.world.simple_name(class),
            None => self.title(class),
        };
        format!("new {name}{}", if formals { "<>" } else { "" })
    }

    pub(super) fn param_names(&self, method: MethodRef) -> Vec<String> {
        let member = self.world.classes.method(method);
        let Some(desc) = MethodDesc::parse(&member.desc) else { return Vec::new() };
        let mut local = u16::from(!member.is(access::STATIC));
        let mut names = Vec::new();
        for (index, param) in desc.params.iter().enumerate() {
            let known = member.code().and_then(|code| code.local_name(local, 0));
            names.push(known.map_or_else(|| format!("arg{}", index + 1), |name| name.to_string()));
            local += if param.is_wide() { 2 } else { 1 };
        }
        names
    }

    pub(super) fn param(&mut self, name: &str, desc: Desc) -> usize {
        let mut unique = name.to_string();
        let mut number = 2;
        while self.variables.contains(&unique) {
            unique = format!("{name}{number}");
            number += 1;
        }
        self.variables.push(unique.clone());
        self.params.push((unique, desc));
        self.params.len() - 1
    }

    // Who may be called.

    pub(super) fn is_accessible(&self, class: ClassId) -> bool {
        let class = self.world.classes.get(class);
        let Some(file) = class.file() else { return false };
        if class.of_jdk {
            return file.is(access::PUBLIC) && class.name.starts_with("java/") && !class.name.contains('$');
        }
        let package = class.name.rsplit_once('/').map_or("", |(package, _)| package);
        let near = package == self.package;
        let visible = |flags: u16| flags & access::PRIVATE == 0 && (near || flags & access::PUBLIC != 0);
        match file.inner() {
            Some(_) => file.nesting().all(|row| {
                let is_there = row.outer.as_ref().is_some_and(|outer| self.world.classes.known(outer).is_some());
                is_there && row.name.is_some() && visible(row.access)
            }),
            None => visible(file.access),
        }
    }

    pub(super) fn may_call(&self, method: MethodRef) -> bool {
        let member = self.world.classes.method(method);
        let class = self.world.classes.get(method.class);
        let package = class.name.rsplit_once('/').map_or("", |(package, _)| package);
        let near = package == self.package && !class.of_jdk;
        !member.is(MADE | access::PRIVATE) && (near || member.is(access::PUBLIC))
    }

    pub(super) fn methods(&self, class: ClassId, wanted: impl Fn(&Member) -> bool) -> Vec<MethodRef> {
        let Some(file) = self.world.classes.get(class).file() else { return Vec::new() };
        let all = file.methods.iter().enumerate().filter(|(_, member)| wanted(member));
        let all = all.map(|(index, _)| MethodRef { class, index: index as u16 });
        all.filter(|method| self.may_call(*method)).collect()
    }

    pub(super) fn has_constructors(&self, class: ClassId) -> bool {
        let found = self.world.classes.get(class);
        self.is_accessible(class) && !found.is(access::ABSTRACT | access::INTERFACE | access::ENUM)
    }

    // Values.

    pub(super) fn call(
        &mut self,
        method: MethodRef,
        types: &Types,
        text: String,
        names: &[String],
        depth: u32,
    ) -> Option<ApiCall> {
        let mut generics = self.method_types(method, types);
        generics.pop();
        // The object that a new one is inside of is made by whoever plans that.
        let is_inside =
            &*self.world.classes.method(method).name == "<init>" && self.outer_class(method.class).is_some();
        let mut arguments = Vec::new();
        for (index, generic) in generics.iter().enumerate().skip(usize::from(is_inside)) {
            let name = names.get(index).cloned().unwrap_or_else(|| format!("arg{}", index + 1));
            if depth == 1 {
                self.limit = self.params.len() + MOST_PARAMETERS;
            }
            arguments.push(self.making(generic, &name, depth)?);
        }
        Some(ApiCall { method, callee: text, enclosing: None, arguments })
    }

    pub(super) fn making(&mut self, ty: &Generic, name: &str, depth: u32) -> Option<FixtureValue> {
        let desc = ty.erased();
        let is_wide = self.wide_texts && depth <= 2 && matches!(&desc, Desc::Ref(name) if &**name == STRING);
        if is_given(&desc) && !is_wide {
            return Some(FixtureValue::Parameter(self.param(name, desc)));
        }
        self.object(ty, name, depth)
    }

    pub(super) fn object(&mut self, ty: &Generic, name: &str, depth: u32) -> Option<FixtureValue> {
        let class = self.world.classes.of_desc(&ty.erased()).ok()?;
        self.load_outer(class);
        let (number, selector) = (self.count, self.param(name, Desc::Int));
        self.count += 1;
        let mut ways = vec![Construction::Null];
        for (other, known) in &self.shared {
            if depth == 1 && self.world.classes.is_subtype(*known, class) {
                ways.push(Construction::Same(*other));
            }
        }
        let name = self.params[selector].0.clone();
        let made = match depth <= DEEPEST && self.params.len() < self.limit {
            true => self.ways(ty, class, &name, depth),
            false => (Vec::new(), Completeness::Incomplete),
        };
        let can_change = made.0.iter().any(|way| matches!(way, Construction::New(_) | Construction::Factory(_)));
        ways.extend(made.0);
        if depth == 1 {
            self.shared.push((number, class));
        }
        let slots = match depth == 1 && can_change && !self.world.classes.get(class).of_jdk {
            true => {
                let changing = self.changing(class, 4);
                self.slots(&changing, class, ty, &name, 2)
            }
            false => Vec::new(),
        };
        let many = if depth == 1 { self.many_elements(class, ty, &ways) } else { None };
        let ty = self.written(ty, class);
        let plan = ObjectPlan {
            number,
            name,
            ty,
            selector,
            constructions: ways,
            completeness: made.1,
            fill_loops: many,
            slots,
        };
        Some(FixtureValue::Object(Box::new(plan)))
    }

    /// The object that a method is called on.
    pub(super) fn receiver(&mut self, method: MethodRef, types: &Types) -> Option<FixtureValue> {
        let class = method.class;
        let full = self.full(class, types);
        let name = self.name_of_one(class);
        let (number, selector) = (self.count, self.param(&name, Desc::Int));
        self.count += 1;
        if !self.is_accessible(class) {
            return None;
        }
        let found = self.world.classes.get(class);
        let (ways, all) = match found.is(access::ENUM) {
            true => (self.constants(class), Completeness::Complete),
            false if self.world.is_left_open(class) => {
                (self.implementations(class, &full, &name, 1, Some(method)), Completeness::Incomplete)
            }
            false => (self.constructed(class, &full, &name, 2), Completeness::Incomplete),
        };
        if ways.is_empty() {
            return None;
        }
        self.shared.push((number, class));
        self.share_outer(&ways);
        self.limit = self.params.len() + MOST_PARAMETERS;
        let (many, slots) = match self.world.classes.get(class).is(access::ENUM) {
            true => (None, Vec::new()),
            false => {
                let mut changing = self.changing(class, MOST_CALLS);
                let many = self.many(&changing, types, &ways);
                // To be called twice may be another thing.
                if self.may_call(method) && !changing.contains(&method) && self.world.changes(method) {
                    changing.push(method);
                }
                (many, self.slots(&changing, class, &full, "call", 4))
            }
        };
        let ty = self.shown_type(class, types);
        let plan =
            ObjectPlan { number, name, ty, selector, constructions: ways, completeness: all, fill_loops: many, slots };
        Some(FixtureValue::Object(Box::new(plan)))
    }

    /// Calls that may change an object before it is used.
    pub(super) fn slots(
        &mut self,
        changing: &[MethodRef],
        class: ClassId,
        ty: &Generic,
        name: &str,
        most: usize,
    ) -> Vec<CallSlot> {
        let types = match ty {
            Generic::Class(_, arguments) => self.types(class, arguments),
            _ => Types::new(),
        };
        let is_known = self.world.classes.get(class).of_jdk;
        let count = match changing.len() {
            0..=2 if is_known => most + most / 2,
            // Few simple calls make few sequences: trees and heaps need more of them.
            0..=2 if changing.iter().all(|method| self.takes_numbers(*method)) => most + most / 2,
            0..=3 => most,
            _ => most - 1,
        };
        let mut slots = Vec::new();
        for slot in 0..count {
            if changing.is_empty() || self.params.len() >= self.limit {
                break;
            }
            let selector = self.param(&format!("{name}{}", slot + 1), Desc::Int);
            let mut made = Vec::new();
            for method in changing {
                let own = self.world.classes.method(*method).name.to_string();
                let names: Vec<String> =
                    self.param_names(*method).iter().map(|param| format!("{own}{}_{param}", slot + 1)).collect();
                // What a call gets is simple: objects inside of objects are for constructors.
                if let Some(call) = self.call(*method, &types, own, &names, DEEPEST) {
                    made.push(call);
                }
            }
            slots.push(CallSlot { selector, calls: made });
        }
        slots
    }

    /// Methods that change objects of a class. Of the JDK's collections, those that everybody calls.
    pub(super) fn changing(&mut self, class: ClassId, most: usize) -> Vec<MethodRef> {
        let all = self.methods(class, |member| !member.is(access::STATIC) && !member.name.starts_with('<'));
        let own = self.world.classes.get(class);
        let is_called = |method: &MethodRef| {
            let member = self.world.classes.method(*method);
            is_usual(&member.name, &member.desc)
        };
        match own.of_jdk && collection(&own.name).is_some() {
            true => all.into_iter().filter(is_called).collect(),
            false => all.into_iter().filter(|method| self.world.changes(*method)).take(most).collect(),
        }
    }

    /// Whether all that a method takes is numbers.
    pub(super) fn takes_numbers(&self, method: MethodRef) -> bool {
        let desc = MethodDesc::parse(&self.world.classes.method(method).desc);
        desc.is_some_and(|desc| !desc.params.iter().any(Desc::is_ref))
    }

    /// The objects that tests look at after the call.
    fn looked_at(&self, receiver: Option<&FixtureValue>, tested: &TestedCall) -> Vec<(usize, ClassId)> {
        // What only some of several calls take is not there after the others.
        let arguments = match tested.calls.as_slice() {
            [one] => &one.arguments[..],
            _ => &[],
        };
        let outer =
            receiver.and_then(outer_of).or_else(|| tested.calls.first().and_then(|call| call.enclosing.as_ref()));
        let made: Vec<usize> = receiver.iter().copied().chain(arguments).chain(outer).filter_map(object_of).collect();
        let is_changed = |(number, class): &&(usize, ClassId)| {
            made.contains(number) && !self.world.never_changes(*class) && !self.world.is_library(*class)
        };
        self.shared.iter().filter(is_changed).copied().collect()
    }

    /// The class of a result that tests look at.
    fn looked_at_result(&mut self, result: &Generic) -> Option<ClassId> {
        let Generic::Class(name, _) = result else { return None };
        let class = self.world.classes.load(name).ok()?;
        (self.is_accessible(class) && !self.world.is_library(class)).then_some(class)
    }
}

/// Whether a method's code asks whether two references are the same.
fn compares_references(member: &Member) -> bool {
    let Some(code) = member.code() else { return false };
    let insns = decode(&code.bytes, code.offset).unwrap_or_default();
    insns.iter().any(|insn| matches!(insn.insn, Insn::IfRefs(..)))
}

/// The name of something inside.
pub(super) fn joined(outer: &str, inner: &str) -> String {
    let first = inner.chars().take(1).flat_map(char::to_uppercase);
    format!("{outer}{}", first.chain(inner.chars().skip(1)).collect::<String>())
}
