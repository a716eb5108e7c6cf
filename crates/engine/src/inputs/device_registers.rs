//! Memory at constant addresses: device registers, which are inputs.
//!
//! A block of addresses becomes an object when the program first accesses it. A read of bytes that were neither read
//! nor written before is an answer of the device, recorded in order; later reads return the same value, unless the
//! register is volatile: then every read is an answer of its own ([`touchstone_ir::Builtin::Refresh`]). Objects of the
//! program are never at such addresses.
//!
//! A proof treats a volatile read as unconstrained, and gives up where memory is read that the program did not write.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::exec::memory::access::at_fixed_address;
use crate::state::inputs::RequestedInput;
use crate::state::memory::{Cell, Contents, Object, ObjectKind, disassemble};
use crate::state::value::{ObjectId, Pointer, Scalar, Value};
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_criteria::EnvironmentInput;
use touchstone_ir::{InputSource, REGISTER_BLOCK, REGISTERS, Ty};

/// The maximum distance between symbolic register addresses that are enumerated.
const MAX_ADDRESS_RANGE: u64 = 4096;

impl Executor<'_> {
    /// Returns the location of a device register, if an address is one.
    pub(crate) fn register_at(&mut self, state: &mut State, address: u64) -> Option<Pointer> {
        if self.config.entry != crate::Entry::Function || !REGISTERS.contains(&address) || state.is_folded() {
            return None;
        }
        let (block, offset) = (address - address % REGISTER_BLOCK, address % REGISTER_BLOCK);
        let known = state.inputs.registers.iter().find(|(begin, _)| *begin == block).map(|(_, object)| *object);
        let object = known.unwrap_or_else(|| {
            // An access that crosses the end of a block is still inside of the object.
            let cells = vec![Cell::Unmaterialised; REGISTER_BLOCK as usize + 8];
            let object = state.memory.alloc(Object::with_cells(cells, ObjectKind::Input, None));
            let inputs = state.inputs_mut();
            if inputs.registers.is_empty() {
                inputs.requested.push(Rc::new(RequestedInput::new(InputSource::Register, String::new(), Vec::new())));
            }
            inputs.registers.push((block, object));
            object
        });
        Some(Pointer { object, offset: Scalar::Const(offset) })
    }

    /// Returns true if a symbolic address is one of a few device registers; it is fixed first.
    pub(crate) fn is_device_register(&mut self, state: &State, address: touchstone_solver::TermId) -> bool {
        let (low, high) = self.solver.range(&self.terms, &state.path, address).unsigned;
        self.config.entry == crate::Entry::Function
            && REGISTERS.contains(&low)
            && REGISTERS.contains(&high)
            && high - low < MAX_ADDRESS_RANGE
    }

    /// Executes a volatile read: the device answers if the address is a register's.
    pub(crate) fn refresh(&mut self, state: &mut State, at: &Value, size: u64) -> Result<(), Stop> {
        let address = match at {
            Value::Int(Scalar::Const(address)) => *address,
            Value::Int(Scalar::Term(term)) => match state.fixed_value(*term) {
                Some(address) => address,
                None if self.is_device_register(state, *term) => return Err(Stop::unfixed(*term)),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let Some(Pointer { object, offset: Scalar::Const(offset) }) = self.register_at(state, address) else {
            return Ok(());
        };
        self.answer(state, object, address, offset as usize, size as u8);
        Ok(())
    }

    /// Materialises the bytes of a register at their first read. Returns false if the object is no register.
    pub(crate) fn read_device_register(
        &mut self,
        state: &mut State,
        object: ObjectId,
        at: u64,
        ty: Ty,
        span: Span,
    ) -> Result<bool, Stop> {
        let known = state.inputs.registers.iter().find(|(_, known)| *known == object);
        let Some(block) = known.map(|(block, _)| *block) else { return Ok(false) };
        let address = block + at;
        if self.policy.environment == Environment::Any || ty == Ty::Ptr {
            return Err(at_fixed_address(address, span));
        }
        let Contents::Cells(cells) = &state.memory.get(object).contents else { return Ok(false) };
        let bytes = usize::from(ty.bytes());
        let unmade: Vec<usize> =
            (at as usize..at as usize + bytes).filter(|at| cells.get(*at) == Some(&Cell::Unmaterialised)).collect();
        if unmade.len() == bytes {
            self.answer(state, object, address, at as usize, ty.bytes());
        } else {
            unmade.iter().for_each(|at| self.answer(state, object, block + *at as u64, *at, 1));
        }
        Ok(!unmade.is_empty())
    }

    /// Creates an answer of the device.
    fn answer(&mut self, state: &mut State, object: ObjectId, address: u64, at: usize, bytes: u8) {
        let name = format!("{address:#x}");
        let title = EnvironmentInput::title_of(InputSource::Register, &name);
        let term = self.input_var(state.inputs_mut(), 8 * bytes, &title);
        let made: Vec<Cell> = disassemble(&Value::term(&self.terms, term), bytes, &mut self.pointers).collect();
        if let Contents::Cells(cells) = &mut state.memory.get_mut(object).contents {
            cells[at..at + made.len()].copy_from_slice(&made);
        }
        state.inputs_mut().requested.push(Rc::new(RequestedInput::new(InputSource::Register, name, made)));
    }
}
