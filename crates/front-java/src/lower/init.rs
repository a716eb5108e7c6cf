//! Class initialisation: once, where the language says, superclasses first; a class whose initialiser threw stays unusable.

use super::builder::Builder;
use super::world::{Data, Func, World};
use crate::classfile::access;
use crate::world::{ClassId, Refusal};
use touchstone_ir::{BranchRole, CmpOp, Operand, SwitchArm, Ty};

const DONE: u64 = 1;
const FAILED: u64 = 2;

impl World {
    /// Initialises a class if it is not, before what follows.
    pub fn ensure_init(&mut self, b: &mut Builder, class: ClassId) {
        if !self.needs_init(class) {
            return;
        }
        let flag = self.datum(Data::InitFlag(class));
        let flag = b.global(flag);
        let flag = b.load(flag, 0, Ty::I8);
        let done = b.cmp(CmpOp::Eq, flag, Operand::Const(Ty::I8, DONE));
        let (next, first) = (b.block(), b.block());
        b.branch(done, next, first, BranchRole::Check);
        b.at(first);
        let init = self.func(Func::Init(class));
        b.call(init, vec![], None);
        b.jump(next);
        b.at(next);
    }

    pub fn init(&mut self, b: &mut Builder, class: ClassId) -> Result<(), Refusal> {
        let flag = self.datum(Data::InitFlag(class));
        let flag = b.global(flag);
        let state = b.load(flag, 0, Ty::I8);
        let (begun, failed, fresh) = (b.block(), b.block(), b.block());
        let arm = |value, target| SwitchArm { low: value, high: value, signed: false, target };
        b.switch(state, vec![arm(DONE, begun), arm(FAILED, failed)], fresh, BranchRole::Check);
        b.at(begun);
        b.ret(None);
        b.at(failed);
        let title = self.classes.get(class).title();
        let message = format!("Could not initialize class {title}");
        self.throw_constant(b, "java/lang/NoClassDefFoundError", Some(&message));
        b.at(fresh);
        b.store(flag, 0, Operand::Const(Ty::I8, DONE));
        let thrown = b.reg(Ty::Ptr);
        let landing = b.block();
        b.catcher = Some((thrown, landing));
        self.init_above(b, class);
        if !self.stand_in_init(b, class)?
            && let Some(own) = self.classes.initialiser(class)
        {
            let own = self.func(Func::Method(own));
            b.call(own, vec![], None);
        }
        b.ret(None);
        b.catcher = None;
        b.at(landing);
        b.store(flag, 0, Operand::Const(Ty::I8, FAILED));
        let error = self.jdk("java/lang/Error")?;
        let test = self.newest(|generation| Func::InstanceOf(error, generation));
        let is_error = b.call(test, vec![Operand::Reg(thrown)], Some(Ty::I1));
        let (again, wrapped) = (b.block(), b.block());
        b.branch(is_error, again, wrapped, BranchRole::Dispatch);
        b.at(again);
        b.throw(Operand::Reg(thrown));
        b.at(wrapped);
        let wrapper = self.jdk("java/lang/ExceptionInInitializerError")?;
        self.ensure_init(b, wrapper);
        let object = self.allocate(b, wrapper);
        let object = b.kept(object);
        let make = ("java/lang/ExceptionInInitializerError", "<init>", "(Ljava/lang/Throwable;)V");
        self.call_jdk(b, make, vec![object, Operand::Reg(thrown)])?;
        b.throw(object);
        Ok(())
    }

    fn init_above(&mut self, b: &mut Builder, class: ClassId) {
        if self.classes.get(class).is(access::INTERFACE) {
            return;
        }
        let above: Vec<ClassId> =
            self.classes.get(class).superclass.into_iter().chain(self.default_interfaces(class)).collect();
        for above in above {
            self.ensure_init(b, above);
        }
    }
}
