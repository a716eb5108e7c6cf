//! Objects of types that leave something open: of classes that fill it in, and without any, of one that the test itself has.

use super::generics::Types;
use super::planning::{Planner, joined};
use crate::classfile::{Desc, Generic, Member, MethodDesc, access};
use crate::world::{ClassId, DescribedMethod, MethodRef, Shape, StubMember};
use touchstone_fixture_java::{Construction, ReceiverMutation, StubExceptions, StubMethod};

const MOST_CLASSES: usize = 3;
/// So many methods a stub answers.
const MOST_ANSWERED: usize = 6;
/// So many exceptions one of them throws.
const MOST_THROWN: usize = 2;

impl Planner<'_> {
    /// Objects of classes that are below a type; without any, of one that the test itself has.
    pub(super) fn implementations(
        &mut self,
        class: ClassId,
        ty: &Generic,
        name: &str,
        depth: u32,
        tested: Option<MethodRef>,
    ) -> Vec<Construction> {
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
        let is_said = self.open_methods(class).into_iter().any(|method| self.world.description_of(method).is_some());
        if ways.is_empty() || is_said {
            ways.extend(self.stub(class, ty, name, depth));
        }
        ways
    }

    /// Whether objects of a class have just this method.
    pub(super) fn inherits(&self, class: ClassId, method: MethodRef) -> bool {
        let member = self.world.classes.method(method);
        self.world.classes.find_method(class, &member.name, &member.desc) == Some(method)
    }

    pub(super) fn stub(&mut self, class: ClassId, ty: &Generic, name: &str, depth: u32) -> Option<Construction> {
        let found = self.world.classes.get(class);
        let is_interface = found.is(access::INTERFACE);
        let visible = self.is_accessible(class) || (found.of_jdk && found.name.starts_with("java/") && is_interface);
        if !visible || self.outer_class(class).is_some() || matches!(found.shape, Shape::Array { .. }) {
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
            let described = self.world.description_of(method);
            let count = match &result {
                Generic::Value(Desc::Void) => 0,
                // What is said may depend on what it is called with.
                _ if described.is_some() => 2,
                Generic::Value(_) if lambda || is_iterator => 2,
                _ => 1,
            };
            let mut answers = Vec::new();
            for number in 0..count {
                answers.push(self.making(&result, &format!("{name}_{own_name}{}", number + 1), depth + 1)?);
            }
            let params = generics.iter().map(Generic::text).collect();
            let throws = match &described {
                Some(said) => self.thrown_as_said(said)?,
                None => self.thrown_by(method),
            };
            let exceptions = throws.iter().map(|maker| format!("{}()", self.new_text(maker.class))).collect();
            let choice = (!throws.is_empty()).then(|| self.param(&format!("{name}_{own_name}Throws"), Desc::Int));
            let choice = choice.map(|selector| StubExceptions { selector, exceptions });
            let text = own_name.to_string();
            let meddling = self.meddling.filter(|_| lambda && depth == 1);
            let meddles = meddling.map(|(object, called)| ReceiverMutation {
                selector: self.param(&format!("{name}_{own_name}Meddles"), Desc::Int),
                object,
                call: format!("{}()", self.world.classes.method(called).name),
            });
            methods.push(StubMethod {
                name: text,
                params,
                result: result.text(),
                answers,
                throws: choice,
                mutation: meddles,
            });
            let meddles = meddling.map(|(_, called)| called);
            made.push(StubMember { name: own_name, desc, answers: count, throws, meddles, described });
        }
        let class = self.world.classes.add_stub(class, made).ok()?;
        Some(Construction::Stub { class, create, methods, lambda })
    }

    /// A method without parameters that changes an object of a class, if there is one; best one that only does that.
    pub(super) fn meddler(&mut self, class: ClassId) -> Option<MethodRef> {
        let is_plain = |member: &Member| !member.is(access::STATIC) && !member.name.starts_with('<');
        let mut all = self.methods(class, |member| is_plain(member) && member.desc.starts_with("()"));
        all.sort_by_key(|method| !self.world.classes.method(*method).desc.ends_with(")V"));
        all.into_iter().find(|method| self.world.changes(*method))
    }

    /// Constructors of exceptions that a method is said to throw.
    fn thrown_as_said(&mut self, said: &DescribedMethod) -> Option<Vec<MethodRef>> {
        let maker = |class: &String| {
            let class = self.world.classes.load(&class.as_str().into()).ok()?;
            self.world.classes.declared(class, "<init>", "()V")
        };
        said.throws.iter().map(maker).collect()
    }

    /// Constructors of exceptions that a method of a stub may throw: those that a handler of the tested method catches, if they are not
    /// checked or the method says that it throws them.
    fn thrown_by(&mut self, method: MethodRef) -> Vec<MethodRef> {
        const ANY: &str = "java/lang/IllegalStateException";
        let declared: Vec<ClassId> = {
            let names = self.world.classes.method(method).exceptions().to_vec();
            names.iter().filter_map(|name| self.world.classes.load(name).ok()).collect()
        };
        let unchecked: Vec<ClassId> = ["java/lang/RuntimeException", "java/lang/Error"]
            .iter()
            .filter_map(|name| self.world.classes.load(&(*name).into()).ok())
            .collect();
        let mut found: Vec<MethodRef> = Vec::new();
        for caught in self.caught.clone() {
            let name = match &*caught {
                "java/lang/Throwable" | "java/lang/Exception" => ANY.into(),
                _ => caught,
            };
            let Ok(class) = self.world.classes.load(&name) else { continue };
            let may = unchecked.iter().chain(&declared).any(|above| self.world.classes.is_subtype(class, *above));
            let maker = self.world.classes.declared(class, "<init>", "()V");
            let maker = maker.filter(|maker| may && self.has_constructors(class) && self.may_call(*maker));
            if let Some(maker) = maker.filter(|maker| !found.contains(maker) && found.len() < MOST_THROWN) {
                found.push(maker);
            }
        }
        found
    }

    /// Methods that a class leaves to others.
    pub(super) fn open_methods(&self, class: ClassId) -> Vec<MethodRef> {
        let mut open: Vec<MethodRef> = Vec::new();
        for above in &self.world.classes.get(class).supertypes {
            let Some(file) = self.world.classes.get(*above).file() else { continue };
            for member in file.methods.iter().filter(|member| member.is(access::ABSTRACT | access::NATIVE)) {
                let found = self.world.classes.find_method(class, &member.name, &member.desc);
                let is_open = |found: &MethodRef| {
                    let is_native = self.world.classes.method(*found).is(access::NATIVE);
                    self.world.classes.method(*found).is(access::ABSTRACT)
                        || (is_native && self.world.description_of(*found).is_some())
                };
                let Some(found) = found.filter(is_open) else { continue };
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
