/* Marks of a twin: the statements, conditions and decisions that its runs executed. */
enum { STATEMENTS = 4096, DECISIONS = 2048, LEAVES = 4, ROWS = 81, NESTED = 512 };
static unsigned char hit_statement[STATEMENTS], hit_condition[DECISIONS][LEAVES][2], hit_row[DECISIONS][ROWS];
static unsigned long fresh_marks;
static struct { int decision; unsigned char leaf[LEAVES]; } evaluation[NESTED];
static int evaluations;
static int silent;
static void hit(unsigned char *mark) {
    if (silent) return;
    if (!*mark) fresh_marks++;
    *mark = 1;
}
static void mark_begin(int decision) {
    if (evaluations == NESTED) abort();
    evaluation[evaluations].decision = decision;
    memset(evaluation[evaluations++].leaf, 2, LEAVES);
}
static int mark_leaf(int number, int value) {
    evaluation[evaluations - 1].leaf[number] = value;
    hit(&hit_condition[evaluation[evaluations - 1].decision][number][value]);
    return value;
}
static int mark_end(int value) {
    int row = 0;
    evaluations--;
    for (int i = LEAVES; i-- > 0;) row = 3 * row + evaluation[evaluations].leaf[i];
    hit(&hit_row[evaluation[evaluations].decision][row]);
    return value;
}
#define S(number) hit(&hit_statement[number])
#define C(number, e) mark_leaf(number, (e) ? 1 : 0)
#define DEC(number, e) (mark_begin(number), mark_end((e) ? 1 : 0))

static void print_marks(void) {
    for (int i = 0; i < STATEMENTS; i++)
        if (hit_statement[i]) printf("S %d\n", i);
    for (int i = 0; i < DECISIONS; i++) {
        for (int leaf = 0; leaf < LEAVES; leaf++)
            for (int value = 0; value < 2; value++)
                if (hit_condition[i][leaf][value]) printf("C %d %d %d\n", i, leaf, value);
        for (int row = 0; row < ROWS; row++)
            if (hit_row[i][row]) printf("R %d %d%d%d%d\n", i, row % 3, row / 3 % 3, row / 9 % 3, row / 27);
    }
}
