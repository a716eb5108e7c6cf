/* The controller: proportional and integral, with an integral that does not wind up. */
#include "pid.h"

#define OUTPUT_MAX 4095
#define INTEGRAL_MAX 20000

static int32_t integral;
static uint8_t gain_p = 8;
static uint8_t gain_i = 2;

void pid_reset(void) {
    integral = 0;
}

bool pid_gains(uint8_t kp, uint8_t ki) {
    if (kp > 64 || ki > 16 || (kp == 0 && ki == 0))
        return false;
    gain_p = kp;
    gain_i = ki;
    pid_reset();
    return true;
}

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
    if (value < low)
        return low;
    if (value > high)
        return high;
    return value;
}

int32_t pid_step(int32_t error) {
    int32_t limited = clamp(error, -4096, 4096);
    int32_t sum = clamp(integral + limited * gain_i, -INTEGRAL_MAX, INTEGRAL_MAX);
    int32_t output = limited * gain_p / 4 + sum / 8;

    /* At its end the output does not integrate what only makes it worse. */
    if ((output < 0 && limited < 0) || (output > OUTPUT_MAX && limited > 0))
        return clamp(output, 0, OUTPUT_MAX);
    integral = sum;
    return clamp(output, 0, OUTPUT_MAX);
}

/* A running mean that begins with its first sample and does not believe jumps, but the second in a row. */
int16_t filter(int16_t sample) {
    static int32_t mean;
    static bool filled;
    static uint8_t jumps;
    int32_t distance;

    if (!filled) {
        filled = true;
        mean = sample;
        return sample;
    }
    distance = sample > mean ? sample - mean : mean - sample;
    if (distance > 500 && ++jumps < 2)
        return (int16_t)mean;
    if (distance > 500)
        mean = sample;
    else
        mean = (3 * mean + sample) / 4;
    jumps = 0;
    return (int16_t)mean;
}
