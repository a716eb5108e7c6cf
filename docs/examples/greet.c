/* A program with arguments, standard input and a variable of the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "-h") == 0) {
        puts("usage: greet");
        return 2;
    }
    int c = getchar();
    if (c == EOF)
        return 1;
    const char *language = getenv("LANG");
    if (language && strncmp(language, "de", 2) == 0)
        printf("Hallo, %c\n", c);
    else
        printf("Hello, %c\n", c);
    return 0;
}
