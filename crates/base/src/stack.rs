//! Stacks that are deep enough for any nesting of a program.
//!
//! Trees of the source (expressions, decisions) nest as deep as the user likes, and everything that walks or drops them recurs.
//! The memory of a stack is only taken when it is used.

use crate::work_time::{begin_at, work_time};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Sizes to try: a process may be allowed less than it would like.
const SIZES: [usize; 3] = [1 << 30, 1 << 28, 1 << 26];

/// Does work on a deep stack and gives its result; a panic goes on.
pub fn on_deep_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    let timed = || (work(), work_time());
    let done = std::thread::scope(|scope| spawn_deep(scope, timed).map(ScopedJoinHandle::join));
    match done {
        Some(Ok((result, ended))) => {
            begin_at(ended);
            result
        }
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => work(),
    }
}

/// Begins work on a deep stack; `None` where there can be no such thread. The work time of the thread goes on from here, so
/// that deadlines keep their meaning.
pub fn spawn_deep<'scope, T, F>(scope: &'scope Scope<'scope, '_>, work: F) -> Option<ScopedJoinHandle<'scope, T>>
where
    T: Send + 'scope,
    F: Fn() -> T + Copy + Send + 'scope,
{
    let begun = work_time();
    let work = move || {
        begin_at(begun);
        work()
    };
    SIZES.iter().find_map(|size| Builder::new().stack_size(*size).spawn_scoped(scope, work).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree that is one long branch.
    struct Deep(Option<Box<Deep>>);

    fn depth(tree: &Deep) -> usize {
        tree.0.as_ref().map_or(0, |inner| 1 + depth(inner))
    }

    #[test]
    fn deep_trees_are_made_walked_and_dropped() {
        let found = on_deep_stack(|| {
            let tree = (0..1_000_000).fold(Deep(None), |inner, _| Deep(Some(Box::new(inner))));
            depth(&tree)
        });
        assert_eq!(found, 1_000_000);
    }
}
