#include <stdio.h>
int foo(int) __asm__("real_foo");
int real_foo(int x){ return x+1; }
extern int v __asm__("real_v");
int real_v=42;
int mine(void) __asm__("other");
int mine(void){ return 7; }
extern int other(void);
static int sv __asm__("svx") = 3;
/* Functions that are also compiler builtins. */
extern char *strstr(const char *, const char *) __asm__("my_strstr");
extern void *memcpy(void *, const void *, __SIZE_TYPE__) __asm__("my_memcpy");
extern int abs(int) __asm__("my_abs");
int calls;
char *my_strstr(const char *s, const char *t) { calls++; return (char *)s + (*t == 'x'); }
void *my_memcpy(void *to, const void *from, __SIZE_TYPE__ n) { calls++; while (n--) ((char *)to)[n] = ((const char *)from)[n]; return to; }
int my_abs(int n) { return n * 2; }
int main(){
    char text[4];
    const char *volatile abc = "abc", *volatile x = "x", *volatile a = "a";
    volatile int length = 4;
    printf("%d %d %d %d\n", foo(1), v, other(), sv);
    printf("%s %s %s\n", strstr(abc, x), strstr(abc, a), __builtin_strstr(abc, x));
    memcpy(text, "abc", length);
    __builtin_memcpy(text, "xbc", length);
    printf("%s %d %d %d\n", text, calls, abs(-4), abs(3));
    return 0;
}
