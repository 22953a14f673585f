/* limits.h -- every limit of the wire, of queues and of tables, each with its reason.
 *
 * Names end in their unit (_BYTES, _NS, _S); a name without one is a count. */
#ifndef TELEM_PROTOCOL_LIMITS_H
#define TELEM_PROTOCOL_LIMITS_H

/* ---- wire: what both ends agree on ---- */

/* Bytes of a block, its CHECK included; no message is larger. This is PIPE_BUF, so that a FIFO takes
 * a block whole or not at all, a reader buffers little, and one damage costs little. */
#define LIMIT_BLOCK_BYTES 4096
/* Arrays or maps inside one another. Messages of this version nest to 2; unknown kinds may use 4. */
#define LIMIT_NESTING 4
/* Items of one array or map. No block has room for more, since an item takes at least one byte. */
#define LIMIT_ITEMS 4096
/* Bytes of one text or bin field: half a block, so that every message with one such field fits. */
#define LIMIT_TEXT_BYTES 2048
/* Bytes of a name, its NUL included. No table shows as many columns. */
#define LIMIT_NAME_BYTES 128
/* Bytes of a path, its NUL included. A socket's path has at most 108; files get about twice that. */
#define LIMIT_PATH_BYTES 256
/* Classes of one program. A set of classes is one 64-bit mask. */
#define LIMIT_CLASSES 64
/* Tasks alive at once. A task that starts when all are taken shares one of them, and is counted. */
#define LIMIT_TASKS 65536
/* Site ids. The fixed-width records of a BATCH have 16 bits for one. */
#define LIMIT_SITES 65536
/* Named fields of one event. A record of an event has a fixed place for so many. */
#define LIMIT_FIELDS 8
/* Bytes of all names of one stream together. The program copies each name once and never frees it. */
#define LIMIT_STRINGS_BYTES (1 << 20)
/* Bytes that one stream can make a reader hold, so that a hostile stream cannot exhaust its memory. */
#define LIMIT_STREAM_BYTES (16 << 20)
/* Bytes of one request. Requests are small, and one write() to a FIFO takes one whole. */
#define LIMIT_REQUEST_BYTES 1024

/* ---- emitter: what a guest may take from the program it lives in ---- */

/* Sites of one program. Each shard has 64 bytes for every site that exists. */
#define LIMIT_EMITTER_SITES 16384
/* Where RLIMIT_AS or RLIMIT_DATA leaves less room, tables are halved until they fit, but not below these. */
#define LIMIT_EMITTER_SITES_MIN 1024u
#define LIMIT_TASKS_MIN 64u
/* Sites that a program names at run time. Each takes 280 bytes that are never freed, besides those of every site; later
 * names share a site for each class and kind. */
#define LIMIT_NAMED_SITES 4096u
/* Shards: pairs of a thread and a task that have sums of their own. Later pairs share one shard, and
 * add to it with locked instructions. */
#define LIMIT_SHARDS 4096
/* Threads with a ring of their own. At the default size they reserve 1 GiB of address space, and the
 * kernel gives memory only to the parts that are used. */
#define LIMIT_RINGS 1024
/* Bytes of a ring. At the least, so that a segment (1/8 of the ring) has room for the longest text. */
#define LIMIT_RING_BYTES_MIN (64 << 10)
/* At the most, so that one thread cannot take the memory of a small machine. */
#define LIMIT_RING_BYTES_MAX (64 << 20)
/* By default 65,536 events of 16 bytes: 6.5 ms at 10 million events a second. */
#define LIMIT_RING_BYTES_DEFAULT (1 << 20)
/* Histograms, 9.5 KiB for each pair of a shard and a site: 20 MB in all. Later pairs have count, sum,
 * min and max only. */
#define LIMIT_HISTOGRAMS 2048
/* Tasks whose histograms are sent task by task. With more of them, only the histograms of the whole
 * program are sent, because the others would flood the link. */
#define LIMIT_HISTOGRAM_TASKS 32
/* Tasks entered inside one another by one thread. Each thread has a fixed stack for so many. */
#define LIMIT_TASK_DEPTH 8
/* Handlers of one program. To attach or detach one searches all of them. */
#define LIMIT_HANDLERS 1024
/* Names of events that handlers are attached to: four for each handler. */
#define LIMIT_HANDLER_NAMES 4096
/* Calls of handlers inside one another, when a handler emits an event that has handlers. The limit
 * ends an endless recursion before it overflows the program's stack. */
#define LIMIT_HANDLER_DEPTH 8
/* Latencies that have begun by key and not ended yet. Each takes 24 bytes: 768 KiB in all. */
#define LIMIT_OPEN_LATENCIES 32768u
/* Sampled allocations that the table has room for; it is kept at most half full. Each takes 48 bytes: 3 MiB by default,
 * which are used as samples come. More samples make estimates finer, by the square root; more than the greatest number
 * would make most frees search the table. */
#define LIMIT_SAMPLES_MIN (1u << 10)
#define LIMIT_SAMPLES_DEFAULT (64u << 10)
#define LIMIT_SAMPLES_MAX (256u << 10)
/* Combinations of type, task and tag for which a tick tells what they hold: 30 KB. Further ones are told by type only. */
#define LIMIT_HOLDERS 1024u
/* Time after which a latency that has not ended is given up and its place is free again. Below 1 ms
 * real latencies would be lost; above 1 h the table would fill with latencies that never end. */
#define LIMIT_LATENCY_EXPIRY_NS_MIN 1000000ull
#define LIMIT_LATENCY_EXPIRY_NS_MAX 3600000000000ull
/* One minute is longer than most programs let anything wait. */
#define LIMIT_LATENCY_EXPIRY_NS_DEFAULT 60000000000ull
/* Of a span that is sampled, one run in at most so many is timed; rarer samples show nothing. */
#define LIMIT_SPAN_EVERY 65536u
/* Names of frames. Each thread has a fixed place for the start of every one. */
#define LIMIT_FRAMES 16u
/* Counters that all frames together read at their ends. A thread that leaves a shard adds up each. */
#define LIMIT_FRAME_COUNTERS 16u
/* Counters that one frame reads. Its record has a fixed place for so many. */
#define LIMIT_COUNTERS_A_FRAME 8u
/* Ended frames that wait for the flusher: 20 KiB, a hundredth of a second at 12,800 frames a second. */
#define LIMIT_FRAMES_KEPT 128u
/* Log lines of one place in one thread that look alike and are sent as texts within LIMIT_LOG_BURST_NS.
 * Further lines are counted only, and their number is told, because a burst repeats itself. */
#define LIMIT_LOG_BURST 20u
#define LIMIT_LOG_BURST_NS 1000000000u
/* Functions that the flusher calls each tick for the program's own values. Their memory is never
 * freed, because a path that comes back must be the same site. */
#define LIMIT_REPORTERS 1024u
/* Sinks and viewers at once. The flusher visits each of them every time it wakes. */
#define LIMIT_SINKS 64
/* Blocks queued for one slow viewer: 1 MiB. Further blocks are lost to this viewer, and counted. */
#define LIMIT_QUEUE_BLOCKS 256
/* Levels leased by all viewers together, in one fixed table. */
#define LIMIT_LEASES 1024
/* Requests of one viewer that are answered in a second. Further ones wait for the next second, so
 * that no viewer can keep the flusher from draining rings. */
#define LIMIT_REQUESTS_PER_S 100
/* Time that telem_stop() waits for sinks to take what is queued. A program should not end noticeably
 * later because of a slow reader. */
#define LIMIT_LINGER_NS_DEFAULT 100000000ull
/* Nobody waits longer than a minute for a program to end. */
#define LIMIT_LINGER_NS_MAX 60000000000ull
/* Time between two flushes. Faster than 1 ms would wake the flusher for almost nothing. */
#define LIMIT_FLUSH_NS_MIN 1000000ull
/* Slower than 10 s would look like a program that has stopped. */
#define LIMIT_FLUSH_NS_MAX 10000000000ull
/* Ten flushes a second look immediate to a person. */
#define LIMIT_FLUSH_NS_DEFAULT 100000000ull
/* Time between two snapshots. More than ten a second would make snapshots most of the traffic. */
#define LIMIT_TICK_NS_MIN 100000000ull
/* The monitor's model has one point a second; a minute is the longest gap that still reads as live. */
#define LIMIT_TICK_NS_MAX 60000000000ull
/* One snapshot for each point of the monitor's model. */
#define LIMIT_TICK_NS_DEFAULT 1000000000ull
/* Time that one event may wait for room in a full ring under policy "block": a stuck reader must not
 * look like a deadlock of the program. */
#define LIMIT_BLOCK_WAIT_NS_MAX 10000000000ull
/* Time after which every definition is sent again, for readers that joined in the middle. */
#define LIMIT_SYNC_NS 30000000000ull
/* Bytes and time between two index points of a recording; the one reached first counts. A reader that
 * seeks decodes at most so much before it shows the wanted second. */
#define LIMIT_INDEX_BYTES (1 << 20)
#define LIMIT_INDEX_NS 5000000000ull

/* ---- reader ---- */

/* Bytes that a reader of a FIFO skips before the first HELLO. The pipe may still hold what an earlier
 * reader left, at most 1 MiB for an ordinary user; this is twice that. */
#define LIMIT_LEFTOVER_BYTES (2 << 20)
/* Bytes that any other reader skips before the first HELLO: two blocks. What shows no HELLO by then is
 * not a telemetry stream. */
#define LIMIT_LEAD_BYTES (2 * LIMIT_BLOCK_BYTES)
/* Bytes of the stream that the live screen keeps, to look back at: minutes of a busy program, hours of a
 * quiet one. */
#define LIMIT_TIMELINE_BYTES (64 << 20)
/* Bytes of a recording that are read again, at most, to show an earlier moment: less than a second's work. */
#define LIMIT_REWIND_BYTES (256 << 20)
/* Seconds of history in the monitor's model: one hour, a point a second. */
#define LIMIT_HISTORY_S 3600
#endif
