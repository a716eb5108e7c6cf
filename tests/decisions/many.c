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

// More than the 64 that gcc takes.
int seventy_two(const unsigned char byte[72]) {
    if (byte[0] && byte[1] && byte[2] && byte[3] && byte[4] && byte[5] && byte[6] &&
        byte[7] && byte[8] && byte[9] && byte[10] && byte[11] && byte[12] && byte[13] &&
        byte[14] && byte[15] && byte[16] && byte[17] && byte[18] && byte[19] && byte[20] &&
        byte[21] && byte[22] && byte[23] && byte[24] && byte[25] && byte[26] && byte[27] &&
        byte[28] && byte[29] && byte[30] && byte[31] && byte[32] && byte[33] && byte[34] &&
        byte[35] && byte[36] && byte[37] && byte[38] && byte[39] && byte[40] && byte[41] &&
        byte[42] && byte[43] && byte[44] && byte[45] && byte[46] && byte[47] && byte[48] &&
        byte[49] && byte[50] && byte[51] && byte[52] && byte[53] && byte[54] && byte[55] &&
        byte[56] && byte[57] && byte[58] && byte[59] && byte[60] && byte[61] && byte[62] &&
        byte[63] && byte[64] && byte[65] && byte[66] && byte[67] && byte[68] && byte[69] &&
        (byte[70] || byte[71]))
        return 1;
    return 0;
}

// More rows than a list can have: 2 to the power of 37, less one.
int pairs_of_flags(unsigned long left, unsigned long right) {
    if (((left >> 0 & 1) && (right >> 0 & 1)) ||
        ((left >> 1 & 1) && (right >> 1 & 1)) ||
        ((left >> 2 & 1) && (right >> 2 & 1)) ||
        ((left >> 3 & 1) && (right >> 3 & 1)) ||
        ((left >> 4 & 1) && (right >> 4 & 1)) ||
        ((left >> 5 & 1) && (right >> 5 & 1)) ||
        ((left >> 6 & 1) && (right >> 6 & 1)) ||
        ((left >> 7 & 1) && (right >> 7 & 1)) ||
        ((left >> 8 & 1) && (right >> 8 & 1)) ||
        ((left >> 9 & 1) && (right >> 9 & 1)) ||
        ((left >> 10 & 1) && (right >> 10 & 1)) ||
        ((left >> 11 & 1) && (right >> 11 & 1)) ||
        ((left >> 12 & 1) && (right >> 12 & 1)) ||
        ((left >> 13 & 1) && (right >> 13 & 1)) ||
        ((left >> 14 & 1) && (right >> 14 & 1)) ||
        ((left >> 15 & 1) && (right >> 15 & 1)) ||
        ((left >> 16 & 1) && (right >> 16 & 1)) ||
        ((left >> 17 & 1) && (right >> 17 & 1)) ||
        ((left >> 18 & 1) && (right >> 18 & 1)) ||
        ((left >> 19 & 1) && (right >> 19 & 1)) ||
        ((left >> 20 & 1) && (right >> 20 & 1)) ||
        ((left >> 21 & 1) && (right >> 21 & 1)) ||
        ((left >> 22 & 1) && (right >> 22 & 1)) ||
        ((left >> 23 & 1) && (right >> 23 & 1)) ||
        ((left >> 24 & 1) && (right >> 24 & 1)) ||
        ((left >> 25 & 1) && (right >> 25 & 1)) ||
        ((left >> 26 & 1) && (right >> 26 & 1)) ||
        ((left >> 27 & 1) && (right >> 27 & 1)) ||
        ((left >> 28 & 1) && (right >> 28 & 1)) ||
        ((left >> 29 & 1) && (right >> 29 & 1)) ||
        ((left >> 30 & 1) && (right >> 30 & 1)) ||
        ((left >> 31 & 1) && (right >> 31 & 1)) ||
        ((left >> 32 & 1) && (right >> 32 & 1)) ||
        ((left >> 33 & 1) && (right >> 33 & 1)) ||
        ((left >> 34 & 1) && (right >> 34 & 1)) ||
        ((left >> 35 & 1) && (right >> 35 & 1)))
        return 1;
    return 0;
}
