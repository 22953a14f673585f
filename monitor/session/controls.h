/* controls.h -- what we ask of one watched program, and the levels that we want of it.
 *
 * A request is numbered, sent, and remembered until its answer comes. Levels are leases: a wish is a level that we want
 * of a class or a site, from the moment we ask until we give it back. Wishes are sent again when the connection comes back,
 * or another program comes to the same address, whose classes have other numbers; so a wish goes by name. */
#ifndef TELEM_MONITOR_SESSION_CONTROLS_H
#define TELEM_MONITOR_SESSION_CONTROLS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/session/session.h"
#include "monitor/source/problem.h"
#include "monitor/source/source.h"

/* So many requests may wait for their answers at once; when one more comes, the oldest is given up. */
#define CONTROLS_REQUESTS 128
/* A level for each class, and for some sites. */
#define CONTROLS_WISHES (LIMIT_CLASSES + 64)
/* The code of a request that is not answered: its connection was lost, or it waited too long. */
#define CONTROLS_NO_ANSWER UINT32_MAX

struct request;
/* Called once for each request, when it ends. Its code is ACK_DONE, another ACK_ code when the program refused, or
 * CONTROLS_NO_ANSWER. */
typedef void controls_answered(void *arg, const struct request *request);

struct request {
	uint32_t id;                 /* 0: the place is free */
	enum kind kind;
	uint32_t class_id, site;     /* what a SET_LEVEL asks for; 0 for other kinds */
	uint8_t level;
	uint64_t sent_ns;            /* of the viewer's monotonic clock */
	controls_answered *answered; /* may be NULL */
	void *arg;
	uint32_t code;               /* the answer, once it has come */
	char text[LIMIT_PATH_BYTES]; /* what the program said with it; "" for nothing */
};

enum wish_state {
	WISH_UNSENT,
	WISH_WAITING,                /* sent, and not answered yet */
	WISH_DONE,
	WISH_REFUSED,                /* text says why; it is not sent again */
	WISH_UNANSWERED              /* text says why; it is sent again on the next connection */
};

struct wish {
	bool is_for_all;             /* it is for every class, and has no name */
	char name[2 * LIMIT_NAME_BYTES];     /* of a class, or CLASS.NAME of a site */
	uint32_t class_id, site;     /* of that name in this program; class_id UINT32_MAX: not looked up yet */
	uint8_t level;
	bool persist;                /* the level stays when we leave */
	enum wish_state state;
	uint32_t request;            /* the latest one for it */
	uint64_t sent_ns;            /* when, of the viewer's monotonic clock */
	char text[80];               /* why it was refused or not answered; "" in other states */
};

struct controls {
	struct session *session;     /* borrowed */
	struct source *source;       /* borrowed */
	struct observer observer;    /* hears the answers and greetings of the session */
	bool is_read_only;           /* nothing is ever sent */
	bool persist;                /* levels that are asked for from now on stay when we leave */
	char own_name[32];           /* what the program calls us */
	uint64_t interval_ns;        /* the pace of ticks that we ask for */
	uint64_t now_ns;             /* of the viewer's monotonic clock, as controls_clock() said last */
	uint64_t stream;             /* of the program that greeted us last */
	struct request requests[CONTROLS_REQUESTS];
	uint32_t next_request, answer_count;
	struct wish wishes[CONTROLS_WISHES];
	int wish_count;
	char letters[LIMIT_CLASSES]; /* a key for each class; 0: none yet */
	int back_pid;                /* the program has ended, and one of the same name runs with this PID; 0: none does */
};

void controls_init(struct controls *controls, struct session *session, struct source *source);
void controls_fini(struct controls *controls);
/* Tells the controls what time it is, on the monotonic clock, and ends the requests that have waited too long. */
void controls_clock(struct controls *controls, uint64_t now_ns);
/* Tells the controls that the connection was lost. Ends all requests, because nobody will answer them. */
void controls_lost(struct controls *controls);

/* Sends a request; its number is filled in. answered may be NULL. Returns 0, -EPERM when we are read-only, -ENOTCONN
 * when no request can reach the program now, -EACCES when the program has said that it takes no such requests, -EMSGSIZE
 * when the request is too long, or another negative errno. */
int controls_request(struct controls *controls, const struct message *message, controls_answered *answered, void *arg);
/* Says in words why a request could not be sent, from what controls_request() returned. */
const char *controls_refusal(int err);
/* Tells the program, once it has greeted us, who we are, how often ticks shall come, and which levels we want. Returns
 * true, or false when a wish names a class or site that the program lacks; *missing is then the first such name. */
bool controls_attach(struct controls *controls, const char **missing);
/* Sets how often ticks come, from now on and after a reconnection. Returns 0 or a negative errno. */
int controls_set_interval(struct controls *controls, uint64_t interval_ns);

/* Asks for a level of a class, or of a site when site is not 0, and keeps it as a wish; LEVEL_OWN gives it back. Returns
 * 0, -ENOSPC when there are too many wishes, or what controls_request() returns. */
int controls_set_level(struct controls *controls, uint32_t class_id, uint32_t site, uint8_t level,
		       controls_answered *answered, void *arg);
/* Whether the program has said in its greeting that it takes no requests of ours but those that every viewer may make. */
bool controls_are_denied(const struct controls *controls);
/* Whether we hold a level of this site. */
bool controls_wants_site(const struct controls *controls, uint32_t site);
/* Adds wishes from a list such as "gc=all,log=off", "all", "sum" or "none", and does not send them yet. Returns
 * EXIT_DONE, or EXIT_USAGE with the problem set. */
int controls_wish(struct controls *controls, const char *list, struct problem *problem);
/* Returns whether each wish names a class or site that the program has. If not, *missing is the first name that it
 * lacks. */
bool controls_check_wishes(struct controls *controls, const char **missing);
/* Sends all wishes that the program has a class or site for, and that it has not refused. answered, which may be NULL, is
 * called for each. Returns how many were sent, or the negative errno of the first that could not be. */
int controls_send_wishes(struct controls *controls, controls_answered *answered, void *arg);
/* Sets the problem that the program has no class or site of this name, and lists its classes. */
void controls_no_such_class(const struct controls *controls, const char *name, struct problem *problem);

/* Gives a letter to each class that has none: the first of its name that is free. */
void controls_name_classes(struct controls *controls);
#endif
