//! The traversal of a function's body, which collects its actions.

use super::actions::{
    Action, CallArgument, Escape, FunctionDataFlow, Lvalue, NodeOrigins, PointeeSize, ResultForm, SourceOrigin,
    UnitDataFlow, WrittenObject,
};
use super::ast_walk::{body, preorder};
use super::cxx_tests::{assertion, is_c, passed};
use super::object_names::{ObjectNaming, bare, owner, plain, spelled};
use super::observable_state::ObservableTypes;
use crate::clang::ast_enums::{CastKind as Cast, Opcode, Storage};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Facts about the whole unit.
#[derive(Default)]
pub(super) struct UnitFacts {
    followed: UnitDataFlow,
    statics: BTreeSet<u64>,
    /// The numbers of bit-fields.
    bits: BTreeMap<u64, u32>,
    /// Complete structures and unions.
    complete: BTreeSet<String>,
    typedefs: BTreeMap<String, String>,
    /// Types of observable state.
    visible: ObservableTypes,
    /// For C++: the offset of the line after each line marker, its number, and the number of the marker's line.
    cxx: Option<Vec<(usize, u32, usize)>>,
}

/// Functions that return more than once, or not to their call.
pub const RETURNS_TWICE: [&str; 7] =
    ["setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "vfork", "getcontext", "__builtin_setjmp"];
/// The last words in the spelling of arithmetic types.
const NUMBERS: [&str; 8] = ["short", "int", "long", "float", "double", "_Bool", "unsigned", "bool"];
/// Builtins that are treated as functions.
const FUNCTIONS: [&str; 12] = [
    "__builtin_expect",
    "__builtin_memcpy",
    "__builtin_memmove",
    "__builtin_memset",
    "__builtin_strcpy",
    "__builtin_strncpy",
    "__builtin_strlen",
    "__builtin_strcmp",
    "__builtin_strncmp",
    "__builtin_memcmp",
    "__builtin_abs",
    "__builtin_bswap32",
];

impl UnitFacts {
    pub fn declaration(&mut self, node: &AstNode, wanted: &BTreeSet<String>, origins: &NodeOrigins) {
        preorder(node, &mut |node| {
            if node.kind == K::FieldDecl && node.is_bitfield {
                let number = self.bits.len() as u32;
                self.bits.insert(node.id, number);
            }
            if node.kind == K::RecordDecl && node.is_complete {
                self.complete.insert(format!("{} {}", node.tag, node.name));
            }
            if node.kind == K::TypedefDecl {
                self.typedefs.insert(node.name.clone(), spelled(node.ty.as_ref()).to_string());
            }
            if node.kind == K::VarDecl && node.storage == Storage::Static {
                self.statics.insert(node.id);
            }
        });
        self.visible.declaration(node);
        if node.kind == K::VarDecl {
            self.statics.insert(node.id);
            let seen = self.visible.of_variable(&node.name, spelled(node.ty.as_ref()));
            if let Some(at) = node.begin.expansion.filter(|_| !seen.is_empty() && !node.is_thread_local) {
                self.followed.visible.push((at.offset as usize, node.name.clone(), seen));
            }
            let known = self.followed.globals.contains(&node.name);
            let sized = !spelled(node.ty.as_ref()).contains("[]");
            if node.storage != Storage::Extern && sized && !known && !node.is_thread_local {
                self.followed.globals.push(node.name.clone());
            }
        }
        if wanted.contains(&node.name) {
            self.function(node, &node.name, origins);
        }
    }

    /// Creates a unit of C++ with these lines.
    pub fn cxx(lines: Vec<(usize, u32, usize)>) -> UnitFacts {
        UnitFacts { cxx: Some(lines), ..UnitFacts::default() }
    }

    /// Analyses a test or a fixture in C++.
    pub fn test(&mut self, node: &AstNode, name: &str, origins: &NodeOrigins) {
        self.function(node, name, origins);
    }

    fn function(&mut self, node: &AstNode, name: &str, origins: &NodeOrigins) {
        let Some(body) = body(node) else { return };
        let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
        let mut kinds = Vec::new();
        preorder(body, &mut |node| {
            numbers.entry(node.id).or_insert(kinds.len());
            kinds.push(&node.kind);
        });
        let origins = origins.get(name).map_or(&[][..], Vec::as_slice);
        let same = origins.len() == kinds.len() && origins.iter().zip(&kinds).all(|((kind, _), other)| kind == *other);
        let mut walk = Walk {
            unit: self,
            numbers,
            origins: if same { origins } else { &[] },
            made: FunctionDataFlow { name: name.to_string(), ..FunctionDataFlow::default() },
            depth: 0,
            loops: Vec::new(),
            seen: BTreeSet::new(),
        };
        let parameters = node.inner.iter().filter(|child| child.kind == K::ParmVarDecl).enumerate();
        for (position, parameter) in parameters.filter(|(_, parameter)| !parameter.name.is_empty()) {
            walk.made.parameters.push((position, parameter.name.clone()));
            walk.register(parameter);
        }
        let Some(range) = range(body) else { return };
        walk.made.body = range.start + 1;
        walk.record_observables(node, body, &range);
        body.inner.iter().for_each(|child| walk.statement(child, true));
        let made = walk.made;
        self.followed.functions.push(made);
    }

    /// Returns true if the size of a pointer type's pointee is known.
    fn has_size(&self, pointer: &str) -> bool {
        let Some((pointee, "")) = pointer.trim_end().rsplit_once('*') else { return false };
        let words = pointee.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile" | "restrict"));
        let mut name = words.collect::<Vec<_>>().join(" ");
        // An anonymous structure is spelled like its typedef.
        for _ in 0..20 {
            match self.typedefs.get(&name) {
                Some(next) if *next != name && *next != format!("struct {name}") => name = next.clone(),
                Some(_) => return true,
                None => break,
            }
        }
        let tagged = name.starts_with("struct ") || name.starts_with("union ");
        if tagged { self.complete.contains(&name) } else { NUMBERS.iter().any(|number| name.ends_with(number)) }
    }

    /// Returns true if no function was analysed so far.
    pub fn is_empty(&self) -> bool {
        self.followed.functions.is_empty()
    }

    pub fn finish(self) -> UnitDataFlow {
        self.followed
    }
}

struct Walk<'a> {
    unit: &'a UnitFacts,
    numbers: BTreeMap<u64, usize>,
    origins: &'a [(K, SourceOrigin)],
    made: FunctionDataFlow,
    /// The number of enclosing controlled statements.
    depth: u32,
    /// The enclosing loops and switches: the depth, and true for a loop (a target of `continue`, too).
    loops: Vec<(u32, bool)>,
    seen: BTreeSet<u64>,
}

pub(crate) fn range(node: &AstNode) -> Option<Range<usize>> {
    let (begin, end) = (node.begin.expansion?, node.end.expansion?);
    Some(begin.offset as usize..(end.offset + end.token) as usize)
}

fn is_statement(node: &AstNode) -> bool {
    node.kind.is_statement()
}

/// Returns true if the semicolon that ends a statement is not in its range.
fn ends_before_semicolon(node: &AstNode) -> bool {
    match &node.kind {
        K::CompoundStmt | K::NullStmt | K::DeclStmt => false,
        K::IfStmt
        | K::WhileStmt
        | K::ForStmt
        | K::SwitchStmt
        | K::CaseStmt
        | K::DefaultStmt
        | K::LabelStmt
        | K::AttributedStmt => node.inner.last().is_some_and(ends_before_semicolon),
        _ => true,
    }
}

/// Returns true if an expression contains a compound literal, which lives as long as the enclosing scope.
pub(crate) fn has_temporary(node: &AstNode) -> bool {
    let mut found = false;
    preorder(node, &mut |node| found |= node.kind == K::CompoundLiteralExpr);
    found
}

/// Returns true if evaluating an expression has no side effect.
fn is_pure(node: &AstNode) -> bool {
    let own = match &node.kind {
        K::DeclRefExpr
        | K::MemberExpr
        | K::ArraySubscriptExpr
        | K::ParenExpr
        | K::ImplicitCastExpr
        | K::CStyleCastExpr
        | K::IntegerLiteral
        | K::CharacterLiteral
        | K::ConstantExpr
        | K::CXXThisExpr => true,
        K::UnaryExprOrTypeTraitExpr | K::OffsetOfExpr | K::SpelledOffset => return true,
        K::UnaryOperator => !node.opcode.is_step(),
        K::BinaryOperator => node.opcode != Opcode::Assign,
        _ => false,
    };
    let volatile = node.cast == Cast::LValueToRValue
        && node.inner.first().is_some_and(|inner| spelled(inner.ty.as_ref()).contains("volatile"));
    own && !volatile && node.inner.iter().all(is_pure)
}

/// Returns true if an expression is no constant.
pub(super) fn asks(node: &AstNode) -> bool {
    match &node.kind {
        K::UnaryExprOrTypeTraitExpr | K::OffsetOfExpr | K::SpelledOffset | K::ConstantExpr => false,
        K::CallExpr | K::StmtExpr => true,
        _ => node.cast == Cast::LValueToRValue || node.inner.iter().any(asks),
    }
}

fn is_record(node: &AstNode) -> bool {
    let ty = spelled(node.ty.as_ref());
    (ty.starts_with("struct ") || ty.starts_with("union ") || ty.contains("struct (") || ty.contains("union ("))
        && !ty.contains(['*', '('])
}

/// Collects the functions that a statement or expression calls regardless of its own conditions.
fn calls(node: &AstNode, found: &mut Vec<String>) {
    match &node.kind {
        K::IfStmt
        | K::WhileStmt
        | K::ForStmt
        | K::SwitchStmt
        | K::ConditionalOperator
        | K::BinaryConditionalOperator => {}
        K::BinaryOperator if matches!(node.opcode, Opcode::And | Opcode::Or) => {
            node.inner.iter().take(1).for_each(|left| calls(left, found));
        }
        _ => {
            if node.kind == K::CallExpr
                && let Some(decl) = node.inner.first().and_then(|callee| plain(callee).decl.as_ref())
            {
                found.push(decl.name.clone());
            }
            node.inner.iter().for_each(|child| calls(child, found));
        }
    }
}

impl Walk<'_> {
    /// Records the observable state at the end of the function.
    fn record_observables(&mut self, function: &AstNode, body: &AstNode, at: &Range<usize>) {
        if self.unit.cxx.is_some() {
            return;
        }
        let last = body.inner.last().filter(|last| last.kind == K::ReturnStmt).and_then(range);
        self.made.last = Some(last.map_or(at.end - 1, |last| last.start));
        let parameters = function.inner.iter().filter(|child| child.kind == K::ParmVarDecl);
        let declared = body.inner.iter().filter(|child| child.kind == K::DeclStmt).flat_map(|child| &child.inner);
        let variables = declared.filter(|child| child.kind == K::VarDecl && child.storage != Storage::Extern);
        for variable in parameters.chain(variables).filter(|variable| !variable.name.is_empty()) {
            self.made.names.push(variable.name.clone());
            let seen = self.unit.visible.of_variable(&variable.name, spelled(variable.ty.as_ref()));
            if variable.storage != Storage::Register {
                self.made.visible.extend(seen);
            }
        }
    }

    fn naming(&self) -> ObjectNaming<'_> {
        ObjectNaming { statics: &self.unit.statics, function: &self.made.name }
    }

    fn origin(&self, node: &AstNode) -> SourceOrigin {
        let known = self.numbers.get(&node.id).and_then(|number| self.origins.get(*number));
        known.map_or_else(SourceOrigin::default, |(_, origin)| origin.clone())
    }

    fn lost(&mut self, node: &AstNode, what: &str) {
        let line = match (&self.unit.cxx, node.begin.expansion) {
            (Some(lines), Some(at)) => {
                let index = lines.partition_point(|(start, ..)| *start <= at.offset as usize);
                let known = index.checked_sub(1).map(|index| lines[index]);
                known.map_or(at.line, |(_, line, marker)| line + at.line.saturating_sub(marker as u32 + 1))
            }
            _ => self.origin(node).line,
        };
        self.made.lost.push((line, what.to_string()));
    }

    fn register(&mut self, node: &AstNode) {
        if node.storage == Storage::Register
            && let (Some(begin), Some(loc)) = (node.begin.expansion, node.loc.expansion)
        {
            self.made.registers.push(begin.offset as usize..loc.offset as usize);
        }
    }

    /// Analyses a statement. `in_block` is true if another statement can be inserted before it.
    fn statement(&mut self, node: &AstNode, in_block: bool) {
        if self.unit.cxx.is_some() && self.foreign(node) {
            return;
        }
        match &node.kind {
            K::Absent | K::NullStmt | K::BreakStmt | K::ContinueStmt | K::GotoStmt => {}
            K::CompoundStmt => node.inner.iter().for_each(|child| self.statement(child, true)),
            K::DeclStmt => self.declare(node, in_block),
            K::IfStmt => self.branch(node, node.child(0), false, false),
            K::WhileStmt => self.branch(node, node.child(0), false, true),
            K::DoStmt => self.branch(node, node.child(1), false, true),
            K::ForStmt => self.branch(node, node.child(2), false, true),
            K::SwitchStmt => self.branch(node, node.child(0), true, false),
            K::CaseStmt | K::DefaultStmt | K::AttributedStmt => {
                if let Some(inner) = node.inner.last() {
                    self.statement(inner, in_block);
                }
            }
            K::LabelStmt => {
                if let Some(inner) = node.inner.last() {
                    match range(inner) {
                        Some(range) if in_block => {
                            self.made.actions.push(Action::Label { at: range.start, depth: self.depth });
                        }
                        _ => self.lost(node, "a label that no statement can be put behind"),
                    }
                    self.statement(inner, in_block);
                }
            }
            K::ReturnStmt => {
                if let Some(value) = node.child(0) {
                    self.expression(value, true, false);
                    let action = if asks(value) {
                        range(value).map(Action::Return)
                    } else {
                        range(node).map(Action::ReturnConstant)
                    };
                    self.made.actions.extend(action);
                }
            }
            K::IndirectGotoStmt => {
                if let Some(target) = node.child(0) {
                    self.expression(target, true, false);
                }
            }
            K::GCCAsmStmt | K::MSAsmStmt => self.lost(node, "assembly"),
            _ => self.expression(node, false, false),
        }
    }

    /// Returns true for a statement that is not C: an assertion, which is analysed, or one that is skipped.
    fn foreign(&mut self, node: &AstNode) -> bool {
        if let Some(assertion) = assertion(node) {
            for argument in assertion.arguments {
                let Some(value) = passed(argument, assertion.strings) else {
                    if asks(argument) {
                        self.lost(argument, "an assertion about something that is no value of C");
                    }
                    continue;
                };
                self.expression(&value, true, false);
                if let Some(at) = range(&value) {
                    let (name, strings) = (assertion.name.clone(), assertion.strings);
                    self.made.actions.push(Action::Assert { at, name, strings });
                }
            }
            return true;
        }
        let heads: &[Option<&AstNode>] = match &node.kind {
            K::CompoundStmt | K::BreakStmt | K::ContinueStmt | K::GotoStmt | K::LabelStmt | K::Absent => &[],
            K::IfStmt | K::WhileStmt => &[node.child(0)],
            K::DoStmt => &[node.child(1)],
            K::ForStmt => &[node.child(0), node.child(1), node.child(2), node.child(3)],
            _ => &[Some(node)],
        };
        let declares = |head: &&AstNode| head.kind == K::DeclStmt && matches!(node.kind, K::IfStmt | K::WhileStmt);
        let strange = heads.iter().flatten().any(|head| !is_c(head) || declares(head));
        if strange {
            self.lost(node, "C++");
        }
        strange
    }

    fn branch(&mut self, node: &AstNode, condition: Option<&AstNode>, switch: bool, is_loop: bool) {
        let is_for = node.kind == K::ForStmt;
        if is_for && let Some(init) = node.child(0) {
            if init.kind == K::DeclStmt {
                self.declare_in_head(init);
            } else {
                self.expression(init, false, false);
            }
        }
        self.depth += 1;
        if let Some(condition) = condition {
            self.expression(condition, true, false);
        }
        if let Some(step) = node.child(3).filter(|_| is_for) {
            self.expression(step, false, false);
        }
        if is_loop || switch {
            self.loops.push((self.depth, is_loop));
        }
        let bodies: Vec<&AstNode> = match &node.kind {
            K::IfStmt => node.inner.iter().skip(1).collect(),
            K::DoStmt => node.inner.iter().take(1).collect(),
            _ => node.inner.last().into_iter().collect(),
        };
        bodies.iter().for_each(|body| self.statement(body, false));
        let mut guards = Vec::new();
        if node.kind == K::IfStmt {
            bodies.iter().for_each(|body| calls(body, &mut guards));
        }
        let mut escape = None;
        bodies.iter().for_each(|body| self.escapes(body, 0, false, &mut escape));
        if is_loop || switch {
            self.loops.pop();
        }
        let head = [condition, node.child(0).filter(|_| is_for)];
        let temporary = head.into_iter().flatten().any(has_temporary);
        let Some(at) = range(node) else { return };
        self.made.actions.push(Action::Branch {
            at,
            unfinished: ends_before_semicolon(node),
            condition: condition.filter(|condition| asks(condition)).and_then(range),
            switch,
            depth: self.depth,
            escape,
            guards,
            assigns: self.assigned(node),
            temporary,
            origin: self.origin(node),
        });
        self.depth -= 1;
    }

    /// Returns the outermost target of the jumps out of a statement. `inner` counts loops; in a switch, `break` stays
    /// inside.
    fn escapes(&self, node: &AstNode, inner: u32, in_switch: bool, found: &mut Option<Escape>) {
        let mut leave = |escape: Escape| {
            *found = Some(match *found {
                Some(known) if known < escape => known,
                _ => escape,
            });
        };
        match &node.kind {
            K::ReturnStmt | K::GotoStmt | K::IndirectGotoStmt => leave(Escape::Function),
            K::BreakStmt | K::ContinueStmt if inner == 0 => {
                let stays = in_switch && node.kind == K::BreakStmt;
                let mut around = self.loops.iter().rev().filter(|(_, is_loop)| *is_loop || node.kind == K::BreakStmt);
                if let (false, Some((depth, _))) = (stays, around.next()) {
                    // Leaving the statement's own loop or switch is no escape.
                    if *depth < self.depth {
                        leave(Escape::Loop(*depth));
                    }
                }
            }
            K::WhileStmt | K::DoStmt | K::ForStmt => {
                node.inner.iter().for_each(|child| self.escapes(child, inner + 1, false, found));
            }
            K::SwitchStmt => node.inner.iter().for_each(|child| self.escapes(child, inner, true, found)),
            _ => node.inner.iter().for_each(|child| self.escapes(child, inner, in_switch, found)),
        }
    }

    fn declare(&mut self, node: &AstNode, in_block: bool) {
        let is_local =
            |child: &&AstNode| child.kind == K::VarDecl && !matches!(child.storage, Storage::Static | Storage::Extern);
        let locals: Vec<&AstNode> = node.inner.iter().filter(is_local).collect();
        // If several initialisers read objects, each variable depends on its own only.
        let shared = locals.iter().filter(|variable| initialiser(variable).is_some_and(asks)).count() > 1;
        let mut variables = Vec::new();
        for variable in locals {
            self.register(variable);
            let init = initialiser(variable);
            if let Some(init) = init {
                self.expression(init, true, false);
            }
            let alone = init.filter(|init| shared && in_block && asks(init) && init.kind != K::InitListExpr);
            if let Some((init, at)) = alone.and_then(|init| Some((init, range(init)?))) {
                let (name, copies, origin) = (variable.name.clone(), is_copy(init), self.origin(variable));
                self.made.actions.push(Action::DeclareInHead { at, name, copies, origin });
                continue;
            }
            variables.push((variable.name.clone(), init.is_some(), init.is_some_and(is_copy)));
        }
        match range(node) {
            Some(at) if in_block && (shared || !variables.is_empty()) => {
                let origin = self.origin(node);
                self.made.actions.push(Action::Declare { at, variables, shared, origin });
            }
            _ => {}
        }
    }

    fn declare_in_head(&mut self, node: &AstNode) {
        for variable in node.inner.iter().filter(|child| child.kind == K::VarDecl) {
            self.register(variable);
            let Some(init) = initialiser(variable) else { continue };
            self.expression(init, true, false);
            match range(init) {
                // A null pointer constant is only one as spelled.
                Some(_) if !asks(init) && spelled(variable.ty.as_ref()).contains('*') => {}
                Some(at) if init.kind != K::InitListExpr => {
                    let origin = self.origin(variable);
                    self.made.actions.push(Action::DeclareInHead {
                        at,
                        name: variable.name.clone(),
                        copies: false,
                        origin,
                    });
                }
                _ => self.lost(variable, "an initialiser in the head of a loop"),
            }
        }
    }

    fn lvalue(&self, node: &AstNode) -> Option<Lvalue> {
        let at = range(node)?;
        let inner = bare(node);
        let mut bits = None;
        // The selected expression may be a bit-field, which has no address.
        let selects = matches!(inner.kind, K::ChooseExpr | K::GenericSelectionExpr);
        if selects && self.has_bits(inner) {
            return None;
        }
        if let (true, Some(number)) = (inner.kind == K::MemberExpr, self.unit.bits.get(&inner.link)) {
            bits = Some((range(inner.inner.first()?)?, inner.is_arrow, *number));
        }
        Some(Lvalue { at, pure: is_pure(node), bits })
    }

    fn has_bits(&self, node: &AstNode) -> bool {
        let own = node.kind == K::MemberExpr && self.unit.bits.contains_key(&node.link);
        own || node.inner.iter().any(|inner| self.has_bits(inner))
    }

    fn expression(&mut self, node: &AstNode, used: bool, guarded: bool) {
        if node.kind.is_absent() || !self.seen.insert(node.id) {
            return;
        }
        match &node.kind {
            K::UnaryExprOrTypeTraitExpr
            | K::OffsetOfExpr
            | K::SpelledOffset
            | K::ConstantExpr
            | K::GenericSelectionExpr
            | K::ChooseExpr
            | K::PredefinedExpr => {}
            K::AtomicExpr => self.lost(node, "an atomic operation"),
            K::StmtExpr => node.inner.iter().for_each(|child| self.statement(child, true)),
            K::ImplicitCastExpr if node.cast == Cast::LValueToRValue => self.read(node, guarded),
            K::BinaryOperator if node.opcode == Opcode::Assign => self.write(node, used, guarded),
            K::CompoundAssignOperator => self.write(node, used, guarded),
            K::BinaryOperator if node.opcode == Opcode::Comma => {
                for (index, child) in node.inner.iter().enumerate() {
                    self.expression(child, used && index == 1, guarded);
                }
            }
            K::BinaryOperator if matches!(node.opcode, Opcode::And | Opcode::Or) => self.choice(node, guarded),
            K::ConditionalOperator => self.choice(node, guarded),
            K::BinaryConditionalOperator => {
                let ends = [node.inner.first(), node.inner.last()];
                ends.into_iter().flatten().for_each(|child| self.expression(child, true, true));
            }
            K::OpaqueValueExpr | K::CXXMemberCallExpr => {}
            K::UnaryOperator if node.opcode.is_step() => self.step(node, used, guarded),
            K::CallExpr => self.call(node, used, guarded),
            K::VAArgExpr => self.made.actions.extend(range(node).map(Action::Variadic)),
            K::ParenExpr | K::CStyleCastExpr => {
                let void = node.kind == K::CStyleCastExpr && node.cast == Cast::ToVoid;
                node.inner.iter().for_each(|child| self.expression(child, used && !void, guarded));
            }
            _ if is_statement(node) => self.statement(node, false),
            _ => node.inner.iter().for_each(|child| self.expression(child, true, guarded)),
        }
    }

    fn read(&mut self, node: &AstNode, guarded: bool) {
        let Some(inner) = node.inner.first() else { return };
        self.expression(inner, true, guarded);
        let Some(lvalue) = self.lvalue(inner) else { return };
        // A read of a temporary is a read of the values that it was constructed from.
        let fleeting = !lvalue.pure && (has_temporary(inner) || lvalue.bits.is_some());
        let vector =
            spelled(inner.ty.as_ref()).contains("__vector_size__") || bare(inner).kind == K::ExtVectorElementExpr;
        if !fleeting && !vector {
            self.made.actions.push(Action::Read(lvalue));
        }
    }

    fn write(&mut self, node: &AstNode, used: bool, guarded: bool) {
        let (Some(left), Some(right)) = (node.inner.first(), node.inner.get(1)) else { return };
        self.expression(left, true, guarded);
        self.expression(right, true, guarded);
        let (Some(at), Some(lvalue)) = (range(node), self.lvalue(left)) else { return };
        let temporary = has_temporary(right) || has_temporary(left);
        if !lvalue.pure && (temporary || lvalue.bits.is_some()) {
            self.lost(node, "an assignment whose left side can't be evaluated twice");
            return;
        }
        self.made.actions.push(Action::Write {
            at,
            updates: node.kind == K::CompoundAssignOperator,
            copies: is_copy(right),
            used,
            disturbed: !is_pure(right) && bare(left).kind != K::DeclRefExpr,
            temporary,
            guarded,
            target: self.naming().target(left),
            left: lvalue,
            origin: self.origin(node),
        });
    }

    fn step(&mut self, node: &AstNode, used: bool, guarded: bool) {
        let Some(left) = node.inner.first() else { return };
        self.expression(left, true, guarded);
        let (Some(at), Some(lvalue)) = (range(node), self.lvalue(left)) else { return };
        if !lvalue.pure && (lvalue.bits.is_some() || has_temporary(left)) {
            self.lost(node, "an increment of something that can't be evaluated twice");
            return;
        }
        let (target, origin) = (self.naming().target(left), self.origin(node));
        self.made.actions.push(Action::Step { at, left: lvalue, used, target, origin });
    }

    fn choice(&mut self, node: &AstNode, guarded: bool) {
        let Some((condition, rest)) = node.inner.split_first() else { return };
        self.expression(condition, true, guarded);
        rest.iter().for_each(|child| self.expression(child, true, true));
        let mut guards = Vec::new();
        rest.iter().for_each(|child| calls(child, &mut guards));
        if let (Some(at), true) = (range(condition), asks(condition) && !guards.is_empty()) {
            self.made.actions.push(Action::Choice { at, guards, origin: self.origin(node) });
        }
    }

    fn call(&mut self, node: &AstNode, used: bool, guarded: bool) {
        let Some((callee, arguments)) = node.inner.split_first() else { return };
        let name =
            plain(callee).decl.as_ref().filter(|decl| decl.kind == K::FunctionDecl).map(|decl| decl.name.clone());
        if let Some(name) = &name {
            let builtin = name.starts_with("__builtin_") && !FUNCTIONS.contains(&name.as_str());
            if builtin || name.starts_with("__sync_") || name.starts_with("__atomic_") {
                if !name.starts_with("__builtin_") {
                    self.lost(node, "an atomic operation");
                }
                return;
            }
            if RETURNS_TWICE.contains(&name.as_str()) {
                self.lost(node, &format!("`{name}`: what happens after it returns again"));
                return;
            }
        } else {
            self.expression(callee, true, guarded);
        }
        arguments.iter().for_each(|argument| self.expression(argument, true, guarded));
        let ty = spelled(node.ty.as_ref());
        let result = match ty {
            "void" => ResultForm::Void,
            _ if ty.contains('*') && !ty.contains('(') => ResultForm::Pointer,
            "float" | "double" => ResultForm::Float,
            _ if ty.starts_with("enum ") || NUMBERS.iter().any(|name| ty.ends_with(name) && ty != "long double") => {
                ResultForm::Integer
            }
            _ => ResultForm::Value,
        };
        let Some(at) = range(node) else { return };
        let made = arguments.iter().filter_map(|argument| self.argument(argument)).collect::<Vec<_>>();
        if made.len() != arguments.len() {
            return;
        }
        let temporary = arguments.iter().any(has_temporary);
        let origin = self.origin(node);
        self.made.actions.push(Action::Call {
            at,
            pointer: if name.is_none() { range(callee) } else { None },
            callee: name,
            arguments: made,
            result,
            used,
            temporary,
            guarded,
            origin,
        });
    }

    fn argument(&self, node: &AstNode) -> Option<CallArgument> {
        let at = range(node)?;
        let ty = spelled(node.ty.as_ref()).to_string();
        let inner = plain(node);
        let constant = match &inner.kind {
            K::IntegerLiteral => inner.value.as_deref().and_then(|value| value.parse().ok()),
            _ => None,
        };
        let pointer = ty.contains(['*', '[']) && !ty.contains('(');
        let number = ["char", "short", "int", "long", "enum", "_Bool"].iter().any(|name| ty.contains(name));
        let function = ty.contains('(') || inner.kind == K::InitListExpr || inner.kind == K::StmtExpr;
        let kept = (pointer || (number && !is_record(node))) && constant.is_none() && !function && !has_temporary(node);
        let array = bare(node);
        let decays = |node: &AstNode| node.kind == K::ImplicitCastExpr && node.cast == Cast::ArrayToPointerDecay;
        let mut decayed = array;
        while decayed.kind == K::ImplicitCastExpr && !decays(decayed) {
            decayed = match decayed.inner.first() {
                Some(inner) => inner,
                None => break,
            };
        }
        let size = pointer.then(|| {
            let own = spelled(inner.ty.as_ref());
            match () {
                () if decays(decayed) => PointeeSize::Array,
                () if self.unit.has_size(own) => PointeeSize::Element,
                () => PointeeSize::Unknown,
            }
        });
        let target =
            if pointer { self.naming().behind(node, "") } else { WrittenObject { is_state: false, name: owner(node) } };
        let writable = pointer && !ty.trim_start().starts_with("const ");
        Some(CallArgument { at, asks: asks(node), kept, size, writable, target, constant })
    }
}

/// Returns the left side of an assignment.
fn left_side(node: &AstNode) -> Option<&AstNode> {
    let assigns = match &node.kind {
        K::BinaryOperator => node.opcode == Opcode::Assign,
        K::CompoundAssignOperator => true,
        K::UnaryOperator => node.opcode.is_step(),
        _ => false,
    };
    node.inner.first().filter(|_| assigns)
}

/// Returns the variable that an lvalue is, is a part of, or is reached from by one pointer; true if there is a pointer.
fn base_variable(lvalue: &AstNode) -> Option<(u64, bool)> {
    let node = bare(lvalue);
    let pointer = |node: &AstNode| {
        let variable = plain(node);
        let direct = variable.kind == K::DeclRefExpr && !spelled(variable.ty.as_ref()).contains(['[', '(']);
        Some((variable.decl.as_ref()?.id, true))
            .filter(|_| direct && !spelled(variable.ty.as_ref()).contains("volatile"))
    };
    match &node.kind {
        K::DeclRefExpr => Some((node.decl.as_ref()?.id, false)),
        K::MemberExpr if node.is_arrow => pointer(node.inner.first()?),
        K::MemberExpr => base_variable(node.inner.first()?),
        K::UnaryOperator if node.opcode == Opcode::Star => pointer(node.inner.first()?),
        _ => None,
    }
}

impl Walk<'_> {
    /// Returns the objects that a statement assigns and that can be designated outside of it.
    fn assigned(&self, statement: &AstNode) -> Vec<Lvalue> {
        let (mut changed, mut found) = (BTreeSet::new(), Vec::new());
        preorder(statement, &mut |node| {
            if node.kind == K::VarDecl {
                changed.insert((node.id, true));
                changed.insert((node.id, false));
            }
            if let Some(left) = left_side(node)
                && let Some(base) = base_variable(left)
            {
                if !base.1 {
                    // A pointer that is changed has another pointee at the end.
                    changed.insert((base.0, true));
                }
                found.push((base, left));
            }
        });
        let stays = found.into_iter().filter(|(base, _)| !changed.contains(base));
        stays.filter_map(|(_, left)| self.lvalue(left)).collect()
    }
}

fn is_copy(right: &AstNode) -> bool {
    let right = bare(right);
    right.cast == Cast::LValueToRValue && is_record(right)
}

fn initialiser(variable: &AstNode) -> Option<&AstNode> {
    let expression = |child: &&AstNode| {
        let kind = &child.kind;
        !(kind.is_absent() || kind.is_attribute() || kind.is_type() || kind.is_comment() || kind.is_declaration())
    };
    variable.inner.iter().rev().find(expression).filter(|_| variable.has_init)
}
