/* The interface of the board. These functions are external on the host: tests stub them. */
#ifndef HAL_H
#define HAL_H

#include <stdbool.h>
#include <stdint.h>

/* Registers of the converter and of the timer, at the addresses that the data sheet says. */
struct adc {
    volatile uint32_t CR;
    volatile uint32_t SR;
    volatile uint32_t DR;
};
struct timer {
    volatile uint32_t CR;
    volatile uint32_t CCR;
};
#define ADC ((struct adc *)0x40012000u)
#define TIMER ((struct timer *)0x40010000u)

#define ADC_START 0x1u
#define ADC_EOC 0x2u
#define ADC_OVERRUN 0x4u
#define TIMER_ENABLE 0x1u

uint32_t hal_millis(void);
bool hal_can_read(uint32_t *id, uint8_t *data, uint32_t size, uint32_t *length);
int hal_can_send(uint32_t id, const uint8_t *data, uint32_t length);
void hal_led(bool on);

#endif
