//! Registration of the user's specifications of methods without code.

use crate::classes::type_names::type_name;
use crate::classes::{MethodSpec, SpecifiedMethod};
use crate::classfile::{Member, MethodDesc, access};
use crate::program::LazyProgram;
use std::sync::Arc;

/// The reason for which a method can't have a specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// Its class does not exist.
    NoClass,
    /// No method has this number of parameters.
    NoMethod,
    /// Several methods have this number of parameters.
    Ambiguous,
    /// It has code, which is used.
    HasCode,
    /// It is static or final, so that a stub can't override it.
    NotOverridable,
}

impl LazyProgram {
    /// Finds the abstract or native method of a class by its name and number of parameters.
    ///
    /// # Errors
    /// If there is no such method that can have a specification.
    pub fn specified_method(&self, class: &str, name: &str, params: usize) -> Result<SpecifiedMethod, SpecError> {
        let mut lowering = self.lowering.borrow_mut();
        let id = lowering.load_by_source_name(class).ok_or(SpecError::NoClass)?;
        let found = lowering.classes.get(id);
        let file = found.file().ok_or(SpecError::NoClass)?;
        let fits = |member: &&Member| {
            &*member.name == name && MethodDesc::parse(&member.desc).is_some_and(|desc| desc.params.len() == params)
        };
        let fitting: Vec<&Member> = file.methods.iter().filter(fits).collect();
        let member = match fitting.as_slice() {
            [] => return Err(SpecError::NoMethod),
            [member] => *member,
            _ => return Err(SpecError::Ambiguous),
        };
        if !member.is(access::ABSTRACT | access::NATIVE) {
            return Err(SpecError::HasCode);
        }
        if !is_replaceable(member) || found.is(access::FINAL) {
            return Err(SpecError::NotOverridable);
        }
        let desc = MethodDesc::parse(&member.desc).ok_or(SpecError::NoMethod)?;
        let source = |desc| type_name(desc).replace('$', ".");
        Ok(SpecifiedMethod {
            class: found.name.to_string(),
            name: name.to_string(),
            desc: member.desc.to_string(),
            params: desc.params.iter().map(source).collect(),
            result: source(&desc.result),
        })
    }

    /// Returns the internal name of an exception's class, if tests can construct it without arguments.
    pub fn exception(&self, class: &str) -> Option<String> {
        let mut lowering = self.lowering.borrow_mut();
        let id = lowering.load_by_source_name(class)?;
        lowering.classes.declared(id, "<init>", "()V")?;
        Some(lowering.classes.get(id).name.to_string())
    }

    /// Adds a specification, which stubs follow from now on.
    pub fn add_spec(&self, method: MethodSpec) {
        self.lowering.borrow_mut().specs.push(Arc::new(method));
    }
}

/// Returns true if a subclass may override a method.
fn is_replaceable(member: &Member) -> bool {
    !member.is(access::STATIC | access::FINAL | access::PRIVATE)
}
