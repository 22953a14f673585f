/* timeline.h -- the past of one watched program: the blocks of its stream, which can be read again from any point on.
 *
 * The past is either a recording, or what a tape keeps of a live session in memory: its blocks as they came, bounded in
 * bytes, with a point every few seconds. The oldest blocks go first.
 *
 * Moments are ns on the timeline's own clock, which is that of the first program. When another program follows, whose clock
 * may stand anywhere, the timeline's clock goes on by as much as the wall clock did between the two. */
#ifndef TELEM_MONITOR_SESSION_TIMELINE_H
#define TELEM_MONITOR_SESSION_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session/session.h"
#include "monitor/session/tape.h"
#include "monitor/source/problem.h"
#include "monitor/source/source.h"

/* Where a reader can enter: a block that begins with HELLO. */
struct timeline_point { uint64_t offset, time_ns; };

/* The clock of one program: its time plus shift_ns, modulo 2^64, is the timeline's. */
struct timeline_clock { uint64_t stream, shift_ns, mono_ns, real_ns; };
/* When there are more programs than clocks, the later ones have the clock of the last. */
#define TIMELINE_CLOCKS 64

struct timeline {
	uint64_t start, end;         /* the offsets that can be read: from start to before end */
	uint64_t first_ns, last_ns;  /* the moments of the first and the last tick that can be read */
	struct timeline_point *points;       /* own; in order, the oldest first */
	uint32_t point_count;
	struct timeline_clock clocks[TIMELINE_CLOCKS];       /* in the order of their programs */
	uint32_t clock_count;
	/* Only for a recording. */
	struct source *file;         /* borrowed; NULL: the past is in memory */
	bool is_clean;               /* it was closed in order */
	uint64_t whole_bytes;        /* how many bytes there are up to the end of the last whole block */
	uint64_t damaged_bytes, damaged_at;
	/* Only for a live session's past. */
	struct session *session;     /* borrowed */
	struct observer observer;    /* hears the blocks of the session */
	struct tape tape;
	uint8_t *bytes;              /* own: the byte at offset is bytes[offset % bytes_max] */
	size_t bytes_max;
};

/* Reads a recording once from end to end, to find its points, its length in time, and what is damaged. Returns
 * EXIT_DONE, or another status with the problem set; then nothing needs to be closed. The warning has the status
 * EXIT_RECORDING when the recording was cut or damaged, and what is whole can be used all the same. file must live until
 * timeline_close(). */
int timeline_open(struct timeline *timeline, struct source *file, struct problem *problem, struct problem *warning);
/* Keeps the past of a live session from now on, in at most bytes_max bytes, which is LIMIT_BLOCK_BYTES or more. Returns
 * 0 or -ENOMEM. */
int timeline_keep(struct timeline *timeline, struct session *session, size_t bytes_max);
void timeline_close(struct timeline *timeline);
/* Reads up to room bytes from an offset. Returns how many, 0 at the end, -ESTALE for bytes that are kept no longer, or
 * another negative errno. */
int64_t timeline_read(struct timeline *timeline, uint64_t offset, uint8_t *bytes, size_t room);
/* Returns the moment of a program's time; 0 for time 0, at which there is no tick yet. */
uint64_t timeline_moment(const struct timeline *timeline, uint64_t stream, uint64_t time_ns);
/* Returns the wall clock at a moment, in ns since 1970. */
int64_t timeline_real_ns(const struct timeline *timeline, uint64_t moment_ns);
/* Returns the offset of the last point that is not later than the moment, or of the first point when all are later. */
uint64_t timeline_point_before(const struct timeline *timeline, uint64_t moment_ns);

/* For timeline_scan.c: adds a point. Returns false when memory is out. */
bool timeline_add_point(struct timeline *timeline, uint64_t offset, uint64_t time_ns);
/* For timeline_scan.c: a greeting has come, and a tick. */
void timeline_greeting(struct timeline *timeline, uint64_t stream, uint64_t mono_ns, uint64_t real_ns);
void timeline_tick(struct timeline *timeline, uint64_t stream, uint64_t time_ns);
#endif
