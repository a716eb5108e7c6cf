/* Variable-length arrays of several ranks: locals, parameters, pointers, typedefs, and lengths that change afterwards. */
#include <stdio.h>

int width = 3;

static int sum(int n, int m, int a[n][m])
{
    int total = 0;
    n++;
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m; j++)
            total += a[i][j] * (i + 1);
    m = 100;
    return total + a[1][1] + (int)sizeof(a[0]);
}
static void fill(char a[][width], int rows)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j++)
            a[i][j] = (char)(i * 10 + j);
}
static long cube(int x, int y, int z, long a[x][y][z], int at)
{
    long (*plane)[z] = a[at];
    long *last = &a[x - 1][y - 1][z - 1];
    return plane[1][1] + (*(a[0] + 1))[1] + (last - &a[0][0][0]) + (a[1] - a[0]) + (&a[1] - &a[0]);
}

int main(void)
{
    int n = 2, m = 3;
    int a[n][m], fixed[2][m + 1], plain[4][5];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = i * 10 + j;
    m = 7;
    n = 9;
    printf("%d %d %d %d\n", (int)sizeof a, (int)sizeof a[0], (int)sizeof fixed, (int)(sizeof plain / sizeof *plain));
    printf("%d %d %d\n", a[1][2], (&a[0][0])[3], *(*(a + 1) + 1));
    printf("%d\n", sum(2, 3, a));
    int (*row)[3] = a;
    row++;
    row -= 1;
    printf("%d\n", row[1][0]);
    int count = 4;
    int (*pointer)[count] = (int (*)[count])plain;
    for (int i = 0; i < 20; i++)
        ((int *)plain)[i] = i;
    count = 1;
    pointer += 2;
    printf("%d %d %d\n", pointer[0][0], (*pointer)[1], (int)(pointer - (int (*)[4])plain));
    pointer++;
    --pointer;
    printf("%d %d\n", **pointer, (int)sizeof *pointer);
    char bytes[4][width];
    fill(bytes, 4);
    width = 2;
    printf("%d %d\n", bytes[3][2], (int)sizeof bytes);
    {
        int k = 3;
        typedef short row_type[k];
        k = 50;
        row_type r, table[2];
        r[2] = 5;
        table[1][2] = 6;
        printf("%d %d %d %d\n", (int)sizeof r, (int)sizeof table, r[2], table[1][2]);
    }
    for (int x = 2; x < 4; x++) {
        int y = x + 1, z = 2;
        long space[x][y][z];
        for (int i = 0; i < x * y * z; i++)
            (&space[0][0][0])[i] = i;
        printf("%ld\n", cube(x, y, z, space, 1));
        printf("%d\n", (int)sizeof(long[x][z]));
    }
    return 0;
}
