#include "monitor/cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "monitor/source/problem.h"

bool output_flush(int *code)
{
	struct problem problem = { 0 };

	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	*code = EXIT_DONE;
	if (errno == EPIPE)
		return false;
	problem_set(&problem, EXIT_INTERNAL, "standard output: cannot be written: %s", strerror(errno));
	problem_todo(&problem, "Is the disk full?");
	*code = problem_print(&problem);
	return false;
}

int output_finish(int code)
{
	int failed;

	return output_flush(&failed) || code != EXIT_DONE ? code : failed;
}
