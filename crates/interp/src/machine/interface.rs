//! The interface of a machine: its inputs, the memory that its user allocates and reads, and observations about the
//! run.

use super::{ExternalEffect, InputRequest, Machine, Provided, Stop};
use crate::memory::{Fill, ObjectInfo, ObjectKind};
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{ObjectId, Pointer, Value};
use std::borrow::Cow;
use touchstone_base::Id;
use touchstone_ir::{ErrorKind, GlobalId, InputSource, Ty};

/// The maximum number of calls of external functions that are recorded.
const MAX_CALLS_RECORDED: usize = 1000;

impl<'m> Machine<'m> {
    /// Returns true if an operation was executed that traps on common machines although it has a value here: the least
    /// number divided by -1.
    pub fn traps(&self) -> bool {
        self.traps
    }

    /// Returns true if an operation was executed with results that are known only for one run of a whole program, for
    /// example of files.
    pub fn is_single_run(&self) -> bool {
        self.single_run
    }

    /// Returns true if a result depended on the layout of objects (order, distance, reuse of memory): a run with
    /// another layout may differ.
    pub fn depends_on_layout(&self) -> bool {
        self.layout_dependent
    }

    /// Returns the calls of external functions with their arguments, in order, or `None` if there were too many, or if
    /// a library made one, because another library may use another order.
    pub fn calls(&self) -> Option<&[(String, Vec<Value>)]> {
        self.calls.as_deref()
    }

    /// Returns the side effects of functions that are only described, in order.
    pub fn external_effects(&self) -> &[ExternalEffect] {
        &self.external_effects
    }

    /// Records `size` bytes as a side effect of a function.
    pub(crate) fn record_effect(
        &mut self,
        source: InputSource,
        name: String,
        place: Option<Pointer>,
        size: u64,
    ) -> Result<(), ErrorKind> {
        let (mut bytes, mut pointers) = (Vec::new(), Vec::new());
        if let Some(place) = place {
            while (bytes.len() as u64) < size {
                let at = Pointer { offset: place.offset + bytes.len() as i64, ..place };
                let word = match size - bytes.len() as u64 {
                    8.. => self.memory.load(at, Ty::Ptr).ok(),
                    _ => None,
                };
                match word {
                    Some(pointer @ Value::Ptr(_)) => {
                        pointers.push((bytes.len(), pointer));
                        bytes.extend([0; 8]);
                    }
                    _ => bytes.push(self.memory.peek(at, 1)?.first().copied().flatten().unwrap_or(0)),
                }
            }
        }
        self.external_effects.push(ExternalEffect { after: self.requests.len(), source, name, bytes, pointers });
        Ok(())
    }

    /// Makes the allocation with this number, from 1, fail.
    pub fn fail_allocation(&mut self, number: u64) {
        self.failing.insert(number);
    }

    /// Counts an allocation. Returns true if it must fail.
    pub(crate) fn next_allocation_fails(&mut self) -> bool {
        self.allocations += 1;
        self.failing.contains(&self.allocations)
    }

    /// Sets the member by which a union is accessed.
    pub fn set_union_member(&mut self, object: ObjectId, offset: i64, member: usize) {
        self.union_members.insert((object, offset), member);
    }

    /// Declares an object as the variadic arguments of a call, each of the member that it was [accessed
    /// by](Self::set_union_member). Taking a missing argument, or one of another type, is undefined behaviour.
    pub fn set_variadic_arguments(&mut self, object: ObjectId) {
        self.variable.insert(object);
    }

    /// Returns the variadic argument that ended a run because it was not passed: its place, and the member for its
    /// type.
    pub fn missing_argument(&self) -> Option<(ObjectId, i64, usize)> {
        self.missed
    }

    /// Records an access of the program to a union by a member.
    pub(crate) fn access_union_by(&mut self, at: Pointer, member: usize) -> Result<(), Stop> {
        if self.variable.contains(&at.object) {
            if self.last_union_member(at.object, at.offset) == Some(member) {
                return Ok(());
            }
            self.missed = Some((at.object, at.offset, member));
            return Err(Stop::Unsupported(UnsupportedOperation::NoSuchArgument));
        }
        self.set_union_member(at.object, at.offset, member);
        Ok(())
    }

    /// Returns the member by which a union was accessed last.
    pub fn last_union_member(&self, object: ObjectId, offset: i64) -> Option<usize> {
        self.union_members.get(&(object, offset)).copied()
    }

    pub(crate) fn record_call(&mut self, name: Vec<u8>, values: Vec<Value>) {
        let caller = self.frames.len().checked_sub(2).and_then(|caller| self.frames.get(caller));
        let by_library = caller.is_some_and(|frame| frame.function.is_library());
        match &mut self.calls {
            Some(calls) if !by_library && calls.len() < MAX_CALLS_RECORDED => {
                calls.push((String::from_utf8_lossy(&name).into_owned(), values));
            }
            calls => *calls = None,
        }
    }

    /// Returns true if an integer was used as the address of an object although no pointer was converted to an integer
    /// before.
    pub fn guesses_addresses(&self) -> bool {
        self.memory.guesses_addresses()
    }

    /// Returns true if a pointer was converted to an integer: a run with another [`AddressLayout`] may differ.
    pub fn shows_addresses(&self) -> bool {
        self.memory.shows_addresses()
    }

    /// Allocates an object with undefined bytes. If it exceeds the limit, it is empty, and the next call ends with
    /// [`LimitKind::Memory`].
    pub fn alloc(&mut self, size: u64, name: &str, kind: ObjectKind) -> ObjectId {
        self.make_object(size, Cow::Owned(name.to_string()), kind, Fill::Undefined)
    }

    /// Returns the object of a global.
    pub fn global_object(&self, id: GlobalId) -> ObjectId {
        self.globals[id]
    }

    /// Returns the global of an object. Globals are the first objects that a machine allocates.
    pub fn global_of(&self, object: ObjectId) -> Option<GlobalId> {
        let id = GlobalId::new(object.index());
        self.globals.get(id).filter(|own| **own == object).map(|_| id)
    }

    /// Returns the properties of an object.
    pub fn object(&self, id: ObjectId) -> ObjectInfo<'_> {
        self.memory.info(id)
    }

    /// Makes a constant writable. Returns true if it was constant.
    pub fn unlock(&mut self, object: ObjectId) -> bool {
        self.memory.unlock(object)
    }

    /// Makes an object constant.
    pub fn lock(&mut self, object: ObjectId) {
        self.memory.set_read_only(object);
    }

    /// Writes bytes into an object.
    pub fn write_bytes(&mut self, object: ObjectId, offset: i64, bytes: &[u8]) -> Result<(), ErrorKind> {
        self.memory.write_bytes(Pointer { object, offset }, bytes)
    }

    /// Reads bytes of an object; undefined ones are an error.
    pub fn read_bytes(&self, object: ObjectId, offset: i64, length: u64) -> Result<Vec<u8>, ErrorKind> {
        let bytes = self.memory.peek(Pointer { object, offset }, length)?;
        bytes.into_iter().map(|byte| byte.ok_or(ErrorKind::Uninitialised)).collect()
    }

    /// Reads bytes of an object, `None` for undefined ones.
    pub fn peek_bytes(&self, object: ObjectId, offset: i64, length: u64) -> Result<Vec<Option<u8>>, ErrorKind> {
        self.memory.peek(Pointer { object, offset }, length)
    }

    /// Writes a value of a type into an object.
    pub fn write_value(&mut self, object: ObjectId, offset: i64, ty: Ty, value: Value) -> Result<(), ErrorKind> {
        self.memory.store(Pointer { object, offset }, ty, value)
    }

    /// Reads a value of a type from an object.
    pub fn read_value(&self, object: ObjectId, offset: i64, ty: Ty) -> Result<Value, ErrorKind> {
        self.memory.load(Pointer { object, offset }, ty)
    }

    /// Provides the inputs that the program requests, in the order of the requests. A value that is too short, or
    /// missing, is filled with zeros.
    pub fn provide_inputs(&mut self, inputs: Vec<Provided>) {
        self.inputs.extend(inputs);
    }

    /// Returns the inputs that the program requested so far.
    pub fn requested_inputs(&self) -> &[InputRequest] {
        &self.requests
    }

    /// Returns the next provided input, truncated or padded to `size` bytes, and the pointers in it.
    pub(crate) fn next_input(
        &mut self,
        source: InputSource,
        name: Vec<u8>,
        size: u64,
    ) -> (Vec<u8>, Vec<(usize, Value)>) {
        self.requests.push(InputRequest { source, name: String::from_utf8_lossy(&name).into_owned(), size });
        let (mut bytes, pointers) =
            self.inputs.pop_front().map_or_else(Default::default, |provided| (provided.bytes, provided.pointers));
        bytes.resize(size as usize, 0);
        (bytes, pointers)
    }

    /// Returns the next provided input, if it is of this kind and its name matches.
    pub(crate) fn next_if(&mut self, source: InputSource, is_meant: impl Fn(&str) -> bool) -> Option<Provided> {
        let next = self.inputs.front()?;
        if next.source != source || !is_meant(&next.name) {
            return None;
        }
        let provided = self.inputs.pop_front()?;
        self.requests.push(InputRequest { source, name: provided.name.clone(), size: provided.bytes.len() as u64 });
        Some(provided)
    }
}
