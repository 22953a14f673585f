/* descriptor.h -- whether a file descriptor still is ours.
 *
 * Daemons and shells close all descriptors, also those that they did not open, and their next open() gets the same
 * number. So a descriptor is compared with the file that it was opened for before anything is read from it, written to
 * it or closed. A thread of the program may still close it between the comparison and the use. */
#ifndef TELEM_EMITTER_CORE_DESCRIPTOR_H
#define TELEM_EMITTER_CORE_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Each socket has an inode of its own. All zero: unknown. */
struct file_id {
	uint64_t device, inode;
};

/* These functions are safe in signal handlers. They may change errno. */

/* Returns which file the descriptor is open for; all zero when the kernel does not say, and a file that does not exist
 * when it is not open. */
struct file_id descriptor_file(int fd);
/* Returns whether the descriptor is still open for that file. */
bool descriptor_is(int fd, struct file_id file);
/* Returns whether the three standard streams are open. While they are not, a new descriptor would take the number that
 * the program is about to open one of them under. */
bool descriptor_may_open(void);
/* Closes *fd if it is still open for that file. Sets it to -1 in any case. */
void descriptor_close(int *fd, struct file_id file);
#endif
