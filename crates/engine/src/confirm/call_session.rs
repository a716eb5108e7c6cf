//! A session of calls on the inputs of a test: the caller makes one call after the other and reads the memory in
//! between.

use crate::confirm::machine_setup::PreparedRun;
use crate::confirm::run_record::CallInputs;
use crate::exec::executor::machine_templates::MachineTemplates;
use std::collections::BTreeSet;
use touchstone_criteria::NamedValue;
use touchstone_interp::{AddressLayout, End, Event, Limits, Machine, NullObserver, Observer, Value};
use touchstone_ir::{DataTypeId, FuncId, GlobalId, Module, Ty};

/// A machine with the inputs of a test.
pub struct CallSession<'m> {
    run: PreparedRun<'m>,
    /// The parameters of the test.
    pub params: Vec<Value>,
}

impl<'m> CallSession<'m> {
    /// Creates the inputs of a test, calls a function on its parameters, and returns the end of that call. The program
    /// may be that of the machines, or another with the same globals.
    pub fn begin<'b: 'm>(
        machines: &MachineTemplates<'b>,
        module: &'m Module,
        func: FuncId,
        call: CallInputs<'_>,
        limits: Limits,
        layout: AddressLayout,
    ) -> (CallSession<'m>, End) {
        let machine: Machine<'m> = machines.machine(limits, layout).running(module);
        let mut run = PreparedRun::with_inputs(module, machine, call);
        let params = run.ready(func, call.params).args;
        let end = run.machine.call(func, &params, &mut NullObserver);
        (CallSession { run, params }, end)
    }

    /// Makes a call in the memory that the previous calls left.
    pub fn call(&mut self, func: FuncId, arguments: &[Value]) -> End {
        self.run.machine.call(func, arguments, &mut NullObserver)
    }

    /// Makes a call and returns the functions that it executed.
    pub fn call_noting(&mut self, func: FuncId, arguments: &[Value]) -> (End, BTreeSet<FuncId>) {
        let mut called = Called::default();
        let end = self.run.machine.call(func, arguments, &mut called);
        (end, called.0)
    }

    /// Returns the number of steps of the last call.
    pub fn steps(&self) -> u64 {
        self.run.machine.steps_taken()
    }

    /// Returns the value of a global.
    pub fn global(&self, global: GlobalId, ty: Ty) -> Value {
        let object = self.run.machine.global_object(global);
        self.run.machine.read_value(object, 0, ty).unwrap_or(Value::Undefined)
    }

    /// Returns the value at an offset of an object; `None` if `object` is no pointer or the read fails.
    pub fn at(&self, object: Value, offset: u64, ty: Ty) -> Option<Value> {
        let Value::Ptr(pointer) = object else { return None };
        let (object, before) = (pointer.object, pointer.offset);
        self.run.machine.read_value(object, before + offset as i64, ty).ok()
    }

    /// Returns the objects reachable from a reference of this type.
    pub fn reached(&self, value: Value, data: DataTypeId) -> Vec<NamedValue> {
        self.run.reached(value, data)
    }
}

/// Records the functions that are called.
#[derive(Default)]
struct Called(BTreeSet<FuncId>);

impl Observer for Called {
    const WATCHES_POINTS: bool = false;
    fn event(&mut self, event: &Event) {
        if let Event::Call(func) = event {
            self.0.insert(*func);
        }
    }

    fn output(&mut self, _: &[u8]) {}
}
