/* errno. Tests of functions call them with 0; that it may be something else is said where it is read before it is written. */

int touchstone_errno;
int *__errno_location(void) { return &touchstone_errno; }

/* Only the program's own locale, "C", is there. */
char *setlocale(int category, const char *name)
{
    if (!name || !name[0] || (name[0] == 'C' && !name[1]))
        return "C";
    return 0;
}
