/** Collision avoidance: the advisory that a pilot gets, from altitudes and what the other aircraft says. */
public class Tcas {
    static final int OLEV = 600;
    static final int MAX_ALT_DIFF = 600;
    static final int MIN_SEPARATION = 300;
    static final int NO_CROSS = 100;

    static final int UNRESOLVED = 0;
    static final int UPWARD = 1;
    static final int DOWNWARD = 2;

    static int threshold(int level) {
        switch (level) {
            case 0: return 400;
            case 1: return 500;
            case 2: return 640;
            default: return 740;
        }
    }

    static boolean ownBelowThreat(int own, int other) {
        return own < other;
    }

    static boolean ownAboveThreat(int own, int other) {
        return other < own;
    }

    static int inhibitBiasedClimb(int up, boolean inhibit) {
        return inhibit ? up + NO_CROSS : up;
    }

    static boolean nonCrossingClimb(int own, int other, int up, int down, boolean inhibit, int level) {
        boolean upwardPreferred = inhibitBiasedClimb(up, inhibit) > down;
        if (upwardPreferred) {
            return !ownBelowThreat(own, other) || (ownBelowThreat(own, other) && !(down >= threshold(level)));
        }
        return ownAboveThreat(own, other) && own - other >= MIN_SEPARATION && up >= threshold(level);
    }

    static boolean nonCrossingDescend(int own, int other, int up, int down, boolean inhibit, int level) {
        boolean upwardPreferred = inhibitBiasedClimb(up, inhibit) > down;
        if (upwardPreferred) {
            return ownBelowThreat(own, other) && own - other >= MIN_SEPARATION && down >= threshold(level);
        }
        return !ownAboveThreat(own, other) || (ownAboveThreat(own, other) && up >= threshold(level));
    }

    /** The advisory: {@link #UNRESOLVED}, {@link #UPWARD} or {@link #DOWNWARD}. */
    static int advisory(boolean highConfidence, int ownRate, int own, int other, int up, int down, boolean inhibit,
            int level, boolean otherHasTcas, boolean otherDescends, boolean otherSaysNothing) {
        boolean enabled = highConfidence && ownRate <= OLEV && own - other < MAX_ALT_DIFF;
        boolean intentNotKnown = !otherHasTcas && otherSaysNothing;
        if (enabled && ((otherHasTcas && intentNotKnown) || !otherHasTcas || otherDescends)) {
            boolean needUp = nonCrossingClimb(own, other, up, down, inhibit, level) && ownBelowThreat(own, other);
            boolean needDown = nonCrossingDescend(own, other, up, down, inhibit, level) && ownAboveThreat(own, other);
            if (needUp && needDown) {
                return UNRESOLVED;
            }
            return needUp ? UPWARD : needDown ? DOWNWARD : UNRESOLVED;
        }
        return UNRESOLVED;
    }
}
