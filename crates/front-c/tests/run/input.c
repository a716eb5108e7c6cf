/* stdin, and scanf from there and from memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void scan(const char *text)
{
    int a = -1, b = -1, n, used = -1;
    unsigned u = 9;
    long l = -1;
    char word[16] = "?", c = '?';
    float f = -1;
    double d = -1;
    n = sscanf(text, "%d %d%n", &a, &b, &used);
    printf("%d: %d %d %d|", n, a, b, used);
    n = sscanf(text, "%3d%i%li", &a, &b, &l);
    printf("%d: %d %d %ld|", n, a, b, l);
    n = sscanf(text, " %x,%o", &u, &u);
    printf("%d: %u|", n, u);
    n = sscanf(text, "%15s %c", word, &c);
    printf("%d: %s %c|", n, word, c);
    n = sscanf(text, "%[a-z]%*[^0-9]%hhd", word, &c);
    printf("%d: %s %d|", n, word, c);
    n = text[0] == '0' && text[1] == 'x' ? 0 : sscanf(text, "%f%lf", &f, &d);
    printf("%d: %f %f\n", n, f, d);
}

int main(void)
{
    const char *texts[] = {"1 2", "12345 -7", "0x1f 010 077", "abc,123", "", "   ", "x", "-5", "3.5e2 1e-3", "ff,17", "+4 +", "%d",
                           "word and more", "12 ab"};
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        scan(texts[i]);
    int n, a, b;
    char line[8], word[32];
    printf("%d\n", getchar());
    printf("%d\n", ungetc('Q', stdin));
    a = fgetc(stdin);
    printf("%d %d\n", a, getc(stdin));
    while (fgets(line, sizeof line, stdin) && line[0] != '\n')
        printf("[%s]", line);
    n = scanf("%d,%d", &a, &b);
    printf("%d %d %d\n", n, a, b);
    n = scanf("%31s%d", word, &a);
    printf("%d %s\n", n, word);
    n = fscanf(stdin, " %31s", word);
    printf("%d %s %d\n", n, word, feof(stdin));
    getchar();
    char *whole = NULL;
    size_t room = 0;
    long length = getline(&whole, &room, stdin);
    printf("%ld %s", length, whole);
    free(whole);
    n = (int)fread(line, 2, 2, stdin);
    printf("%d %.4s\n", n, line);
    while ((n = getchar()) != EOF)
        putchar(n);
    printf("%d %d\n", feof(stdin) != 0, scanf("%d", &a));
    return 0;
}
