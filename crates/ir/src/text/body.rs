//! The parser of functions.

use super::lex::Token;
use super::parse::{Number, Parser, Result, ty_of_word};
use crate::{
    ArmName, BinOp, Block, BoolTree, BranchRole, Builtin, Callee, CastOp, Condition, Decision, DecisionKind, Function,
    Inst, InstKind, Operand, Param, Reg, RegInfo, Slot, SwitchArm, TermKind, Terminator, Ty,
};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{Id, IndexMap, float};

/// A tree that is nested deeper is refused: reading, comparing and dropping trees recurse.
const MAX_TREE_DEPTH: usize = 1000;

/// The declarations of the function that is being parsed.
struct Context {
    /// Types of all registers that the function's text declares anywhere.
    types: BTreeMap<u32, Ty>,
    names: BTreeMap<u32, String>,
    result: Option<Ty>,
}

/// An operand as written.
#[derive(Clone, Copy)]
enum Raw {
    Reg(Reg),
    Const(Ty, u64),
    /// A constant without type, and the token where it stands.
    Bare(Number, usize),
}

impl Parser {
    pub(super) fn function(&mut self) -> Result<Function> {
        let start = self.at;
        let mut context = Context { types: self.declared_registers(), names: BTreeMap::new(), result: None };
        self.word("func")?;
        let name = self.name("the name of a function (`@name`)")?;
        self.sign("(")?;
        let params = self.list(")", |parser| parser.param(&mut context))?;
        let mut result_data = None;
        if self.eat_sign("->") {
            if !self.eat_word("void") {
                context.result = Some(self.ty()?);
            }
            result_data = Some(self.data());
        }
        let result_data = result_data.unwrap_or_else(|| self.data());
        let internal = self.eat_word("internal");
        let role = self.try_one_of().unwrap_or_default();
        let aggregate_result = self.eat_word("aggregate_result");
        let variadic = self.eat_word("variadic");
        let mut left_open = BTreeSet::new();
        while self.eat_word("left_open") {
            left_open.insert(self.text("what is left open in quotes")?);
        }
        let mut function = Function {
            name,
            span: self.span(),
            internal,
            role,
            params,
            result: context.result,
            result_data,
            aggregate_result,
            variadic,
            left_open,
            regs: IndexMap::new(),
            slots: IndexMap::new(),
            decisions: IndexMap::new(),
            points: IndexMap::new(),
            blocks: IndexMap::new(),
        };
        if self.eat_sign("{") {
            self.function_body(&mut function, &mut context)?;
        }
        for (index, (&reg, &ty)) in context.types.iter().enumerate() {
            if index as u64 != u64::from(reg) {
                let message = format!("expected a type for every register, but `%{index}` is never declared");
                return self.fail_at(start, message);
            }
            function.regs.push(RegInfo { ty, name: context.names.remove(&reg) });
        }
        Ok(function)
    }

    /// The first declaration (`%3 "name": i32`) of every register up to the end of this function.
    fn declared_registers(&self) -> BTreeMap<u32, Ty> {
        let mut types = BTreeMap::new();
        let mut depth = 0usize;
        for (at, placed) in self.tokens.iter().enumerate().skip(self.at) {
            match &placed.token {
                Token::Sign("{") => depth += 1,
                Token::Sign("}") if depth <= 1 => break,
                Token::Sign("}") => depth -= 1,
                Token::Word(word) if depth == 0 && at > self.at && is_item(word) => break,
                Token::Reg(reg) => {
                    let mut rest = self.tokens[at + 1..].iter().map(|placed| &placed.token).peekable();
                    rest.next_if(|token| matches!(token, Token::Text(_)));
                    if let (Some(Token::Sign(":")), Some(Token::Word(word))) = (rest.next(), rest.next())
                        && let Some(ty) = ty_of_word(word)
                    {
                        types.entry(*reg).or_insert(ty);
                    }
                }
                _ => {}
            }
        }
        types
    }

    fn register(&mut self, what: &str) -> Result<u32> {
        match *self.peek() {
            Token::Reg(reg) => {
                self.next();
                Ok(reg)
            }
            _ => self.expected(what),
        }
    }

    /// `: type` of a register, which must not contradict another declaration.
    fn register_ty(&mut self, context: &Context, reg: u32) -> Result<()> {
        self.sign(":")?;
        let at = self.at;
        let ty = self.ty()?;
        match context.types.get(&reg) {
            Some(&other) if other != ty => {
                self.fail_at(at, format!("expected `{other}`: `%{reg}` is declared so elsewhere, found `{ty}`"))
            }
            _ => Ok(()),
        }
    }

    fn param(&mut self, context: &mut Context) -> Result<Param> {
        let reg = self.register("a register (`%0`) for a parameter")?;
        let name = self.try_text().transpose()?.unwrap_or_default();
        self.register_ty(context, reg)?;
        if name.is_empty() {
            context.names.remove(&reg);
        } else {
            context.names.insert(reg, name.clone());
        }
        let data = self.data();
        Ok(Param { name, reg: Reg::new(reg as usize), data, aggregate: self.eat_word("aggregate") })
    }

    fn function_body(&mut self, function: &mut Function, context: &mut Context) -> Result<()> {
        while !self.eat_sign("}") {
            if self.eat_word("reg") {
                let reg = self.register("a register")?;
                let name = self.try_text().transpose()?;
                self.register_ty(context, reg)?;
                match name {
                    Some(name) => context.names.insert(reg, name),
                    None => context.names.remove(&reg),
                };
            } else if self.eat_word("slot") {
                self.id_in_order("s", function.slots.next_id())?;
                let name = self.try_text().transpose()?;
                self.sign(":")?;
                let data = self.data();
                self.word("size")?;
                function.slots.push(Slot { name, data, size: self.u64("a size in bytes")? });
            } else if self.eat_word("decision") {
                self.id_in_order("d", function.decisions.next_id())?;
                function.decisions.push(self.decision()?);
            } else if self.eat_word("point") {
                self.id_in_order("p", function.points.next_id())?;
                function.points.push(self.point()?);
            } else if matches!(self.peek(), Token::Word(word) if word.starts_with('b')) {
                self.id_in_order("b", function.blocks.next_id())?;
                self.sign(":")?;
                function.blocks.push(self.block(context)?);
            } else {
                return self.expected("`reg`, `slot`, `decision`, `point`, a block (`b0:`) or `}`");
            }
        }
        Ok(())
    }

    fn decision(&mut self) -> Result<Decision> {
        let kind = self.one_of::<DecisionKind>("a kind of decision (if, while, for, do_while, ternary, value)")?;
        let text = self.text("the text of the decision in quotes")?;
        let span = self.span();
        self.sign("=")?;
        let tree = self.tree(0)?;
        self.sign("{")?;
        let mut conditions = IndexMap::new();
        while !self.eat_sign("}") {
            self.id_in_order("c", conditions.next_id())?;
            conditions.push(Condition { text: self.text("the text of the condition in quotes")?, span: self.span() });
        }
        Ok(Decision { kind, span, text, tree, conditions })
    }

    fn tree(&mut self, depth: usize) -> Result<BoolTree> {
        const WHAT: &str = "a condition (`c0`), true, false, not, and, or, xor, iff or ite";
        if depth > MAX_TREE_DEPTH {
            return self.fail("expected a decision that is nested less deeply");
        }
        if let Some(condition) = self.try_id("c") {
            return Ok(BoolTree::Cond(condition));
        }
        let at = self.at;
        let Token::Word(word) = self.peek().clone() else { return self.expected(WHAT) };
        self.next();
        let arity = match word.as_str() {
            "true" => return Ok(BoolTree::Const(true)),
            "false" => return Ok(BoolTree::Const(false)),
            "not" => 1,
            "and" | "or" | "xor" | "iff" => 2,
            "ite" => 3,
            _ => return self.fail_at(at, format!("expected {WHAT}, found `{word}`")),
        };
        self.sign("(")?;
        let mut first = |last: bool| -> Result<Box<BoolTree>> {
            let part = Box::new(self.tree(depth + 1)?);
            self.sign(if last { ")" } else { "," })?;
            Ok(part)
        };
        let a = first(arity == 1)?;
        Ok(match word.as_str() {
            "not" => BoolTree::Not(a),
            "and" => BoolTree::And(a, first(true)?),
            "or" => BoolTree::Or(a, first(true)?),
            "xor" => BoolTree::Xor(a, first(true)?),
            "iff" => BoolTree::Iff(a, first(true)?),
            _ => BoolTree::Ite(a, first(false)?, first(true)?),
        })
    }

    fn block(&mut self, context: &Context) -> Result<Block> {
        let mut insts = Vec::new();
        loop {
            if let Some(kind) = self.terminator(context)? {
                return Ok(Block { insts, terminator: Terminator { kind, span: self.span() } });
            }
            let kind = self.inst(context)?;
            insts.push(Inst { kind, span: self.span() });
        }
    }

    // Instructions.

    fn inst(&mut self, context: &Context) -> Result<InstKind> {
        if let Token::Reg(reg) = *self.peek() {
            let at = self.at;
            self.next();
            if self.is_sign(":") {
                self.register_ty(context, reg)?;
            }
            let Some(&ty) = context.types.get(&reg) else {
                return self.fail_at(at, format!("expected a type for `%{reg}` (write `%{reg}: i32 = …` once)"));
            };
            self.sign("=")?;
            return self.definition(context, Reg::new(reg as usize), ty);
        }
        if self.eat_word("store") {
            let addr = self.operand(Some(Ty::Ptr))?;
            self.sign(",")?;
            Ok(InstKind::Store { addr, value: self.operand(None)? })
        } else if self.eat_word("mem_copy") {
            let [dst, src, size] = self.three([Ty::Ptr, Ty::Ptr, Ty::I64])?;
            Ok(InstKind::MemCopy { dst, src, size })
        } else if self.eat_word("mem_set") {
            let [dst, value, size] = self.three([Ty::Ptr, Ty::I8, Ty::I64])?;
            Ok(InstKind::MemSet { dst, value, size })
        } else if self.eat_word("slot_begin") {
            Ok(InstKind::SlotBegin { slot: self.id("s", "a slot (`s0`)")? })
        } else if self.eat_word("slot_end") {
            Ok(InstKind::SlotEnd { slot: self.id("s", "a slot (`s0`)")? })
        } else if self.eat_word("point") {
            Ok(InstKind::Point { point: self.id("p", "a point (`p0`)")? })
        } else if self.is_call() {
            self.call(None)
        } else {
            self.expected("an instruction or the end of the block (jump, branch, switch, return, …)")
        }
    }

    /// Parses the instruction after `%3: i32 =`.
    fn definition(&mut self, context: &Context, dst: Reg, ty: Ty) -> Result<InstKind> {
        if let Some(op) = self.try_one_of::<BinOp>() {
            let a = self.operand(Some(ty))?;
            self.sign(",")?;
            return Ok(InstKind::Bin { dst, op, a, b: self.operand(Some(ty))? });
        }
        if let Some(op) = self.try_one_of::<CastOp>() {
            return Ok(InstKind::Cast { dst, op, src: self.operand(None)? });
        }
        if self.eat_word("float") {
            return self.float(dst);
        }
        if self.is_call() {
            return self.call(Some(dst));
        }
        if self.eat_word("copy") {
            Ok(InstKind::Copy { dst, src: self.operand(Some(ty))? })
        } else if self.eat_word("cmp") {
            self.comparison(context, dst)
        } else if self.eat_word("slot_addr") {
            Ok(InstKind::SlotAddr { dst, slot: self.id("s", "a slot (`s0`)")? })
        } else if self.eat_word("global_addr") {
            Ok(InstKind::GlobalAddr { dst, global: self.global_ref()? })
        } else if self.eat_word("ptr_add") {
            let base = self.operand(Some(Ty::Ptr))?;
            self.sign(",")?;
            Ok(InstKind::PtrAdd { dst, base, offset: self.operand(Some(Ty::I64))? })
        } else if self.eat_word("ptr_diff") {
            let a = self.operand(Some(Ty::Ptr))?;
            self.sign(",")?;
            Ok(InstKind::PtrDiff { dst, a, b: self.operand(Some(Ty::Ptr))? })
        } else if self.eat_word("load") {
            Ok(InstKind::Load { dst, addr: self.operand(Some(Ty::Ptr))? })
        } else {
            self.expected("an instruction that gives a value")
        }
    }

    fn float(&mut self, dst: Reg) -> Result<InstKind> {
        let format = self.one_of::<float::Format>("a float format (f32, f64)")?;
        let op = self.one_of::<float::FloatOp>("a float operation (add, lt, to_i32, …)")?;
        let ty = Some(Ty::Int(op.argument_bits(format)));
        let mut args = vec![self.operand(ty)?];
        while self.eat_sign(",") {
            args.push(self.operand(ty)?);
        }
        Ok(InstKind::Float { dst, op, format, args })
    }

    fn comparison(&mut self, context: &Context, dst: Reg) -> Result<InstKind> {
        let op = self.one_of("a relation (eq, ne, ult, ule, slt, sle)")?;
        let a = self.raw_operand()?;
        self.sign(",")?;
        let b = self.raw_operand()?;
        let ty = context.raw_ty(a).or(context.raw_ty(b));
        Ok(InstKind::Cmp { dst, op, a: self.resolve(a, ty)?, b: self.resolve(b, ty)? })
    }

    fn is_call(&self) -> bool {
        ["call", "call_indirect", "builtin"].iter().any(|word| self.is_word(word))
    }

    fn call(&mut self, dst: Option<Reg>) -> Result<InstKind> {
        if self.eat_word("call_indirect") {
            let callee = Callee::Indirect(self.operand(Some(Ty::Ptr))?);
            return Ok(InstKind::Call { dst, callee, args: self.arguments()? });
        }
        if self.eat_word("call") {
            let callee = Callee::Direct(self.function_ref()?);
            Ok(InstKind::Call { dst, callee, args: self.arguments()? })
        } else {
            self.word("builtin")?;
            let builtin = match self.peek() {
                Token::Word(word) => Builtin::from_word(word),
                _ => None,
            };
            let Some(builtin) = builtin else { return self.expected("the name of a builtin") };
            self.next();
            Ok(InstKind::Builtin { dst, builtin, args: self.arguments()? })
        }
    }

    fn arguments(&mut self) -> Result<Vec<Operand>> {
        self.sign("(")?;
        self.list(")", |parser| parser.operand(None))
    }

    fn three(&mut self, types: [Ty; 3]) -> Result<[Operand; 3]> {
        let a = self.operand(Some(types[0]))?;
        self.sign(",")?;
        let b = self.operand(Some(types[1]))?;
        self.sign(",")?;
        Ok([a, b, self.operand(Some(types[2]))?])
    }

    // Operands.

    fn operand(&mut self, expected: Option<Ty>) -> Result<Operand> {
        let raw = self.raw_operand()?;
        self.resolve(raw, expected)
    }

    fn raw_operand(&mut self) -> Result<Raw> {
        if let Token::Reg(reg) = *self.peek() {
            self.next();
            return Ok(Raw::Reg(Reg::new(reg as usize)));
        }
        if self.eat_word("null") {
            return Ok(Raw::Const(Ty::Ptr, 0));
        }
        if let Some(ty) = self.try_ty() {
            return Ok(Raw::Const(ty, self.number("a number")?.bits(ty.bits())));
        }
        let at = self.at;
        if self.is_sign("-") || matches!(self.peek(), Token::Number(_)) {
            return Ok(Raw::Bare(self.number("a number")?, at));
        }
        self.expected("an operand (`%0`, `i32 7`, `null`)")
    }

    fn resolve(&self, raw: Raw, expected: Option<Ty>) -> Result<Operand> {
        match (raw, expected) {
            (Raw::Reg(reg), _) => Ok(Operand::Reg(reg)),
            (Raw::Const(ty, value), _) => Ok(Operand::Const(ty, value)),
            (Raw::Bare(number, _), Some(ty)) => Ok(Operand::Const(ty, number.bits(ty.bits()))),
            (Raw::Bare(_, at), None) => self.fail_at(at, "expected a type before this constant (`i32 7`)"),
        }
    }

    fn starts_operand(&self) -> bool {
        match self.peek() {
            Token::Reg(_) | Token::Number(_) | Token::Sign("-") => true,
            Token::Word(word) => word == "null" || ty_of_word(word).is_some(),
            _ => false,
        }
    }

    // Terminators.

    fn terminator(&mut self, context: &Context) -> Result<Option<TermKind>> {
        let kind = if self.eat_word("jump") {
            TermKind::Jump(self.id("b", "a block (`b0`)")?)
        } else if self.eat_word("branch") {
            self.branch()?
        } else if self.eat_word("switch") {
            self.switch(context)?
        } else if self.eat_word("return") {
            let value = if self.starts_operand() { Some(self.operand(context.result)?) } else { None };
            TermKind::Return(value)
        } else if self.eat_word("throw") {
            TermKind::Throw(self.operand(Some(Ty::Ptr))?)
        } else if self.eat_word("catch") {
            self.catch(context)?
        } else if self.eat_word("unsupported") {
            TermKind::Unsupported(self.text("the name of the construct in quotes")?)
        } else if self.eat_word("unreachable") {
            TermKind::Unreachable
        } else {
            return Ok(None);
        };
        Ok(Some(kind))
    }

    fn branch(&mut self) -> Result<TermKind> {
        let role = self.try_one_of::<BranchRole>().unwrap_or_default();
        let cond = self.operand(Some(Ty::I1))?;
        self.sign(",")?;
        let then_block = self.id("b", "a block (`b0`)")?;
        self.sign(",")?;
        let else_block = self.id("b", "a block (`b0`)")?;
        let tag = if self.eat_sign("[") {
            let tag = self.tag()?;
            self.sign("]")?;
            Some(tag)
        } else {
            None
        };
        Ok(TermKind::Branch { cond, then_block, else_block, role, tag })
    }

    /// `%4: ptr => b2, else => b1`, behind the word.
    fn catch(&mut self, context: &Context) -> Result<TermKind> {
        let reg = self.register("a register for the thrown object")?;
        if self.is_sign(":") {
            self.register_ty(context, reg)?;
        }
        self.sign("=>")?;
        let handler = self.id("b", "a block (`b0`)")?;
        self.sign(",")?;
        self.word("else")?;
        self.sign("=>")?;
        Ok(TermKind::Catch { thrown: Reg::new(reg as usize), handler, next: self.id("b", "a block (`b0`)")? })
    }

    fn switch(&mut self, context: &Context) -> Result<TermKind> {
        let role = self.try_one_of::<BranchRole>().unwrap_or_default();
        let raw = self.raw_operand()?;
        let bits = context.raw_ty(raw).map_or(64, Ty::bits);
        let value = self.resolve(raw, None)?;
        self.sign("{")?;
        let mut arms = Vec::new();
        while !self.eat_word("else") {
            let signed = !self.eat_word("unsigned");
            let low = self.number("a number, `unsigned` or `else`")?.bits(bits);
            let high = if self.eat_sign("..") { self.number("a number")?.bits(bits) } else { low };
            self.sign("=>")?;
            arms.push(SwitchArm { low, high, signed, target: self.id("b", "a block (`b0`)")? });
            self.sign(",")?;
        }
        self.sign("=>")?;
        let default = self.id("b", "a block (`b0`)")?;
        self.sign("}")?;
        let mut names = Vec::new();
        while self.eat_word("named") {
            names.push(ArmName { target: self.id("b", "a block (`b0`)")?, name: self.text("the arm's name")? });
        }
        Ok(TermKind::Switch { value, arms, default, role, names })
    }
}

impl Context {
    fn raw_ty(&self, raw: Raw) -> Option<Ty> {
        match raw {
            Raw::Reg(reg) => self.types.get(&(reg.index() as u32)).copied(),
            Raw::Const(ty, _) => Some(ty),
            Raw::Bare(..) => None,
        }
    }
}

fn is_item(word: &str) -> bool {
    matches!(word, "func" | "global" | "type" | "file" | "entry" | "memory" | "thrown" | "start")
}
