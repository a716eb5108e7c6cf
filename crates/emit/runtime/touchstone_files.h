/* Files: streams that have what the test says.
 *
 *     FILE *f = STREAM();     a stream that the program is given
 *     FILE_WITH("a\n");      what the next file has that the program opens, or a stream of the test that it first reads from
 *     NO_FILE();              the next file can't be opened
 *
 * The program's own calls of fopen come here, because definitions in a program win over those of the shared library. What is
 * written goes nowhere. Each such test needs a process of its own. Nothing of the library is declared here, so that no name of the program can clash with it.
 */
#ifndef TOUCHSTONE_FILES_H
#define TOUCHSTONE_FILES_H

#include <stddef.h>

#undef STREAM
#undef FILE_WITH
#undef NO_FILE

#define TOUCHSTONE_MOST_FILES 64

struct touchstone_file {
    const char *text;
    size_t size;
};
static struct touchstone_file touchstone_files[TOUCHSTONE_MOST_FILES];
static unsigned touchstone_files_given, touchstone_files_taken;

struct touchstone_stream {
    struct touchstone_file *file;
    size_t at;
};
struct touchstone_io {
    long (*read)(void *, char *, size_t);
    long (*write)(void *, const char *, size_t);
    int (*seek)(void *, long *, int);
    int (*close)(void *);
};
extern void *touchstone_fopencookie(void *, const char *, struct touchstone_io) __asm__("fopencookie");
extern int *__errno_location(void);

__attribute__((__unused__)) static void touchstone_add_file(const char *text, size_t size) {
    if (touchstone_files_given == TOUCHSTONE_MOST_FILES) return;
    touchstone_files[touchstone_files_given].text = text;
    touchstone_files[touchstone_files_given++].size = size;
}

/* One that has nothing, if the test says no more. */
static struct touchstone_file *touchstone_next_file(void) {
    static struct touchstone_file empty = {"", 0};
    return touchstone_files_taken < touchstone_files_given ? &touchstone_files[touchstone_files_taken++] : &empty;
}

/* A stream of the test has its file from the first read on. */
static struct touchstone_file *touchstone_file_of(struct touchstone_stream *stream) {
    if (!stream->file) stream->file = touchstone_next_file();
    return stream->file;
}

static long touchstone_file_read(void *cookie, char *to, size_t size) {
    struct touchstone_stream *stream = (struct touchstone_stream *)cookie;
    struct touchstone_file *file = touchstone_file_of(stream);
    size_t left = stream->at < file->size ? file->size - stream->at : 0;
    if (size > left) size = left;
    __builtin_memcpy(to, file->text + stream->at, size);
    stream->at += size;
    return (long)size;
}

static long touchstone_file_written(void *cookie, const char *from, size_t size) {
    (void)cookie;
    (void)from;
    return (long)size;
}

static int touchstone_file_seek(void *cookie, long *offset, int from) {
    struct touchstone_stream *stream = (struct touchstone_stream *)cookie;
    long start = from == 0 ? 0 : from == 1 ? (long)stream->at : (long)touchstone_file_of(stream)->size;
    if (start + *offset < 0) return -1;
    stream->at = (size_t)(start + *offset);
    *offset = (long)stream->at;
    return 0;
}

static int touchstone_file_closed(void *cookie) {
    (void)cookie;
    return 0;
}

__attribute__((__unused__)) static void *touchstone_file_open(struct touchstone_file *file, const char *mode) {
    static struct touchstone_stream streams[TOUCHSTONE_MOST_FILES];
    static unsigned count;
    struct touchstone_io functions = {touchstone_file_read, touchstone_file_written, touchstone_file_seek, touchstone_file_closed};
    struct touchstone_stream *stream = &streams[count++ % TOUCHSTONE_MOST_FILES];
    stream->file = file;
    stream->at = 0;
    return touchstone_fopencookie(stream, mode, functions);
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
#define FILE_WITH(text) touchstone_add_file(text, sizeof(text) - 1)
#define NO_FILE() touchstone_add_file(NULL, 0)
#endif
