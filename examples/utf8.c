// Is a buffer of LEN bytes well-formed UTF-8? Overlong forms, surrogates and values past U+10FFFF are refused.
// Run:    touchstone generate examples/utf8.c -f utf8_valid -c paths
// Expect: 29 tests for LEN = 3, well-formed and not.
//
// expect: utf8_valid -D LEN=1 tests=6
// domain: bytes=0..255
// expect: utf8_valid -D LEN=2 tests=12
// domain: bytes=0..255
// expect: utf8_valid tests=29
// domain: bytes=0,127,128,143,144,159,160,191,192,193,194,223,224,225,236,237,238,239,240,241,243,244,245,255
// inputs: sequence_length --len bytes=4

#ifndef LEN
#define LEN 3
#endif

static int is_tail(unsigned char byte) {
    return (byte & 0xC0) == 0x80;
}

// Length of the sequence that starts at `at`, or 0 if it is malformed.
static int sequence_length(const unsigned char *bytes, int at) {
    int left = LEN - at;
    unsigned char first = bytes[at];
    if (first < 0x80)
        return 1;
    if (first < 0xC2)
        return 0; // a tail byte, or an overlong form
    if (first < 0xE0)
        return left >= 2 && is_tail(bytes[at + 1]) ? 2 : 0;
    if (first < 0xF0) {
        if (left < 3 || !is_tail(bytes[at + 1]) || !is_tail(bytes[at + 2]))
            return 0;
        if (first == 0xE0 && bytes[at + 1] < 0xA0)
            return 0; // overlong
        if (first == 0xED && bytes[at + 1] >= 0xA0)
            return 0; // surrogate
        return 3;
    }
    if (first < 0xF5) {
        if (left < 4 || !is_tail(bytes[at + 1]) || !is_tail(bytes[at + 2]) || !is_tail(bytes[at + 3]))
            return 0;
        if (first == 0xF0 && bytes[at + 1] < 0x90)
            return 0; // overlong
        if (first == 0xF4 && bytes[at + 1] >= 0x90)
            return 0; // past U+10FFFF
        return 4;
    }
    return 0;
}

int utf8_valid(const unsigned char bytes[LEN]) {
    int at = 0;
    while (at < LEN) {
        int length = sequence_length(bytes, at);
        if (length == 0)
            return 0;
        at += length;
    }
    return 1;
}
