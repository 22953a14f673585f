/* controls.h -- what we ask of one watched program, and what we hold of it.
 *
 * A request is numbered, sent, and remembered until its answer comes. Levels are leases: those that we hold are wishes,
 * which are sent again when the connection comes back. */
#ifndef TELEM_MONITOR_SESSION_CONTROLS_H
#define TELEM_MONITOR_SESSION_CONTROLS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/session/session.h"
#include "monitor/source/problem.h"
#include "monitor/source/source.h"

/* So many requests may wait for their answers at once; an older one is forgotten. */
#define CONTROLS_REQUESTS 128
#define CONTROLS_WISHES 64

struct request;
/* Called with the answer, in which code is ACK_DONE or why not. */
typedef void controls_answered(void *arg, const struct request *request);

struct request {
	uint32_t id;                 /* 0: the place is free */
	enum kind kind;
	uint32_t class_id, site;     /* of a SET_LEVEL, like level */
	uint8_t level;
	controls_answered *answered; /* may be NULL */
	void *arg;
	uint32_t code;               /* of the answer, like text */
	char text[LIMIT_PATH_BYTES];
};

/* A level that we hold, of a class or a site. */
struct wish {
	char name[LIMIT_NAME_BYTES]; /* "": every class, unless class_id is known */
	uint32_t class_id, site;     /* class_id UINT32_MAX: the name was not looked up yet */
	uint8_t level;
	bool persist;                /* the level stays when we leave */
};

/* The latest request for the level of a class. */
struct level_request {
	uint32_t id;                 /* 0: nothing is waited for */
	uint8_t level;
	uint64_t sent_ns;            /* of the viewer's monotonic clock */
	char answer[80];             /* "": it was done; else why not */
};

struct controls {
	struct session *session;     /* borrowed; observer looks on in it */
	struct source *source;       /* borrowed */
	struct observer observer;
	bool is_read_only;           /* nothing is ever sent */
	bool persist;                /* levels that are set from now on stay when we leave */
	char own_name[32];           /* what the program calls us */
	uint64_t interval_ns;        /* the pace of ticks that we ask for */
	uint64_t stream;             /* of the program that greeted us last */
	struct request requests[CONTROLS_REQUESTS];
	uint32_t next_request, answer_count;
	struct wish wishes[CONTROLS_WISHES];
	int wish_count;
	char letters[LIMIT_CLASSES]; /* a key for each class; 0: none yet */
	struct level_request levels[LIMIT_CLASSES];
	int back_pid;                /* a program of the same name runs again as this process; 0: none */
};

/* Both the session and the source are borrowed until controls_fini(). */
void controls_init(struct controls *controls, struct session *session, struct source *source);
void controls_fini(struct controls *controls);

/* Sends a request; its number is filled in. answered may be NULL. 0; -EPERM when we are read-only, -ENOTCONN without a
 * way, -EMSGSIZE when it is too long, or another negative errno. */
int controls_request(struct controls *controls, const struct message *message, controls_answered *answered, void *arg);
/* Once the program has greeted us: tells it who we are, how often ticks shall come, and which levels we hold. Returns
 * false when the program lacks the class or site *missing of a wish. */
bool controls_attach(struct controls *controls, const char **missing);
/* How often ticks come, from now on and after a reconnection. 0 or a negative errno. */
int controls_set_interval(struct controls *controls, uint64_t interval_ns);

/* Asks for a level of a class, or of a site when site is not 0, and holds it; LEVEL_OWN gives it back. controls.levels
 * says what became of it. 0 or a negative errno. */
int controls_set_level(struct controls *controls, uint32_t class_id, uint32_t site, uint8_t level, uint64_t now_ns,
		       controls_answered *answered, void *arg);
/* Forgets the level requests that have waited too long. */
void controls_expire(struct controls *controls, uint64_t now_ns);

/* Adds wishes from a list such as "gc=all,log=off", "all", "sum" or "none". EXIT_DONE or EXIT_USAGE. */
int controls_wish(struct controls *controls, const char *list, struct problem *problem);
/* Returns whether each wish names a class or site that the program has; *missing is the first that does not. */
bool controls_check_wishes(struct controls *controls, const char **missing);
/* Sends all wishes but those that name something that the program lacks, of which *missing is the last; then it returns
 * false. answered is called for each request sent, whose count is added to *sent_count, which may be NULL. */
bool controls_send_wishes(struct controls *controls, controls_answered *answered, void *arg, int *sent_count,
			  const char **missing);
/* Sets the problem that the program has no class or site of this name, and lists its classes. */
void controls_no_such_class(const struct controls *controls, const char *name, struct problem *problem);

/* Gives a letter to each class that has none: the first of its name that is free. */
void controls_name_classes(struct controls *controls);
#endif
