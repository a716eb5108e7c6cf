//! Small programs written directly against the solver: what an engine would ask, without the engine. Used by the
//! timing example and by the tests.

use touchstone_solver::{Config, Element, Op, Path, Rel, Side, Solver, Stats, TermId, Terms};

/// The result of an exploration of all paths.
pub struct Report {
    /// Feasible paths to the end.
    pub paths: usize,
    /// Sides of branches that were proved impossible.
    #[allow(dead_code)]
    pub infeasible: usize,
    /// The solver's statistics.
    pub stats: Stats,
}

/// An exploration under way: the terms, the solver, and the counters.
pub struct Run {
    /// The terms.
    pub terms: Terms,
    /// The solver.
    pub solver: Solver,
    paths: usize,
    infeasible: usize,
}

impl Run {
    fn new(config: Config) -> Run {
        Run { terms: Terms::new(), solver: Solver::new(config), paths: 0, infeasible: 0 }
    }

    /// The feasible sides of a branch: true first.
    fn branch(&mut self, path: &Path, condition: TermId) -> Vec<(bool, Path)> {
        let (yes, no) = self.solver.branch(&mut self.terms, path, condition);
        let mut sides = Vec::new();
        for (truth, side) in [(true, yes), (false, no)] {
            match side {
                Side::Feasible(path) => sides.push((truth, path)),
                Side::Infeasible => self.infeasible += 1,
                Side::Unknown(why) => panic!("unknown: {why:?}"),
            }
        }
        sides
    }

    /// A path has come to its end: its model must satisfy it.
    fn end(&mut self, path: &Path) {
        let model = path.model();
        assert!(path.constraints().iter().all(|&c| model.eval(&self.terms, c) == 1));
        self.paths += 1;
    }

    fn report(self) -> Report {
        Report { paths: self.paths, infeasible: self.infeasible, stats: *self.solver.stats() }
    }

    fn assume(&mut self, path: &Path, condition: TermId) -> Path {
        match self.solver.assume(&mut self.terms, path, condition) {
            Side::Feasible(path) => path,
            _ => panic!("the precondition is satisfiable"),
        }
    }
}

/// The order of a permutation of `0..n` (paper 003, figure 7), the precondition given as one conjunction.
pub fn get_order(n: usize, config: Config) -> Report {
    order_of(n, false, config)
}

/// The same after a comparison of the first element with a number that may be anything.
pub fn get_order_entangled(n: usize, config: Config) -> Report {
    order_of(n, true, config)
}

fn order_of(n: usize, entangled: bool, config: Config) -> Report {
    let mut run = Run::new(config);
    let p: Vec<TermId> = (0..n).map(|i| run.terms.var(32, &format!("p{i}"))).collect();
    let mut pre = run.terms.truth(true);
    for i in 0..n {
        let (zero, top) = (run.terms.constant(32, 0), run.terms.constant(32, n as u64));
        let low = run.terms.cmp(Rel::Sle, zero, p[i]);
        let high = run.terms.cmp(Rel::Slt, p[i], top);
        let both = run.terms.and(low, high);
        pre = run.terms.and(pre, both);
        for j in 0..i {
            let differ = run.terms.ne(p[i], p[j]);
            pre = run.terms.and(pre, differ);
        }
    }
    let start = run.assume(&Path::new(), pre);
    let mut work = vec![(start.clone(), p.clone(), 0)];
    if entangled {
        let other = run.terms.var(32, "x");
        let greater = run.terms.cmp(Rel::Slt, p[0], other);
        work = run.branch(&start, greater).into_iter().map(|(_, path)| (path, p.clone(), 0)).collect();
    }
    while let Some((path, power, i)) = work.pop() {
        if i == n {
            run.end(&path);
            continue;
        }
        let own = run.terms.constant(32, i as u64);
        let moved = run.terms.ne(power[i], own);
        for (truth, path) in run.branch(&path, moved) {
            if truth {
                let next = next_power(&mut run, &path, &p, &power);
                work.push((path, next, 0));
            } else {
                work.push((path, power.clone(), i + 1));
            }
        }
    }
    run.report()
}

/// `power[i] = power[p[i]]` for all i, with the bounds of every access checked.
fn next_power(run: &mut Run, path: &Path, p: &[TermId], power: &[TermId]) -> Vec<TermId> {
    let elements =
        power.iter().enumerate().map(|(k, &term)| Element { offset: 4 * k as u64, bytes: 4, term }).collect();
    let tmp = run.terms.base_array(4 * p.len() as u64, elements);
    p.iter()
        .map(|&index| {
            let wide = run.terms.sext(index, 64);
            let four = run.terms.constant(64, 4);
            let offset = run.terms.mul(wide, four);
            let range = run.solver.range(&run.terms, path, offset);
            assert!(range.unsigned.1 <= 4 * (p.len() as u64 - 1), "in bounds by the range");
            run.terms.read(tmp, offset, 4)
        })
        .collect()
}

/// Bubble sort of `n` 32-bit numbers.
pub fn bubble_sort(n: usize, config: Config) -> Report {
    let mut run = Run::new(config);
    let a: Vec<TermId> = (0..n).map(|i| run.terms.var(32, &format!("a{i}"))).collect();
    let mut work = vec![(Path::new(), a, 0, 0)];
    while let Some((path, a, i, j)) = work.pop() {
        if i + 1 >= n {
            run.end(&path);
            continue;
        }
        if j + 1 >= n - i {
            work.push((path, a, i + 1, 0));
            continue;
        }
        let out_of_order = run.terms.cmp(Rel::Slt, a[j + 1], a[j]);
        for (truth, path) in run.branch(&path, out_of_order) {
            let mut a = a.clone();
            if truth {
                a.swap(j, j + 1);
            }
            work.push((path, a, i, j + 1));
        }
    }
    run.report()
}

/// A wildcard matcher (`*` any text, `?` any byte) over a pattern and a text of at most `n` and `m` bytes.
pub fn wildcard(n: usize, m: usize, config: Config) -> Report {
    let mut run = Run::new(config);
    let zero = run.terms.constant(8, 0);
    let mut pattern: Vec<TermId> = (0..n).map(|i| run.terms.var(8, &format!("p{i}"))).collect();
    let mut text: Vec<TermId> = (0..m).map(|i| run.terms.var(8, &format!("t{i}"))).collect();
    pattern.push(zero);
    text.push(zero);
    let (star, any) = (run.terms.constant(8, 42), run.terms.constant(8, 63));
    // A matcher with a stack of places to go back to: (pattern, text).
    let mut work = vec![(Path::new(), 0usize, 0usize, Vec::<(usize, usize)>::new(), 0u8)];
    while let Some((path, i, j, back, state)) = work.pop() {
        // The conditions in order: is the pattern at its end, a star, the text at its end, any byte, the same byte?
        let condition = match state {
            0 => run.terms.eq(pattern[i], zero),
            1 => run.terms.eq(pattern[i], star),
            2 | 5 => run.terms.eq(text[j], zero),
            3 => run.terms.eq(pattern[i], any),
            _ => run.terms.eq(pattern[i], text[j]),
        };
        for (truth, path) in run.branch(&path, condition) {
            let mut back = back.clone();
            let next = match (state, truth) {
                (0, true) => Some((i, j, 5)),
                (0, false) => Some((i, j, 1)),
                (1, true) => {
                    back.push((i, j));
                    Some((i + 1, j, 0))
                }
                (1, false) => Some((i, j, 2)),
                (2, true) => None,
                (2, false) => Some((i, j, 3)),
                (3, true) | (4, true) => Some((i + 1, j + 1, 0)),
                (3, false) => Some((i, j, 4)),
                (5, true) => {
                    run.end(&path);
                    continue;
                }
                _ => None,
            };
            match next.or_else(|| retreat(&mut back, text.len())) {
                Some((i, j, state)) => work.push((path, i, j, back, state)),
                None => run.end(&path),
            }
        }
    }
    run.report()
}

/// The last star takes one more byte.
fn retreat(back: &mut Vec<(usize, usize)>, end: usize) -> Option<(usize, usize, u8)> {
    while let Some((i, j)) = back.pop() {
        if j + 1 < end {
            back.push((i, j + 1));
            return Some((i + 1, j + 1, 0));
        }
    }
    None
}

/// A controller without loops: thresholds on a few sensors, comparisons between them, a mode.
pub fn controller(config: Config) -> Report {
    let mut run = Run::new(config);
    let [speed, limit, temperature, pressure, fuel] =
        ["speed", "limit", "temperature", "pressure", "fuel"].map(|n| run.terms.var(32, n));
    let [mode, flags] = ["mode", "flags"].map(|n| run.terms.var(8, n));
    let mut conditions = Vec::new();
    let mut compare = |run: &mut Run, rel, a: TermId, c: i64| {
        let c = run.terms.constant(run.terms.width(a), c as u64);
        conditions.push(run.terms.cmp(rel, a, c));
    };
    compare(&mut run, Rel::Eq, mode, 1);
    compare(&mut run, Rel::Slt, speed, 120);
    compare(&mut run, Rel::Slt, speed, 30);
    compare(&mut run, Rel::Slt, temperature, 90);
    compare(&mut run, Rel::Slt, temperature, -20);
    compare(&mut run, Rel::Sle, pressure, 1000);
    compare(&mut run, Rel::Slt, fuel, 5);
    compare(&mut run, Rel::Eq, mode, 2);
    compare(&mut run, Rel::Ult, limit, 200);
    for bit in 0..4 {
        let mask = run.terms.constant(8, 1 << bit);
        let set = run.terms.bin(Op::And, flags, mask);
        compare(&mut run, Rel::Eq, set, 0);
    }
    let faster = run.terms.cmp(Rel::Slt, limit, speed);
    conditions.push(faster);
    let sum = run.terms.add(temperature, pressure);
    compare_sum(&mut run, sum, &mut conditions);
    let mut work = vec![(Path::new(), 0)];
    while let Some((path, k)) = work.pop() {
        let Some(&condition) = conditions.get(k) else {
            run.end(&path);
            continue;
        };
        for (_, path) in run.branch(&path, condition) {
            work.push((path, k + 1));
        }
    }
    run.report()
}

fn compare_sum(run: &mut Run, sum: TermId, conditions: &mut Vec<TermId>) {
    let bound = run.terms.constant(32, 1050);
    conditions.push(run.terms.cmp(Rel::Slt, sum, bound));
}
