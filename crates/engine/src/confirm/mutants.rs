//! Mutants of a function, by the usual mutation operators: negated conditions, moved boundaries, replaced operators,
//! removed calls, replaced results.
//!
//! They select the assertions of a test. Coverage of mutants is the business of the criterion `wm`; nothing here is an
//! objective.

use touchstone_base::float;
use touchstone_ir::{BinOp, BlockId, Callee, CmpOp, Function, FunctionRole, InstKind, Module, Operand, TermKind, Ty};

/// Returns the first-order mutants of a function.
pub fn mutants(module: &Module, function: &Function) -> Vec<Function> {
    let mut found = Vec::new();
    for (block, code) in function.blocks.iter() {
        for (index, inst) in code.insts.iter().enumerate() {
            let others = match &inst.kind {
                InstKind::Bin { dst, op, a, b } if matches!(function.regs[*dst].ty, Ty::I32 | Ty::I64) => {
                    other_operator(*op).map(|op| InstKind::Bin { dst: *dst, op, a: *a, b: *b })
                }
                InstKind::Float { dst, op, format, args } => other_float_operator(*op).map(|op| InstKind::Float {
                    dst: *dst,
                    op,
                    format: *format,
                    args: args.clone(),
                }),
                InstKind::Cmp { dst, op, a, b } if is_branch_condition(&code.terminator.kind, Operand::Reg(*dst)) => {
                    moved_boundary(*op).map(|op| InstKind::Cmp { dst: *dst, op, a: *a, b: *b })
                }
                _ => None,
            };
            if let Some(kind) = others {
                let mut mutant = function.clone();
                mutant.blocks[block].insts[index].kind = kind;
                found.push(mutant);
            }
            if let InstKind::Call { dst: None, callee: Callee::Direct(callee), .. } = &inst.kind
                && is_method(&module.functions[*callee])
            {
                found.push(without(function, block, index));
            }
        }
        match &code.terminator.kind {
            TermKind::Branch { then_block, else_block, role, .. } if role.is_outcome() => {
                let (yes, no) = (*then_block, *else_block);
                let mut mutant = function.clone();
                if let TermKind::Branch { then_block, else_block, .. } = &mut mutant.blocks[block].terminator.kind {
                    (*then_block, *else_block) = (no, yes);
                }
                found.push(mutant);
            }
            TermKind::Return(Some(value)) => {
                let ty = function.result.unwrap_or(Ty::I32);
                let all = if ty == Ty::Ptr { &[0][..] } else { &[0, 1] };
                for other in all.iter().map(|number| Operand::Const(ty, *number)).filter(|other| other != value) {
                    let mut mutant = function.clone();
                    mutant.blocks[block].terminator.kind = TermKind::Return(Some(other));
                    found.push(mutant);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns true if a block branches on a value.
fn is_branch_condition(end: &TermKind, value: Operand) -> bool {
    matches!(end, TermKind::Branch { cond, role, .. } if *cond == value && role.is_outcome())
}

/// Returns true if a function is a method of the program other than a constructor.
fn is_method(function: &Function) -> bool {
    matches!(function.role, FunctionRole::Program) && !function.name.contains("<init>")
}

fn without(function: &Function, block: BlockId, index: usize) -> Function {
    let mut mutant = function.clone();
    let code = &mut mutant.blocks[block];
    code.insts.remove(index);
    if let TermKind::Catch { next, .. } = code.terminator.kind
        && index == code.insts.len()
    {
        code.terminator.kind = TermKind::Jump(next);
    }
    mutant
}

fn other_operator(op: BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Add => BinOp::Sub,
        BinOp::Sub => BinOp::Add,
        BinOp::Mul => BinOp::SDiv,
        BinOp::SDiv | BinOp::SRem => BinOp::Mul,
        BinOp::And => BinOp::Or,
        BinOp::Or | BinOp::Xor => BinOp::And,
        BinOp::Shl => BinOp::AShr,
        BinOp::AShr | BinOp::LShr => BinOp::Shl,
        BinOp::UDiv | BinOp::URem => return None,
    })
}

fn other_float_operator(op: float::FloatOp) -> Option<float::FloatOp> {
    Some(match op {
        float::FloatOp::Add => float::FloatOp::Sub,
        float::FloatOp::Sub => float::FloatOp::Add,
        float::FloatOp::Mul => float::FloatOp::Div,
        float::FloatOp::Div => float::FloatOp::Mul,
        _ => return None,
    })
}

/// Returns the relation with its boundary moved by one.
fn moved_boundary(op: CmpOp) -> Option<CmpOp> {
    Some(match op {
        CmpOp::Slt => CmpOp::Sle,
        CmpOp::Sle => CmpOp::Slt,
        CmpOp::Ult => CmpOp::Ule,
        CmpOp::Ule => CmpOp::Ult,
        CmpOp::Eq | CmpOp::Ne => return None,
    })
}
