//! Bodies of functions: a flat dispatch from the kind of a function to its lowering.

use crate::classes::Refusal;
use crate::lower::builder::Builder;
use crate::lower::context::World;
use crate::lower::symbols::Func;
use touchstone_ir::{FuncId, Function};

impl World {
    /// Makes the body of a function.
    pub(super) fn lower(&mut self, id: FuncId) -> Function {
        let func = self.func_at(id).clone();
        let name = format!("{id} {func:?}");
        self.lower_func(&func, &name).unwrap_or_else(|refusal| {
            let mut b = Builder::new(&[]);
            b.unsupported(refusal.to_string());
            let mut function = self.helper(b, name, None);
            // It is called with any arguments.
            let (params, result) = self.shape_of(&func);
            let other = Builder::new(&params);
            let shaped = self.helper(other, String::new(), result);
            (function.params, function.regs, function.result) = (shaped.params, shaped.regs, shaped.result);
            function
        })
    }

    fn lower_func(&mut self, func: &Func, name: &str) -> Result<Function, Refusal> {
        let (params, result) = self.shape_of(func);
        let mut b = Builder::new(&params);
        match func {
            Func::Method(method) => match self.stand_in(*method, &mut b)? {
                true => {}
                false => return self.lower_body(*method, name),
            },
            Func::Original(method) => return self.lower_body(*method, name),
            Func::Dispatch(method, generation) => self.dispatch(&mut b, *method, *generation)?,
            Func::InstanceOf(class, generation) => self.instance_of(&mut b, *class, *generation),
            Func::CastFailed(class, generation) => self.cast_failed(&mut b, *class, *generation)?,
            Func::StoreCheck(generation) => self.store_check(&mut b, *generation)?,
            Func::SameBox => self.same_box(&mut b)?,
            Func::Init(class) => self.init(&mut b, *class)?,
            Func::Throw(class) => self.throw_new(&mut b, *class)?,
            Func::ThrowNull => self.throw_null(&mut b)?,
            Func::ThrowIndex => self.throw_index(&mut b)?,
            Func::ThrowNegative => self.throw_negative(&mut b)?,
            Func::NewArray(class) => self.new_array(&mut b, *class)?,
            Func::MultiArray(class, dimensions) => self.multi_array(&mut b, *class, *dimensions)?,
            Func::Mirror(generation) => self.mirror(&mut b, *generation),
            Func::Ask(question, generation) => self.ask(&mut b, *question, *generation)?,
            Func::FieldOffset(class) => self.field_offset(&mut b, *class)?,
            Func::Lambda(class, index) => self.lambda_body(&mut b, *class, *index)?,
            Func::Stub(class, index) => self.stub_body(&mut b, *class, *index)?,
            Func::Site(class, index) => self.site(&mut b, *class, *index)?,
            Func::Helper(helper) => self.system_helper(&mut b, helper)?,
            Func::Main(class) => self.main(&mut b, *class)?,
            Func::Possible(method) => self.possible(&mut b, *method)?,
            Func::Allowed(method) => self.allowed(&mut b, *method)?,
            Func::Scenario(method) => return self.scenario_function(*method),
            Func::Prepared(method) => return self.prepared_function(*method, name),
            Func::Judged(method) => self.judged(&mut b, *method),
        }
        Ok(self.helper(b, name.to_string(), result))
    }
}
