// More conditions than other tools take.

// Six is the most that clang 18 took.
int six(int a, int b, int c, int d, int e, int f) {
    if ((a && b) || (c && d && e) || f)
        return 1;
    return 0;
}

int seven(int a, int b, int c, int d, int e, int f, int g) {
    if (a && b && c && d && e && f && g)
        return 1;
    return 0;
}

int nine(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
    if (a && b && c && (d || e || f) && g && h && i)
        return 1;
    return 0;
}

int vowel(char letter) {
    return letter == 'a' || letter == 'e' || letter == 'i' || letter == 'o' || letter == 'u' || letter == 'y' ||
           letter == 'A' || letter == 'E' || letter == 'I' || letter == 'O' || letter == 'U' || letter == 'Y';
}
