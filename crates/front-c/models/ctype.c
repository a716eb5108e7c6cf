/* ctype.h in the C locale, without branches. A true result is the bit of the class in glibc's tables. */

#define BETWEEN(c, low, high) ((unsigned)(c) - (low) <= (unsigned)(high) - (low))

int isblank(int c)  { return (c == ' ') | (c == '\t'); }
int iscntrl(int c)  { return (BETWEEN(c, 0, 31) | (c == 127)) << 1; }
int isupper(int c)  { return BETWEEN(c, 'A', 'Z') << 8; }
int islower(int c)  { return BETWEEN(c, 'a', 'z') << 9; }
int isalpha(int c)  { return BETWEEN(c | 32, 'a', 'z') << 10; }
int isdigit(int c)  { return BETWEEN(c, '0', '9') << 11; }
int isxdigit(int c) { return (BETWEEN(c, '0', '9') | BETWEEN(c | 32, 'a', 'f')) << 12; }
int isspace(int c)  { return ((c == ' ') | BETWEEN(c, '\t', '\r')) << 13; }
int isprint(int c)  { return BETWEEN(c, ' ', '~') << 14; }
int isgraph(int c)  { return BETWEEN(c, '!', '~') << 15; }
int isalnum(int c)  { return (BETWEEN(c, '0', '9') | BETWEEN(c | 32, 'a', 'z')) << 3; }

int ispunct(int c)
{
    return (BETWEEN(c, '!', '~') & (BETWEEN(c, '0', '9') ^ 1) & (BETWEEN(c | 32, 'a', 'z') ^ 1)) << 2;
}

int tolower(int c) { return c + (BETWEEN(c, 'A', 'Z') << 5); }
int toupper(int c) { return c - (BETWEEN(c, 'a', 'z') << 5); }
int isascii(int c) { return (c & ~127) == 0; }
int toascii(int c) { return c & 127; }
