//! Template machines for many runs of one program: its globals are initialised once, and every run starts with a
//! copy-on-write copy.

use std::cell::OnceCell;
use touchstone_interp::{AddressLayout, Limits, Machine};
use touchstone_ir::{Global, GlobalId, Linkage, Module};

/// The template machines of one program, created on demand.
pub struct MachineTemplates<'m> {
    module: &'m Module,
    close: OnceCell<Option<Machine<'m>>>,
    apart: OnceCell<Option<Machine<'m>>>,
    shown: OnceCell<Vec<GlobalId>>,
}

impl<'m> MachineTemplates<'m> {
    /// Creates an empty set of templates for a program.
    pub fn of(module: &'m Module) -> MachineTemplates<'m> {
        MachineTemplates { module, close: OnceCell::new(), apart: OnceCell::new(), shown: OnceCell::new() }
    }

    /// Returns the program.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Returns a machine with all globals as at program start.
    pub(crate) fn machine(&self, limits: Limits, layout: AddressLayout) -> Machine<'m> {
        let known = match layout {
            AddressLayout::Compact => &self.close,
            AddressLayout::Spread => &self.apart,
        };
        match known.get_or_init(|| Machine::template(self.module, layout)) {
            Some(machine) => machine.copy(limits),
            None => Machine::with_layout(self.module, limits, layout),
        }
    }

    /// Returns the globals that a test can read.
    pub(crate) fn shown(&self) -> &[GlobalId] {
        // A test that compares more than this would not be readable.
        const MAX_SHOWN_BYTES: u64 = 1 << 16;
        let visible = |linkage: Linkage| matches!(linkage, Linkage::External | Linkage::Internal);
        let shown = |global: &Global| !global.constant && visible(global.linkage) && global.size <= MAX_SHOWN_BYTES;
        let all = || self.module.globals.iter().filter(|(_, global)| shown(global)).map(|(id, _)| id).collect();
        self.shown.get_or_init(all)
    }
}
