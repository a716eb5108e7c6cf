/* Frames of the bus: a command, a counter that must go on, a payload, a checksum. */
#include "can.h"
#include "hal.h"
#include <stddef.h>

#define CAN_ID_COMMAND 0x120u
#define CAN_ID_REPORT 0x121u
#define CAN_ID_MASK 0x7FFu

static uint8_t next_counter;
static bool synchronised;
static uint16_t lost;

uint8_t can_checksum(const uint8_t *data, uint32_t length) {
    uint8_t sum = 0xFF;
    for (uint32_t i = 0; i < length; i++)
        sum = (uint8_t)(sum ^ data[i]);
    return sum;
}

/* Whether the counter of a frame is the one that is due. The first frame says where it begins. */
static bool in_order(uint8_t counter) {
    if (synchronised && counter != next_counter) {
        if (lost < UINT16_MAX)
            lost++;
        synchronised = false;
        return false;
    }
    next_counter = (uint8_t)((counter + 1) & 0x0F);
    synchronised = true;
    return true;
}

bool can_parse(uint32_t id, const uint8_t *data, uint32_t length, struct request *request) {
    if ((id & CAN_ID_MASK) != CAN_ID_COMMAND || length < 3 || length > 8)
        return false;
    if (can_checksum(data, length - 1) != data[length - 1])
        return false;
    if (!in_order(data[0] & 0x0F))
        return false;
    switch (data[1]) {
    case 0x10:
        request->command = COMMAND_START;
        return true;
    case 0x11:
        request->command = COMMAND_STOP;
        return true;
    case 0x20:
        if (length < 5)
            return false;
        request->command = COMMAND_SETPOINT;
        request->setpoint = (int16_t)(data[2] | (uint16_t)data[3] << 8);
        return true;
    case 0x30:
        if (length < 5 || (data[2] == 0 && data[3] == 0))
            return false;
        request->command = COMMAND_GAINS;
        request->kp = data[2];
        request->ki = data[3];
        return true;
    default:
        return false;
    }
}

/* The next request, if there is one: 1, nothing new: 0, a frame that is no request: -1. */
int can_poll(struct request *request) {
    uint32_t id;
    uint32_t length;
    uint8_t data[8];

    request->command = COMMAND_NONE;
    if (!hal_can_read(&id, data, sizeof data, &length))
        return 0;
    if (length > sizeof data)
        return -1;
    return can_parse(id, data, length, request) ? 1 : -1;
}

int can_report(int16_t value, uint8_t state) {
    static uint8_t counter;
    uint8_t data[5];

    data[0] = counter;
    data[1] = state;
    data[2] = (uint8_t)value;
    data[3] = (uint8_t)((uint16_t)value >> 8);
    data[4] = can_checksum(data, 4);
    if (hal_can_send(CAN_ID_REPORT, data, sizeof data) != 0)
        return -1;
    if (++counter == 3)
        counter = 0;
    return 0;
}
