/* What clang says of a C file, told shortly: clang's JSON costs more to print and to read than all that it does before. So the
   functions that print JSON are replaced in memory by these, which write a byte where a word stands there, leave out what
   nobody reads (`keys`, from the reader), and say once what is said of a type or a declaration each time it is mentioned.
   `compact.rs` reads it, and describes it.

   All of it rests on how clang's library lays out its values: `can_tell_shortly` tries that on a text of its own, and where
   anything is not as expected, clang prints JSON. No byte is zero. Whatever is unexpected later ends this clang with a status
   that makes whoever asked start another. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { START = 0x7f, FIRST_KEY = 0x20, UNEXPECTED = 254 };
enum { OBJECT = 1, OBJECT_END, ARRAY, ARRAY_END, TRUE, FALSE, INTEGER, UNSIGNED, TEXT, NUMBER_OF_NODE, NEW_WORD, WORD, NEW_OBJECT, SAME_OBJECT, NOTHING, NEW_PLACE, SAME_PLACE };

/* `llvm::json::Value`, `Object` and its `ObjectKey`s, where strings are libstdc++'s. */
enum { IS_NULL, IS_BOOLEAN, IS_DOUBLE, IS_INTEGER, IS_UNSIGNED, IS_REFERENCE, IS_STRING, IS_OBJECT };
struct object { struct entry *entries; unsigned count, removed, size; };
struct value {
    uint16_t type;
    union {
        uint8_t truth;
        int64_t integer;
        uint64_t natural;
        struct { const char *data; size_t length; } text;
        struct object object;
        char all[32];
    } is;
};
struct entry { void *owned; const char *key; size_t length; struct value value; };

static unsigned char buffer[1 << 17];
static size_t used, told, depth, skipped;
static unsigned current;

static void unexpected(void) { _exit(UNEXPECTED); }

static void flush(void)
{
    size_t done = 0;
    while (done < used) {
        ssize_t got = write(1, buffer + done, used - done);
        if (got < 0 && errno != EINTR) unexpected();
        if (got > 0) done += (size_t)got;
    }
    told += used;
    used = 0;
}

static void room(size_t size)
{
    if (used + size > sizeof buffer) flush();
}

static void byte(unsigned what)
{
    room(1);
    buffer[used++] = (unsigned char)what;
}

/* Seven bits a byte, the lowest first; one more, so that none is zero. */
static void number(uint64_t what)
{
    room(10);
    if (!++what) unexpected();
    for (; what > 127; what >>= 7) buffer[used++] = (unsigned char)(what | 128);
    buffer[used++] = (unsigned char)what;
}

static void bytes(const char *data, size_t length)
{
    number(length);
    if (length && memchr(data, 0, length)) unexpected();
    while (length) {
        size_t part = length < sizeof buffer ? length : sizeof buffer;
        room(part);
        memcpy(buffer + used, data, part);
        used += part, data += part, length -= part;
    }
}

/* Things with numbers, by what they are made of. */
struct known { uint64_t hash; const void *is; size_t length; unsigned number; struct object object; };
struct table { struct known *all; size_t size, count; };
static struct table words, objects;
static unsigned new_objects;

static void forget(struct table *table)
{
    if (table->all) memset(table->all, 0, table->size * sizeof *table->all);
    table->count = 0;
}

/* Its place, which is empty (`hash` is zero) if it is new. */
static struct known *place(struct table *table, uint64_t hash, const void *is, size_t length, int by_content)
{
    hash |= 1;
    if (table->count * 2 >= table->size) {
        struct table larger = {NULL, table->size ? table->size * 2 : 1024, table->count};
        larger.all = calloc(larger.size, sizeof *larger.all);
        if (!larger.all) unexpected();
        for (size_t index = 0; index < table->size; index++) {
            if (!table->all[index].hash) continue;
            size_t to = table->all[index].hash >> 1;
            while (larger.all[to &= larger.size - 1].hash) to++;
            larger.all[to] = table->all[index];
        }
        free(table->all);
        *table = larger;
    }
    for (size_t at = hash >> 1;; at++) {
        struct known *known = &table->all[at &= table->size - 1];
        if (!known->hash) {
            known->hash = hash, known->is = is, known->length = length;
            known->number = 0;
            table->count++;
            return known;
        }
        if (known->hash == hash && known->length == length
            && (by_content ? !memcmp(known->is, is, length) : known->is == is)) return known;
    }
}

static uint64_t hash_of(const char *data, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t index = 0; index < length; index++) hash = (hash ^ (unsigned char)data[index]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* `llvm::json::isUTF8`: JSON holds nothing else. */
static int (*is_utf8)(const char *, size_t, size_t *);

static void readable(const char *data, size_t length)
{
    for (size_t index = 0; index < length; index++) {
        if ((unsigned char)data[index] < 128) continue;
        if (!(is_utf8(data, length, NULL) & 255)) unexpected();
        return;
    }
}

static void text(const char *data, size_t length)
{
    readable(data, length);
    byte(TEXT);
    bytes(data, length);
}

/* Words that were told lately, by where they stood. */
static struct { const char *at, *copy; size_t length; unsigned number; } recent[256];

/* A text that is likely to come again. */
static void word(const char *data, size_t length)
{
    if (length > 40) { text(data, length); return; }
    size_t slot = ((uintptr_t)data >> 2 ^ (uintptr_t)data >> 10 ^ length) & 255;
    if (recent[slot].at == data && recent[slot].length == length && !memcmp(recent[slot].copy, data, length)) {
        byte(WORD);
        number(recent[slot].number - 1);
        return;
    }
    struct known *known = place(&words, hash_of(data, length), data, length, 1);
    if (known->number) {
        byte(WORD);
        number(known->number - 1);
        recent[slot].at = data, recent[slot].copy = known->is, recent[slot].length = length, recent[slot].number = known->number;
        return;
    }
    char *copy = malloc(length + 1);
    if (!copy) unexpected();
    memcpy(copy, data, length);
    known->is = copy;
    known->number = (unsigned)words.count;
    readable(data, length);
    byte(NEW_WORD);
    bytes(data, length);
}

/* `0x` and hexadecimal digits. */
static void node(const char *data, size_t length)
{
    uint64_t made = 0;
    if (length < 3 || length > 18 || data[0] != '0' || data[1] != 'x') unexpected();
    for (size_t index = 2; index < length; index++) {
        char digit = data[index];
        int is = digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
        if (is < 0) unexpected();
        made = made << 4 | (unsigned)is;
    }
    byte(NUMBER_OF_NODE);
    number(made);
}

/* The keys that somebody reads, by their texts: one more than their number. */
static unsigned char by_text[256];
static unsigned slot(const char *data, size_t length)
{
    return (unsigned)(length * 37 + (unsigned char)data[0] * 5 + (unsigned char)data[length - 1] * 11 + (unsigned char)data[length / 2] * 3);
}

static void know_keys(void)
{
    for (unsigned index = 0; index < sizeof keys / sizeof *keys; index++) {
        unsigned at = slot(keys[index].text, keys[index].length);
        while (by_text[at & 255]) at++;
        by_text[at & 255] = (unsigned char)(index + 1);
    }
}

static unsigned key_of(const char *data, size_t length)
{
    if (!length) return 0;
    for (unsigned at = slot(data, length);; at++) {
        unsigned found = by_text[at & 255];
        if (!found || (keys[found - 1].length == length && !memcmp(keys[found - 1].text, data, length))) return found;
    }
}

static void tell(const struct value *value);

static void tell_entries(const struct object *object)
{
    unsigned found = 0;
    for (unsigned index = 0; index < object->size; index++) {
        const struct entry *entry = &object->entries[index];
        if ((uintptr_t)entry->key >= (uintptr_t)-2) continue;
        found++;
        unsigned key = key_of(entry->key, entry->length);
        if (!key) continue;
        byte(FIRST_KEY + key - 1);
        current = key;
        tell(&entry->value);
    }
    if (found != object->count) unexpected();
    byte(OBJECT_END);
}

static void tell(const struct value *value)
{
    switch (value->type) {
    case IS_NULL: byte(NOTHING); break;
    case IS_BOOLEAN: byte(value->is.truth ? TRUE : FALSE); break;
    case IS_INTEGER:
        byte(INTEGER);
        number((uint64_t)value->is.integer << 1 ^ (uint64_t)(value->is.integer >> 63));
        break;
    case IS_UNSIGNED:
        byte(UNSIGNED);
        number(value->is.natural);
        break;
    case IS_REFERENCE: word(value->is.text.data, value->is.text.length); break;
    case IS_STRING: (current && keys[current - 1].is_node ? node : word)(value->is.text.data, value->is.text.length); break;
    case IS_OBJECT:
        byte(OBJECT);
        tell_entries(&value->is.object);
        break;
    default: unexpected();
    }
}

/* The object that was made last, and is told next. */
static struct known *made;

/* The numbers of positions, from one; there are as many of them as of all else. */
static struct { struct position { unsigned location, number; } *all; size_t size, count; } places;

static struct position *position(struct position *all, size_t size, unsigned location)
{
    size_t at = (location * 0x9e3779b97f4a7c15u >> 32) & (size - 1);
    while (all[at].number && all[at].location != location) at = (at + 1) & (size - 1);
    return &all[at];
}

/* The number of a position, which is zero if it is new. */
static unsigned *place_number(unsigned location)
{
    if (places.count * 2 >= places.size) {
        size_t size = places.size ? places.size * 4 : 4096;
        struct position *larger = calloc(size, sizeof *larger);
        if (!larger) unexpected();
        for (size_t index = 0; index < places.size; index++)
            if (places.all[index].number) *position(larger, size, places.all[index].location) = places.all[index];
        free(places.all);
        places.all = larger, places.size = size;
    }
    struct position *found = position(places.all, places.size, location);
    if (!found->number) found->location = location, places.count++;
    return &found->number;
}

static void forget_places(void)
{
    if (places.all) memset(places.all, 0, places.size * sizeof *places.all);
    places.count = 0;
}

/* Clang leaves out the file and the line of a position that are those of the position before. Here each has its own, so that
   it can come again anywhere. */
static struct { const char *file; size_t length; int64_t line; int has_file, has_line; } last;

static void complete_place(void)
{
    switch (keys[current - 1].is_place) {
    case 'o': last.has_file = last.has_line = 0; break;
    case 'f': last.has_file = 1; break;
    case 'l': last.has_line = 1; break;
    case 'c':
        if (!last.file) unexpected();
        if (!last.has_file) { byte(FIRST_KEY + FILE_KEY); word(last.file, last.length); }
        if (!last.has_line) { byte(FIRST_KEY + LINE_KEY); byte(INTEGER); number((uint64_t)last.line << 1); }
    }
}

static void remember_place(const struct value *value)
{
    if (keys[current - 1].is_place == 'f') {
        if (value->type != IS_REFERENCE) unexpected();
        last.file = value->is.text.data, last.length = value->is.text.length;
    } else if (keys[current - 1].is_place == 'l') {
        if (value->type != IS_INTEGER || value->is.integer < 0) unexpected();
        last.line = value->is.integer;
    }
}

/* `llvm::json::OStream` */
static void object_begin(void *stream)
{
    if (skipped) return;
    if (!depth++) {
        told = used = 0;
        forget(&words), forget(&objects), forget_places();
        memset(recent, 0, sizeof recent);
        last.file = NULL;
        new_objects = 0;
        byte(START);
    }
    byte(OBJECT);
}

static void object_end(void *stream)
{
    if (skipped) return;
    byte(OBJECT_END);
    if (--depth) return;
    char length[17];
    flush();
    snprintf(length, sizeof length, "%016zx", told);
    memcpy(buffer, length, used = 16);
    flush();
}

static void array_begin(void *stream)
{
    if (!skipped) byte(ARRAY);
}

static void array_end(void *stream)
{
    if (!skipped) byte(ARRAY_END);
}

static void attribute_begin(void *stream, const char *key, size_t length)
{
    if (skipped) { skipped++; return; }
    current = key_of(key, length);
    if (!current) { skipped = 1; return; }
    if (keys[current - 1].is_place) complete_place();
    byte(FIRST_KEY + current - 1);
}

static void attribute_end(void *stream)
{
    if (skipped) skipped--;
}

static void tell_value(void *stream, const struct value *value)
{
    struct known *object = made;
    made = NULL;
    if (object && (value->type != IS_OBJECT || value->is.object.count)) unexpected();
    if (skipped) return;
    if (!object) {
        if (keys[current - 1].is_place) remember_place(value);
        tell(value);
        return;
    }
    if (object->number) { byte(SAME_OBJECT); number(object->number - 1); return; }
    object->number = ++new_objects;
    byte(NEW_OBJECT);
    tell_entries(&object->object);
}

/* Functions that are replaced: where they are, and how to get what they were. */
enum { CODE = 12, KEPT = 64 };
struct replaced { const char *name; void *by; unsigned char *at; void *original; };
static struct object *make_type(struct object *made, void *dumper, void *type, int desugared);
static struct object *make_mention(struct object *made, void *dumper, void *declaration);
static void write_place(void *dumper, unsigned location);
static struct replaced replaced[] = {
    {"_ZN5clang14JSONNodeDumper14createQualTypeENS_8QualTypeEb", make_type},
    {"_ZN5clang14JSONNodeDumper17createBareDeclRefEPKNS_4DeclE", make_mention},
    {"_ZN5clang14JSONNodeDumper19writeSourceLocationENS_14SourceLocationE", write_place},
    {"_ZN4llvm4json7OStream11objectBeginEv", object_begin},
    {"_ZN4llvm4json7OStream9objectEndEv", object_end},
    {"_ZN4llvm4json7OStream10arrayBeginEv", array_begin},
    {"_ZN4llvm4json7OStream8arrayEndEv", array_end},
    {"_ZN4llvm4json7OStream14attributeBeginENS_9StringRefE", attribute_begin},
    {"_ZN4llvm4json7OStream12attributeEndEv", attribute_end},
    {"_ZN4llvm4json7OStream5valueERKNS0_5ValueE", tell_value},
};
enum { TYPE, MENTION, PLACE, CALLED };

/* An object of clang's, which is kept: whoever made it before asked for it gets an empty one. */
static struct object *empty(struct object *given)
{
    memset(given, 0, sizeof *given);
    return given;
}

static struct known *known_object(const void *of, unsigned kind)
{
    if (made) unexpected();
    uint64_t hash = ((uintptr_t)of + kind) * 0x9e3779b97f4a7c15u;
    return place(&objects, hash ^ hash >> 32, of, kind, 0);
}

static int in_mention;

static struct object *make_type(struct object *given, void *dumper, void *type, int desugared)
{
    struct object *(*original)(struct object *, void *, void *, int) = replaced[TYPE].original;
    if (in_mention) return original(given, dumper, type, desugared);
    struct known *known = known_object(type, 1 + !!desugared);
    if (!known->object.size) original(&known->object, dumper, type, desugared);
    made = known;
    return empty(given);
}

static struct object *make_mention(struct object *given, void *dumper, void *declaration)
{
    struct object *(*original)(struct object *, void *, void *) = replaced[MENTION].original;
    struct known *known = known_object(declaration, 4);
    if (!known->object.size) {
        in_mention = 1;
        original(&known->object, dumper, declaration);
        in_mention = 0;
    }
    made = known;
    return empty(given);
}

/* What an object of a position holds, up to its end. */
static void write_place(void *dumper, unsigned location)
{
    void (*original)(void *, unsigned) = replaced[PLACE].original;
    /* Clang would remember a position that nobody hears of. */
    if (skipped) unexpected();
    unsigned *known = place_number(location);
    if (*known) { byte(SAME_PLACE); number(*known - 1); return; }
    *known = (unsigned)places.count;
    byte(NEW_PLACE);
    original(dumper, location);
}

static int keep_originals(void);

/* Whether values are laid out as they are here, tried on a text. */
static int can_tell_shortly(void)
{
    static const char tried[] = "{\"one\":-7,\"yes\":true,\"long\":\"more than sixteen bytes\",\"in\":{\"a\":\"b\"}}";
    struct { struct value value; char more[64]; } parsed;
    int seen = 0;
    void *(*parse)(void *, const char *, size_t) = dlsym(RTLD_DEFAULT, "_ZN4llvm4json5parseENS_9StringRefE");
    /* Strings of this library, and not of another. */
    if (!dlsym(RTLD_DEFAULT, "_ZN5clang14JSONNodeDumper27createPointerRepresentationB5cxx11EPKv") || !parse) return 0;
    if (!(is_utf8 = (int (*)(const char *, size_t, size_t *))dlsym(RTLD_DEFAULT, "_ZN4llvm4json6isUTF8ENS_9StringRefEPm"))) return 0;
    for (size_t index = 0; index < sizeof replaced / sizeof *replaced; index++)
        if (!(replaced[index].at = dlsym(RTLD_DEFAULT, replaced[index].name))) return 0;
    memset(&parsed, 0x55, sizeof parsed);
    parse(&parsed, tried, sizeof tried - 1);
    struct object *all = &parsed.value.is.object;
    if (parsed.value.type != IS_OBJECT || all->count != 4 || all->removed || all->size != 64) return 0;
    for (unsigned index = 0; index < all->size; index++) {
        struct entry *entry = &all->entries[index];
        struct value *value = &entry->value;
        if ((uintptr_t)entry->key >= (uintptr_t)-2) continue;
        if (entry->length == 3 && !memcmp(entry->key, "one", 3)) seen += value->type == IS_INTEGER && value->is.integer == -7;
        else if (entry->length == 3 && !memcmp(entry->key, "yes", 3)) seen += value->type == IS_BOOLEAN && value->is.truth == 1;
        else if (entry->length == 4 && !memcmp(entry->key, "long", 4))
            seen += value->type == IS_STRING && value->is.text.length == 23 && !memcmp(value->is.text.data, "more than sixteen bytes", 23);
        else if (entry->length == 2 && !memcmp(entry->key, "in", 2)) seen += value->type == IS_OBJECT && value->is.object.count == 1;
        else return 0;
    }
    return seen == 4 && keep_originals();
}

/* How many bytes at the beginning of a function can stand elsewhere, at least as many as are replaced: what functions begin
   with, and no more, is known here. */
static size_t movable(const unsigned char *code)
{
    size_t at = 0;
    while (at < CODE) {
        const unsigned char *next = code + at;
        size_t prefix = next[0] >= 0x40 && next[0] <= 0x4f;
        if (!memcmp(next, "\xf3\x0f\x1e\xfa", 4)) at += 4;                                              /* endbr64 */
        else if (next[prefix] >= 0x50 && next[prefix] <= 0x57) at += prefix + 1;                           /* push */
        else if (next[prefix] == 0x89 && next[prefix + 1] >= 0xc0) at += prefix + 2;                       /* mov */
        else if (next[0] == 0x48 && next[1] == 0x83 && next[2] == 0xec) at += 4;                           /* sub $8, %rsp */
        else if (next[0] == 0x48 && next[1] == 0x81 && next[2] == 0xec) at += 7;                           /* sub $32, %rsp */
        else return 0;
    }
    return at;
}

/* Keeps what functions were that are called from here: their beginnings, and a jump to the rest. */
static int keep_originals(void)
{
    unsigned char *kept = mmap(NULL, CALLED * KEPT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED) return 0;
    for (size_t index = 0; index < CALLED; index++) {
        struct replaced *one = &replaced[index];
        unsigned char *to = kept + index * KEPT, *rest;
        size_t length = movable(one->at);
        if (!length) return 0;
        rest = one->at + length;
        memcpy(to, one->at, length);
        memcpy(to + length, "\xff\x25\0\0\0\0", 6); /* jmp *0(%rip) */
        memcpy(to + length + 6, &rest, sizeof rest);
        one->original = to;
    }
    return !mprotect(kept, CALLED * KEPT, PROT_READ | PROT_EXEC);
}

/* Replaces the first instructions of a function that is there: calls inside of a library don't ask the linker for it. */
static int replace_code(void *function, const void *code, size_t length)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)function & -page;
    size_t size = (((uintptr_t)function + length - 1) & -page) - first + page;
    if (mprotect((void *)first, size, PROT_READ | PROT_WRITE)) return 0;
    memcpy(function, code, length);
    if (mprotect((void *)first, size, PROT_READ | PROT_EXEC)) _exit(UNEXPECTED);
    return 1;
}

/* From here on, this process tells all shortly. */
static void tell_shortly(void)
{
    for (size_t index = 0; index < sizeof replaced / sizeof *replaced; index++) {
        unsigned char jump[CODE] = "\x48\xb8........\xff\xe0"; /* movabs $by,%rax; jmp *%rax */
        memcpy(jump + 2, &replaced[index].by, sizeof replaced[index].by);
        if (replace_code(replaced[index].at, jump, CODE)) continue;
        if (index) unexpected();
        return;
    }
    know_keys();
}
