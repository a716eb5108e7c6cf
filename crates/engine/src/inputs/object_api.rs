//! The functions that a caller uses to construct objects of a type: creators, initialisers, modifiers and release
//! functions. They are found by their types and by the words of their names.
//!
//! A wrong guess is harmless: what is found here only adds tests, every one of them is confirmed by a run, and no
//! verdict rests on it.

use crate::inputs::persistent_state::is_callable;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{DataType, DataTypeId, FuncId, Function, Module, Param};

/// The maximum number of creators of a type that are tried.
const MAX_CREATORS: usize = 3;
/// The maximum number of modifiers of a type: each multiplies the sequences.
const MAX_MODIFIERS: usize = 5;

/// Words of functions that create or initialise an object, the most specific ones first.
const CREATING: &[&str] = &["init", "initialize", "initialise", "create", "new", "construct", "ctor", "alloc", "make"];
/// Words of functions that may also change an object that exists: they initialise it only if no other function does.
const RESETTING: &[&str] = &["setup", "open", "begin", "start", "reset", "clear", "default", "defaults"];
/// Words of functions that end the life of an object.
const RELEASING: &[&str] = &[
    "free",
    "destroy",
    "delete",
    "release",
    "close",
    "deinit",
    "uninit",
    "fini",
    "cleanup",
    "dispose",
    "drop",
    "term",
    "terminate",
    "dtor",
];
/// Words of functions that fill an object.
const FILLING: &[&str] =
    &["add", "insert", "push", "put", "set", "append", "enqueue", "write", "register", "store", "feed", "update"];

/// The functions that construct objects of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectApi {
    /// The type of the object.
    pub element: DataTypeId,
    /// The functions that create it, the preferred one first.
    pub creators: Vec<Creator>,
    /// The functions that change it, with the index of the parameter that points to it.
    pub modifiers: Vec<(FuncId, usize)>,
    /// The functions that release it, the preferred one first.
    pub releases: Vec<FuncId>,
    /// True if the user names its creators.
    pub declared: bool,
}

/// A function that creates an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Creator {
    /// The function.
    pub func: FuncId,
    /// The way in which it creates the object.
    pub creation: Creation,
}

/// The way in which a function creates an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Creation {
    /// It returns the address of a new object.
    Returns,
    /// It initialises the pointee of its first parameter.
    Initialises,
    /// It stores the address of a new object where this parameter points to.
    Stores(usize),
}

impl Creation {
    /// Returns the parameter for the object, or for its address.
    pub(crate) fn param(self) -> Option<usize> {
        match self {
            Creation::Returns => None,
            Creation::Initialises => Some(0),
            Creation::Stores(param) => Some(param),
        }
    }
}

/// Returns the structure that a pointer points to.
pub(crate) fn pointed_structure(module: &Module, data: DataTypeId) -> Option<DataTypeId> {
    let DataType::Pointer { pointee, .. } = module.types[data] else { return None };
    matches!(module.types[pointee], DataType::Struct { size: 1.., .. }).then(|| module.pointee(pointee).same)
}

/// Returns the structure to which a variable points that a pointer points to: `T` of `T **`.
pub(crate) fn received_structure(module: &Module, data: DataTypeId) -> Option<DataTypeId> {
    match module.types[data] {
        DataType::Pointer { pointee, to_const: false } => pointed_structure(module, pointee),
        _ => None,
    }
}

/// The functions of a program that construct objects, by type.
#[derive(Clone, Debug, Default)]
pub struct ObjectApis(BTreeMap<DataTypeId, ObjectApi>);

impl ObjectApis {
    /// Finds the functions of a program.
    pub fn of(module: &Module) -> ObjectApis {
        let mut apis = ObjectApis::default();
        for (id, function) in module.functions.iter() {
            if function.is_defined() && !function.is_library() && !function.variadic && !function.aggregate_result {
                apis.add(module, id, function);
            }
        }
        apis
    }

    fn add(&mut self, module: &Module, id: FuncId, function: &Function) {
        let pointed = |param: &Param| pointed_structure(module, param.data);
        let params = function.own_params();
        if let Some(element) = pointed_structure(module, function.result_data)
            && !params.iter().any(|param| pointed(param) == Some(element))
        {
            self.api(element).creators.push(Creator { func: id, creation: Creation::Returns });
        }
        for (index, param) in params.iter().enumerate() {
            let receives = |param: &Param| received_structure(module, param.data);
            if let Some(element) = receives(param)
                && !params.iter().any(|param| pointed(param) == Some(element))
                && params.iter().filter(|param| receives(param) == Some(element)).count() == 1
                && !has_word(function, RELEASING)
            {
                self.api(element).creators.push(Creator { func: id, creation: Creation::Stores(index) });
            }
            let Some(element) = pointed(param) else { continue };
            let is_first = params.iter().position(|param| pointed(param) == Some(element)) == Some(index);
            if !is_first || !matches!(module.types[param.data], DataType::Pointer { to_const: false, .. }) {
                continue;
            }
            let releases = has_word(function, RELEASING);
            let alone = params.iter().filter(|param| pointed(param) == Some(element)).count() == 1;
            match () {
                () if !releases && alone && index == 0 && (has_word(function, CREATING) || resets(function)) => {
                    self.api(element).creators.push(Creator { func: id, creation: Creation::Initialises });
                }
                () if releases && params.len() == 1 => self.api(element).releases.push(id),
                () if releases => {}
                () => self.api(element).modifiers.push((id, index)),
            }
        }
    }

    /// Makes a function the creator of objects of a type, as the user says, instead of those that were found. `returned`
    /// says that it returns or stores the address of a new object; otherwise it initialises one. Returns false if its
    /// parameters and its result do not fit.
    pub fn declare(&mut self, module: &Module, type_name: &str, func: FuncId, returned: bool) -> bool {
        let function = &module.functions[func];
        let params = function.own_params();
        let plain = |name: &str| name.strip_prefix("struct ").unwrap_or(name).to_string();
        let is_named = |element: DataTypeId| {
            module.types.iter().any(|(id, data)| match data {
                DataType::Struct { name, .. } => plain(name) == plain(type_name) && module.pointee(id).same == element,
                _ => false,
            })
        };
        let by_result = || pointed_structure(module, function.result_data).map(|element| (element, Creation::Returns));
        let stored = |(index, param): (usize, &Param)| {
            received_structure(module, param.data).map(|element| (element, Creation::Stores(index)))
        };
        let initialised = || {
            let first = params.first().and_then(|param| pointed_structure(module, param.data));
            first.map(|element| (element, Creation::Initialises))
        };
        let shapes: Vec<(DataTypeId, Creation)> = match returned {
            true => by_result().into_iter().chain(params.iter().enumerate().filter_map(stored)).collect(),
            false => initialised().into_iter().collect(),
        };
        let Some((element, creation)) = shapes.into_iter().find(|(element, _)| is_named(*element)) else {
            return false;
        };
        let api = self.api(element);
        if !api.declared {
            api.declared = true;
            api.creators.clear();
        }
        api.modifiers.retain(|(id, _)| *id != func);
        api.creators.push(Creator { func, creation });
        true
    }

    fn api(&mut self, element: DataTypeId) -> &mut ObjectApi {
        let empty = || ObjectApi {
            element,
            creators: Vec::new(),
            modifiers: Vec::new(),
            releases: Vec::new(),
            declared: false,
        };
        self.0.entry(element).or_insert_with(empty)
    }

    /// Returns the functions that construct objects of the structure that a pointer points to, as the callers of `func`
    /// use them; `None` if no function creates one, or if `func` itself does.
    pub fn for_callers_of(&self, module: &Module, func: FuncId, pointer: DataTypeId) -> Option<ObjectApi> {
        self.of_type(module, func, pointed_structure(module, pointer)?)
    }

    /// Returns the types of objects that functions construct, for the callers of `func`.
    pub fn types(&self, module: &Module, func: FuncId) -> BTreeSet<DataTypeId> {
        self.0.keys().copied().filter(|element| self.of_type(module, func, *element).is_some()).collect()
    }

    fn of_type(&self, module: &Module, func: FuncId, element: DataTypeId) -> Option<ObjectApi> {
        let mut api = self.0.get(&element)?.clone();
        if !api.declared {
            api.prefer_creators(module);
        }
        if api.creators.iter().any(|creator| creator.func == func) {
            return None;
        }
        let callable = |id: FuncId| is_callable(module, func, id);
        api.creators.retain(|creator| callable(creator.func));
        api.modifiers.retain(|(id, _)| *id == func || callable(*id));
        api.releases.retain(|id| *id != func && callable(*id));
        // A caller uses public functions where there are any.
        let is_public = |id: FuncId| !module.functions[id].internal;
        if api.creators.iter().any(|creator| is_public(creator.func)) {
            api.creators.retain(|creator| is_public(creator.func));
        }
        if api.modifiers.iter().any(|(id, _)| is_public(*id)) {
            api.modifiers.retain(|(id, _)| *id == func || is_public(*id));
        }
        let order = |id: FuncId, list: &[&str]| {
            let function = &module.functions[id];
            (rank(&function.name, list).unwrap_or(list.len()), function.params.len(), id)
        };
        api.creators.sort_by_key(|creator| order(creator.func, CREATING));
        api.creators.truncate(MAX_CREATORS);
        api.modifiers.sort_by_key(|(id, _)| (rank(&module.functions[*id].name, FILLING).is_none(), *id));
        api.modifiers.truncate(MAX_MODIFIERS);
        api.releases.sort_by_key(|id| order(*id, RELEASING));
        (!api.creators.is_empty()).then_some(api)
    }
}

impl ObjectApi {
    /// Makes functions that may also reset an object modifiers, if others create it.
    fn prefer_creators(&mut self, module: &Module) {
        let is_weak = |creator: &Creator| {
            creator.creation == Creation::Initialises && !has_word(&module.functions[creator.func], CREATING)
        };
        if self.creators.iter().all(is_weak) {
            return;
        }
        let weak: Vec<Creator> = self.creators.iter().copied().filter(is_weak).collect();
        self.creators.retain(|creator| !is_weak(creator));
        self.modifiers.extend(weak.into_iter().map(|creator| (creator.func, 0)));
    }
}

fn resets(function: &Function) -> bool {
    has_word(function, RESETTING)
}

fn has_word(function: &Function, list: &[&str]) -> bool {
    rank(&function.name, list).is_some()
}

/// Returns the index of the first word of a list that a name contains.
fn rank(name: &str, list: &[&str]) -> Option<usize> {
    let words = words(name);
    list.iter().position(|word| words.iter().any(|own| own == word))
}

/// Splits `queue_create` and `queueCreate` into words.
fn words(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut continues = false;
    let mut was_lower = false;
    for letter in name.chars() {
        let starts = !letter.is_alphabetic() || (letter.is_uppercase() && was_lower);
        was_lower = letter.is_lowercase();
        if !letter.is_alphabetic() {
            continues = false;
            continue;
        }
        match all.last_mut().filter(|_| continues && !starts) {
            Some(last) => last.extend(letter.to_lowercase()),
            None => all.push(letter.to_lowercase().collect()),
        }
        continues = true;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{CREATING, rank, words};

    #[test]
    fn names_consist_of_words() {
        assert_eq!(words("queue_create"), ["queue", "create"]);
        assert_eq!(words("queueCreate2D"), ["queue", "create", "d"]);
        assert_eq!(words("XML_ParserCreate"), ["xml", "parser", "create"]);
        assert!(rank("newline_count", CREATING).is_none());
    }
}
