//! Times that can be compared: several kinds of work in turn, short ones repeated, the fastest round of each counts.
//!
//! Time is what this thread spent on a processor, so a busy machine disturbs less.

use rustix::time::{ClockId, clock_gettime};

/// A round of each kind takes about this long.
const ROUND: f64 = 0.03;

/// At most so many repetitions in a round.
const REPEATS: f64 = 100.0;

/// Rounds go on for about this long, over all kinds.
const TOTAL: f64 = 3.0;

/// There are at least so many rounds.
const FEWEST: usize = 5;

/// There are at most so many rounds.
const MOST: usize = 60;

/// Seconds that this thread has worked.
pub fn worked() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// The time of one repetition of each kind of work.
pub fn race(kinds: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let once: Vec<f64> = kinds.iter_mut().map(|kind| time(1, kind)).collect();
    // All kinds are repeated equally often: what one leaves in the caches, the other leaves too.
    let slowest = once.iter().copied().fold(1e-9, f64::max);
    let repeats = (ROUND / slowest).ceil().clamp(1.0, REPEATS) as usize;
    let round = once.iter().sum::<f64>() * repeats as f64;
    let rounds = ((TOTAL / round.max(1e-9)) as usize).clamp(FEWEST, MOST);
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
