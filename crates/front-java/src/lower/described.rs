//! Methods without code, of interfaces and of native libraries, of which somebody says what they do.
//!
//! What is said was compiled as static methods of a class beside the program: `returns` says whether a call may have this result, `throws1` whether it may throw the
//! first exception, and so on. A stub that answers otherwise is none. Deliberately not here: the text that is read (`touchstone_campaign`).

use super::builder::{Builder, int};
use super::world::World;
use crate::classfile::access;
use crate::world::{ClassId, DescribedMethod, MethodRef, Refusal};
use std::sync::Arc;
use touchstone_ir::{Builtin, CmpOp, Operand};

impl World {
    /// A class by the name that source has for it: `p.Outer.Inner`.
    pub fn load_by_source_name(&mut self, class: &str) -> Option<ClassId> {
        let mut name = class.replace('.', "/");
        loop {
            if let Ok(id) = self.classes.load(&name.as_str().into()) {
                return Some(id);
            }
            let at = name.rfind('/')?;
            name.replace_range(at..=at, "$");
        }
    }

    /// What is said of a method.
    pub fn description_of(&self, method: MethodRef) -> Option<Arc<DescribedMethod>> {
        let (class, member) = (&self.classes.get(method.class).name, self.classes.method(method));
        let is_it = |said: &&Arc<DescribedMethod>| {
            said.of.class == **class && said.of.name == *member.name && said.of.desc == *member.desc
        };
        self.described.iter().find(is_it).cloned()
    }

    /// Whether objects of a class are made with methods that the test has: it leaves some open, or some are native and described.
    pub fn is_left_open(&self, class: ClassId) -> bool {
        let found = self.classes.get(class);
        found.is(access::ABSTRACT | access::INTERFACE) || self.has_described_natives(class)
    }

    fn has_described_natives(&self, class: ClassId) -> bool {
        let above = |id: &ClassId| {
            let file = self.classes.get(*id).file();
            let methods = file.iter().flat_map(|file| file.methods.iter().enumerate());
            methods
                .filter(|(_, member)| member.is(access::NATIVE))
                .any(|(index, _)| self.description_of(MethodRef { class: *id, index: index as u16 }).is_some())
        };
        !self.described.is_empty() && self.classes.get(class).supertypes.iter().any(above)
    }

    /// Goes on where it is said that a method may do this; other runs are none.
    pub fn as_said(
        &mut self,
        b: &mut Builder,
        said: &DescribedMethod,
        what: &str,
        arguments: Vec<Operand>,
    ) -> Result<(), Refusal> {
        let class = self.classes.load(&said.by.as_str().into())?;
        let file = self.classes.get(class).file();
        let index = file.and_then(|file| file.methods.iter().position(|member| &*member.name == what));
        let Some(index) = index else { return Err(Refusal::Malformed(format!("no {what}"))) };
        let method = MethodRef { class, index: index as u16 };
        let answer = self.call_method(b, method, arguments);
        let holds = b.cmp(CmpOp::Ne, answer, int(0));
        b.builtin(Builtin::Assume, vec![holds], None);
        Ok(())
    }
}
