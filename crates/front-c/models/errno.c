/* errno. Tests call functions with 0; a read before any write is reported as an assumption. */

int touchstone_errno;
int *__errno_location(void) { return &touchstone_errno; }

/* Only the locale "C" exists. */
char *setlocale(int category, const char *name)
{
    if (!name || !name[0] || (name[0] == 'C' && !name[1]))
        return "C";
    return 0;
}
