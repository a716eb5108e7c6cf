/* errno. When a function under test is called it is 0, as at the start of a program. */

int touchstone_errno;
int *__errno_location(void) { return &touchstone_errno; }

/* Only the program's own locale, "C", is there. */
char *setlocale(int category, const char *name)
{
    if (!name || !name[0] || (name[0] == 'C' && !name[1]))
        return "C";
    return 0;
}
