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
static struct table words, objects, places;
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

/* A text that is likely to come again. */
static void word(const char *data, size_t length)
{
    if (length > 40) { text(data, length); return; }
    struct known *known = place(&words, hash_of(data, length), data, length, 1);
    if (known->number) { byte(WORD); number(known->number - 1); return; }
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
        forget(&words), forget(&objects), forget(&places);
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

/* Functions that are replaced: where they are, and how they began. */
enum { CODE = 12 };
struct replaced { const char *name; void *by; unsigned char *at, was[CODE], is[CODE]; };
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
enum { TYPE, MENTION, PLACE };

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
    struct replaced *own = &replaced[TYPE];
    struct object *(*original)(struct object *, void *, void *, int) = (void *)own->at;
    struct known *known = in_mention ? NULL : known_object(type, 1 + !!desugared);
    if (!known || !known->object.size) {
        memcpy(own->at, own->was, CODE);
        original(known ? &known->object : given, dumper, type, desugared);
        memcpy(own->at, own->is, CODE);
        if (!known) return given;
    }
    made = known;
    return empty(given);
}

static struct object *make_mention(struct object *given, void *dumper, void *declaration)
{
    struct replaced *own = &replaced[MENTION];
    struct object *(*original)(struct object *, void *, void *) = (void *)own->at;
    struct known *known = known_object(declaration, 4);
    if (!known->object.size) {
        in_mention = 1;
        memcpy(own->at, own->was, CODE);
        original(&known->object, dumper, declaration);
        memcpy(own->at, own->is, CODE);
        in_mention = 0;
    }
    made = known;
    return empty(given);
}

/* What an object of a position holds, up to its end. */
static void write_place(void *dumper, unsigned location)
{
    struct replaced *own = &replaced[PLACE];
    void (*original)(void *, unsigned) = (void *)own->at;
    /* Clang would remember a position that nobody hears of. */
    if (skipped) unexpected();
    uint64_t hash = (location + 1ull) * 0x9e3779b97f4a7c15u;
    struct known *known = place(&places, hash ^ hash >> 32, (void *)(uintptr_t)location, 0, 0);
    if (known->number) { byte(SAME_PLACE); number(known->number - 1); return; }
    known->number = (unsigned)places.count;
    byte(NEW_PLACE);
    memcpy(own->at, own->was, CODE);
    original(dumper, location);
    memcpy(own->at, own->is, CODE);
}

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
    return seen == 4;
}

/* From here on, this process tells all shortly. */
static void tell_shortly(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t index = 0; index < sizeof replaced / sizeof *replaced; index++) {
        struct replaced *one = &replaced[index];
        uintptr_t first = (uintptr_t)one->at & -page, last = ((uintptr_t)one->at + CODE - 1) & -page;
        if (mprotect((void *)first, last - first + page, PROT_READ | PROT_WRITE | PROT_EXEC)) {
            if (index) unexpected();
            return;
        }
        memcpy(one->was, one->at, CODE);
        memcpy(one->is, "\x48\xb8........\xff\xe0", CODE); /* movabs $by,%rax; jmp *%rax */
        memcpy(one->is + 2, &one->by, sizeof one->by);
        memcpy(one->at, one->is, CODE);
    }
    know_keys();
}
