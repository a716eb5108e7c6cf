//! Who leads to a method that tests can't call: private ones, those of classes that only their package sees, and of the JDK, whose packages
//! are closed, all that is not public.
//!
//! Only code of the same nest (a class with all classes inside of it) calls a private method by its name, so calls are followed backwards
//! through the nest until somebody is met whom tests may call. To the body of a lambda expression, and to methods of local and anonymous
//! classes, whoever makes the object may lead. Where somebody else may call (an initialiser, a lambda
//! expression that is kept, a class that is not given, serialisation), or there are too many, tests call some of those that are known, and
//! that there are others is a way that stops by name: what looks unreachable from some callers may be reached from others.

use super::MADE;
use super::generics::Types;
use super::known_classes::{stands_for, unboxed};
use super::planning::{Planner, is_given};
use crate::classfile::{ClassFile, Generic, Insn, Member, MemberRef, access, decode};
use crate::world::{ClassId, MethodRef};
use std::collections::BTreeSet;
use touchstone_fixture_java::Completeness;

/// So many callers of a method are tried.
const MOST_CALLERS: usize = 3;

/// What the JVM's serialisation calls, private or not.
const SERIALISATION: [&str; 5] = ["readObject", "writeObject", "readObjectNoData", "readResolve", "writeReplace"];

/// Who leads to a method.
pub(super) struct Callers {
    pub calls: Vec<MethodRef>,
    /// Whether these are all.
    pub completeness: Completeness,
}

/// When code that mentions a method calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    Now,
    /// It is a part of a lambda expression, which others may call later.
    AnyTime,
}

/// The methods that code mentions: calls, and what lambda expressions stand for.
fn mentioned(file: &ClassFile, member: &Member) -> Vec<(MemberRef, When)> {
    let Some(code) = member.code() else { return Vec::new() };
    let insns = decode(&code.bytes, code.offset).unwrap_or_default();
    let handles = |index: u16| {
        let site = file.pool.call_site(index).ok();
        let arguments = site.and_then(|(bootstrap, ..)| file.bootstrap(bootstrap)).map(|found| found.arguments.clone());
        let handles = arguments.unwrap_or_default().into_iter().filter_map(|index| file.pool.handle(index).ok());
        handles.map(|handle| (handle.member, When::AnyTime)).collect()
    };
    let of = |insn: &Insn| -> Vec<(MemberRef, When)> {
        match insn {
            Insn::InvokeVirtual(index)
            | Insn::InvokeSpecial(index)
            | Insn::InvokeInterface(index)
            | Insn::InvokeStatic(index) => {
                file.pool.method(*index).into_iter().map(|(called, _)| (called, When::Now)).collect()
            }
            Insn::InvokeDynamic(index) => handles(*index),
            _ => Vec::new(),
        }
    };
    insns.iter().flat_map(|decoded| of(&decoded.insn)).collect()
}

impl Planner<'_> {
    /// Who leads to a method, the simplest first; they are alike: of one class, with an object or without.
    pub(super) fn callers(&mut self, method: MethodRef) -> Option<Callers> {
        let nest = self.nest(method.class);
        let member = self.world.classes.method(method);
        let is_serial = SERIALISATION.contains(&&*member.name);
        let mut all = match member.is(access::PRIVATE) && !is_serial && self.is_whole(&nest) {
            true => Completeness::Complete,
            false => Completeness::Incomplete,
        };
        let (mut met, mut waiting, mut found) = (BTreeSet::from([method]), vec![method], Vec::new());
        while let Some(called) = waiting.pop() {
            let mut callers = self.callers_within(&nest, called);
            // Whoever has an object of a class that tests can't name may call it: those who make one hand it on.
            if self.is_handed_on(called) {
                callers.extend(self.makers_within(&nest, called.class).into_iter().map(|maker| (maker, When::AnyTime)));
            }
            for (caller, when) in callers {
                // Whoever makes the expression may not call it yet, or hand it to somebody who does.
                if when == When::AnyTime {
                    all = Completeness::Incomplete;
                }
                if !met.insert(caller) {
                    continue;
                }
                let member = self.world.classes.method(caller);
                let is_init = &*member.name == "<clinit>";
                let is_plain = !member.is(MADE) && !self.world.is_contract(caller) && !is_init;
                if is_plain && self.is_accessible(caller.class) && self.may_call(caller) {
                    found.push((caller, when));
                    continue;
                }
                // Others may call what is not private, and whoever uses the class calls its initialiser.
                let is_hidden = member.is(access::PRIVATE) || member.is(MADE) && member.is(access::STATIC);
                if !is_hidden || is_init {
                    all = Completeness::Incomplete;
                }
                if !is_init {
                    waiting.push(caller);
                }
            }
        }
        found.sort_by_key(|(caller, when)| (*when == When::AnyTime, self.cost(*caller), *caller));
        let found: Vec<MethodRef> = found.into_iter().map(|(caller, _)| caller).collect();
        let kinds: Vec<_> = found.iter().map(|caller| self.kind_of(*caller)).collect();
        let alike = |kind| kinds.iter().filter(|other| **other == kind).count();
        // Of those that many share, the first: methods of objects before constructors.
        let best = *kinds.iter().min_by_key(|kind| (kind.2, MOST_CALLERS.saturating_sub(alike(**kind))))?;
        let count = found.len();
        let mut calls: Vec<MethodRef> =
            found.into_iter().zip(&kinds).filter(|(_, kind)| **kind == best).map(|(caller, _)| caller).collect();
        calls.truncate(MOST_CALLERS);
        if calls.len() < count {
            all = Completeness::Incomplete;
        }
        Some(Callers { calls, completeness: all })
    }

    /// The classes of a nest that are given.
    fn nest(&self, class: ClassId) -> Vec<ClassId> {
        let outermost = |class: ClassId| {
            let name = self.world.classes.get(class).name.clone();
            name.split('$').next().unwrap_or_default().to_string()
        };
        let own = outermost(class);
        self.world.program.iter().copied().filter(|other| outermost(*other) == own).collect()
    }

    /// Whether all classes of a nest are given. Of the JDK nobody says who calls what.
    fn is_whole(&self, nest: &[ClassId]) -> bool {
        let names: BTreeSet<&str> = nest.iter().map(|class| &*self.world.classes.get(*class).name).collect();
        let outermost = names.iter().next().and_then(|name| name.split('$').next()).unwrap_or_default();
        let whole = |class: &ClassId| {
            let class = self.world.classes.get(*class);
            let rows = class.file().into_iter().flat_map(|file| file.inner_classes());
            let mut inside = rows.filter(|row| row.class.split('$').next() == Some(outermost));
            !class.of_jdk && inside.all(|row| names.contains(&*row.class))
        };
        names.contains(outermost) && nest.iter().all(whole)
    }

    /// Whether others than the nest may call a method of a class that tests can't name: it stands for one that they know.
    fn is_handed_on(&self, method: MethodRef) -> bool {
        let member = self.world.classes.method(method);
        let is_own = member.is(access::PRIVATE | access::STATIC) || member.name.starts_with('<');
        !is_own && !self.is_accessible(method.class)
    }

    /// The methods of a nest that make objects of a class.
    fn makers_within(&mut self, nest: &[ClassId], class: ClassId) -> Vec<MethodRef> {
        let constructors: Vec<MethodRef> = {
            let Some(file) = self.world.classes.get(class).file() else { return Vec::new() };
            let all = file.methods.iter().enumerate().filter(|(_, member)| &*member.name == "<init>");
            all.map(|(index, _)| MethodRef { class, index: index as u16 }).collect()
        };
        let callers = constructors.into_iter().flat_map(|constructor| self.callers_within(nest, constructor));
        callers.map(|(caller, _)| caller).collect()
    }

    /// The methods of a nest whose code mentions another.
    fn callers_within(&mut self, nest: &[ClassId], called: MethodRef) -> Vec<(MethodRef, When)> {
        let member = self.world.classes.method(called);
        let (name, desc) = (member.name.clone(), member.desc.clone());
        let mut found = Vec::new();
        for class in nest {
            let Some(file) = self.world.classes.get(*class).file().cloned() else { continue };
            for (index, member) in file.methods.iter().enumerate() {
                let means = |(other, when): (MemberRef, When)| {
                    let named = other.name == name && other.desc == desc;
                    let class = named.then(|| self.world.classes.load(&other.class).ok()).flatten();
                    class.filter(|class| self.world.classes.is_subtype(called.class, *class)).map(|_| when)
                };
                let caller = MethodRef { class: *class, index: index as u16 };
                found.extend(mentioned(&file, member).into_iter().filter_map(means).map(|when| (caller, when)));
            }
        }
        found
    }

    /// What callers have to have in common.
    fn kind_of(&self, method: MethodRef) -> (ClassId, bool, bool) {
        let member = self.world.classes.method(method);
        (method.class, member.is(access::STATIC), &*member.name == "<init>")
    }

    /// How hard it is to call a method: numbers and texts are simple, then come boxes, and types that they stand for.
    pub(super) fn cost(&self, method: MethodRef) -> usize {
        let types: Types = self.defaults(method.class);
        let mut params = self.method_types(method, &types);
        params.pop();
        let cost = |ty: &Generic| match ty {
            Generic::Class(name, _) if unboxed(name).is_some() => 1,
            Generic::Class(name, _) if !stands_for(name).is_empty() => 2,
            _ if is_given(&ty.erased()) => 0,
            _ => 4,
        };
        params.iter().map(cost).sum()
    }
}
