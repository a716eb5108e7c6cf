/* C11 6.5.2.5 and 6.2.4: objects of a block live until control leaves the block. */
#include <stdio.h>
struct s { int i; };
int f(void) { struct s *p = 0, *q; int j = 0; again: q = p, p = &((struct s){ j++ }); if (j < 2) goto again; return p == q && q->i == 1; }
int g(void) { int *p = 0, *q = 0; int n = 0; loop: q = p; p = (int[]){ n, n + 1 }; n++; if (n < 3) goto loop; return (p == q) * 10 + p[0]; }
int h(void) { int s = 0; for (int i = 0; i < 3; i++) { int *p = &(int){ i }; s += *p; *p = 100; } return s; }
int k(void) { int n = 0; int *p = 0; int same = 0; L: { int *q = &(int){ n }; if (p) same = 1; p = q; } n++; if (n < 3) goto L; return same * 100 + n; }
int m(void) { int *p[2]; int n = 0; L: p[n] = &(int){ n * 5 }; if (++n < 2) goto L; return *p[0] + *p[1]; }
int variable(void) { int *p = 0, n = 0, seen = 0; L: if (p) seen += *p; int x = 4; p = &x; x += n; if (n++ < 2) goto L; return seen * 10 + *p; }
int nested(void) { int *p = 0, n = 0, sum = 0; L: if (p) sum += *p; if (n < 3) { n++; } int a[2] = { n, n * 2 }; p = a + 1; if (n < 3) { int inner = 1; sum += inner; goto L; } return sum * 10 + *p; }
int main(void) { printf("%d %d %d %d %d\n", f(), g(), h(), k(), m()); printf("%d %d\n", variable(), nested()); return 0; }
