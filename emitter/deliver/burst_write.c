#include "emitter/deliver/burst_write.h"

#include <string.h>

#include "emitter/core/clock.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/burst.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"
#include "protocol/name.h"

void bursts_write(uint64_t now_ns, bool is_told)
{
	uint64_t now_ticks = clock_ticks();
	struct burst_over over;

	for (struct thread *thread = thread_table.first; thread; thread = thread->next) {
		struct look *looks = __atomic_load_n(&thread->looks, __ATOMIC_ACQUIRE);
		uint32_t at = 0;

		while (burst_next(looks, &at, now_ticks, thread->has_ended, &over)) {
			struct message message = { .kind = KIND_FOLDED };
			struct text text = { over.text, (uint32_t)strlen(over.text) };

			text.length = whole_characters(text.bytes, text.length);
			message.folded = (struct message_folded){
				(uint64_t)task_of(thread->task_id)->id, over.site, now_ns, over.folded, text,
			};
			if (is_told)
				writer_message(&writer_shared, &message, now_ns);
		}
	}
}
