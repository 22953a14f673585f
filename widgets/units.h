/* units.h -- figures for people, made here and nowhere else.
 *
 * Three significant digits, in the unit where no number reaches 1000 after
 * rounding: 999 µs, then 1.00 ms. Exactly zero is "0", NaN (absent) is "–", a
 * value past the largest unit reads ">999E". Decimal points are points in every
 * locale. The texts hold µ and –: an ASCII canvas draws their twins, text that
 * goes elsewhere passes text_clean(). Nothing is padded; the greatest width is
 * given in columns, a minus sign adds one. */
#ifndef TELEM_WIDGETS_UNITS_H
#define TELEM_WIDGETS_UNITS_H

#include <stdint.h>

enum { UNITS_BYTES = 24 };      /* room for any text made here */

/* What a series is counted in, for widgets that label their own axes. */
enum unit { UNIT_NONE, UNIT_NS, UNIT_BYTES, UNIT_PER_S, UNIT_BYTES_PER_S, UNIT_SHARE };

/* "412 µs" "8.31 ms" "52.3 s" "1m05s" "2h14m" "12d4h"; 7 columns. */
void units_time(char out[UNITS_BYTES], double ns);
/* "512 B" "999 KiB" "0.98 MiB" "1.20 MiB"; 8 columns. */
void units_bytes(char out[UNITS_BYTES], double bytes);
/* "310" "48.2k" "1.24M"; a fraction shows: "12.5"; 5 columns. */
void units_count(char out[UNITS_BYTES], double count);
/* "298 /s" "12.0 /s" "1.24k/s", the letter in the place of the blank; 7 columns. */
void units_rate(char out[UNITS_BYTES], double per_s);
/* "1.91 MiB/s"; 10 columns. */
void units_byte_rate(char out[UNITS_BYTES], double bytes_per_s);
/* A share, 1 the whole: "0.92 %" "61.0 %" "100 %"; 6 columns up to 9999 %. */
void units_percent(char out[UNITS_BYTES], double share);
/* Any of the above, by unit; units_width() is its greatest width. */
void units_value(char out[UNITS_BYTES], enum unit unit, double value);
int units_width(enum unit unit);
/* The same, shortest, for the ends of axes: "100µs" "1ms" "2.5ms"; 7 columns. */
void units_tick(char out[UNITS_BYTES], enum unit unit, double value);

/* Differences, always signed: "+41.0 MiB" "-320 KiB" "0"; "+78.1 ms". */
void units_bytes_change(char out[UNITS_BYTES], double bytes);
void units_time_change(char out[UNITS_BYTES], double ns);
/* From before to now in whole percent: "+4 %" "-12 %" "0 %"; "–" when before is
 * not above zero, for then no percent says it. */
void units_change_percent(char out[UNITS_BYTES], double before, double now);

/* Time of day in the viewer's zone, "10:42:07", with decimals (0..9) "10:42:06.913". */
void units_clock(char out[UNITS_BYTES], int64_t real_ns, int decimals);
/* How long something has been running, in whole seconds passed: "42s" "3m10s" "2h14m". */
void units_uptime(char out[UNITS_BYTES], double ns);
#endif
