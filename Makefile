# telemtop: `make help` lists what can be made.

CC ?= cc
CXX ?= c++
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CFLAGS ?= -O2 -g
B ?= build

STD = -std=c11 -D_GNU_SOURCE
WARN = -Wall -Wextra -Wshadow -Wconversion
WARN += $(if $(findstring clang,$(CC)),-Wno-unknown-warning-option)
WARN += $(if $(WERROR),-Werror)
ALL_CFLAGS = $(STD) $(WARN) -I. -MMD -MP $(SAN) $(CFLAGS)
Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2))

pkg = $(shell pkg-config $(1) $(2) 2>/dev/null)
EVENT_LIBS = $(call pkg,--libs,libevent_core jansson)
CURSES_LIBS = $(call pkg,--libs,ncursesw)
TEST_LIBS = $(call pkg,--libs,cmocka vterm jansson)

objects = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)))
PROTOCOL = $(call objects,protocol/*.c)
WIDGETS = $(call objects,widgets/*.c)
MONITOR = $(filter-out $(B)/monitor/main.o,$(call objects,monitor/*.c monitor/*/*.c monitor/screen/panels/*.c))
DEMO = $(call objects,demo/*.c)
SUPPORT = $(call objects,tests/support/*.c)
TESTS = $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/test_*.c tests/e2e/test_*.c))
BENCHES = $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/bench_*.c))

all: $(B)/libtelem.a $(B)/libtelem.so $(B)/telemtop $(B)/telem-demo

# The library is also part of other people's shared objects; its inner names stay inside.
GUEST = -DPROTOCOL_GUEST -fPIC -fno-plt -fvisibility=hidden -ffunction-sections -fdata-sections
NDEBUG = $(if $(SAN),,-DNDEBUG)
$(B)/guest/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(GUEST) $(NDEBUG) -c $< -o $@
GUEST_PROTOCOL = $(patsubst %,$(B)/guest/protocol/%.o,block crc32c decode encode histogram message name recording)
GUEST_EMITTER = $(patsubst emitter/%.c,$(B)/guest/emitter/%.o,$(wildcard emitter/*/*.c))
# What an event passes through is made fast, all else small: the program's caches are not ours. Nothing is thrown or
# cancelled through the small parts, so they need no tables to unwind by.
HOT = $(addprefix %/,$(addsuffix .o,record/cell_shared record/dispatch record/distribution record/event record/happening record/heap record/record record/ring record/slow deliver/drain protocol/block protocol/crc32c))
SMALL := $(shell $(CC) -Oz -E -x c /dev/null >/dev/null 2>&1 && echo -Oz || echo -Os)
$(filter-out $(HOT),$(GUEST_PROTOCOL) $(GUEST_EMITTER)): GUEST += $(SMALL) -fno-asynchronous-unwind-tables
# The fast functions begin a cache line each, so that their time does not depend on what the linker puts before them.
$(filter $(HOT),$(GUEST_PROTOCOL) $(GUEST_EMITTER)): GUEST += -falign-functions=64

$(B)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(B)/libtelem.a: $(GUEST_PROTOCOL) $(GUEST_EMITTER) emitter/libtelem.map
	$(call say,AR,$@)
	$(Q)$(CC) -r -nostdlib -o $(B)/libtelem.o $(GUEST_PROTOCOL) $(GUEST_EMITTER)
	$(Q)objcopy --localize-hidden $(B)/libtelem.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(B)/libtelem.o

$(B)/libtelem.so: $(GUEST_PROTOCOL) $(GUEST_EMITTER) emitter/libtelem.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared $(SAN) $(CFLAGS) $(LDFLAGS) -Wl,-soname,libtelem.so.0 -Wl,--version-script=emitter/libtelem.map -Wl,-Bsymbolic-functions \
		-Wl,-z,nodelete -Wl,-z,noseparate-code -Wl,-z,pack-relative-relocs -Wl,--gc-sections $(if $(SAN),,-Wl,-z,defs) -o $@ $(GUEST_PROTOCOL) $(GUEST_EMITTER) -pthread
	$(Q)ln -sf libtelem.so $(B)/libtelem.so.0

$(B)/telemtop: $(B)/monitor/main.o $(MONITOR) $(WIDGETS) $(PROTOCOL)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(EVENT_LIBS) $(CURSES_LIBS) -lm

$(B)/telem-demo: $(DEMO) $(B)/libtelem.a
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

$(TESTS): $(B)/%: $(B)/%.o $(SUPPORT) $(MONITOR) $(WIDGETS) $(PROTOCOL) $(B)/libtelem.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TEST_LIBS) $(EVENT_LIBS) $(CURSES_LIBS) -lutil -pthread -lm -ldl

# ---- what a user runs ----

DEMO_FILES ?= $(wildcard /usr/share/doc /usr/include /usr/share/common-licenses)

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)demo/run $(B) $(DEMO_FILES)

PACKAGES = gcc g++ libc6-dev libmsgpack-dev libevent-dev libncurses-dev libjansson-dev libcmocka-dev libvterm-dev \
	pkg-config binutils strace python3-minimal procps
# Says what it will install, and only what is missing.
deps:
	$(Q)./deps $(PACKAGES)

# `uninstall` goes through the same lists as `install`, so that both always speak of the same files. The man pages are
# in sections: telem.3 goes to man3, telemtop.1 to man1.
PROGRAMS = telemtop telem-demo
HEADERS = $(notdir $(wildcard emitter/telem*.h))
MAN_PAGES = $(notdir $(wildcard man/*.[0-9]))
VERSION = $(shell sed -n 's/^\#define TELEM_VERSION "\(.*\)"/\1/p' emitter/telem.h)
in = $(foreach file,$(2),"$(DESTDIR)$(1)/$(file)")
man_pages_in = $(foreach page,$(MAN_PAGES),"$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(page)")
# Directories below PREFIX are written as such, so that pkg-config can move them along with a tree that was moved.
below_prefix = $(subst $(PREFIX)/,$${prefix}/,$(1))

install: all
	install -d $(foreach dir,$(BINDIR) $(LIBDIR) $(INCLUDEDIR) $(MANDIR)/man1 $(MANDIR)/man3 $(PKGCONFIGDIR),"$(DESTDIR)$(dir)")
	install $(addprefix $(B)/,$(PROGRAMS)) "$(DESTDIR)$(BINDIR)"
	install -m 644 $(B)/libtelem.a "$(DESTDIR)$(LIBDIR)"
	install -m 755 $(B)/libtelem.so "$(DESTDIR)$(LIBDIR)/libtelem.so.0"
	ln -sf libtelem.so.0 "$(DESTDIR)$(LIBDIR)/libtelem.so"
	install -m 644 $(addprefix emitter/,$(HEADERS)) "$(DESTDIR)$(INCLUDEDIR)"
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(call below_prefix,$(LIBDIR))|' \
		-e 's|@INCLUDEDIR@|$(call below_prefix,$(INCLUDEDIR))|' -e 's|@VERSION@|$(VERSION)|' \
		telem.pc.in >"$(DESTDIR)$(PKGCONFIGDIR)/telem.pc"
	chmod 644 "$(DESTDIR)$(PKGCONFIGDIR)/telem.pc"
	install -m 644 $(wildcard man/*.1) "$(DESTDIR)$(MANDIR)/man1"
	install -m 644 $(wildcard man/*.3) "$(DESTDIR)$(MANDIR)/man3"

# Removes the files alone: a directory may hold what is somebody else's.
uninstall:
	rm -f $(call in,$(BINDIR),$(PROGRAMS)) $(call in,$(LIBDIR),libtelem.a libtelem.so libtelem.so.0)
	rm -f $(call in,$(INCLUDEDIR),$(HEADERS)) $(call in,$(PKGCONFIGDIR),telem.pc) $(man_pages_in)

clean:
	rm -rf $(B)

# ---- tests ----

# What links the library into programs of its own has no use for one that is built with a sanitizer.
CHECKS = $(filter-out $(if $(SAN),tests/check_adding.sh tests/check_install.sh tests/test_%.sh),$(wildcard tests/check_*.sh tests/test_*.sh))

test: deps
	$(Q)$(MAKE) --no-print-directory check

# The same without looking for packages. TESTS=... runs some of them.
check: all $(TESTS)
	$(Q)B=$(B) CC="$(CC)" tests/run $(CHECKS) $(TESTS)

SANITIZED = CFLAGS="-O1 -g -fno-omit-frame-pointer" TEST_SLOW=4
test-asan:
	$(Q)$(MAKE) --no-print-directory check B=build/asan SAN="-fsanitize=address,undefined" $(SANITIZED)

test-tsan:
	$(Q)$(MAKE) --no-print-directory check B=build/tsan SAN="-fsanitize=thread" $(SANITIZED)

test-real: all
	$(Q)B=$(B) tests/real/run $(REAL)

# Rewrites the expected screens and streams, for review.
golden: $(TESTS)
	$(Q)GOLDEN=1 B=$(B) tests/run $(filter-out $(B)/tests/e2e/%,$(TESTS))

# ---- figures ----

$(BENCHES): $(B)/%: $(B)/%.o $(PROTOCOL) $(B)/libtelem.a $(MONITOR) $(WIDGETS)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(EVENT_LIBS) $(CURSES_LIBS) $(call pkg,--libs,msgpack) $(PEER_LIBS) -lutil -pthread -lm
# Nowhere else: LTTng-UST starts threads before main() does. Made anew each time, for what is installed may have
# changed, and without a word, for they are in the way of the figures.
$(B)/bench/bench_peers: private PEER_LIBS = $(call pkg,--libs,lttng-ust)
$(B)/bench/bench_peers $(B)/bench/bench_peers.o: private say =
$(B)/bench/bench_peers.o: FORCE
FORCE:

bench: all $(BENCHES)
	$(Q)B=$(B) bench/run $(BENCH_ARGS)

help:
	@echo 'make            libtelem.a, libtelem.so, telemtop and telem-demo, into build/'
	@echo 'make demo       installs what is missing, starts the demo program and telemtop on it'
	@echo 'make test       installs what is missing, runs every test'
	@echo 'make check      every test, without installing anything'
	@echo 'make test-asan  every test under AddressSanitizer and UBSan; test-tsan: ThreadSanitizer'
	@echo 'make test-real  Lua, SQLite and Redis instrumented: their own figures against ours (fetches sources)'
	@echo 'make bench      the figures of the README, measured here'
	@echo 'make golden     writes the expected screens anew'
	@echo 'make install    PREFIX=/usr/local DESTDIR=, or each of BINDIR LIBDIR INCLUDEDIR MANDIR PKGCONFIGDIR'
	@echo 'make uninstall  removes what install put there; give it the same variables'
	@echo 'make deps       installs the Debian packages that are missing; says which'
	@echo 'V=1 shows commands; WERROR=1 makes warnings errors; CC, CFLAGS, LDFLAGS are yours'

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.SECONDARY:
.PHONY: all demo deps install uninstall clean test check test-asan test-tsan test-real golden bench help FORCE
