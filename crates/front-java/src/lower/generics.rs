//! Types that tests have for type parameters: what the source names, else what the bound allows.

use super::STRING;
use super::planning::Planner;
use crate::classfile::{Desc, Generic, GenericSignature, MethodDesc};
use crate::world::{ClassId, MethodRef};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Types for type parameters.
pub(super) type Types = BTreeMap<Arc<str>, Generic>;

impl Planner<'_> {
    pub(super) fn signature(&self, class: ClassId) -> Option<GenericSignature> {
        let file = self.world.classes.get(class).file()?;
        GenericSignature::parse(file.signature()?)
    }

    /// A type that fits a bound, for a type parameter that nobody names.
    pub(super) fn fitting(bound: &Generic) -> Generic {
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

    pub(super) fn defaults(&self, class: ClassId) -> Types {
        self.types(class, &[])
    }

    /// Types for the parameters of a class.
    pub(super) fn types(&self, class: ClassId, arguments: &[Generic]) -> Types {
        let formals = self.signature(class).map_or(Vec::new(), |signature| signature.formals);
        let mut types = Types::new();
        for (index, formal) in formals.into_iter().enumerate() {
            let given = arguments.get(index).filter(|_| !matches!(arguments[index], Generic::Variable(_)));
            types.insert(formal.name, given.cloned().unwrap_or_else(|| Planner::fitting(&formal.bound)));
        }
        // Those of the classes around it are there as well.
        if let Some(outer) = self.outer_class(class) {
            for (name, ty) in self.types(outer, &[]) {
                types.entry(name).or_insert(ty);
            }
        }
        types
    }

    /// A class with the types of its parameters.
    pub(super) fn full(&self, class: ClassId, types: &Types) -> Generic {
        let formals = self.signature(class).map_or(Vec::new(), |signature| signature.formals);
        let arguments = formals.iter().filter_map(|formal| types.get(&formal.name).cloned()).collect();
        Generic::Class(self.world.classes.get(class).name.clone(), arguments)
    }

    /// A type as tests write it: arguments that the source leaves out are those that tests have.
    pub(super) fn written(&self, ty: &Generic, class: ClassId) -> String {
        match ty {
            Generic::Class(_, arguments) if arguments.is_empty() || self.outer_class(class).is_some() => {
                self.shown_type(class, &self.types(class, arguments))
            }
            _ => ty.text(),
        }
    }

    /// Types of a method's parameters, and of its result behind them.
    pub(super) fn method_types(&self, method: MethodRef, types: &Types) -> Vec<Generic> {
        let member = self.world.classes.method(method);
        let Some(desc) = MethodDesc::parse(&member.desc) else { return Vec::new() };
        let erased: Vec<Desc> = desc.params.iter().chain([&desc.result]).cloned().collect();
        let mut signature = member.signature().and_then(|text| GenericSignature::parse(text));
        // It leaves out the object that a new one is inside of.
        if let Some(signature) = signature.as_mut().filter(|signature| signature.types.len() + 1 == erased.len())
            && &*member.name == "<init>"
            && self.outer_class(method.class).is_some()
        {
            signature.types.insert(0, Generic::of(&erased[0]));
        }
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

    /// Types for the type parameters of a static method whose result is to be of a type.
    pub(super) fn types_of_maker(&self, method: MethodRef, wanted: &Generic) -> Types {
        let signature = self.world.classes.method(method).signature().and_then(|text| GenericSignature::parse(text));
        let result = signature.and_then(|mut signature| signature.types.pop());
        let (Some(Generic::Class(_, made)), Generic::Class(_, wanted)) = (result, wanted) else { return Types::new() };
        let named = made.into_iter().zip(wanted).filter_map(|(made, wanted)| match made {
            Generic::Variable(name) => Some((name, wanted.clone())),
            _ => None,
        });
        named.collect()
    }
}
