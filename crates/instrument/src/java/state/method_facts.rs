//! Static facts of a traced method: the operands of its instructions, the control dependences of its branches, and
//! which branches are assertions.

use super::library_models as frameworks;
use super::operand_stack::shuffle_stack;
use super::test_execution::ContainerKey;
use super::traced_classes::{FieldNumber, TracedClass};
use crate::state::StateRules;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_front_java::classfile::{ClassFile, Code, Constant, Desc, Handle, Insn, MemberRef, MethodDesc, access};
use touchstone_probes_java::{TracedMethod, expects_exception};

/// A traced method.
pub(super) struct MethodFacts {
    pub class: Rc<TracedClass>,
    index: usize,
    pub followed: TracedMethod,
    /// The operand of each instruction.
    pub sites: Vec<InsnOperand>,
    /// The branches, by the block that ends with them.
    pub branches: BTreeMap<usize, BranchFacts>,
    /// The instructions that report that a test failed.
    failures: BTreeSet<usize>,
    /// The immediate post-dominator of each block.
    pub post_dominators: Vec<Option<usize>>,
    /// True for each wide one of the receiver and parameters.
    pub params: Vec<bool>,
    /// True once the fields in `branches` have numbers.
    pub is_numbered: Cell<bool>,
}

/// The operand of an instruction.
pub(super) enum InsnOperand {
    Nothing,
    /// A field.
    Field(FieldSite),
    /// A method.
    Call(Box<CallSite>),
    /// A constant that occupies two slots.
    Wide,
    /// A constant that may be the key of a container.
    Constant(ContainerKey),
}

/// The field that an instruction accesses.
pub(super) struct FieldSite {
    pub member: MemberRef,
    pub desc: Desc,
    pub number: OnceCell<FieldNumber>,
}

/// A call instruction.
pub(super) struct CallSite {
    pub member: MemberRef,
    /// True for each wide one of the receiver and parameters.
    pub params: Vec<bool>,
    pub result: Desc,
    pub has_receiver: bool,
    /// True if the class of the receiver selects the method.
    pub dispatches: bool,
    pub makes: DynamicCallResult,
}

/// A call site that creates a function object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FunctionSite {
    /// The method that the function object calls.
    pub member: MemberRef,
    /// True if it is called on an object.
    pub has_receiver: bool,
    pub returns_nothing: bool,
}

/// The result of an `invokedynamic` call site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum DynamicCallResult {
    /// A value that is computed from the arguments; also all other calls.
    Result,
    /// A method of a record, which reads all of its fields.
    RecordMember,
    /// The object of a lambda expression or method reference.
    Function(FunctionSite),
}

/// The control dependences of a branch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct BranchFacts {
    /// The immediate post-dominator, at which the control dependence ends.
    pub until: Option<usize>,
    /// True if the branch decides whether a failure is reported.
    pub asserts: bool,
    /// The local variables that control-dependent blocks may write.
    pub locals: Vec<u16>,
    /// The fields that control-dependent blocks may write: the access path of the object, and the writing instruction.
    /// The path of a static field is empty.
    pub fields: Vec<(Vec<PathStep>, usize)>,
}

/// A step of an access path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PathStep {
    /// The value of a local variable.
    Local(u16),
    /// The value of the field that an instruction reads, of the object so far or static.
    Field(usize),
}

impl MethodFacts {
    pub fn new(class: &Rc<TracedClass>, index: usize, rules: &StateRules) -> Option<MethodFacts> {
        let member = class.class.methods.get(index)?;
        let followed = TracedMethod::new(&class.class, member)?;
        let desc = MethodDesc::parse(&member.desc)?;
        let receiver = (!member.is(access::STATIC)).then_some(false);
        let params = receiver.into_iter().chain(desc.params.iter().map(Desc::is_wide)).collect();
        let sites: Vec<InsnOperand> = followed.insns().iter().map(|insn| site(&class.class, &insn.insn)).collect();
        let post_dominators = followed.post_dominators();
        let mut facts = MethodFacts {
            class: class.clone(),
            index,
            followed,
            sites,
            branches: BTreeMap::new(),
            failures: BTreeSet::new(),
            post_dominators,
            params,
            is_numbered: Cell::new(false),
        };
        let receivers = facts.receivers();
        facts.failures = (0..facts.sites.len()).filter(|insn| facts.is_failure(*insn, rules)).collect();
        let failing: BTreeSet<usize> = facts.failures.iter().map(|insn| facts.followed.block_of(*insn)).collect();
        for block in 0..facts.followed.blocks() {
            if facts.followed.next(block).len() > 1 {
                let choice = facts.choice(block, &failing, &receivers);
                facts.branches.insert(block, choice);
            }
        }
        Some(facts)
    }

    pub fn code(&self) -> &Code {
        self.class.class.methods[self.index].code().expect("invariant: only methods with code are followed")
    }

    /// Returns true if it is a test that must throw an exception.
    pub fn expects_exception(&self) -> bool {
        self.class.is_test && expects_exception(&self.class.class, &self.class.class.methods[self.index])
    }

    /// Returns true if it is the body of a lambda expression.
    pub fn is_lambda(&self) -> bool {
        self.name().starts_with("lambda$")
    }

    pub fn name(&self) -> &Arc<str> {
        &self.class.class.methods[self.index].name
    }

    pub fn desc(&self) -> &Arc<str> {
        &self.class.class.methods[self.index].desc
    }

    /// Returns the source line of an instruction.
    pub fn line(&self, insn: usize) -> u32 {
        self.followed.insns().get(insn).map_or(0, |insn| self.code().line(insn.at))
    }

    /// Returns the name of a local variable at an instruction.
    pub fn local_name(&self, local: usize, insn: usize) -> Option<&Arc<str>> {
        // The scope of a variable begins after the instruction that initialises it.
        let at = self.followed.insns().get(insn)?.at;
        self.code().local_name(u16::try_from(local).ok()?, at)
    }

    /// Returns true if a block is the handler for exceptions of an instruction.
    pub fn catches(&self, insn: usize, block: usize) -> bool {
        let Some(at) = self.followed.insns().get(insn).map(|insn| insn.at) else { return false };
        let handler = self.followed.insns()[self.followed.block_range(block).0].at;
        self.code()
            .handlers
            .iter()
            .any(|row| usize::from(row.handler) == handler && usize::from(row.start) <= at && at < usize::from(row.end))
    }

    /// Returns true if a block is an exception handler.
    pub fn is_handler(&self, block: usize) -> bool {
        let begin = self.followed.insns()[self.followed.block_range(block).0].at;
        self.code().handlers.iter().any(|row| usize::from(row.handler) == begin)
    }

    /// Returns the nearest block that post-dominates two blocks, themselves included.
    pub fn common_post_dominator(&self, one: usize, other: usize) -> Option<usize> {
        let chain = |from: usize| {
            std::iter::successors(Some(from), |block| self.post_dominators[*block]).take(self.post_dominators.len())
        };
        let ways: BTreeSet<usize> = chain(one).collect();
        chain(other).find(|block| ways.contains(block))
    }

    /// Returns true if an instruction reports that a test failed.
    fn is_failure(&self, insn: usize, rules: &StateRules) -> bool {
        match (&self.followed.insns()[insn].insn, &self.sites[insn]) {
            (Insn::New(index), _) => {
                self.class.class.pool.class(*index).is_ok_and(|name| frameworks::is_failure(&name))
            }
            (_, InsnOperand::Call(call)) => frameworks::reports_failure(&call.member, rules),
            _ => false,
        }
    }

    /// Returns true if a failure is reported before the block `until` unless the instruction throws an exception.
    pub fn fails_after(&self, insn: usize, until: Option<usize>) -> bool {
        let from = self.followed.block_of(insn);
        let rest = insn + 1..=self.followed.block_range(from).1;
        let after = std::iter::successors(self.post_dominators[from], |block| self.post_dominators[*block])
            .take(self.post_dominators.len())
            .take_while(|block| Some(*block) != until);
        let ranges = after.map(|block| self.followed.block_range(block)).map(|(first, last)| first..=last);
        std::iter::once(rest).chain(ranges).any(|range| self.failures.range(range).next().is_some())
    }

    fn choice(&self, block: usize, failing: &BTreeSet<usize>, receivers: &Receivers) -> BranchFacts {
        let until = self.post_dominators[block];
        let mut choice = BranchFacts { until, ..BranchFacts::default() };
        for next in self.followed.next(block) {
            // The post-dominators of a successor before that of the branch are control dependent on the branch alone.
            let side =
                std::iter::successors(Some(*next), |at| self.post_dominators[*at]).take(self.post_dominators.len());
            choice.asserts |= side.take_while(|at| Some(*at) != until).any(|at| failing.contains(&at));
        }
        let Some(until) = until else { return choice };
        let mut seen: BTreeSet<usize> = BTreeSet::from([until]);
        let mut worklist: Vec<usize> = self.followed.next(block).to_vec();
        let (mut locals, mut fields) = (BTreeSet::new(), BTreeSet::new());
        while let Some(at) = worklist.pop() {
            if !seen.insert(at) {
                continue;
            }
            worklist.extend(self.followed.next(at));
            let (first, last) = self.followed.block_range(at);
            for insn in first..=last {
                match &self.followed.insns()[insn].insn {
                    Insn::Store(_, local) | Insn::Increment(local, _) => drop(locals.insert(*local)),
                    Insn::PutStatic(_) => drop(fields.insert((Vec::new(), insn))),
                    Insn::PutField(_) => {
                        if let Some(way) = receivers.get(&insn) {
                            fields.insert((way.clone(), insn));
                        }
                    }
                    _ => {}
                }
            }
        }
        choice.locals = locals.into_iter().collect();
        choice.fields = fields.into_iter().collect();
        choice
    }

    /// Computes the access path of the object for each instruction that writes a field, if it is the same on all paths
    /// to the instruction.
    fn receivers(&self) -> Receivers {
        let mut found = Receivers::new();
        // The stack of a handler contains only the exception.
        let handlers =
            (0..self.followed.blocks()).filter(|block| self.is_handler(*block)).map(|block| (block, vec![None]));
        let mut begins: BTreeMap<usize, StackPaths> = handlers.chain([(0, StackPaths::new())]).collect();
        let mut worklist: Vec<usize> = begins.keys().copied().collect();
        while let Some(block) = worklist.pop() {
            let mut stack = begins[&block].clone();
            let (first, last) = self.followed.block_range(block);
            for insn in first..=last {
                if let (Insn::PutField(_), InsnOperand::Field(field)) =
                    (&self.followed.insns()[insn].insn, &self.sites[insn])
                {
                    let above = if field.desc.is_wide() { 2 } else { 1 };
                    let at = stack.len().checked_sub(above + 1);
                    match at.and_then(|at| stack[at].clone()) {
                        Some(way) => drop(found.insert(insn, way)),
                        None => drop(found.remove(&insn)),
                    }
                }
                self.apply_to_paths(insn, &mut stack);
            }
            for next in self.followed.next(block) {
                let known = begins.get(next);
                let merged = known.map_or_else(|| stack.clone(), |known| merge_stacks(known, &stack));
                // Merging only removes access paths, so the iteration terminates.
                if known != Some(&merged) {
                    begins.insert(*next, merged);
                    worklist.push(*next);
                }
            }
        }
        found
    }

    /// Applies an instruction to the access paths on the operand stack.
    fn apply_to_paths(&self, insn: usize, stack: &mut StackPaths) {
        let decoded = &self.followed.insns()[insn].insn;
        match decoded {
            Insn::Dup | Insn::DupX1 | Insn::DupX2 | Insn::Dup2 | Insn::Dup2X1 | Insn::Dup2X2 | Insn::Swap => {
                return shuffle_stack(decoded, stack);
            }
            _ => {}
        }
        let (taken, given) = self.stack_effect(insn);
        let way = match decoded {
            Insn::Load(_, local) => Some(vec![PathStep::Local(*local)]),
            Insn::GetStatic(_) => Some(vec![PathStep::Field(insn)]),
            Insn::GetField(_) => {
                stack.last().cloned().flatten().map(|way| [&way[..], &[PathStep::Field(insn)]].concat())
            }
            Insn::CheckCast(_) => return,
            _ => None,
        };
        stack.truncate(stack.len().saturating_sub(taken));
        stack.extend(std::iter::repeat_n(way, given));
    }

    /// Returns the number of slots that an instruction pops and pushes.
    fn stack_effect(&self, insn: usize) -> (usize, usize) {
        use touchstone_front_java::classfile::{Arith, ArrayKind, Convert, SlotKind};
        let wide = |kind: SlotKind| if kind.is_wide() { 2 } else { 1 };
        let field = |site: &InsnOperand| match site {
            InsnOperand::Field(field) if field.desc.is_wide() => 2,
            _ => 1,
        };
        let element = |array: ArrayKind| if matches!(array, ArrayKind::Long | ArrayKind::Double) { 2 } else { 1 };
        match &self.followed.insns()[insn].insn {
            Insn::Nop | Insn::Increment(..) | Insn::Goto(_) | Insn::CheckCast(_) | Insn::Neg(_) => (0, 0),
            Insn::Null | Insn::PushInt(_) | Insn::PushFloat(_) | Insn::New(_) => (0, 1),
            Insn::PushLong(_) | Insn::PushDouble(_) => (0, 2),
            Insn::Constant(_) => (0, if matches!(self.sites[insn], InsnOperand::Wide) { 2 } else { 1 }),
            Insn::Load(kind, _) => (0, wide(*kind)),
            Insn::Store(kind, _) => (wide(*kind), 0),
            Insn::ArrayLoad(array) => (2, element(*array)),
            Insn::ArrayStore(array) => (2 + element(*array), 0),
            Insn::Pop | Insn::MonitorEnter | Insn::MonitorExit => (1, 0),
            Insn::If(..) | Insn::IfNull(..) | Insn::Switch(..) => (1, 0),
            Insn::IfInts(..) | Insn::IfRefs(..) => (2, 0),
            Insn::Pop2 => (2, 0),
            Insn::Arith(Arith::Shl | Arith::Shr | Arith::Ushr, kind) => (wide(*kind) + 1, wide(*kind)),
            Insn::Arith(_, kind) => (2 * wide(*kind), wide(*kind)),
            Insn::Convert(convert) => (
                wide(convert.from()),
                match convert {
                    Convert::Kinds(_, to) => wide(*to),
                    _ => 1,
                },
            ),
            Insn::Compare(kind, _) => (2 * wide(*kind), 1),
            Insn::GetStatic(_) => (0, field(&self.sites[insn])),
            Insn::PutStatic(_) => (field(&self.sites[insn]), 0),
            Insn::GetField(_) => (1, field(&self.sites[insn])),
            Insn::PutField(_) => (1 + field(&self.sites[insn]), 0),
            Insn::NewArray(_) | Insn::NewRefArray(_) | Insn::ArrayLength | Insn::InstanceOf(_) => (1, 1),
            Insn::NewMultiArray(_, dimensions) => (usize::from(*dimensions), 1),
            _ => match &self.sites[insn] {
                InsnOperand::Call(call) => {
                    let taken = call.params.iter().map(|wide| if *wide { 2 } else { 1 }).sum();
                    let given = match &call.result {
                        Desc::Void => 0,
                        result if result.is_wide() => 2,
                        _ => 1,
                    };
                    (taken, given)
                }
                _ => (0, 0),
            },
        }
    }
}

impl FunctionSite {
    fn of(called: Handle) -> FunctionSite {
        const INVOKE_STATIC: u8 = 6;
        const NEW_INVOKE_SPECIAL: u8 = 8;
        FunctionSite {
            has_receiver: !matches!(called.kind, INVOKE_STATIC | NEW_INVOKE_SPECIAL),
            returns_nothing: called.member.desc.ends_with(")V"),
            member: called.member,
        }
    }
}

/// For each slot of the operand stack, the access path of its object.
type StackPaths = Vec<Option<Vec<PathStep>>>;
/// For each instruction that writes a field, the access path of its object.
type Receivers = BTreeMap<usize, Vec<PathStep>>;

/// Keeps the access paths that two stacks have in common.
fn merge_stacks(one: &StackPaths, other: &StackPaths) -> StackPaths {
    one.iter().zip(other).map(|(one, other)| if one == other { one.clone() } else { None }).collect()
}

fn site(class: &ClassFile, insn: &Insn) -> InsnOperand {
    let pool = &class.pool;
    let call = |member: MemberRef, has_receiver: bool, makes: DynamicCallResult| {
        let Some(desc) = MethodDesc::parse(&member.desc) else { return InsnOperand::Nothing };
        let receiver = has_receiver.then_some(false);
        let params = receiver.into_iter().chain(desc.params.iter().map(Desc::is_wide)).collect();
        let dispatches = matches!(insn, Insn::InvokeVirtual(_) | Insn::InvokeInterface(_));
        InsnOperand::Call(Box::new(CallSite { member, params, result: desc.result, has_receiver, dispatches, makes }))
    };
    match insn {
        Insn::GetStatic(index) | Insn::PutStatic(index) | Insn::GetField(index) | Insn::PutField(index) => {
            let member = pool.field(*index).ok();
            let desc = member.as_ref().and_then(|member| Desc::parse(&member.desc));
            match (member, desc) {
                (Some(member), Some(desc)) => InsnOperand::Field(FieldSite { member, desc, number: OnceCell::new() }),
                _ => InsnOperand::Nothing,
            }
        }
        Insn::InvokeVirtual(index) | Insn::InvokeSpecial(index) | Insn::InvokeInterface(index) => pool
            .method(*index)
            .map_or(InsnOperand::Nothing, |(member, _)| call(member, true, DynamicCallResult::Result)),
        Insn::InvokeStatic(index) => pool
            .method(*index)
            .map_or(InsnOperand::Nothing, |(member, _)| call(member, false, DynamicCallResult::Result)),
        Insn::InvokeDynamic(index) => match pool.call_site(*index) {
            Ok((bootstrap, name, desc)) => {
                let found = class.bootstrap(bootstrap);
                let handle = found.and_then(|found| pool.handle(found.method).ok());
                let by = handle.map_or("".into(), |handle| handle.member.class);
                let makes = match &*by {
                    "java/lang/runtime/ObjectMethods" => DynamicCallResult::RecordMember,
                    "java/lang/invoke/LambdaMetafactory" => found
                        .and_then(|found| pool.handle(*found.arguments.get(1)?).ok())
                        .map_or(DynamicCallResult::Result, |called| {
                            DynamicCallResult::Function(FunctionSite::of(called))
                        }),
                    _ => DynamicCallResult::Result,
                };
                call(MemberRef { class: by, name, desc }, false, makes)
            }
            Err(_) => InsnOperand::Nothing,
        },
        Insn::Constant(index) => match pool.get(*index) {
            Ok(Constant::Long(_) | Constant::Double(_)) => InsnOperand::Wide,
            Ok(Constant::Integer(number)) => InsnOperand::Constant(ContainerKey::Number(*number)),
            Ok(Constant::String(text)) => match pool.text(*text) {
                Ok(text) => InsnOperand::Constant(ContainerKey::Text(
                    String::from_utf16_lossy(&text.units()).to_lowercase().into(),
                )),
                Err(_) => InsnOperand::Nothing,
            },
            Ok(Constant::Dynamic(_, of))
                if pool.name_and_type(*of).is_ok_and(|(_, desc)| &*desc == "J" || &*desc == "D") =>
            {
                InsnOperand::Wide
            }
            _ => InsnOperand::Nothing,
        },
        _ => InsnOperand::Nothing,
    }
}
