//! Call sequences as one function: a test may call other functions before the one under test, which then reads the
//! state that they left.
//!
//! The calls become the body of a *driver*, a function that is added to a copy of the module. Its parameters are those
//! of all calls, and for every call but the last an integer that selects the function; so exploration, execution and
//! confirmation need no knowledge of sequences. `sequence_test.rs` converts its tests into tests that
//! make the calls.
//!
//! `exec/instructions/deduplication.rs` relies on the layout of a driver: for each call but the last the block that
//! selects and one block for each function, then the last call.

use crate::config::{Calls, Config, PrivateGlobals, SequenceStates};
use crate::growth::renamed;
use crate::inputs::object_api::Creation;
use crate::inputs::persistent_state::use_changing_variables;
use std::collections::BTreeSet;
use touchstone_base::{Id, IndexMap};
use touchstone_ir::{
    BinOp, Block, BlockId, BranchRole, Builtin, Callee, CmpOp, DataType, DataTypeId, FuncId, Function, Inst, InstKind,
    IntKind, Module, Operand, Param, Reg, RegInfo, Slot, SwitchArm, TermKind, Terminator, Ty, reachable_functions,
};

/// A function that a sequence may call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SequenceCall {
    /// The function.
    pub func: FuncId,
    /// Its precondition.
    pub precondition: Option<FuncId>,
    /// The parameters that point to constructed objects: the index of each, and that of the object.
    pub bound: Vec<(usize, usize)>,
}

impl SequenceCall {
    /// A call without constructed objects.
    pub fn of(func: FuncId, precondition: Option<FuncId>) -> SequenceCall {
        SequenceCall { func, precondition, bound: Vec::new() }
    }

    /// Returns the object that a parameter points to.
    pub(super) fn object(&self, param: usize) -> Option<usize> {
        self.bound.iter().find(|(own, _)| *own == param).map(|(_, object)| *object)
    }
}

/// An object that a sequence constructs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConstructedObject {
    /// Its name in the test.
    pub name: String,
    /// Its type.
    pub element: DataTypeId,
    /// The call that creates it.
    pub creator: SequenceCall,
    /// The way in which the call creates it.
    pub creation: Creation,
    /// The function that releases it.
    pub release: Option<FuncId>,
}

/// The plan of a driver.
#[derive(Clone, Copy, Debug)]
pub struct SequencePlan<'a> {
    /// The objects that the first calls construct; a call uses only objects before its own.
    pub objects: &'a [ConstructedObject],
    /// The functions that calls before the last one are selected from.
    pub ways: &'a [SequenceCall],
    /// The last call.
    pub last: &'a SequenceCall,
    /// The number of calls before it.
    pub earlier: usize,
    /// True if each of these calls may be left out.
    pub optional: bool,
}

/// A call sequence as one function.
#[derive(Debug)]
pub struct Sequence {
    /// The module with the driver.
    pub module: Module,
    /// The driver.
    pub driver: FuncId,
    pub(super) objects: Vec<ConstructedObject>,
    pub(super) ways: Vec<SequenceCall>,
    pub(super) last: SequenceCall,
    pub(super) earlier: usize,
    pub(super) optional: bool,
    /// True if the calls use variables that they change.
    pub(super) uses_variables: bool,
    /// Inputs of the driver that represent a function's own: the function, its input, and the name in the driver.
    pub(super) names: Vec<(FuncId, String, String)>,
}

impl Sequence {
    /// Creates the driver.
    pub fn new(module: &Module, wanted: SequencePlan<'_>) -> Sequence {
        let creating = wanted.objects.iter().flat_map(|object| [Some(object.creator.func), object.release]);
        let preconditions = wanted.objects.iter().map(|object| &object.creator).chain(wanted.ways).chain([wanted.last]);
        let calls = wanted.ways.iter().chain([wanted.last]).map(|call| call.func).chain(creating.flatten());
        let calls: Vec<FuncId> = calls.chain(preconditions.filter_map(|call| call.precondition)).collect();
        let uses_variables = use_changing_variables(module, &calls);
        let mut module = match wanted.optional {
            // There is such a driver for almost every function, so it copies only what it needs.
            true => module.with_bodies_of(&reachable_functions(module, calls.iter().chain(&module.startup).copied())),
            false => module.clone(),
        };
        let number = DataType::Int { name: String::new(), bits: 8, signed: false, kind: IntKind::Number };
        let number = module.types.push(number);
        let mut maker = DriverBuilder::new(&module, wanted, number);
        maker.construct(wanted.objects);
        for turn in 1..=wanted.earlier {
            maker.choice(turn, wanted);
        }
        maker.last(wanted.last);
        let DriverBuilder { driver, names, .. } = maker;
        let driver = module.functions.push(driver);
        let SequencePlan { objects, ways, last, earlier, optional } = wanted;
        let (objects, ways, last) = (objects.to_vec(), ways.to_vec(), last.clone());
        Sequence { module, driver, objects, ways, last, earlier, optional, uses_variables, names }
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
            if *func == self.last.func {
                growth = growth.with_copy(own, name);
            }
        }
        Config {
            calls: match self.optional {
                false => Calls::Several { private_globals, ways: self.ways.len(), kept_states },
                true => Calls::Constructing { private_globals },
            },
            lengths,
            ranges,
            growth: Some(growth),
            // The driver calls preconditions itself.
            precondition: None,
            oracle: None,
            max_objects: config.max_objects.saturating_mul(1 + (self.objects.len() + self.earlier) as u32),
            ..config.clone()
        }
    }
}

/// Builds a driver, block by block.
struct DriverBuilder<'m> {
    module: &'m Module,
    driver: Function,
    /// The type of the selecting integers.
    number: DataTypeId,
    names: Vec<(FuncId, String, String)>,
    /// The parameters of the calls that construct objects.
    creating: Vec<Vec<Option<Reg>>>,
    /// The addresses of the objects that are constructed so far.
    objects: Vec<Reg>,
    /// For every turn, the selecting parameter and those of each function.
    turns: Vec<Turn>,
    /// The hidden parameter of the last call, its own parameters, and its variadic arguments.
    last: (Option<Reg>, Vec<Option<Reg>>, Option<Reg>),
}

/// The parameters of one call but the last.
struct Turn {
    choice: Option<Reg>,
    /// For each function, its parameters that are not bound to objects.
    params: Vec<Vec<Option<Reg>>>,
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
        let mut maker = DriverBuilder {
            module,
            driver,
            number,
            names: Vec::new(),
            creating: Vec::new(),
            objects: Vec::new(),
            turns: Vec::new(),
            last: (None, Vec::new(), None),
        };
        maker.last.0 = function.aggregate_result.then(|| maker.param(function, 0, String::new()));
        for (index, object) in wanted.objects.iter().enumerate() {
            let params = maker.params(&object.creator, |own, name| format!("{own}_{index}_{name}"));
            maker.creating.push(params);
        }
        let distinct = |index: usize| if wanted.objects.is_empty() { String::new() } else { format!("{index}_") };
        for turn in 1..=wanted.earlier {
            let choice = (wanted.ways.len() > 1 || wanted.optional).then(|| maker.number(turn));
            let params =
                wanted.ways.iter().enumerate().map(|(index, way)| {
                    maker.params(way, |own, name| format!("{own}_{turn}_{}{name}", distinct(index)))
                });
            let params = params.collect();
            maker.turns.push(Turn { choice, params });
        }
        maker.last.1 = maker.params(wanted.last, |_, name| name.to_string());
        maker.last.2 = function.variadic.then(|| maker.param(function, function.params.len() - 1, String::new()));
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

    /// Adds a parameter for each of a function's own that is not bound to an object.
    fn params(&mut self, call: &SequenceCall, called: impl Fn(&str, &str) -> String) -> Vec<Option<Reg>> {
        let function = &self.module.functions[call.func];
        let first = usize::from(function.aggregate_result);
        let mut regs = Vec::new();
        for (index, param) in function.own_params().iter().enumerate() {
            if call.object(index).is_some() {
                regs.push(None);
                continue;
            }
            let own = if param.name.is_empty() { format!("arg{index}") } else { param.name.clone() };
            let name = called(&function.name, &own);
            if name != own {
                self.names.push((call.func, own, name.clone()));
            }
            regs.push(Some(self.param(function, first + index, name)));
        }
        regs
    }

    /// Returns the arguments of a call: its parameters of the driver, and the addresses of objects.
    fn arguments(&self, call: &SequenceCall, params: &[Option<Reg>]) -> Vec<Operand> {
        let object = |index: usize| call.object(index).map(|object| self.objects[object]);
        let regs = params.iter().enumerate().filter_map(|(index, reg)| reg.or_else(|| object(index)));
        regs.map(Operand::Reg).collect()
    }

    /// Adds the calls that construct objects, if there are any, as one block.
    fn construct(&mut self, objects: &[ConstructedObject]) {
        if objects.is_empty() {
            return;
        }
        let mut insts = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            // The call receives the address of the object, or of a variable for its address.
            let declared = match object.creation {
                Creation::Initialises => Some(object.element),
                Creation::Stores(param) => {
                    let pointer = self.module.functions[object.creator.func].own_params()[param].data;
                    match self.module.types[pointer] {
                        DataType::Pointer { pointee, .. } => Some(pointee),
                        _ => None,
                    }
                }
                Creation::Returns => None,
            };
            if let Some(data) = declared {
                let size = self.module.types[data].size(&self.module.types);
                let slot = self.driver.slots.push(Slot { name: None, data, size });
                let dst = self.reg(Ty::Ptr);
                insts.push(InstKind::SlotAddr { dst, slot });
                let (value, size) = (Operand::Const(Ty::Int(8), 0), Operand::Const(Ty::Int(64), size));
                insts.push(InstKind::MemSet { dst: Operand::Reg(dst), value, size });
                self.objects.push(dst);
            }
            let args = self.arguments(&object.creator, &self.creating[index]);
            self.assume(&object.creator, &args, &mut insts);
            let function = &self.module.functions[object.creator.func];
            let dst = function.result.map(|ty| self.reg(ty));
            insts.push(InstKind::Call { dst, callee: Callee::Direct(object.creator.func), args });
            let created = match (object.creation, self.objects.get(index).copied()) {
                (Creation::Stores(_), Some(receiver)) => {
                    let loaded = self.reg(Ty::Ptr);
                    insts.push(InstKind::Load { dst: loaded, addr: Operand::Reg(receiver) });
                    Some(loaded)
                }
                (Creation::Returns, _) => dst,
                _ => None,
            };
            if let Some(created) = created {
                let allowed = self.reg(Ty::I1);
                let (a, b) = (Operand::Reg(created), Operand::Const(Ty::Ptr, 0));
                insts.push(InstKind::Cmp { dst: allowed, op: CmpOp::Ne, a, b });
                let args = vec![Operand::Reg(allowed)];
                insts.push(InstKind::Builtin { dst: None, builtin: Builtin::Assume, args });
                self.objects.truncate(index);
                self.objects.push(created);
            }
        }
        let next = BlockId::new(self.driver.blocks.len() + 1);
        self.block(insts, TermKind::Jump(next));
    }

    /// Adds one call but the last: the block that selects, and a block for each function.
    fn choice(&mut self, turn: usize, wanted: SequencePlan<'_>) {
        let (first, ways) = (self.driver.blocks.len(), wanted.ways);
        let target = |way: usize| BlockId::new(first + 1 + way);
        let next = BlockId::new(first + 1 + ways.len());
        let mut insts = Vec::new();
        let kind = match self.turns[turn - 1].choice {
            None => TermKind::Jump(target(0)),
            Some(choice) if wanted.optional => {
                // Any value selects something, so random ones do.
                let dst = self.reg(Ty::Int(8));
                let (a, b) = (Operand::Reg(choice), Operand::Const(Ty::Int(8), ways.len() as u64 + 1));
                insts.push(InstKind::Bin { dst, op: BinOp::URem, a, b });
                let arm = |way: usize| {
                    let number = way as u64 + 1;
                    SwitchArm { low: number, high: number, signed: false, target: target(way) }
                };
                let arms = (0..ways.len()).map(arm).collect();
                let (value, role) = (Operand::Reg(dst), BranchRole::Dispatch);
                TermKind::Switch { value, arms, default: next, role, names: Vec::new() }
            }
            Some(choice) => {
                let arm =
                    |way: usize| SwitchArm { low: way as u64, high: way as u64, signed: false, target: target(way) };
                let arms = (1..ways.len()).map(arm).collect();
                let (value, role) = (Operand::Reg(choice), BranchRole::Dispatch);
                TermKind::Switch { value, arms, default: target(0), role, names: Vec::new() }
            }
        };
        self.block(insts, kind);
        for (index, way) in ways.iter().enumerate() {
            let function = &self.module.functions[way.func];
            let own = self.arguments(way, &self.turns[turn - 1].params[index]);
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
    fn last(&mut self, call: &SequenceCall) {
        let function = &self.module.functions[call.func];
        let (hidden, own, packed) = &self.last;
        let own = self.arguments(call, own);
        let around = |reg: &Option<Reg>| reg.map(Operand::Reg);
        let args: Vec<Operand> = around(hidden).into_iter().chain(own.iter().copied()).chain(around(packed)).collect();
        let mut insts = Vec::new();
        self.assume(call, &own, &mut insts);
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
