/* limits.h -- every limit of the wire, of queues and of tables, named, with its reason. */
#ifndef TELEM_PROTOCOL_LIMITS_H
#define TELEM_PROTOCOL_LIMITS_H

/* A block with its CHECK: PIPE_BUF, so that a FIFO takes all of it or nothing, a reader
 * keeps little, and a damage costs little. No message is larger. */
#define LIMIT_BLOCK_BYTES 4096
/* Containers in containers. Ours nest to 2; unknown kinds may go to 4. */
#define LIMIT_NESTING 4
/* Items of one array or map: more cannot stand in a block. */
#define LIMIT_ITEMS 4096
/* Text or binary in one field: half a block, so that any message with one text fits. */
#define LIMIT_TEXT_BYTES 2048
/* Names: what a table can show, with room. */
#define LIMIT_NAME_BYTES 128
#define LIMIT_PATH_BYTES 256
/* Classes are bits of a mask. Tasks and sites: uint16 in the fixed-width records; a task
 * that comes when all are taken joins another one and is counted. */
#define LIMIT_CLASSES 64
#define LIMIT_TASKS 65536
#define LIMIT_SITES 65536
/* Fields of an event. */
#define LIMIT_FIELDS 8
/* All names of one stream together, and all that one stream may make a reader hold. */
#define LIMIT_STRINGS_BYTES (1 << 20)
#define LIMIT_STREAM_BYTES (16 << 20)
/* A control message; they are small, and one write to a FIFO. */
#define LIMIT_REQUEST_BYTES 1024

/* ---- emitter: what a guest may take ---- */
/* Sites of one program. A shard has 64 bytes for each site that exists. */
#define LIMIT_EMITTER_SITES 16384
/* (thread, task) pairs that have sums of their own; later ones share one with locked adds. */
#define LIMIT_SHARDS 4096
/* Threads with a ring of their own: 1 GiB with the default ring, all of it lazily touched. */
#define LIMIT_RINGS 1024
#define LIMIT_RING_BYTES_MIN (64 << 10)          /* a segment, 1/8, holds the longest text */
#define LIMIT_RING_BYTES_MAX (64 << 20)
#define LIMIT_RING_BYTES_DEFAULT (1 << 20)
/* Histograms (9.5 KiB each) of all (shard, site) pairs: 20 MB; later pairs keep count, sum,
 * min and max. */
#define LIMIT_HISTOGRAMS 2048
/* Beyond so many tasks, histograms by task would flood the link: totals only. */
#define LIMIT_HISTOGRAM_TASKS 32
/* How deep a thread's tasks nest. */
#define LIMIT_TASK_DEPTH 8
/* Handlers, the names they are attached to, and how deep one's events may call others. */
#define LIMIT_HANDLERS 1024
#define LIMIT_HANDLER_NAMES 4096
#define LIMIT_HANDLER_DEPTH 8
/* Latencies that have begun by key and not ended, 24 bytes each, and how long they may take. */
#define LIMIT_OPEN_LATENCIES 32768u
#define LIMIT_LATENCY_EXPIRY_NS_MIN 1000000ull
#define LIMIT_LATENCY_EXPIRY_NS_MAX 3600000000000ull
#define LIMIT_LATENCY_EXPIRY_NS_DEFAULT 60000000000ull
/* Spans that are timed now and then: one in so many at the least. */
#define LIMIT_SPAN_EVERY 65536u
/* Names of frames, the counters they look at (in all, and each), and how many ended ones are
 * kept: 20 KiB, a hundredth of a second at 12,800 a second. */
#define LIMIT_FRAMES 16u
#define LIMIT_FRAME_COUNTERS 16u
#define LIMIT_COUNTERS_A_FRAME 8u
#define LIMIT_FRAMES_KEPT 128u
/* Of one place and thread, so many lines of log in a time travel as texts; those beyond are
 * counted, and the next text tells how many. */
#define LIMIT_LOG_BURST 20u
#define LIMIT_LOG_BURST_NS 1000000000u
/* Values a program is asked for each tick. */
#define LIMIT_REPORTERS 1024u
/* Sinks and viewers at once. */
#define LIMIT_SINKS 64
/* What waits for one slow viewer, in blocks: 1 MiB. */
#define LIMIT_QUEUE_BLOCKS 256
/* Levels held by viewers. */
#define LIMIT_LEASES 1024
/* Requests: answered per second and viewer, before it is slowed; protects the flusher. */
#define LIMIT_REQUESTS_PER_S 100
#define LIMIT_LINGER_NS_DEFAULT 100000000ull
#define LIMIT_LINGER_NS_MAX 60000000000ull
#define LIMIT_FLUSH_NS_MIN 1000000ull
#define LIMIT_FLUSH_NS_MAX 10000000000ull
#define LIMIT_FLUSH_NS_DEFAULT 100000000ull
#define LIMIT_TICK_NS_MIN 100000000ull
#define LIMIT_TICK_NS_MAX 60000000000ull
#define LIMIT_TICK_NS_DEFAULT 1000000000ull
#define LIMIT_BLOCK_WAIT_NS_MAX 10000000000ull
/* Everything is told again so often, for readers that joined in the middle. */
#define LIMIT_SYNC_NS 30000000000ull
/* A recording can be entered this often: whichever comes first. */
#define LIMIT_INDEX_BYTES (1 << 20)
#define LIMIT_INDEX_NS 5000000000ull

/* ---- reader ---- */
/* Bytes before a first HELLO on a FIFO: a whole pipe of a former reader's leftovers. */
#define LIMIT_LEFTOVER_BYTES (2 << 20)
/* The same elsewhere: two blocks, then it is no telemetry stream. */
#define LIMIT_LEAD_BYTES (2 * LIMIT_BLOCK_BYTES)
/* Seconds of history in the model. */
#define LIMIT_HISTORY_S 3600
#endif
