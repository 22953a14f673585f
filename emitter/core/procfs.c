#include "emitter/core/procfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool proc_read(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd >= 0 ? read(fd, text, room - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[count > 0 ? count : 0] = '\0';
	return count > 0;
}

struct proc_stat proc_stat(void)
{
	struct proc_stat stat = { 0, 0, 0 };
	char text[1024];
	const char *at = proc_read("/proc/self/stat", text, sizeof text) ? strrchr(text, ')') : NULL;
	unsigned long long threads = 0, start = 0, pages = 0;

	/* The fields are 20, 22 and 24. The name of the program stands before them and may hold any characters. */
	if (at)
		sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		       "%llu %*d %llu %*u %llu", &threads, &start, &pages);
	stat.thread_count = threads;
	stat.start_ns = start * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
	stat.rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return stat;
}
