/* The driver, after the twin and its tables: it chooses the calls, their order and their pointers. */
static char *stack_top;
static sigjmp_buf crashed;

static int is_stack(const void *place) { return (char *)place > (char *)&place - 65536 && (char *)place < stack_top; }
/* Locals of calls that have ended are dead. */
static void forget_locals(void *frame) {
    for (int i = 0; i < SAVED; i++)
        if (saved[i] && is_stack(saved[i]) && (char *)saved[i] < (char *)frame) saved[i] = NULL;
}

/* A place for an int with a number of elements before and behind it; null now and then. */
static int *int_place(int before, int behind) {
    if (choose(8) == 0) return NULL;
    if (before == 0 && behind == 0 && choose(8) == 0 && saved[0]) {
        int *place = saved[choose(SAVED)];
        if (place) return place;
    }
    for (int tries = 0; tries < 64; tries++) {
        const struct region *region = &int_regions[choose(sizeof int_regions / sizeof *int_regions)];
        int room = region->count - before - behind;
        if ((region->unit >= 0 && region->unit != unit) || room <= 0) continue;
        return region->base + before + choose(room);
    }
    return pool + 1;
}
/* The same, or the end of its object: for pointers that are compared only. */
static int *int_edge(void) {
    for (int tries = 0; tries < 64; tries++) {
        const struct region *region = &int_regions[choose(sizeof int_regions / sizeof *int_regions)];
        if (region->unit < 0 || region->unit == unit) return region->base + choose(region->count + 1);
    }
    return NULL;
}
static struct s *struct_place(void) {
    unsigned count = sizeof struct_places / sizeof *struct_places;
    if (choose(8) == 0) return NULL;
    for (int tries = 0; tries < 64; tries++) {
        unsigned i = choose(count);
        if (struct_places[i].unit < 0 || struct_places[i].unit == unit) return struct_places[i].place;
    }
    return objects;
}
static int **pointer_place(void) {
    unsigned count = sizeof pointer_places / sizeof *pointer_places;
    if (choose(8) == 0) return NULL;
    for (int tries = 0; tries < 64; tries++) {
        unsigned i = choose(count);
        if (pointer_places[i].unit < 0 || pointer_places[i].unit == unit) return pointer_places[i].place;
    }
    return pointers;
}
static char *char_place(void) {
    if (choose(3) == 0) return letters + 1 + choose(sizeof letters - 2);
    int *place = int_place(0, 0);
    return place ? (char *)place + choose(4) : NULL;
}
static char letter(void) { return "aab,\r\n\r\n\0"[choose(9)]; }
static void text_range(const char **from, const char **to) {
    unsigned a = choose(sizeof letters), b = choose(sizeof letters);
    *from = letters + (a < b ? a : b);
    *to = letters + (a < b ? b : a);
}

/* Code of other files runs: it may write whatever it can name. */
static void write_something(void) {
    int **pointer;
    struct s *object;
    int *place;
    switch (choose(6)) {
    case 0:
        if ((pointer = pointer_place())) *pointer = int_place(0, 0);
        break;
    case 1:
        if ((object = struct_place())) object->next = struct_place();
        break;
    case 2:
        letters[choose(sizeof letters - 1)] = letter();
        break;
    case 3:
        other_state();
        break;
    default:
        if ((place = int_place(0, 0))) *place = num();
    }
}
static int call_one(void) {
    unsigned count = sizeof callable / sizeof *callable, own = 0;
    for (unsigned i = 0; i < count; i++) own += callable[i].unit == unit;
    unsigned chosen = choose(own);
    for (unsigned i = 0; i < count; i++)
        if (callable[i].unit == unit && chosen-- == 0) return callable[i].call();
    return 0;
}
/* The body of an external function: it writes, and it may call back. */
static void external(void) {
    for (unsigned i = choose(3); i > 0; i--) write_something();
    if (calls < 6 && choose(5) == 0) {
        /* What is asked of a whole program is what it calls itself. */
        int before = silent;
        silent = entry != 0;
        calls++;
        call_one();
        silent = before;
        forget_locals(__builtin_frame_address(0));
    }
}
static int other_files(void) {
    external();
    return num();
}

static void crash(int signal) { siglongjmp(crashed, signal); }

/* What other files and devices hold when the program begins. */
static void begin_world(void) {
    calls = 0;
    for (unsigned i = 0; i < sizeof int_regions / sizeof *int_regions; i++)
        if (int_regions[i].whose == FOREIGN && choose(2))
            for (int at = 0; at < int_regions[i].count; at++) int_regions[i].base[at] = num();
    for (unsigned i = 0; i < sizeof pointer_places / sizeof *pointer_places; i++)
        if (pointer_places[i].unit < 0) *pointer_places[i].place = int_place(0, 0);
    for (unsigned i = 0; i < sizeof struct_places / sizeof *struct_places; i++)
        if (struct_places[i].unit < 0) struct_places[i].place->next = struct_place();
    for (unsigned i = 0; i < sizeof letters - 1; i++) letters[i] = letter();
    once_a_program();
    set_registers();
}

static void run(void) {
    int amount = 1 + choose(4);
    begin_world();
    if (entry) {
        errno = 0;
        entry();
        return;
    }
    for (int i = choose(24); i > 0; i--) write_something();
    for (unsigned i = 0; i < sizeof int_regions / sizeof *int_regions; i++)
        if (int_regions[i].unit == unit && choose(2))
            for (int at = 0; at < int_regions[i].count; at++) int_regions[i].base[at] = num();
    errno = choose(2) ? 0 : num();
    for (int i = 0; i < amount; i++) {
        call_one();
        forget_locals(stack_top);
        if (choose(3)) for (int more = choose(4); more > 0; more--) write_something();
    }
}

int main(int argc, char **argv) {
    unsigned long least = strtoul(argv[1], NULL, 10), most = strtoul(argv[2], NULL, 10);
    size_t size = __stop_twin_state - __start_twin_state;
    static char initial[1 << 16], alternative[1 << 16];
    stack_t stack = {.ss_sp = alternative, .ss_size = sizeof alternative};
    struct sigaction action = {.sa_handler = crash, .sa_flags = SA_NODEFER | SA_ONSTACK};
    (void)argc;
    alarm(60);
    stack_top = __builtin_frame_address(0);
    if (size > sizeof initial) return 4;
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    map_registers();
    memcpy(initial, __start_twin_state, size);
    /* Runs go on as long as they still find something. */
    static volatile unsigned long number, last;
    for (; number < most && number < last + least; number++) {
        unsigned long before = fresh_marks;
        memcpy(__start_twin_state, initial, size);
        used = 0;
        evaluations = silent = 0;
        now = choose(100);
        unit = choose(units);
        if (sigsetjmp(crashed, 0) == 0) run();
        if (fresh_marks != before) last = number;
    }
    print_marks();
    return 0;
}
