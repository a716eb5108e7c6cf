#ifndef CAN_H
#define CAN_H

#include <stdbool.h>
#include <stdint.h>

enum command { COMMAND_NONE, COMMAND_START, COMMAND_STOP, COMMAND_SETPOINT, COMMAND_GAINS };

struct request {
    enum command command;
    int16_t setpoint;
    uint8_t kp;
    uint8_t ki;
};

uint8_t can_checksum(const uint8_t *data, uint32_t length);
bool can_parse(uint32_t id, const uint8_t *data, uint32_t length, struct request *request);
int can_poll(struct request *request);
int can_report(int16_t value, uint8_t state);

#endif
