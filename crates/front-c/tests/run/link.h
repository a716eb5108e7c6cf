struct common { int a, b; };
int common_sum(struct common *c);
int puts_count(const char *s);
int puts(const char *s);
int abs(int x);
static inline int twice(int x) { return 2 * x; }
