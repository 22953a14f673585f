#include "emitter/deliver/frame_write.h"

#include "emitter/core/settings.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/frame.h"

/* Frames that end fast fill the ring of kept frames; when it is half full the flusher is woken, but not more often than
 * this. */
#define WAKE_NS_MIN 500000u

static uint64_t sent_count, written_ns;
static bool is_fast;                 /* the ring was half full within WAKE_NS_MIN */

static void write_one(const struct frame_record *record, uint64_t now_ns)
{
	struct number figures[SEVERITY_COUNT + 2 * LIMIT_COUNTERS_A_FRAME];
	struct message message = { .kind = KIND_FRAME };
	uint32_t count = 0;

	for (uint32_t i = 0; i < SEVERITY_COUNT; i++)
		figures[count++] = number_of(record->logs[i]);
	for (uint32_t i = 0; i < record->counter_count; i++) {
		figures[count++] = number_of(frame_counter_site(record, i));
		figures[count++] = number_of(record->counters[i]);
	}
	message.frame = (struct message_frame){
		record->task, frame_site(record), record->number, record->time_ns, record->duration_ns,
		record->heap_bytes, record->heap_peak, record->allocations, record->broken, record->budget_ns,
		{ figures, count },
	};
	writer_message(&writer_shared, &message, now_ns);
}

void frames_write(uint64_t now_ns)
{
	uint64_t count = frames_kept();
	struct frame_record record;

	/* Frames that end while no viewer inspects frames are not sent. Gaps in the numbers show that they are
	 * missing. */
	if (!frames_are_inspected())
		sent_count = count;
	if (count - sent_count > LIMIT_FRAMES_KEPT)
		sent_count = count - LIMIT_FRAMES_KEPT;
	is_fast = count - sent_count >= LIMIT_FRAMES_KEPT / 2 && now_ns - written_ns < WAKE_NS_MIN;
	written_ns = now_ns;
	for (; sent_count < count; sent_count++)
		if (frame_get(sent_count, &record))
			write_one(&record, now_ns);
	frames_wake_at(is_fast || !frames_are_inspected() ? UINT64_MAX : count + LIMIT_FRAMES_KEPT / 2);
}

uint64_t frames_due_ns(void)
{
	/* A program that has no frames is not polled for them: the first is found at the next tick. */
	if (!frames_are_inspected() || frames_kept() == 0)
		return UINT64_MAX;
	return written_ns + (is_fast ? WAKE_NS_MIN : __atomic_load_n(&settings.flush_ns, __ATOMIC_RELAXED));
}

void frames_write_forget(void)
{
	sent_count = 0;
}
