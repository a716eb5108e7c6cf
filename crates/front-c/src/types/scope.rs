//! Which type a name means at a place of the source.
//!
//! clang's JSON spells types as text. C declares before use, and the stream is read in document order, so a stack of
//! scopes finds what the text means.

use crate::types::ctype::Type;
use rustc_hash::FxHashMap;

/// A structure, union or enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    Record(usize),
    Enum(usize),
}

#[derive(Default)]
struct Level {
    typedefs: FxHashMap<String, Type>,
    tags: FxHashMap<String, Tag>,
    /// Variables of a function, by name: clang's id and type.
    variables: FxHashMap<String, (u64, Type)>,
}

/// The scopes of a translation unit.
pub(crate) struct Scopes {
    levels: Vec<Level>,
    /// Unnamed ones by `file:line:column`, as clang's type texts name them.
    pub unnamed: FxHashMap<String, Tag>,
    /// By clang's id.
    pub by_id: FxHashMap<u64, Tag>,
    /// Values of enumeration constants by name, for constant expressions that are only there as text.
    pub constants: FxHashMap<String, i64>,
    /// Types of globals and functions, also those that a block declares.
    globals: FxHashMap<String, Type>,
}

impl Scopes {
    /// The file scope.
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
    /// Leaves a block; says whether it declared types.
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
    /// The variable of a function that a name means.
    pub fn variable(&self, name: &str) -> Option<&(u64, Type)> {
        self.levels.iter().rev().find_map(|level| level.variables.get(name))
    }
    /// Declares a global or a function.
    pub fn add_global(&mut self, name: &str, ty: Type) {
        self.globals.insert(name.to_string(), ty);
    }
    /// The type of what a name stands for as a value; `None` also where it may be one of several.
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
    pub fn add_tag(&mut self, name: &str, tag: Tag) {
        self.top().tags.insert(name.to_string(), tag);
    }
    /// What a typedef name means.
    pub fn typedef(&self, name: &str) -> Option<&Type> {
        self.levels.iter().rev().find_map(|level| level.typedefs.get(name))
    }
    /// What a tag means.
    pub fn tag(&self, name: &str) -> Option<Tag> {
        self.levels.iter().rev().find_map(|level| level.tags.get(name)).copied()
    }
    /// What a tag means in the innermost scope only.
    pub fn own_tag(&self, name: &str) -> Option<Tag> {
        self.levels.last().and_then(|level| level.tags.get(name)).copied()
    }
}
