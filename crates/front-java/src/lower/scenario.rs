//! Methods of objects under test: a function that makes the object as a caller would, by a constructor and a few calls, and
//! then calls the method.
//!
//! Which constructor, which calls and all their arguments are parameters, so a search finds them as it finds other inputs, and
//! a test is a sequence of calls that its reader can follow. Objects that need more calls, or calls with arguments that nobody
//! makes, are a way that stops by name: no verdict may say that there are none.

use super::builder::{Builder, NULL, int};
use super::types::Use;
use super::world::{Func, World, result_ty};
use crate::classfile::{Desc, Insn, MethodDesc, access, decode};
use crate::lower::{MADE, STRING};
use crate::world::{MethodRef, Refusal};
use touchstone_ir::{BranchRole, Builtin, Function, FunctionRole, Operand, SwitchArm, TermKind, Ty};

/// So many constructors and methods are tried.
const MOST_CONSTRUCTORS: usize = 3;
const MOST_CALLS: usize = 6;

/// A call of a scenario: which method, and which parameters of the scenario it gets.
#[derive(Clone, Debug)]
pub struct ScenarioCall {
    pub(crate) method: MethodRef,
    /// Its name; empty for a constructor.
    pub name: String,
    /// Places of its arguments among the scenario's parameters.
    pub arguments: Vec<usize>,
}

/// A place for a call that may be made.
#[derive(Clone, Debug)]
pub struct ScenarioSlot {
    /// The parameter that says which call is made: 1 for the first, 0 for none.
    pub selector: usize,
    /// What can be called.
    pub calls: Vec<ScenarioCall>,
}

/// How an object is made and used.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Says which constructor is called: 0 for the first.
    pub selector: usize,
    /// The constructors.
    pub constructors: Vec<ScenarioCall>,
    /// Calls before the one that is tested.
    pub slots: Vec<ScenarioSlot>,
    /// The call that is tested.
    pub tested: ScenarioCall,
    /// Names and types of all parameters.
    pub(crate) params: Vec<(String, Desc)>,
}

/// Whether tests can make values of a type.
pub(crate) fn is_makeable(desc: &Desc) -> bool {
    match desc {
        Desc::Ref(name) => match name.strip_prefix('[').and_then(Desc::parse) {
            Some(element) => !element.is_ref(),
            None => &**name == STRING,
        },
        _ => true,
    }
}

impl Scenario {
    fn call(&mut self, method: MethodRef, name: &str, desc: &MethodDesc, prefix: &str) -> ScenarioCall {
        let mut arguments = Vec::new();
        for (index, param) in desc.params.iter().enumerate() {
            arguments.push(self.params.len());
            self.params.push((format!("{prefix}{}", index + 1), param.clone()));
        }
        ScenarioCall { method, name: name.to_string(), arguments }
    }

    fn selector(&mut self, name: &str) -> usize {
        self.params.push((name.to_string(), Desc::Int));
        self.params.len() - 1
    }
}

impl World {
    /// How objects for a method are made; `None` if tests can't make any.
    pub fn scenario(&self, method: MethodRef) -> Option<Scenario> {
        let class = self.classes.get(method.class);
        let member = self.classes.method(method);
        let file = class.file()?;
        if member.is(access::STATIC) || class.is(access::ABSTRACT | access::INTERFACE | access::ENUM) {
            return None;
        }
        let own = MethodDesc::parse(&member.desc)?;
        let members = || file.methods.iter().enumerate().filter(|(_, member)| !member.is(MADE | access::PRIVATE));
        let usable = |desc: &MethodDesc| desc.params.iter().all(is_makeable);
        let found = |index: usize| MethodRef { class: method.class, index: index as u16 };
        let mut made = Scenario {
            selector: 0,
            constructors: Vec::new(),
            slots: Vec::new(),
            tested: ScenarioCall { method, name: String::new(), arguments: Vec::new() },
            params: Vec::new(),
        };
        made.selector = made.selector("constructor");
        if &*member.name == "<init>" {
            let call = made.call(method, "", &own, "");
            made.name_own(self, method, &call);
            (made.constructors, made.tested) = (vec![call.clone()], call);
            return Some(made).filter(|_| usable(&own));
        }
        let constructors = members().filter(|(_, member)| &*member.name == "<init>");
        for (index, member) in constructors {
            let Some(desc) = MethodDesc::parse(&member.desc).filter(|desc| usable(desc)) else { continue };
            if made.constructors.len() < MOST_CONSTRUCTORS {
                let call = made.call(found(index), "", &desc, &format!("new{}_", made.constructors.len() + 1));
                made.constructors.push(call);
            }
        }
        let changing: Vec<(usize, MethodDesc)> = members()
            .filter(|(_, member)| !member.is(access::STATIC) && !member.name.starts_with('<') && changes(member))
            .filter_map(|(index, member)| Some((index, MethodDesc::parse(&member.desc)?)))
            .filter(|(_, desc)| usable(desc))
            .take(MOST_CALLS)
            .collect();
        let slots = if changing.len() > 3 { 2 } else { 3 };
        for slot in 0..slots {
            if changing.is_empty() {
                break;
            }
            let selector = made.selector(&format!("call{}", slot + 1));
            let mut calls = Vec::new();
            for (number, (index, desc)) in changing.iter().enumerate() {
                let name = self.classes.method(found(*index)).name.clone();
                calls.push(made.call(found(*index), &name, desc, &format!("call{}_{}_", slot + 1, number + 1)));
            }
            made.slots.push(ScenarioSlot { selector, calls });
        }
        made.tested = made.call(method, &member.name, &own, "");
        let tested = made.tested.clone();
        made.name_own(self, method, &tested);
        Some(made).filter(|made| !made.constructors.is_empty() && usable(&own))
    }

    /// Types of the parameters of the function that tests of a method call.
    pub fn entry_params(&self, method: MethodRef) -> Vec<Desc> {
        match self.scenario(method) {
            Some(scenario) => scenario.params.into_iter().map(|(_, desc)| desc).collect(),
            None => MethodDesc::parse(&self.classes.method(method).desc).map_or(Vec::new(), |desc| desc.params),
        }
    }

    /// The name of that function.
    pub fn entry_name(&self, method: MethodRef) -> String {
        let name = self.shown_name(method);
        if self.classes.method(method).is(access::STATIC) {
            return name;
        }
        let class = self.classes.get(method.class).title().replace('$', ".");
        match name.strip_prefix(&class).and_then(|rest| rest.strip_prefix('.')) {
            Some(rest) => format!("{class}#{rest}"),
            None => name,
        }
    }

    pub fn scenario_function(&mut self, method: MethodRef) -> Result<Function, Refusal> {
        let none = || Refusal::Unsupported("objects that tests can't make".to_string());
        let scenario = self.scenario(method).ok_or_else(none)?;
        let types: Vec<Ty> = scenario.params.iter().map(|(_, desc)| super::builder::ty_of(desc)).collect();
        let mut b = Builder::new(&types);
        let (thrown, landing) = (b.reg(Ty::Ptr), b.block());
        let object = b.reg(Ty::Ptr);
        let is_constructor = &*self.classes.method(method).name == "<init>";
        // A way on which the object can't be made is none.
        b.catcher = (!is_constructor).then_some((thrown, landing));
        self.ensure_init(&mut b, method.class);
        let fresh = self.allocate(&mut b, method.class);
        b.copy(object, fresh);
        self.choose(&mut b, scenario.selector, 0, &scenario.constructors, object);
        for slot in &scenario.slots {
            self.choose(&mut b, slot.selector, 1, &slot.calls, object);
        }
        if !is_constructor {
            self.assume_contract(&mut b, method, &scenario, Operand::Reg(object));
        }
        b.catcher = None;
        let result = match is_constructor {
            true => None,
            false => {
                let args = std::iter::once(Operand::Reg(object)).chain(arguments(&b, &scenario.tested)).collect();
                let result = self.signature(method).1;
                let function = self.func(Func::Method(method));
                let value = b.call(function, args, result);
                result.map(|_| value)
            }
        };
        b.ret(result);
        b.at(landing);
        b.builtin(Builtin::Assume, vec![Operand::Const(Ty::I1, 0)], None);
        b.end(TermKind::Unreachable);
        let desc = MethodDesc::parse(&self.classes.method(method).desc).ok_or_else(none)?;
        let (name, data) = (self.entry_name(method), self.data_of(&desc.result, Use::Result));
        let mut function = b.finish(name, result_ty(&desc.result), data, FunctionRole::Program);
        for (param, (name, desc)) in function.params.iter_mut().zip(&scenario.params) {
            param.name.clone_from(name);
            param.data = self.data_of(desc, Use::Input);
        }
        Ok(function)
    }

    /// Makes the call that a selector says; more than all of them is a way that nobody follows.
    fn choose(
        &mut self,
        b: &mut Builder,
        selector: usize,
        first: u64,
        calls: &[ScenarioCall],
        object: touchstone_ir::Reg,
    ) {
        let entry = b.here();
        let done = b.block();
        let mut arms = Vec::new();
        let arm = |value: u64, target| SwitchArm { low: value, high: value, signed: false, target };
        if first > 0 {
            arms.push(arm(0, done));
        }
        for (number, call) in calls.iter().enumerate() {
            let block = b.block();
            arms.push(arm(number as u64 + first, block));
            b.at(block);
            let args = std::iter::once(Operand::Reg(object)).chain(arguments(b, call)).collect();
            self.call_method(b, call.method, args);
            b.jump(done);
        }
        let others = b.block();
        b.at(others);
        b.unsupported("objects that other constructors or more calls make");
        b.at(entry);
        b.switch(b.param(selector), arms, others, BranchRole::Check);
        b.at(done);
    }

    /// Answers whether arguments are such as a caller can have: a string has its bytes.
    pub fn possible(&mut self, b: &mut Builder, method: MethodRef) -> Result<(), Refusal> {
        let string = self.jdk(STRING)?;
        let value = self.classes.field_named(string, "value").map_or(0, |field| field.offset);
        let no = b.block();
        for (index, param) in self.entry_params(method).iter().enumerate() {
            if !matches!(param, Desc::Ref(name) if &**name == STRING) {
                continue;
            }
            let given = b.param(index);
            let (look, next) = (b.block(), b.block());
            let null = b.cmp(touchstone_ir::CmpOp::Eq, given, NULL);
            b.branch(null, next, look, BranchRole::Check);
            b.at(look);
            let bytes = b.load(given, value as i64, Ty::Ptr);
            let there = b.cmp(touchstone_ir::CmpOp::Ne, bytes, NULL);
            b.branch(there, next, no, BranchRole::Check);
            b.at(next);
        }
        b.ret(Some(int(1)));
        b.at(no);
        b.ret(Some(int(0)));
        Ok(())
    }
}

impl Scenario {
    /// Parameters of the tested method have the names of the source.
    fn name_own(&mut self, world: &World, method: MethodRef, call: &ScenarioCall) {
        let Some(code) = world.classes.method(method).code() else { return };
        let mut local = 1;
        for index in &call.arguments {
            let (name, desc) = &mut self.params[*index];
            if let Some(known) = code.local_name(local, 0) {
                *name = known.to_string();
            }
            local += if desc.is_wide() { 2 } else { 1 };
        }
    }
}

fn arguments(b: &Builder, call: &ScenarioCall) -> Vec<Operand> {
    call.arguments.iter().map(|index| b.param(*index)).collect()
}

/// Whether a method's code may change an object.
fn changes(member: &crate::classfile::Member) -> bool {
    let Some(code) = member.code() else { return false };
    let insns = decode(&code.bytes, code.offset).unwrap_or_default();
    insns.iter().any(|insn| {
        matches!(
            insn.insn,
            Insn::PutField(_)
                | Insn::ArrayStore(_)
                | Insn::InvokeVirtual(_)
                | Insn::InvokeSpecial(_)
                | Insn::InvokeInterface(_)
        )
    })
}
