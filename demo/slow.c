#include "demo/slow.h"

#include <stdio.h>
#include <string.h>

#include "emitter/telem.h"

TELEM_CLASS_DECLARE(query);

enum { SLOW_NS = 1000000, VERY_SLOW_NS = 10000000, JOB_NS = 20000000, JOB_WORDS = 100000, JOB_LINES = 2 };

/* Called for each query, on the thread that runs it, even while the class query is off. */
static int look(const struct telem_happening *what, void *config)
{
	(void)config;
	if (what->phase != TELEM_STOPPED || what->value < SLOW_NS)
		return 0;
	TELEM_COUNT(query, "slow queries", 1);
	if (what->value >= VERY_SLOW_NS)
		TELEM_LOG(TELEM_WARN, "a query took %llu ms", (unsigned long long)(what->value / 1000000));
	return 0;
}

void slow_init(bool persist)
{
	int err = telem_attach("slow queries", "query.query", look, NULL);

	if (err < 0)
		fprintf(stderr, "telem-demo: slow queries are not counted: %s\n", strerror(-err));
	if (persist)
		telem_persist();
	/* The budget of a job, checked whether or not a viewer is connected. */
	err = telem_budget("job", &(struct telem_budget){ .ns = JOB_NS, .logs = JOB_LINES, .counter = "index.words",
							  .counter_most = JOB_WORDS }, NULL, NULL);
	if (err < 0)
		fprintf(stderr, "telem-demo: jobs have no budget: %s\n", strerror(-err));
	/* There are so many of these spans that the cost of timing each one would show. */
	(void)telem_span_every("index.find", 16);
}

void slow_fini(void)
{
	telem_detach("slow queries");
}
