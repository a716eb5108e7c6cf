/* Output. Where nobody asks for the value, a call of `printf` is one of `touchstone_quiet_printf` (`fprintf`, … likewise): the
   number of bytes is a condition for each digit, and most programs don't want it. */

typedef unsigned long size_t;
typedef __builtin_va_list va_list;
typedef struct _IO_FILE FILE;

int touchstone_vprintf(int stream, const char *format, va_list list);
void touchstone_write(int stream, const void *bytes, size_t size);
void touchstone_refuse(const char *what);
int vsnprintf(char *, size_t, const char *, va_list);
size_t strlen(const char *);
int *__errno_location(void);

struct _IO_FILE {
    int number;
};
FILE touchstone_streams[3];
FILE *const stdin = &touchstone_streams[0];
FILE *const stdout = &touchstone_streams[1];
FILE *const stderr = &touchstone_streams[2];

static int number(FILE *f)
{
    if (f == stdout)
        return 1;
    if (f == stderr)
        return 2;
    touchstone_refuse("output to another stream than stdout and stderr");
    return 0;
}

int touchstone_quiet_vfprintf(FILE *f, const char *format, va_list list)
{
    touchstone_vprintf(number(f), format, list);
    return 0;
}

int touchstone_quiet_vprintf(const char *format, va_list list)
{
    touchstone_vprintf(1, format, list);
    return 0;
}

int touchstone_quiet_fprintf(FILE *f, const char *format, ...)
{
    va_list list;
    __builtin_va_start(list, format);
    touchstone_vprintf(number(f), format, list);
    __builtin_va_end(list);
    return 0;
}

int touchstone_quiet_fputs(const char *s, FILE *f)
{
    touchstone_quiet_fprintf(f, "%s", s);
    return 0;
}

int vfprintf(FILE *f, const char *format, va_list list)
{
    va_list copy;
    int n;
    __builtin_va_copy(copy, list);
    n = vsnprintf(0, 0, format, copy);
    __builtin_va_end(copy);
    touchstone_vprintf(number(f), format, list);
    return n;
}

int vprintf(const char *format, va_list list) { return vfprintf(stdout, format, list); }

int fprintf(FILE *f, const char *format, ...)
{
    va_list list;
    int n;
    __builtin_va_start(list, format);
    n = vfprintf(f, format, list);
    __builtin_va_end(list);
    return n;
}

int printf(const char *format, ...)
{
    va_list list;
    int n;
    __builtin_va_start(list, format);
    n = vfprintf(stdout, format, list);
    __builtin_va_end(list);
    return n;
}

int puts(const char *s)
{
    size_t n = strlen(s);
    touchstone_write(1, s, n);
    touchstone_write(1, "\n", 1);
    return (int)n + 1;
}

/* glibc's says 1. */
int fputs(const char *s, FILE *f)
{
    touchstone_quiet_fputs(s, f);
    return 1;
}

int fputc(int c, FILE *f)
{
    unsigned char byte = (unsigned char)c;
    touchstone_write(number(f), &byte, 1);
    return byte;
}

int putc(int c, FILE *f) { return fputc(c, f); }
int putchar(int c) { return fputc(c, stdout); }

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *f)
{
    if (!size || !count)
        return 0;
    touchstone_write(number(f), bytes, size * count);
    return count;
}

void perror(const char *s) { touchstone_quiet_fprintf(stderr, "%s: error %d\n", s, *__errno_location()); }

int fflush(FILE *f) { return 0; }
int setvbuf(FILE *f, char *buffer, int mode, size_t size) { return 0; }
void setbuf(FILE *f, char *buffer) {}
void setbuffer(FILE *f, char *buffer, size_t size) {}
void setlinebuf(FILE *f) {}
int ferror(FILE *f) { return 0; }
