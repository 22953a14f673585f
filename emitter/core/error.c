#include "emitter/core/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "emitter/core/api.h"

static char text[512];

void error_set(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
}

const char *telem_error(void)
{
	return text;
}
