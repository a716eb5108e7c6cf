//! The stack instructions of the JVM: `dup`, its variants and `swap`.

use touchstone_front_java::classfile::Insn;

/// Executes an instruction that only duplicates or exchanges slots of a stack.
pub(super) fn shuffle_stack<T: Clone + Default>(insn: &Insn, stack: &mut Vec<T>) {
    let (count, below) = match insn {
        Insn::Dup => (1, 0),
        Insn::DupX1 => (1, 1),
        Insn::DupX2 => (1, 2),
        Insn::Dup2 => (2, 0),
        Insn::Dup2X1 => (2, 1),
        Insn::Dup2X2 => (2, 2),
        _ => (0, 2),
    };
    // Missing slots, after a gap in the trace, are unknown values.
    while stack.len() < count + below {
        stack.insert(0, T::default());
    }
    let length = stack.len();
    if count == 0 {
        stack.swap(length - 1, length - 2);
        return;
    }
    let copied: Vec<T> = stack[length - count..].to_vec();
    stack.splice(length - count - below..length - count - below, copied);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(insn: &Insn, mut stack: Vec<u8>) -> Vec<u8> {
        shuffle_stack(insn, &mut stack);
        stack
    }

    #[test]
    fn what_is_moved_gets_no_other_company() {
        let cases = [
            (Insn::Dup, vec![1], vec![1, 1]),
            (Insn::DupX1, vec![1, 2], vec![2, 1, 2]),
            (Insn::DupX2, vec![1, 2, 3], vec![3, 1, 2, 3]),
            (Insn::Dup2, vec![1, 2], vec![1, 2, 1, 2]),
            (Insn::Dup2X1, vec![1, 2, 3], vec![2, 3, 1, 2, 3]),
            (Insn::Dup2X2, vec![1, 2, 3, 4], vec![3, 4, 1, 2, 3, 4]),
            (Insn::Swap, vec![1, 2], vec![2, 1]),
        ];
        for (insn, before, after) in cases {
            assert_eq!(behind(&insn, before.clone()), after, "{insn:?}");
            // The same with another value below.
            let on_top = |stack: &[u8]| [&[9], stack].concat();
            assert_eq!(behind(&insn, on_top(&before)), on_top(&after), "{insn:?}");
        }
    }

    #[test]
    fn where_the_trace_has_a_gap_nothing_is_known_of_what_is_missing() {
        assert_eq!(behind(&Insn::Dup, vec![]), [0, 0]);
        assert_eq!(behind(&Insn::DupX2, vec![1]), [1, 0, 0, 1]);
        assert_eq!(behind(&Insn::Swap, vec![1]), [1, 0]);
    }
}
