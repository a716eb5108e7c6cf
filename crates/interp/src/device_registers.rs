//! Device registers: memory at addresses that the program writes as integer constants. A read of an address that was
//! not written yields the device's answer, which is the next provided input.

use crate::machine::{LimitKind, Machine, Stop};
use crate::memory::{Fill, ObjectKind};
use crate::value::{Pointer, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use touchstone_ir::{InputSource, REGISTER_BLOCK, REGISTERS};

impl Machine<'_> {
    /// Enables device registers.
    pub fn map_registers(&mut self) {
        self.registers = Some(BTreeMap::new());
    }

    /// Returns true if the program accessed a device register.
    pub fn has_met_registers(&self) -> bool {
        self.registers.as_ref().is_some_and(|registers| !registers.is_empty())
    }

    pub(crate) fn is_register(&self, address: u64) -> bool {
        let is_object = || matches!(self.memory.pointer_at(address), Value::Ptr(_));
        self.registers.is_some() && REGISTERS.contains(&address) && !is_object()
    }

    /// Returns the place of a device register.
    pub(crate) fn register_place(&mut self, address: u64) -> Result<Pointer, Stop> {
        let (block, offset) = (address - address % REGISTER_BLOCK, (address % REGISTER_BLOCK) as i64);
        let known = self.registers.as_ref().and_then(|registers| registers.get(&block)).copied();
        if let Some(object) = known {
            return Ok(Pointer { object, offset });
        }
        // An access that crosses the end of a block is still inside of it.
        let size = REGISTER_BLOCK + 8;
        let made = self.memory.alloc(size, Cow::Borrowed("registers"), ObjectKind::Input, Fill::Undefined);
        let object = made.ok_or(Stop::Limit(LimitKind::Memory))?;
        self.registers.get_or_insert_default().insert(block, object);
        Ok(Pointer { object, offset })
    }

    /// Reads a device register: if it was neither written nor read before, the device answers.
    pub(crate) fn read_register(&mut self, address: u64, bytes: u8) -> Result<Pointer, Stop> {
        let place = self.register_place(address)?;
        let known = self.memory.peek(place, u64::from(bytes))?;
        let missing: Vec<u64> = (0..u64::from(bytes)).filter(|at| known[*at as usize].is_none()).collect();
        if missing.len() == usize::from(bytes) {
            self.answer(address, u64::from(bytes))?;
        } else {
            missing.into_iter().try_for_each(|at| self.answer(address + at, 1))?;
        }
        Ok(place)
    }

    /// Handles a volatile read of an address, which yields a new answer of the device.
    pub(crate) fn refresh(&mut self, at: Value, size: u64) -> Result<(), Stop> {
        match at {
            Value::Int(address) if self.is_register(address) => self.answer(address, size),
            _ => Ok(()),
        }
    }

    fn answer(&mut self, address: u64, size: u64) -> Result<(), Stop> {
        let place = self.register_place(address)?;
        let (bytes, _) = self.next_input(InputSource::Register, format!("{address:#x}").into_bytes(), size);
        self.write_bytes(place.object, place.offset, &bytes)?;
        Ok(())
    }
}
