//! The function that tests of a method call: it makes objects as a caller would, and then calls the method.
//!
//! Objects that need more calls, or others, are a way that stops by name: no verdict may say that there are none. A way on which
//! making an object throws is none: nobody gets to call the method.

use super::builder::{Builder, NULL, int, long, ty_of};
use super::making::{HeapInput, PlannedFixture, Results};
use super::outer::object_of;
use super::planning::Planned;
use super::types::Use;
use super::world::{Data, Func, Kept, World, result_ty};
use crate::classfile::{Desc, MethodDesc, access};
use crate::lower::STRING;
use crate::world::{ARRAY_BASE, ClassId, MethodRef, Refusal, Shape, StubMember};
use std::sync::Arc;
use touchstone_fixture_java::{
    ApiCall, CallSlot, Completeness, Construction, FillLoops, FillPosition, FixtureValue, ObjectPlan,
    SYMBOLIC_HEAP_CHOICE, SymbolicHeap, TestedCall,
};
use touchstone_ir::{
    BinOp, BlockId, BranchRole, Builtin, CmpOp, FuncId, Function, FunctionRole, Operand, Reg, SwitchArm, TermKind, Ty,
};

/// What a way that is not followed is called.
const OTHERS: &str = "objects that other constructors or more calls make";
const CALLERS: &str = "calls by methods that tests don't call";
const LONGER: &str = "arrays or collections with more elements";

/// A scenario in the making.
struct Playing {
    b: Builder,
    /// Objects, by their numbers.
    objects: Vec<Reg>,
    /// Where what can't be goes.
    never: BlockId,
    /// The parameters that are texts.
    texts: Vec<bool>,
    /// The method whose call is only prepared.
    prepared: Option<MethodRef>,
    /// Objects that may be inputs.
    heaps: Vec<(SymbolicHeap, HeapInput)>,
    /// The number of the object that the method is called on.
    receiver: Option<usize>,
}

pub(super) fn arm(value: usize, target: BlockId) -> SwitchArm {
    SwitchArm { low: value as u64, high: value as u64, signed: false, target }
}

impl World {
    fn scenario(&self, method: MethodRef) -> Option<Arc<PlannedFixture>> {
        match self.plans.get(&method) {
            Some(Planned::Made(scenario)) => Some(scenario.clone()),
            _ => None,
        }
    }

    /// The method that tests of another call at last.
    pub fn called_for(&self, method: MethodRef) -> MethodRef {
        self.scenario(method).map_or(method, |scenario| scenario.called())
    }

    /// Whether nobody looks at what is returned by what tests of a method call.
    pub fn drops_results(&self, method: MethodRef) -> bool {
        self.scenario(method).is_some_and(|scenario| scenario.results == Results::Dropped)
    }

    /// Types of the parameters of the function that tests of a method call.
    pub fn entry_params(&self, method: MethodRef) -> Vec<Desc> {
        match self.scenario(method) {
            Some(scenario) => scenario.param_types.clone(),
            None => MethodDesc::parse(&self.classes.method(method).desc).map_or(Vec::new(), |desc| desc.params),
        }
    }

    /// The name of that function.
    pub fn entry_name(&self, method: MethodRef) -> String {
        let name = self.shown_name(method);
        if self.scenario(method).is_none() && self.classes.method(method).is(access::STATIC) {
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
        let b = self.play(method, &scenario, None)?;
        let result = match scenario.results {
            Results::OfOneType => {
                MethodDesc::parse(&self.classes.method(scenario.called()).desc).ok_or_else(none)?.result
            }
            Results::Dropped => Desc::Void,
        };
        let (name, data) = (self.entry_name(method), self.data_of(&result, Use::Result));
        let function = b.finish(name, result_ty(&result), data, FunctionRole::Program);
        Ok(self.with_params(function, &scenario))
    }

    /// Makes all that a call needs, and keeps it.
    pub fn prepared_function(&mut self, method: MethodRef, name: &str) -> Result<Function, Refusal> {
        let none = || Refusal::Unsupported("objects that tests can't make".to_string());
        let scenario = self.scenario(method).ok_or_else(none)?;
        let b = self.play(method, &scenario, Some(method))?;
        let function = self.helper(b, name.to_string(), None);
        Ok(self.with_params(function, &scenario))
    }

    fn with_params(&mut self, mut function: Function, scenario: &PlannedFixture) -> Function {
        for (param, (name, desc)) in
            function.params.iter_mut().zip(scenario.fixture.parameters.iter().zip(&scenario.param_types))
        {
            param.name.clone_from(name);
            param.data = self.data_of(desc, Use::Input);
        }
        for (heap, input) in scenario.fixture.heaps.iter().zip(&scenario.heaps) {
            if let Some(param) = function.params.get_mut(heap.param) {
                param.data = input.data;
            }
        }
        function
    }

    /// The body of what tests call: objects, and the call, or only what it would get.
    fn play(
        &mut self,
        method: MethodRef,
        scenario: &PlannedFixture,
        prepared: Option<MethodRef>,
    ) -> Result<Builder, Refusal> {
        let types: Vec<Ty> = scenario.param_types.iter().map(ty_of).collect();
        let mut b = Builder::new(&types);
        let (thrown, never) = (b.reg(Ty::Ptr), b.block());
        let objects = (0..scenario.objects).map(|_| b.reg(Ty::Ptr)).collect();
        b.catcher = Some((thrown, never));
        let is_text = |desc: &Desc| matches!(desc, Desc::Ref(name) if &**name == STRING);
        let texts = scenario.param_types.iter().map(is_text).collect();
        let mut playing = Playing {
            b,
            objects,
            never,
            texts,
            prepared,
            heaps: scenario.fixture.heaps.iter().cloned().zip(scenario.heaps.iter().cloned()).collect(),
            receiver: scenario.fixture.receiver.as_ref().and_then(object_of),
        };
        self.ensure_init(&mut playing.b, method.class);
        let receiver =
            scenario.fixture.receiver.as_ref().map(|receiver| self.make(&mut playing, receiver)).transpose()?;
        let result = self.call_tested(&mut playing, &scenario.fixture.tested, scenario.results, receiver)?;
        let Playing { mut b, .. } = playing;
        b.ret(result.filter(|_| prepared.is_none()));
        b.at(never);
        b.builtin(Builtin::Assume, vec![Operand::Const(Ty::I1, 0)], None);
        b.end(TermKind::Unreachable);
        Ok(b)
    }

    /// Keeps what somebody may want to know of a prepared call.
    fn keep(&mut self, p: &mut Playing, kept: Kept, value: Operand) {
        if let Some(method) = p.prepared {
            let place = self.datum(Data::Kept(method, kept));
            let place = p.b.global(place);
            p.b.store(place, 0, value);
        }
    }

    /// Makes the call that is tested; gives its result.
    fn call_tested(
        &mut self,
        p: &mut Playing,
        tested: &TestedCall,
        results: Results,
        receiver: Option<Operand>,
    ) -> Result<Option<Operand>, Refusal> {
        let Some(selector) = tested.selector else { return self.make_tested(p, tested, 0, receiver) };
        let result = self.signature(tested.calls[0].method).1.filter(|_| results == Results::OfOneType);
        let value = result.map(|ty| p.b.reg(ty));
        let (entry, done, making) = (p.b.here(), p.b.block(), p.b.catcher);
        let mut arms = Vec::new();
        for number in 0..tested.calls.len() {
            let block = p.b.block();
            arms.push(arm(number, block));
            p.b.at(block);
            p.b.catcher = making;
            let left = self.make_tested(p, tested, number, receiver)?;
            if let (Some(value), Some(own)) = (value, left) {
                p.b.copy(value, own);
            }
            p.b.jump(done);
        }
        let others = match tested.completeness {
            Completeness::Complete => p.never,
            Completeness::Incomplete => Playing::stop(p, CALLERS),
        };
        p.b.at(entry);
        p.b.switch(p.b.param(selector), arms, others, BranchRole::Check);
        p.b.at(done);
        Ok(value.map(Operand::Reg))
    }

    fn make_tested(
        &mut self,
        p: &mut Playing,
        tested: &TestedCall,
        number: usize,
        receiver: Option<Operand>,
    ) -> Result<Option<Operand>, Refusal> {
        let call = &tested.calls[number];
        let mut arguments: Vec<Operand> = receiver.into_iter().collect();
        arguments.extend(self.make_arguments(p, call)?);
        self.assume_contract(&mut p.b, call.method, &arguments);
        p.b.catcher = None;
        let is_constructor = &*self.classes.method(call.method).name == "<init>";
        if is_constructor {
            let object = self.allocate(&mut p.b, call.method.class);
            arguments.insert(0, p.b.kept(object));
        }
        if p.prepared.is_some() {
            for (index, argument) in arguments.into_iter().enumerate() {
                self.keep(p, Kept::Argument(index), argument);
            }
            return Ok(None);
        }
        let result = self.signature(call.method).1;
        let function = self.tested_function(tested, number, receiver.is_some());
        let value = p.b.call(function, arguments.clone(), result);
        let value = result.map(|_| value);
        self.keep_answer(&mut p.b, call.method, &arguments, value);
        Ok(value)
    }

    /// The function that is called at last.
    pub(super) fn tested_function(&mut self, tested: &TestedCall, number: usize, on_object: bool) -> FuncId {
        let method = tested.calls[number].method;
        // An only one was what the object was made for; subclasses may have another one of several.
        match !on_object || tested.calls.len() == 1 {
            true => self.func(Func::Method(method)),
            false => self.called_on(method),
        }
    }

    /// The function that a call of a method on any object is.
    pub(super) fn called_on(&mut self, method: MethodRef) -> FuncId {
        match self.is_fixed(method) {
            true => self.func(Func::Method(method)),
            false => self.newest(|generation| Func::Dispatch(method, generation)),
        }
    }

    fn make(&mut self, p: &mut Playing, making: &FixtureValue) -> Result<Operand, Refusal> {
        match making {
            FixtureValue::Parameter(index) if p.texts[*index] => {
                let (given, there, done) = (p.b.param(*index), p.b.block(), p.b.block());
                let null = p.b.cmp(CmpOp::Eq, given, NULL);
                p.b.branch(null, done, there, BranchRole::Check);
                p.b.at(there);
                self.assume_text(p, given)?;
                p.b.jump(done);
                p.b.at(done);
                Ok(given)
            }
            FixtureValue::Parameter(index) => Ok(p.b.param(*index)),
            FixtureValue::Object(object) => self.make_object(p, object),
        }
    }

    /// A text has its bytes. Asked only where it is used: to ask it of all texts before anything is made would decide for each of
    /// them what it is.
    fn assume_text(&mut self, p: &mut Playing, given: Operand) -> Result<(), Refusal> {
        let string = self.jdk(STRING)?;
        let value = self.classes.field_named(string, "value").map_or(0, |field| field.offset);
        let bytes = p.b.load(given, value as i64, Ty::Ptr);
        let there = p.b.cmp(CmpOp::Ne, bytes, NULL);
        p.b.check(there, p.never);
        Ok(())
    }

    fn make_object(&mut self, p: &mut Playing, object: &ObjectPlan) -> Result<Operand, Refusal> {
        let made = p.objects[object.number];
        let (entry, used, done) = (p.b.here(), p.b.block(), p.b.block());
        let (filled, chosen) = (p.b.block(), p.b.reg(Ty::I32));
        p.b.copy(chosen, int(0));
        let mut arms = Vec::new();
        for (number, way) in object.constructions.iter().enumerate() {
            let block = p.b.block();
            arms.push(arm(number, block));
            p.b.at(block);
            let value = self.make_way(p, way)?;
            p.b.copy(made, value);
            let changes = matches!(way, Construction::New(_) | Construction::Factory(_) | Construction::Stub { .. });
            let is_filled = object.fill_loops.as_ref().is_some_and(|many| many.constructions.contains(&number));
            p.b.jump(if is_filled {
                filled
            } else if changes {
                used
            } else {
                done
            });
        }
        if let Some((heap, input)) = p.heaps.iter().find(|(heap, _)| heap.object == object.number).cloned() {
            let block = p.b.block();
            arms.push(arm(SYMBOLIC_HEAP_CHOICE as usize, block));
            p.b.at(block);
            self.take_heap(p, &heap, &input);
            p.b.copy(made, p.b.param(heap.param));
            p.b.jump(done);
        }
        let others = match object.completeness {
            Completeness::Complete => p.never,
            Completeness::Incomplete => Playing::stop(p, OTHERS),
        };
        p.b.at(entry);
        p.b.switch(p.b.param(object.selector), arms, others, BranchRole::Check);
        p.b.at(filled);
        if let Some(many) = &object.fill_loops {
            let others = Playing::stop(p, OTHERS);
            p.b.copy(chosen, p.b.param(many.selector));
            self.make_many(&mut p.b, many, (chosen, FillPosition::First), made, others)?;
        }
        p.b.jump(used);
        p.b.at(used);
        let is_later =
            |many: &&FillLoops| many.loops.iter().any(|series| series.position == FillPosition::AfterOneCall);
        let mut later = object.fill_loops.as_ref().filter(is_later);
        for slot in &object.slots {
            self.make_call(p, slot, made, done)?;
            if let Some(many) = later.take() {
                let others = Playing::stop(p, OTHERS);
                self.make_many(&mut p.b, many, (chosen, FillPosition::AfterOneCall), made, others)?;
            }
        }
        p.b.jump(done);
        p.b.at(done);
        self.keep(p, Kept::Object(object.number), Operand::Reg(made));
        Ok(Operand::Reg(made))
    }

    /// An object is an input. Where there are objects, their classes were initialised.
    fn take_heap(&mut self, p: &mut Playing, heap: &SymbolicHeap, input: &HeapInput) {
        for class in &input.classes {
            self.ensure_init(&mut p.b, *class);
        }
        let object = p.b.param(heap.param);
        if p.receiver == Some(heap.object) {
            // What its class keeps is asked before the call.
            let there = p.b.cmp(CmpOp::Ne, object, NULL);
            p.b.check(there, p.never);
            return;
        }
        let Some(invariant) = self.invariant(input.class) else { return };
        let (ask, done) = (p.b.block(), p.b.block());
        let null = p.b.cmp(CmpOp::Eq, object, NULL);
        p.b.branch(null, done, ask, BranchRole::Check);
        p.b.at(ask);
        let function = self.called_on(invariant);
        let answer = p.b.call(function, vec![object], Some(Ty::I32));
        let holds = p.b.cmp(CmpOp::Ne, answer, int(0));
        p.b.builtin(Builtin::Assume, vec![holds], None);
        p.b.jump(done);
        p.b.at(done);
    }

    /// Makes the call that a selector says; none goes on to where the object is used.
    fn make_call(&mut self, p: &mut Playing, slot: &CallSlot, object: Reg, done: BlockId) -> Result<(), Refusal> {
        let (entry, next) = (p.b.here(), p.b.block());
        let mut arms = vec![arm(0, done)];
        for (number, call) in slot.calls.iter().enumerate() {
            let block = p.b.block();
            arms.push(arm(number + 1, block));
            p.b.at(block);
            let mut arguments = vec![Operand::Reg(object)];
            for making in &call.arguments {
                arguments.push(self.make(p, making)?);
            }
            let result = self.signature(call.method).1;
            let function = self.called_on(call.method);
            let value = p.b.call(function, arguments, result);
            if result.is_some() {
                self.keep(p, Kept::Call(slot.selector), value);
            }
            p.b.jump(next);
        }
        let others = Playing::stop(p, OTHERS);
        p.b.at(entry);
        p.b.switch(p.b.param(slot.selector), arms, others, BranchRole::Check);
        p.b.at(next);
        Ok(())
    }

    fn make_way(&mut self, p: &mut Playing, way: &Construction) -> Result<Operand, Refusal> {
        match way {
            Construction::Null => Ok(NULL),
            Construction::Same(number) => Ok(Operand::Reg(p.objects[*number])),
            Construction::Parameter(index) => {
                // Null is a way of its own.
                let given = p.b.param(*index);
                let there = p.b.cmp(CmpOp::Ne, given, NULL);
                p.b.check(there, p.never);
                if p.texts[*index] {
                    self.assume_text(p, given)?;
                }
                Ok(given)
            }
            Construction::New(call) => self.make_new(p, call.method.class, call),
            Construction::Factory(call) | Construction::Boxed(call) => {
                let arguments = self.make_all(p, &call.arguments)?;
                self.ensure_init(&mut p.b, call.method.class);
                let made = self.call_method(&mut p.b, call.method, arguments);
                let there = p.b.cmp(CmpOp::Ne, made, NULL);
                p.b.check(there, p.never);
                Ok(made)
            }
            Construction::Constant { field, .. } => {
                self.ensure_init(&mut p.b, field.class);
                let place = self.datum(Data::Static(*field));
                let place = p.b.global(place);
                Ok(p.b.load(place, 0, Ty::Ptr))
            }
            Construction::Array { class, size, elements, .. } => self.make_array(p, *class, *size, elements),
            Construction::Collection { create, add, size, elements, .. } => {
                let object = self.make_new(p, create.method.class, create)?;
                self.counted(p, *size, elements.len(), |world, p, index| {
                    let mut arguments = vec![object];
                    arguments.extend(world.make_all(p, &elements[index])?);
                    world.call_method(&mut p.b, *add, arguments);
                    Ok(())
                })?;
                Ok(object)
            }
            Construction::Stub { class, create, methods, .. } => {
                let answers: Vec<&FixtureValue> = methods.iter().flat_map(|method| &method.answers).collect();
                let mut values = Vec::new();
                for answer in answers {
                    values.push(self.make(p, answer)?);
                }
                let object = match create {
                    Some(call) => self.make_new(p, *class, call)?,
                    None => {
                        let object = self.allocate(&mut p.b, *class);
                        p.b.kept(object)
                    }
                };
                for (index, value) in values.into_iter().enumerate() {
                    let (offset, desc) = self.answer_place(*class, index)?;
                    let place = p.b.add(object, long(offset));
                    p.b.store_as(place, &desc, value);
                }
                for (index, method) in methods.iter().enumerate() {
                    let Some(meddles) = &method.mutation else { continue };
                    let choice = p.b.param(meddles.selector);
                    let known = p.b.cmp(CmpOp::Ule, choice, int(2));
                    p.b.check(known, p.never);
                    p.b.store(object, self.stub_field(*class, &format!("meddles${index}"))?.0, choice);
                    let tested = Operand::Reg(p.objects[meddles.object]);
                    p.b.store(object, self.stub_field(*class, "tested$")?.0, tested);
                }
                for (index, method) in methods.iter().enumerate() {
                    let Some(throws) = &method.throws else { continue };
                    let choice = p.b.param(throws.selector);
                    let known = p.b.cmp(CmpOp::Ule, choice, int(throws.exceptions.len() as i32));
                    p.b.check(known, p.never);
                    p.b.store(object, self.stub_field(*class, &format!("throws${index}"))?.0, choice);
                }
                Ok(object)
            }
        }
    }

    fn make_all(&mut self, p: &mut Playing, makings: &[FixtureValue]) -> Result<Vec<Operand>, Refusal> {
        makings.iter().map(|making| self.make(p, making)).collect()
    }

    /// What a call takes: for a new object inside of another, that one first. There is none inside of null.
    fn make_arguments(&mut self, p: &mut Playing, call: &ApiCall) -> Result<Vec<Operand>, Refusal> {
        let mut arguments = Vec::new();
        if let Some(outer) = &call.enclosing {
            let outer = self.make(p, outer)?;
            let there = p.b.cmp(CmpOp::Ne, outer, NULL);
            p.b.check(there, p.never);
            arguments.push(outer);
        }
        arguments.extend(self.make_all(p, &call.arguments)?);
        Ok(arguments)
    }

    fn make_new(&mut self, p: &mut Playing, class: ClassId, call: &ApiCall) -> Result<Operand, Refusal> {
        let mut arguments = self.make_arguments(p, call)?;
        self.ensure_init(&mut p.b, class);
        let object = self.allocate(&mut p.b, class);
        let object = p.b.kept(object);
        arguments.insert(0, object);
        self.call_method(&mut p.b, call.method, arguments);
        Ok(object)
    }

    fn make_array(
        &mut self,
        p: &mut Playing,
        class: ClassId,
        size: usize,
        elements: &[FixtureValue],
    ) -> Result<Operand, Refusal> {
        // As long as a constant says: nobody has to find out later.
        let array = p.b.reg(Ty::Ptr);
        let (entry, made) = (p.b.here(), p.b.block());
        let mut arms = Vec::new();
        for length in 0..=elements.len() {
            let block = p.b.block();
            arms.push(arm(length, block));
            p.b.at(block);
            let fresh = self.allocate_array(&mut p.b, class, int(length as i32))?;
            p.b.copy(array, fresh);
            p.b.jump(made);
        }
        let longer = Playing::stop(p, LONGER);
        p.b.at(entry);
        p.b.switch(p.b.param(size), arms, longer, BranchRole::Check);
        p.b.at(made);
        self.counted(p, size, elements.len(), |world, p, index| {
            let value = world.make(p, &elements[index])?;
            p.b.store(Operand::Reg(array), ARRAY_BASE + 8 * index as i64, value);
            Ok(())
        })?;
        Ok(Operand::Reg(array))
    }

    /// Does something as often as a parameter says.
    fn counted(
        &mut self,
        p: &mut Playing,
        size: usize,
        most: usize,
        mut body: impl FnMut(&mut World, &mut Playing, usize) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let count = p.b.param(size);
        let done = p.b.block();
        let longer = Playing::stop(p, LONGER);
        let fits = p.b.cmp(CmpOp::Ule, count, int(most as i32));
        p.b.check(fits, longer);
        for index in 0..most {
            let more = p.b.cmp(CmpOp::Ult, int(index as i32), count);
            p.b.check(more, done);
            body(self, p, index)?;
        }
        p.b.jump(done);
        p.b.at(done);
        Ok(())
    }

    fn answer_place(&self, class: ClassId, index: usize) -> Result<(i64, Desc), Refusal> {
        self.stub_field(class, &format!("answer${index}"))
    }

    fn stub_field(&self, class: ClassId, name: &str) -> Result<(i64, Desc), Refusal> {
        let field = self.classes.field_named(class, name);
        let field = field.ok_or_else(|| Refusal::NoField(name.to_string()))?;
        Ok((field.offset as i64, field.desc.clone()))
    }

    /// What a method of a stub does.
    pub fn stub_body(&mut self, b: &mut Builder, class: ClassId, index: usize) -> Result<(), Refusal> {
        let Shape::Stub(methods) = self.classes.get(class).shape.clone() else {
            return Err(Refusal::Malformed("no stub".to_string()));
        };
        if let Some(called) = methods[index].meddles {
            self.meddle_if_asked(b, class, index, called)?;
        }
        self.throw_if_asked(b, class, index, &methods[index])?;
        let first: usize = methods[..index].iter().map(|method| method.answers).sum();
        let this = b.param(0);
        let called_with: Vec<Operand> = (1..=methods[index].desc.params.len()).map(|at| b.param(at)).collect();
        let load = |world: &mut World, b: &mut Builder, number: usize| -> Result<Operand, Refusal> {
            let (offset, desc) = world.answer_place(class, first + number)?;
            let place = b.add(this, long(offset));
            let value = b.load_as(place, &desc);
            if let Some(said) = &methods[index].described {
                let value = b.kept(value);
                world.as_said(b, said, "returns", called_with.iter().copied().chain([value]).collect())?;
                return Ok(value);
            }
            Ok(value)
        };
        match methods[index].answers {
            0 => {
                if let Some(said) = &methods[index].described {
                    self.as_said(b, said, "returns", called_with)?;
                }
                b.ret(None);
            }
            1 => {
                let value = load(self, b, 0)?;
                b.ret(Some(value));
            }
            _ => {
                let (calls, _) = self.stub_field(class, &format!("calls${index}"))?;
                let before = b.load(this, calls, Ty::I32);
                let next = b.bin(BinOp::Add, before, int(1));
                b.store(this, calls, next);
                let is_first = b.cmp(CmpOp::Eq, before, int(0));
                let (one, other) = (b.block(), b.block());
                b.branch(is_first, one, other, BranchRole::Check);
                for (number, block) in [one, other].into_iter().enumerate() {
                    b.at(block);
                    let value = load(self, b, number)?;
                    b.ret(Some(value));
                }
            }
        }
        Ok(())
    }

    /// Changes the object whose method is tested, if the stub was told to: from now on, or from the next call on.
    fn meddle_if_asked(
        &mut self,
        b: &mut Builder,
        class: ClassId,
        index: usize,
        called: MethodRef,
    ) -> Result<(), Refusal> {
        let (offset, _) = self.stub_field(class, &format!("meddles${index}"))?;
        let choice = b.load(b.param(0), offset, Ty::I32);
        let (there, later, next) = (b.block(), b.block(), b.block());
        let arms = vec![arm(1, there), arm(2, later)];
        b.switch(choice, arms, next, BranchRole::Check);
        b.at(later);
        b.store(b.param(0), offset, int(1));
        b.jump(next);
        b.at(there);
        let tested = b.load(b.param(0), self.stub_field(class, "tested$")?.0, Ty::Ptr);
        let result = self.signature(called).1;
        let function = match self.is_fixed(called) {
            true => self.func(Func::Method(called)),
            false => self.newest(|generation| Func::Dispatch(called, generation)),
        };
        b.call(function, vec![tested], result);
        b.jump(next);
        b.at(next);
        Ok(())
    }

    /// Throws what the stub was told to throw, if anything.
    fn throw_if_asked(
        &mut self,
        b: &mut Builder,
        class: ClassId,
        index: usize,
        method: &StubMember,
    ) -> Result<(), Refusal> {
        let makers = &method.throws;
        if makers.is_empty() {
            return Ok(());
        }
        let (offset, _) = self.stub_field(class, &format!("throws${index}"))?;
        let choice = b.load(b.param(0), offset, Ty::I32);
        let (entry, next) = (b.here(), b.block());
        let mut arms = Vec::new();
        for (number, maker) in makers.iter().enumerate() {
            let block = b.block();
            arms.push(arm(number + 1, block));
            b.at(block);
            if let Some(said) = &method.described {
                let arguments = (1..=method.desc.params.len()).map(|at| b.param(at)).collect();
                self.as_said(b, said, &format!("throws{}", number + 1), arguments)?;
            }
            self.ensure_init(b, maker.class);
            let object = self.allocate(b, maker.class);
            let object = b.kept(object);
            self.call_method(b, *maker, vec![object]);
            b.throw(object);
        }
        b.at(entry);
        b.switch(choice, arms, next, BranchRole::Check);
        b.at(next);
        Ok(())
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
            let null = b.cmp(CmpOp::Eq, given, NULL);
            b.branch(null, next, look, BranchRole::Check);
            b.at(look);
            let bytes = b.load(given, value as i64, Ty::Ptr);
            let there = b.cmp(CmpOp::Ne, bytes, NULL);
            b.branch(there, next, no, BranchRole::Check);
            b.at(next);
        }
        b.ret(Some(int(1)));
        b.at(no);
        b.ret(Some(int(0)));
        Ok(())
    }
}

impl Playing {
    /// A block that stops with a name.
    fn stop(p: &mut Playing, what: &str) -> BlockId {
        let (here, block) = (p.b.here(), p.b.block());
        p.b.at(block);
        p.b.unsupported(what);
        p.b.at(here);
        block
    }
}
