//! The world around the function under test, as wide as it may be.
//!
//! Tests are searched in a world that tests can make: first calls, allocations that succeed, input pointers that lead to
//! whole objects. A proof must not rest on that. In [`World::Any`] the same executor leaves nothing out: state of earlier
//! calls is an input (`globals.rs`), allocations may fail, a write through one input pointer may change what others lead
//! to. What a path rests on there is kept with it as [`Doubt`]s, so that a verdict can say why it is open.
//!
//! The language's own rules hold in every world: memory is written and read by types that may alias (the module's table says
//! which may), and nothing is said of runs without a defined meaning.
//!
//! Deliberately not here: who searches there (`wide.rs`, `prover/induction.rs`).

use crate::exec::access::{Intent, Written};
use crate::exec::executor::Executor;
use crate::exec::layout::layout;
use crate::state::inputs::{InputObject, Made};
use crate::state::memory::{Cell, Contents, ObjectKind, Open, disassemble, global_object};
use crate::state::value::{ObjectId, Pointer, Scalar, Value};
use crate::state::{PathEnd, State, Stop};
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Assume, Bound, Doubt, Incomplete, MadeInput, Unsettled, Unsupported};
use touchstone_ir::{
    ByteWrites, DataType, DataTypeId, ErrorKind, GlobalId, InputSource, Linkage, Operand, Reg, Shares, Ty,
};
use touchstone_solver::{Element, TermId};

/// A larger object is not made unknown: the path is given up.
const LARGEST_OBJECT: u64 = 4096;

/// Of a path's allocations so many may fail in a test.
const MOST_ALLOCATIONS: u32 = 64;

/// Which world a function runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum World {
    /// What tests can make. Inputs for which something has no defined result are avoided as long as a path has others.
    Tested,
    /// Whatever a program could do. A proof leaves nothing out.
    Any,
}

/// Memory at an address that the program knows and nobody allocated: a device's registers.
pub(crate) fn at_fixed_address(address: u64, span: Span) -> Stop {
    Stop::unsupported(Unsupported::FixedAddress(address), span)
}

/// What an object from outside is made of.
#[derive(Clone, Copy)]
struct Extent {
    element: DataTypeId,
    /// More than one element.
    many: bool,
    /// The user said how many, and so where the object ends.
    exact: bool,
    global: bool,
}

impl Executor<'_> {
    /// Whether something must be taken into account that tests don't make; what was taken for granted is kept.
    pub(crate) fn doubts(&mut self, doubt: Doubt) -> bool {
        if doubt.ruled_out_by().is_some_and(|assume| self.config.assume.contains(&assume)) {
            return false;
        }
        match self.policy.world {
            World::Tested => {
                self.ledger.met.insert(doubt);
                false
            }
            World::Any => {
                if !self.effects.raised.contains(&doubt) {
                    self.effects.raised.push(doubt);
                }
                true
            }
        }
    }

    /// Gives a state the doubts that the last step raised.
    pub(crate) fn keep_doubts(&mut self, state: &mut State) {
        for doubt in std::mem::take(&mut self.effects.raised) {
            if !state.doubts.contains(&doubt) {
                Rc::make_mut(&mut state.doubts).push(doubt);
            }
        }
    }

    /// A path ends for a doubt that can't be followed.
    pub(crate) fn doubtful(&mut self, doubt: Doubt, span: Span) -> Stop {
        Stop::End(PathEnd::Incomplete { why: Incomplete::Doubt(doubt), span })
    }

    /// Whether the next allocation fails: a term, or `None` if it never does. A test makes it fail where a function is called; how a
    /// whole program is started says nothing of its allocations. Where the program may look for an error number, the term is
    /// decided first.
    pub(crate) fn failing_allocation(&mut self, state: &mut State) -> Result<Option<TermId>, Stop> {
        let ruled_out = self.config.assume.contains(&Assume::Allocation);
        if state.is_folded() || (self.policy.world == World::Any && !self.doubts(Doubt::Allocation)) {
            return Ok(None);
        }
        if self.policy.world == World::Any {
            self.forget_error_number(state);
            return Ok(Some(self.terms.var(1, "allocation fails")));
        }
        if ruled_out || self.config.entry == crate::Entry::Program || state.inputs.allocations >= MOST_ALLOCATIONS {
            self.doubts(Doubt::Allocation);
            return Ok(None);
        }
        let fails = match state.inputs.failing {
            Some(fails) => fails,
            None => {
                let inputs = state.inputs_mut();
                inputs.allocations += 1;
                let name = inputs.allocations.to_string();
                let title = MadeInput::title_of(InputSource::Allocation, &name);
                let fails = self.input_var(state.inputs_mut(), 1, &title);
                let made = Made { given: Some(fails), ..Made::new(InputSource::Allocation, name, Vec::new()) };
                state.inputs_mut().made.push(Rc::new(made));
                state.inputs_mut().failing = Some(fails);
                fails
            }
        };
        if self.error_number(state).is_some() && state.fixed_value(fails).is_none() {
            return Err(Stop::unfixed(fails));
        }
        state.inputs_mut().failing = None;
        Ok(Some(fails))
    }

    /// What an allocation gives: the object, or null and an error number.
    pub(crate) fn given_memory(&mut self, state: &mut State, fails: TermId, made: Value, number: u64) -> Value {
        if self.policy.world == World::Tested
            && let Some((global, bytes)) = self.error_number(state)
            && state.fixed_value(fails) == Some(1)
        {
            let cells = disassemble(&Value::constant(number), bytes, &mut self.pointers).collect();
            state.memory.get_mut(global_object(global)).contents = Contents::Cells(cells);
        }
        match state.fixed_value(fails) {
            Some(0) => return made,
            Some(_) => return Value::NULL,
            None => {}
        }
        let succeeds = self.terms.not(fails);
        Value::Choice(Rc::new([(fails, Value::NULL), (succeeds, made)]))
    }

    /// Where the error number is and its bytes, if the program has it.
    pub(crate) fn error_number(&self, state: &State) -> Option<(GlobalId, u8)> {
        let id = self.module.left_behind()?;
        let global = &self.module.globals[id];
        let contents = &state.memory.get(global_object(id)).contents;
        let used = matches!(contents, Contents::Cells(cells) if cells.len() as u64 == global.size);
        (used && (1..=8).contains(&global.size)).then_some((id, global.size as u8))
    }

    /// A call may have left another error number.
    fn forget_error_number(&mut self, state: &mut State) {
        if let Some((number, bytes)) = self.error_number(state) {
            let any = self.terms.var(8 * bytes, "error number");
            let any = Value::term(&self.terms, any);
            let cells = disassemble(&any, bytes, &mut self.pointers).collect();
            state.memory.get_mut(global_object(number)).contents = Contents::Cells(cells);
        }
    }

    /// Output that fails leaves an error number.
    pub(crate) fn output_may_fail(&mut self, state: &mut State) {
        if self.error_number(state).is_some() && self.doubts(Doubt::Unsettled(Unsettled::Output)) {
            self.forget_error_number(state);
        }
    }

    /// What the program holds for settled may be something else: something fails, say, and leaves an error number.
    pub(crate) fn unsettled(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let what = self.constant_string(state, args.first().copied(), span)?;
        let doubt = Doubt::Unsettled(Unsettled::named(what));
        let other = self.doubts(doubt.clone());
        if other {
            self.forget_error_number(state);
        }
        match (dst, args.get(1)) {
            (Some(dst), Some(&value)) => {
                let ty = self.reg_ty(state, dst);
                let value = match (other, ty) {
                    (false, _) => state.top().value(value),
                    (true, Ty::Int(bits)) => {
                        let any = self.terms.var(bits, "unsettled");
                        Value::term(&self.terms, any)
                    }
                    (true, Ty::Ptr) => return Err(self.doubtful(doubt, span)),
                };
                state.set(dst, value);
                Ok(())
            }
            _ if other => Err(self.doubtful(doubt, span)),
            _ => Ok(()),
        }
    }

    /// A read of an input that can't be made.
    pub(crate) fn unmade(&mut self, object: ObjectId, span: Span) -> Stop {
        let global = self.module.globals.get(GlobalId::new(object.index()));
        match global {
            Some(global) if self.is_defined_elsewhere(object) => {
                Stop::unsupported(Unsupported::UndefinedVariable(global.name.clone()), span)
            }
            Some(global) if self.policy.world == World::Any => {
                let doubt = match global.linkage {
                    Linkage::External => Doubt::OtherFiles(global.for_people()),
                    _ => Doubt::EarlierCalls(global.for_people()),
                };
                self.doubtful(doubt, span)
            }
            _ => Stop::unsupported(Unsupported::UnmadeInput, span),
        }
    }

    /// Memory that nobody wrote holds something, where reading it is not undefined (C11 6.3.2.1p2, 3.19.2): a proof does not end
    /// there.
    pub(crate) fn holds_something(&mut self, state: &State, span: Span) -> Result<(), Stop> {
        let doubt = Doubt::Unsettled(Unsettled::Unwritten);
        if !state.is_folded() && self.doubts(doubt.clone()) {
            self.effects.ended.push((state.clone(), PathEnd::Error { kind: ErrorKind::Uninitialised, span }));
            return Err(self.doubtful(doubt, span));
        }
        Ok(())
    }

    /// Goes on where bytes were written; where they may not have been, a proof does not end (see [`Self::holds_something`]).
    pub(crate) fn require_written(&mut self, state: &mut State, fine: TermId, span: Span) -> Result<(), Stop> {
        let ended = self.effects.ended.len();
        let required = self.require(state, fine, ErrorKind::Uninitialised, span);
        if (required.is_err() || self.effects.ended.len() > ended) && !state.is_folded() {
            let doubt = Doubt::Unsettled(Unsettled::Unwritten);
            if self.doubts(doubt.clone()) {
                self.give_up(Incomplete::Doubt(doubt), span, 1);
            }
        }
        required
    }

    /// An access outside of an input object: a pointer may lead into the middle of a larger one, and a declared length binds no
    /// caller. What the user says of a length holds.
    pub(crate) fn note_outside(&mut self, state: &State, pointer: Pointer, span: Span) {
        let Some(here) = self.extent(state, pointer.object).filter(|here| !here.global) else { return };
        // A label's predicate that looks there is not defined, and does not hold.
        if state.is_folded() {
            return;
        }
        let (before, behind) = match pointer.offset {
            Scalar::Const(offset) => ((offset as i64) < 0, (offset as i64) >= 0),
            Scalar::Term(offset) => (self.solver.range(&self.terms, &state.path, offset).unsigned.1 >= 1 << 63, true),
        };
        if before && self.doubts(Doubt::Overlap) {
            self.give_up(Incomplete::Doubt(Doubt::Overlap), span, 1);
        }
        if behind && !here.exact {
            match self.policy.world {
                World::Tested => self.ledger.avoided = true,
                World::Any => self.give_up(Incomplete::Bound(Bound::Length), span, 1),
            }
        }
    }

    /// Whether pointers into two objects may be equal: the objects overlap, or one begins where the other ends.
    pub(crate) fn may_be_equal(&mut self, state: &State, a: &Pointer, b: &Pointer, span: Span) -> Result<bool, Stop> {
        let start = |pointer: &Pointer| pointer.offset == Scalar::Const(0);
        let (least_a, least_b) = (self.least_size(state, a.object), self.least_size(state, b.object));
        let at_end = |pointer: &Pointer| match pointer.offset {
            Scalar::Const(offset) => offset >= if pointer.object == a.object { least_a } else { least_b },
            Scalar::Term(_) => true,
        };
        let gone = |pointer: &Pointer| !state.memory.get(pointer.object).live;
        if gone(a) || gone(b) {
            let what = "memory that was given back may be given out again".to_string();
            let doubt = Doubt::Unsettled(Unsettled::Said(what));
            return match self.policy.world {
                World::Tested => Err(self.doubtful(doubt, span)),
                World::Any => Ok(self.doubts(doubt)),
            };
        }
        // Where others put their variables is theirs to say.
        if self.is_defined_elsewhere(a.object) || self.is_defined_elsewhere(b.object) {
            return Ok(self.doubts(Doubt::Overlap));
        }
        let (Some(x), Some(y)) = (self.extent(state, a.object), self.extent(state, b.object)) else {
            return Ok((at_end(a) || at_end(b)) && self.doubts(Doubt::Overlap));
        };
        let same = self.same_layout(x.element, y.element);
        let distinct = same && start(a) && start(b);
        // A pointer into the other's object is a case of its own if that object was there first, with all its elements.
        let case = |first: &Pointer, later: &Pointer| start(later) && self.is_whole_before(state, first, later);
        if same && (case(a, b) || case(b, a)) {
            return Ok(false);
        }
        // A pointer may hold the address of what its type can't be used for, as long as nobody reads through it.
        let only_held = !(same || (x.global && y.global));
        let possible = only_held || at_end(a) || at_end(b) || (!distinct && self.may_overlap(x, y));
        Ok(possible && self.doubts(Doubt::Overlap))
    }

    /// Whether an input object of known length was made before another.
    fn is_whole_before(&self, state: &State, first: &Pointer, later: &Pointer) -> bool {
        let inputs = &state.inputs.objects;
        let place = |pointer: &Pointer| inputs.iter().position(|input| input.object == pointer.object);
        match (place(first), place(later)) {
            (Some(first), Some(later)) => first < later && !inputs[first].default_length && !inputs[later].alone,
            _ => false,
        }
    }

    /// What an object has at least, in bytes.
    fn least_size(&mut self, state: &State, object: ObjectId) -> u64 {
        let object = state.memory.get(object);
        object.open.size().map_or(object.size, |size| self.solver.range(&self.terms, &state.path, size).unsigned.0)
    }

    /// Whether an object is a variable that no given file defines.
    pub(crate) fn is_defined_elsewhere(&self, object: ObjectId) -> bool {
        let global = self.module.globals.get(GlobalId::new(object.index()));
        global.is_some_and(|global| global.linkage == Linkage::Undefined && global.function.is_none())
    }

    /// An object is accessed: a write may change what other input pointers lead to.
    pub(crate) fn overlaps(
        &mut self,
        state: &mut State,
        object: ObjectId,
        intent: Intent,
        span: Span,
    ) -> Result<(), Stop> {
        let Intent::Write(written) = intent else { return Ok(()) };
        if self.policy.world == World::Tested && self.ledger.met.contains(&Doubt::Overlap) {
            return Ok(());
        }
        let Some(here) = self.extent(state, object) else { return Ok(()) };
        // The tested world only has to know that there may be others: later ones are not there yet.
        let others = match self.policy.world {
            World::Tested => vec![object],
            World::Any => self.overlapping(state, object, here, written),
        };
        if others.is_empty() || !self.doubts(Doubt::Overlap) {
            return Ok(());
        }
        others.into_iter().try_for_each(|other| self.make_unknown(state, other, written, Doubt::Overlap, span))
    }

    /// Objects from outside that a write to this one may change.
    pub(crate) fn overlapping_objects(&self, state: &State, object: ObjectId) -> Vec<ObjectId> {
        let all = |here| self.overlapping(state, object, here, Written::Bytes);
        self.extent(state, object).map_or(Vec::new(), all)
    }

    fn overlapping(&self, state: &State, object: ObjectId, here: Extent, written: Written) -> Vec<ObjectId> {
        let inputs = state.inputs.objects.iter().map(|input| input.object);
        let globals = self.reachable_globals.iter().filter(|_| !here.global).map(|id| global_object(*id));
        let others = inputs.chain(globals).filter(|other| *other != object);
        // Bytes may be copied to objects of any type.
        let meets = |there: Extent| match written {
            Written::Bytes if !self.same_layout(here.element, there.element) => true,
            _ => self.may_overlap(here, there),
        };
        others.filter(|other| self.extent(state, *other).is_some_and(meets)).collect()
    }

    /// What an object that somebody outside may have a pointer to is made of.
    fn extent(&self, state: &State, id: ObjectId) -> Option<Extent> {
        let object = state.memory.get(id);
        let used = !matches!(&object.contents, Contents::Cells(cells) if cells.len() as u64 != object.size);
        if !object.live || !used {
            return None;
        }
        let data = object.data?;
        match object.kind {
            ObjectKind::Input => {
                let mut inputs = state.inputs.objects.iter();
                let said =
                    |input: &Rc<InputObject>| input.object == id && self.config.lengths.contains_key(&input.name);
                let (many, exact) = match self.module.types[data].says_its_size() {
                    true => (false, true),
                    false => (object.size > self.size_of(data), inputs.any(said)),
                };
                Some(Extent { element: data, many, exact, global: false })
            }
            ObjectKind::Global if self.reachable_globals.contains(&GlobalId::new(id.index())) => {
                let (element, many) = match self.module.types[data] {
                    DataType::Array { element, length } => (element, length > 1),
                    _ => (data, false),
                };
                Some(Extent { element, many, exact: false, global: true })
            }
            _ => None,
        }
    }

    /// Whether two objects may share bytes. One that is the same as another is a case of its own (`inputs.rs`).
    fn may_overlap(&self, a: Extent, b: Extent) -> bool {
        if a.global && b.global {
            return false;
        }
        if self.same_layout(a.element, b.element) {
            return (a.many || b.many) && !(a.exact && b.exact);
        }
        let everything = |data: DataTypeId| self.module.pointee(data).shares == Shares::Everything;
        everything(a.element)
            || everything(b.element)
            || self.contains(a.element, b.element)
            || self.contains(b.element, a.element)
    }

    /// Whether a value of one type may have one of another as a part, or be one of it under another name.
    fn contains(&self, whole: DataTypeId, part: DataTypeId) -> bool {
        if whole == part {
            return true;
        }
        let (outside, inside) = (self.module.pointee(whole), self.module.pointee(part));
        let types = &self.module.types;
        outside.part == inside.part
            || matches!(outside.shares, Shares::AnyPart | Shares::Unknown)
            || inside.shares == Shares::Unknown
            || matches!(&types[part], DataType::OneOf { variants, .. }
                if variants.iter().any(|variant| self.contains(whole, variant.ty)))
            || match &types[whole] {
                DataType::Array { element, .. } => self.contains(*element, part),
                DataType::OneOf { variants, .. } => variants.iter().any(|variant| self.contains(variant.ty, part)),
                DataType::Union { members, .. } => members.iter().any(|member| self.contains(member.ty, part)),
                DataType::Struct { fields, .. } => fields.iter().any(|field| self.contains(field.ty, part)),
                _ => false,
            }
    }

    /// A function that nobody defines ran: whatever it can reach may be changed.
    pub(crate) fn somebody_ran(
        &mut self,
        state: &mut State,
        name: &str,
        given: &[Value],
        span: Span,
    ) -> Result<(), Stop> {
        let name = if self.module.functions[state.top().func].is_callback() { "a callback" } else { name };
        let doubt = Doubt::External(name.to_string());
        if !self.doubts(doubt.clone()) {
            return Ok(());
        }
        let globals = self.module.globals.iter().filter(|(_, global)| !global.constant && global.function.is_none());
        let mut reached: BTreeSet<ObjectId> = globals.map(|(id, _)| global_object(id)).collect();
        reached.extend(state.inputs.objects.iter().map(|input| input.object));
        // Nobody knows what it has kept of what it was given earlier.
        reached.extend(&state.inputs.escaped);
        given.iter().for_each(|value| self.targets(state, value, &mut reached));
        let mut pending: Vec<ObjectId> = reached.iter().copied().collect();
        while let Some(object) = pending.pop() {
            for target in self.pointed_to(state, object) {
                if reached.insert(target) {
                    pending.push(target);
                }
            }
        }
        let own = |object: &ObjectId| {
            let known = state.memory.get(*object);
            known.live && matches!(known.kind, ObjectKind::Slot | ObjectKind::Heap)
        };
        let escaped: Vec<ObjectId> = reached.iter().copied().filter(own).collect();
        state.inputs_mut().escaped = escaped;
        for object in reached {
            let known = state.memory.get(object);
            let used = !matches!(&known.contents, Contents::Cells(cells) if cells.len() as u64 != known.size);
            if known.live && known.kind != ObjectKind::Constant && used && known.size > 0 {
                self.make_unknown(state, object, Written::Bytes, doubt.clone(), span)?;
            }
        }
        Ok(())
    }

    /// The objects that pointers in an object lead to.
    fn pointed_to(&self, state: &State, object: ObjectId) -> BTreeSet<ObjectId> {
        let mut found = BTreeSet::new();
        let mut add = |cell: &Cell| {
            if let Cell::Pointer { value, index: 0 } = cell {
                self.targets(state, self.pointers.get(*value), &mut found);
            }
        };
        match &state.memory.get(object).contents {
            Contents::Cells(cells) => cells.iter().for_each(&mut add),
            Contents::Delayed { pointers, .. } => pointers.iter().for_each(|(_, cell)| add(cell)),
        }
        found
    }

    fn targets(&self, state: &State, value: &Value, found: &mut BTreeSet<ObjectId>) {
        match value {
            Value::Ptr(pointer) => {
                found.insert(pointer.object);
            }
            Value::Choice(options) => options.iter().for_each(|(_, option)| self.targets(state, option, found)),
            Value::Lazy(id) => {
                if let Some(decided) = state.inputs.shape(*id) {
                    self.targets(state, decided, found);
                }
            }
            Value::Bytes(part) => self.targets(state, self.pointers.get(part.pointer), found),
            Value::Int(_) | Value::Undefined => {}
        }
    }

    /// What a write of this kind may have changed in an object is unknown from here on; a pointer is lost.
    pub(crate) fn make_unknown(
        &mut self,
        state: &mut State,
        id: ObjectId,
        written: Written,
        doubt: Doubt,
        span: Span,
    ) -> Result<(), Stop> {
        let object = state.memory.get(id);
        // What nobody has looked at yet can't be told from what was there before.
        if object.size > LARGEST_OBJECT || matches!(object.open, Open::Variant { .. }) {
            return Err(self.doubtful(doubt, span));
        }
        let data = object.data;
        let is_bytes = data.is_some_and(|data| self.is_of_bytes(data));
        let pieces = layout(self, state, id);
        let (changes_all, changes_pointers) = match written {
            Written::Bytes => (true, true),
            Written::Scalar(Ty::Int(8)) if self.module.memory.byte_writes == ByteWrites::Anything => (true, true),
            Written::Scalar(Ty::Ptr) => (is_bytes, true),
            Written::Scalar(Ty::Int(_)) => (is_bytes, is_bytes),
        };
        let width = match written {
            Written::Scalar(ty) => ty.bytes(),
            Written::Bytes => 0,
        };
        let contents = match state.memory.get(id).contents.clone() {
            Contents::Cells(mut cells) => {
                self.other_unions(state, &mut cells);
                for (at, bytes) in pieces {
                    let piece = &mut cells[at as usize..at as usize + usize::from(bytes)];
                    if piece.iter().any(|cell| matches!(cell, Cell::Undefined) || cell.is_unmade()) {
                        continue;
                    }
                    let declared = data.and_then(|data| self.type_at(data, at));
                    let is_several = matches!(declared, Some(DataType::Union { .. } | DataType::OneOf { .. }));
                    // Null is a pointer that looks like a number.
                    let is_pointer = piece.iter().any(|cell| cell.is_pointer())
                        || (written == Written::Scalar(Ty::Ptr) && matches!(declared, Some(DataType::Pointer { .. })));
                    let same_width = bytes == width && written != Written::Scalar(Ty::Ptr);
                    if is_pointer {
                        if changes_pointers || is_several {
                            piece.fill(Cell::Lost);
                        }
                    } else if changes_all || is_several || same_width {
                        let any = self.terms.var(8 * bytes, "overwritten");
                        let any = Value::term(&self.terms, any);
                        let fresh = disassemble(&any, bytes, &mut self.pointers);
                        piece.iter_mut().zip(fresh).for_each(|(cell, new)| *cell = new);
                    }
                }
                Contents::Cells(cells)
            }
            Contents::Delayed { defined, mut pointers, .. } => {
                let fresh = pieces.into_iter().map(|(offset, bytes)| {
                    let term = self.terms.var(8 * bytes, "overwritten");
                    Element { offset, bytes, term }
                });
                let fresh = fresh.collect();
                if changes_pointers {
                    pointers.iter_mut().for_each(|(_, cell)| *cell = Cell::Lost);
                }
                let size = state.memory.get(id).size;
                Contents::Delayed { array: self.terms.base_array(size, fresh), defined, pointers }
            }
        };
        state.memory.get_mut(id).contents = contents;
        Ok(())
    }

    /// Whether anything may be accessed as an object of this type.
    fn is_of_bytes(&self, data: DataTypeId) -> bool {
        match self.module.types[data] {
            _ if self.module.pointee(data).shares == Shares::Everything => true,
            DataType::Array { element, .. } => self.is_of_bytes(element),
            _ => false,
        }
    }
}
