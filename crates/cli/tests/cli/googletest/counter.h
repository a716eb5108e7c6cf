#ifdef __cplusplus
extern "C" {
#endif
struct counter { int value, limit, lost; };
void counter_init(struct counter *c, int limit);
int counter_add(struct counter *c, int by);
void counter_name(char *to, char name);
#ifdef __cplusplus
}
#endif
