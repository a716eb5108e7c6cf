/* Output and files (descriptors are in descriptors.c). In a concrete run, files exist only in memory and for the duration of the run, and a file that the
   program did not write does not exist. In symbolic execution they are inputs (TOUCHSTONE_FILES).

   A call of `printf` with an unused result becomes one of `touchstone_quiet_printf` (`fprintf`, … likewise): the
   number of bytes is a condition for each digit, and most programs don't use it. */

typedef unsigned long size_t;
typedef __builtin_va_list va_list;
typedef struct _IO_FILE FILE;

int touchstone_vprintf(int stream, const char *format, va_list list);
void touchstone_write(int stream, const void *bytes, size_t size);
void touchstone_refuse(const char *what);
int vsnprintf(char *, size_t, const char *, va_list);
size_t strlen(const char *);
int strcmp(const char *, const char *);
char *strcpy(char *, const char *);
void *memcpy(void *, const void *, size_t);
int touchstone_unspecified(const char *, int);
size_t touchstone_unspecified_size(const char *, size_t);
void *malloc(size_t);
void *touchstone_allocate(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void touchstone_run_only(const char *name);
int *__errno_location(void);

/* Files with a known behaviour: plain ones, /dev/null and /dev/zero. */
enum device { PLAIN, NOTHING, ZEROS };

struct touchstone_file {
    struct touchstone_file *next;
    enum device device;
    char *name;
    char *bytes;
    size_t size, room;
};

struct _IO_FILE {
    struct touchstone_file *file;
    size_t at;
    int reads, writes, appends;
    int pushed; /* A byte that was pushed back, incremented by one. */
    int at_end, failed;
};
FILE touchstone_streams[3];
FILE *const stdin = &touchstone_streams[0];
FILE *const stdout = &touchstone_streams[1];
FILE *const stderr = &touchstone_streams[2];

enum { NO_ENTRY = 2, BAD_FILE = 9, BAD_ADDRESS = 14, INVALID = 22, NO_SEEKING = 29 };

/* True if output is the run's output. Only `freopen` redirects a standard stream, and few programs call it. */
#ifdef TOUCHSTONE_REDIRECTED
#define IS_CONSOLE(f, standard) ((f) == (standard) && !(f)->file)
#else
#define IS_CONSOLE(f, standard) ((f) == (standard))
#endif

#ifdef TOUCHSTONE_FILES
/* Files as inputs: the contents of a stream are requested when it is opened, or first read from. Tests create such streams
   (touchstone_files.h), in the same order. Unsupported, as in tests: more bytes, more streams, reading and writing of one stream.

   A stream may fail: on reading after its last byte, on writing from one of its first writes on or when its buffer is flushed,
   on closing, and on seeking (which alone sets errno). Results and error flags are computed without branches, so that unused ones add no path. */
void touchstone_given_file(void *address, unsigned long size, const char *name);
void touchstone_given_output(void *address, unsigned long size, const char *name);
void touchstone_assume(long condition);

enum { MOST_STREAMS = 3 };
enum use { UNUSED, READS, WRITES };
enum failing { READING = 1, WRITING = 2, FLUSHING = 4, CLOSING = 8, SEEKING = 16 };
enum { WRITES_BEFORE = 8, MOST_BEFORE = 3, NOTHING_ELSE = 0xe0, MOST_WAITING = 4096 };

struct touchstone_content {
    unsigned short length; /* The maximum plus one is a longer file, plus two a missing one. */
    unsigned short fails;  /* A set of `failing`; above, the number of writes before the first failure. */
    unsigned char text[TOUCHSTONE_FILES];
};

struct touchstone_stream {
    const FILE *key;
    struct touchstone_content given;
    enum use use;
    long at;
    size_t waiting; /* The number of bytes written but not flushed. */
    unsigned writes;
    int is_known, has_own_buffer;
    int pushed; /* A byte that was pushed back, incremented by one. */
    int at_end, failed;
    int perhaps_failed; /* A write may have had no effect. */
};

/* In a function, because no test can set it; shared by all inclusions of this file. */
struct touchstone_stream *touchstone_stream_table(void)
{
    static struct touchstone_stream all[MOST_STREAMS];
    return all;
}

static struct touchstone_stream *free_stream(const FILE *key)
{
    struct touchstone_stream *all = touchstone_stream_table();
    int i;
    for (i = 0; i < MOST_STREAMS; i++)
        if (!all[i].key) {
            all[i].key = key;
            return &all[i];
        }
    touchstone_refuse("more than three streams in one test");
    return 0;
}

int touchstone_is_stream(const void *);

/* A stream that need not come from `fopen`. A test creates one only for a pointer to FILE, not for a `void *`. */
static struct touchstone_stream *stream_of(const FILE *f)
{
    struct touchstone_stream *all = touchstone_stream_table();
    int i;
    (void)*(const volatile char *)f;
    for (i = 0; i < MOST_STREAMS; i++)
        if (all[i].key == f)
            return &all[i];
    if (!touchstone_is_stream(f))
        touchstone_refuse("a stream behind a pointer of another type");
    return free_stream(f);
}

static void ask(struct touchstone_stream *stream, unsigned longest)
{
    stream->is_known = 1;
    touchstone_given_file(&stream->given, sizeof stream->given, "");
    touchstone_assume(stream->given.length <= longest);
    touchstone_assume(stream->given.fails >> WRITES_BEFORE <= MOST_BEFORE);
    touchstone_assume(!(stream->given.fails & NOTHING_ELSE));
}

/* A stream of the test is unbuffered: its contents are known too late. */
static struct touchstone_stream *known(const FILE *f)
{
    struct touchstone_stream *stream = stream_of(f);
    if (!stream->is_known) {
        ask(stream, TOUCHSTONE_FILES + 1);
        touchstone_assume(!(stream->given.fails & FLUSHING));
    }
    return stream;
}

/* Returns 1 on failure, otherwise 0. */
static int fails(const struct touchstone_stream *stream, enum failing what) { return (stream->given.fails / what) & 1; }

static struct touchstone_stream *reading(const FILE *f)
{
    struct touchstone_stream *stream = known(f);
    if (stream->use == WRITES)
        touchstone_refuse("reading from a file that is written");
    stream->use = READS;
    return stream;
}

FILE *fopen(const char *name, const char *mode)
{
    struct touchstone_stream *stream;
    FILE *f;
    if (*mode != 'r' && *mode != 'w' && *mode != 'a') {
        *__errno_location() = INVALID;
        return 0;
    }
    if (mode[1] == '+' || (mode[1] && mode[2] == '+'))
        touchstone_refuse("a file that is read and written");
    (void)*(const volatile char *)name;
    stream = free_stream(0);
    ask(stream, TOUCHSTONE_FILES + 2);
    touchstone_assume((stream->given.fails & (WRITING | FLUSHING)) != (WRITING | FLUSHING));
    if (stream->given.length == TOUCHSTONE_FILES + 2) {
        stream->is_known = 0; /* Free for reuse. */
        *__errno_location() = touchstone_unspecified("a file may not open for another reason", NO_ENTRY);
        return 0;
    }
    f = touchstone_allocate(sizeof *f);
    stream->key = f;
    stream->use = *mode == 'r' ? READS : WRITES;
    return f;
}

FILE *freopen(const char *name, const char *mode, FILE *f)
{
    touchstone_run_only("freopen");
    return f;
}

FILE *tmpfile(void)
{
    touchstone_run_only("tmpfile");
    return 0;
}

char *tmpnam(char *into)
{
    touchstone_run_only("tmpnam");
    return into;
}

int fclose(FILE *f)
{
    int failing = 0;
    if (f != stdin && f != stdout && f != stderr) {
        struct touchstone_stream *stream = known(f);
        failing = fails(stream, CLOSING) | (fails(stream, FLUSHING) & (stream->waiting != 0));
        stream->key = &touchstone_streams[0]; /* Free from now on. */
        free(f);
    }
    return touchstone_unspecified("output may fail", -failing);
}

static int cannot_seek(const struct touchstone_stream *stream)
{
    if (!fails(stream, SEEKING))
        return 0;
    if (stream->pushed)
        touchstone_refuse("seeking that fails after ungetc");
    *__errno_location() = NO_SEEKING;
    return 1;
}

int fseek(FILE *f, long offset, int from)
{
    struct touchstone_stream *stream;
    long at;
    if (f == stdin || f == stdout || f == stderr)
        touchstone_run_only("fseek of a standard stream");
    stream = reading(f);
    if (cannot_seek(stream))
        return touchstone_unspecified("seeking may fail", -1);
    if (stream->given.length > TOUCHSTONE_FILES)
        touchstone_refuse("a file that is longer than those of tests");
    at = offset + (from == 0 ? 0 : from == 1 ? stream->at - (stream->pushed != 0) : (long)stream->given.length);
    if (at < 0) {
        *__errno_location() = INVALID;
        return -1;
    }
    stream->at = at;
    stream->at_end = stream->pushed = 0;
    return touchstone_unspecified("seeking may fail", 0);
}

long ftell(FILE *f)
{
    struct touchstone_stream *stream;
    if (f == stdin || f == stdout || f == stderr)
        touchstone_run_only("ftell of a standard stream");
    stream = reading(f);
    if (cannot_seek(stream))
        return (long)touchstone_unspecified_size("seeking may fail", (size_t)-1);
    return (long)touchstone_unspecified_size("seeking may fail", (size_t)(stream->at - (stream->pushed != 0)));
}

void rewind(FILE *f)
{
    struct touchstone_stream *stream;
    fseek(f, 0, 0);
    stream = known(f);
    stream->at_end = stream->failed = 0;
}

/* Reads a byte of a file; -1 at its end. */
int touchstone_file_get(FILE *f)
{
    struct touchstone_stream *stream = reading(f);
    int c = stream->pushed - 1;
    stream->pushed = 0;
    if (c >= 0)
        return c;
    if (stream->at >= (long)stream->given.length) {
        stream->failed |= fails(stream, READING);
        stream->at_end |= 1 - fails(stream, READING);
        /* A read that failed may succeed later. */
        c = touchstone_unspecified("reading may fail", -1);
        touchstone_assume(c >= -1);
        touchstone_assume(c <= 255);
        return c;
    }
    if (stream->at >= TOUCHSTONE_FILES)
        touchstone_refuse("a file that is longer than those of tests");
    return stream->given.text[stream->at++];
}

int touchstone_file_unget(FILE *f, int c)
{
    struct touchstone_stream *stream = reading(f);
    if (stream->pushed)
        touchstone_refuse("ungetc of a second byte");
    stream->pushed = (unsigned char)c + 1;
    stream->at_end = 0;
    return (unsigned char)c;
}

int touchstone_file_at_end(FILE *f) { return touchstone_unspecified("reading may fail", stream_of(f)->at_end); }

/* True if a byte is missing because of a read error. */
int touchstone_file_broke(FILE *f) { return touchstone_unspecified("reading may fail", fails(reading(f), READING)); }

void touchstone_file_clear(FILE *f)
{
    struct touchstone_stream *stream = stream_of(f);
    stream->at_end = stream->failed = stream->perhaps_failed = 0;
}

static int file_failed(FILE *f)
{
    struct touchstone_stream *stream = stream_of(f);
    if (stream->perhaps_failed && !stream->failed)
        touchstone_refuse("writing that fails of a text that may be empty");
    return touchstone_unspecified("reading may fail", stream->failed);
}

static int file_flush(FILE *f)
{
    struct touchstone_stream *stream = stream_of(f);
    int failing = fails(stream, FLUSHING) & (stream->waiting != 0);
    stream->failed |= failing;
    stream->waiting = 0;
    return -failing;
}

static void file_buffer(FILE *f) { stream_of(f)->has_own_buffer = 1; }

/* Standard output may fail, too: from the beginning on (with its error flag set), from a later write on, or when
   its buffer is flushed, which may not be empty. Output with an unused result is not modelled here:
   in a program that has it (TOUCHSTONE_QUIET_OUTPUT), neither the number of writes nor the buffered bytes are known. */
struct touchstone_console {
    unsigned short fails; /* As for a file. */
    int is_known;
    unsigned writes, flushes, waiting;
    int failed;
};

struct touchstone_console *touchstone_console(void)
{
    static struct touchstone_console out;
    return &out;
}

static struct touchstone_console *console(void)
{
    struct touchstone_console *out = touchstone_console();
    if (out->is_known)
        return out;
    out->is_known = 1;
    touchstone_given_output(&out->fails, sizeof out->fails, "");
    touchstone_assume(!(out->fails & 0xff & ~(WRITING | FLUSHING)));
    touchstone_assume((out->fails & (WRITING | FLUSHING)) != (WRITING | FLUSHING));
    touchstone_assume(out->fails >> WRITES_BEFORE <= MOST_BEFORE);
#ifdef TOUCHSTONE_QUIET_OUTPUT
    touchstone_assume(!(out->fails >> WRITES_BEFORE));
#endif
    out->failed = (out->fails / WRITING & 1) & (out->fails >> WRITES_BEFORE == 0);
    out->waiting = 1;
    return out;
}

/* Returns 1 if one of these writes fails, otherwise 0. */
static int console_fails(unsigned writes)
{
    struct touchstone_console *out = console();
    int failing = (out->fails / WRITING & 1) & (writes != 0) & (out->writes + writes > out->fails >> WRITES_BEFORE);
    out->writes += writes;
    out->waiting |= writes != 0;
    out->failed |= failing;
    if (out->writes > MOST_WAITING)
        touchstone_assume(!(out->fails & FLUSHING));
    return failing;
}

static int console_flush(void)
{
    struct touchstone_console *out = console();
    int failing = (out->fails / FLUSHING & 1) & (out->waiting != 0);
#ifdef TOUCHSTONE_QUIET_OUTPUT
    if (out->flushes++)
        touchstone_assume(!(out->fails & FLUSHING));
#endif
    out->waiting = 0;
    out->failed |= failing;
    return failing;
}

static int console_failed(void) { return console()->failed; }

static struct touchstone_stream *writing(FILE *f)
{
    struct touchstone_stream *stream = known(f);
    if (stream->use == READS)
        touchstone_refuse("writing to a file that is read");
    stream->use = WRITES;
    if (stream->has_own_buffer && stream->given.fails & (WRITING | FLUSHING))
        touchstone_refuse("writing that fails to a stream whose buffer the program sets");
    return stream;
}

/* Tests don't check the contents of files. */
static size_t file_put(FILE *f, const char *bytes, size_t size)
{
    struct touchstone_stream *stream;
    char part;
    int failing;
    if (!size) {
        (void)*(const volatile char *)f;
        return 0;
    }
    stream = writing(f);
    /* The bytes are accessed even if writing fails. */
    memcpy(&part, bytes, 1);
    memcpy(&part, bytes + size - 1, 1);
    failing = fails(stream, WRITING) & (stream->writes >= stream->given.fails >> WRITES_BEFORE);
    stream->writes++;
    stream->failed |= failing;
    stream->waiting += size;
    if (stream->waiting > MOST_WAITING && stream->given.fails & FLUSHING)
        touchstone_refuse("more than fits into a buffer that can't be emptied");
    return size * (size_t)(1 - failing);
}

/* Formatted output with an unused result. */
static void file_print(FILE *f, const char *format)
{
    struct touchstone_stream *stream;
    if (*format != '%' || format[1] == 'd' || format[1] == 'u' || format[1] == 'x' || format[1] == 'c') {
        file_put(f, format, *format != 0);
        return;
    }
    stream = writing(f);
    if (stream->given.fails & (FLUSHING | MOST_BEFORE << WRITES_BEFORE))
        touchstone_refuse("writing that fails later than a text that may be empty");
    stream->perhaps_failed |= fails(stream, WRITING);
}
#else
/* In a function, because no test can set it; shared by all inclusions of this file. */
struct touchstone_file **touchstone_files(void)
{
    static struct touchstone_file *first;
    return &first;
}

static struct touchstone_file **find(const char *name)
{
    struct touchstone_file **at = touchstone_files();
    while (*at && strcmp((*at)->name, name))
        at = &(*at)->next;
    return at;
}

static struct touchstone_file *make(const char *name)
{
    struct touchstone_file *file = calloc(1, sizeof *file);
    file->name = malloc(strlen(name) + 1);
    strcpy(file->name, name);
    return file;
}

static struct touchstone_file *device(const char *name)
{
    struct touchstone_file *file;
    enum device which = !strcmp(name, "/dev/null") ? NOTHING : !strcmp(name, "/dev/zero") ? ZEROS : PLAIN;
    if (which == PLAIN)
        return 0;
    file = make(name);
    file->device = which;
    return file;
}

int touchstone_file_exists(const char *name)
{
    return *find(name) || !strcmp(name, "/dev/null") || !strcmp(name, "/dev/zero");
}

/* Sets the permitted operations of a file that is opened without a mode string. */
void touchstone_file_rights(FILE *f, int reads, int writes, int appends)
{
    f->reads = reads;
    f->writes = writes;
    f->appends = appends;
}

static FILE *stream(struct touchstone_file *file, const char *mode)
{
    FILE *f = calloc(1, sizeof *f);
    int both = mode[1] == '+' || (mode[1] && mode[2] == '+');
    f->file = file;
    f->reads = both | (*mode == 'r');
    f->writes = both | (*mode != 'r');
    f->appends = *mode == 'a';
    return f;
}

FILE *fopen(const char *name, const char *mode)
{
    struct touchstone_file **at, *file;
    touchstone_run_only("files");
    if (*mode != 'r' && *mode != 'w' && *mode != 'a') {
        *__errno_location() = INVALID;
        return 0;
    }
    if (!name) {
        *__errno_location() = BAD_ADDRESS; /* as in the kernel, which accesses it first */
        return 0;
    }
    file = device(name);
    if (file)
        return stream(file, mode);
    at = find(name);
    if (!*at && *mode == 'r') {
        *__errno_location() = NO_ENTRY;
        return 0;
    }
    if (!*at)
        *at = make(name);
    file = *at;
    if (*mode == 'w')
        file->size = 0;
    return stream(file, mode);
}

FILE *freopen(const char *name, const char *mode, FILE *f)
{
    FILE *opened;
    touchstone_run_only("files");
    if (f == stdin || !name)
        touchstone_refuse("freopen of standard input, or of no file");
    opened = fopen(name, mode);
    if (!opened)
        touchstone_refuse("freopen that fails");
    *f = *opened;
    free(opened);
    return f;
}

FILE *tmpfile(void)
{
    touchstone_run_only("files");
    return stream(make(""), "w+");
}

/* Names are unique unless the program constructs such names itself. */
char *tmpnam(char *into)
{
    static char own[20];
    static unsigned count;
    static const char form[] = "/tmp/file000000";
    char *name = into ? into : own;
    unsigned rest, at;
    touchstone_run_only("files");
    strcpy(name, form);
    rest = count++;
    for (at = sizeof form - 2; rest; rest /= 10)
        name[at--] += (char)(rest % 10);
    return name;
}

int fclose(FILE *f)
{
    if (f != stdin && f != stdout && f != stderr) {
        touchstone_run_only("files");
        free(f);
    }
#ifdef TOUCHSTONE_REDIRECTED
    else {
        f->file = make("");
        f->reads = f->writes = 0;
    }
#endif
    return 0;
}

int remove(const char *name)
{
    struct touchstone_file **at;
    touchstone_run_only("files");
    at = find(name);
    if (!*at) {
        *__errno_location() = NO_ENTRY;
        return -1;
    }
    /* Open streams keep the file. */
    *at = (*at)->next;
    return 0;
}

int unlink(const char *name) { return remove(name); }

int rename(const char *from, const char *to)
{
    struct touchstone_file **at, *file;
    touchstone_run_only("files");
    at = find(from);
    if (!*at) {
        *__errno_location() = NO_ENTRY;
        return -1;
    }
    file = *at;
    if (!strcmp(from, to))
        return 0;
    *at = file->next;
    at = find(to);
    if (*at)
        *at = (*at)->next;
    file->name = malloc(strlen(to) + 1);
    strcpy(file->name, to);
    file->next = *touchstone_files();
    *touchstone_files() = file;
    return 0;
}

int fseek(FILE *f, long offset, int from)
{
    long at;
    touchstone_run_only("files");
    if (!f->file) {
        *__errno_location() = 29;
        return -1;
    }
    at = offset + (from == 0 ? 0 : from == 1 ? (long)f->at : (long)f->file->size);
    if (at < 0) {
        *__errno_location() = INVALID;
        return -1;
    }
    f->at = (size_t)at;
    f->at_end = f->pushed = 0;
    return 0;
}

long ftell(FILE *f)
{
    touchstone_run_only("files");
    if (!f->file) {
        *__errno_location() = 29;
        return -1;
    }
    return (long)f->at - (f->pushed != 0);
}

void rewind(FILE *f)
{
    fseek(f, 0, 0);
    f->failed = 0;
}

/* Reads a byte of a file; -1 at its end. */
int touchstone_file_get(FILE *f)
{
    int c;
    touchstone_run_only("files");
    if (!f->reads) {
        *__errno_location() = BAD_FILE;
        f->failed = 1;
        return -1;
    }
    c = f->pushed - 1;
    f->pushed = 0;
    if (c >= 0)
        return c;
    if (f->file->device == ZEROS)
        return 0;
    if (f->at >= f->file->size) {
        f->at_end = 1;
        return -1;
    }
    return (unsigned char)f->file->bytes[f->at++];
}

int touchstone_file_unget(FILE *f, int c)
{
    touchstone_run_only("files");
    if (f->pushed)
        touchstone_refuse("ungetc of a second byte");
    f->pushed = (unsigned char)c + 1;
    f->at_end = 0;
    return (unsigned char)c;
}

int touchstone_file_at_end(FILE *f)
{
    touchstone_run_only("files");
    return f->at_end;
}

int touchstone_file_broke(FILE *f) { return 0; }

/* In a concrete run, standard output never fails. */
static int console_fails(unsigned writes) { return 0; }
static int console_flush(void) { return 0; }
static int console_failed(void) { return 0; }

void touchstone_file_clear(FILE *f)
{
    touchstone_run_only("files");
    f->at_end = f->failed = 0;
}

/* The number of bytes that a file accepts. */
static size_t file_put(FILE *f, const char *bytes, size_t size)
{
    struct touchstone_file *file;
    touchstone_run_only("files");
    if (!f->writes) {
        *__errno_location() = BAD_FILE;
        f->failed = 1;
        return 0;
    }
    file = f->file;
    if (file->device != PLAIN)
        return size;
    if (f->appends)
        f->at = file->size;
    if (f->at + size > file->room) {
        file->room = 2 * (f->at + size);
        file->bytes = realloc(file->bytes, file->room);
    }
    while (file->size < f->at)
        file->bytes[file->size++] = 0;
    memcpy(file->bytes + f->at, bytes, size);
    f->at += size;
    if (f->at > file->size)
        file->size = f->at;
    return size;
}

#endif

/* The number of bytes that are written. */
static size_t put(FILE *f, const void *bytes, size_t size)
{
    if (IS_CONSOLE(f, stdout)) {
        touchstone_write(1, bytes, size);
        return size * (size_t)(1 - console_fails(size != 0));
    }
    if (!IS_CONSOLE(f, stderr))
        return file_put(f, bytes, size);
    touchstone_write(2, bytes, size);
    return size;
}

static void print(FILE *f, const char *format, va_list list)
{
    if (IS_CONSOLE(f, stdout)) {
        touchstone_vprintf(1, format, list);
    } else if (IS_CONSOLE(f, stderr)) {
        touchstone_vprintf(2, format, list);
    } else {
        va_list copy;
        int n;
        char *text;
#ifdef TOUCHSTONE_FILES
        file_print(f, format);
        return;
#endif
        __builtin_va_copy(copy, list);
        n = vsnprintf(0, 0, format, copy);
        __builtin_va_end(copy);
        text = malloc((size_t)n + 1);
        vsnprintf(text, (size_t)n + 1, format, list);
        file_put(f, text, (size_t)n);
        free(text);
    }
}

/* Accesses the arguments, since printing by the format alone does not reveal their types. */
static void look_at(const char *format, va_list list)
{
    va_list copy;
    __builtin_va_copy(copy, list);
    vsnprintf(0, 0, format, copy);
    __builtin_va_end(copy);
}

int touchstone_quiet_vfprintf(FILE *f, const char *format, va_list list)
{
    look_at(format, list);
    print(f, format, list);
    return 0;
}

int touchstone_quiet_vprintf(const char *format, va_list list)
{
    look_at(format, list);
    print(stdout, format, list);
    return 0;
}

int touchstone_quiet_fprintf(FILE *f, const char *format, ...)
{
    va_list list;
    __builtin_va_start(list, format);
    print(f, format, list);
    __builtin_va_end(list);
    return 0;
}

int touchstone_quiet_fputs(const char *s, FILE *f)
{
#ifdef TOUCHSTONE_FILES
    if (!IS_CONSOLE(f, stdout) && !IS_CONSOLE(f, stderr)) {
        file_put(f, s, *s != 0);
        return 0;
    }
#endif
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
#ifdef TOUCHSTONE_FILES
    if (!IS_CONSOLE(f, stdout) && !IS_CONSOLE(f, stderr))
        return touchstone_unspecified("output may fail", n | ((int)file_put(f, format, n > 0) - (n > 0)));
#endif
    print(f, format, list);
    return touchstone_unspecified("output may fail", IS_CONSOLE(f, stdout) ? n | -console_fails(n > 0) : n);
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
#ifdef TOUCHSTONE_REDIRECTED
    put(stdout, s, n);
    put(stdout, "\n", 1);
    return touchstone_unspecified("output may fail", (int)n + 1);
#else
    touchstone_write(1, s, n);
    touchstone_write(1, "\n", 1);
    return touchstone_unspecified("output may fail", ((int)n + 1) | -console_fails(1 + (n != 0)));
#endif
}

/* As in glibc. */
int fputs(const char *s, FILE *f)
{
#ifdef TOUCHSTONE_FILES
    if (!IS_CONSOLE(f, stdout) && !IS_CONSOLE(f, stderr)) {
        int some = *s != 0;
        return touchstone_unspecified("output may fail", 1 - 2 * (some - (int)file_put(f, s, (size_t)some)));
    }
#endif
    touchstone_quiet_fputs(s, f);
    return touchstone_unspecified("output may fail", IS_CONSOLE(f, stdout) ? 1 - 2 * console_fails(*s != 0) : 1);
}

int fputc(int c, FILE *f)
{
    unsigned char byte = (unsigned char)c;
    return touchstone_unspecified("output may fail", byte | ((int)put(f, &byte, 1) - 1));
}

int putc(int c, FILE *f) { return fputc(c, f); }
int putchar(int c) { return fputc(c, stdout); }

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *f)
{
    if (!size || !count)
        return 0;
    return touchstone_unspecified_size("output may fail", put(f, bytes, size * count) / size);
}

void perror(const char *s) { touchstone_quiet_fprintf(stderr, "%s: error %d\n", s, *__errno_location()); }

static int is_standard(FILE *f) { return f == stdin || IS_CONSOLE(f, stdout) || IS_CONSOLE(f, stderr); }

#ifdef TOUCHSTONE_FILES
int fflush(FILE *f)
{
    int failed = 0;
    if (!f || IS_CONSOLE(f, stdout))
        failed = -console_flush();
    else if (!is_standard(f))
        failed = file_flush(f);
    return touchstone_unspecified("output may fail", failed);
}

static void set_buffer(FILE *f)
{
    if (!is_standard(f))
        file_buffer(f);
}
#else
static int file_failed(FILE *f)
{
    touchstone_run_only("files");
    return f->failed;
}

int fflush(FILE *f) { return touchstone_unspecified("output may fail", 0); }
static void set_buffer(FILE *f) {}
#endif

int setvbuf(FILE *f, char *buffer, int mode, size_t size)
{
    set_buffer(f);
    return 0;
}

void setbuf(FILE *f, char *buffer) { set_buffer(f); }
void setbuffer(FILE *f, char *buffer, size_t size) { set_buffer(f); }
void setlinebuf(FILE *f) { set_buffer(f); }
int ferror(FILE *f)
{
    if (!is_standard(f))
        return file_failed(f);
    return touchstone_unspecified("a standard stream may have failed", IS_CONSOLE(f, stdout) ? console_failed() : 0);
}
