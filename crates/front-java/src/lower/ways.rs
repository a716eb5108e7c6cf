//! The ways in which tests make an object of a type: constructors, static methods, constants, arrays, collections, boxes.

use super::STRING;
use super::generics::Types;
use super::known_classes::{collection, is_worth_calling, stands_for, unboxed};
use super::planning::{Asks, Planner, is_given, joined};
use crate::classfile::{Desc, Generic, Member, MethodDesc, access};
use crate::world::{ClassId, FieldRef};
use std::sync::Arc;
use touchstone_fixture_java::{ApiCall, CollectionForm, Completeness, Construction, FixtureValue, ObjectPlan};

/// So many constructors of a class and constants are tried.
const MOST_CONSTRUCTORS: usize = 3;
const MOST_CONSTANTS: usize = 24;
/// What orders the elements of a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// Their own order, if any.
    Own,
    /// A comparator.
    Reversed,
}

/// So many elements arrays have.
const MOST_ELEMENTS: usize = 3;

impl Planner<'_> {
    pub(super) fn ways(
        &mut self,
        ty: &Generic,
        class: ClassId,
        name: &str,
        depth: u32,
    ) -> (Vec<Construction>, Completeness) {
        if let Generic::Array(element) = ty {
            return (self.array(element, class, name, depth), Completeness::Incomplete);
        }
        let Generic::Class(internal, arguments) = ty else { return (Vec::new(), Completeness::Incomplete) };
        if let Some(value) = unboxed(internal) {
            return self.boxed(class, &value, name, depth);
        }
        if self.is_enum(class) {
            let constants = if self.is_accessible(class) { self.constants(class) } else { Vec::new() };
            let all = if constants.is_empty() { Completeness::Incomplete } else { Completeness::Complete };
            return (constants, all);
        }
        if let Some(filled) = self.filled(internal, arguments, name, Order::Own, depth) {
            let mut ways = vec![filled];
            if depth == 1 {
                ways.extend(self.ordered(internal, arguments, name, depth));
                ways.extend(self.asked_collections(class, arguments, name, depth));
                ways.extend(self.below_class(class, ty, name, depth));
            }
            return (ways, Completeness::Incomplete);
        }
        if &**internal == STRING {
            return (self.texts(name), Completeness::Incomplete);
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
            if depth == 1 {
                ways.extend(self.asked_collections(class, &[], name, depth));
            }
            // What an `equals` looks for. Collections look for elements, which they hardly ever are themselves.
            let own = self.shared.first().map(|(_, class)| *class);
            let looks_for_own = |own: &ClassId| self.is_equals || !self.world.classes.get(*own).of_jdk;
            let is_filled = |own: &ClassId| collection(&self.world.classes.get(*own).name).is_some();
            if let Some(own) = own
                .filter(|own| !is_filled(own))
                .filter(|own| depth == 1 && looks_for_own(own) && self.has_constructors(*own))
            {
                let full = self.full(own, &self.defaults(own));
                ways.extend(self.constructed(own, &full, &format!("{name}Same"), 2).into_iter().take(2));
            }
            return (ways, Completeness::Incomplete);
        }
        let constants = self.known_constants(internal);
        if !constants.is_empty() {
            return (constants, Completeness::Incomplete);
        }
        if &**internal == "java/util/Iterator" {
            ways.extend(self.jdk_static("java/util/Collections", "emptyIterator", "()Ljava/util/Iterator;"));
            ways.extend(self.stub(class, ty, name, depth));
            return (ways, Completeness::Incomplete);
        }
        if &**internal == "java/util/Comparator" {
            ways.extend(self.jdk_static("java/util/Comparator", "naturalOrder", "()Ljava/util/Comparator;"));
            ways.extend(self.jdk_static("java/util/Collections", "reverseOrder", "()Ljava/util/Comparator;"));
        }
        let is_open = self.world.is_left_open(class);
        match is_open {
            true if ways.is_empty() || &**internal == "java/util/Comparator" => {
                ways.extend(self.implementations(class, ty, name, depth, None));
            }
            false => {
                ways.extend(self.constructed(class, ty, name, depth + 1));
                if depth == 1 {
                    ways.extend(self.below_class(class, ty, name, depth));
                }
            }
            true => {}
        }
        (ways, Completeness::Incomplete)
    }

    /// Collections that the tested method asks for, and one that it may not: below a type, and others than the first choice for it.
    fn asked_collections(
        &mut self,
        class: ClassId,
        arguments: &[Generic],
        name: &str,
        depth: u32,
    ) -> Vec<Construction> {
        let usual = collection(&self.world.classes.get(class).name).map(|known| known.class);
        let mut made: Vec<&str> = usual.into_iter().collect();
        let mut wanted: Vec<&str> = Vec::new();
        for (asked, _) in &self.mentioned {
            wanted.extend(collection(asked).map(|known| known.class));
        }
        if wanted.is_empty() {
            return Vec::new();
        }
        wanted.extend(["java/util/LinkedList", "java/util/TreeSet", "java/util/HashMap"]);
        let mut ways = Vec::new();
        for other in wanted {
            let fits = self.world.classes.load(&other.into()).is_ok_and(|id| self.world.classes.is_subtype(id, class));
            if !fits || made.contains(&other) || ways.len() >= MOST_CONSTRUCTORS {
                continue;
            }
            made.push(other);
            let short = other.rsplit('/').next().unwrap_or_default();
            ways.extend(self.filled(other, arguments, &format!("{name}{short}"), Order::Own, depth.max(2)));
        }
        let asked: Vec<Arc<str>> = self.mentioned.iter().map(|(asked, _)| asked.clone()).collect();
        for asked in asked {
            let sorted = collection(&asked).and_then(|known| self.world.classes.load(&known.class.into()).ok());
            if sorted.is_some_and(|sorted| self.world.classes.is_subtype(sorted, class)) {
                ways.extend(self.ordered(&asked, arguments, name, depth.max(2)));
            }
        }
        ways
    }

    /// A sorted collection that a comparator orders, where sorted ones are asked for: they have one, or none.
    fn ordered(&mut self, internal: &str, arguments: &[Generic], name: &str, depth: u32) -> Option<Construction> {
        let asks = matches!(
            internal,
            "java/util/SortedSet" | "java/util/SortedMap" | "java/util/NavigableSet" | "java/util/NavigableMap"
        );
        let name = format!("{name}Ordered");
        if !asks || self.variables.contains(&format!("{name}Size")) {
            return None;
        }
        self.filled(internal, arguments, &name, Order::Reversed, depth)
    }

    /// An object of a class below another, where somebody asks whether objects are of just that one.
    fn below_class(&mut self, class: ClassId, ty: &Generic, name: &str, depth: u32) -> Option<Construction> {
        let own = self.world.classes.get(class).clone();
        let asked = self.mentioned.iter().any(|(asked, how)| *asked == own.name && *how == Asks::ForClass);
        let is_open = !own.is(access::FINAL | access::ABSTRACT | access::INTERFACE);
        if asked && is_open { self.stub(class, ty, &format!("{name}Below"), depth) } else { None }
    }

    /// A text as it is, and one that is made of characters.
    pub(super) fn texts(&mut self, name: &str) -> Vec<Construction> {
        let mut ways = vec![Construction::Parameter(self.param(&format!("{name}Text"), Desc::Ref(STRING.into())))];
        let maker = self.world.jdk_method(STRING, "<init>", "([C)V").ok().filter(|_| self.wide_texts);
        if let Some(method) = maker {
            let chars = self.param(&format!("{name}Chars"), Desc::Ref("[C".into()));
            let arguments = vec![FixtureValue::Parameter(chars)];
            ways.push(Construction::New(ApiCall {
                method,
                callee: "new String".to_string(),
                enclosing: None,
                arguments,
            }));
        }
        ways
    }

    pub(super) fn is_enum(&self, class: ClassId) -> bool {
        self.world.classes.get(class).is(access::ENUM)
    }

    pub(super) fn constants(&mut self, class: ClassId) -> Vec<Construction> {
        let title = self.title(class);
        let Some(file) = self.world.classes.get(class).file().cloned() else { return Vec::new() };
        let all = file.fields.iter().enumerate().filter(|(_, field)| field.is(access::ENUM));
        let constants: Vec<Construction> = all
            .map(|(index, field)| Construction::Constant {
                field: FieldRef { class, index: index as u16 },
                text: format!("{title}.{}", field.name),
            })
            .collect();
        if constants.len() > MOST_CONSTANTS { Vec::new() } else { constants }
    }

    /// Constants that callers use instead of making such objects.
    pub(super) fn known_constants(&mut self, class: &str) -> Vec<Construction> {
        let (holder, names): (&str, &[&str]) = match class {
            "java/nio/charset/Charset" => ("java/nio/charset/StandardCharsets", &["UTF_8", "ISO_8859_1", "US_ASCII"]),
            "java/util/Locale" => ("java/util/Locale", &["ROOT", "ENGLISH", "GERMAN"]),
            _ => return Vec::new(),
        };
        let Ok(holder_class) = self.world.jdk(holder) else { return Vec::new() };
        let Some(file) = self.world.classes.get(holder_class).file().cloned() else { return Vec::new() };
        let all = file.fields.iter().enumerate().filter(|(_, field)| names.contains(&&*field.name));
        let way = |(index, field): (usize, &Member)| Construction::Constant {
            field: FieldRef { class: holder_class, index: index as u16 },
            text: format!("{}.{}", holder.replace('/', "."), field.name),
        };
        all.map(way).collect()
    }

    pub(super) fn jdk_static(&mut self, class: &str, name: &str, desc: &str) -> Option<Construction> {
        let method = self.world.jdk_method(class, name, desc).ok()?;
        let text = format!("{}.{name}", class.replace('/', "."));
        Some(Construction::Factory(ApiCall { method, callee: text, enclosing: None, arguments: Vec::new() }))
    }

    pub(super) fn boxed(
        &mut self,
        class: ClassId,
        value: &Desc,
        name: &str,
        depth: u32,
    ) -> (Vec<Construction>, Completeness) {
        let internal = self.world.classes.get(class).name.clone();
        let given = FixtureValue::Parameter(self.param(&format!("{name}Value"), value.clone()));
        let of = self.world.classes.declared(class, "valueOf", &format!("({})L{internal};", value.text()));
        let make = self.world.classes.declared(class, "<init>", &format!("({})V", value.text()));
        let title = self.title(class);
        let mut ways = Vec::new();
        if let Some(method) = of {
            let text = format!("{title}.valueOf");
            ways.push(Construction::Boxed(ApiCall {
                method,
                callee: text,
                enclosing: None,
                arguments: vec![given.clone()],
            }));
        }
        // Two boxes of a small number can be two objects, for who asks for that.
        let cached = !matches!(value, Desc::Float | Desc::Double);
        if let Some(method) = make.filter(|_| depth == 1 && cached && self.asks_identity) {
            ways.push(Construction::New(ApiCall {
                method,
                callee: format!("new {title}"),
                enclosing: None,
                arguments: vec![given],
            }));
            return (ways, Completeness::Complete);
        }
        let all = depth == 1 && (!cached || !self.world.asks_identity());
        (ways, if all { Completeness::Complete } else { Completeness::Incomplete })
    }

    pub(super) fn array(&mut self, element: &Generic, class: ClassId, name: &str, depth: u32) -> Vec<Construction> {
        let size = self.param(&format!("{name}Length"), Desc::Int);
        let mut elements = Vec::new();
        for index in 0..MOST_ELEMENTS {
            elements.extend(self.making(element, &format!("{name}_{}", index + 1), depth + 1));
        }
        let element = Generic::of(&element.erased()).text();
        vec![Construction::Array { class, element, size, elements }]
    }

    pub(super) fn filled(
        &mut self,
        internal: &str,
        arguments: &[Generic],
        name: &str,
        order: Order,
        depth: u32,
    ) -> Option<Construction> {
        let known = collection(internal)?;
        let class = self.world.classes.load(&known.class.into()).ok()?;
        let (create, takes) = match order {
            Order::Own => (self.world.classes.declared(class, "<init>", "()V")?, Vec::new()),
            Order::Reversed => {
                let create = self.world.classes.declared(class, "<init>", "(Ljava/util/Comparator;)V")?;
                (create, vec![self.reversed(name)?])
            }
        };
        let add = self.world.classes.find_method(class, known.add.0, known.add.1)?;
        let create = ApiCall { method: create, callee: self.new_text(class), enclosing: None, arguments: takes };
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
        let form = if order == Order::Own { known.form } else { CollectionForm::CallByCall };
        Some(Construction::Collection { create, add, adder: known.add.0.to_string(), form, size, elements })
    }

    /// A comparator that turns the order of numbers and texts round.
    fn reversed(&mut self, name: &str) -> Option<FixtureValue> {
        let way = self.jdk_static("java/util/Collections", "reverseOrder", "()Ljava/util/Comparator;")?;
        let (number, selector) = (self.count, self.param(&format!("{name}By"), Desc::Int));
        self.count += 1;
        let (name, ty) = (self.params[selector].0.clone(), "java.util.Comparator".to_string());
        let (constructions, completeness) = (vec![way], Completeness::Incomplete);
        Some(FixtureValue::Object(Box::new(ObjectPlan {
            number,
            name,
            ty,
            selector,
            constructions,
            completeness,
            fill_loops: None,
            slots: Vec::new(),
        })))
    }

    /// Constructors of a class; without any, its static methods and constants.
    pub(super) fn constructed(&mut self, class: ClassId, ty: &Generic, name: &str, depth: u32) -> Vec<Construction> {
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
        // One for all constructors: what comes later may be it, too.
        let outer = match self.outer_class(class) {
            Some(outer) => match self.outer_object(outer, depth) {
                Some(made) => Some(made),
                None => return Vec::new(),
            },
            None => None,
        };
        constructors
            .retain(|method| !own.of_jdk || is_worth_calling(&own.name, &self.world.classes.method(*method).desc));
        for method in constructors.into_iter().take(MOST_CONSTRUCTORS) {
            let names: Vec<String> = self.param_names(method).iter().map(|param| joined(name, param)).collect();
            let text = self.new_text(class);
            let call = self.call(method, &types, text, &names, depth);
            ways.extend(call.map(|call| Construction::New(ApiCall { enclosing: outer.clone(), ..call })));
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
            ways.extend(self.call(method, &types, text, &names, depth).map(Construction::Factory));
        }
        ways.extend(self.own_constants(class));
        ways
    }

    /// Static fields that hold objects of their own class.
    pub(super) fn own_constants(&mut self, class: ClassId) -> Vec<Construction> {
        let (title, own) = (self.title(class), self.world.classes.get(class).clone());
        let Some(file) = own.file() else { return Vec::new() };
        let desc = format!("L{};", own.name);
        let near = own.name.rsplit_once('/').map_or("", |(package, _)| package) == self.package && !own.of_jdk;
        let all = file.fields.iter().enumerate().filter(|(_, field)| {
            let visible = field.is(access::PUBLIC) || (near && !field.is(access::PRIVATE));
            visible && field.is(access::STATIC) && field.is(access::FINAL) && *field.desc == *desc
        });
        let way = |(index, field): (usize, &Member)| Construction::Constant {
            field: FieldRef { class, index: index as u16 },
            text: format!("{title}.{}", field.name),
        };
        all.take(MOST_CONSTRUCTORS).map(way).collect()
    }
}
