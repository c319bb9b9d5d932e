// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

struct options options;

static bool parse_number(const char *text, uint64_t *to)
{
	char *end;

	*to = strtoull(text, &end, 0);
	return *text && !*end;
}

static bool parse_range(const char *text, struct range *to)
{
	char *end;

	to->from = strtoull(text, &end, 0);
	return *end == '-' && parse_number(end + 1, &to->to);
}

static bool parse_one(const char *key, const char *value)
{
	if (!strcmp(key, "out")) {
		options.out = strdup(value);
		return true;
	}
	if (!strcmp(key, "switch"))
		return parse_range(value, &options.switch_to);
	if (!strcmp(key, "napi"))
		return parse_range(value, &options.napi_poll);
	if (!strcmp(key, "work"))
		return parse_range(value, &options.work);
	if (!strcmp(key, "comm"))
		return parse_number(value, &options.comm);
	if (!strcmp(key, "dev"))
		return parse_number(value, &options.dev);
	if (!strcmp(key, "name"))
		return parse_number(value, &options.name);
	if (!strcmp(key, "func"))
		return parse_number(value, &options.func);
	return false;
}

bool options_parse(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (equals)
			*equals = '\0';
		if (!equals || !parse_one(argv[i], equals + 1)) {
			fprintf(stderr, "plugin: cannot make sense of the option '%s'\n", argv[i]);
			return false;
		}
	}
	if (!options.out)
		fprintf(stderr, "plugin: say where the results go: out=FOLDER\n");
	return options.out;
}
