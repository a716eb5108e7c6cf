//! Comparable timings: several kinds of work in turn, short ones repeated. The fastest round of each kind counts.
//!
//! Times are the CPU time of this thread, so that load on the machine matters less.

use crate::output::thread_time::thread_cpu_time;

/// The target duration of a round of one kind, in seconds.
const ROUND_SECONDS: f64 = 0.03;

/// The maximum number of repetitions in a round.
const MAX_REPETITIONS: f64 = 100.0;

/// The target duration of all rounds, in seconds.
const TOTAL_SECONDS: f64 = 3.0;

/// The minimum number of rounds.
const MIN_ROUNDS: usize = 5;

/// The maximum number of rounds.
const MAX_ROUNDS: usize = 60;

/// Returns the CPU seconds of this thread.
pub fn worked() -> f64 {
    thread_cpu_time().as_secs_f64()
}

/// Returns the time of one repetition of each kind of work.
pub fn race(kinds: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let once: Vec<f64> = kinds.iter_mut().map(|kind| time(1, kind)).collect();
    // All kinds are repeated equally often, so that each finds the caches in the same state.
    let slowest = once.iter().copied().fold(1e-9, f64::max);
    let repeats = (ROUND_SECONDS / slowest).ceil().clamp(1.0, MAX_REPETITIONS) as usize;
    let round = once.iter().sum::<f64>() * repeats as f64;
    let rounds = ((TOTAL_SECONDS / round.max(1e-9)) as usize).clamp(MIN_ROUNDS, MAX_ROUNDS);
    let mut best = once;
    for _ in 0..rounds {
        for (kind, best) in kinds.iter_mut().zip(&mut best) {
            *best = best.min(time(repeats, kind));
        }
    }
    best
}

fn time(repeats: usize, kind: &mut &mut dyn FnMut()) -> f64 {
    let start = worked();
    for _ in 0..repeats {
        kind();
    }
    (worked() - start) / repeats as f64
}
