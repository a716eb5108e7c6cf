//! Questions about classes: who is a subtype of whom, and which member a name means.

use crate::classes::class::FieldLayout;
use crate::classes::{ClassShape, ClassTable, LoweringError};
use crate::classfile::{Desc, Member, MemberRef, access};
use std::sync::Arc;
use touchstone_fixture_java::{ClassId, FieldRef, MethodRef};

impl ClassTable {
    /// Whether every object of one class is one of the other.
    pub fn is_subtype(&self, class: ClassId, of: ClassId) -> bool {
        if self.get(class).supertypes.binary_search(&of).is_ok() {
            return true;
        }
        match (&self.get(class).shape, &self.get(of).shape) {
            (ClassShape::Array { component: from, .. }, ClassShape::Array { component: to, .. }) => {
                let primitive = |id: &ClassId| matches!(self.get(*id).shape, ClassShape::Primitive(_));
                from == to || (!primitive(from) && !primitive(to) && self.is_subtype(*from, *to))
            }
            _ => false,
        }
    }

    /// A method.
    pub fn method(&self, method: MethodRef) -> &Member {
        let file = self.get(method.class).file().expect("invariant: only class files have methods");
        &file.methods[usize::from(method.index)]
    }

    /// A method that a class itself declares.
    pub fn declared(&self, class: ClassId, name: &str, desc: &str) -> Option<MethodRef> {
        let index = self.get(class).file()?.method(name, desc)?;
        Some(MethodRef { class, index: index as u16 })
    }

    /// The method that a name means for objects of a class: its own, a superclass's, or the most specific of its interfaces.
    pub fn find_method(&self, class: ClassId, name: &str, desc: &str) -> Option<MethodRef> {
        let mut above = Some(class);
        while let Some(id) = above {
            if let Some(found) = self.declared(id, name, desc) {
                return Some(found);
            }
            above = self.get(id).superclass;
        }
        let usable = |method: &MethodRef| !self.method(*method).is(access::STATIC | access::PRIVATE);
        let all: Vec<MethodRef> =
            self.get(class).supertypes.iter().filter_map(|id| self.declared(*id, name, desc)).collect();
        let mut best: Option<MethodRef> = None;
        for found in all.into_iter().filter(usable) {
            let abstracts = |method: MethodRef| self.method(method).is(access::ABSTRACT);
            best = match best {
                None => Some(found),
                Some(best) if self.is_subtype(found.class, best.class) => Some(found),
                Some(best) if self.is_subtype(best.class, found.class) => Some(best),
                Some(best) if abstracts(best) && !abstracts(found) => Some(found),
                best => best,
            };
        }
        best
    }

    /// The method that code names.
    ///
    /// # Errors
    /// If there is none.
    pub fn resolve_method(&mut self, member: &MemberRef) -> Result<MethodRef, LoweringError> {
        let class = self.load(&member.class)?;
        let class = match self.get(class).shape {
            ClassShape::Array { .. } => self.load(&"java/lang/Object".into())?,
            _ => class,
        };
        if let Some(found) = self.find_method(class, &member.name, &member.desc) {
            return Ok(found);
        }
        // Static methods of interfaces.
        let titled = || LoweringError::NoMethod(format!("{}.{}{}", member.class, member.name, member.desc));
        self.declared(class, &member.name, &member.desc).ok_or_else(titled)
    }

    /// The field of objects that code names.
    ///
    /// # Errors
    /// If there is none.
    pub fn resolve_field(&mut self, member: &MemberRef) -> Result<FieldLayout, LoweringError> {
        let class = self.load(&member.class)?;
        let fits = |field: &&FieldLayout| field.name == member.name && field.desc.text() == *member.desc;
        let found = self.get(class).fields.iter().rev().find(fits).cloned();
        found.ok_or_else(|| LoweringError::NoField(format!("{}.{}", member.class, member.name)))
    }

    /// The field of a class's objects with this name, for code that knows the JDK.
    pub fn field_named(&self, class: ClassId, name: &str) -> Option<&FieldLayout> {
        self.get(class).fields.iter().rev().find(|field| &*field.name == name)
    }

    /// The static field that code names.
    ///
    /// # Errors
    /// If there is none.
    pub fn resolve_static(&mut self, member: &MemberRef) -> Result<FieldRef, LoweringError> {
        let class = self.load(&member.class)?;
        let found = self.find_static(class, &member.name, &member.desc);
        found.ok_or_else(|| LoweringError::NoField(format!("{}.{}", member.class, member.name)))
    }

    fn find_static(&self, class: ClassId, name: &str, desc: &str) -> Option<FieldRef> {
        let file = self.get(class).file()?;
        let fits = |field: &Member| field.is(access::STATIC) && &*field.name == name && &*field.desc == desc;
        if let Some(index) = file.fields.iter().position(fits) {
            return Some(FieldRef { class, index: index as u16 });
        }
        let above = self.get(class).interfaces.iter().chain(&self.get(class).superclass);
        above.copied().find_map(|above| self.find_static(above, name, desc))
    }

    /// A static field with this name, for code that knows the JDK.
    pub fn static_named(&self, class: ClassId, name: &str) -> Option<FieldRef> {
        let file = self.get(class).file()?;
        let index = file.fields.iter().position(|field| field.is(access::STATIC) && &*field.name == name)?;
        Some(FieldRef { class, index: index as u16 })
    }

    /// A static field's declaration.
    pub fn static_field(&self, field: FieldRef) -> (&Member, Desc) {
        let file = self.get(field.class).file().expect("invariant: only class files have static fields");
        let member = &file.fields[usize::from(field.index)];
        (member, Desc::parse(&member.desc).unwrap_or(Desc::Void))
    }

    /// The class initialiser that a class itself has.
    pub fn initialiser(&self, class: ClassId) -> Option<MethodRef> {
        self.declared(class, "<clinit>", "()V")
    }

    /// The class of arrays of a class.
    ///
    /// # Errors
    /// If there is none.
    pub fn array_of(&mut self, component: ClassId) -> Result<ClassId, LoweringError> {
        let desc = match &self.get(component).shape {
            ClassShape::Primitive(desc) => desc.text(),
            _ => crate::classfile::class_desc(&self.get(component).name),
        };
        let name: Arc<str> = format!("[{desc}").into();
        self.load(&name)
    }
}
