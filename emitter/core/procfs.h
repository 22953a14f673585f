/* procfs.h -- what the kernel says about this process, in files. */
#ifndef TELEM_EMITTER_CORE_PROCFS_H
#define TELEM_EMITTER_CORE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a file, at most room - 1 bytes, as a string; false: nothing was read. */
bool proc_read(const char *path, char *text, size_t room);
/* A field is 0 where the kernel does not say; start_ns: since boot. */
struct proc_stat { uint64_t thread_count, start_ns, rss_bytes; };
struct proc_stat proc_stat(void);
#endif
