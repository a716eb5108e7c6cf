/* Files by descriptor: those of the program, as in stdio.c. Standard descriptors are unsupported, because output to them
   precedes the buffered output of a stream. */

typedef unsigned long size_t;
typedef long ssize_t;
typedef struct _IO_FILE FILE;

FILE *fopen(const char *, const char *);
int fclose(FILE *);
int fseek(FILE *, long, int);
long ftell(FILE *);
int ferror(FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
int touchstone_file_exists(const char *);
int touchstone_file_get(FILE *);
void touchstone_file_clear(FILE *);
void touchstone_file_rights(FILE *, int reads, int writes, int appends);
void touchstone_run_only(const char *name);
void touchstone_refuse(const char *what);
int *__errno_location(void);

enum { NO_ENTRY = 2, BAD_FILE = 9, EXISTS = 17, TOO_MANY = 24 };
enum { CREATE = 0100, EXCLUSIVE = 0200, TRUNCATE = 01000, APPEND = 02000 };
enum { MAX_DESCRIPTORS = 1024 };

FILE **touchstone_descriptors(void)
{
    static FILE *opened[MAX_DESCRIPTORS];
    return opened;
}

static int failed(int number)
{
    *__errno_location() = number;
    return -1;
}

static FILE *file(int descriptor)
{
    touchstone_run_only("files");
    if (descriptor >= 0 && descriptor <= 2)
        touchstone_refuse("standard descriptor");
    if (descriptor < 0 || descriptor >= MAX_DESCRIPTORS || !touchstone_descriptors()[descriptor])
        failed(BAD_FILE);
    else
        return touchstone_descriptors()[descriptor];
    return 0;
}

int open(const char *name, int flags, ...)
{
    int there, descriptor = 3;
    FILE *f;
    touchstone_run_only("files");
    there = touchstone_file_exists(name);
    if (!there && !(flags & CREATE))
        return failed(NO_ENTRY);
    if (there && flags & CREATE && flags & EXCLUSIVE)
        return failed(EXISTS);
    while (descriptor < MAX_DESCRIPTORS && touchstone_descriptors()[descriptor])
        descriptor++;
    if (descriptor == MAX_DESCRIPTORS)
        return failed(TOO_MANY);
    f = fopen(name, there && !(flags & TRUNCATE) ? "r+" : "w+");
    touchstone_file_rights(f, (flags & 3) != 1, (flags & 3) != 0, flags & APPEND);
    touchstone_descriptors()[descriptor] = f;
    return descriptor;
}

int creat(const char *name, unsigned mode) { return open(name, CREATE | TRUNCATE | 1, mode); }

int close(int descriptor)
{
    FILE *f = file(descriptor);
    if (!f)
        return -1;
    touchstone_descriptors()[descriptor] = 0;
    return fclose(f);
}

ssize_t read(int descriptor, void *into, size_t size)
{
    FILE *f = file(descriptor);
    ssize_t n = 0;
    int c = 0;
    if (!f)
        return -1;
    while ((size_t)n < size && (c = touchstone_file_get(f)) >= 0)
        ((unsigned char *)into)[n++] = (unsigned char)c;
    if (c < 0 && ferror(f))
        n = -1;
    touchstone_file_clear(f);
    return n;
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    FILE *f = file(descriptor);
    size_t n;
    if (!f)
        return -1;
    n = fwrite(bytes, 1, size, f);
    return n < size ? -1 : (ssize_t)n;
}

long lseek(int descriptor, long offset, int from)
{
    FILE *f = file(descriptor);
    if (!f || fseek(f, offset, from))
        return -1;
    return ftell(f);
}
