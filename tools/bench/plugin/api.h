/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of QEMU's plugin interface that is used here. Debian ships no header
 * for it. The names and the shapes are QEMU's, the text is ours.
 *
 * PLUGIN_API is 4 (QEMU 10) or 7 (QEMU 11): the translation callback differs.
 */

#ifndef API_H
#define API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* GLib's byte array and array, as they lie in memory. */
struct byte_array {
	uint8_t *data;
	unsigned int len;
};

struct any_array {
	char *data;
	unsigned int len;
};

struct byte_array *g_byte_array_new(void);
struct byte_array *g_byte_array_set_size(struct byte_array *array, unsigned int length);
unsigned int g_array_get_element_size(struct any_array *array);

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_plugin_scoreboard;

struct counter {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

struct register_descriptor {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
};

enum inline_op { OP_ADD = 0, OP_STORE = 1 };
enum callback_flags { CB_NO_REGS = 0, CB_R_REGS = 1 };
enum condition { COND_NE = 3 };

/* What a plugin defines. */
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

#if PLUGIN_API >= 7
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(struct qemu_plugin_tb *tb, void *userdata),
					   void *userdata);
#else
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
#endif

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t length);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu);

void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb, enum inline_op op,
						       struct counter entry, uint64_t operand);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb,
					       void (*cb)(unsigned int vcpu, void *userdata),
					       enum callback_flags flags, enum condition cond,
					       struct counter entry, uint64_t operand,
					       void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int vcpu, void *userdata),
					    enum callback_flags flags, void *userdata);

struct any_array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *handle, struct byte_array *to);
bool qemu_plugin_read_memory_vaddr(uint64_t address, struct byte_array *to, size_t length);

#endif
