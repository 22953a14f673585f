/* units.h -- figures in people's units. No other file makes them.
 *
 * A figure has three significant digits, in the unit where it does not reach 1000 after rounding:
 * 999 µs, then 1.00 ms. Exactly zero is "0", NaN (no data) is "–", and a value above the largest
 * unit is ">999E". The decimal point is a point in every locale. The texts contain µ and –: an
 * ASCII canvas draws their twins, and text for other outputs passes text_clean(). Texts are not
 * padded. The greatest width is given in columns; a minus sign adds one. */
#ifndef TELEM_WIDGETS_UNITS_H
#define TELEM_WIDGETS_UNITS_H

#include <stdint.h>

enum { UNITS_BYTES = 24 };      /* room for every text made here */

/* The unit of a series, for widgets that label their own axes. */
enum unit { UNIT_NONE, UNIT_NS, UNIT_BYTES, UNIT_PER_S, UNIT_BYTES_PER_S, UNIT_SHARE };

/* A duration: "412 µs" "8.31 ms" "52.3 s" "1m05s" "2h14m" "12d4h"; at most 7 columns. */
void units_time(char out[UNITS_BYTES], double ns);
/* A size: "512 B" "999 KiB" "0.98 MiB" "1.20 MiB"; at most 8 columns. */
void units_bytes(char out[UNITS_BYTES], double bytes);
/* A count: "310" "48.2k" "1.24M", and "12.5" for one with a fraction; at most 5 columns. */
void units_count(char out[UNITS_BYTES], double count);
/* A rate: "298 /s" "12.0 /s" "1.24k/s", where the letter replaces the blank; at most 7 columns. */
void units_rate(char out[UNITS_BYTES], double per_s);
/* A rate of bytes: "1.91 MiB/s"; at most 10 columns. */
void units_byte_rate(char out[UNITS_BYTES], double bytes_per_s);
/* A share, where 1 is the whole: "0.92 %" "61.0 %" "100 %"; at most 6 columns up to 9999 %. */
void units_percent(char out[UNITS_BYTES], double share);
/* Any of the above, chosen by unit. units_width() is the greatest width of that unit. */
void units_value(char out[UNITS_BYTES], enum unit unit, double value);
int units_width(enum unit unit);
/* The same in its shortest form, for the ends of axes: "100µs" "1ms" "2.5ms"; at most 7 columns. */
void units_tick(char out[UNITS_BYTES], enum unit unit, double value);

/* A difference, always with its sign: "+41.0 MiB" "-320 KiB" "0"; "+78.1 ms". */
void units_bytes_change(char out[UNITS_BYTES], double bytes);
void units_time_change(char out[UNITS_BYTES], double ns);
/* The change from before to now in whole percent: "+4 %" "-12 %" "0 %"; "–" when before is not
 * above zero, because a percentage has no meaning then. */
void units_change_percent(char out[UNITS_BYTES], double before, double now);

/* The time of day in the viewer's time zone, "10:42:07"; with decimals (0 to 9), "10:42:06.913". */
void units_clock(char out[UNITS_BYTES], int64_t real_ns, int decimals);
/* How long something has been running, in whole seconds: "42s" "3m10s" "2h14m". */
void units_uptime(char out[UNITS_BYTES], double ns);
#endif
