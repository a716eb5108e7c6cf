#ifndef PID_H
#define PID_H

#include <stdbool.h>
#include <stdint.h>

void pid_reset(void);
bool pid_gains(uint8_t kp, uint8_t ki);
int32_t pid_step(int32_t error);
int16_t filter(int16_t sample);

#endif
