#include "monitor/model/store.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory: bounded for each stream ---- */

#define MALLOC_BYTES 16              /* what malloc itself needs for each allocation */

void *model_take(struct model *model, size_t bytes, enum room room)
{
	void *taken;

	if (model->used_bytes + bytes + MALLOC_BYTES > room)
		return NULL;
	taken = calloc(1, bytes);
	if (taken)
		model->used_bytes += bytes + MALLOC_BYTES;
	return taken;
}

void model_give(struct model *model, void *taken, size_t bytes)
{
	if (!taken)
		return;
	free(taken);
	model->used_bytes -= bytes + MALLOC_BYTES;
}

void model_refuse(struct model *model)
{
	model->refused_count++;
	model->link.bad_messages++;
}

#define SITE_PAGE_BYTES (SITES_A_PAGE * sizeof(struct model_site *))

/* ---- lists, and the maps that find in them ---- */

static bool list_add(struct list_of *list, void *item)
{
	if (list->count == list->room) {
		uint32_t room = list->room ? list->room * 2 : 64;
		void **items = realloc(list->items, room * sizeof *items);

		if (!items)
			return false;
		list->items = items;
		list->room = room;
	}
	list->items[list->count++] = item;
	return true;
}

static size_t index_bytes(const struct list_of *list, const struct map *map)
{
	return list->room * sizeof *list->items + (map ? map->slot_count * sizeof *map->slots : 0);
}

bool model_index_add(struct model *model, struct list_of *list, struct map *map, uint64_t key, void *item)
{
	size_t before = index_bytes(list, map);
	bool done = false;

	/* A list or map that is full grows to twice its size, while the old one still exists. */
	if (model->used_bytes + 2 * before > ROOM_FIGURES &&
	    (list->count == list->room || (map && map->used_count * 2 >= map->slot_count)))
		return false;
	if (!map || map_put(map, key, list->count)) {
		done = list_add(list, item);
		if (!done && map)
			map_remove(map, key);
	}
	model->used_bytes += index_bytes(list, map) - before;
	return done;
}

bool model_site_add(struct model *model, struct model_site *site)
{
	struct model_site ***page = &model->site_pages[site->id / SITES_A_PAGE];

	if (!*page)
		*page = model_take(model, SITE_PAGE_BYTES, ROOM_FIGURES);
	if (!*page || !model_index_add(model, &model->sites, NULL, 0, site))
		return false;
	(*page)[site->id % SITES_A_PAGE] = site;
	return true;
}

size_t model_delta_bytes(uint32_t pair_count)
{
	return sizeof(struct delta) + pair_count * sizeof(uint64_t);
}

void model_deltas_free(struct model *model, struct delta *delta)
{
	while (delta) {
		struct delta *next = delta->next;

		model_give(model, delta, model_delta_bytes(delta->pair_count));
		delta = next;
	}
}

static void site_free(struct model *model, struct model_site *site)
{
	for (int i = 0; site->deltas && i < MODEL_WINDOW_S_MAX; i++)
		model_deltas_free(model, site->deltas[i]);
	model_give(model, site->deltas, DELTAS_BYTES);
	model_give(model, site->trend, sizeof *site->trend);
	model_give(model, site->heat, sizeof *site->heat);
	model_give(model, site->buckets, BUCKET_BYTES);
	model_give(model, site->previous_buckets, BUCKET_BYTES);
	model_give(model, site, sizeof *site);
}

void model_task_free(struct model *model, struct model_task *task)
{
	model_give(model, task->trend, sizeof *task->trend);
	model_give(model, task, sizeof *task);
}

void model_pair_free(struct model *model, struct task_site *pair)
{
	model_give(model, pair->buckets, BUCKET_BYTES);
	model_give(model, pair, sizeof *pair);
}

void model_empty(struct model *model)
{
	for (uint32_t i = 0; i < model->sites.count; i++)
		site_free(model, model->sites.items[i]);
	for (uint32_t i = 0; i < model->tasks.count; i++)
		model_task_free(model, model->tasks.items[i]);
	for (uint32_t i = 0; i < model->task_sites.count; i++)
		model_pair_free(model, model->task_sites.items[i]);
	model_give(model, model->samples, HOLDERS_BYTES);
	model_give(model, model->holders, HOLDERS_BYTES);
	free(model->sites.items);
	free(model->tasks.items);
	free(model->task_sites.items);
	for (int i = 0; i < LIMIT_SITES / SITES_A_PAGE; i++)
		model_give(model, model->site_pages[i], SITE_PAGE_BYTES);
	map_fini(&model->task_map);
	map_fini(&model->task_site_map);
}

void model_begin(struct model *model, int window_s)
{
	memset(model, 0, sizeof *model);
	model->window_s = window_s;
	for (int i = 0; i < MODEL_SERIES_COUNT; i++)
		series_init(&model->series[i]);
}

struct model *model_new(void)
{
	struct model *model = malloc(sizeof *model);

	if (model)
		model_begin(model, 60);
	return model;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	model_empty(model);
	free(model);
}

/* ---- a copy, for a frozen picture ---- */

static void *copy_of(const void *original, size_t bytes, bool *failed)
{
	void *copy = original ? malloc(bytes) : NULL;

	if (copy)
		memcpy(copy, original, bytes);
	else if (original)
		*failed = true;
	return copy;
}

static struct delta *deltas_copy(const struct delta *delta, bool *failed)
{
	struct delta *first = NULL, **link = &first;

	for (; delta; delta = delta->next) {
		*link = copy_of(delta, model_delta_bytes(delta->pair_count), failed);
		if (!*link)
			break;
		(*link)->next = NULL;
		link = &(*link)->next;
	}
	return first;
}

static void *site_copy(const void *original, bool *failed)
{
	const struct model_site *from = original;
	struct model_site *site = copy_of(from, sizeof *from, failed);

	if (!site)
		return NULL;
	site->trend = copy_of(from->trend, sizeof *from->trend, failed);
	site->heat = copy_of(from->heat, sizeof *from->heat, failed);
	site->buckets = copy_of(from->buckets, BUCKET_BYTES, failed);
	site->previous_buckets = copy_of(from->previous_buckets, BUCKET_BYTES, failed);
	site->deltas = copy_of(from->deltas, DELTAS_BYTES, failed);
	for (int i = 0; site->deltas && i < MODEL_WINDOW_S_MAX; i++)
		site->deltas[i] = deltas_copy(from->deltas[i], failed);
	return site;
}

static void *task_copy(const void *original, bool *failed)
{
	const struct model_task *from = original;
	struct model_task *task = copy_of(from, sizeof *from, failed);

	if (task)
		task->trend = copy_of(from->trend, sizeof *from->trend, failed);
	return task;
}

static void *task_site_copy(const void *original, bool *failed)
{
	const struct task_site *from = original;
	struct task_site *pair = copy_of(from, sizeof *from, failed);

	if (pair)
		pair->buckets = copy_of(from->buckets, BUCKET_BYTES, failed);
	return pair;
}

static void list_copy(struct list_of *out, const struct list_of *list, void *(*copy)(const void *, bool *), bool *failed)
{
	*out = (struct list_of){ 0 };
	for (uint32_t i = 0; i < list->count && !*failed; i++) {
		void *item = copy(list->items[i], failed);

		if (!item || !list_add(out, item))
			*failed = true;
	}
}

static void site_pages_copy(struct model *copy, bool *failed)
{
	for (int i = 0; i < LIMIT_SITES / SITES_A_PAGE; i++)
		copy->site_pages[i] = copy_of(copy->site_pages[i], SITE_PAGE_BYTES, failed);
	for (uint32_t i = 0; i < copy->sites.count && !*failed; i++) {
		struct model_site *site = copy->sites.items[i];

		copy->site_pages[site->id / SITES_A_PAGE][site->id % SITES_A_PAGE] = site;
	}
}

struct model *model_copy(const struct model *model)
{
	bool failed = false;
	struct model *copy = malloc(sizeof *copy);

	if (!copy)
		return NULL;
	*copy = *model;
	list_copy(&copy->sites, &model->sites, site_copy, &failed);
	list_copy(&copy->tasks, &model->tasks, task_copy, &failed);
	list_copy(&copy->task_sites, &model->task_sites, task_site_copy, &failed);
	site_pages_copy(copy, &failed);
	copy->samples = copy_of(model->samples, HOLDERS_BYTES, &failed);
	copy->holders = copy_of(model->holders, HOLDERS_BYTES, &failed);
	failed |= !map_copy(&copy->task_map, &model->task_map);
	failed |= !map_copy(&copy->task_site_map, &model->task_site_map);
	if (failed) {
		model_free(copy);
		return NULL;
	}
	return copy;
}

/* ---- finding ---- */

struct model_task *model_find_task(const struct model *model, uint64_t id)
{
	uint32_t index = map_get(&model->task_map, id);

	return index == UINT32_MAX ? NULL : model->tasks.items[index];
}

uint64_t model_pair_key(uint64_t task, uint64_t site)
{
	return task << 20 | site;
}

struct task_site *model_find_pair(const struct model *model, uint64_t task, uint64_t site)
{
	uint32_t index = map_get(&model->task_site_map, model_pair_key(task, site));

	return index == UINT32_MAX ? NULL : model->task_sites.items[index];
}

struct task_site *model_make_pair(struct model *model, uint64_t task_id, uint64_t site)
{
	struct task_site *pair = model_find_pair(model, task_id, site);
	struct model_task *task = model_find_task(model, task_id);

	if (pair || (!task && task_id != TASK_ENDED))
		return pair;
	pair = model_take(model, sizeof *pair, ROOM_FIGURES);
	if (!pair || !model_index_add(model, &model->task_sites, &model->task_site_map, model_pair_key(task_id, site),
				      pair)) {
		model_give(model, pair, sizeof *pair);
		model_refuse(model);
		return NULL;
	}
	pair->task = (uint32_t)task_id;
	pair->site = (uint32_t)site;
	if (task) {
		pair->next_site = task->first_site;
		task->first_site = pair->site;
	}
	return pair;
}
