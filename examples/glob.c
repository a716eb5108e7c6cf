// A recursive matcher for file-name patterns: ? is any character, * any number of them.
// Run:    touchstone generate examples/glob.c -f glob_match -c paths
// Expect: 156 tests, one for every course of the match of a pattern and a text of at most three characters.
//
// expect: glob_match tests=156
// domain: pattern=0,42,63,97,98
// domain: text=0,42,63,97,98
// expect: glob_match -D PATTERN=2 -D TEXT=2 tests=32
// domain: pattern=0,42,63,97,98
// domain: text=0,42,63,97,98
// inputs: match --len pattern=4 --len text=4

#ifndef PATTERN
#define PATTERN 3
#endif
#ifndef TEXT
#define TEXT 3
#endif

static int match(const char *pattern, const char *text) {
    if (*pattern == '\0')
        return *text == '\0';
    if (*pattern == '*') {
        if (match(pattern + 1, text))
            return 1;
        return *text != '\0' && match(pattern, text + 1);
    }
    if (*text == '\0')
        return 0;
    if (*pattern == '?' || *pattern == *text)
        return match(pattern + 1, text + 1);
    return 0;
}

int glob_match(const char pattern[PATTERN + 1], const char text[TEXT + 1]) {
    return match(pattern, text);
}

// Both strings end at the latest where their arrays end.
int glob_match_pre(const char pattern[PATTERN + 1], const char text[TEXT + 1]) {
    return pattern[PATTERN] == '\0' && text[TEXT] == '\0';
}
