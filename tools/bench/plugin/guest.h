/* SPDX-License-Identifier: GPL-2.0 */
/* Looking into the guest: registers and memory. */

#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum guest_register { RDI, RSI, GUEST_REGISTERS };

uint64_t guest_register(enum guest_register which);
bool guest_read(uint64_t address, void *to, size_t length);
uint64_t guest_pointer(uint64_t address);
void guest_text(uint64_t address, char *to, size_t length);

#endif
