/* A tag between brackets, a character at a time: 1 when one is complete that has a name. */
int feed(char c) {
    static enum { OUTSIDE, INSIDE } state;
    static int length;

    if (state == OUTSIDE) {
        if (c == '<') {
            state = INSIDE;
            length = 0;
        }
        return 0;
    }
    if (c != '>') {
        length++;
        return 0;
    }
    state = OUTSIDE;
    if (length > 0)
        return 1;
    return 0;
}
