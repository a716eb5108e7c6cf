/* Environment variables, for tests of frameworks other than Touchstone's own.
 *
 *     ENVIRONMENT("HOME", "/root");   it is set to this
 *     ENVIRONMENT("HOME", NULL);      it is not set
 *
 * This header declares nothing of the library, so that no name of the program can clash with it.
 */
#ifndef TOUCHSTONE_ENVIRONMENT_H
#define TOUCHSTONE_ENVIRONMENT_H

#undef ENVIRONMENT

extern int touchstone_setenv(const char *, const char *, int) __asm__("setenv");
extern int touchstone_unsetenv(const char *) __asm__("unsetenv");

__attribute__((__unused__)) static void touchstone_environment(const char *name, const char *text) {
    if (text)
        touchstone_setenv(name, text, 1);
    else
        touchstone_unsetenv(name);
}

#define ENVIRONMENT(name, text) touchstone_environment(name, text)
#endif
