//! What callers promise and what objects keep: `NAME_pre` beside a method, `NAME_post` about its result, and `repOk` of a class.
//!
//! They are ordinary methods of the class that answer with a truth value. One that throws has not said yes.

use super::builder::{Builder, int};
use super::planning::Planned;
use super::world::{Data, Func, Kept, World};
use crate::classfile::{Desc, MethodDesc, access};
use crate::world::{ClassId, MethodRef, Refusal};
use touchstone_ir::{Builtin, CmpOp, Operand, Ty};

impl World {
    /// The method of the same class that says whether arguments are allowed: it has the same parameters.
    pub fn precondition(&self, method: MethodRef) -> Option<MethodRef> {
        let member = self.classes.method(method);
        let desc = MethodDesc::parse(&member.desc)?;
        self.says(method, &format!("{}_pre", member.name), &desc.params)
    }

    /// The same, if it is asked before the method is called. Where objects are made first, it is asked behind that.
    pub fn asked_before(&self, method: MethodRef) -> Option<MethodRef> {
        self.precondition(method).filter(|_| !matches!(self.plans.get(&method), Some(Planned::Made(_))))
    }

    /// The method of the same class that says whether a result is right: it has the parameters and the result.
    pub fn postcondition(&self, method: MethodRef) -> Option<MethodRef> {
        let member = self.classes.method(method);
        let desc = MethodDesc::parse(&member.desc)?;
        let result = Some(desc.result).filter(|result| *result != Desc::Void);
        let params: Vec<Desc> = desc.params.into_iter().chain(result).collect();
        self.says(method, &format!("{}_post", member.name), &params)
    }

    /// The same, if what tests call asks it: objects are only there until that returns.
    pub fn asked_behind(&self, method: MethodRef) -> Option<MethodRef> {
        let made = match self.plans.get(&method) {
            Some(Planned::Made(scenario)) => scenario,
            _ => return None,
        };
        self.postcondition(method).filter(|_| made.fixture.tested.calls.len() == 1 && made.called() == method)
    }

    /// Asks what a result is worth, and keeps the answer. One that throws has not said yes.
    pub fn keep_answer(&mut self, b: &mut Builder, method: MethodRef, arguments: &[Operand], result: Option<Operand>) {
        let Some(post) = self.asked_behind(method) else { return };
        let place = self.datum(Data::Kept(method, Kept::Answer));
        let place = b.global(place);
        let of_class = self.classes.method(post).is(access::STATIC) && !self.classes.method(method).is(access::STATIC);
        let own = arguments.iter().skip(usize::from(of_class)).copied();
        let (thrown, landing, done) = (b.reg(Ty::Ptr), b.block(), b.block());
        b.catcher = Some((thrown, landing));
        let answer = self.call_method(b, post, own.chain(result).collect());
        b.catcher = None;
        b.store(place, 0, answer);
        b.jump(done);
        b.at(landing);
        b.store(place, 0, int(0));
        b.jump(done);
        b.at(done);
    }

    /// Gives the answer that was kept.
    pub fn judged(&mut self, b: &mut Builder, method: MethodRef) {
        let place = self.datum(Data::Kept(method, Kept::Answer));
        let place = b.global(place);
        let answer = b.load(place, 0, Ty::I32);
        b.ret(Some(answer));
    }

    /// Whether a method is there to say something about another one.
    pub fn is_contract(&self, method: MethodRef) -> bool {
        let name = &self.classes.method(method).name;
        let Some(of) = name.strip_suffix("_pre").or_else(|| name.strip_suffix("_post")) else { return false };
        let Some(file) = self.classes.get(method.class).file() else { return false };
        let others = (0..file.methods.len()).map(|index| MethodRef { class: method.class, index: index as u16 });
        let mut others = others.filter(|other| *other != method && &*self.classes.method(*other).name == of);
        others.any(|other| self.precondition(other) == Some(method) || self.postcondition(other) == Some(method))
    }

    /// The method of this name and with these parameters that answers with a truth value. A static one speaks of no object.
    fn says(&self, beside: MethodRef, name: &str, params: &[Desc]) -> Option<MethodRef> {
        let file = self.classes.get(beside.class).file()?;
        let of_object = !self.classes.method(beside).is(access::STATIC);
        let index = file.methods.iter().position(|member| {
            // Few have such a name: only their types are looked at.
            let is_named = &*member.name == name && member.code().is_some();
            let fits = |desc: MethodDesc| desc.result == Desc::Boolean && desc.params == params;
            is_named && (of_object || member.is(access::STATIC)) && MethodDesc::parse(&member.desc).is_some_and(fits)
        })?;
        Some(MethodRef { class: beside.class, index: index as u16 })
    }

    /// Answers whether arguments are such as a caller can have, and are allowed.
    pub fn allowed(&mut self, b: &mut Builder, method: MethodRef) -> Result<(), Refusal> {
        let no = b.block();
        let possible = self.func(Func::Possible(method));
        let is_possible = b.call(possible, b.params(), Some(Ty::I32));
        let is_possible = b.cmp(CmpOp::Ne, is_possible, int(0));
        b.check(is_possible, no);
        if let Some(pre) = self.asked_before(method) {
            let args = b.params();
            let (thrown, landing) = (b.reg(Ty::Ptr), b.block());
            b.catcher = Some((thrown, landing));
            let answer = self.call_method(b, pre, args);
            b.catcher = None;
            b.ret(Some(answer));
            b.at(landing);
            b.jump(no);
        } else {
            b.ret(Some(int(1)));
        }
        b.at(no);
        b.ret(Some(int(0)));
        Ok(())
    }

    /// The method that says whether an object of a class keeps what its class does.
    pub fn invariant(&self, class: ClassId) -> Option<MethodRef> {
        let found = self.classes.find_method(class, "repOk", "()Z")?;
        let member = self.classes.method(found);
        (member.code().is_some() && !member.is(access::STATIC)).then_some(found)
    }

    /// Goes on only where the object keeps its class's invariant, and the call that is tested is allowed. Before the arguments stands the
    /// object, if there is one.
    pub fn assume_contract(&mut self, b: &mut Builder, method: MethodRef, arguments: &[Operand]) {
        let member = self.classes.method(method);
        if &*member.name == "<init>" {
            return;
        }
        let (object, own) = match (member.is(access::STATIC), arguments) {
            (false, [object, own @ ..]) => (Some(*object), own),
            (_, own) => (None, own),
        };
        let invariant = self.classes.declared(method.class, "repOk", "()Z").filter(|found| *found != method);
        let invariant = invariant.map(|found| (found, &[][..]));
        let pre = self.precondition(method).map(|found| (found, own));
        for (asked, args) in invariant.into_iter().chain(pre) {
            let member = self.classes.method(asked);
            let of_object = !member.is(access::STATIC);
            if member.code().is_none() || (of_object && object.is_none()) {
                continue;
            }
            let args = object.filter(|_| of_object).into_iter().chain(args.iter().copied()).collect();
            let answer = self.call_method(b, asked, args);
            let holds = b.cmp(CmpOp::Ne, answer, int(0));
            b.builtin(Builtin::Assume, vec![holds], None);
        }
    }
}
