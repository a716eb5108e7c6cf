//! Methods without code of which somebody may say what they do.

use crate::classes::type_names::type_name;
use crate::classes::{MethodSpec, SpecifiedMethod};
use crate::classfile::{Member, MethodDesc, access};
use crate::program::Program;
use std::sync::Arc;

/// Why nothing can be said of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// Its class is not there.
    NoClass,
    /// There is none with so many parameters.
    NoMethod,
    /// There are several with so many parameters.
    Ambiguous,
    /// It has code, which counts.
    HasCode,
    /// It is native and static, or nobody may override it: tests can't have another.
    NotOverridable,
}

impl Program {
    /// The method without code of this class and name, with so many parameters.
    ///
    /// # Errors
    /// If there is none that somebody may describe.
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

    /// The class of an exception as files name it, if tests can make one without arguments.
    pub fn exception(&self, class: &str) -> Option<String> {
        let mut lowering = self.lowering.borrow_mut();
        let id = lowering.load_by_source_name(class)?;
        lowering.classes.declared(id, "<init>", "()V")?;
        Some(lowering.classes.get(id).name.to_string())
    }

    /// From now on stubs do what is said of a method.
    pub fn add_spec(&self, method: MethodSpec) {
        self.lowering.borrow_mut().specs.push(Arc::new(method));
    }
}

/// Whether a class below may have another method in its place.
fn is_replaceable(member: &Member) -> bool {
    !member.is(access::STATIC | access::FINAL | access::PRIVATE)
}
