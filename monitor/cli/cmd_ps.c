/* cmd_ps.c -- the subcommand ps: lists the programs that can be monitored here. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/json.h"
#include "monitor/cli/output.h"
#include "monitor/source/discovery.h"
#include "widgets/text.h"
#include "widgets/units.h"

/* Programs after these are left out. */
enum { FOUND_MAX = 512 };

static int print_json(const struct found *found, int count)
{
	json_t *list = json_array();
	int err, code;

	for (int i = 0; i < count; i++) {
		char program[sizeof found->program * UTF8_BYTES], comm[sizeof found->comm * UTF8_BYTES];

		text_clean(program, sizeof program, found[i].program, strlen(found[i].program), GLYPHS_BLOCKS);
		text_clean(comm, sizeof comm, found[i].comm, strlen(found[i].comm), GLYPHS_BLOCKS);
		json_array_append_new(list, json_pack("{s:i, s:i, s:o, s:s, s:s, s:I, s:o, s:b, s:o}",
						      "pid", (int)found[i].pid,
						      "uid", (int)found[i].uid,
						      "user", json_text(found[i].user),
						      "program", program, "executable", comm,
						      "uptime_ns", (json_int_t)found[i].uptime_ns,
						      "socket", json_text(found[i].path),
						      "permitted", (int)found[i].is_permitted,
						      "problem", found[i].problem[0] ? json_text(found[i].problem)
										    : json_null()));
	}
	err = json_dumpf(list, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(list);
	code = output_finish(EXIT_DONE);
	return code == EXIT_DONE && err && !ferror(stdout) ? EXIT_INTERNAL : code;
}

static int run(const struct options *options)
{
	static struct found found[FOUND_MAX];
	int count = discovery_list(found, FOUND_MAX, options->all_users);

	if (options->json)
		return print_json(found, count);
	if (count == 0) {
		struct problem problem = { 0 };
		char directory[256];

		discovery_directory(directory, sizeof directory, geteuid());
		problem_set(&problem, EXIT_NO_TARGET, "no monitored program found in %s", directory);
		problem_todo(&problem, "Start one that links libtelem (try: telem-demo), or give a PID, socket, FIFO, "
				       "tcp:HOST:PORT or recording.");
		return problem_print(&problem);
	}
	printf("%7s  %-8s %-20s %8s  %s\n", "PID", "user", "program", "uptime", "socket");
	for (int i = 0; i < count; i++) {
		char program[sizeof found->program * UTF8_BYTES], user[sizeof found->user * UTF8_BYTES],
			path[sizeof found->path * UTF8_BYTES], problem[sizeof found->problem * UTF8_BYTES],
			uptime[UNITS_BYTES];

		text_clean(program, sizeof program, found[i].program, strlen(found[i].program), GLYPHS_BLOCKS);
		text_clean(user, sizeof user, found[i].user, strlen(found[i].user), GLYPHS_BLOCKS);
		text_clean(path, sizeof path, found[i].path, strlen(found[i].path), GLYPHS_BLOCKS);
		units_uptime(uptime, (double)found[i].uptime_ns);
		printf("%7d  %-8s %-20s %8s  %s\n", (int)found[i].pid, user, program, uptime,
		       found[i].is_permitted ? path : "no permission");
		text_clean(problem, sizeof problem, found[i].problem, strlen(found[i].problem), GLYPHS_BLOCKS);
		if (problem[0])
			printf("%7s  %s\n", "", problem);
	}
	return output_finish(EXIT_DONE);
}

static const struct option_row all = {
	"all", 0, NULL, "programs of all users", .flag = offsetof(struct options, all_users),
};

const struct subcommand subcommand_ps = {
	.name = "ps",
	.alias = "list",
	.usage = "[--json] [--all]",
	.help = "monitored programs of this user",
	.options = (const struct option_row *const[]){ &option_json, &all, NULL },
	.run = run,
};
