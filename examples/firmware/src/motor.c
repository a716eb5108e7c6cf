/* A motor that follows a setpoint: the state machine, and what reads and drives the board. */
#include "can.h"
#include "hal.h"
#include "pid.h"
#include <stddef.h>

#define STALL_LIMIT 3
#define TIMEOUT_MS 500u
#define ADC_PATIENCE 4

enum state { STATE_INIT, STATE_IDLE, STATE_RUN, STATE_FAULT };

static enum state state = STATE_INIT;
static int16_t setpoint;
static uint32_t last_request;

enum state motor_state(void) {
    return state;
}

/* Asks the converter; a value, or -1 if it does not answer or lost one. */
int32_t adc_sample(void) {
    int patience = ADC_PATIENCE;

    ADC->CR = ADC_START;
    while (!(ADC->SR & ADC_EOC)) {
        if (--patience == 0)
            return -1;
    }
    if (ADC->SR & ADC_OVERRUN)
        return -1;
    return (int32_t)(ADC->DR & 0xFFF);
}

void drive(uint32_t duty) {
    if (duty > 4095)
        duty = 4095;
    TIMER->CCR = duty;
    if (duty == 0)
        TIMER->CR &= ~TIMER_ENABLE;
    else
        TIMER->CR |= TIMER_ENABLE;
}

/* Whether the motor has stood still for too long though it is driven. */
static bool stalled(uint32_t duty, int32_t speed) {
    static uint8_t count;

    if (duty > 2000 && speed < 10) {
        if (count < STALL_LIMIT)
            count++;
    } else {
        count = 0;
    }
    return count == STALL_LIMIT;
}

void motor_init(void) {
    pid_reset();
    drive(0);
    setpoint = 0;
    last_request = hal_millis();
    state = STATE_IDLE;
}

/* What a request changes. */
int motor_command(const struct request *request) {
    switch (request->command) {
    case COMMAND_START:
        if (state != STATE_IDLE || setpoint == 0)
            return -1;
        pid_reset();
        state = STATE_RUN;
        return 0;
    case COMMAND_STOP:
        if (state == STATE_INIT)
            return -1;
        drive(0);
        state = STATE_IDLE;
        return 0;
    case COMMAND_SETPOINT:
        if (request->setpoint < 0 || request->setpoint > 3000)
            return -1;
        setpoint = request->setpoint;
        return 0;
    case COMMAND_GAINS:
        return state == STATE_RUN || !pid_gains(request->kp, request->ki) ? -1 : 0;
    default:
        return -1;
    }
}

static void fault(void) {
    drive(0);
    hal_led(true);
    state = STATE_FAULT;
}

/* One turn of the control loop. */
void motor_run(void) {
    int32_t speed = adc_sample();
    uint32_t duty;

    if (speed < 0) {
        fault();
        return;
    }
    speed = filter((int16_t)speed);
    duty = (uint32_t)pid_step(setpoint - speed);
    if (stalled(duty, speed))
        fault();
    else
        drive(duty);
}

/* One turn of the main loop: requests, the watchdog of the bus, control, and a report. */
int motor_tick(void) {
    struct request request;
    int got = can_poll(&request);
    uint32_t now = hal_millis();

    if (got > 0) {
        last_request = now;
        if (motor_command(&request) != 0)
            return -1;
    } else if (state == STATE_RUN && now - last_request > TIMEOUT_MS) {
        fault();
    }
    if (state == STATE_RUN)
        motor_run();
    return can_report(setpoint, (uint8_t)state);
}
