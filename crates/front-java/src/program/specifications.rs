//! Methods without code of which somebody may say what they do.

use crate::classes::type_names::type_text;
use crate::classes::{DescribedMethod, SpokenOf};
use crate::classfile::{Member, MethodDesc, access};
use crate::program::Program;
use std::sync::Arc;

/// Why nothing can be said of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unspoken {
    /// Its class is not there.
    NoClass,
    /// There is none with so many parameters.
    NoMethod,
    /// There are several with so many parameters.
    Several,
    /// It has code, which counts.
    HasCode,
    /// It is native and static, or nobody may override it: tests can't have another.
    Fixed,
}

impl Program {
    /// The method without code of this class and name, with so many parameters.
    ///
    /// # Errors
    /// If there is none that somebody may describe.
    pub fn spoken_of(&self, class: &str, name: &str, params: usize) -> Result<SpokenOf, Unspoken> {
        let mut world = self.world.borrow_mut();
        let id = world.load_by_source_name(class).ok_or(Unspoken::NoClass)?;
        let found = world.classes.get(id);
        let file = found.file().ok_or(Unspoken::NoClass)?;
        let fits = |member: &&Member| {
            &*member.name == name && MethodDesc::parse(&member.desc).is_some_and(|desc| desc.params.len() == params)
        };
        let fitting: Vec<&Member> = file.methods.iter().filter(fits).collect();
        let member = match fitting.as_slice() {
            [] => return Err(Unspoken::NoMethod),
            [member] => *member,
            _ => return Err(Unspoken::Several),
        };
        if !member.is(access::ABSTRACT | access::NATIVE) {
            return Err(Unspoken::HasCode);
        }
        if !is_replaceable(member) || found.is(access::FINAL) {
            return Err(Unspoken::Fixed);
        }
        let desc = MethodDesc::parse(&member.desc).ok_or(Unspoken::NoMethod)?;
        let source = |desc| type_text(desc).replace('$', ".");
        Ok(SpokenOf {
            class: found.name.to_string(),
            name: name.to_string(),
            desc: member.desc.to_string(),
            params: desc.params.iter().map(source).collect(),
            result: source(&desc.result),
        })
    }

    /// The class of an exception as files name it, if tests can make one without arguments.
    pub fn exception(&self, class: &str) -> Option<String> {
        let mut world = self.world.borrow_mut();
        let id = world.load_by_source_name(class)?;
        world.classes.declared(id, "<init>", "()V")?;
        Some(world.classes.get(id).name.to_string())
    }

    /// From now on stubs do what is said of a method.
    pub fn describe(&self, method: DescribedMethod) {
        self.world.borrow_mut().described.push(Arc::new(method));
    }
}

/// Whether a class below may have another method in its place.
fn is_replaceable(member: &Member) -> bool {
    !member.is(access::STATIC | access::FINAL | access::PRIVATE)
}
