/* procfs.h -- what the kernel says about this process, in files. */
#ifndef TELEM_EMITTER_CORE_PROCFS_H
#define TELEM_EMITTER_CORE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads at most room - 1 bytes of a file as a string. Returns false when nothing was read. */
bool proc_read(const char *path, char *text, size_t room);
/* A field that the kernel does not tell is 0. start_ns counts from boot. */
struct proc_stat { uint64_t thread_count, start_ns, rss_bytes; };
struct proc_stat proc_stat(void);
#endif
