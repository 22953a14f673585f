/* target.h -- a program that is watched, live or from a recording: its source, its session, its past and its controls.
 *
 * The screen and the subcommands without a screen are users of this. An application may hold many targets. */
#ifndef TELEM_MONITOR_SESSION_TARGET_H
#define TELEM_MONITOR_SESSION_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/session/controls.h"
#include "monitor/session/cursor.h"
#include "monitor/session/session.h"
#include "monitor/session/timeline.h"
#include "monitor/source/address.h"
#include "monitor/source/source.h"

struct event_base;

struct target_config {
	uint64_t interval_ns;        /* how often ticks shall come */
	const char *levels;          /* levels to hold, as controls_wish() takes them; NULL: none */
	bool persist;                /* those levels stay when we leave */
	bool is_read_only;           /* nothing is ever sent to the program */
	bool reconnects;             /* after a loss it is looked for again */
	bool awaits_next;            /* after a goodbye the next program at the same address is waited for */
	int timeout_s;               /* for a first connection */
	size_t past_bytes;           /* so many bytes of the stream are kept to look back at; 0: none */
};

struct target {
	struct target_config config;
	struct address address;
	struct source source;
	struct session session;      /* fed by a live source, or by the cursor on a recording */
	struct observer observer;    /* ours in the session */
	struct controls controls;
	struct timeline timeline;    /* a recording, or what is kept of a live stream */
	struct cursor cursor;        /* where the user looks; closed: at what comes in now */
	struct session past;         /* what the cursor shows of a live program */
	uint64_t frozen_ticks;       /* how many ticks the live model had when the picture was frozen */
	bool is_open;                /* connected */
	bool is_attached;            /* on this connection we have said who we are and what we want */
	bool has_session;
	struct problem problem;      /* why it ended, or is not open */
	struct problem warning;      /* of a recording */
	struct problem notice;       /* a wish names what the program lacks; the user of the target clears it */
	/* Times of the monotonic clock: when bytes came last, when the source was opened, and when it was lost. */
	uint64_t last_bytes_ns, opened_ns, lost_ns;
	/* Called after each tick with tick true, and with tick false when anything else has changed. */
	void (*on_change)(void *arg, bool tick);
	void *arg;
};

/* Opens the address. Returns EXIT_DONE, or another status with target->problem set; then nothing needs to be closed. A
 * recording stands before its first tick, and needs neither base nor on_change. */
int target_open(struct target *target, struct event_base *base, const struct target_config *config,
		const struct address *address, void (*on_change)(void *arg, bool tick), void *arg);
void target_close(struct target *target);
/* How often target_clock() is to be called. */
#define TARGET_CLOCK_MS 1000
/* Gives up what waits for an answer for too long: requests, and a first connection that is accepted but brings no greeting
 * within the timeout. A socket that accepts connections need not belong to libtelem. */
void target_clock(struct target *target);

/* Returns whether the target is a recording, where no program is that could be asked for anything. */
bool target_is_recording(const struct target *target);
/* Returns the model of the moment that the user looks at: the cursor's, or the newest. */
struct model *target_model(const struct target *target);
/* Holds the picture of a live program, while what comes in goes on to be kept. Returns 0 or -ENOMEM. */
int target_freeze(struct target *target);
/* Returns from a held picture to what comes in now. */
void target_unfreeze(struct target *target);
bool target_is_frozen(const struct target *target);
#endif
