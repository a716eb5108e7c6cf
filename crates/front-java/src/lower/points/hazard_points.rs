//! Points of hazards: implicit exceptions that escape from the method, and labels of the user.
//!
//! Whether an exception escapes is decided by the method's handlers: one that catches its class, or a `finally` block
//! that returns, keeps it. Exceptions of called methods are hazards of those methods.

use crate::classes::layout::CLASS_WORD_OFFSET;
use crate::classfile::Constant;
use crate::classfile::{Decoded, ExceptionHandler, Insn};
use crate::coverage::implicit_exceptions::ImplicitException;
use crate::coverage::method_decisions::{InstructionPredicate, PointLocation};
use crate::lower::builder::int;
use crate::lower::method_body::Body;
use crate::lower::null_messages::ValueOrigin;
use crate::lower::symbols::GlobalKind;
use touchstone_ir::{BranchRole, Builtin, CmpOp, Expr, ExprKind, InstKind, Operand, Point, PointId, PointKind, Ty};

/// The class that declares the marker method `label`.
pub(crate) const LABEL_CLASS: &str = "touchstone/Label";

fn truth(kind: ExprKind, text: &str) -> Expr {
    Expr { kind, ty: Ty::I1, signed: false, text: text.to_string() }
}

impl Body<'_> {
    /// Adds the point of an exception that may be thrown here; `None` if it does not escape from the method.
    fn hazard(&mut self, exception: ImplicitException, text: &str) -> Option<PointId> {
        if self.table.is_library() || !self.escapes(exception) {
            return None;
        }
        let text = match text {
            "" => exception.class().to_string(),
            text => format!("{}: {text}", exception.class()),
        };
        let kind = PointKind::Hazard(truth(ExprKind::Const(1), ""));
        let point = self.table.add(Point::new(kind, self.b.span, text));
        self.table
            .place(point, PointLocation { at: self.position, predicate: InstructionPredicate::Throws(exception) });
        Some(point)
    }

    /// Attaches a hazard to the failing branch of the next check.
    pub fn mark_failure(&mut self, exception: ImplicitException, text: &str) {
        self.b.failure_point = self.hazard(exception, text);
    }

    /// Emits a call that throws only this exception or errors of the virtual machine, with a hazard point.
    pub fn call_that_throws<T>(
        &mut self,
        exception: ImplicitException,
        text: &str,
        call: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let Some(point) = self.hazard(exception, text) else { return call(self) };
        let (thrown, landing) = (self.b.reg(Ty::Ptr), self.b.block());
        let landing_pad = self.b.landing_pad.replace((thrown, landing));
        let value = call(self);
        self.b.landing_pad = landing_pad;
        let back = self.b.current_block();
        self.b.at(landing);
        let leaving = self.b.block();
        if exception == ImplicitException::NegativeSize
            && let Ok(class) = self.lowering.jdk(&format!("java/lang/{}", exception.class()))
        {
            // An array that is too long throws `OutOfMemoryError`.
            let word = self.lowering.word(class);
            let of = self.b.load(Operand::Reg(thrown), CLASS_WORD_OFFSET, Ty::I32);
            let is_this = self.b.cmp(CmpOp::Eq, of, Operand::Const(Ty::I32, word));
            let here = self.b.block();
            self.b.branch(is_this, here, leaving, BranchRole::Check);
            self.b.at(here);
        }
        self.b.emit(InstKind::Point { point });
        self.b.jump(leaving);
        self.b.at(leaving);
        self.b.throw(Operand::Reg(thrown));
        self.b.at(back);
        value
    }

    /// Returns an array element as source writes it; empty if the array is not known.
    pub fn element_text(&self, array: Operand, index: Operand) -> String {
        let text = ValueOrigin::Element(self.origin(array), self.origin(index)).display();
        if text.contains("<array>") { String::new() } else { text }
    }

    /// Returns true if no handler of the method keeps an exception that is thrown here.
    fn escapes(&mut self, exception: ImplicitException) -> bool {
        let at = self.position;
        let covers = |handler: &&ExceptionHandler| usize::from(handler.start) <= at && at < usize::from(handler.end);
        let around: Vec<&ExceptionHandler> = self.code.handlers.iter().filter(covers).collect();
        let Ok(thrown) = self.lowering.jdk(&format!("java/lang/{}", exception.class())) else { return false };
        let keeps = |handler: &&ExceptionHandler| match &handler.class {
            None => self.finally_returns(usize::from(handler.handler)),
            Some(class) => {
                let class = self.lowering.classes.load(class);
                class.is_ok_and(|class| self.lowering.classes.is_subtype(thrown, class))
            }
        };
        !around.iter().any(keeps)
    }

    /// Models that the stack or the heap may be exhausted, where a handler catches errors of the virtual machine. No
    /// test provokes that, and no verdict rests on its absence.
    pub fn virtual_machine_errors(&mut self, decoded: &Decoded) {
        let takes_room = matches!(
            decoded.insn,
            Insn::InvokeVirtual(_)
                | Insn::InvokeSpecial(_)
                | Insn::InvokeStatic(_)
                | Insn::InvokeInterface(_)
                | Insn::NewArray(_)
                | Insn::NewRefArray(_)
                | Insn::NewMultiArray(..)
        );
        let at = decoded.at;
        let covers = |handler: &&ExceptionHandler| {
            usize::from(handler.start) <= at
                && at < usize::from(handler.end)
                && (takes_room || usize::from(handler.start) == at)
        };
        let thrown = |handler: &ExceptionHandler| match handler.class.as_deref()? {
            "java/lang/OutOfMemoryError" => Some("java/lang/OutOfMemoryError"),
            "java/lang/Throwable"
            | "java/lang/Error"
            | "java/lang/VirtualMachineError"
            | "java/lang/StackOverflowError" => Some("java/lang/StackOverflowError"),
            _ => None,
        };
        let Some(thrown) = self.code.handlers.iter().filter(covers).find_map(thrown) else { return };
        if self.table.is_library() {
            return;
        }
        let name = self.lowering.global_id(GlobalKind::Text("the stack or the heap may be exhausted"));
        let name = self.b.global(name);
        let runs_out = self.b.builtin(Builtin::Unspecified, vec![name, int(0)], Some(Ty::I32));
        let fine = self.b.cmp(CmpOp::Eq, runs_out, int(0));
        let (next, wrong) = (self.b.block(), self.b.block());
        self.b.branch(fine, next, wrong, BranchRole::Check);
        self.b.at(wrong);
        self.lowering.throw_constant(&mut self.b, thrown, None);
        self.b.at(next);
    }

    /// Returns true if the `finally` block at an offset returns before it rethrows.
    fn finally_returns(&self, at: usize) -> bool {
        let behind = self.insns.iter().skip_while(|insn| insn.at < at);
        let mut ends = behind.filter(|insn| matches!(insn.insn, Insn::Return(_) | Insn::Throw));
        ends.next().is_some_and(|insn| matches!(insn.insn, Insn::Return(_)))
    }

    /// Adds the point of a label, which has a name or number and a condition.
    pub fn label(&mut self, condition: Operand) {
        let statement =
            self.table.statement_before(self.position).map_or(String::new(), |statement| statement.text.clone());
        let written = statement.split_once("label(").and_then(|(_, arguments)| arguments.split_once(','));
        let (name, asked) = match written {
            Some((name, asked)) => (name.trim().trim_matches('"').to_string(), asked.trim()),
            None => (self.first_constant_of_line(), ""),
        };
        let asked = asked.strip_suffix(");").unwrap_or(asked);
        let kept = self.b.copied(condition);
        let zero = Expr::constant(Ty::I32, 0);
        let value = match kept {
            Operand::Reg(reg) => Expr { kind: ExprKind::Reg(reg), ..zero.clone() },
            Operand::Const(ty, bits) => Expr::constant(ty, bits),
        };
        let predicate = match value.kind {
            ExprKind::Const(bits) => truth(ExprKind::Const(bits & 1), asked),
            _ => Expr { text: asked.to_string(), ..Expr::cmp(CmpOp::Ne, value, zero) },
        };
        let kind = PointKind::Label { name, predicate };
        let point = self.table.add(Point::new(kind, self.b.span, asked.to_string()));
        self.table.place(point, PointLocation { at: self.position, predicate: InstructionPredicate::Label });
        self.b.emit(InstKind::Point { point });
    }

    /// Returns the first constant that the code of the current line pushes: the name of a label where there is no
    /// source.
    fn first_constant_of_line(&self) -> String {
        let line = self.code.line(self.position);
        let mut before = self.insns.iter().filter(|insn| insn.at < self.position && self.code.line(insn.at) == line);
        let pushed = before.find_map(|insn| match insn.insn {
            Insn::PushInt(value) => Some(value.to_string()),
            Insn::Constant(index) => match self.file.pool.get(index).ok()? {
                Constant::Integer(value) => Some(value.to_string()),
                Constant::String(text) => Some(String::from_utf16_lossy(&self.file.pool.text(*text).ok()?.units())),
                _ => None,
            },
            _ => None,
        });
        pushed.unwrap_or_else(|| format!("line {line}"))
    }
}
