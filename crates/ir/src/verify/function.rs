//! Checks of functions.

use super::Verifier;
use crate::{
    ArmName, BinOp, Block, BlockId, BoolTree, Builtin, Callee, CastOp, CondId, CondTag, Decision, Function,
    InputSource, InstKind, Operand, Reg, SlotId, SwitchArm, TermKind, Ty, mask, sign_extend,
};
use touchstone_base::{Id, float};

impl Verifier<'_> {
    pub(super) fn function(&mut self, function: &Function) {
        self.span(function.span);
        self.data(function.result_data);
        self.params(function);
        for (reg, info) in function.regs.iter() {
            self.check(is_scalar(info.ty), || format!("{reg} has the type {}", info.ty));
        }
        for slot in function.slots.values() {
            self.data(slot.data);
        }
        for (id, decision) in function.decisions.iter() {
            self.span(decision.span);
            for condition in decision.conditions.values() {
                self.span(condition.span);
            }
            self.check(leaves_are_in_order(decision), || {
                format!("the tree of {id} does not list its conditions in order")
            });
        }
        self.points(function);
        for (id, block) in function.blocks.iter() {
            self.block = Some(id);
            self.block(function, block);
        }
        (self.block, self.inst) = (None, None);
    }

    fn params(&mut self, function: &Function) {
        for (index, param) in function.params.iter().enumerate() {
            self.data(param.data);
            self.check(param.reg.index() == index, || format!("parameter {index} is in {}", param.reg));
            match function.regs.get(param.reg) {
                None => self.error(format!("{} is no register", param.reg)),
                Some(info) => {
                    let hidden = function.aggregate_result && index == 0;
                    let must_be_pointer = param.aggregate || hidden;
                    self.check(!must_be_pointer || info.ty == Ty::Ptr, || {
                        format!("{} must be a pointer to an aggregate", param.reg)
                    });
                }
            }
        }
        let hidden_result = !function.params.is_empty() && function.result.is_none();
        self.check(!function.aggregate_result || hidden_result, || {
            "an aggregate result needs a hidden parameter and no other result".to_string()
        });
        self.check(function.result.is_none_or(is_scalar), || "the result has no scalar type".to_string());
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for (index, inst) in block.insts.iter().enumerate() {
            self.inst = Some(index);
            self.span(inst.span);
            self.instruction(function, &inst.kind);
        }
        self.inst = Some(block.insts.len());
        self.span(block.terminator.span);
        self.terminator(function, &block.terminator.kind);
        if let TermKind::Catch { .. } = block.terminator.kind {
            let calls = matches!(block.insts.last().map(|inst| &inst.kind), Some(InstKind::Call { .. }));
            self.check(calls, || "a catch that does not follow a call".to_string());
        }
    }

    // Operands.

    pub(super) fn reg(&mut self, function: &Function, reg: Reg) -> Option<Ty> {
        let ty = function.regs.get(reg).map(|info| info.ty);
        self.check(ty.is_some(), || format!("{reg} is no register"));
        ty
    }

    fn operand(&mut self, function: &Function, operand: Operand) -> Option<Ty> {
        match operand {
            Operand::Reg(reg) => self.reg(function, reg),
            Operand::Const(ty, value) if is_scalar(ty) => {
                self.check(mask(value, ty.bits()) == value, || format!("the constant {value} is no {ty}"));
                Some(ty)
            }
            Operand::Const(ty, _) => {
                self.error(format!("a constant has the type {ty}"));
                None
            }
        }
    }

    /// An operand of a type; what is wrong with the operand itself is said elsewhere.
    fn expect(&mut self, function: &Function, operand: Operand, expected: Option<Ty>) {
        let found = self.operand(function, operand);
        self.same(found, expected);
    }

    pub(super) fn same(&mut self, found: Option<Ty>, expected: Option<Ty>) {
        if let (Some(found), Some(expected)) = (found, expected) {
            self.check(found == expected, || format!("expected {expected}, found {found}"));
        }
    }

    fn dst(&mut self, function: &Function, dst: Reg, expected: Ty) {
        let found = self.reg(function, dst);
        self.same(found, Some(expected));
    }

    pub(super) fn slot(&mut self, function: &Function, slot: SlotId) {
        self.check(slot.index() < function.slots.len(), || format!("{slot} is no slot"));
    }

    pub(super) fn in_memory(&mut self, ty: Option<Ty>) {
        self.check(ty != Some(Ty::I1), || "an i1 is never in memory".to_string());
    }

    // Instructions.

    fn instruction(&mut self, function: &Function, kind: &InstKind) {
        match kind {
            InstKind::Copy { dst, src } => {
                let ty = self.reg(function, *dst);
                self.expect(function, *src, ty);
            }
            InstKind::Bin { dst, op, a, b } => self.binary(function, *dst, *op, [*a, *b]),
            InstKind::Cmp { dst, a, b, .. } => {
                self.dst(function, *dst, Ty::I1);
                let ty = self.operand(function, *a);
                self.expect(function, *b, ty);
            }
            InstKind::Cast { dst, op, src } => self.cast(function, *dst, *op, *src),
            InstKind::Float { dst, op, format, args } => self.float(function, *dst, *op, *format, args),
            InstKind::SlotAddr { dst, slot } => {
                self.dst(function, *dst, Ty::Ptr);
                self.slot(function, *slot);
            }
            InstKind::GlobalAddr { dst, global } => {
                self.dst(function, *dst, Ty::Ptr);
                let known = global.index() < self.module.globals.len();
                self.check(known, || format!("{global} is no global"));
            }
            InstKind::PtrAdd { dst, base, offset } => {
                self.dst(function, *dst, Ty::Ptr);
                self.expect(function, *base, Some(Ty::Ptr));
                self.expect(function, *offset, Some(Ty::I64));
            }
            InstKind::PtrDiff { dst, a, b } => {
                self.dst(function, *dst, Ty::I64);
                self.expect(function, *a, Some(Ty::Ptr));
                self.expect(function, *b, Some(Ty::Ptr));
            }
            InstKind::Load { dst, addr } => {
                let ty = self.reg(function, *dst);
                self.in_memory(ty);
                self.expect(function, *addr, Some(Ty::Ptr));
            }
            InstKind::Store { addr, value } => {
                self.expect(function, *addr, Some(Ty::Ptr));
                let ty = self.operand(function, *value);
                self.in_memory(ty);
            }
            InstKind::MemCopy { dst, src, size } => {
                self.all(function, [(*dst, Ty::Ptr), (*src, Ty::Ptr), (*size, Ty::I64)])
            }
            InstKind::MemSet { dst, value, size } => {
                self.all(function, [(*dst, Ty::Ptr), (*value, Ty::I8), (*size, Ty::I64)])
            }
            InstKind::SlotBegin { slot } | InstKind::SlotEnd { slot } => self.slot(function, *slot),
            InstKind::Point { point } => {
                self.check(point.index() < function.points.len(), || format!("{point} is no point"));
            }
            InstKind::Call { dst, callee, args } => self.call(function, *dst, callee, args),
            InstKind::Builtin { dst, builtin, args } => self.builtin(function, *dst, *builtin, args),
        }
    }

    fn all(&mut self, function: &Function, operands: [(Operand, Ty); 3]) {
        for (operand, ty) in operands {
            self.expect(function, operand, Some(ty));
        }
    }

    fn binary(&mut self, function: &Function, dst: Reg, op: BinOp, operands: [Operand; 2]) {
        let ty = self.reg(function, dst);
        self.check(ty != Some(Ty::Ptr), || format!("{op:?} of pointers"));
        for operand in operands {
            self.expect(function, operand, ty);
        }
    }

    fn float(&mut self, function: &Function, dst: Reg, op: float::FloatOp, format: float::Format, args: &[Operand]) {
        let (from, to) = (Ty::Int(op.argument_bits(format)), Ty::Int(op.result_bits(format)));
        self.check(is_scalar(from) && is_scalar(to), || format!("{op:?} has a width that no register has"));
        self.check(args.len() == op.arity(), || format!("{op:?} takes {} arguments, not {}", op.arity(), args.len()));
        self.dst(function, dst, to);
        for &arg in args {
            self.expect(function, arg, Some(from));
        }
    }

    fn cast(&mut self, function: &Function, dst: Reg, op: CastOp, src: Operand) {
        let (to, from) = (self.reg(function, dst), self.operand(function, src));
        let (Some(to), Some(from)) = (to, from) else { return };
        self.check(cast_fits(op, from, to), || format!("{op:?} from {from} to {to}"));
    }

    fn call(&mut self, function: &Function, dst: Option<Reg>, callee: &Callee, args: &[Operand]) {
        let id = match *callee {
            Callee::Direct(id) => id,
            Callee::Indirect(callee) => {
                self.expect(function, callee, Some(Ty::Ptr));
                return args.iter().for_each(|&arg| self.expect(function, arg, None));
            }
        };
        let Some(callee) = self.module.functions.get(id) else {
            return self.error(format!("{id} is no function"));
        };
        self.check(args.len() == callee.params.len(), || {
            format!("`{}` takes {} arguments, not {}", callee.name, callee.params.len(), args.len())
        });
        for (index, &arg) in args.iter().enumerate() {
            let ty = callee.params.get(index).and_then(|param| callee.regs.get(param.reg)).map(|info| info.ty);
            self.expect(function, arg, ty);
        }
        if let Some(dst) = dst {
            match callee.result {
                Some(ty) => self.dst(function, dst, ty),
                None => self.error(format!("`{}` has no result", callee.name)),
            }
        }
    }

    fn builtin(&mut self, function: &Function, dst: Option<Reg>, builtin: Builtin, args: &[Operand]) {
        use Ty as T;
        let float = match builtin {
            Builtin::Math(_, format) | Builtin::ParseFloat(format) => T::Int(format.bits()),
            _ => T::I64,
        };
        let (params, result): (&[Ty], Option<Ty>) = match builtin {
            Builtin::MakeSymbolic(_) => (&[T::Ptr, T::I64, T::Ptr], None),
            Builtin::FreshInt(_) => (&[T::Ptr], None),
            Builtin::Assume | Builtin::Assert => (&[T::I1], None),
            Builtin::Allocate => (&[T::I64], Some(T::Ptr)),
            Builtin::RunOnly
            | Builtin::MayWrite
            | Builtin::Called
            | Builtin::CalledAsSpecified
            | Builtin::Unspecified => (&[T::Ptr], None),
            Builtin::HavocPointee | Builtin::RecordEffect(_) => (&[T::Ptr, T::Ptr, T::I64], None),
            Builtin::ObjectSize => (&[T::Ptr], Some(T::I64)),
            Builtin::ZeroUninitialised => (&[T::Ptr, T::I64], None),
            Builtin::ObserveMember => (&[T::Ptr, T::I64, T::I64], None),
            Builtin::Refresh | Builtin::CastPointee => (&[T::Ptr, T::I64], None),
            Builtin::Write => (&[T::I32, T::Ptr, T::I64], None),
            Builtin::ReadByte => (&[], Some(T::I32)),
            Builtin::Exit => (&[T::I32], None),
            Builtin::Abort | Builtin::Hang => (&[], None),
            Builtin::ParseFloat(_) => (&[T::Ptr, T::I64], Some(float)),
            Builtin::Math(function, _) => (&[float; 2][..function.arity()], Some(float)),
            Builtin::C(builtin) => builtin.signature(),
            Builtin::Java(builtin) => builtin.signature(),
        };
        let name = match builtin {
            Builtin::C(builtin) => format!("{builtin:?}"),
            builtin => format!("{builtin:?}"),
        };
        if let Builtin::MakeSymbolic(source) | Builtin::FreshInt(source) = builtin {
            let asked = !matches!(source, InputSource::Argument | InputSource::Allocation);
            self.check(asked, || {
                "no instruction asks for a word of the command line, or for an allocation that fails".to_string()
            });
        }
        if builtin == Builtin::CastPointee {
            let is_type = |arg: &Operand| matches!(arg, Operand::Const(_, id) if *id < self.module.types.len() as u64);
            let known = args.get(1).is_some_and(is_type);
            self.check(known, || "cast_pointee names no type".to_string());
        }
        if let Builtin::RecordEffect(source) = builtin {
            let left = matches!(source, InputSource::Written | InputSource::Changed);
            self.check(left, || "what is left is written behind a pointer, or a changed global".to_string());
        }
        let makes_value = matches!(builtin, Builtin::FreshInt(_));
        let more = match builtin {
            Builtin::Called | Builtin::CalledAsSpecified => args.len() > params.len(),
            Builtin::C(builtin) => builtin.is_variadic() && args.len() > params.len(),
            _ => false,
        };
        let value =
            (builtin == Builtin::Unspecified && args.len() == 2).then(|| self.operand(function, args[1])).flatten();
        let right_number = args.len() == params.len() || more || value.is_some();
        self.check(right_number, || format!("{name} takes {} arguments, not {}", params.len(), args.len()));
        for (index, &arg) in args.iter().enumerate() {
            let ty = self.operand(function, arg);
            let any = matches!(builtin, Builtin::Called | Builtin::CalledAsSpecified | Builtin::Unspecified);
            if index < params.len() || !any {
                self.same(ty, params.get(index).copied());
            }
            let known = index < params.len() || any;
            let promoted = known || matches!(ty, None | Some(Ty::I32 | Ty::I64 | Ty::Ptr));
            self.check(promoted, || "a variable argument must be i32, i64 or ptr".to_string());
        }
        match (dst.map(|dst| (dst, self.reg(function, dst))), result) {
            (Some((_, found)), Some(expected)) => self.same(found, Some(expected)),
            (Some(_), None) if makes_value => {}
            (Some((_, found)), None) if value.is_some() => self.same(found, value),
            (Some(_), None) => self.error(format!("{name} has no result")),
            (None, _) => self.check(!makes_value, || "FreshInt needs a result".to_string()),
        }
    }

    // Terminators.

    fn terminator(&mut self, function: &Function, kind: &TermKind) {
        match kind {
            TermKind::Jump(target) => self.target(function, *target),
            TermKind::Branch { cond, then_block, else_block, role, tag } => {
                self.expect(function, *cond, Some(Ty::I1));
                self.target(function, *then_block);
                self.target(function, *else_block);
                if let Some(tag) = tag {
                    self.check(role.is_outcome(), || format!("{role:?} with the tag of a condition"));
                    self.tag(function, *tag);
                }
            }
            TermKind::Switch { value, arms, default, role: _, names } => {
                self.target(function, *default);
                for ArmName { target, name } in names {
                    let is_one = target == default || arms.iter().any(|arm| arm.target == *target);
                    self.check(is_one, || format!("{target} is no arm, and has the name {name:?} of one"));
                }
                match self.operand(function, *value) {
                    Some(Ty::Int(bits)) if is_scalar(Ty::Int(bits)) => self.arms(function, arms, bits),
                    Some(Ty::Ptr) => self.error("a switch over a pointer"),
                    _ => {}
                }
            }
            TermKind::Return(Some(value)) => match function.result {
                Some(ty) => self.expect(function, *value, Some(ty)),
                None => self.error("a value is returned from a function without result"),
            },
            TermKind::Throw(value) => self.expect(function, *value, Some(Ty::Ptr)),
            TermKind::Catch { thrown, handler, next } => {
                let found = self.reg(function, *thrown);
                self.same(found, Some(Ty::Ptr));
                self.target(function, *handler);
                self.target(function, *next);
            }
            TermKind::Return(None) | TermKind::Unsupported(_) | TermKind::Unreachable => {}
        }
    }

    pub(super) fn tag(&mut self, function: &Function, tag: CondTag) {
        let decision = function.decisions.get(tag.decision);
        let known = decision.is_some_and(|decision| tag.condition.index() < decision.conditions.len());
        self.check(known, || format!("{}.{} is no condition", tag.decision, tag.condition));
    }

    fn target(&mut self, function: &Function, target: BlockId) {
        self.check(target.index() < function.blocks.len(), || format!("{target} is no block"));
    }

    fn arms(&mut self, function: &Function, arms: &[SwitchArm], bits: u8) {
        let mut ranges = Vec::new();
        for arm in arms {
            self.target(function, arm.target);
            let masked = mask(arm.low, bits) == arm.low && mask(arm.high, bits) == arm.high;
            self.check(masked, || format!("the range {}..{} is not {bits} bits wide", arm.low, arm.high));
            // Signed values keep their order when they are moved up by half the range.
            let half = 1u64 << (bits - 1);
            let key =
                |value: u64| if arm.signed { (sign_extend(value, bits) as u64).wrapping_add(half) } else { value };
            self.check(!masked || key(arm.low) <= key(arm.high), || {
                format!("the range {}..{} is empty", arm.low, arm.high)
            });
            // A signed range that contains both -1 and 0 is two unsigned ones.
            if arm.low <= arm.high {
                ranges.push((arm.low, arm.high));
            } else {
                ranges.extend([(arm.low, mask(u64::MAX, bits)), (0, arm.high)]);
            }
        }
        ranges.sort_unstable();
        let overlap = ranges.windows(2).any(|pair| pair[0].1 >= pair[1].0);
        self.check(!overlap, || "the ranges of the switch overlap".to_string());
    }
}

pub(super) fn is_scalar(ty: Ty) -> bool {
    matches!(ty, Ty::Ptr | Ty::Int(1 | 8 | 16 | 32 | 64))
}

/// Returns true if a cast changes the width in its direction, or is between pointer and integer.
pub(super) fn cast_fits(op: CastOp, from: Ty, to: Ty) -> bool {
    match (op, from, to) {
        (CastOp::Zext | CastOp::Sext, Ty::Int(from), Ty::Int(to)) => from < to,
        (CastOp::Trunc, Ty::Int(from), Ty::Int(to)) => from > to,
        (CastOp::PtrToInt, Ty::Ptr, Ty::Int(bits)) => bits > 1,
        (CastOp::IntToPtr, Ty::I64, Ty::Ptr) => true,
        _ => false,
    }
}

/// Returns true if the leaves, from left to right, are `c0`, `c1`, … up to the last condition.
fn leaves_are_in_order(decision: &Decision) -> bool {
    let mut next = 0;
    let mut pending = vec![&decision.tree];
    while let Some(tree) = pending.pop() {
        match tree {
            BoolTree::Cond(condition) if *condition == CondId::new(next) => next += 1,
            BoolTree::Cond(_) => return false,
            BoolTree::Const(_) => {}
            BoolTree::Not(a) => pending.push(a),
            BoolTree::And(a, b) | BoolTree::Or(a, b) | BoolTree::Xor(a, b) | BoolTree::Iff(a, b) => {
                pending.extend([b, a].map(|part| &**part));
            }
            BoolTree::Ite(a, b, c) => pending.extend([c, b, a].map(|part| &**part)),
        }
    }
    next == decision.conditions.len()
}
