//! Globals of a module that grows: they are allocated when a run first takes their address.

use crate::machine::{LimitKind, Machine, Stop};
use crate::memory::{Fill, ObjectKind};
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{ObjectId, Pointer, Value};
use std::borrow::Cow;
use touchstone_base::Id;
use touchstone_ir::{Global, GlobalId, Init, Ty};

impl<'m> Machine<'m> {
    /// Returns the object of a global that the module does not contain; its pointees are allocated with it.
    #[cold]
    pub(crate) fn late_global(&mut self, id: GlobalId) -> Result<ObjectId, Stop> {
        if let Some(object) = self.known_global(id) {
            return Ok(object);
        }
        let object = self.late_object(id)?.0;
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            let (object, global) = self.late_object(id)?;
            for piece in global.init.iter().flatten() {
                match piece {
                    Init::Bytes { offset, bytes } => {
                        self.memory.write_bytes(Pointer { object, offset: *offset as i64 }, bytes)?;
                    }
                    Init::GlobalAddr { offset, global, addend } => {
                        let target = match self.known_global(*global) {
                            Some(object) => object,
                            None => {
                                waiting.push(*global);
                                self.late_object(*global)?.0
                            }
                        };
                        let place = Pointer { object, offset: *offset as i64 };
                        self.memory.store(place, Ty::Ptr, Value::ptr(target, *addend))?;
                    }
                }
            }
        }
        Ok(object)
    }

    /// Returns the object of such a global, filled with zeros if it is new.
    fn late_object(&mut self, id: GlobalId) -> Result<(ObjectId, &'m Global), Stop> {
        let Some(global) = self.grows().and_then(|growing| growing.global(id)) else {
            return Err(Stop::Unsupported(UnsupportedOperation::ExternalVariable(id.to_string())));
        };
        if let Some(object) = self.known_global(id) {
            return Ok((object, global));
        }
        let object = self.memory.alloc(global.size, Cow::Borrowed(&global.name), ObjectKind::Global, Fill::Zero);
        let object = object.ok_or(Stop::Limit(LimitKind::Memory))?;
        let at = id.index() - self.module().globals.len();
        self.late_globals.resize(self.late_globals.len().max(at + 1), None);
        self.late_globals[at] = Some(object);
        Ok((object, global))
    }
}
