//! Builtins of Java: strings in the representation of its runtime.

use crate::builtins::put;
use crate::machine::{CallFrame, Machine, Stop};
use crate::observer::Observer;
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::Value;
use touchstone_ir::{Builtin, ErrorKind, JavaBuiltin, Operand};

impl<'m> Machine<'m> {
    pub(crate) fn step_java_builtin(
        &mut self,
        frame: &CallFrame<'m>,
        builtin: JavaBuiltin,
        args: &[Operand],
        observer: &mut impl Observer,
    ) -> Result<Value, Stop> {
        match (builtin, args) {
            (JavaBuiltin::WriteText, [stream, bytes, size, coder]) => {
                let units = self.units(frame, *bytes, *size, *coder)?;
                // Unpaired surrogates are written as by the JDK's encoder.
                let text: String = char::decode_utf16(units).map(|unit| unit.unwrap_or('?')).collect();
                put(self.int(frame, *stream)?, text.as_bytes(), observer);
                Ok(Value::Undefined)
            }
            (JavaBuiltin::Intern, [bytes, size, coder]) => {
                let units = self.units(frame, *bytes, *size, *coder)?;
                match self.grows().and_then(|growing| growing.constant(&units)) {
                    Some(global) => Ok(Value::ptr(self.late_global(global)?, 0)),
                    None => Err(Stop::Unsupported(UnsupportedOperation::Construct("intern".to_string()))),
                }
            }
            (JavaBuiltin::ClassNamed, [bytes, size, coder]) => {
                let units = self.units(frame, *bytes, *size, *coder)?;
                match self.grows().and_then(|growing| growing.named(&units)) {
                    Some(global) => Ok(Value::ptr(self.late_global(global)?, 0)),
                    None => Ok(Value::NULL),
                }
            }
            _ => Err(Stop::Unsupported(UnsupportedOperation::TooFewArguments(Builtin::Java(builtin)))),
        }
    }

    /// Returns a string as UTF-16.
    fn units(&self, frame: &CallFrame<'m>, bytes: Operand, size: Operand, coder: Operand) -> Result<Vec<u16>, Stop> {
        let (size, coder) = (self.int(frame, size)?, self.int(frame, coder)?);
        if size == 0 {
            return Ok(Vec::new());
        }
        let place = self.memory.resolve(self.used(frame, bytes)?)?;
        let bytes: Option<Vec<u8>> = self.memory.peek(place, size)?.into_iter().collect();
        let bytes = bytes.ok_or(ErrorKind::Uninitialised)?;
        Ok(match coder {
            0 => bytes.into_iter().map(u16::from).collect(),
            _ => bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect(),
        })
    }
}
