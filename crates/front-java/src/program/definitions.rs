//! Definitions of functions: a flat dispatch from the kind of a function to its lowering.

use crate::classes::LoweringError;
use crate::lower::builder::Builder;
use crate::lower::context::Lowering;
use crate::lower::symbols::FuncKind;
use touchstone_ir::{FuncId, Function};

impl Lowering {
    /// Lowers the body of a function. An error becomes a body that ends with it.
    pub(super) fn lower(&mut self, id: FuncId) -> Function {
        let func = self.func_at(id).clone();
        let name = format!("{id} {func:?}");
        self.lower_func(&func, &name).unwrap_or_else(|error| {
            let mut b = Builder::new(&[]);
            b.unsupported(error.to_string());
            let mut function = self.helper(b, name, None);
            // Callers pass the arguments of the declared signature.
            let (params, result) = self.shape_of(&func);
            let other = Builder::new(&params);
            let shaped = self.helper(other, String::new(), result);
            (function.params, function.regs, function.result) = (shaped.params, shaped.regs, shaped.result);
            function
        })
    }

    fn lower_func(&mut self, func: &FuncKind, name: &str) -> Result<Function, LoweringError> {
        let (params, result) = self.shape_of(func);
        let mut b = Builder::new(&params);
        match func {
            FuncKind::Method(method) => match self.lower_intrinsic(*method, &mut b)? {
                true => {}
                false => return self.lower_body(*method, name),
            },
            FuncKind::Original(method) => return self.lower_body(*method, name),
            FuncKind::Dispatch(method, generation) => self.dispatch(&mut b, *method, *generation)?,
            FuncKind::InstanceOf(class, generation) => self.instance_of(&mut b, *class, *generation),
            FuncKind::CastFailed(class, generation) => self.cast_failed(&mut b, *class, *generation)?,
            FuncKind::StoreCheck(generation) => self.store_check(&mut b, *generation)?,
            FuncKind::SameBox => self.same_box(&mut b)?,
            FuncKind::Init(class) => self.init(&mut b, *class)?,
            FuncKind::Throw(class) => self.throw_new(&mut b, *class)?,
            FuncKind::ThrowNull => self.throw_null(&mut b)?,
            FuncKind::ThrowIndex => self.throw_index(&mut b)?,
            FuncKind::ThrowNegative => self.throw_negative(&mut b)?,
            FuncKind::NewArray(class) => self.new_array(&mut b, *class)?,
            FuncKind::MultiArray(class, dimensions) => self.multi_array(&mut b, *class, *dimensions)?,
            FuncKind::Mirror(generation) => self.mirror(&mut b, *generation),
            FuncKind::Ask(question, generation) => self.class_query(&mut b, *question, *generation)?,
            FuncKind::FieldOffset(class) => self.field_offset(&mut b, *class)?,
            FuncKind::Lambda(class, index) => self.lambda_body(&mut b, *class, *index)?,
            FuncKind::Stub(class, index) => self.stub_body(&mut b, *class, *index)?,
            FuncKind::Site(class, index) => self.call_site(&mut b, *class, *index)?,
            FuncKind::Helper(helper) => self.system_helper(&mut b, helper)?,
            FuncKind::Main(class) => self.main(&mut b, *class)?,
            FuncKind::Possible(method) => self.well_formed_arguments(&mut b, *method)?,
            FuncKind::Allowed(method) => self.allowed_arguments(&mut b, *method)?,
            FuncKind::Scenario(method) => return self.entry_function(*method),
            FuncKind::Prepared(method) => return self.set_up_function(*method, name),
            FuncKind::Judged(method) => self.recorded_postcondition(&mut b, *method),
        }
        Ok(self.helper(b, name.to_string(), result))
    }
}
