#include "emitter/deliver/stream.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "emitter/core/clock.h"
#include "emitter/core/procfs.h"

struct stream stream;

void stream_begin(void)
{
	uint8_t random[16];
	uint64_t fallback[2] = { clock_real_ns(), (uint64_t)getpid() };

	if (getrandom(random, sizeof random, GRND_NONBLOCK) != sizeof random)
		memcpy(random, fallback, sizeof random);
	stream.start_ns = proc_stat().start_ns;
	stream.number = 0;
	marker_make(stream.marker, random);
	memcpy(&stream.id, random + 8, sizeof stream.id);
}

void stream_forget(void)
{
	stream = (struct stream){ .id = 0 };
}
