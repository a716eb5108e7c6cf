/* <script>alert("x")</script> & whatever else must be escaped: é */
int gate(int a, int b, const char *s) {
    if (a > 0 && (b < 3 || s[0] == '<'))
        return 1;
    if (a != a)
        return 2;
    if (b == 77) /* touchstone: exclude (checked by review) */
        return b >
               a;
    return 3;
}
