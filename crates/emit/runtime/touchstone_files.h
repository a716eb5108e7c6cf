/* Streams with contents that the test prescribes.
 *
 *     FILE *f = STREAM();     a stream that is passed to the program
 *     FILE_WITH("a\n");      the contents of the next file that the program opens, or of a stream of the test at its first read
 *     NO_FILE();              the next file cannot be opened
 *     FAILING_FILE("a\n", "read close");   as FILE_WITH, with failing operations: read (beyond the contents), write (write2:
 *                             from the second time on), flush, close, seek
 *     FAILING_OUTPUT("write2");   standard output fails: write (write2: from the second time on), flush
 *     WORKING_OUTPUT();       after the tested call: restores standard output
 *
 * This definition of fopen takes precedence over that of the shared library for calls in the program. Written data is
 * discarded. Each such test needs its own process. This header declares nothing of the library, so that no name of the program
 * can clash with it.
 */
#ifndef TOUCHSTONE_FILES_H
#define TOUCHSTONE_FILES_H

#include <stddef.h>

#undef STREAM
#undef FILE_WITH
#undef NO_FILE
#undef FAILING_FILE
#undef FAILING_OUTPUT
#undef WORKING_OUTPUT

#define TOUCHSTONE_MOST_FILES 64

struct touchstone_file {
    const char *text;
    size_t size;
    const char *fails;
};
static struct touchstone_file touchstone_files[TOUCHSTONE_MOST_FILES];
static unsigned touchstone_files_given, touchstone_files_taken;

struct touchstone_stream {
    struct touchstone_file *file;
    size_t at;
    unsigned writes;
};
struct touchstone_io {
    long (*read)(void *, char *, size_t);
    long (*write)(void *, const char *, size_t);
    int (*seek)(void *, long *, int);
    int (*close)(void *);
};
extern void *touchstone_fopencookie(void *, const char *, struct touchstone_io) __asm__("fopencookie");
extern int touchstone_setvbuf(void *, char *, int, size_t) __asm__("setvbuf");
extern int *__errno_location(void);

__attribute__((__unused__)) static void touchstone_add_file(const char *text, size_t size, const char *fails) {
    if (touchstone_files_given == TOUCHSTONE_MOST_FILES) return;
    touchstone_files[touchstone_files_given].text = text;
    touchstone_files[touchstone_files_given].size = size;
    touchstone_files[touchstone_files_given++].fails = fails;
}

/* The failing operation that begins with this prefix, if there is one; no two share a prefix. */
static const char *touchstone_file_fails(struct touchstone_file *file, char first) {
    const char *at = file->fails;
    for (; *at; at++)
        if (*at == first && (at == file->fails || at[-1] == ' ')) return at;
    return NULL;
}

/* An empty file, if the test prescribes no further one. */
static struct touchstone_file *touchstone_next_file(void) {
    static struct touchstone_file empty = {"", 0, ""};
    return touchstone_files_taken < touchstone_files_given ? &touchstone_files[touchstone_files_taken++] : &empty;
}

/* A stream of the test gets its contents at the first read. */
static struct touchstone_file *touchstone_file_of(struct touchstone_stream *stream) {
    if (!stream->file) stream->file = touchstone_next_file();
    return stream->file;
}

static long touchstone_file_read(void *cookie, char *to, size_t size) {
    struct touchstone_stream *stream = (struct touchstone_stream *)cookie;
    struct touchstone_file *file = touchstone_file_of(stream);
    size_t left = stream->at < file->size ? file->size - stream->at : 0;
    if (!left && touchstone_file_fails(file, 'r')) return -1;
    if (size > left) size = left;
    __builtin_memcpy(to, file->text + stream->at, size);
    stream->at += size;
    return (long)size;
}

static long touchstone_file_written(void *cookie, const char *from, size_t size) {
    struct touchstone_stream *stream = (struct touchstone_stream *)cookie;
    struct touchstone_file *file = touchstone_file_of(stream);
    const char *word = touchstone_file_fails(file, 'w');
    unsigned first = word && word[5] > '0' && word[5] <= '9' ? (unsigned)(word[5] - '0') : 1;
    (void)from;
    stream->writes++;
    return (word && stream->writes >= first) || touchstone_file_fails(file, 'f') ? 0 : (long)size;
}

static int touchstone_file_seek(void *cookie, long *offset, int from) {
    struct touchstone_stream *stream = (struct touchstone_stream *)cookie;
    long start;
    if (touchstone_file_fails(touchstone_file_of(stream), 's')) {
        *__errno_location() = 29; /* ESPIPE */
        return -1;
    }
    start = from == 0 ? 0 : from == 1 ? (long)stream->at : (long)touchstone_file_of(stream)->size;
    if (start + *offset < 0) return -1;
    stream->at = (size_t)(start + *offset);
    *offset = (long)stream->at;
    return 0;
}

static int touchstone_file_closed(void *cookie) {
    return touchstone_file_fails(touchstone_file_of((struct touchstone_stream *)cookie), 'c') ? -1 : 0;
}

__attribute__((__unused__)) static void *touchstone_file_open(struct touchstone_file *file, const char *mode) {
    static struct touchstone_stream streams[TOUCHSTONE_MOST_FILES];
    static unsigned count;
    struct touchstone_io functions = {touchstone_file_read, touchstone_file_written, touchstone_file_seek, touchstone_file_closed};
    struct touchstone_stream *stream = &streams[count++ % TOUCHSTONE_MOST_FILES];
    void *made;
    stream->file = file;
    stream->at = 0;
    stream->writes = 0;
    made = touchstone_fopencookie(stream, mode, functions);
    /* Unbuffered, so that a write fails immediately, unless the flush is to fail. */
    if (made && !(file && touchstone_file_fails(file, 'f'))) touchstone_setvbuf(made, NULL, 2, 0);
    return made;
}

/* Writes before the failure are passed to standard output. */
extern void *touchstone_stdout __asm__("stdout");
extern int touchstone_fputc(int, void *) __asm__("fputc");
extern int touchstone_fflush(void *) __asm__("fflush");
extern size_t touchstone_fwrite(const void *, size_t, size_t, void *) __asm__("fwrite");
static void *touchstone_real_stdout;

static long touchstone_output_written(void *cookie, const char *from, size_t size) {
    long written = touchstone_file_written(cookie, from, size);
    if (written) touchstone_fwrite(from, 1, size, touchstone_real_stdout);
    return written;
}

__attribute__((__unused__)) static void touchstone_fail_output(const char *words) {
    static char buffer[65536];
    static struct touchstone_file file = {"", 0, ""};
    static struct touchstone_stream stream = {NULL, 0, 0};
    struct touchstone_io functions = {NULL, touchstone_output_written, NULL, NULL};
    const char *word;
    void *made;
    file.fails = words;
    stream.file = &file;
    stream.writes = 0;
    made = touchstone_fopencookie(&stream, "w", functions);
    if (!made) return;
    word = touchstone_file_fails(&file, 'w');
    touchstone_setvbuf(made, word ? NULL : buffer, word ? 2 : 0, word ? 0 : sizeof buffer);
    /* It failed before, or the buffer is not empty. */
    if (!word || word[5] <= '1') touchstone_fputc('\n', made);
    touchstone_real_stdout = touchstone_stdout;
    touchstone_stdout = made;
}

/* The contents of the buffer are kept. */
__attribute__((__unused__)) static void touchstone_restore_output(void) {
    if (touchstone_real_stdout) touchstone_stdout = touchstone_real_stdout;
    touchstone_real_stdout = NULL;
}

/* clang's sanitizer has weak definitions of its own. */
#define TOUCHSTONE_OPENS __attribute__((__weak__))
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef TOUCHSTONE_OPENS
#define TOUCHSTONE_OPENS
#endif
#endif
TOUCHSTONE_OPENS void *touchstone_fopen(const char *name, const char *mode) __asm__("fopen");
TOUCHSTONE_OPENS void *touchstone_fopen(const char *name, const char *mode) {
    struct touchstone_file *file = touchstone_next_file();
    (void)*(const volatile char *)name;
    if (!file->text) {
        *__errno_location() = 2; /* ENOENT */
        return NULL;
    }
    return touchstone_file_open(file, mode);
}
TOUCHSTONE_OPENS void *touchstone_fopen64(const char *name, const char *mode) __asm__("fopen64");
TOUCHSTONE_OPENS void *touchstone_fopen64(const char *name, const char *mode) { return touchstone_fopen(name, mode); }

#define STREAM() touchstone_file_open(NULL, "r+")
#define FILE_WITH(text) touchstone_add_file(text, sizeof(text) - 1, "")
#define FAILING_FILE(text, words) touchstone_add_file(text, sizeof(text) - 1, words)
#define FAILING_OUTPUT(words) touchstone_fail_output(words)
#define WORKING_OUTPUT() touchstone_restore_output()
#define NO_FILE() touchstone_add_file(NULL, 0, "")
#endif
