//! Scopes: the types that names refer to.
//!
//! clang's JSON spells types as text. C declares before use, and the stream is read in document order, so a stack of
//! scopes resolves the names.

use crate::types::ctype::Type;
use rustc_hash::FxHashMap;

/// A structure, union or enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TagType {
    Record(usize),
    Enum(usize),
}

#[derive(Default)]
struct Level {
    typedefs: FxHashMap<String, Type>,
    tags: FxHashMap<String, TagType>,
    /// The local variables by name: clang's id and the type.
    variables: FxHashMap<String, (u64, Type)>,
}

/// The scopes of a translation unit.
pub(crate) struct Scopes {
    levels: Vec<Level>,
    /// Unnamed tags by `file:line:column`, as clang's spelling refers to them.
    pub unnamed: FxHashMap<String, TagType>,
    /// Tags by clang's id.
    pub by_id: FxHashMap<u64, TagType>,
    /// Values of enumeration constants by name, for constant expressions that are available only as text.
    pub constants: FxHashMap<String, i64>,
    /// Types of globals and functions, including those declared in a block.
    globals: FxHashMap<String, Type>,
}

impl Scopes {
    /// Creates the file scope.
    pub fn new() -> Scopes {
        Scopes {
            levels: vec![Level::default()],
            unnamed: FxHashMap::default(),
            by_id: FxHashMap::default(),
            constants: FxHashMap::default(),
            globals: FxHashMap::default(),
        }
    }
    /// Enters a block.
    pub fn push(&mut self) {
        self.levels.push(Level::default());
    }
    /// Leaves a block; returns true if it declared types.
    pub fn pop(&mut self) -> bool {
        match self.levels.pop() {
            Some(level) => !level.typedefs.is_empty() || !level.tags.is_empty(),
            None => false,
        }
    }
    fn top(&mut self) -> &mut Level {
        self.levels.last_mut().expect("invariant: the file scope is never popped")
    }
    /// Declares a variable of a function.
    pub fn add_variable(&mut self, name: &str, id: u64, ty: Type) {
        self.top().variables.insert(name.to_string(), (id, ty));
    }
    /// Returns the local variable that a name refers to.
    pub fn variable(&self, name: &str) -> Option<&(u64, Type)> {
        self.levels.iter().rev().find_map(|level| level.variables.get(name))
    }
    /// Declares a global or a function.
    pub fn add_global(&mut self, name: &str, ty: Type) {
        self.globals.insert(name.to_string(), ty);
    }
    /// Returns the type of a name used as a value; `None` if it is unknown or ambiguous.
    pub fn value_type(&self, name: &str) -> Option<Type> {
        let locals = self.levels.iter().rev().filter_map(|level| level.variables.get(name).map(|(_, ty)| ty));
        let mut visible = locals.chain(self.globals.get(name));
        match visible.next() {
            Some(ty) => visible.all(|other| other == ty).then(|| ty.clone()),
            None => self.constants.contains_key(name).then(Type::int),
        }
    }
    /// Declares a typedef.
    pub fn add_typedef(&mut self, name: &str, ty: Type) {
        self.top().typedefs.insert(name.to_string(), ty);
    }
    /// Declares a tag.
    pub fn add_tag(&mut self, name: &str, tag: TagType) {
        self.top().tags.insert(name.to_string(), tag);
    }
    /// Returns the type of a typedef name.
    pub fn typedef(&self, name: &str) -> Option<&Type> {
        self.levels.iter().rev().find_map(|level| level.typedefs.get(name))
    }
    /// Returns the type that a tag refers to.
    pub fn tag(&self, name: &str) -> Option<TagType> {
        self.levels.iter().rev().find_map(|level| level.tags.get(name)).copied()
    }
    /// Returns the type that a tag refers to in the innermost scope only.
    pub fn own_tag(&self, name: &str) -> Option<TagType> {
        self.levels.last().and_then(|level| level.tags.get(name)).copied()
    }
}
