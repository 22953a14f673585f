#include "monitor/source/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "widgets/text.h"

int problem_set(struct problem *problem, int code, const char *what, ...)
{
	va_list arguments;

	problem->code = code;
	problem->todo[0] = '\0';
	va_start(arguments, what);
	vsnprintf(problem->what, sizeof problem->what, what, arguments);
	va_end(arguments);
	return code;
}

void problem_todo(struct problem *problem, const char *todo, ...)
{
	va_list arguments;

	va_start(arguments, todo);
	vsnprintf(problem->todo, sizeof problem->todo, todo, arguments);
	va_end(arguments);
}

int problem_print(const struct problem *problem)
{
	char line[2048];

	text_clean(line, sizeof line, problem->what, strlen(problem->what), GLYPHS_BLOCKS);
	fprintf(stderr, "telemtop: %s\n", line);
	if (problem->todo[0]) {
		text_clean(line, sizeof line, problem->todo, strlen(problem->todo), GLYPHS_BLOCKS);
		fprintf(stderr, "  %s\n", line);
	}
	return problem->code;
}
