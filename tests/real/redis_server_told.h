/* redis_server_told.h -- goes into Redis's server.c: a span and a task for each command, as README.md suggests. */
#ifndef TELEM_TESTS_REAL_REDIS_SERVER_TOLD_H
#define TELEM_TESTS_REAL_REDIS_SERVER_TOLD_H

#include <telem.h>

enum { TOLD_COMMANDS = 1024 };

static void told_call(client *c)
{
	static struct { struct redisCommand *command; struct telem_site *site; int task; } table[TOLD_COMMANDS];
	unsigned at = (unsigned)((uintptr_t)c->cmd >> 4) % TOLD_COMMANDS;

	while (table[at].command && table[at].command != c->cmd)
		at = (at + 1) % TOLD_COMMANDS;
	if (!table[at].command) {
		table[at].command = c->cmd;
		table[at].site = telem_site_new("command", TELEM_KIND_SPAN, TELEM_NS, c->cmd->fullname);
		table[at].task = telem_task_new(c->cmd->fullname);
	}
	telem_task_enter(table[at].task);
	TELEM_SPAN_OF(table[at].site)
		c->cmd->proc(c);
	telem_task_leave();
}
#endif
