//! Programs that are not known as a whole before they run: functions and globals come when a run first meets them.
//!
//! A front end whose library is far larger than what any run needs gives a module without them, and answers here. A later
//! answer does what an earlier one does, and may know more cases.

use crate::{FuncId, Function, Global, GlobalId};

/// A supplier of functions and globals that are not in the module yet. Their ids continue those of the module.
pub trait LazyModule {
    /// A function; the first question makes its body.
    fn function(&self, id: FuncId) -> Option<&Function>;
    /// A global.
    fn global(&self, id: GlobalId) -> Option<&Global>;
    /// The one object of a constant text (UTF-16), for languages that have one.
    fn constant(&self, _text: &[u16]) -> Option<GlobalId> {
        None
    }
    /// Returns the object with a name (UTF-16), for languages with lookup by name.
    fn named(&self, _name: &[u16]) -> Option<GlobalId> {
        None
    }
    /// Returns true if a function initialises a part of the language's library on first use.
    fn is_library_initialiser(&self, _id: FuncId) -> bool {
        false
    }
}
