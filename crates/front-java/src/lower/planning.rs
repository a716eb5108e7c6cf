//! Plans how tests make the arguments of a method and the object that it is called on: as a caller would, by constructors,
//! static methods, constants and calls, a few levels deep.
//!
//! What is left out (more calls, longer collections, other classes) is a way that stops by name, so no verdict says that there
//! is none. Deliberately not here: heaps that no caller can build.

use super::known_classes::{collection, is_worth_calling, stands_for, unboxed};
use super::making::{All, Answers, Call, Look, Making, Object, Observed, Scenario, Slot, Way, Whose};
use super::observing::object_of;
use super::world::World;
use super::{MADE, STRING};
use crate::classfile::{Desc, Generic, Insn, Member, MethodDesc, Signature, access, decode};
use crate::world::{ClassId, FieldRef, MethodRef, Shape, StubMethod};
use std::collections::BTreeMap;
use std::sync::Arc;

/// So many constructors of a class, classes of a type, calls and constants are tried.
const MOST_CONSTRUCTORS: usize = 3;
const MOST_CLASSES: usize = 3;
const MOST_CALLS: usize = 6;
const MOST_CONSTANTS: usize = 24;
/// So many elements arrays have.
const MOST_ELEMENTS: usize = 3;
/// So many methods a stub answers.
const MOST_ANSWERED: usize = 6;
/// Objects in objects in objects.
const DEEPEST: u32 = 3;
/// From so many parameters of one argument on, objects have no others inside.
const MOST_PARAMETERS: usize = 40;

/// What tests of a method call.
#[derive(Clone, Debug)]
pub(crate) enum Planned {
    /// The method itself.
    Directly,
    /// A function that makes objects for it.
    Made(Arc<Scenario>),
    /// Nothing: tests can't make what it needs.
    Not(String),
}

/// Types for type parameters.
type Types = BTreeMap<Arc<str>, Generic>;

/// Whether a value is a parameter as it is.
fn is_given(desc: &Desc) -> bool {
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
        let member = self.classes.method(method);
        let (is_static, name) = (member.is(access::STATIC), member.name.clone());
        let Some(desc) = MethodDesc::parse(&member.desc) else {
            return Planned::Not("its descriptor is none".to_string());
        };
        let is_plain = desc.result == Desc::Void || is_given(&desc.result);
        let is_text = |param: &Desc| matches!(param, Desc::Ref(name) if &**name == STRING);
        let wide_texts = self.asks_for_wide_texts(method);
        let is_wide = wide_texts && desc.params.iter().any(is_text);
        if is_static && is_plain && !is_wide && desc.params.iter().all(is_given) {
            return Planned::Directly;
        }
        let class = self.classes.get(method.class).name.clone();
        let package = class.rsplit_once('/').map_or("", |(package, _)| package).to_string();
        let asks_identity = compares_references(self.classes.method(method));
        let mut planner = Planner {
            world: self,
            package,
            params: Vec::new(),
            count: 0,
            shared: Vec::new(),
            variables: Vec::new(),
            asks_identity,
            wide_texts,
            limit: MOST_PARAMETERS,
        };
        let types = planner.defaults(method.class);
        let receiver = match is_static || &*name == "<init>" {
            true => None,
            false => match planner.receiver(method, &types) {
                Some(receiver) => Some(receiver),
                None => return Planned::Not("it needs an object, and tests can't make any".to_string()),
            },
        };
        if &*name == "<init>" && !planner.has_constructors(method.class) {
            return Planned::Not("it makes objects of a class that has none, or that is inside of another".to_string());
        }
        let text = match &*name {
            "<init>" => planner.new_text(method.class),
            name if is_static => format!("{}.{name}", planner.title(method.class)),
            name => name.to_string(),
        };
        let names = planner.param_names(method);
        let tested = planner.call(method, &types, text, &names, 1);
        let Some(tested) = tested else {
            let missing = desc.params.iter().find_map(|param| self.missing_class(param));
            return Planned::Not(match missing {
                Some(class) => format!("no class {class}, which it takes, is there: --class-path names jars"),
                None => "it has a parameter that tests don't make yet".to_string(),
            });
        };
        let result = match &*name {
            "<init>" => planner.full(method.class, &types),
            _ => planner.method_types(method, &types).pop().unwrap_or(Generic::Value(Desc::Void)),
        };
        let observed = planner.observed(method, receiver.as_ref(), &tested, &result);
        let (params, objects, result) = (planner.params, planner.count, result.text());
        Planned::Made(Arc::new(Scenario { receiver, tested, observed, result, params, objects }))
    }
}

impl World {
    /// The class of a type, if it is not there.
    fn missing_class(&mut self, desc: &Desc) -> Option<String> {
        match (desc, self.classes.of_desc(desc)) {
            (Desc::Ref(name), Err(_)) => Some(name.replace('/', ".")),
            _ => None,
        }
    }

    /// Whether code of the program asks anywhere whether two references are the same.
    fn asks_identity(&mut self) -> bool {
        if let Some(known) = self.asks_identity {
            return known;
        }
        let methods = |id: &ClassId| self.classes.get(*id).file().map_or(&[][..], |file| &file.methods);
        let asks = self.program.iter().flat_map(methods).any(compares_references);
        self.asks_identity = Some(asks);
        asks
    }
}

struct Planner<'w> {
    world: &'w mut World,
    /// Where tests stand.
    package: String,
    params: Vec<(String, Desc)>,
    count: usize,
    /// Objects that later ones may be.
    shared: Vec<(usize, ClassId)>,
    variables: Vec<String>,
    /// Whether the tested method itself asks whether two references are the same.
    asks_identity: bool,
    /// Whether texts have other characters than the first 256.
    wide_texts: bool,
    /// From so many parameters on, objects have no others inside.
    limit: usize,
}

impl Planner<'_> {
    // Names.

    fn title(&self, class: ClassId) -> String {
        self.world.classes.get(class).title().replace('$', ".")
    }

    fn new_text(&self, class: ClassId) -> String {
        let formals = self.signature(class).is_some_and(|signature| !signature.formals.is_empty());
        format!("new {}{}", self.title(class), if formals { "<>" } else { "" })
    }

    fn param_names(&self, method: MethodRef) -> Vec<String> {
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

    fn param(&mut self, name: &str, desc: Desc) -> usize {
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

    // Types.

    fn signature(&self, class: ClassId) -> Option<Signature> {
        let file = self.world.classes.get(class).file()?;
        Signature::parse(file.signature()?)
    }

    /// A type that fits a bound, for a type parameter that nobody names.
    fn fitting(bound: &Generic) -> Generic {
        match bound {
            Generic::Class(name, _) => match &**name {
                "java/lang/Object" | "java/lang/Comparable" | "java/lang/Number" | "java/io/Serializable" => {
                    Generic::class("java/lang/Integer")
                }
                "java/lang/CharSequence" => Generic::class(STRING),
                name => Generic::class(name),
            },
            _ => Generic::class("java/lang/Object"),
        }
    }

    fn defaults(&self, class: ClassId) -> Types {
        self.types(class, &[])
    }

    /// Types for the parameters of a class.
    fn types(&self, class: ClassId, arguments: &[Generic]) -> Types {
        let formals = self.signature(class).map_or(Vec::new(), |signature| signature.formals);
        let mut types = Types::new();
        for (index, formal) in formals.into_iter().enumerate() {
            let given = arguments.get(index).filter(|_| !matches!(arguments[index], Generic::Variable(_)));
            types.insert(formal.name, given.cloned().unwrap_or_else(|| Planner::fitting(&formal.bound)));
        }
        types
    }

    /// A class with the types of its parameters.
    fn full(&self, class: ClassId, types: &Types) -> Generic {
        let formals = self.signature(class).map_or(Vec::new(), |signature| signature.formals);
        let arguments = formals.iter().filter_map(|formal| types.get(&formal.name).cloned()).collect();
        Generic::Class(self.world.classes.get(class).name.clone(), arguments)
    }

    /// A type as tests write it: arguments that the source leaves out are those that tests have.
    fn written(&self, ty: &Generic, class: ClassId) -> String {
        match ty {
            Generic::Class(_, arguments) if arguments.is_empty() => self.full(class, &self.defaults(class)).text(),
            _ => ty.text(),
        }
    }

    /// Types of a method's parameters, and of its result behind them.
    fn method_types(&self, method: MethodRef, types: &Types) -> Vec<Generic> {
        let member = self.world.classes.method(method);
        let Some(desc) = MethodDesc::parse(&member.desc) else { return Vec::new() };
        let erased: Vec<Desc> = desc.params.iter().chain([&desc.result]).cloned().collect();
        let signature = member.signature().and_then(|text| Signature::parse(text));
        match signature.filter(|signature| signature.types.len() == erased.len()) {
            Some(signature) => {
                let mut types = types.clone();
                for formal in &signature.formals {
                    types.entry(formal.name.clone()).or_insert_with(|| Planner::fitting(&formal.bound));
                }
                signature.types.iter().map(|generic| generic.with(&types)).collect()
            }
            None => erased.iter().map(Generic::of).collect(),
        }
    }

    // Who may be called.

    fn is_accessible(&self, class: ClassId) -> bool {
        let class = self.world.classes.get(class);
        let Some(file) = class.file() else { return false };
        if class.of_jdk {
            return file.is(access::PUBLIC) && class.name.starts_with("java/") && !class.name.contains('$');
        }
        let package = class.name.rsplit_once('/').map_or("", |(package, _)| package);
        let near = package == self.package;
        let visible = |flags: u16| flags & access::PRIVATE == 0 && (near || flags & access::PUBLIC != 0);
        match file.inner() {
            Some(inner) => {
                let is_static = inner.access & (access::STATIC | access::INTERFACE | access::ENUM) != 0;
                is_static && inner.outer.is_some() && inner.name.is_some() && visible(inner.access)
            }
            None => visible(file.access),
        }
    }

    fn may_call(&self, method: MethodRef) -> bool {
        let member = self.world.classes.method(method);
        let class = self.world.classes.get(method.class);
        let package = class.name.rsplit_once('/').map_or("", |(package, _)| package);
        let near = package == self.package && !class.of_jdk;
        !member.is(MADE | access::PRIVATE) && (near || member.is(access::PUBLIC))
    }

    fn methods(&self, class: ClassId, wanted: impl Fn(&Member) -> bool) -> Vec<MethodRef> {
        let Some(file) = self.world.classes.get(class).file() else { return Vec::new() };
        let all = file.methods.iter().enumerate().filter(|(_, member)| wanted(member));
        let all = all.map(|(index, _)| MethodRef { class, index: index as u16 });
        all.filter(|method| self.may_call(*method)).collect()
    }

    fn has_constructors(&self, class: ClassId) -> bool {
        let found = self.world.classes.get(class);
        self.is_accessible(class) && !found.is(access::ABSTRACT | access::INTERFACE | access::ENUM)
    }

    // Values.

    fn call(&mut self, method: MethodRef, types: &Types, text: String, names: &[String], depth: u32) -> Option<Call> {
        let mut generics = self.method_types(method, types);
        generics.pop();
        let mut arguments = Vec::new();
        for (index, generic) in generics.iter().enumerate() {
            let name = names.get(index).cloned().unwrap_or_else(|| format!("arg{}", index + 1));
            if depth == 1 {
                self.limit = self.params.len() + MOST_PARAMETERS;
            }
            arguments.push(self.making(generic, &name, depth)?);
        }
        Some(Call { method, text, arguments })
    }

    fn making(&mut self, ty: &Generic, name: &str, depth: u32) -> Option<Making> {
        let desc = ty.erased();
        let is_wide = self.wide_texts && depth <= 2 && matches!(&desc, Desc::Ref(name) if &**name == STRING);
        if is_given(&desc) && !is_wide {
            return Some(Making::Given(self.param(name, desc)));
        }
        self.object(ty, name, depth)
    }

    fn object(&mut self, ty: &Generic, name: &str, depth: u32) -> Option<Making> {
        let class = self.world.classes.of_desc(&ty.erased()).ok()?;
        let (number, selector) = (self.count, self.param(name, Desc::Int));
        self.count += 1;
        let mut ways = vec![Way::Null];
        for (other, known) in &self.shared {
            if depth == 1 && self.world.classes.is_subtype(*known, class) {
                ways.push(Way::Same(*other));
            }
        }
        let name = self.params[selector].0.clone();
        let made = match depth <= DEEPEST && self.params.len() < self.limit {
            true => self.ways(ty, class, &name, depth),
            false => (Vec::new(), All::NotKnown),
        };
        let can_change = made.0.iter().any(|way| matches!(way, Way::New(_) | Way::Static(_)));
        ways.extend(made.0);
        if depth == 1 {
            self.shared.push((number, class));
        }
        let slots = match depth == 1 && can_change && !self.world.classes.get(class).of_jdk {
            true => self.slots(class, ty, &name, 2, 4),
            false => Vec::new(),
        };
        let ty = self.written(ty, class);
        Some(Making::Object(Box::new(Object { number, name, ty, selector, ways, all: made.1, slots })))
    }

    /// The object that a method is called on.
    fn receiver(&mut self, method: MethodRef, types: &Types) -> Option<Making> {
        let class = method.class;
        let full = self.full(class, types);
        let title = self.title(class);
        let short = title.rsplit('.').next().unwrap_or(&title);
        let mut name: String =
            short.chars().take(1).flat_map(char::to_lowercase).chain(short.chars().skip(1)).collect();
        if name == short {
            name = "object".to_string();
        }
        let (number, selector) = (self.count, self.param(&name, Desc::Int));
        self.count += 1;
        if !self.is_accessible(class) {
            return None;
        }
        let found = self.world.classes.get(class);
        let (ways, all) = match found.is(access::ENUM) {
            true => (self.constants(class), All::Known),
            false if found.is(access::ABSTRACT | access::INTERFACE) => {
                (self.implementations(class, &full, &name, 1, Some(method)), All::NotKnown)
            }
            false => (self.constructed(class, &full, &name, 2), All::NotKnown),
        };
        if ways.is_empty() {
            return None;
        }
        self.shared.push((number, class));
        self.limit = self.params.len() + MOST_PARAMETERS;
        let slots = match self.world.classes.get(class).is(access::ENUM) {
            true => Vec::new(),
            false => self.slots(class, &full, "call", 4, MOST_CALLS),
        };
        let ty = full.text();
        Some(Making::Object(Box::new(Object { number, name, ty, selector, ways, all, slots })))
    }

    /// Calls that may change an object before it is used.
    fn slots(&mut self, class: ClassId, ty: &Generic, name: &str, most: usize, calls: usize) -> Vec<Slot> {
        let types = match ty {
            Generic::Class(_, arguments) => self.types(class, arguments),
            _ => Types::new(),
        };
        let all = self.methods(class, |member| !member.is(access::STATIC) && !member.name.starts_with('<'));
        let changing: Vec<MethodRef> =
            all.into_iter().filter(|method| self.world.changes(*method)).take(calls).collect();
        let count = match changing.len() {
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
            for method in &changing {
                let own = self.world.classes.method(*method).name.to_string();
                let names: Vec<String> =
                    self.param_names(*method).iter().map(|param| format!("{own}{}_{param}", slot + 1)).collect();
                // What a call gets is simple: objects inside of objects are for constructors.
                if let Some(call) = self.call(*method, &types, own, &names, DEEPEST) {
                    made.push(call);
                }
            }
            slots.push(Slot { selector, calls: made });
        }
        slots
    }

    /// Whether all that a method takes is numbers.
    fn takes_numbers(&self, method: MethodRef) -> bool {
        let desc = MethodDesc::parse(&self.world.classes.method(method).desc);
        desc.is_some_and(|desc| !desc.params.iter().any(Desc::is_ref))
    }

    /// What is looked at after the call.
    fn observed(
        &mut self,
        method: MethodRef,
        receiver: Option<&Making>,
        tested: &Call,
        result: &Generic,
    ) -> Vec<Observed> {
        let made: Vec<usize> = receiver.iter().copied().chain(&tested.arguments).filter_map(object_of).collect();
        let made: Vec<(usize, ClassId)> =
            self.shared.iter().filter(|(number, _)| made.contains(number)).copied().collect();
        let package = self.package.clone();
        let mut looks = Vec::new();
        let changing: Vec<(usize, ClassId)> =
            made.iter().filter(|(_, class)| !self.world.never_changes(*class)).copied().collect();
        for (number, class) in &changing {
            let all = self.world.looks(*class, &package, method);
            looks.extend(all.into_iter().map(|(look, desc)| (Whose::Object(*number), *class, look, desc)));
        }
        if let Generic::Class(name, _) = result
            && let Ok(class) = self.world.classes.load(name)
            && (self.is_accessible(class) || self.world.classes.get(class).of_jdk)
        {
            let mut all = self.world.result_looks(class, &made);
            all.extend(self.world.looks(class, &package, method));
            looks.extend(all.into_iter().map(|(look, desc)| (Whose::Result, class, look, desc)));
        }
        let entry = self.world.shown_name(method);
        let named = |(index, (of, class, look, desc)): (usize, (Whose, ClassId, Look, Desc))| {
            let what = match &look {
                Look::Getter(name, _) | Look::Field(name, _) => name.clone(),
                Look::Same(_) => "object".to_string(),
                Look::Boxed(_) | Look::Constant(_) => "value".to_string(),
            };
            let whose = match of {
                Whose::Object(number) => format!("object {number}"),
                Whose::Result => "result".to_string(),
            };
            Observed { global: format!("{entry}: {whose}: {what} {index}"), of, look, class, desc }
        };
        looks.into_iter().enumerate().map(named).collect()
    }

    // Ways.

    fn ways(&mut self, ty: &Generic, class: ClassId, name: &str, depth: u32) -> (Vec<Way>, All) {
        if let Generic::Array(element) = ty {
            return (self.array(element, class, name, depth), All::NotKnown);
        }
        let Generic::Class(internal, arguments) = ty else { return (Vec::new(), All::NotKnown) };
        if let Some(value) = unboxed(internal) {
            return self.boxed(class, &value, name, depth);
        }
        if self.is_enum(class) {
            let constants = if self.is_accessible(class) { self.constants(class) } else { Vec::new() };
            let all = if constants.is_empty() { All::NotKnown } else { All::Known };
            return (constants, all);
        }
        if let Some(filled) = self.filled(internal, arguments, name, depth) {
            return (vec![filled], All::NotKnown);
        }
        if &**internal == STRING {
            return (self.texts(name), All::NotKnown);
        }
        let mut ways = Vec::new();
        for stand_in in stands_for(internal) {
            if *stand_in == STRING {
                ways.extend(self.texts(name));
            } else if let Ok(other) = self.world.classes.load(&(*stand_in).into()) {
                let other_ty = Generic::class(stand_in);
                let short = stand_in.rsplit('/').next().unwrap_or_default();
                ways.extend(self.ways(&other_ty, other, &format!("{name}{short}"), depth.max(2)).0);
            }
        }
        if &**internal == "java/lang/Object" {
            // What an `equals` looks for.
            let own = self.shared.first().map(|(_, class)| *class);
            if let Some(own) = own.filter(|own| depth == 1 && self.has_constructors(*own)) {
                let full = self.full(own, &self.defaults(own));
                ways.extend(self.constructed(own, &full, &format!("{name}Same"), 2).into_iter().take(2));
            }
            return (ways, All::NotKnown);
        }
        let constants = self.known_constants(internal);
        if !constants.is_empty() {
            return (constants, All::NotKnown);
        }
        if &**internal == "java/util/Iterator" {
            ways.extend(self.jdk_static("java/util/Collections", "emptyIterator", "()Ljava/util/Iterator;"));
            ways.extend(self.stub(class, ty, name, depth));
            return (ways, All::NotKnown);
        }
        if &**internal == "java/util/Comparator" {
            ways.extend(self.jdk_static("java/util/Comparator", "naturalOrder", "()Ljava/util/Comparator;"));
            ways.extend(self.jdk_static("java/util/Collections", "reverseOrder", "()Ljava/util/Comparator;"));
        }
        let found = self.world.classes.get(class);
        let is_open = found.is(access::ABSTRACT | access::INTERFACE);
        match is_open {
            true if ways.is_empty() || &**internal == "java/util/Comparator" => {
                ways.extend(self.implementations(class, ty, name, depth, None));
            }
            false => ways.extend(self.constructed(class, ty, name, depth + 1)),
            true => {}
        }
        (ways, All::NotKnown)
    }

    /// A text as it is, and one that is made of characters.
    fn texts(&mut self, name: &str) -> Vec<Way> {
        let mut ways = vec![Way::Given(self.param(&format!("{name}Text"), Desc::Ref(STRING.into())))];
        let maker = self.world.jdk_method(STRING, "<init>", "([C)V").ok().filter(|_| self.wide_texts);
        if let Some(method) = maker {
            let chars = self.param(&format!("{name}Chars"), Desc::Ref("[C".into()));
            let arguments = vec![Making::Given(chars)];
            ways.push(Way::New(Call { method, text: "new String".to_string(), arguments }));
        }
        ways
    }

    fn is_enum(&self, class: ClassId) -> bool {
        self.world.classes.get(class).is(access::ENUM)
    }

    fn constants(&mut self, class: ClassId) -> Vec<Way> {
        let title = self.title(class);
        let Some(file) = self.world.classes.get(class).file().cloned() else { return Vec::new() };
        let all = file.fields.iter().enumerate().filter(|(_, field)| field.is(access::ENUM));
        let constants: Vec<Way> = all
            .map(|(index, field)| Way::Constant {
                field: FieldRef { class, index: index as u16 },
                text: format!("{title}.{}", field.name),
            })
            .collect();
        if constants.len() > MOST_CONSTANTS { Vec::new() } else { constants }
    }

    /// Constants that callers use instead of making such objects.
    fn known_constants(&mut self, class: &str) -> Vec<Way> {
        let (holder, names): (&str, &[&str]) = match class {
            "java/nio/charset/Charset" => ("java/nio/charset/StandardCharsets", &["UTF_8", "ISO_8859_1", "US_ASCII"]),
            "java/util/Locale" => ("java/util/Locale", &["ROOT", "ENGLISH", "GERMAN"]),
            _ => return Vec::new(),
        };
        let Ok(holder_class) = self.world.jdk(holder) else { return Vec::new() };
        let Some(file) = self.world.classes.get(holder_class).file().cloned() else { return Vec::new() };
        let all = file.fields.iter().enumerate().filter(|(_, field)| names.contains(&&*field.name));
        let way = |(index, field): (usize, &Member)| Way::Constant {
            field: FieldRef { class: holder_class, index: index as u16 },
            text: format!("{}.{}", holder.replace('/', "."), field.name),
        };
        all.map(way).collect()
    }

    fn jdk_static(&mut self, class: &str, name: &str, desc: &str) -> Option<Way> {
        let method = self.world.jdk_method(class, name, desc).ok()?;
        let text = format!("{}.{name}", class.replace('/', "."));
        Some(Way::Static(Call { method, text, arguments: Vec::new() }))
    }

    fn boxed(&mut self, class: ClassId, value: &Desc, name: &str, depth: u32) -> (Vec<Way>, All) {
        let internal = self.world.classes.get(class).name.clone();
        let given = Making::Given(self.param(&format!("{name}Value"), value.clone()));
        let of = self.world.classes.declared(class, "valueOf", &format!("({})L{internal};", value.text()));
        let make = self.world.classes.declared(class, "<init>", &format!("({})V", value.text()));
        let title = self.title(class);
        let mut ways = Vec::new();
        if let Some(method) = of {
            ways.push(Way::Boxed(Call { method, text: format!("{title}.valueOf"), arguments: vec![given.clone()] }));
        }
        // Two boxes of a small number can be two objects, for who asks for that.
        let cached = !matches!(value, Desc::Float | Desc::Double);
        if let Some(method) = make.filter(|_| depth == 1 && cached && self.asks_identity) {
            ways.push(Way::New(Call { method, text: format!("new {title}"), arguments: vec![given] }));
            return (ways, All::Known);
        }
        let all = depth == 1 && (!cached || !self.world.asks_identity());
        (ways, if all { All::Known } else { All::NotKnown })
    }

    fn array(&mut self, element: &Generic, class: ClassId, name: &str, depth: u32) -> Vec<Way> {
        let size = self.param(&format!("{name}Length"), Desc::Int);
        let mut elements = Vec::new();
        for index in 0..MOST_ELEMENTS {
            elements.extend(self.making(element, &format!("{name}_{}", index + 1), depth + 1));
        }
        let element = Generic::of(&element.erased()).text();
        vec![Way::Array { class, element, size, elements }]
    }

    fn filled(&mut self, internal: &str, arguments: &[Generic], name: &str, depth: u32) -> Option<Way> {
        let known = collection(internal)?;
        let class = self.world.classes.load(&known.class.into()).ok()?;
        let create = self.world.classes.declared(class, "<init>", "()V")?;
        let add = self.world.classes.find_method(class, known.add.0, known.add.1)?;
        let create = Call { method: create, text: self.new_text(class), arguments: Vec::new() };
        let size = self.param(&format!("{name}Size"), Desc::Int);
        let parts = if known.pairs { 2 } else { 1 };
        let object = Generic::class("java/lang/Object");
        let mut elements = Vec::new();
        for index in 0..known.most {
            let mut call = Vec::new();
            for part in 0..parts {
                let word = if known.pairs { ["Key", "Value"][part] } else { "_" };
                // Without an argument it holds anything: numbers are what most take.
                let generic = arguments.get(part).unwrap_or(&object);
                let generic = if *generic == object { Generic::class("java/lang/Integer") } else { generic.clone() };
                call.push(self.making(&generic, &format!("{name}{word}{}", index + 1), depth + 1)?);
            }
            elements.push(call);
        }
        let (adder, form) = (known.add.0.to_string(), known.form);
        Some(Way::Filled { create, add, adder, form, size, elements })
    }

    /// Constructors of a class; without any, its static methods and constants.
    fn constructed(&mut self, class: ClassId, ty: &Generic, name: &str, depth: u32) -> Vec<Way> {
        if !self.has_constructors(class) {
            return Vec::new();
        }
        let types = match ty {
            Generic::Class(_, arguments) => self.types(class, arguments),
            _ => Types::new(),
        };
        let mut ways = Vec::new();
        let mut constructors = self.methods(class, |member| &*member.name == "<init>");
        // Simple ones first.
        constructors.sort_by_key(|method| {
            let desc = MethodDesc::parse(&self.world.classes.method(*method).desc);
            desc.map_or(0, |desc| desc.params.iter().filter(|param| !is_given(param)).count())
        });
        let own = self.world.classes.get(class).clone();
        constructors
            .retain(|method| !own.of_jdk || is_worth_calling(&own.name, &self.world.classes.method(*method).desc));
        for method in constructors.into_iter().take(MOST_CONSTRUCTORS) {
            let names: Vec<String> = self.param_names(method).iter().map(|param| joined(name, param)).collect();
            let text = self.new_text(class);
            ways.extend(self.call(method, &types, text, &names, depth).map(Way::New));
        }
        if !ways.is_empty() {
            return ways;
        }
        let internal = self.world.classes.get(class).name.clone();
        let result = format!(")L{internal};");
        let makers = self.methods(class, |member| member.is(access::STATIC) && member.desc.ends_with(&result));
        for method in makers.into_iter().take(MOST_CONSTRUCTORS) {
            let names: Vec<String> = self.param_names(method).iter().map(|param| joined(name, param)).collect();
            let text = format!("{}.{}", self.title(class), self.world.classes.method(method).name);
            let types = self.types_of_maker(method, ty);
            ways.extend(self.call(method, &types, text, &names, depth).map(Way::Static));
        }
        ways.extend(self.own_constants(class));
        ways
    }

    /// Types for the type parameters of a static method whose result is to be of a type.
    fn types_of_maker(&self, method: MethodRef, wanted: &Generic) -> Types {
        let signature = self.world.classes.method(method).signature().and_then(|text| Signature::parse(text));
        let result = signature.and_then(|mut signature| signature.types.pop());
        let (Some(Generic::Class(_, made)), Generic::Class(_, wanted)) = (result, wanted) else { return Types::new() };
        let named = made.into_iter().zip(wanted).filter_map(|(made, wanted)| match made {
            Generic::Variable(name) => Some((name, wanted.clone())),
            _ => None,
        });
        named.collect()
    }

    /// Static fields that hold objects of their own class.
    fn own_constants(&mut self, class: ClassId) -> Vec<Way> {
        let (title, own) = (self.title(class), self.world.classes.get(class).clone());
        let Some(file) = own.file() else { return Vec::new() };
        let desc = format!("L{};", own.name);
        let near = own.name.rsplit_once('/').map_or("", |(package, _)| package) == self.package && !own.of_jdk;
        let all = file.fields.iter().enumerate().filter(|(_, field)| {
            let visible = field.is(access::PUBLIC) || (near && !field.is(access::PRIVATE));
            visible && field.is(access::STATIC) && field.is(access::FINAL) && *field.desc == *desc
        });
        let way = |(index, field): (usize, &Member)| Way::Constant {
            field: FieldRef { class, index: index as u16 },
            text: format!("{title}.{}", field.name),
        };
        all.take(MOST_CONSTRUCTORS).map(way).collect()
    }

    /// Objects of classes that are below a type; without any, of one that the test itself has.
    fn implementations(
        &mut self,
        class: ClassId,
        ty: &Generic,
        name: &str,
        depth: u32,
        tested: Option<MethodRef>,
    ) -> Vec<Way> {
        let below: Vec<ClassId> = self
            .world
            .program
            .iter()
            .copied()
            .filter(|other| self.world.classes.is_subtype(*other, class) && *other != class)
            .filter(|other| self.has_constructors(*other) || (self.is_enum(*other) && self.is_accessible(*other)))
            .filter(|other| tested.is_none_or(|method| self.inherits(*other, method)))
            .take(MOST_CLASSES)
            .collect();
        let mut ways = Vec::new();
        for (number, other) in below.into_iter().enumerate() {
            let full = self.full(other, &self.defaults(other));
            match self.is_enum(other) {
                true => ways.extend(self.constants(other)),
                false => ways.extend(self.constructed(other, &full, &format!("{name}{}", number + 1), depth + 1)),
            }
        }
        if ways.is_empty() {
            ways.extend(self.stub(class, ty, name, depth));
        }
        ways
    }

    /// Whether objects of a class have just this method.
    fn inherits(&self, class: ClassId, method: MethodRef) -> bool {
        let member = self.world.classes.method(method);
        self.world.classes.find_method(class, &member.name, &member.desc) == Some(method)
    }

    fn stub(&mut self, class: ClassId, ty: &Generic, name: &str, depth: u32) -> Option<Way> {
        let found = self.world.classes.get(class);
        let is_interface = found.is(access::INTERFACE);
        let visible = self.is_accessible(class) || (found.of_jdk && found.name.starts_with("java/") && is_interface);
        if !visible || matches!(found.shape, Shape::Array { .. }) {
            return None;
        }
        let types = match ty {
            Generic::Class(_, arguments) => self.types(class, arguments),
            _ => Types::new(),
        };
        let open = self.open_methods(class);
        if open.len() > MOST_ANSWERED || !open.iter().all(|method| self.may_call(*method)) {
            return None;
        }
        let create = match is_interface {
            true => None,
            false => {
                let constructors = self.methods(class, |member| &*member.name == "<init>");
                let method = constructors.into_iter().next()?;
                let names: Vec<String> = self.param_names(method).iter().map(|param| joined(name, param)).collect();
                Some(self.call(method, &types, self.new_text(class), &names, depth + 1)?)
            }
        };
        let lambda = is_interface && open.len() == 1;
        // One that never ends is no use.
        let is_iterator = &*self.world.classes.get(class).name == "java/util/Iterator";
        let (mut methods, mut made) = (Vec::new(), Vec::new());
        for method in open {
            let own = self.world.classes.method(method);
            let (own_name, desc) = (own.name.clone(), MethodDesc::parse(&own.desc)?);
            let is_generic = own.signature().is_some_and(|signature| signature.starts_with('<'));
            if is_generic {
                return None;
            }
            let mut generics = self.method_types(method, &types);
            let result = generics.pop()?;
            let count = match &result {
                Generic::Value(Desc::Void) => 0,
                Generic::Value(_) if lambda || is_iterator => 2,
                _ => 1,
            };
            let mut answers = Vec::new();
            for number in 0..count {
                answers.push(self.making(&result, &format!("{name}_{own_name}{}", number + 1), depth + 1)?);
            }
            let params = generics.iter().map(Generic::text).collect();
            methods.push(Answers { name: own_name.to_string(), params, result: result.text(), answers });
            made.push(StubMethod { name: own_name, desc, answers: count });
        }
        let class = self.world.classes.add_stub(class, made).ok()?;
        Some(Way::Stub { class, create, methods, lambda })
    }

    /// Methods that a class leaves to others.
    fn open_methods(&self, class: ClassId) -> Vec<MethodRef> {
        let mut open: Vec<MethodRef> = Vec::new();
        for above in &self.world.classes.get(class).supertypes {
            let Some(file) = self.world.classes.get(*above).file() else { continue };
            for member in file.methods.iter().filter(|member| member.is(access::ABSTRACT)) {
                let found = self.world.classes.find_method(class, &member.name, &member.desc);
                let Some(found) = found.filter(|found| self.world.classes.method(*found).is(access::ABSTRACT)) else {
                    continue;
                };
                // Every object has these.
                let of_object = matches!(
                    (&*member.name, &*member.desc),
                    ("equals", "(Ljava/lang/Object;)Z") | ("hashCode", "()I") | ("toString", "()Ljava/lang/String;")
                );
                if !of_object && !open.contains(&found) {
                    open.push(found);
                }
            }
        }
        open
    }
}

/// Whether a method's code asks whether two references are the same.
fn compares_references(member: &Member) -> bool {
    let Some(code) = member.code() else { return false };
    let insns = decode(&code.bytes, code.offset).unwrap_or_default();
    insns.iter().any(|insn| matches!(insn.insn, Insn::IfRefs(..)))
}

/// The name of something inside.
fn joined(outer: &str, inner: &str) -> String {
    let first = inner.chars().take(1).flat_map(char::to_uppercase);
    format!("{outer}{}", first.chain(inner.chars().skip(1)).collect::<String>())
}
