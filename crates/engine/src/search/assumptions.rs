//! The assumptions of an exploration: statements of the user, declarations, decisions of the compiler, and exclusions
//! of the testable environment.

use crate::config::{Config, Entry};
use crate::exec::executor::Executor;
use std::collections::BTreeSet;
use touchstone_criteria::{Assumption, Authority};
use touchstone_ir::{DataType, FuncId, reachable_functions};

impl Executor<'_> {
    /// Returns everything that the exploration of a function rests on.
    pub(crate) fn assumptions(&self, func: FuncId) -> Vec<Assumption> {
        let mut all = option_assumptions(self.config);
        all.extend(self.implementation_defined(func));
        all.extend(self.described(func));
        if self.config.entry == Entry::Function {
            all.extend(self.declared(func));
        }
        let left_out = self
            .ledger
            .caveats
            .iter()
            .map(|caveat| Assumption { text: format!("excluded: {}", caveat.text()), by: Authority::Tests });
        all.extend(left_out);
        all
    }

    /// Returns the implementation-defined behaviour that the code of a function and its callees relies on.
    fn implementation_defined(&self, func: FuncId) -> Vec<Assumption> {
        let functions = &self.module.functions;
        if functions.values().all(|function| function.left_open.is_empty()) {
            return Vec::new();
        }
        let reachable = reachable_functions(self.module, [func]);
        // Code that runs before the function initialises what it reads.
        let before = self.module.startup.iter().copied();
        let all: BTreeSet<&String> =
            reachable.into_iter().chain(before).flat_map(|func| &functions[func].left_open).collect();
        all.into_iter().map(|text| Assumption { text: text.clone(), by: Authority::Compiler }).collect()
    }

    /// Returns the descriptions of external functions that the result relies on.
    fn described(&self, func: FuncId) -> Vec<Assumption> {
        let functions = &self.module.functions;
        if !functions.values().any(|function| function.is_described()) {
            return Vec::new();
        }
        let reachable = reachable_functions(self.module, [func]);
        let names = reachable.into_iter().map(|id| &functions[id]).filter(|function| function.is_described());
        let names: BTreeSet<&str> = names.map(|function| function.name.as_str()).collect();
        let text = |name: &str| format!("`{name}` behaves as described, without other side effects");
        names
            .into_iter()
            .map(|name| Assumption { text: text(name), by: Authority::Option("--world".to_string()) })
            .collect()
    }

    /// Returns the declared lengths of array parameters, to which the language does not hold callers.
    fn declared(&self, func: FuncId) -> Vec<Assumption> {
        let params = self.module.functions[func].own_params().iter();
        let lengths = params.filter_map(|param| match self.module.types[param.data] {
            DataType::Array { length, .. } if !param.aggregate && !self.config.lengths.contains_key(&param.name) => {
                let text = format!("`{}` points to {length} elements where it is used", param.name);
                Some(Assumption { text, by: Authority::Declaration })
            }
            _ => None,
        });
        lengths.collect()
    }
}

/// Returns the assumptions that the user made by options.
fn option_assumptions(config: &Config) -> Vec<Assumption> {
    let option = |option: String, text: String| Assumption { text, by: Authority::Option(option) };
    let mut all = Vec::new();
    for assume in &config.assume {
        all.push(option(format!("--assume {}", assume.word()), assume.to_string()));
    }
    for (name, length) in &config.lengths {
        all.push(option(
            format!("--len {name}={length}"),
            format!("`{name}` points to an object of exactly {length} elements"),
        ));
    }
    for (name, (low, high)) in &config.ranges {
        let text = format!("`{name}` is from {low} to {high}");
        all.push(option(format!("--range {name}={low}..{high}"), text));
    }
    if config.precondition.is_some() {
        all.push(option("precondition".to_string(), "callers pass only allowed inputs".to_string()));
    }
    all
}
