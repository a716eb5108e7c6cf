// Bench: a recursive pattern matcher over two short strings. ^ and $ are the ends of the text, . is any character, and
// x* any number of x. All characters are inputs; only the terminating zeros are given.
//
// expect: matches tests=13666

#ifndef PATTERN
#define PATTERN 5
#endif
#ifndef TEXT
#define TEXT 4
#endif

static int is_one(char symbol, const char *text) {
    return *text != '\0' && (symbol == *text || symbol == '.');
}

// Does the pattern match at the beginning of the text?
static int matches_here(const char *pattern, const char *text) {
    while (*pattern != '\0') {
        if (pattern[1] == '*') {
            do {
                if (matches_here(pattern + 2, text))
                    return 1;
            } while (is_one(*pattern, text++));
            return 0;
        }
        if (*pattern == '$' && pattern[1] == '\0')
            return *text == '\0';
        if (!is_one(*pattern, text))
            return 0;
        pattern++;
        text++;
    }
    return 1;
}

// Does the pattern match anywhere in the text?
int matches(const char pattern[PATTERN + 1], const char text[TEXT + 1]) {
    if (*pattern == '^')
        return matches_here(pattern + 1, text);
    for (int start = 0;; start++) {
        if (matches_here(pattern, text + start))
            return 1;
        if (text[start] == '\0')
            return 0;
    }
}

int matches_pre(const char pattern[PATTERN + 1], const char text[TEXT + 1]) {
    return pattern[PATTERN] == '\0' && text[TEXT] == '\0';
}
