//! The probes of state coverage in the preprocessed text of a unit.
//!
//! If an expression can be evaluated twice, a comma expression before it records its address; otherwise a variable of a
//! statement expression holds it. If that would end the lifetime of a compound literal too early, the final event is
//! omitted, and the next event of an enclosing construct ends it (`dependence/`).

use super::event_trace::EventKind;
use super::state_targets::state_targets;
use super::uninstrumented_copy::{CopyBuilder, UninstrumentedCopies, UninstrumentedCopy};
use crate::c::text::{Insertions, TokenisedSource};
use crate::state::{SiteArgument, SiteKind, StateEnd, StateRecord, StateRules, StateSite};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use touchstone_front_c::{
    Action, CallArgument, Escape, FunctionDataFlow, Lvalue, Observable, PointeeSize, ResultForm, SourceOrigin,
    UnitDataFlow, ValueForm, WrittenObject,
};

/// The maximum number of sites of a unit: the rest of a 32-bit number identifies the unit.
const MAX_SITES_PER_UNIT: usize = 1 << 20;
/// The maximum number of expressions that are observed at the end of a test.
const MAX_OBSERVED_EXPRESSIONS: usize = 150;
/// Ranks of insertions around one expression; the lower is the outer. All are inside of the probes of other criteria.
const ASSERT_RANK: usize = usize::MAX - 21;
const CONDITION_RANK: usize = usize::MAX - 20;
const RETURN_RANK: usize = usize::MAX - 19;
const ARGUMENT_RANK: usize = usize::MAX - 18;
const HEAD_RANK: usize = usize::MAX - 17;
const CHOICE_RANK: usize = usize::MAX - 16;
const WHOLE_RANK: usize = usize::MAX - 15;
const READ_RANK: usize = usize::MAX - 14;
const LEFT_RANK: usize = usize::MAX - 13;

/// A unit to instrument for state coverage.
pub(crate) struct StateProbeRequest<'a> {
    /// The preprocessed text.
    pub text: &'a str,
    /// The data flow of the unit.
    pub followed: &'a UnitDataFlow,
    /// The identity of the unit.
    pub unit: u64,
    /// The uninstrumented copies of functions.
    pub copies: UninstrumentedCopies,
    /// True if the expressions at the end of tests are observed.
    pub ends: bool,
}

/// Inserts the probes. Returns the record of their sites and the code to append to the text, or `None` if there are too
/// many sites.
pub(crate) fn insert_state_probes(
    following: &StateProbeRequest<'_>,
    insertions: &mut Insertions,
) -> Option<(StateRecord, String)> {
    let mut unit = StateProbes {
        text: following.text,
        markers: markers(following.text),
        insertions,
        record: StateRecord::default(),
        files: BTreeMap::new(),
        targets: BTreeMap::new(),
        function: 0,
        followed: following.followed,
        ends: following.ends,
    };
    let plain = match following.copies {
        UninstrumentedCopies::Plain => Some(CopyBuilder::new(following.text, unit.insertions)),
        UninstrumentedCopies::None => None,
    };
    let copies: Vec<Option<UninstrumentedCopy>> =
        following.followed.functions.iter().map(|function| plain.as_ref()?.of(function)).collect();
    for (function, copy) in following.followed.functions.iter().zip(copies) {
        unit.function(function, copy);
    }
    let mut begin = String::new();
    unit.record.functions.push(String::new());
    unit.function = unit.record.functions.len() as u32 - 1;
    for name in &following.followed.globals {
        let kind = SiteKind::Variable { name: name.clone(), copies: false };
        let site = unit.site(&SourceOrigin::default(), 0, kind);
        begin += &event(EventKind::Global, &site, &format!("&{name}"), &format!("sizeof {name}"));
        begin += "; ";
    }
    if unit.record.sites.len() >= MAX_SITES_PER_UNIT {
        return None;
    }
    let behind = format!(
        "__attribute__((__constructor__(102), __no_instrument_function__)) static void __touchstone_state_begin(void) \
         {{ __touchstone_si = __touchstone_state_unit(0x{:016x}ull); {begin} }}\n",
        following.unit
    );
    Some((unit.record, behind))
}

/// Declarations before the text.
pub(crate) const DECLARATIONS: &str = "\
typedef __typeof__(sizeof 0) __touchstone_word;
void __touchstone_ev(unsigned, unsigned, const volatile void *, unsigned long long);
void __touchstone_at(unsigned, unsigned, const volatile void *, unsigned long long);
void __touchstone_get(const volatile void *, unsigned long long);
void __touchstone_mark(unsigned, unsigned);
void __touchstone_leave(unsigned *);
void __touchstone_see(unsigned, const volatile void *, unsigned long long, unsigned);
void *__touchstone_pointer(unsigned, const volatile void *);
unsigned long long __touchstone_integer(unsigned, unsigned long long);
double __touchstone_double(unsigned, double);
extern __attribute__((__visibility__(\"default\"))) unsigned char __touchstone_told;
static unsigned __touchstone_si;
";

/// Renders the address of an expression with at most one pointer dereference, without accessing the pointee: the
/// pointer may be invalid, which sanitizers would report.
fn address_without_access(expression: &str) -> String {
    match (expression.split_once("->"), expression.strip_prefix('*')) {
        (Some((base, member)), _) => format!(
            "(const volatile void *)((__touchstone_word)({base}) + __builtin_offsetof(__typeof__(*({base})), {member}))"
        ),
        (None, Some(pointer)) => format!("({pointer})"),
        (None, None) => format!("&({expression})"),
    }
}

/// Returns true if a function is a test or runs tests: it asserts, or its name says so.
fn is_test(function: &FunctionDataFlow) -> bool {
    let rules = StateRules::default();
    let asserts = |action: &Action| match action {
        Action::Call { callee, origin, .. } => callee.iter().chain(&origin.in_macro).any(|name| rules.asserts(name)),
        Action::Branch { origin, .. } => origin.in_macro.as_ref().is_some_and(|name| rules.asserts(name)),
        Action::Assert { .. } => true,
        _ => false,
    };
    let name = function.name.to_ascii_lowercase();
    let is_called_so = name == "main" || name.split('_').any(|word| word.starts_with("test"));
    is_called_so || function.actions.iter().any(asserts)
}

/// Renders an event as an expression. Once the trace is full, it only costs a comparison.
fn event(kind: EventKind, site: &str, address: &str, size: &str) -> String {
    let number = kind as u8;
    let call = match (kind, address, size) {
        (EventKind::Read, _, _) => format!("__touchstone_get({address}, {size})"),
        (_, "0", "0") => format!("__touchstone_mark({number}, {site})"),
        (_, "0", _) => format!("__touchstone_ev({number}, {site}, 0, {size})"),
        _ => format!("__touchstone_at({number}, {site}, {address}, {size})"),
    };
    format!("(__touchstone_told ? {call} : (void)0)")
}

/// Renders an event without an address as an expression.
fn mark(kind: EventKind, site: &str) -> String {
    event(kind, site, "0", "0")
}

struct StateProbes<'a> {
    text: &'a str,
    markers: Vec<(usize, &'a str, u32)>,
    insertions: &'a mut Insertions,
    record: StateRecord,
    files: BTreeMap<String, u32>,
    /// The state that the current function writes, by name.
    targets: BTreeMap<String, u32>,
    function: u32,
    followed: &'a UnitDataFlow,
    ends: bool,
}

/// Returns the offset after each line marker, with its file and line.
fn markers(text: &str) -> Vec<(usize, &str, u32)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if let Some(rest) = line.strip_prefix("# ") {
            let number = rest.split(' ').next().and_then(|number| number.parse().ok());
            if let (Some(number), Some(file)) = (number, rest.split('"').nth(1)) {
                found.push((at, file, number));
            }
        }
    }
    found
}

/// Removes the parentheses around a range.
fn bare(text: &str, at: Range<usize>) -> Range<usize> {
    let Some(inside) = text.get(at.clone()).and_then(|piece| piece.strip_prefix('(')?.strip_suffix(')')) else {
        return at;
    };
    let mut depth = 0i32;
    let closes_early = TokenisedSource::new(inside).tokens.iter().any(|token| {
        depth += match &inside[token.start..token.end] {
            "(" => 1,
            ")" => -1,
            _ => 0,
        };
        depth < 0
    });
    if closes_early {
        return at;
    }
    let start = at.start + 1 + inside.len() - inside.trim_start().len();
    bare(text, start..start + inside.trim().len())
}

impl StateProbes<'_> {
    fn file(&mut self, name: &str) -> u32 {
        if let Some(known) = self.files.get(name) {
            return *known;
        }
        let number = self.record.files.len() as u32;
        let full =
            std::path::absolute(name).map_or_else(|_| name.to_string(), |path| path.to_string_lossy().into_owned());
        self.record.files.push(full);
        self.files.insert(name.to_string(), number);
        number
    }

    /// Adds a site and renders its number.
    fn site(&mut self, origin: &SourceOrigin, at: usize, kind: SiteKind) -> String {
        let (file, line, column) = if origin.file.is_empty() {
            let index = self.markers.partition_point(|(start, _, _)| *start <= at);
            match index.checked_sub(1).map(|index| self.markers[index]) {
                Some((start, file, line)) => {
                    let lines = self.text[start.min(at)..at].matches('\n').count() as u32;
                    (self.file(file), line + lines, 0)
                }
                None => (self.file(""), 0, 0),
            }
        } else {
            (self.file(&origin.file), origin.line, origin.column)
        };
        let in_macro = origin.in_macro.clone();
        self.record.sites.push(StateSite { function: self.function, file, line, column, in_macro, kind });
        format!("__touchstone_si + {}", self.record.sites.len() - 1)
    }

    fn target(&self, target: &WrittenObject) -> Option<u32> {
        if !target.is_state || target.name.is_empty() {
            return None;
        }
        self.targets.get(&target.name).copied()
    }

    fn raw(&self, at: &Range<usize>) -> &str {
        self.text.get(at.clone()).unwrap_or_default()
    }

    fn function(&mut self, function: &FunctionDataFlow, copy: Option<UninstrumentedCopy>) {
        self.record.functions.push(function.name.clone());
        self.function = self.record.functions.len() as u32 - 1;
        self.targets.clear();
        for named in state_targets(function) {
            self.targets.insert(named.target.name.clone(), self.record.targets.len() as u32);
            self.record.targets.push(named.target);
        }
        let lost = function.lost.iter().map(|(line, what)| (function.name.clone(), *line, what.clone()));
        self.record.lost.extend(lost);
        let site = self.site(&SourceOrigin::default(), function.body, SiteKind::Function);
        let mut head = format!(
            " __attribute__((__cleanup__(__touchstone_leave))) unsigned __touchstone_f = {site}; {}; ",
            event(EventKind::Enter, "__touchstone_f", "__builtin_frame_address(0)", "0")
        );
        for (position, name) in &function.parameters {
            head += &event(EventKind::Parameter, &position.to_string(), &format!("&{name}"), &format!("sizeof {name}"));
            head += "; ";
        }
        if let Some(copy) = &copy {
            self.insertions.before(function.body, copy.text.clone());
        }
        self.insertions.before(function.body, head);
        if self.ends && is_test(function) {
            self.end(function);
        }
        function.actions.iter().for_each(|action| self.action(action));
        // The comments are inserted last so that they contain no other insertion. One keyword may declare several
        // variables.
        let keywords = function.registers.iter();
        let keywords = keywords.filter_map(|range| Some(range.start + self.raw(range).find("register")?));
        for start in keywords.collect::<BTreeSet<usize>>() {
            self.insertions.before(start, "/*".to_string());
            self.insertions.before(start + "register".len(), "*/".to_string());
        }
        if let Some(copy) = copy {
            self.insertions.before(copy.end, " }".to_string());
        }
    }

    /// Records the observable expressions at the end of a test.
    fn end(&mut self, function: &FunctionDataFlow) {
        let Some(last) = function.last else { return };
        let of_system = |at: usize| {
            let index = self.markers.partition_point(|(start, ..)| *start <= at);
            let file = index.checked_sub(1).map_or("", |index| self.markers[index].1);
            file.starts_with('<') || file.starts_with("/usr/")
        };
        let globals = self.followed.visible.iter();
        // A variable is declared only from its declaration on: tables of tests follow the tests.
        let is_declared = |at: usize| at < function.body;
        let globals =
            globals.filter(|(at, name, _)| !function.names.contains(name) && is_declared(*at) && !of_system(*at));
        let globals: Vec<Observable> = globals.flat_map(|(_, _, seen)| seen.clone()).collect();
        let mut named = BTreeSet::new();
        let all = function.visible.iter().cloned().chain(globals);
        let all: Vec<Observable> =
            all.filter(|seen| named.insert(seen.text.clone())).take(MAX_OBSERVED_EXPRESSIONS).collect();
        let mut text = String::new();
        for Observable { text: expression, form } in all {
            let kind = SiteKind::Seen { text: expression.clone(), form: form.clone() };
            let site = self.site(&SourceOrigin::default(), last, kind);
            let what = match form {
                ValueForm::Text => 1,
                ValueForm::PointedText => 2,
                _ => 0,
            };
            let address = address_without_access(&expression);
            text += &format!("__touchstone_see({site}, {address}, sizeof({expression}), {what}); ");
        }
        let place = |unit: &mut Self, at: usize| {
            let site = unit.site(&SourceOrigin::default(), at, SiteKind::Function);
            drop(site);
            unit.record.sites.pop().map_or((0, 0), |site| (site.file, site.line))
        };
        let ((file, line), (_, begin)) = (place(self, last), place(self, function.body));
        self.record.ends.push(StateEnd { function: self.function, begin, file, line });
        self.insertions.before(last, format!("if (__touchstone_told) {{ {text}}} "));
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Read(lvalue) => self.read(lvalue),
            Action::Write { .. } => self.write(action),
            Action::Step { at, left, used, target, origin } => {
                let kind = SiteKind::Write {
                    target: self.target(target),
                    updates: true,
                    copies: false,
                    used: *used,
                    guarded: false,
                };
                let site = self.site(origin, at.start, kind);
                let (address, size) = self.address(left);
                if !left.pure {
                    let open = format!("({{ {}; __auto_type __touchstone_v = ", mark(EventKind::Push, &site));
                    let close = format!("; {}; __touchstone_v; }})", mark(EventKind::Store, &site));
                    self.insertions.wrap(at.start, at.end, WHOLE_RANK, open, close);
                    let place = event(EventKind::Place, &site, "__touchstone_p", "sizeof *__touchstone_p");
                    let open = "(*({ __auto_type __touchstone_p = &(".to_string();
                    self.insertions.wrap(
                        left.at.start,
                        left.at.end,
                        LEFT_RANK,
                        open,
                        format!("); {place}; __touchstone_p; }}))"),
                    );
                } else if *used {
                    let open = format!("({}, ", event(EventKind::Step, &site, &address, &size));
                    self.insertions.wrap(at.start, at.end, WHOLE_RANK, open, ")".to_string());
                } else {
                    let open = format!("({}, ", event(EventKind::Write, &site, &address, &size));
                    self.insertions.wrap(
                        at.start,
                        at.end,
                        WHOLE_RANK,
                        open,
                        format!(", {})", mark(EventKind::Store, &site)),
                    );
                }
            }
            Action::Declare { at, variables, shared, origin } => {
                let mut behind = String::new();
                for (name, has_init, copies) in variables {
                    let kind = SiteKind::Variable { name: name.clone(), copies: *copies };
                    let site = self.site(origin, at.start, kind);
                    let kind = if *has_init { EventKind::Init } else { EventKind::Declare };
                    behind += &format!(" {};", event(kind, &site, &format!("&{name}"), &format!("sizeof {name}")));
                }
                if *shared {
                    behind += &format!(" {};", mark(EventKind::Statement, "0"));
                }
                if *shared || variables.iter().any(|(_, has_init, _)| *has_init) {
                    self.insertions.before(at.start, format!("{}; ", mark(EventKind::Statement, "0")));
                }
                self.insertions.before(at.end, behind);
            }
            Action::DeclareInHead { at, name, copies, origin } => {
                let kind = SiteKind::Variable { name: name.clone(), copies: *copies };
                let site = self.site(origin, at.start, kind);
                let open =
                    format!("({}, ", event(EventKind::Head, &site, &format!("&{name}"), &format!("sizeof {name}")));
                self.insertions.wrap(at.start, at.end, HEAD_RANK, open, ")".to_string());
            }
            Action::Call { .. } => self.call(action),
            Action::Assert { at, name, strings } => {
                let arguments = vec![SiteArgument { pointer: *strings, target: None, constant: None }];
                let kind = SiteKind::Call { callee: Some(name.clone()), used: true, guarded: false, arguments };
                let site = self.site(&SourceOrigin::default(), at.start, kind);
                let (begin, end) = (mark(EventKind::Call, &site), event(EventKind::Returned, &site, "0", "1"));
                let value = if *strings { "__touchstone_v" } else { "0" };
                let told = event(EventKind::Argument, "0", value, "0");
                let open =
                    format!("({{ {begin}; {}; __auto_type __touchstone_v = (", mark(EventKind::BeginArgument, "0"));
                self.insertions.wrap(
                    at.start,
                    at.end,
                    ASSERT_RANK,
                    open,
                    format!("); {told}; {end}; __touchstone_v; }})"),
                );
            }
            Action::Variadic(at) => {
                let open = format!("({}, ", mark(EventKind::Variadic, "0"));
                self.insertions.wrap(at.start, at.end, READ_RANK, open, ")".to_string());
            }
            Action::Return(at) => {
                let open = format!("({}, ", mark(EventKind::Return, "0"));
                self.insertions.wrap(at.start, at.end, RETURN_RANK, open, ")".to_string());
            }
            Action::ReturnConstant(at) => {
                let end = self.semicolon(at.end);
                let open = format!("{{ {}; ", mark(EventKind::Return, "0"));
                self.insertions.enclose(at.start, end, open, " }".to_string());
            }
            Action::Branch { .. } => self.branch(action),
            Action::Choice { at, guards, origin } => {
                let site = self.site(origin, at.start, SiteKind::Choice { guards: guards.clone() });
                let open = format!("(({}, (", mark(EventKind::Choice, &site));
                let end = mark(EventKind::Chosen, &site);
                self.insertions.wrap(at.start, at.end, CHOICE_RANK, open, format!(")) ? ({end}, 1) : ({end}, 0))"));
            }
            Action::Label { at, depth } => {
                self.insertions.before(*at, format!("{}; ", event(EventKind::Label, "0", "0", &depth.to_string())));
            }
        }
    }

    /// Returns the offset after the next semicolon.
    fn semicolon(&self, from: usize) -> usize {
        self.text[from..].find(';').map_or(from, |found| from + found + 1)
    }

    /// Renders the address and the size of an object.
    fn address(&self, lvalue: &Lvalue) -> (String, String) {
        match &lvalue.bits {
            Some((base, is_pointer, number)) => {
                // A bit-field has no address: a number above the address of the struct identifies it.
                let base = format!("{}({})", if *is_pointer { "" } else { "&" }, self.raw(base));
                let number = u64::from(number % 0xffff + 1);
                let address = format!("(const volatile void *)((__touchstone_word)({base}) + ({number}ull << 48))");
                (address, "1".to_string())
            }
            None => (format!("&({})", self.raw(&lvalue.at)), format!("sizeof({})", self.raw(&lvalue.at))),
        }
    }

    fn read(&mut self, lvalue: &Lvalue) {
        let Range { start, end } = lvalue.at;
        if lvalue.pure {
            let (address, size) = self.address(lvalue);
            let open = format!("({}, ", event(EventKind::Read, "0", &address, &size));
            self.insertions.wrap(start, end, READ_RANK, open, ")".to_string());
        } else {
            let read = event(EventKind::Read, "0", "__touchstone_p", "sizeof *__touchstone_p");
            let close = format!("); {read}; __touchstone_p; }}))");
            // Other probes are around the content of the parentheses, and their result has no address.
            let Range { start, end } = bare(self.text, lvalue.at.clone());
            self.insertions.wrap(start, end, READ_RANK, "(*({ __auto_type __touchstone_p = &(".to_string(), close);
        }
    }

    fn write(&mut self, action: &Action) {
        let Action::Write { at, left, updates, copies, used, disturbed, temporary, guarded, target, origin } = action
        else {
            return;
        };
        let kind = SiteKind::Write {
            target: self.target(target),
            updates: *updates,
            copies: *copies,
            used: *used,
            guarded: *guarded,
        };
        let site = self.site(origin, at.start, kind);
        let store = mark(EventKind::Store, &site);
        if !left.pure || (*used && *disturbed && !*temporary && left.bits.is_none()) {
            let open = format!("({{ {}; ", mark(EventKind::Push, &site));
            self.insertions.wrap(at.start, at.end, WHOLE_RANK, open, format!("; {store}; __touchstone_v; }})"));
            let place = event(EventKind::Place, &site, "__touchstone_p", "sizeof *__touchstone_p");
            let close = format!("); {place}; __auto_type __touchstone_v = *__touchstone_p");
            self.insertions.wrap(
                left.at.start,
                left.at.end,
                LEFT_RANK,
                "__auto_type __touchstone_p = &(".to_string(),
                close,
            );
            return;
        }
        let (address, size) = self.address(left);
        let open = format!("({}, ", event(EventKind::Write, &site, &address, &size));
        let close = match (*used, *disturbed) {
            (false, _) => format!(", {store})"),
            (true, false) => format!(", {store}, {})", self.raw(&left.at)),
            (true, true) => ")".to_string(),
        };
        self.insertions.wrap(at.start, at.end, WHOLE_RANK, open, close);
    }

    fn call(&mut self, action: &Action) {
        let Action::Call { at, callee, pointer, arguments, result, used, temporary, guarded, origin } = action else {
            return;
        };
        let described = arguments.iter().map(|argument| SiteArgument {
            pointer: argument.size.is_some(),
            target: self.target(&argument.target),
            constant: argument.constant,
        });
        let arguments_of_site = described.collect();
        let kind =
            SiteKind::Call { callee: callee.clone(), used: *used, guarded: *guarded, arguments: arguments_of_site };
        let site = self.site(origin, at.start, kind);
        let (begin, end) = (mark(EventKind::Call, &site), mark(EventKind::Returned, &site));
        let (open, close) = match (result, temporary) {
            // A function returns the value, so that temporaries in it live on. The initial event is in the argument,
            // because gcc moves left operands of commas out of sums and other operators.
            (ResultForm::Pointer | ResultForm::Integer | ResultForm::Float, true) => {
                let (through, of) = match result {
                    ResultForm::Pointer => ("pointer", ""),
                    ResultForm::Float => ("double", ""),
                    _ => ("integer", "(unsigned long long)"),
                };
                let raw = self.raw(at).to_string();
                (format!("((__typeof__({raw}))__touchstone_{through}({site}, {of}({begin}, "), ")))".to_string())
            }
            (ResultForm::Value, true) => (format!("({begin}, "), ")".to_string()),
            (ResultForm::Void, _) => (format!("({begin}, "), format!(", {end})")),
            (gives, _) => {
                let value = if *gives == ResultForm::Pointer { "__touchstone_v" } else { "0" };
                let end = event(EventKind::Returned, &site, value, "1");
                (format!("({{ {begin}; __auto_type __touchstone_v = "), format!("; {end}; __touchstone_v; }})"))
            }
        };
        self.insertions.wrap(at.start, at.end, WHOLE_RANK, open, close);
        if let Some(Range { start, end }) = pointer {
            let told = event(EventKind::Callee, &site, "(const volatile void *)__touchstone_c", "0");
            let open = "({ __auto_type __touchstone_c = (".to_string();
            self.insertions.wrap(*start, *end, ARGUMENT_RANK, open, format!("); {told}; __touchstone_c; }})"));
        }
        for (position, argument) in arguments.iter().enumerate() {
            self.argument(position, argument);
        }
    }

    fn argument(&mut self, position: usize, argument: &CallArgument) {
        let position = position.to_string();
        let begin = mark(EventKind::BeginArgument, &position);
        let Range { start, end } = argument.at;
        if !argument.kept && !argument.asks {
            return;
        }
        if !argument.kept {
            self.insertions.wrap(start, end, ARGUMENT_RANK, format!("({begin}, "), ")".to_string());
            return;
        }
        let size = match argument.size {
            Some(PointeeSize::Array) => format!("sizeof({})", self.raw(&argument.at)),
            Some(PointeeSize::Element) => "sizeof *__touchstone_a".to_string(),
            Some(PointeeSize::Unknown) | None => "0".to_string(),
        };
        let value = "(const volatile void *)(__touchstone_word)__touchstone_a";
        let told = event(EventKind::Argument, &position, value, &size);
        let open = format!("({{ {begin}; __auto_type __touchstone_a = (");
        self.insertions.wrap(start, end, ARGUMENT_RANK, open, format!("); {told}; __touchstone_a; }})"));
    }

    fn branch(&mut self, action: &Action) {
        let Action::Branch { at, unfinished, condition, switch, depth, escape, guards, assigns, temporary, origin } =
            action
        else {
            return;
        };
        let escape = escape.map(|escape| match escape {
            Escape::Function => 0,
            Escape::Loop(depth) => depth,
        });
        let site = self.site(origin, at.start, SiteKind::Branch { depth: *depth, escape, guards: guards.clone() });
        let told = mark(EventKind::Condition, &site);
        let statement = mark(EventKind::Statement, "0");
        match condition {
            Some(range) if *switch && !temporary => {
                let open = format!("({{ {statement}; __auto_type __touchstone_v = (");
                let close = format!("); {told}; __touchstone_v; }})");
                self.insertions.wrap(range.start, range.end, CONDITION_RANK, open, close);
            }
            Some(range) if !switch => {
                let open = format!("(({statement}, (");
                let close = format!(")) ? ({told}, 1) : ({told}, 0))");
                self.insertions.wrap(range.start, range.end, CONDITION_RANK, open, close);
            }
            _ => {}
        }
        if *temporary {
            return;
        }
        let end = match unfinished {
            true => self.semicolon(at.end),
            false => at.end,
        };
        let mut close = String::new();
        let mut touched = Vec::new();
        for lvalue in assigns {
            let (address, size) = self.address(lvalue);
            let told = format!(" {};", event(EventKind::Touch, &site, &address, &size));
            if !touched.contains(&told) {
                close += &told;
                touched.push(told);
            }
        }
        close += &format!(" {}; }}", mark(EventKind::End, &site));
        self.insertions.enclose(at.start, end, "{ ".to_string(), close);
    }
}
