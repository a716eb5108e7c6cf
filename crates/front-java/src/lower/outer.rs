//! Objects of classes that are inside of others and not static: there is an object that they are inside of, and it is made first.

use super::generics::Types;
use super::planning::Planner;
use crate::classfile::access;
use crate::world::ClassId;
use touchstone_fixture_java::{Completeness, Construction, FixtureValue, ObjectPlan};

/// So many calls, of so many methods, change the object around another.
const MOST_CALLS: usize = 2;
const MOST_METHODS: usize = 4;

/// The object that another one is inside of, if all its ways have it.
pub(super) fn outer_of(making: &FixtureValue) -> Option<&FixtureValue> {
    match making {
        FixtureValue::Object(object) => outer_of_all(&object.constructions),
        FixtureValue::Parameter(_) => None,
    }
}

/// The number of an object that is an argument or the receiver.
pub(super) fn object_of(making: &FixtureValue) -> Option<usize> {
    match making {
        FixtureValue::Object(object) => Some(object.number),
        FixtureValue::Parameter(_) => None,
    }
}

fn outer_of_all(ways: &[Construction]) -> Option<&FixtureValue> {
    let outer = |way: &'_ Construction| match way {
        Construction::New(call) => call.enclosing.as_ref().and_then(object_of),
        _ => None,
    };
    let first = outer(ways.first()?)?;
    match ways.first() {
        Some(Construction::New(call)) if ways.iter().all(|way| outer(way) == Some(first)) => call.enclosing.as_ref(),
        _ => None,
    }
}

impl Planner<'_> {
    /// The class that a class is inside of, if its objects are inside of that one's.
    pub(super) fn outer_class(&self, class: ClassId) -> Option<ClassId> {
        const STATIC: u16 = access::STATIC | access::INTERFACE | access::ENUM;
        let row = self.world.classes.get(class).file()?.inner().filter(|row| row.access & STATIC == 0)?.clone();
        self.world.classes.known(row.outer.as_ref()?)
    }

    /// Loads the classes that a class is inside of.
    pub(super) fn load_outer(&mut self, class: ClassId) {
        let Some(file) = self.world.classes.get(class).file().cloned() else { return };
        for outer in file.nesting().filter_map(|row| row.outer.as_ref()) {
            // One that is not there makes the class one that tests can't name.
            let _ = self.world.classes.load(outer);
        }
    }

    /// A name for an object of a class.
    pub(super) fn name_of_one(&self, class: ClassId) -> String {
        let title = self.title(class);
        let short = title.rsplit('.').next().unwrap_or(&title);
        let name: String = short.chars().take(1).flat_map(char::to_lowercase).chain(short.chars().skip(1)).collect();
        if name == short { "object".to_string() } else { name }
    }

    /// The object that others are made inside of: one that is there already, or a new one.
    pub(super) fn outer_object(&mut self, class: ClassId, depth: u32) -> Option<FixtureValue> {
        let types = self.defaults(class);
        let full = self.full(class, &types);
        let name = self.name_of_one(class);
        let (number, selector) = (self.count, self.param(&name, crate::classfile::Desc::Int));
        self.count += 1;
        let name = self.params[selector].0.clone();
        let there = self.shared.iter().filter(|(_, known)| self.world.classes.is_subtype(*known, class));
        let mut ways: Vec<Construction> = there.map(|(other, _)| Construction::Same(*other)).collect();
        let found = self.world.classes.get(class);
        let is_open = found.is(access::ABSTRACT | access::INTERFACE);
        ways.extend(match found.is(access::ENUM) {
            true => self.constants(class),
            false if is_open => self.implementations(class, &full, &name, depth, None),
            false => self.constructed(class, &full, &name, depth.max(2)),
        });
        if ways.is_empty() {
            return None;
        }
        let can_change = ways.iter().any(|way| matches!(way, Construction::New(_) | Construction::Factory(_)));
        let slots = match depth <= 2 && can_change && !self.world.classes.get(class).of_jdk {
            true => {
                let changing = self.changing(class, MOST_METHODS);
                self.slots(&changing, class, &full, &name, MOST_CALLS)
            }
            false => Vec::new(),
        };
        let ty = self.shown_type(class, &types);
        Some(FixtureValue::Object(Box::new(ObjectPlan {
            number,
            name,
            ty,
            selector,
            constructions: ways,
            completeness: Completeness::Incomplete,
            fill_loops: None,
            slots,
        })))
    }

    /// Lets later objects be one that is always made.
    pub(super) fn share(&mut self, making: &FixtureValue, class: ClassId) {
        self.shared.extend(object_of(making).map(|number| (number, class)));
    }

    /// Lets later objects be the one around an object with these ways.
    pub(super) fn share_outer(&mut self, ways: &[Construction]) {
        let Some(outer) = outer_of_all(ways) else { return };
        let class = match ways.first() {
            Some(Construction::New(call)) => self.outer_class(call.method.class),
            _ => None,
        };
        if let Some(class) = class {
            self.share(outer, class);
        }
    }

    /// A class as tests write it, with the types of its parameters, and of those of the classes around it.
    pub(super) fn shown_type(&self, class: ClassId, types: &Types) -> String {
        let Some(outer) = self.outer_class(class) else { return self.full(class, types).text() };
        let own = self.full(class, types).text();
        let arguments = own.find('<').map_or("", |at| &own[at..]);
        format!("{}.{}{arguments}", self.shown_type(outer, types), self.world.simple_name(class))
    }
}
