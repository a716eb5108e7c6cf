//! What tests look at besides the result of a call: what calls returned that prepared objects, and what shows their state afterwards.
//!
//! All of it is data for whoever runs it: how a call is prepared, and which methods and fields there are to look at. Nothing
//! of it is part of what a search explores.

use super::MADE;
use super::known_classes::unboxed;
use super::making::{PlannedFixture, Results};
use super::outer::object_of;
use super::planning::Planned;
use super::present::value_type;
use super::types::{STRING, Use};
use super::world::{Data, Func, Kept, World};
use crate::classfile::{Desc, Member, MethodDesc, access};
use crate::world::{ClassId, MethodRef};
use std::sync::Arc;
use touchstone_fixture_java::{ApiCall, Construction, FixtureValue, ObjectPlan};
use touchstone_ir::{DataTypeId, FuncId, GlobalId};

/// So many methods of one class are looked at, by what they need and do.
const MOST_PLAIN: usize = 8;
const MOST_ASKED: usize = 6;
const MOST_CHANGING: usize = 6;

/// The call of a method that is tested, prepared.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Makes all that the call needs, with the parameters of what tests call.
    pub func: FuncId,
    /// Where it leaves objects, by their numbers.
    pub objects: Vec<GlobalId>,
    /// Where it leaves the arguments, the receiver or the new object first.
    pub arguments: Vec<GlobalId>,
    /// What the call that is tested may be of, and what it gives.
    pub tested: Vec<(FuncId, Gives)>,
    /// The parameter that says which of these, if there is a choice.
    pub selector: Option<usize>,
    /// The number of the object that the call is made on.
    pub receiver: Option<usize>,
    /// Whether it makes an object: its first argument.
    pub constructs: bool,
    /// Calls that prepare objects.
    pub calls: Vec<Preparing>,
    /// What all these calls get.
    pub passed: Vec<Passed>,
    /// What can be looked at.
    pub looks: Vec<Looks>,
    /// Boxes of numbers, by their class words.
    pub boxes: Vec<BoxClass>,
    /// The class word of texts, and their type.
    pub text: Option<(u64, DataTypeId)>,
}

/// A place for a call that prepares an object.
#[derive(Clone, Debug)]
pub struct Preparing {
    /// The parameter that says which call: 1 for the first.
    pub selector: usize,
    /// Where its result is afterwards.
    pub result: GlobalId,
    /// What the calls give.
    pub gives: Vec<Gives>,
}

/// Something that is passed to a call.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The call: the parameter that says that it is made, with the number; `None` for what is tested.
    pub by: Option<(usize, usize)>,
    /// The declared type.
    pub desc: Desc,
    /// What it is.
    pub making: FixtureValue,
}

/// What can be looked at of one object.
#[derive(Clone, Debug)]
pub struct Looks {
    /// Which object.
    pub whose: Whose,
    /// What there is.
    pub probes: Vec<Probe>,
}

/// Whose state is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// That of an object of the scenario.
    Object(usize),
    /// That of the result.
    Result,
}

/// A method or a field that shows something.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// How it is read.
    pub reads: Reads,
    /// Types of its parameters.
    pub takes: Vec<Desc>,
    /// What it gives.
    pub gives: Gives,
    /// What it does to the object.
    pub effect: Effect,
}

/// How something is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// By a call.
    Method(FuncId),
    /// At a place of the object.
    Field(u64),
}

/// What a method does to its object, as its code looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    Looks,
    /// It may change it.
    Changes,
}

/// What a value is that is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Gives {
    /// Nothing that could be told.
    Nothing,
    /// A number, a character or a truth value.
    Value(DataTypeId),
    /// A text, or an array of numbers.
    Built(DataTypeId),
    /// A constant of an enumeration: as source writes them, and where the number of one is.
    Constant(Vec<String>, u64),
    /// Another object, or one that only its class tells.
    Reference,
}

/// A class of boxes.
#[derive(Clone, Debug)]
pub struct BoxClass {
    /// Its class word.
    pub word: u64,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub data: DataTypeId,
    /// Where.
    pub offset: u64,
}

impl World {
    /// How a call of a method is prepared and looked at, if tests make objects for it.
    pub fn prepared(&mut self, method: MethodRef) -> Option<Prepared> {
        let scenario = match self.plans.get(&method) {
            Some(Planned::Made(scenario)) => scenario.clone(),
            _ => return None,
        };
        let kept = |world: &mut World, kept: Kept| world.datum(Data::Kept(method, kept));
        let objects = (0..scenario.objects).map(|number| kept(self, Kept::Object(number))).collect();
        let called = scenario.called();
        let constructs = &*self.classes.method(called).name == "<init>";
        let most =
            scenario.fixture.tested.calls.iter().map(|call| self.signature(call.method).0.len()).max().unwrap_or(0);
        let arguments = (0..most).map(|index| kept(self, Kept::Argument(index))).collect();
        let tested = (0..scenario.fixture.tested.calls.len())
            .map(|number| {
                let gives = match scenario.results {
                    Results::OfOneType => self.given_by(scenario.fixture.tested.calls[number].method),
                    Results::Dropped => Gives::Nothing,
                };
                (self.tested_function(&scenario.fixture.tested, number, scenario.fixture.receiver.is_some()), gives)
            })
            .collect();
        let (mut calls, mut passed) = (Vec::new(), Vec::new());
        self.note_calls(&scenario, method, &mut calls, &mut passed);
        let looks = self.looks_of(&scenario, method);
        let (boxes, text) = (self.box_classes(), self.text_class());
        let func = self.func(Func::Prepared(method));
        let (selector, receiver) =
            (scenario.fixture.tested.selector, scenario.fixture.receiver.as_ref().and_then(object_of));
        Some(Prepared {
            func,
            objects,
            arguments,
            tested,
            selector,
            receiver,
            constructs,
            calls,
            passed,
            looks,
            boxes,
            text,
        })
    }

    fn looks_of(&mut self, scenario: &PlannedFixture, method: MethodRef) -> Vec<Looks> {
        let name = self.classes.get(method.class).name.clone();
        let package = name.rsplit_once('/').map_or("", |(package, _)| package);
        let objects = scenario.changing.iter().map(|(number, class)| (Whose::Object(*number), *class));
        let result = scenario.result_class.map(|class| (Whose::Result, class));
        let all: Vec<(Whose, ClassId)> = objects.chain(result).collect();
        let mut found = Vec::new();
        for (whose, class) in all {
            found.push(Looks { whose, probes: self.probes(class, package, method) });
        }
        found
    }

    /// What shows the state of objects of a class, to somebody in a package.
    fn probes(&mut self, class: ClassId, package: &str, tested: MethodRef) -> Vec<Probe> {
        let (mut plain, mut asked, mut changing) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Some(class);
        while let Some(id) = next.filter(|id| !self.is_library(*id)) {
            let own = self.classes.get(id).clone();
            next = own.superclass;
            let Some(file) = own.file().cloned() else { break };
            let near = own.name.rsplit_once('/').map_or("", |(package, _)| package) == package && !own.of_jdk;
            let visible = |member: &Member| {
                !member.is(access::STATIC | MADE)
                    && (member.is(access::PUBLIC) && own.is(access::PUBLIC) || near && !member.is(access::PRIVATE))
            };
            for (index, member) in file.methods.iter().enumerate().filter(|(_, member)| visible(member)) {
                let method = MethodRef { class: id, index: index as u16 };
                let known = |probe: &Probe| probe.name == *member.name;
                if is_left_out(member) || self.is_contract(method) || plain.iter().chain(&asked).any(known) {
                    continue;
                }
                let Some(desc) = MethodDesc::parse(&member.desc) else { continue };
                let (gives, name) = (self.given_by(method), member.name.to_string());
                if gives == Gives::Nothing || desc.params.len() > 2 {
                    continue;
                }
                let takes = desc.params;
                let effect = if self.changes(method) { Effect::Changes } else { Effect::Looks };
                let list = match effect {
                    Effect::Changes => &mut changing,
                    Effect::Looks if method == tested && takes.is_empty() => continue,
                    Effect::Looks if takes.is_empty() => &mut plain,
                    Effect::Looks => &mut asked,
                };
                let reads = Reads::Method(self.called_on(method));
                list.push(Probe { name, reads, takes, gives, effect });
            }
            for member in file.fields.iter().filter(|member| visible(member)) {
                let Some(desc) = Desc::parse(&member.desc) else { continue };
                let getter = |probe: &Probe| is_getter_of(&probe.name, &member.name);
                let gives = self.gives(&desc);
                let place = self.classes.field_named(id, &member.name).map(|place| place.offset);
                if let Some(offset) = place.filter(|_| gives != Gives::Nothing && !plain.iter().any(getter)) {
                    let (name, reads) = (member.name.to_string(), Reads::Field(offset));
                    plain.push(Probe { name, reads, takes: Vec::new(), gives, effect: Effect::Looks });
                }
            }
        }
        plain.truncate(MOST_PLAIN);
        asked.truncate(MOST_ASKED);
        changing.truncate(MOST_CHANGING);
        plain.into_iter().chain(asked).chain(changing).collect()
    }

    fn given_by(&mut self, method: MethodRef) -> Gives {
        let desc = MethodDesc::parse(&self.classes.method(method).desc);
        desc.map_or(Gives::Nothing, |desc| self.gives(&desc.result))
    }

    fn gives(&mut self, desc: &Desc) -> Gives {
        let Desc::Ref(name) = desc else {
            return if *desc == Desc::Void { Gives::Nothing } else { Gives::Value(value_type(desc)) };
        };
        let array = name.strip_prefix('[').and_then(Desc::parse);
        match array {
            Some(element) if element.is_ref() => return Gives::Nothing,
            Some(_) => return Gives::Built(self.data_of(desc, Use::Result)),
            None if &**name == STRING => return Gives::Built(self.data_of(desc, Use::Result)),
            None => {}
        }
        match self.classes.load(name) {
            Ok(class) => self.constants_of(class).unwrap_or(Gives::Reference),
            Err(_) => Gives::Nothing,
        }
    }

    fn constants_of(&mut self, class: ClassId) -> Option<Gives> {
        let own = self.classes.get(class).clone();
        let file = own.file().filter(|_| own.is(access::ENUM))?;
        let title = own.title().replace('$', ".");
        let constants = file.fields.iter().filter(|field| field.is(access::ENUM));
        let names = constants.map(|field| format!("{title}.{}", field.name)).collect();
        Some(Gives::Constant(names, self.classes.field_named(class, "ordinal")?.offset))
    }

    fn box_classes(&mut self) -> Vec<BoxClass> {
        let names = ["Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double"];
        let mut found = Vec::new();
        for name in names.map(|name| format!("java/lang/{name}")) {
            let (Ok(class), Some(desc)) = (self.jdk(&name), unboxed(&name)) else { continue };
            if let Some(field) = self.classes.field_named(class, "value") {
                let (offset, word) = (field.offset, self.word(class));
                found.push(BoxClass { word, name: name.replace('/', "."), data: value_type(&desc), offset });
            }
        }
        found
    }

    fn text_class(&mut self) -> Option<(u64, DataTypeId)> {
        let class = self.jdk(STRING).ok()?;
        Some((self.word(class), self.data_of(&Desc::Ref(STRING.into()), Use::Result)))
    }

    /// Notes the calls that prepare objects, and what is passed to them and to what is tested.
    fn note_calls(
        &mut self,
        scenario: &Arc<PlannedFixture>,
        method: MethodRef,
        calls: &mut Vec<Preparing>,
        passed: &mut Vec<Passed>,
    ) {
        let tested = scenario.fixture.tested.calls.iter();
        if let [only] = scenario.fixture.tested.calls.as_slice() {
            self.note_passed(only, None, passed);
        }
        let arguments = tested.flat_map(|call| call.enclosing.iter().chain(&call.arguments));
        for making in scenario.fixture.receiver.iter().chain(arguments) {
            if let FixtureValue::Object(object) = making {
                self.note_object(object, method, calls, passed);
            }
        }
    }

    fn note_object(
        &mut self,
        object: &ObjectPlan,
        method: MethodRef,
        calls: &mut Vec<Preparing>,
        passed: &mut Vec<Passed>,
    ) {
        for (number, way) in object.constructions.iter().enumerate() {
            if let Construction::New(call) | Construction::Factory(call) = way {
                self.note_passed(call, Some((object.selector, number)), passed);
                if let Some(FixtureValue::Object(outer)) = &call.enclosing {
                    self.note_object(outer, method, calls, passed);
                }
            }
        }
        for slot in &object.slots {
            let gives = slot.calls.iter().map(|call| self.given_by(call.method)).collect();
            let result = self.datum(Data::Kept(method, Kept::Call(slot.selector)));
            calls.push(Preparing { selector: slot.selector, result, gives });
            for (number, call) in slot.calls.iter().enumerate() {
                self.note_passed(call, Some((slot.selector, number + 1)), passed);
            }
        }
    }

    fn note_passed(&self, call: &ApiCall, by: Option<(usize, usize)>, passed: &mut Vec<Passed>) {
        let Some(desc) = MethodDesc::parse(&self.classes.method(call.method).desc) else { return };
        // One inside of another gets that first.
        let skipped = desc.params.len().saturating_sub(call.arguments.len());
        for (desc, making) in desc.params.iter().skip(skipped).zip(&call.arguments) {
            passed.push(Passed { by, desc: desc.clone(), making: making.clone() });
        }
    }
}

/// Methods that say nothing of the state, or say it in a way that nobody checks.
fn is_left_out(member: &Member) -> bool {
    let says_nothing = matches!(&*member.name, "hashCode" | "equals" | "clone" | "repOk" | "finalize" | "getClass");
    says_nothing || member.name.starts_with('<')
}

/// Whether a method is called as getters of a field are.
fn is_getter_of(method: &str, field: &str) -> bool {
    let plain = |text: &str| text.eq_ignore_ascii_case(field);
    plain(method) || ["get", "is"].iter().any(|word| method.strip_prefix(word).is_some_and(plain))
}
