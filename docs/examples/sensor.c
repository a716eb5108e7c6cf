/* A driver: the functions that it calls are somewhere else. */
#include <stdbool.h>

bool ready(void);
int measure(int channel);
void report(const char *format, ...);

int average(int channels, int limit) {
    int sum = 0;
    for (int i = 0; i < channels; i++) {
        if (!ready())
            return -1;
        int value = measure(i);
        if (value > limit) {
            report("channel %d: %d", i, value);
            return -2;
        }
        sum += value;
    }
    return channels > 0 ? sum / channels : 0;
}
