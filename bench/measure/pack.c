/* What measuring costs is measured on this: it packs and unpacks a text, over and over. Matches of an LZ window found by
   hash chains, then a canonical Huffman code; unpacking checks everything that it reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW = 1 << 15, HASHES = 1 << 14, SHORTEST = 3, LONGEST = 66, CHAIN = 24, SYMBOLS = 256 + 64, DEEPEST = 24 };

struct token {
    unsigned short symbol; /* A byte, or 256 and the length of a match. */
    unsigned short distance;
};

static int heads[HASHES], previous[WINDOW];

static unsigned hash(const unsigned char *at) { return ((at[0] << 10) ^ (at[1] << 5) ^ at[2]) & (HASHES - 1); }

static void enter(const unsigned char *text, int at)
{
    unsigned key = hash(text + at);
    previous[at & (WINDOW - 1)] = heads[key];
    heads[key] = at;
}

/* The longest match before a place: its length, or 0. */
static int longest(const unsigned char *text, int at, int size, int *distance)
{
    int best = 0, tries = CHAIN, candidate = heads[hash(text + at)];
    int limit = size - at < LONGEST ? size - at : LONGEST;
    while (candidate >= 0 && at - candidate < WINDOW && tries-- > 0) {
        if (best == 0 || text[candidate + best] == text[at + best]) {
            int length = 0;
            while (length < limit && text[candidate + length] == text[at + length])
                length++;
            if (length > best && (length > SHORTEST || at - candidate < 4096)) {
                best = length;
                *distance = at - candidate;
                if (best == limit)
                    break;
            }
        }
        candidate = previous[candidate & (WINDOW - 1)];
    }
    return best >= SHORTEST ? best : 0;
}

static int tokenize(const unsigned char *text, int size, struct token *tokens)
{
    int at = 0, count = 0, index;
    for (index = 0; index < HASHES; index++)
        heads[index] = -1;
    while (at < size) {
        int distance = 0, length = at + SHORTEST <= size ? longest(text, at, size, &distance) : 0;
        if (length) {
            tokens[count].symbol = (unsigned short)(256 + length - SHORTEST);
            tokens[count++].distance = (unsigned short)distance;
        } else {
            tokens[count].symbol = text[at];
            tokens[count++].distance = 0;
            length = 1;
        }
        while (length-- > 0) {
            if (at + SHORTEST <= size)
                enter(text, at);
            at++;
        }
    }
    return count;
}

/* Lengths of a Huffman code, by merging the two rarest again and again. */
static void code_lengths(const unsigned *counts, unsigned char *lengths)
{
    static unsigned weight[2 * SYMBOLS];
    static int parent[2 * SYMBOLS], alive[2 * SYMBOLS];
    int nodes = SYMBOLS, living = 0, index;
    for (index = 0; index < SYMBOLS; index++) {
        weight[index] = counts[index];
        parent[index] = -1;
        alive[index] = counts[index] > 0;
        living += alive[index];
    }
    while (living > 1) {
        int a = -1, b = -1;
        for (index = 0; index < nodes; index++)
            if (alive[index]) {
                if (a < 0 || weight[index] < weight[a]) {
                    b = a;
                    a = index;
                } else if (b < 0 || weight[index] < weight[b])
                    b = index;
            }
        weight[nodes] = weight[a] + weight[b];
        parent[nodes] = -1;
        alive[nodes] = 1;
        alive[a] = alive[b] = 0;
        parent[a] = parent[b] = nodes++;
        living--;
    }
    for (index = 0; index < SYMBOLS; index++) {
        int depth = 0, node = index;
        while (counts[index] && parent[node] >= 0) {
            depth++;
            node = parent[node];
        }
        lengths[index] = (unsigned char)(counts[index] && depth == 0 ? 1 : depth);
    }
}

struct code {
    unsigned first[DEEPEST + 2], count[DEEPEST + 2], offset[DEEPEST + 2];
    unsigned short symbols[SYMBOLS];
    unsigned codes[SYMBOLS];
};

static int canonical(const unsigned char *lengths, struct code *code)
{
    unsigned next = 0, place = 0;
    int length, index;
    memset(code->count, 0, sizeof code->count);
    for (index = 0; index < SYMBOLS; index++) {
        if (lengths[index] > DEEPEST)
            return 0;
        code->count[lengths[index]]++;
    }
    for (length = 1; length <= DEEPEST; length++) {
        code->first[length] = next;
        code->offset[length] = place;
        for (index = 0; index < SYMBOLS; index++)
            if (lengths[index] == length) {
                code->symbols[place++] = (unsigned short)index;
                code->codes[index] = next++;
            }
        next <<= 1;
    }
    return 1;
}

struct bits {
    unsigned char *bytes;
    size_t at, size;
    unsigned long long held;
    int count;
};

static void put(struct bits *to, unsigned value, int width)
{
    to->held = to->held << width | value;
    to->count += width;
    while (to->count >= 8 && to->at < to->size) {
        to->count -= 8;
        to->bytes[to->at++] = (unsigned char)(to->held >> to->count);
    }
}

static int get(struct bits *from)
{
    if (from->count == 0) {
        if (from->at == from->size)
            return -1;
        from->held = from->bytes[from->at++];
        from->count = 8;
    }
    from->count--;
    return (int)(from->held >> from->count) & 1;
}

static int get_symbol(struct bits *from, const struct code *code)
{
    unsigned value = 0;
    int length;
    for (length = 1; length <= DEEPEST; length++) {
        int bit = get(from);
        if (bit < 0)
            return -1;
        value = value << 1 | (unsigned)bit;
        if (code->count[length] && value >= code->first[length] && value - code->first[length] < code->count[length])
            return code->symbols[code->offset[length] + value - code->first[length]];
    }
    return -1;
}

static int unpack(struct bits *from, const struct code *code, unsigned char *text, int size)
{
    int at = 0;
    while (at < size) {
        int symbol = get_symbol(from, code), length, distance = 0, index;
        if (symbol < 0)
            return 0;
        if (symbol < 256) {
            text[at++] = (unsigned char)symbol;
            continue;
        }
        length = symbol - 256 + SHORTEST;
        for (index = 0; index < 15; index++)
            distance = distance << 1 | get(from);
        if (distance <= 0 || distance > at || length > size - at)
            return 0;
        while (length-- > 0) {
            text[at] = text[at - distance];
            at++;
        }
    }
    return 1;
}

static void write_text(unsigned char *text, int size, unsigned seed)
{
    static const char *const words[] = {"a ", "the ", "probe ", "of ", "decision ", "is ", "hit ", "when ", "and ",
                                        "row ", "condition ", "not ", "true, ", "false. ", "test ", "case\n"};
    int at = 0;
    while (at < size) {
        const char *word;
        seed = seed * 1103515245u + 12345u;
        for (word = words[seed >> 16 & 15]; *word && at < size; word++)
            text[at++] = (unsigned char)((seed >> 24) % 41 == 0 ? *word ^ 32 : *word);
    }
}

int main(int argc, char **argv)
{
    int size = 1 << 20, rounds = argc > 1 ? atoi(argv[1]) : 6, round, index, count;
    unsigned char *text = malloc((size_t)size), *back = malloc((size_t)size), *packed = malloc((size_t)size * 2);
    struct token *tokens = malloc((size_t)size * sizeof *tokens);
    unsigned long long sum = 0;
    clock_t start = clock();
    if (!text || !back || !packed || !tokens)
        return 2;
    for (round = 0; round < rounds; round++) {
        unsigned counts[SYMBOLS] = {0};
        unsigned char lengths[SYMBOLS];
        struct code code;
        struct bits to = {packed, 0, (size_t)size * 2, 0, 0};
        write_text(text, size, (unsigned)round + 1);
        count = tokenize(text, size, tokens);
        for (index = 0; index < count; index++)
            counts[tokens[index].symbol]++;
        code_lengths(counts, lengths);
        if (!canonical(lengths, &code))
            return 3;
        for (index = 0; index < count; index++) {
            put(&to, code.codes[tokens[index].symbol], lengths[tokens[index].symbol]);
            if (tokens[index].symbol >= 256)
                put(&to, tokens[index].distance, 15);
        }
        put(&to, 0, 7);
        to.size = to.at;
        to.at = 0;
        to.count = 0;
        if (!unpack(&to, &code, back, size) || memcmp(text, back, (size_t)size) != 0)
            return 4;
        sum += to.size;
    }
    printf("%llu\n", sum);
    fprintf(stderr, "%.6f", (double)(clock() - start) / CLOCKS_PER_SEC);
    return 0;
}
