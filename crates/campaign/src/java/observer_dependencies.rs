//! Dependencies of a method's tests besides the call itself, for cache keys: the functions and globals of set-up and
//! observers, and facts about them.

use super::java_program::JavaProgram;
use touchstone_front_java::{ObjectObservers, ObservableType, ObserverAccess, PreparedCall, StateObserver};
use touchstone_ir::{FuncId, ModuleItem};

/// The dependencies of a method's set-up and observers.
#[derive(Default)]
pub(crate) struct ObserverDependencies {
    /// Parts of the module, in order.
    pub parts: Vec<ModuleItem>,
    /// Everything else, as text.
    pub description: String,
}

impl JavaProgram {
    /// Returns the dependencies of the tests of an entry point.
    pub(crate) fn observer_dependencies(&self, entry: FuncId) -> ObserverDependencies {
        self.prepared.get(&entry).map(observer_dependencies).unwrap_or_default()
    }
}

fn observer_dependencies(prepared: &PreparedCall) -> ObserverDependencies {
    let mut all = ObserverDependencies::default();
    let PreparedCall {
        func,
        objects,
        arguments,
        tested,
        selector,
        receiver,
        constructs,
        calls,
        passed,
        observers,
        boxes,
        text,
    } = prepared;
    all.parts.push(ModuleItem::Function(*func));
    all.parts.extend(objects.iter().chain(arguments).copied().map(ModuleItem::Global));
    all.description += &format!("{selector:?}{receiver:?}{constructs:?}{passed:?}");
    for (func, gives) in tested {
        all.parts.push(ModuleItem::Function(*func));
        all.gives(gives);
    }
    for call in calls {
        all.parts.push(ModuleItem::Global(call.result));
        all.description += &format!("{:?}", call.selector);
        call.gives.iter().for_each(|gives| all.gives(gives));
    }
    for ObjectObservers { object, observers } in observers {
        all.description += &format!("{object:?}");
        for StateObserver { name, reads, takes, gives, effect } in observers {
            match reads {
                ObserverAccess::Method(func) => all.parts.push(ModuleItem::Function(*func)),
                ObserverAccess::Field(offset) => all.description += &format!("at {offset}"),
            }
            all.description += &format!("{name} {takes:?} {effect:?}");
            all.gives(gives);
        }
    }
    for class in boxes {
        all.parts.push(ModuleItem::Type(class.data));
        all.description += &format!("{:?}{}{:?}", class.word, class.name, class.offset);
    }
    if let Some((word, data)) = text {
        all.parts.push(ModuleItem::Type(*data));
        all.description += &format!("{word:?}");
    }
    all
}

impl ObserverDependencies {
    fn gives(&mut self, gives: &ObservableType) {
        match gives {
            ObservableType::Value(data) | ObservableType::Aggregate(data) => {
                self.parts.push(ModuleItem::Type(*data));
                self.description += "data;";
            }
            ObservableType::Nothing | ObservableType::Reference | ObservableType::EnumConstant(..) => {
                self.description += &format!("{gives:?};")
            }
        }
    }
}
