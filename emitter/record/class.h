/* class.h -- the classes of the program: registration, and what was asked for before a class came.
 *
 * Everything here is read and written under the emitter's lock, except where a field says otherwise. */
#ifndef TELEM_EMITTER_RECORD_CLASS_H
#define TELEM_EMITTER_RECORD_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/api.h"
#include "protocol/limits.h"

/* The value of a level that is not set: the level of the class is in force then, or that of all classes. */
enum { LEVEL_NONE = 0xff };

/* Says which of a class's events at level all are streamed; the others are only summed. The threads that
 * record read and write it with relaxed atomics, without the lock. */
struct class_limit {
	uint32_t one_in;             /* one event in so many is streamed; 0 and 1 mean every event */
	uint64_t per_second;         /* at most so many are streamed; 0 means any number */
	uint32_t burst;              /* so many log lines of one look a second have their text streamed; 0: the default */
	uint64_t second_ticks, let_through;  /* when the present second began, and how many were streamed since then */
};

struct class_entry {
	char name[LIMIT_NAME_BYTES], help[LIMIT_NAME_BYTES];
	uint8_t own_level, level;    /* level is the one in force */
	uint8_t leased_level;        /* what a viewer holds, or LEVEL_NONE; set by deliver/lease.c */
	bool was_off;                /* since the start: the sums of its sites then have a gap */
	bool is_sent, is_level_sent;
	char level_by[64];           /* who set the level in force */
	struct class_limit limit;
};

extern struct class_table {
	struct class_entry rows[LIMIT_CLASSES];      /* a row's index is the class's id */
	uint32_t count;
} class_table __attribute__((visibility("hidden")));

/* Registers the classes that every program has; may be called again. */
void classes_begin(void);
/* Registers a class; a second call does nothing. Returns false when there are too many classes, and sets
 * telem_error(). */
bool class_register(struct telem_class *cls);
/* Returns the id of a class, or -1. */
int class_find(const char *name);
/* Sets the own level of a class, which may be registered later. */
void class_level_by_name(const char *name, uint8_t level);
/* Sets the own level of every class, also of those that are registered later. */
void class_level_of_all(uint8_t level);
void class_limit(uint32_t id, uint32_t one_in, uint64_t per_second);
/* Sets the limit of a class, which may be registered later. */
void class_limit_by_name(const char *name, uint32_t one_in, uint64_t per_second);
/* The same for bursts of log lines; 0 is the default. */
void class_burst(uint32_t id, uint32_t burst);
void class_burst_by_name(const char *name, uint32_t burst);
bool class_is_limited(uint32_t id);
#endif
