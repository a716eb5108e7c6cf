//! What probes are to say besides which way jumps go: it follows from what is measured, for whoever puts them in and for whoever reads
//! what they left.

/// What is asked for besides jumps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Statements: where code was.
    pub statements: bool,
    /// Exceptions that the language throws.
    pub errors: bool,
    /// Labels that hold.
    pub labels: bool,
    /// Parts of the domains of parameters.
    pub inputs: bool,
    /// What a plan asks for: predicates of the source.
    pub plans: bool,
}

impl Wanted {
    /// For criteria, by their names.
    pub fn by<'c>(criteria: impl IntoIterator<Item = &'c str>) -> Wanted {
        let mut wanted = Wanted::default();
        for criterion in criteria {
            match criterion {
                "stmt" => wanted.statements = true,
                "rte" => wanted.errors = true,
                "labels" => wanted.labels = true,
                "idc" => wanted.inputs = true,
                "wm" => wanted.plans = true,
                _ => {}
            }
        }
        wanted
    }

    /// Whether code asks for values: then the class is needed that has the answers.
    pub fn asks(self) -> bool {
        self.errors || self.labels || self.inputs
    }

    /// The same as a number.
    pub(crate) fn bits(self) -> u8 {
        let all = [self.statements, self.errors, self.labels, self.inputs, self.plans];
        all.iter().rev().fold(0, |bits, one| bits << 1 | u8::from(*one))
    }
}
