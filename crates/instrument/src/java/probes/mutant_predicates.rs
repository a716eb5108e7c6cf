//! The predicates of weak mutation, as formulas over JVM frames that a probe can evaluate.
//!
//! The mutants of a class follow from its source and not from its class file, so the agent receives the formulas as a
//! plan before it weaves the class. The reader of the hits computes the same formulas from the same source, and looks
//! up their probes.

use super::agent_attachment::probe_words;
use crate::record::ProbeObstacle;
use std::collections::BTreeMap;
use touchstone_base::float::{FloatOp, Format};
use touchstone_criteria::{CriteriaOptions, Goal, GoalCriterion, RecordedEvent, objectives};
use touchstone_front_java::classfile::opcode as op;
use touchstone_front_java::classfile::{ClassFile, Desc, Insn, SlotKind as JavaKind, decode};
use touchstone_front_java::{CodeLocations, PointPosition, ValueLocation, ValuePointLocation};
use touchstone_ir::{BinOp, CastOp, CmpOp, Expr, ExprKind, FuncId, Module, PointId, PointKind, Reg, Ty};
use touchstone_probes_java::{
    BinaryOp, CodePoint, Formula, FrameTypes, FrameValue, MAX_ARGUMENT_WORDS, MethodProbes, PointPredicates,
    PredicatePlan, ProbeRequest, Relation, UnaryOp, argument_words, unit,
};

/// Returns true if the probes of a criterion are predicates that are planned from the source.
pub fn has_predicates(criterion: &dyn GoalCriterion) -> bool {
    criterion.recorded_events().contains(&RecordedEvent::Predicates)
}

/// The maximum number of nodes of a formula: the code that computes it must fit into a method.
const MAX_FORMULA_NODES: usize = 2_000;

/// Returns the identity of a class that is instrumented for criteria.
pub fn class_unit(bytes: &[u8], criteria: &[String]) -> u64 {
    unit(bytes, ProbeRequest::from_words(probe_words(criteria.iter().map(String::as_str))))
}

/// Computes the plan of a class, in the format that the agent reads.
pub fn class_plan(
    class: &ClassFile,
    module: &Module,
    methods: &[(FuncId, CodeLocations)],
    criteria: &[&'static dyn GoalCriterion],
    options: &CriteriaOptions,
) -> Vec<u8> {
    plan(class, module, methods, criteria, options).bytes()
}

fn plan(
    class: &ClassFile,
    module: &Module,
    methods: &[(FuncId, CodeLocations)],
    criteria: &[&'static dyn GoalCriterion],
    options: &CriteriaOptions,
) -> PredicatePlan {
    let criteria: Vec<&'static dyn GoalCriterion> =
        criteria.iter().filter(|criterion| has_predicates(**criterion)).copied().collect();
    let mut plan = PredicatePlan::default();
    for (func, located) in methods {
        let mutants = MutantPredicates::new(class, located);
        let mut asked: BTreeMap<CodePoint, Vec<Formula>> = BTreeMap::new();
        for goal in objectives(module, &[*func], &criteria, options).goals.values() {
            let Goal::Label { point, predicate: Some(predicate), .. } = goal else { continue };
            for (place, formula) in mutants.formulas(*point, predicate).into_iter().flatten() {
                let here = asked.entry(place).or_default();
                if !here.contains(&formula) {
                    here.push(formula);
                }
            }
        }
        let list: Vec<PointPredicates> =
            asked.into_iter().flat_map(|(place, formulas)| split(place, formulas)).collect();
        if let (false, Ok(method)) = (list.is_empty(), u16::try_from(located.method)) {
            plan.methods.insert(method, list);
        }
    }
    plan
}

/// Groups the predicates of one location so that the values that each group needs fit into the arguments of a call.
fn split(place: CodePoint, formulas: Vec<Formula>) -> Vec<PointPredicates> {
    let mut list: Vec<PointPredicates> = Vec::new();
    let mut held: Vec<FrameValue> = Vec::new();
    for formula in formulas {
        let mut with = held.clone();
        formula.collect_values(&mut with);
        match list.last_mut().filter(|_| argument_words(&with) <= MAX_ARGUMENT_WORDS) {
            Some(last) => {
                last.predicates.push(formula);
                held = with;
            }
            None => {
                held = Vec::new();
                formula.collect_values(&mut held);
                list.push(PointPredicates { point: place, predicates: vec![formula] });
            }
        }
    }
    list
}

/// Returns true if a point has predicates over computed values.
pub(super) fn is_about_values(kind: &PointKind) -> bool {
    matches!(
        kind,
        PointKind::Value(_)
            | PointKind::Decision(_)
            | PointKind::Condition { .. }
            | PointKind::Store { .. }
            | PointKind::TooDeep
    )
}

/// The predicates of a method.
pub(super) struct MutantPredicates<'m> {
    class: &'m ClassFile,
    located: &'m CodeLocations,
    kinds: Option<FrameTypes>,
    by_point: BTreeMap<PointId, Vec<&'m ValuePointLocation>>,
}

type Formulas = Vec<Result<(CodePoint, Formula), ProbeObstacle>>;

impl<'m> MutantPredicates<'m> {
    pub fn new(class: &'m ClassFile, located: &'m CodeLocations) -> MutantPredicates<'m> {
        let kinds = class.methods.get(located.method).and_then(|method| FrameTypes::new(class, method));
        let mut by_point: BTreeMap<PointId, Vec<&ValuePointLocation>> = BTreeMap::new();
        for (point, valued) in &located.values {
            by_point.entry(*point).or_default().push(valued);
        }
        MutantPredicates { class, located, kinds, by_point }
    }

    /// Translates a predicate for every code location of its point.
    fn formulas(&self, point: PointId, predicate: &Expr) -> Formulas {
        let places = self.by_point.get(&point).map(Vec::as_slice).unwrap_or_default();
        // A constant predicate is the placeholder for combinations that are not enumerated.
        if let ExprKind::Const(_) = predicate.kind {
            return vec![Err(ProbeObstacle::TooManyCombinations)];
        }
        let Some(kinds) = &self.kinds else { return vec![Err(ProbeObstacle::CodeTables)] };
        let made = |valued: &&ValuePointLocation| {
            let at = u16::try_from(valued.at).map_err(|_| ProbeObstacle::CodeTooLong)?;
            let place = match valued.when {
                PointPosition::Before => CodePoint::Before(at),
                PointPosition::After => CodePoint::After(at),
            };
            let formula =
                FormulaBuilder { class: self.class, located: self.located, kinds, valued }.formula(predicate)?;
            let mut held = Vec::new();
            formula.collect_values(&mut held);
            match formula.size() > MAX_FORMULA_NODES || argument_words(&held) > MAX_ARGUMENT_WORDS {
                true => Err(ProbeObstacle::CodeTooLong),
                false => Ok((place, formula)),
            }
        };
        places.iter().map(made).collect()
    }

    /// Returns the probes that record that a predicate held, of which one suffices, and an obstacle if they may miss
    /// executions.
    pub fn meaning(
        &self,
        probes: &MethodProbes,
        point: PointId,
        predicate: &Expr,
    ) -> (Vec<u32>, Option<ProbeObstacle>) {
        let (mut found, mut why) = (Vec::new(), None);
        let formulas = self.formulas(point, predicate);
        if formulas.is_empty() {
            why = Some(ProbeObstacle::ValueElsewhere);
        }
        for formula in formulas {
            match formula.map(|(place, formula)| probes.predicate(place, &formula)) {
                Ok(Some(probe)) => found.push(probe),
                Ok(None) => why = Some(ProbeObstacle::NotPlanned),
                Err(reason) => why = Some(reason),
            }
        }
        (found, why)
    }
}

/// Translates an expression over IR registers into a formula over the values of a JVM frame.
struct FormulaBuilder<'t> {
    class: &'t ClassFile,
    located: &'t CodeLocations,
    kinds: &'t FrameTypes,
    valued: &'t ValuePointLocation,
}

type FormulaResult = Result<Formula, ProbeObstacle>;

fn one(one: UnaryOp, of: Formula) -> Formula {
    Formula::Unary(one, Box::new(of))
}

fn two(two: BinaryOp, a: Formula, b: Formula) -> Formula {
    Formula::Binary(two, Box::new((a, b)))
}

fn masked(of: Formula, bits: u8) -> Formula {
    two(BinaryOp::Arith(op::IAND), of, Formula::Int(((1u32 << bits) - 1) as i32))
}

/// Converts a value of the frame to the bits of its register.
fn bits(held: FrameValue) -> Formula {
    match held.kind() {
        JavaKind::Float => one(UnaryOp::FloatBits, Formula::Value(held)),
        JavaKind::Double => one(UnaryOp::DoubleBits, Formula::Value(held)),
        _ => Formula::Value(held),
    }
}

/// Converts bits to a float.
fn number(format: Format, of: Formula) -> Formula {
    match (format, of) {
        (Format::F32, Formula::Unary(UnaryOp::FloatBits, inner)) => *inner,
        (Format::F64, Formula::Unary(UnaryOp::DoubleBits, inner)) => *inner,
        (Format::F32, of) => one(UnaryOp::BitsFloat, of),
        (Format::F64, of) => one(UnaryOp::BitsDouble, of),
    }
}

/// Converts a float to bits.
fn float_bits(format: Format, of: Formula) -> Formula {
    match format {
        Format::F32 => one(UnaryOp::FloatBits, of),
        Format::F64 => one(UnaryOp::DoubleBits, of),
    }
}

impl FormulaBuilder<'_> {
    fn formula(&self, expr: &Expr) -> FormulaResult {
        Ok(match &expr.kind {
            ExprKind::Const(value) => match expr.ty {
                Ty::Int(64) => Formula::Long(*value as i64),
                Ty::Int(_) => Formula::Int(*value as u32 as i32),
                Ty::Ptr => return Err(ProbeObstacle::NoName),
            },
            ExprKind::Reg(reg) => self.register(*reg)?,
            ExprKind::Load(address) => self.field(address, expr.ty)?,
            ExprKind::Bin(op, a, b) => self.arithmetic(*op, a, b, expr.ty)?,
            ExprKind::Cmp(op, a, b) => self.relation(*op, a, b)?,
            ExprKind::Cast(op, a) => self.cast(*op, a, expr.ty)?,
            ExprKind::Float(op, format, args) => self.float(*op, *format, args)?,
            ExprKind::AsFloat(_, a) => self.formula(a)?,
            ExprKind::Not(a) => one(UnaryOp::Not, self.formula(a)?),
            ExprKind::And(a, b) => two(BinaryOp::And, self.formula(a)?, self.formula(b)?),
            ExprKind::Or(a, b) => two(BinaryOp::Or, self.formula(a)?, self.formula(b)?),
            ExprKind::Ite(c, a, b) => Formula::If(Box::new((self.formula(c)?, self.formula(a)?, self.formula(b)?))),
            ExprKind::Slot(_) | ExprKind::Global(_) | ExprKind::PtrAdd(..) => return Err(ProbeObstacle::NoName),
        })
    }

    fn register(&self, reg: Reg) -> FormulaResult {
        let elsewhere = Err(ProbeObstacle::ValueElsewhere);
        let at = self.valued.at;
        let short = |at: usize| u16::try_from(at).map_err(|_| ProbeObstacle::CodeTooLong);
        match self.valued.sources.get(&reg) {
            Some(ValueLocation::Local(local, kind)) => {
                let is_there = match self.valued.when {
                    PointPosition::Before => self.kinds.holds_before(at, *local, *kind),
                    PointPosition::After => self.kinds.holds_after(at, *local, *kind),
                };
                if is_there { Ok(bits(FrameValue::Local(*local, *kind))) } else { elsewhere }
            }
            Some(ValueLocation::OldLocal(local, kind, from)) => {
                match self.kinds.holds_before(*from, *local, *kind) && self.kinds.in_order(*from, at) {
                    true => Ok(bits(FrameValue::SavedLocal(*local, *kind, short(*from)?))),
                    false => elsewhere,
                }
            }
            Some(ValueLocation::Pushed(from)) => match self.kinds.pushed(self.class, *from) {
                Some(kind) if self.kinds.in_order(*from, at) => Ok(bits(FrameValue::Pushed(short(*from)?, kind))),
                _ => elsewhere,
            },
            Some(ValueLocation::SameReferences { value }) => {
                let same = match self.jump() {
                    Some(Insn::IfNull(..)) => one(UnaryOp::IsNull, Formula::Value(FrameValue::StackRef(0))),
                    Some(Insn::IfRefs(..)) => two(
                        BinaryOp::Compare(JavaKind::Ref, Relation::Equal),
                        Formula::Value(FrameValue::StackRef(1)),
                        Formula::Value(FrameValue::StackRef(0)),
                    ),
                    _ => return elsewhere,
                };
                Ok(if *value { same } else { one(UnaryOp::Not, same) })
            }
            None => elsewhere,
        }
    }

    /// Returns the jump instruction at the point.
    fn jump(&self) -> Option<Insn> {
        let code = self.class.methods.get(self.located.method)?.code()?;
        let insns = decode(&code.bytes, code.offset).ok()?;
        insns.into_iter().find(|insn| insn.at == self.valued.at).map(|insn| insn.insn)
    }

    /// Translates the load of a field of `this`.
    fn field(&self, address: &Expr, ty: Ty) -> FormulaResult {
        let found = match &address.kind {
            ExprKind::PtrAdd(base, offset) => match (&base.kind, &offset.kind) {
                (ExprKind::Reg(this), ExprKind::Const(offset)) if touchstone_base::Id::index(*this) == 0 => {
                    self.located.own_fields.get(offset)
                }
                _ => None,
            },
            _ => None,
        };
        let (Some(constant), true) = (found, self.kinds.has_receiver(self.valued.at)) else {
            return Err(ProbeObstacle::ValueElsewhere);
        };
        let desc = self.class.pool.field(*constant).ok().and_then(|field| Desc::parse(&field.desc));
        let kind = desc.map(|desc| desc.kind()).ok_or(ProbeObstacle::NoName)?;
        let value = bits(FrameValue::Field(*constant, kind));
        Ok(match ty {
            Ty::Int(narrow @ ..32) => masked(value, narrow),
            _ => value,
        })
    }

    fn arithmetic(&self, op: BinOp, a: &Expr, b: &Expr, ty: Ty) -> FormulaResult {
        let Ty::Int(width) = ty else { return Err(ProbeObstacle::NoName) };
        let (code, shifts) = match op {
            BinOp::Add => (op::IADD, false),
            BinOp::Sub => (op::ISUB, false),
            BinOp::Mul => (op::IMUL, false),
            BinOp::SDiv if width >= 32 => (op::IDIV, false),
            BinOp::SRem if width >= 32 => (op::IREM, false),
            BinOp::Shl if width >= 32 => (op::ISHL, true),
            BinOp::AShr if width >= 32 => (op::ISHR, true),
            BinOp::LShr if width >= 32 => (op::IUSHR, true),
            BinOp::And => (op::IAND, false),
            BinOp::Or => (op::IOR, false),
            BinOp::Xor => (op::IXOR, false),
            _ => return Err(ProbeObstacle::NoPredicate(a.text.clone())),
        };
        let (a, mut b) = (self.formula(a)?, self.formula(b)?);
        if width == 64 && shifts {
            b = one(UnaryOp::Convert(op::L2I), b);
        }
        let made = two(BinaryOp::Arith(if width == 64 { code + 1 } else { code }), a, b);
        let stays = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
        Ok(if width < 32 && !stays { masked(made, width) } else { made })
    }

    fn relation(&self, op: CmpOp, a: &Expr, b: &Expr) -> FormulaResult {
        let is_null = |expr: &Expr| matches!(expr.kind, ExprKind::Const(0));
        let (kind, width) = match a.ty {
            Ty::Ptr => {
                let same = match (is_null(a), is_null(b)) {
                    (_, true) => one(UnaryOp::IsNull, self.formula(a)?),
                    (true, _) => one(UnaryOp::IsNull, self.formula(b)?),
                    _ => two(BinaryOp::Compare(JavaKind::Ref, Relation::Equal), self.formula(a)?, self.formula(b)?),
                };
                return match op {
                    CmpOp::Eq => Ok(same),
                    CmpOp::Ne => Ok(one(UnaryOp::Not, same)),
                    _ => Err(ProbeObstacle::NoName),
                };
            }
            Ty::Int(64) => (JavaKind::Long, 64),
            Ty::Int(width) => (JavaKind::Int, width),
        };
        let (mut a, mut b) = (self.formula(a)?, self.formula(b)?);
        if matches!(op, CmpOp::Ult | CmpOp::Ule) && width >= 32 {
            // Flipping the sign bit maps the unsigned order to the signed one.
            let turned = |of: Formula| match width {
                64 => two(BinaryOp::Arith(op::LXOR), of, Formula::Long(i64::MIN)),
                _ => two(BinaryOp::Arith(op::IXOR), of, Formula::Int(i32::MIN)),
            };
            (a, b) = (turned(a), turned(b));
        }
        let relation = match op {
            CmpOp::Eq | CmpOp::Ne => Relation::Equal,
            CmpOp::Slt | CmpOp::Sle if width < 32 => return Err(ProbeObstacle::NoName),
            CmpOp::Slt | CmpOp::Ult => Relation::Less,
            CmpOp::Sle | CmpOp::Ule => Relation::LessOrEqual,
        };
        let made = two(BinaryOp::Compare(kind, relation), a, b);
        Ok(if op == CmpOp::Ne { one(UnaryOp::Not, made) } else { made })
    }

    fn cast(&self, op: CastOp, a: &Expr, to: Ty) -> FormulaResult {
        let (Ty::Int(from), Ty::Int(to)) = (a.ty, to) else { return Err(ProbeObstacle::NoName) };
        let value = self.formula(a)?;
        let value = match op {
            CastOp::Trunc => {
                let low = if from == 64 && to < 64 { one(UnaryOp::Convert(op::L2I), value) } else { value };
                return Ok(if to < 32 { masked(low, to) } else { low });
            }
            CastOp::Zext if from == 32 && to == 64 => {
                let wide = one(UnaryOp::Convert(op::I2L), value);
                return Ok(two(BinaryOp::Arith(op::LAND), wide, Formula::Long(0xffff_ffff)));
            }
            CastOp::Zext => value,
            CastOp::Sext => match from {
                1 => two(BinaryOp::Arith(op::ISUB), Formula::Int(0), value),
                8 => one(UnaryOp::Convert(op::I2B), value),
                16 => one(UnaryOp::Convert(op::I2S), value),
                _ => value,
            },
            CastOp::PtrToInt | CastOp::IntToPtr => return Err(ProbeObstacle::NoName),
        };
        Ok(match to {
            64 if from < 64 => one(UnaryOp::Convert(op::I2L), value),
            ..32 if op == CastOp::Sext => masked(value, to),
            _ => value,
        })
    }

    fn float(&self, op: FloatOp, format: Format, args: &[Expr]) -> FormulaResult {
        let is_wide = format == Format::F64;
        let kind = if is_wide { JavaKind::Double } else { JavaKind::Float };
        let arg = |index: usize| args.get(index).ok_or(ProbeObstacle::FloatWithoutArguments);
        let float = |index: usize| -> FormulaResult { Ok(number(format, self.formula(arg(index)?)?)) };
        let arithmetic = |code: u8| {
            let code = if is_wide { code + 1 } else { code };
            Ok(float_bits(format, two(BinaryOp::Arith(code), float(0)?, float(1)?)))
        };
        let relation = |relation| Ok(two(BinaryOp::Compare(kind, relation), float(0)?, float(1)?));
        match op {
            FloatOp::Add => arithmetic(op::FADD),
            FloatOp::Sub => arithmetic(op::FSUB),
            FloatOp::Mul => arithmetic(op::FMUL),
            FloatOp::Div => arithmetic(op::FDIV),
            FloatOp::Rem => arithmetic(op::FREM),
            FloatOp::Eq => relation(Relation::Equal),
            FloatOp::Lt => relation(Relation::Less),
            FloatOp::Le => relation(Relation::LessOrEqual),
            FloatOp::FromSigned(width @ (32 | 64)) => {
                let code = match (width, is_wide) {
                    (32, false) => op::I2F,
                    (32, true) => op::I2D,
                    (_, false) => op::L2F,
                    (_, true) => op::L2D,
                };
                Ok(float_bits(format, one(UnaryOp::Convert(code), self.formula(arg(0)?)?)))
            }
            FloatOp::Saturate(width @ (32 | 64)) => {
                let code = match (is_wide, width) {
                    (false, 32) => op::F2I,
                    (false, _) => op::F2L,
                    (true, 32) => op::D2I,
                    (true, _) => op::D2L,
                };
                Ok(one(UnaryOp::Convert(code), float(0)?))
            }
            FloatOp::Convert(Format::F64) if !is_wide => {
                Ok(float_bits(Format::F64, one(UnaryOp::Convert(op::F2D), float(0)?)))
            }
            FloatOp::Convert(Format::F32) if is_wide => {
                Ok(float_bits(Format::F32, one(UnaryOp::Convert(op::D2F), float(0)?)))
            }
            _ => Err(ProbeObstacle::FloatOperation),
        }
    }
}
