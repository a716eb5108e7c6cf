//! Call sequences as one function: a test may call other functions before the one under test, which then reads the
//! state that they left.
//!
//! The calls become the body of a *driver*, a function that is added to a copy of the module. Its parameters are those
//! of all calls, and for every call but the last an integer that selects the function; so exploration, execution and
//! confirmation need no knowledge of sequences. [`Sequence::test`] converts its tests into tests that make the calls.
//!
//! `exec/instructions/deduplication.rs` relies on the layout of a driver: for each call but the last the block that
//! selects and one block for each function, then the last call.

use crate::config::{Calls, Config, PrivateGlobals, SequenceStates};
use crate::growth::renamed;
use std::collections::BTreeSet;
use touchstone_base::{Id, IndexMap};
use touchstone_criteria::{EarlierCall, EnvironmentInput, NamedValue, ObjectInput, TestCase, TestKind};
use touchstone_ir::{
    Block, BlockId, BranchRole, Builtin, Callee, CmpOp, DataType, DataTypeId, DataValue, FuncId, Function, Inst,
    InstKind, IntKind, Module, Operand, Param, PointerTarget, Reg, RegInfo, Slot, SwitchArm, TermKind, Terminator, Ty,
};

/// A function that a sequence may call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceCall {
    /// The function.
    pub func: FuncId,
    /// Its precondition.
    pub precondition: Option<FuncId>,
}

/// The plan of a driver.
#[derive(Clone, Copy, Debug)]
pub struct SequencePlan<'a> {
    /// The functions that calls before the last one are selected from.
    pub ways: &'a [SequenceCall],
    /// The last call.
    pub last: SequenceCall,
    /// The number of calls before it.
    pub earlier: usize,
}

/// A call sequence as one function.
#[derive(Debug)]
pub struct Sequence {
    /// The module with the driver.
    pub module: Module,
    /// The driver.
    pub driver: FuncId,
    func: FuncId,
    ways: Vec<FuncId>,
    earlier: usize,
    /// Inputs of the driver that represent a function's own: the function, its input, and the name in the driver.
    names: Vec<(FuncId, String, String)>,
}

impl Sequence {
    /// Creates the driver.
    pub fn new(module: &Module, wanted: SequencePlan<'_>) -> Sequence {
        let mut module = module.clone();
        let number = DataType::Int { name: String::new(), bits: 8, signed: false, kind: IntKind::Number };
        let number = module.types.push(number);
        let mut maker = DriverBuilder::new(&module, wanted, number);
        for turn in 1..=wanted.earlier {
            maker.choice(turn, wanted.ways);
        }
        maker.last(wanted.last);
        let DriverBuilder { driver, names, .. } = maker;
        let driver = module.functions.push(driver);
        let ways = wanted.ways.iter().map(|way| way.func).collect();
        Sequence { module, driver, func: wanted.last.func, ways, earlier: wanted.earlier, names }
    }

    /// Returns the configuration of the driver from that of its function: lengths and ranges of inputs apply in every
    /// call.
    pub fn config(&self, config: &Config, private_globals: PrivateGlobals, kept_states: SequenceStates) -> Config {
        let (mut lengths, mut ranges) = (config.lengths.clone(), config.ranges.clone());
        let mut growth = config.growth.clone().unwrap_or_default();
        for (func, own, name) in &self.names {
            let called = |(part, value): (&String, _)| Some((renamed(part, own, name)?, value));
            lengths.extend(config.lengths.iter().map(|(part, value)| (part, *value)).filter_map(called));
            let called = |(part, value): (&String, _)| Some((renamed(part, own, name)?, value));
            ranges.extend(config.ranges.iter().map(|(part, value)| (part, *value)).filter_map(called));
            if *func == self.func {
                growth = growth.with_copy(own, name);
            }
        }
        Config {
            calls: Calls::Several { private_globals, ways: self.ways.len(), kept_states },
            lengths,
            ranges,
            growth: Some(growth),
            // The driver calls preconditions itself.
            precondition: None,
            oracle: None,
            max_objects: config.max_objects.saturating_mul(1 + self.earlier as u32),
            ..config.clone()
        }
    }

    /// Converts a test of the driver into one that makes the calls. Expected values and coverage are still the
    /// driver's.
    pub fn test(&self, test: &TestCase) -> TestCase {
        let TestKind::Function { params, globals, objects, .. } = &test.kind else { return test.clone() };
        let mut params = params.iter();
        let mut earlier = Vec::new();
        for _ in 0..self.earlier {
            let chosen = match self.ways.len() {
                1 => 0,
                _ => params.next().map_or(0, |number| self.chosen(&number.value)),
            };
            let mut own = Vec::new();
            for (index, way) in self.ways.iter().enumerate() {
                let given = self.given(*way, &mut params);
                if index == chosen {
                    own = given;
                }
            }
            let function = self.module.functions[self.ways[chosen]].name.clone();
            earlier.push(EarlierCall { function, params: own, result: None });
        }
        let params = self.given(self.func, &mut params);
        let mut made = TestParts { earlier, params, globals: globals.clone(), answers: test.answers.clone() };
        let objects = made.keep_used(objects);
        let TestParts { earlier, params, globals, answers } = made;
        TestCase {
            function: self.module.functions[self.func].name.clone(),
            kind: TestKind::Function { earlier, params, globals, objects },
            answers,
            ..test.clone()
        }
    }

    /// Returns the index of the function that a value selects.
    fn chosen(&self, value: &DataValue) -> usize {
        match value {
            DataValue::Int(number) if (*number as usize) < self.ways.len() => *number as usize,
            _ => 0,
        }
    }

    /// Takes the next values as those of a function's own parameters.
    fn given<'t>(&self, func: FuncId, values: &mut impl Iterator<Item = &'t NamedValue>) -> Vec<NamedValue> {
        let params = self.module.functions[func].own_params().iter();
        params.zip(values).map(|(param, value)| NamedValue { name: param.name.clone(), ..value.clone() }).collect()
    }
}

/// The parts of a test that point to its objects.
struct TestParts {
    earlier: Vec<EarlierCall>,
    params: Vec<NamedValue>,
    globals: Vec<NamedValue>,
    answers: Vec<EnvironmentInput>,
}

impl TestParts {
    /// Returns the reachable objects: those of functions that were not selected are dropped.
    fn keep_used(&mut self, objects: &[ObjectInput]) -> Vec<ObjectInput> {
        let mut used = BTreeSet::new();
        let mut open = Vec::new();
        let params = self.earlier.iter().flat_map(|call| &call.params).chain(&self.params);
        params.chain(&self.globals).for_each(|input| add_pointees(&input.value, &mut open));
        for (_, target) in self.answers.iter().flat_map(|answer| &answer.pointers) {
            add_pointees(&DataValue::Pointer(target.clone()), &mut open);
        }
        while let Some(object) = open.pop() {
            if used.insert(object)
                && let Some(object) = objects.get(object)
            {
                object.values.iter().for_each(|value| add_pointees(value, &mut open));
            }
        }
        let kept: Vec<usize> = used.into_iter().filter(|index| *index < objects.len()).collect();
        let mut objects: Vec<ObjectInput> = kept.iter().map(|index| objects[*index].clone()).collect();
        let earlier = self.earlier.iter_mut().flat_map(|call| &mut call.params);
        for input in earlier.chain(&mut self.params).chain(&mut self.globals) {
            renumber_pointees(&mut input.value, &kept);
        }
        objects.iter_mut().flat_map(|object| &mut object.values).for_each(|value| renumber_pointees(value, &kept));
        for (_, target) in self.answers.iter_mut().flat_map(|answer| &mut answer.pointers) {
            renumber_target(target, &kept);
        }
        objects
    }
}

fn add_pointees(value: &DataValue, found: &mut Vec<usize>) {
    match value {
        DataValue::Pointer(PointerTarget::Object { object, .. }) => found.push(*object),
        DataValue::Array(values) | DataValue::Struct(values) => {
            values.iter().for_each(|value| add_pointees(value, found))
        }
        DataValue::Member(_, value) => add_pointees(value, found),
        DataValue::Pointer(_) | DataValue::Int(_) | DataValue::Undefined => {}
    }
}

fn renumber_pointees(value: &mut DataValue, kept: &[usize]) {
    match value {
        DataValue::Pointer(target) => renumber_target(target, kept),
        DataValue::Array(values) | DataValue::Struct(values) => {
            values.iter_mut().for_each(|value| renumber_pointees(value, kept));
        }
        DataValue::Member(_, value) => renumber_pointees(value, kept),
        DataValue::Int(_) | DataValue::Undefined => {}
    }
}

fn renumber_target(target: &mut PointerTarget, kept: &[usize]) {
    if let PointerTarget::Object { object, .. } = target
        && let Ok(place) = kept.binary_search(object)
    {
        *object = place;
    }
}

/// Builds a driver, block by block.
struct DriverBuilder<'m> {
    module: &'m Module,
    driver: Function,
    /// The type of the selecting integers.
    number: DataTypeId,
    names: Vec<(FuncId, String, String)>,
    /// For every turn, the selecting parameter and those of each function.
    turns: Vec<Turn>,
    /// The parameters of the last call.
    last: Vec<Reg>,
}

/// The parameters of one call but the last.
struct Turn {
    choice: Option<Reg>,
    params: Vec<Vec<Reg>>,
}

impl<'m> DriverBuilder<'m> {
    /// Creates all parameters.
    fn new(module: &'m Module, wanted: SequencePlan<'_>, number: DataTypeId) -> DriverBuilder<'m> {
        let function = &module.functions[wanted.last.func];
        let driver = Function {
            name: format!("{} after other calls", function.name),
            span: function.span,
            internal: true,
            role: function.role,
            params: Vec::new(),
            result: function.result,
            result_data: function.result_data,
            aggregate_result: function.aggregate_result,
            variadic: function.variadic,
            left_open: BTreeSet::new(),
            regs: IndexMap::new(),
            slots: IndexMap::new(),
            decisions: IndexMap::new(),
            points: IndexMap::new(),
            blocks: IndexMap::new(),
        };
        let (names, turns, last) = (Vec::new(), Vec::new(), Vec::new());
        let mut maker = DriverBuilder { module, driver, number, names, turns, last };
        let hidden = function.aggregate_result.then(|| maker.param(function, 0, String::new()));
        for turn in 1..=wanted.earlier {
            let choice = (wanted.ways.len() > 1).then(|| maker.number(turn));
            let params =
                wanted.ways.iter().map(|way| maker.params(way.func, |own, name| format!("{own}_{turn}_{name}")));
            let params = params.collect();
            maker.turns.push(Turn { choice, params });
        }
        let own = maker.params(wanted.last.func, |_, name| name.to_string());
        let packed = function.variadic.then(|| maker.param(function, function.params.len() - 1, String::new()));
        maker.last = hidden.into_iter().chain(own).chain(packed).collect();
        maker
    }

    fn param(&mut self, of: &Function, index: usize, name: String) -> Reg {
        let param = &of.params[index];
        let reg = self.driver.regs.push(RegInfo { ty: of.regs[param.reg].ty, name: None });
        self.driver.params.push(Param { name, reg, ..param.clone() });
        reg
    }

    /// Adds a selecting parameter.
    fn number(&mut self, turn: usize) -> Reg {
        let reg = self.driver.regs.push(RegInfo { ty: Ty::Int(8), name: None });
        let name = format!("call {turn}");
        self.driver.params.push(Param { name, reg, data: self.number, aggregate: false });
        reg
    }

    /// Adds a parameter for each of a function's own.
    fn params(&mut self, func: FuncId, called: impl Fn(&str, &str) -> String) -> Vec<Reg> {
        let function = &self.module.functions[func];
        let first = usize::from(function.aggregate_result);
        let mut regs = Vec::new();
        for (index, param) in function.own_params().iter().enumerate() {
            let own = if param.name.is_empty() { format!("arg{index}") } else { param.name.clone() };
            let name = called(&function.name, &own);
            if name != own {
                self.names.push((func, own, name.clone()));
            }
            regs.push(self.param(function, first + index, name));
        }
        regs
    }

    /// Adds one call but the last: the block that selects, and a block for each function.
    fn choice(&mut self, turn: usize, ways: &[SequenceCall]) {
        let first = self.driver.blocks.len();
        let target = |way: usize| BlockId::new(first + 1 + way);
        let next = BlockId::new(first + 1 + ways.len());
        let kind = match self.turns[turn - 1].choice {
            None => TermKind::Jump(target(0)),
            Some(choice) => {
                let arm =
                    |way: usize| SwitchArm { low: way as u64, high: way as u64, signed: false, target: target(way) };
                let arms = (1..ways.len()).map(arm).collect();
                let (value, role) = (Operand::Reg(choice), BranchRole::Dispatch);
                TermKind::Switch { value, arms, default: target(0), role, names: Vec::new() }
            }
        };
        self.block(Vec::new(), kind);
        for (index, way) in ways.iter().enumerate() {
            let function = &self.module.functions[way.func];
            let own: Vec<Operand> = self.turns[turn - 1].params[index].iter().map(|reg| Operand::Reg(*reg)).collect();
            let mut insts = Vec::new();
            self.assume(way, &own, &mut insts);
            let mut args = own;
            if function.aggregate_result {
                let (data, types) = (function.result_data, &self.module.types);
                let slot = self.driver.slots.push(Slot { name: None, data, size: types[data].size(types) });
                let dst = self.reg(Ty::Ptr);
                insts.push(InstKind::SlotAddr { dst, slot });
                args.insert(0, Operand::Reg(dst));
            }
            args.extend(function.variadic.then_some(Operand::Const(Ty::Ptr, 0)));
            let dst = function.result.map(|ty| self.reg(ty));
            insts.push(InstKind::Call { dst, callee: Callee::Direct(way.func), args });
            self.block(insts, TermKind::Jump(next));
        }
    }

    /// Adds the call under test.
    fn last(&mut self, call: SequenceCall) {
        let function = &self.module.functions[call.func];
        let args: Vec<Operand> = self.last.iter().map(|reg| Operand::Reg(*reg)).collect();
        let end = args.len() - usize::from(function.variadic);
        let mut insts = Vec::new();
        self.assume(&call, &args[usize::from(function.aggregate_result)..end], &mut insts);
        let dst = function.result.map(|ty| self.reg(ty));
        insts.push(InstKind::Call { dst, callee: Callee::Direct(call.func), args });
        self.block(insts, TermKind::Return(dst.map(Operand::Reg)));
    }

    /// Assumes the precondition of a call.
    fn assume(&mut self, call: &SequenceCall, args: &[Operand], insts: &mut Vec<InstKind>) {
        let Some(precondition) = call.precondition else { return };
        let Some(ty) = self.module.functions[precondition].result else { return };
        let (result, allowed) = (self.reg(ty), self.reg(Ty::I1));
        insts.push(InstKind::Call { dst: Some(result), callee: Callee::Direct(precondition), args: args.to_vec() });
        insts.push(InstKind::Cmp { dst: allowed, op: CmpOp::Ne, a: Operand::Reg(result), b: Operand::Const(ty, 0) });
        let args = vec![Operand::Reg(allowed)];
        insts.push(InstKind::Builtin { dst: None, builtin: Builtin::Assume, args });
    }

    fn reg(&mut self, ty: Ty) -> Reg {
        self.driver.regs.push(RegInfo { ty, name: None })
    }

    fn block(&mut self, insts: Vec<InstKind>, kind: TermKind) {
        let span = self.driver.span;
        let insts = insts.into_iter().map(|kind| Inst { kind, span }).collect();
        self.driver.blocks.push(Block { insts, terminator: Terminator { kind, span } });
    }
}
