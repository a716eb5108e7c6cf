//! What is around a run: the inputs that it is given, the memory that others make and look at, and what it says of itself.

use super::{InputRequest, Left, Machine, Provided, Stop};
use crate::memory::{Fill, ObjectInfo, ObjectKind};
use crate::unrunnable::Unrunnable;
use crate::value::{ObjectId, Pointer, Value};
use std::borrow::Cow;
use touchstone_base::Id;
use touchstone_ir::{ErrorKind, GlobalId, InputSource, Ty};

/// So many calls of functions that nobody defines are kept.
const MOST_CALLS: usize = 1000;

impl<'m> Machine<'m> {
    /// Whether something was executed that traps on common machines though it has a value here: the least number divided
    /// by -1.
    pub fn traps(&self) -> bool {
        self.traps
    }

    /// Whether something was executed whose results are only known of one run of a whole program (files, say).
    pub fn is_of_one_run(&self) -> bool {
        self.of_one_run
    }

    /// Whether something was asked for that where objects lie decides (order, distance, whether memory is given out again): a run
    /// elsewhere may differ.
    pub fn depends_on_layout(&self) -> bool {
        self.apart
    }

    /// Calls of functions that nobody defines, with what they were called with, in order. `None` if there were very many, or
    /// if a library made one: another library may call in another order.
    pub fn calls(&self) -> Option<&[(String, Vec<Value>)]> {
        self.calls.as_deref()
    }

    /// What functions left that are only described, in order.
    pub fn left(&self) -> &[Left] {
        &self.left
    }

    /// So many bytes there are what a function has left.
    pub(crate) fn keep_left(
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
        self.left.push(Left { after: self.requests.len(), source, name, bytes, pointers });
        Ok(())
    }

    /// The allocation with this number, from 1, gets no memory.
    pub fn fail_allocation(&mut self, number: u64) {
        self.failing.insert(number);
    }

    /// An allocation is asked for: whether it fails.
    pub(crate) fn next_allocation_fails(&mut self) -> bool {
        self.allocations += 1;
        self.failing.contains(&self.allocations)
    }

    /// A union is looked at by a member.
    pub fn look(&mut self, object: ObjectId, offset: i64, member: usize) {
        self.looks.insert((object, offset), member);
    }

    /// These are the variable arguments of a call, each of the member that it was [looked at](Self::look) by. Whoever takes one
    /// that is not there, or takes it as another one, does what only the language's compilers know.
    pub fn keep_arguments(&mut self, object: ObjectId) {
        self.variable.insert(object);
    }

    /// The variable argument that ended a run because nobody passed it: where it would be, and the member that it would be of.
    pub fn missed_argument(&self) -> Option<(ObjectId, i64, usize)> {
        self.missed
    }

    /// The program looks at a union by a member.
    pub(crate) fn look_by(&mut self, at: Pointer, member: usize) -> Result<(), Stop> {
        if self.variable.contains(&at.object) {
            if self.looked(at.object, at.offset) == Some(member) {
                return Ok(());
            }
            self.missed = Some((at.object, at.offset, member));
            return Err(Stop::Unsupported(Unrunnable::NoSuchArgument));
        }
        self.look(at.object, at.offset, member);
        Ok(())
    }

    /// By which member a union was looked at last.
    pub fn looked(&self, object: ObjectId, offset: i64) -> Option<usize> {
        self.looks.get(&(object, offset)).copied()
    }

    pub(crate) fn record_call(&mut self, name: Vec<u8>, values: Vec<Value>) {
        let caller = self.frames.len().checked_sub(2).and_then(|caller| self.frames.get(caller));
        let by_library = caller.is_some_and(|frame| frame.function.is_library());
        match &mut self.calls {
            Some(calls) if !by_library && calls.len() < MOST_CALLS => {
                calls.push((String::from_utf8_lossy(&name).into_owned(), values));
            }
            calls => *calls = None,
        }
    }

    /// Whether a number led to an object by chance: no pointer was turned into a number before.
    pub fn guesses_addresses(&self) -> bool {
        self.memory.guesses_addresses()
    }

    /// Whether a pointer was turned into a number: a run with another [`Layout`] may differ.
    pub fn shows_addresses(&self) -> bool {
        self.memory.shows_addresses()
    }

    /// A new object with undefined bytes. If it is too big for the limit it is made empty, and the next call ends with
    /// [`LimitKind::Memory`].
    pub fn alloc(&mut self, size: u64, name: &str, kind: ObjectKind) -> ObjectId {
        self.make_object(size, Cow::Owned(name.to_string()), kind, Fill::Undefined)
    }

    /// The object of a global.
    pub fn global_object(&self, id: GlobalId) -> ObjectId {
        self.globals[id]
    }

    /// The global whose object this is. They are the first objects that a machine makes.
    pub fn global_of(&self, object: ObjectId) -> Option<GlobalId> {
        let id = GlobalId::new(object.index());
        self.globals.get(id).filter(|own| **own == object).map(|_| id)
    }

    /// What is known about an object.
    pub fn object(&self, id: ObjectId) -> ObjectInfo<'_> {
        self.memory.info(id)
    }

    /// Lets a constant be written; whether it was one.
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

    /// Values for the inputs that the program asks for by itself, in the order in which it asks. A value that is too
    /// short, or missing, is filled with zeros.
    pub fn provide_inputs(&mut self, inputs: Vec<Provided>) {
        self.inputs.extend(inputs);
    }

    /// The inputs that the program asked for so far.
    pub fn requested_inputs(&self) -> &[InputRequest] {
        &self.requests
    }

    /// The next provided input, cut or filled to `size` bytes, and the pointers in it.
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

    /// The next provided input, if it is one that comes in there under a name like this.
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
