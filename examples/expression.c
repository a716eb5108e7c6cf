// A recursive-descent parser and evaluator for expressions of digits, + - * and parentheses in a buffer of LEN characters.
// Run:    touchstone generate examples/expression.c -f evaluate -c paths
// Expect: 62 tests, one for every way in which LEN characters can be, or fail to be, an expression.
//
// expect: evaluate -D LEN=1 tests=5
// domain: text=39..58
// domain: result=0..0
// expect: evaluate -D LEN=2 tests=18
// domain: text=39..58
// domain: result=0..0
// expect: evaluate tests=62
// domain: text=39..58
// domain: result=0..0
// expect: evaluate -D LEN=4 tests=211
// domain: text=39..58
// domain: result=0..0
// inputs: parse_operand --len parser.text=3 --range parser.at=0..3
// inputs: parse_product --len parser.text=3 --range parser.at=0..3
// inputs: parse_sum --len parser.text=3 --range parser.at=0..3

#ifndef LEN
#define LEN 3
#endif

enum error { NO_ERROR = 0, EXPECTED_OPERAND = -1, EXPECTED_PAREN = -2, TRAILING_TEXT = -3 };

struct parser {
    const char *text;
    int at;
    int error;
};

static int parse_sum(struct parser *parser);

// The current character, or 0 at the end.
static char peek(const struct parser *parser) {
    return parser->at < LEN ? parser->text[parser->at] : 0;
}

static int fail(struct parser *parser, int error) {
    parser->error = error;
    return 0;
}

static int parse_operand(struct parser *parser) {
    char next = peek(parser);
    if (next >= '0' && next <= '9') {
        int value = 0;
        while (next >= '0' && next <= '9') {
            value = 10 * value + (next - '0');
            parser->at++;
            next = peek(parser);
        }
        return value;
    }
    if (next == '(') {
        parser->at++;
        int value = parse_sum(parser);
        if (parser->error != NO_ERROR)
            return 0;
        if (peek(parser) != ')')
            return fail(parser, EXPECTED_PAREN);
        parser->at++;
        return value;
    }
    if (next == '-') {
        parser->at++;
        return -parse_operand(parser);
    }
    return fail(parser, EXPECTED_OPERAND);
}

static int parse_product(struct parser *parser) {
    int value = parse_operand(parser);
    while (parser->error == NO_ERROR && peek(parser) == '*') {
        parser->at++;
        value *= parse_operand(parser);
    }
    return value;
}

static int parse_sum(struct parser *parser) {
    int value = parse_product(parser);
    while (parser->error == NO_ERROR) {
        char sign = peek(parser);
        if (sign == '+') {
            parser->at++;
            value += parse_product(parser);
        } else if (sign == '-') {
            parser->at++;
            value -= parse_product(parser);
        } else {
            break;
        }
    }
    return value;
}

// Writes the value to result[0]; returns an error code.
int evaluate(const char text[LEN], int result[1]) {
    struct parser parser = {text, 0, NO_ERROR};
    int value = parse_sum(&parser);
    if (parser.error == NO_ERROR && parser.at < LEN)
        parser.error = TRAILING_TEXT;
    if (parser.error == NO_ERROR)
        result[0] = value;
    return parser.error;
}
