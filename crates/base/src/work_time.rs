//! Work time: a clock that counts work instead of seconds. A search takes the same work time on an idle and on a busy
//! machine, so a limit in work time ends it at the same place, with the same verdicts.
//!
//! Each thread has a clock of its own, which stands still unless computations report their work with [`spend`].

use std::cell::Cell;
use std::time::Duration;

/// A kind of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkKind {
    /// A look at a clock: every loop with a limit has one.
    Check,
    /// A symbolically executed instruction.
    Instruction,
    /// A symbolically executed instruction or branch over constants.
    ConstantInstruction,
    /// A solver query, without the work below.
    Query,
    /// A term that is built.
    Term,
    /// A node of a term that is evaluated.
    Evaluation,
    /// A node of a term that is evaluated for one of many points at once.
    PointEvaluation,
    /// A propagation of the SAT solver.
    Propagation,
    /// A clause that the SAT solver learns.
    Conflict,
    /// A call of the interpreter, without its steps.
    Run,
    /// An instruction that the interpreter executes.
    Step,
    /// A symbolic state that is copied.
    State,
    /// 1,024 bytes of an object that are allocated, copied or set in a run.
    Kibibyte,
    /// A value of an input that is written for a run.
    InputValue,
    /// The predicate of a label that is evaluated in a run.
    Label,
    /// A register of a block that the prover's abstract interpretation executes.
    AbstractValue,
}

impl WorkKind {
    /// The processor time of one unit in nanoseconds, as it was fitted (ARCHITECTURE, "Work time").
    const fn nanoseconds(self) -> u64 {
        match self {
            WorkKind::Check => 1_000,
            WorkKind::Instruction => 500,
            WorkKind::ConstantInstruction => 40,
            WorkKind::Query => 1_000,
            WorkKind::Term => 2_000,
            WorkKind::Evaluation => 120,
            WorkKind::PointEvaluation => 2,
            WorkKind::Propagation => 120,
            WorkKind::Conflict => 12_000,
            WorkKind::Run => 2_000,
            WorkKind::Step => 15,
            WorkKind::State => 1_000,
            WorkKind::Kibibyte => 100,
            WorkKind::InputValue => 50,
            WorkKind::Label => 190,
            WorkKind::AbstractValue => 270,
        }
    }
}

thread_local! {
    static NANOSECONDS: Cell<u64> = const { Cell::new(0) };
}

/// Advances the clock of this thread.
#[inline]
pub fn spend(work: WorkKind, count: u64) {
    NANOSECONDS.with(|clock| clock.set(clock.get().saturating_add(count.saturating_mul(work.nanoseconds()))));
}

/// Returns the work time of this thread so far.
pub fn work_time() -> Duration {
    Duration::from_nanos(NANOSECONDS.with(Cell::get))
}

/// Advances the clock of this thread by the work of another one.
pub fn advance_work_time(work: Duration) {
    begin_at(work_time().saturating_add(work));
}

/// Does work while the clock of this thread starts at `time`, so that deadlines of another thread keep their meaning.
/// Returns the work time that it took; the clock of this thread is as before.
pub fn work_time_from<T>(time: Duration, work: impl FnOnce() -> T) -> (T, Duration) {
    let before = work_time();
    begin_at(time);
    let result = work();
    let taken = work_time().saturating_sub(time);
    begin_at(before);
    (result, taken)
}

/// Sets the clock of this thread to that of another one.
pub(crate) fn begin_at(time: Duration) {
    NANOSECONDS.with(|clock| clock.set(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_thread_advances_by_its_own_work() {
        let before = work_time();
        std::thread::spawn(|| spend(WorkKind::Step, 1_000_000)).join().expect("invariant: spending doesn't panic");
        assert_eq!(work_time(), before);
        spend(WorkKind::Step, 3);
        assert_eq!(work_time() - before, Duration::from_nanos(3 * WorkKind::Step.nanoseconds()));
    }
}
