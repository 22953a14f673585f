#include "emitter/core/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_id descriptor_file(int fd)
{
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		return (struct file_id){ st.st_dev, st.st_ino };
	/* When the program has closed it already, no other file may be taken for it. */
	return fd < 0 || errno == EBADF ? (struct file_id){ UINT64_MAX, UINT64_MAX } : (struct file_id){ 0 };
}

bool descriptor_is(int fd, struct file_id file)
{
	struct stat st;

	if (fd < 0)
		return false;
	/* A filter of system calls may refuse fstat(). That does not say that the descriptor is closed. */
	if (fstat(fd, &st) < 0)
		return errno != EBADF;
	return (st.st_dev == file.device && st.st_ino == file.inode) || (file.device == 0 && file.inode == 0);
}

bool descriptor_may_open(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			return false;
	return true;
}

void descriptor_close(int *fd, struct file_id file)
{
	if (descriptor_is(*fd, file))
		close(*fd);
	*fd = -1;
}
