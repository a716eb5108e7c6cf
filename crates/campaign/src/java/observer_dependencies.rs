//! What tests of a method meet beside the call itself, for whoever keeps them: the functions and globals that prepare it and that
//! are looked at, and what is known of them.

use super::java_program::JavaProgram;
use touchstone_front_java::{ObjectObservers, ObservableType, ObserverAccess, PreparedCall, StateObserver};
use touchstone_ir::{FuncId, ModuleItem};

/// What tests of a method meet.
#[derive(Default)]
pub(crate) struct LookedAt {
    /// Parts of the module, in order.
    pub parts: Vec<ModuleItem>,
    /// All else, in words.
    pub told: String,
}

impl JavaProgram {
    /// What tests meet that call a function.
    pub(crate) fn looked_at(&self, entry: FuncId) -> LookedAt {
        self.prepared.get(&entry).map(looked_at).unwrap_or_default()
    }
}

fn looked_at(prepared: &PreparedCall) -> LookedAt {
    let mut all = LookedAt::default();
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
    all.told += &format!("{selector:?}{receiver:?}{constructs:?}{passed:?}");
    for (func, gives) in tested {
        all.parts.push(ModuleItem::Function(*func));
        all.gives(gives);
    }
    for call in calls {
        all.parts.push(ModuleItem::Global(call.result));
        all.told += &format!("{:?}", call.selector);
        call.gives.iter().for_each(|gives| all.gives(gives));
    }
    for ObjectObservers { object, observers } in observers {
        all.told += &format!("{object:?}");
        for StateObserver { name, reads, takes, gives, effect } in observers {
            match reads {
                ObserverAccess::Method(func) => all.parts.push(ModuleItem::Function(*func)),
                ObserverAccess::Field(offset) => all.told += &format!("at {offset}"),
            }
            all.told += &format!("{name} {takes:?} {effect:?}");
            all.gives(gives);
        }
    }
    for class in boxes {
        all.parts.push(ModuleItem::Type(class.data));
        all.told += &format!("{:?}{}{:?}", class.word, class.name, class.offset);
    }
    if let Some((word, data)) = text {
        all.parts.push(ModuleItem::Type(*data));
        all.told += &format!("{word:?}");
    }
    all
}

impl LookedAt {
    fn gives(&mut self, gives: &ObservableType) {
        match gives {
            ObservableType::Value(data) | ObservableType::Aggregate(data) => {
                self.parts.push(ModuleItem::Type(*data));
                self.told += "data;";
            }
            ObservableType::Nothing | ObservableType::Reference | ObservableType::EnumConstant(..) => {
                self.told += &format!("{gives:?};")
            }
        }
    }
}
