//! The kinds of probes that are requested besides those of jumps. They follow from the measured criteria, for the agent as for the reader of
//! the hits.

/// The kinds of probes that a class gets besides those of jumps and switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProbeRequest {
    /// Probes of statements.
    pub statements: bool,
    /// Probes of exceptions that instructions throw.
    pub errors: bool,
    /// Probes of labels that hold.
    pub labels: bool,
    /// Probes of the parts of the domains of parameters.
    pub inputs: bool,
    /// Probes of the predicates of a plan.
    pub plans: bool,
    /// Domain parts of results.
    pub results: bool,
}

impl ProbeRequest {
    /// Parses the words for the kinds of events; other words are ignored.
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w str>) -> ProbeRequest {
        let mut request = ProbeRequest::default();
        for word in words {
            match word {
                "statements" => request.statements = true,
                "errors" => request.errors = true,
                "labels" => request.labels = true,
                "inputs" => request.inputs = true,
                "predicates" => request.plans = true,
                "results" => request.results = true,
                _ => {}
            }
        }
        request
    }

    /// Returns true if woven code calls the class that evaluates checks ([`crate::check_class`]).
    pub fn checks_values(self) -> bool {
        self.errors || self.labels || self.inputs || self.results
    }

    /// Encodes the request as a part of the identity of a class.
    pub(crate) fn bits(self) -> u8 {
        let all = [self.statements, self.errors, self.labels, self.inputs, self.plans, self.results];
        all.iter().rev().fold(0, |bits, one| bits << 1 | u8::from(*one))
    }
}
