//! The class hierarchy: subtyping, and resolution of fields and methods (JVMS §5.4.3).

use crate::classes::class::FieldLayout;
use crate::classes::{ClassShape, ClassTable, LoweringError};
use crate::classfile::{Desc, Member, MemberRef, access};
use std::sync::Arc;
use touchstone_fixture_java::{ClassId, FieldRef, MethodRef};

impl ClassTable {
    /// Returns true if every object of `class` is an object of `of`.
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

    /// Returns the declaration of a method.
    pub fn method(&self, method: MethodRef) -> &Member {
        let file = self.get(method.class).file().expect("invariant: only class files have methods");
        &file.methods[usize::from(method.index)]
    }

    /// Finds a method that the class itself declares.
    pub fn declared(&self, class: ClassId, name: &str, desc: &str) -> Option<MethodRef> {
        let index = self.get(class).file()?.method(name, desc)?;
        Some(MethodRef { class, index: index as u16 })
    }

    /// Selects the method that a virtual call of `method` executes on an object of `class` (JVMS §5.4.6).
    pub fn select_method(&self, class: ClassId, method: MethodRef) -> Option<MethodRef> {
        let member = self.method(method);
        let mut above = Some(class);
        while let Some(id) = above {
            let own = self.declared(id, &member.name, &member.desc);
            if let Some(found) = own.filter(|own| *own == method || self.can_override(*own, method)) {
                return Some(found);
            }
            above = self.get(id).superclass;
        }
        self.find_in_interfaces(class, &member.name, &member.desc)
    }

    /// Returns true if a method can override another one with the same name and descriptor (JVMS §5.4.5).
    fn can_override(&self, own: MethodRef, other: MethodRef) -> bool {
        let (own_member, other_member) = (self.method(own), self.method(other));
        if own_member.is(access::PRIVATE | access::STATIC) || other_member.is(access::PRIVATE | access::STATIC) {
            return false;
        }
        if other_member.is(access::PUBLIC | access::PROTECTED) || self.are_in_one_package(own.class, other.class) {
            return true;
        }
        // A method in between may widen the access.
        let mut above = self.get(own.class).superclass.filter(|above| *above != other.class);
        while let Some(id) = above {
            let between = self.declared(id, &own_member.name, &own_member.desc);
            if between.is_some_and(|between| self.can_override(own, between) && self.can_override(between, other)) {
                return true;
            }
            above = self.get(id).superclass.filter(|above| *above != other.class);
        }
        false
    }

    fn are_in_one_package(&self, one: ClassId, other: ClassId) -> bool {
        let package = |class: ClassId| self.get(class).name.rsplit_once('/').map(|(package, _)| package);
        package(one) == package(other)
    }

    /// Finds a method by its name: the class's own, a superclass's, or the most specific one of its interfaces.
    pub fn find_method(&self, class: ClassId, name: &str, desc: &str) -> Option<MethodRef> {
        let mut above = Some(class);
        while let Some(id) = above {
            if let Some(found) = self.declared(id, name, desc) {
                return Some(found);
            }
            above = self.get(id).superclass;
        }
        self.find_in_interfaces(class, name, desc)
    }

    /// Finds the most specific method of the interfaces of a class.
    fn find_in_interfaces(&self, class: ClassId, name: &str, desc: &str) -> Option<MethodRef> {
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

    /// Resolves a symbolic reference to a method.
    ///
    /// # Errors
    /// If the class or the method does not exist.
    pub fn resolve_method(&mut self, member: &MemberRef) -> Result<MethodRef, LoweringError> {
        let class = self.load(&member.class)?;
        let class = match self.get(class).shape {
            ClassShape::Array { .. } => self.load(&"java/lang/Object".into())?,
            _ => class,
        };
        if let Some(found) = self.find_method(class, &member.name, &member.desc) {
            return Ok(found);
        }
        // Static methods of interfaces are not inherited.
        let titled = || LoweringError::NoMethod(format!("{}.{}{}", member.class, member.name, member.desc));
        self.declared(class, &member.name, &member.desc).ok_or_else(titled)
    }

    /// Resolves a symbolic reference to an instance field.
    ///
    /// # Errors
    /// If the class or the field does not exist.
    pub fn resolve_field(&mut self, member: &MemberRef) -> Result<FieldLayout, LoweringError> {
        let class = self.load(&member.class)?;
        let fits = |field: &&FieldLayout| field.name == member.name && field.desc.text() == *member.desc;
        let found = self.get(class).fields.iter().rev().find(fits).cloned();
        found.ok_or_else(|| LoweringError::NoField(format!("{}.{}", member.class, member.name)))
    }

    /// Finds an instance field of a JDK class by its name alone.
    pub fn field_named(&self, class: ClassId, name: &str) -> Option<&FieldLayout> {
        self.get(class).fields.iter().rev().find(|field| &*field.name == name)
    }

    /// Resolves a symbolic reference to a static field.
    ///
    /// # Errors
    /// If the class or the field does not exist.
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

    /// Finds a static field of a JDK class by its name alone.
    pub fn static_named(&self, class: ClassId, name: &str) -> Option<FieldRef> {
        let file = self.get(class).file()?;
        let index = file.fields.iter().position(|field| field.is(access::STATIC) && &*field.name == name)?;
        Some(FieldRef { class, index: index as u16 })
    }

    /// Returns the declaration of a static field and its type.
    pub fn static_field(&self, field: FieldRef) -> (&Member, Desc) {
        let file = self.get(field.class).file().expect("invariant: only class files have static fields");
        let member = &file.fields[usize::from(field.index)];
        (member, Desc::parse(&member.desc).unwrap_or(Desc::Void))
    }

    /// Returns the class initialiser that the class itself declares.
    pub fn initialiser(&self, class: ClassId) -> Option<MethodRef> {
        self.declared(class, "<clinit>", "()V")
    }

    /// Returns the array class with elements of a class.
    ///
    /// # Errors
    /// If there is no such class.
    pub fn array_of(&mut self, component: ClassId) -> Result<ClassId, LoweringError> {
        let desc = match &self.get(component).shape {
            ClassShape::Primitive(desc) => desc.text(),
            _ => crate::classfile::class_desc(&self.get(component).name),
        };
        let name: Arc<str> = format!("[{desc}").into();
        self.load(&name)
    }
}
