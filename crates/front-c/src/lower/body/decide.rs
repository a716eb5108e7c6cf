//! Decisions: boolean expressions as trees over their conditions, with one branch per condition (Whalen et al., section
//! III).
//!
//! The right operand of a boolean `^`, `==` or `!=` is lowered once for each outcome of the left one, with the same
//! tags: only one of the two copies is executed, and no branch is needed to combine them.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::{callee_name, has_effects, is_logical, shown};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::func::Lowerer;
use crate::types::ctype::TypeKind;
use touchstone_base::IndexMap;
use touchstone_ir::{
    BlockId, BoolTree, BranchRole, CondId, CondTag, Condition, Decision, DecisionId, DecisionKind, InstKind, Operand,
    TermKind, Ty,
};

/// The maximum nesting of equivalences to the right; deeper ones are conditions, since each level doubles the code.
const MAX_DOUBLINGS: u32 = 8;

/// A decision tree with the nodes that are lowered at its leaves.
enum Tree<'n> {
    Cond(CondId, &'n AstNode),
    Const(bool),
    Not(Box<Tree<'n>>),
    And(Box<Tree<'n>>, Box<Tree<'n>>),
    Or(Box<Tree<'n>>, Box<Tree<'n>>),
    Xor(Box<Tree<'n>>, Box<Tree<'n>>),
    Iff(Box<Tree<'n>>, Box<Tree<'n>>),
    Ite(Box<Tree<'n>>, Box<Tree<'n>>, Box<Tree<'n>>),
    /// The left side of a comma, followed by the tree.
    After(&'n AstNode, Box<Tree<'n>>),
}

impl Tree<'_> {
    fn shape(&self) -> BoolTree {
        let both = |a: &Tree<'_>, b: &Tree<'_>| (Box::new(a.shape()), Box::new(b.shape()));
        match self {
            Tree::Cond(id, _) => BoolTree::Cond(*id),
            Tree::Const(value) => BoolTree::Const(*value),
            Tree::Not(inner) => BoolTree::Not(Box::new(inner.shape())),
            Tree::And(a, b) => {
                let (a, b) = both(a, b);
                BoolTree::And(a, b)
            }
            Tree::Or(a, b) => {
                let (a, b) = both(a, b);
                BoolTree::Or(a, b)
            }
            Tree::Xor(a, b) => {
                let (a, b) = both(a, b);
                BoolTree::Xor(a, b)
            }
            Tree::Iff(a, b) => {
                let (a, b) = both(a, b);
                BoolTree::Iff(a, b)
            }
            Tree::Ite(c, a, b) => {
                let (a, b) = both(a, b);
                BoolTree::Ite(Box::new(c.shape()), a, b)
            }
            Tree::After(_, inner) => inner.shape(),
        }
    }
}

/// Returns true if an expression contains statements: labels can't be lowered twice.
fn has_statements(node: &AstNode) -> bool {
    node.kind == K::StmtExpr || node.inner.iter().any(has_statements)
}

type Conditions = IndexMap<CondId, Condition>;

/// Returns true if an expression is a null pointer constant, through any casts.
fn is_null_constant(node: &AstNode) -> bool {
    let passes = match &node.kind {
        K::ImplicitCastExpr | K::CStyleCastExpr if node.cast == Cast::NullToPointer => return true,
        K::ImplicitCastExpr | K::CStyleCastExpr => matches!(node.cast, Cast::BitCast | Cast::NoOp),
        K::ParenExpr | K::ConstantExpr => true,
        _ => false,
    };
    passes && node.inner.first().is_some_and(is_null_constant)
}

impl Lowerer<'_, '_> {
    /// Branches on a decision.
    pub fn decide(&mut self, node: &AstNode, kind: DecisionKind, yes: BlockId, no: BlockId) {
        let (id, tree) = self.decision(node, kind);
        self.mark_decision(id, node);
        self.branches(&tree, id, yes, no);
    }

    /// Evaluates a decision that controls no branch to 0 or 1.
    pub fn decision_value(&mut self, node: &AstNode, ty: Ty) -> Operand {
        let span = self.unit.span(node);
        let (id, tree) = self.decision(node, DecisionKind::Value);
        if self.function.decisions[id].conditions.is_empty()
            && let Some(value) = self.unit.const_int(node)
        {
            return Operand::Const(ty, value & 1);
        }
        let result = self.temp(ty);
        let (yes, no, join) = (self.new_block(), self.new_block(), self.new_block());
        self.branches(&tree, id, yes, no);
        for (block, value) in [(yes, 1), (no, 0)] {
            self.start(block);
            self.emit(InstKind::Copy { dst: result, src: Operand::Const(ty, value) }, span);
            self.terminate(TermKind::Jump(join), span);
        }
        self.start(join);
        Operand::Reg(result)
    }

    /// Branches on the (already computed) first operand of `a ?: b`, as a decision with one condition.
    pub fn decide_on(&mut self, elvis: &AstNode, node: &AstNode, value: Operand, yes: BlockId, no: BlockId) {
        let span = self.unit.span(shown(node));
        let text = self.unit.text(shown(node));
        let mut conditions = Conditions::new();
        let condition = conditions.push(Condition { span, text });
        let tree = Tree::Cond(condition, node);
        // Keyed by the whole expression: the operand may be a decision of its own.
        let decision = self.register(elvis.id, node, DecisionKind::Ternary, conditions, &tree);
        let tag = CondTag { decision, condition };
        self.mark_condition(tag, node);
        let ty = self.unit.type_of(elvis);
        let cond = self.truth_of(value, &ty, span);
        let kind =
            TermKind::Branch { cond, then_block: yes, else_block: no, role: BranchRole::Condition, tag: Some(tag) };
        self.terminate(kind, span);
    }

    fn decision<'n>(&mut self, node: &'n AstNode, kind: DecisionKind) -> (DecisionId, Tree<'n>) {
        let mut conditions = Conditions::new();
        let tree = self.tree(node, &mut conditions, 0);
        (self.register(node.id, node, kind, conditions, &tree), tree)
    }
    fn register(
        &mut self,
        key: u64,
        node: &AstNode,
        kind: DecisionKind,
        conditions: Conditions,
        tree: &Tree<'_>,
    ) -> DecisionId {
        if let Some(&id) = self.decisions.get(&key) {
            return id;
        }
        let span = self.unit.span(shown(node));
        let text = self.unit.text(shown(node));
        let id = self.function.decisions.push(Decision { kind, span, text, tree: tree.shape(), conditions });
        self.decisions.insert(key, id);
        id
    }

    fn tree<'n>(&mut self, node: &'n AstNode, conditions: &mut Conditions, doublings: u32) -> Tree<'n> {
        if let Some(inner) = self.look_through(node) {
            return self.tree(inner, conditions, doublings);
        }
        let mut sub = |lowerer: &mut Self, node: &'n AstNode| Box::new(lowerer.tree(node, conditions, doublings));
        match (&node.kind, node.inner.as_slice()) {
            (K::UnaryOperator, [inner]) if node.opcode == Opcode::Not => Tree::Not(sub(self, inner)),
            (K::BinaryOperator, [left, right]) => match &node.opcode {
                Opcode::And => Tree::And(sub(self, left), sub(self, right)),
                Opcode::Or => Tree::Or(sub(self, left), sub(self, right)),
                Opcode::Comma => Tree::After(left, sub(self, right)),
                Opcode::Equal | Opcode::NotEqual | Opcode::Caret => {
                    self.equivalence(node, left, right, conditions, doublings)
                }
                _ => self.leaf(node, conditions),
            },
            (K::ConditionalOperator, [condition, yes, no]) => {
                Tree::Ite(sub(self, condition), sub(self, yes), sub(self, no))
            }
            (K::BinaryConditionalOperator, [common, .., no]) => Tree::Or(sub(self, common), sub(self, no)),
            _ => self.leaf(node, conditions),
        }
    }
    fn leaf<'n>(&mut self, node: &'n AstNode, conditions: &mut Conditions) -> Tree<'n> {
        if let Some(value) = self.const_truth(node) {
            return Tree::Const(value);
        }
        let condition = Condition { span: self.unit.span(shown(node)), text: self.unit.text(shown(node)) };
        Tree::Cond(conditions.push(condition), node)
    }

    /// Returns the truth value of a constant: a number, or a null pointer (`p ? p->next : NULL`).
    fn const_truth(&self, node: &AstNode) -> Option<bool> {
        if let Some(value) = self.unit.const_int(node) {
            return Some(value != 0);
        }
        if is_null_constant(node) {
            return Some(false);
        }
        let format = self.unit.program.types.format(&self.unit.type_of(node))?;
        self.unit.const_float(node).map(|bits| bits & !format.sign_mask() != 0)
    }

    /// Builds the tree of `==`, `!=` and `^`, which are operators of the decision if both operands are boolean.
    fn equivalence<'n>(
        &mut self,
        node: &'n AstNode,
        left: &'n AstNode,
        right: &'n AstNode,
        conditions: &mut Conditions,
        doublings: u32,
    ) -> Tree<'n> {
        let same = node.opcode == Opcode::Equal;
        if self.unit.const_int(node).is_some() {
            return self.leaf(node, conditions);
        }
        for (side, other) in [(left, right), (right, left)] {
            if let Some(value @ (0 | 1)) = self.unit.const_int(other)
                && self.is_truth_valued(side)
            {
                let tree = self.tree(side, conditions, doublings);
                return if same == (value == 1) { tree } else { Tree::Not(Box::new(tree)) };
            }
        }
        let both = self.is_truth_valued(left) && self.is_truth_valued(right);
        if !both || doublings >= MAX_DOUBLINGS || has_statements(right) {
            return self.leaf(node, conditions);
        }
        let a = Box::new(self.tree(left, conditions, doublings));
        let b = Box::new(self.tree(right, conditions, doublings + 1));
        if same { Tree::Iff(a, b) } else { Tree::Xor(a, b) }
    }

    /// Returns the operand of a node that has the same truth value.
    fn look_through<'n>(&self, node: &'n AstNode) -> Option<&'n AstNode> {
        let inner = node.inner.first();
        match &node.kind {
            K::ParenExpr | K::ConstantExpr => inner,
            K::UnaryOperator if node.opcode == Opcode::Extension => inner,
            K::ImplicitCastExpr | K::CStyleCastExpr => {
                inner.filter(|inner| self.keeps_truth(node, inner) || self.is_truth_cast(node, inner))
            }
            K::CallExpr if callee_name(node) == Some("__builtin_expect") && !self.unit.has_body("__builtin_expect") => {
                // The expected value may have a side effect, too.
                node.inner.get(1).filter(|_| !node.inner.iter().skip(2).any(has_effects))
            }
            K::GenericSelectionExpr => crate::clang::ast_queries::selected(node),
            K::ConditionalOperator => self.unit.chosen_by_type(node),
            _ => None,
        }
    }
    /// Returns true if a cast converts 0 or 1 to an integer.
    fn is_truth_cast(&self, cast: &AstNode, inner: &AstNode) -> bool {
        matches!(cast.cast, Cast::IntegralCast | Cast::BooleanToSignedIntegral) && self.is_truth_valued(inner)
    }
    /// Returns true if a value is 0 or 1: a comparison, a logical operator, or of type `_Bool`.
    fn is_truth_valued(&self, node: &AstNode) -> bool {
        if self.unit.type_of(node).kind == TypeKind::Bool || is_logical(node) {
            return true;
        }
        match &node.kind {
            K::BinaryOperator if node.opcode.is_comparison() => true,
            K::BinaryOperator if node.opcode == Opcode::Comma => {
                node.inner.last().is_some_and(|last| self.is_truth_valued(last))
            }
            K::BinaryOperator if node.opcode == Opcode::Caret => {
                node.inner.iter().all(|side| self.is_truth_valued(side))
            }
            _ => self.look_through(node).is_some_and(|inner| self.is_truth_valued(inner)),
        }
    }

    fn branches(&mut self, tree: &Tree<'_>, decision: DecisionId, yes: BlockId, no: BlockId) {
        match tree {
            Tree::Cond(condition, node) => {
                let span = self.unit.span(shown(node));
                let tag = CondTag { decision, condition: *condition };
                self.mark_condition(tag, node);
                let cond = self.truth(node);
                let kind = TermKind::Branch {
                    cond,
                    then_block: yes,
                    else_block: no,
                    role: BranchRole::Condition,
                    tag: Some(tag),
                };
                self.terminate(kind, span);
            }
            Tree::Const(value) => {
                let span = self.function.decisions[decision].span;
                self.terminate(TermKind::Jump(if *value { yes } else { no }), span);
            }
            Tree::Not(inner) => self.branches(inner, decision, no, yes),
            Tree::And(a, b) => {
                let next = self.new_block();
                self.branches(a, decision, next, no);
                self.start(next);
                self.branches(b, decision, yes, no);
            }
            Tree::Or(a, b) => {
                let next = self.new_block();
                self.branches(a, decision, yes, next);
                self.start(next);
                self.branches(b, decision, yes, no);
            }
            Tree::Xor(a, b) => self.twice(a, b, decision, (no, yes), (yes, no)),
            Tree::Iff(a, b) => self.twice(a, b, decision, (yes, no), (no, yes)),
            Tree::Ite(c, a, b) => {
                let (first, second) = (self.new_block(), self.new_block());
                self.branches(c, decision, first, second);
                self.start(first);
                self.branches(a, decision, yes, no);
                self.start(second);
                self.branches(b, decision, yes, no);
            }
            Tree::After(node, inner) => {
                self.effect(node);
                self.branches(inner, decision, yes, no);
            }
        }
    }
    /// Lowers `b` once for each outcome of `a`, with these targets.
    fn twice(
        &mut self,
        a: &Tree<'_>,
        b: &Tree<'_>,
        decision: DecisionId,
        if_true: (BlockId, BlockId),
        if_false: (BlockId, BlockId),
    ) {
        let (first, second) = (self.new_block(), self.new_block());
        self.branches(a, decision, first, second);
        self.start(first);
        self.branches(b, decision, if_true.0, if_true.1);
        self.start(second);
        self.branches(b, decision, if_false.0, if_false.1);
    }
}
