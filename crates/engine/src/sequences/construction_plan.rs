//! Plans of call sequences that construct the arguments of a function, as its callers do: an object is created, changed
//! by a few calls, and passed to the function.
//!
//! Deliberately not here: objects of types that no function creates. They are inputs of the driver, like numbers.

use crate::inputs::object_api::{ObjectApi, ObjectApis};
use crate::inputs::persistent_state::state_changers;
use crate::sequences::call_sequence::{ConstructedObject, SequenceCall};
use touchstone_ir::{DataTypeId, FuncId, Module};

/// The maximum number of objects that a sequence constructs.
const MAX_OBJECTS: usize = 3;
/// The maximum depth of objects that are arguments of creators.
const MAX_DEPTH: usize = 2;
/// The maximum number of calls that a turn selects from.
const MAX_WAYS: usize = 8;

/// A way to construct the arguments of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConstructionPlan {
    /// The objects, in the order of their creation.
    pub objects: Vec<ConstructedObject>,
    /// The calls that may change them.
    pub ways: Vec<SequenceCall>,
    /// The call under test.
    pub last: SequenceCall,
}

/// Returns the ways to construct the arguments of a function and to change the private variables that it reads; none if
/// no function of the program does either. `precondition` returns the precondition of a function.
pub fn construction_plans(
    module: &Module,
    apis: &ObjectApis,
    func: FuncId,
    precondition: &dyn Fn(FuncId) -> Option<FuncId>,
) -> Vec<ConstructionPlan> {
    let mut plans = Vec::new();
    let mut choice = 0;
    loop {
        let mut planner =
            Planner { module, known: apis, func, precondition, choice, most: 0, objects: Vec::new(), apis: Vec::new() };
        let Some(plan) = planner.plan() else { break };
        choice += 1;
        let most = planner.most;
        if !plans.contains(&plan) {
            plans.push(plan);
        }
        if choice >= most {
            break;
        }
    }
    plans
}

struct Planner<'m> {
    module: &'m Module,
    known: &'m ObjectApis,
    func: FuncId,
    precondition: &'m dyn Fn(FuncId) -> Option<FuncId>,
    /// The index of the creators to use.
    choice: usize,
    /// The maximum number of creators of a type.
    most: usize,
    objects: Vec<ConstructedObject>,
    /// The functions for each object.
    apis: Vec<ObjectApi>,
}

impl Planner<'_> {
    fn plan(&mut self) -> Option<ConstructionPlan> {
        let mut bound = Vec::new();
        for (index, param) in self.module.functions[self.func].own_params().iter().enumerate() {
            if let Some(object) = self.construct(param.data, &param.name, 0) {
                bound.push((index, object));
            }
        }
        let changers = state_changers(self.module, self.func);
        if bound.is_empty() && changers.is_empty() {
            return None;
        }
        let last = SequenceCall { bound, ..self.call(self.func) };
        let mut ways = Vec::new();
        for object in 0..self.objects.len() {
            for (func, at) in self.apis[object].modifiers.clone() {
                ways.extend(self.changing_call(func, Some((at, object))));
            }
        }
        for func in changers {
            if !ways.iter().any(|way: &SequenceCall| way.func == func) {
                ways.extend(self.changing_call(func, None));
            }
        }
        ways.truncate(MAX_WAYS);
        Some(ConstructionPlan { objects: std::mem::take(&mut self.objects), ways, last })
    }

    fn call(&self, func: FuncId) -> SequenceCall {
        SequenceCall::of(func, (self.precondition)(func))
    }

    /// Plans the construction of an object for a pointer; returns its index, or `None` if it is an input.
    fn construct(&mut self, pointer: DataTypeId, name: &str, depth: usize) -> Option<usize> {
        if depth > MAX_DEPTH || self.objects.len() >= MAX_OBJECTS {
            return None;
        }
        let api = self.known.for_callers_of(self.module, self.func, pointer)?;
        self.most = self.most.max(api.creators.len());
        let creator = *api.creators.get(self.choice).or(api.creators.last())?;
        let mut call = self.call(creator.func);
        let before = self.objects.len();
        for (index, param) in self.module.functions[creator.func].own_params().iter().enumerate() {
            let is_own = creator.creation.param() == Some(index);
            if !is_own && let Some(object) = self.construct(param.data, &param.name, depth + 1) {
                call.bound.push((index, object));
            }
        }
        if self.objects.len() >= MAX_OBJECTS {
            self.objects.truncate(before);
            self.apis.truncate(before);
            return None;
        }
        let object = self.objects.len();
        call.bound.extend(creator.creation.param().map(|param| (param, object)));
        self.objects.push(ConstructedObject {
            name: self.free_name(name),
            element: api.element,
            creator: call,
            creation: creator.creation,
            release: api.releases.first().copied(),
        });
        self.apis.push(api);
        Some(object)
    }

    fn free_name(&self, name: &str) -> String {
        let wanted = if name.is_empty() { "object" } else { name };
        let taken = |name: &String| self.objects.iter().any(|object| object.name == *name);
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let free = std::iter::once(wanted.to_string()).chain(numbered).find(|name| !taken(name));
        free.unwrap_or_default()
    }

    /// Returns a call that changes an object, or private variables. Its other arguments of constructed types are other
    /// objects; if there are none, the call is left out.
    fn changing_call(&self, func: FuncId, changed: Option<(usize, usize)>) -> Option<SequenceCall> {
        let mut call = self.call(func);
        call.bound.extend(changed);
        for (index, param) in self.module.functions[func].own_params().iter().enumerate() {
            if changed.is_some_and(|(at, _)| at == index) {
                continue;
            }
            let Some(api) = self.known.for_callers_of(self.module, self.func, param.data) else { continue };
            let is_used = |object: usize| call.bound.iter().any(|(_, used)| *used == object);
            let mut objects = 0..self.objects.len();
            let other = objects.find(|object| !is_used(*object) && self.apis[*object].element == api.element)?;
            call.bound.push((index, other));
        }
        Some(call)
    }
}
