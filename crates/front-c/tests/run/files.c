/* Files that the program itself writes and reads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE "/tmp/touchstone-files-one.txt"
#define TWO "/tmp/touchstone-files-two.txt"

static void show(const char *name)
{
    FILE *f = fopen(name, "r");
    int c;
    if (!f) {
        printf("%s: none (%d)\n", name, errno);
        return;
    }
    while ((c = fgetc(f)) != EOF)
        putchar(c == '\n' ? '|' : c);
    printf(" [%d %d %ld]\n", feof(f) != 0, ferror(f), ftell(f));
    fclose(f);
}

int main(void)
{
    char line[64], word[16];
    int number, n;
    double d;
    unsigned char bytes[8] = {0, 1, 2, 255, 10, 13, 0, 7}, back[16];
    remove(ONE);
    remove(TWO);
    show(ONE);
    printf("%d\n", remove(ONE));
    FILE *f = fopen(ONE, "w");
    fprintf(f, "%d %s %.2f\n", 42, "words", 1.5);
    fputs("second line\n", f);
    fputc('x', f);
    putc('y', f);
    printf("%d\n", fprintf(f, "%05d", 7));
    printf("%zu\n", fwrite("abcdef", 2, 3, f));
    printf("%ld\n", ftell(f));
    fclose(f);
    show(ONE);

    f = fopen(ONE, "r");
    n = fscanf(f, "%d %15s %lf", &number, word, &d);
    printf("%d: %d %s %g\n", n, number, word, d);
    printf("%d\n", fgetc(f));
    while (fgets(line, sizeof line, f))
        printf("<%s>", line);
    printf("%d %d\n", feof(f) != 0, fgetc(f));
    rewind(f);
    printf("%d %c\n", feof(f) != 0, fgetc(f));
    ungetc('Q', f);
    putchar(fgetc(f));
    printf("%c\n", fgetc(f));
    fseek(f, -3, SEEK_END);
    printf("%s\n", fgets(line, sizeof line, f));
    fseek(f, 3, SEEK_SET);
    fseek(f, 2, SEEK_CUR);
    printf("%ld\n", ftell(f));
    printf("%c\n", fgetc(f));
    printf("%d\n", fputc('z', f));
    printf("%d\n", ferror(f) != 0);
    clearerr(f);
    printf("%d %d\n", ferror(f), fseek(f, -1, SEEK_SET));
    fclose(f);

    f = fopen(ONE, "a");
    fputs("+more", f);
    fclose(f);
    f = fopen(ONE, "r+");
    fputs("XX", f);
    fseek(f, 40, SEEK_SET);
    fputc('!', f);
    fclose(f);
    f = fopen(ONE, "rb");
    n = (int)fread(line, 1, sizeof line, f);
    for (int i = 0; i < n; i++)
        printf("%d ", line[i]);
    printf("%d\n", n);
    fclose(f);

    f = fopen(TWO, "wb+");
    fwrite(bytes, 1, sizeof bytes, f);
    rewind(f);
    n = (int)fread(back, 3, 5, f);
    printf("%d %d\n", n, memcmp(bytes, back, 6));
    fclose(f);
    printf("%d\n", rename(TWO, ONE));
    show(TWO);
    f = fopen(ONE, "w");
    fclose(f);
    show(ONE);
    f = tmpfile();
    fprintf(f, "%s", "gone");
    rewind(f);
    printf("%s\n", fgets(line, sizeof line, f));
    fclose(f);
    printf("%d\n", remove(ONE));
    printf("%d\n", remove(ONE));
    return 0;
}
