#include "widgets/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NONE "–"

struct scale {
	const char *const *names;
	int name_count;
	double step;         /* the factor from one unit to the next */
};

static const char *const time_names[] = { " ns", " µs", " ms", " s" };
static const char *const byte_names[] = { " B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB" };
static const char *const count_names[] = { "", "k", "M", "G", "T", "P", "E" };
static const char *const rate_names[] = { " ", "k", "M", "G", "T", "P", "E" };

static const struct scale time_scale = { time_names, 4, 1000 };
static const struct scale byte_scale = { byte_names, 7, 1024 };
static const struct scale count_scale = { count_names, 7, 1000 };
static const struct scale rate_scale = { rate_names, 7, 1000 };

/* Writes value >= 0 in three digits, or returns false when it rounds to 1000. It prints whole
 * numbers only, so that no locale can put in a comma. */
static bool three_digits(char out[UNITS_BYTES], double value)
{
	long long scaled;

	if (value >= 999.5)
		return false;
	scaled = llround(value * 100);
	if (scaled < 1000) {
		snprintf(out, UNITS_BYTES, "%lld.%02lld", scaled / 100, scaled % 100);
		return true;
	}
	scaled = llround(value * 10);
	if (scaled < 1000) {
		snprintf(out, UNITS_BYTES, "%lld.%lld", scaled / 10, scaled % 10);
		return true;
	}
	snprintf(out, UNITS_BYTES, "%lld", llround(value));
	return true;
}

static void scaled(char out[UNITS_BYTES], double value, const struct scale *scale)
{
	char digits[UNITS_BYTES];

	for (int i = 0; i < scale->name_count; i++, value /= scale->step) {
		if (!three_digits(digits, value))
			continue;
		snprintf(out, UNITS_BYTES, "%.8s%s", digits, scale->names[i]);
		return;
	}
	snprintf(out, UNITS_BYTES, ">999%s", scale->names[scale->name_count - 1]);
}

/* What all figures have in common: no data, zero, and the sign. Returns false when out is complete;
 * otherwise out holds the sign and *magnitude is above 0. */
static bool begin(char out[UNITS_BYTES], double value, const char *zero, const char *plus, double *magnitude)
{
	if (isnan(value)) {
		strcpy(out, NONE);
		return false;
	}
	if (value == 0) {
		strcpy(out, zero);
		return false;
	}
	strcpy(out, value < 0 ? "-" : plus);
	*magnitude = fabs(value);
	return true;
}

static void append(char out[UNITS_BYTES], const char *text)
{
	size_t bytes = strlen(out);

	snprintf(out + bytes, UNITS_BYTES - bytes, "%s", text);
}

/* From one minute on, two units say more than three digits. */
static void long_time(char out[UNITS_BYTES], double seconds)
{
	long long whole;

	if (seconds >= 100000.0 * 86400) {
		strcpy(out, ">99999d");
		return;
	}
	whole = (long long)seconds;
	if (whole < 60)
		snprintf(out, UNITS_BYTES, "%llds", whole);
	else if (whole < 3600)
		snprintf(out, UNITS_BYTES, "%lldm%02llds", whole / 60, whole % 60);
	else if (whole < 86400)
		snprintf(out, UNITS_BYTES, "%lldh%02lldm", whole / 3600, whole / 60 % 60);
	else if (whole < 1000LL * 86400)
		snprintf(out, UNITS_BYTES, "%lldd%lldh", whole / 86400, whole / 3600 % 24);
	else
		snprintf(out, UNITS_BYTES, "%lldd", whole / 86400);
}

static void magnitude_time(char out[UNITS_BYTES], double ns)
{
	/* 59.95 s would be rounded to 60.0 s, which is 1m00s. */
	if (ns >= 59.95e9)
		long_time(out, round(ns / 1e9));
	else
		scaled(out, ns, &time_scale);
}

static void signed_time(char out[UNITS_BYTES], double ns, const char *plus)
{
	char text[UNITS_BYTES];
	double magnitude;

	if (!begin(out, ns, "0", plus, &magnitude))
		return;
	magnitude_time(text, magnitude);
	append(out, text);
}

static void signed_scaled(char out[UNITS_BYTES], double value, const char *zero, const char *plus,
			  const struct scale *scale)
{
	char text[UNITS_BYTES];
	double magnitude;

	if (!begin(out, value, zero, plus, &magnitude))
		return;
	scaled(text, magnitude, scale);
	append(out, text);
}

void units_time(char out[UNITS_BYTES], double ns)
{
	signed_time(out, ns, "");
}

void units_time_change(char out[UNITS_BYTES], double ns)
{
	signed_time(out, ns, "+");
}

void units_bytes(char out[UNITS_BYTES], double bytes)
{
	signed_scaled(out, bytes, "0", "", &byte_scale);
}

void units_bytes_change(char out[UNITS_BYTES], double bytes)
{
	signed_scaled(out, bytes, "0", "+", &byte_scale);
}

void units_count(char out[UNITS_BYTES], double count)
{
	if (fabs(count) < 1000 && count == floor(count) && count != 0)
		snprintf(out, UNITS_BYTES, "%lld", llround(count));
	else
		signed_scaled(out, count, "0", "", &count_scale);
}

void units_rate(char out[UNITS_BYTES], double per_s)
{
	signed_scaled(out, per_s, "0 ", "", &rate_scale);
	if (!isnan(per_s))
		append(out, "/s");
}

void units_byte_rate(char out[UNITS_BYTES], double bytes_per_s)
{
	signed_scaled(out, bytes_per_s, "0 ", "", &byte_scale);
	if (!isnan(bytes_per_s))
		append(out, "/s");
}

/* Whole percent, with an upper bound because the width has one. */
static void whole_percent(char out[UNITS_BYTES], double percent)
{
	char text[UNITS_BYTES];

	if (percent >= 9999.5)
		strcpy(text, ">9999 %");
	else
		snprintf(text, sizeof text, "%lld %%", llround(percent));
	append(out, text);
}

void units_percent(char out[UNITS_BYTES], double share)
{
	char digits[UNITS_BYTES];
	double magnitude;

	if (!begin(out, share, "0 %", "", &magnitude))
		return;
	if (!three_digits(digits, magnitude * 100)) {
		whole_percent(out, magnitude * 100);
		return;
	}
	append(out, digits);
	append(out, " %");
}

void units_change_percent(char out[UNITS_BYTES], double before, double now)
{
	double magnitude, change = now / before - 1;

	if (!(before > 0))
		change = NAN;
	/* A change that rounds to zero is shown as zero: "+0 %" would only puzzle. */
	if (fabs(change) < 0.005)
		change = 0;
	if (begin(out, change, "0 %", "+", &magnitude))
		whole_percent(out, magnitude * 100);
}

void units_value(char out[UNITS_BYTES], enum unit unit, double value)
{
	switch (unit) {
	case UNIT_NONE:
		units_count(out, value);
		break;
	case UNIT_NS:
		units_time(out, value);
		break;
	case UNIT_BYTES:
		units_bytes(out, value);
		break;
	case UNIT_PER_S:
		units_rate(out, value);
		break;
	case UNIT_BYTES_PER_S:
		units_byte_rate(out, value);
		break;
	case UNIT_SHARE:
		units_percent(out, value);
		break;
	}
}

int units_width(enum unit unit)
{
	static const int widths[] = {
		[UNIT_NONE] = 5, [UNIT_NS] = 7, [UNIT_BYTES] = 8,
		[UNIT_PER_S] = 7, [UNIT_BYTES_PER_S] = 10, [UNIT_SHARE] = 6,
	};

	return widths[unit];
}

/* "1.50 ms" becomes "1.5ms". */
void units_tick(char out[UNITS_BYTES], enum unit unit, double value)
{
	char text[UNITS_BYTES];
	size_t end, number;

	units_value(text, unit, value);
	number = strspn(text, "+->0123456789.");
	end = number;
	if (memchr(text, '.', number)) {
		while (text[end - 1] == '0')
			end--;
		if (text[end - 1] == '.')
			end--;
	}
	if (text[number] == ' ')
		number++;
	snprintf(out, UNITS_BYTES, "%.*s%.10s", (int)end, text, text + number);
}

void units_clock(char out[UNITS_BYTES], int64_t real_ns, int decimals)
{
	const int64_t second_ns = 1000000000;
	int64_t below = real_ns % second_ns;
	time_t seconds = (time_t)(real_ns / second_ns);
	struct tm parts;

	if (below < 0) {
		below += second_ns;
		seconds--;
	}
	if (!localtime_r(&seconds, &parts)) {
		strcpy(out, NONE);
		return;
	}
	strftime(out, UNITS_BYTES, "%H:%M:%S", &parts);
	if (decimals > 9)
		decimals = 9;
	if (decimals > 0) {
		char digits[UNITS_BYTES];

		snprintf(digits, sizeof digits, ".%09" PRId64, below);
		digits[1 + decimals] = '\0';
		append(out, digits);
	}
}

void units_uptime(char out[UNITS_BYTES], double ns)
{
	if (isnan(ns))
		strcpy(out, NONE);
	else
		long_time(out, ns > 0 ? ns / 1e9 : 0);
}
