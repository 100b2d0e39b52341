# Two commands do all set-up: `make run` and `make test`.

SHELL := /bin/bash
CARGO ?= cargo
DATA ?= ./data
PORT ?= 5432
PG_BIN := /usr/lib/postgresql/15/bin

# Where `make install` puts files. DESTDIR is a directory in which packagers collect them.
prefix ?= /usr/local
bindir ?= $(prefix)/bin
docdir ?= $(prefix)/share/doc/norsu
unitdir ?= $(prefix)/lib/systemd/system
sysusersdir ?= $(prefix)/lib/sysusers.d
PROGRAM ?= target/release/norsu
# Names of PostgreSQL's programs under which the program behaves like these.
NAMES := postgres postmaster initdb pg_ctl pg_controldata pg_waldump

.PHONY: all run test test-long test-clients loom bench bench-wal bench-queries bench-programs install install-files uninstall \
	setup setup-test clean-data

all: setup
	$(CARGO) build --release -p server

# What the build needs beyond a Rust toolchain: a C compiler and libclang for PostgreSQL's grammar.
setup:
	@scripts/setup build

# Additional requirements of the tests: the real PostgreSQL 15 as the reference.
setup-test:
	@scripts/setup test

run: all
	@exec scripts/run "$(DATA)" "$(PORT)"

test: setup-test
	$(CARGO) build -p server
	$(CARGO) test --workspace
	$(MAKE) loom

# Latch, log reservation and buffer state under loom, which swaps the atomics: a build of its own.
loom:
	RUSTFLAGS="--cfg loom" $(CARGO) test --target-dir target/loom --lib \
		-p sync -p wal -p bufmgr -- loom_

test-long: setup-test
	$(CARGO) build --release -p server
	NORSU_TEST_LONG=1 $(CARGO) test --release -p tests -- --nocapture

# Test-suites of drivers, ORMs and applications on both servers; `make test-clients SUITES=django`.
test-clients: setup-test
	@scripts/setup clients
	$(CARGO) build --release -p server
	tests/clients/run.py --write $(SUITES)

bench: setup-test all
	bench/run

bench-wal: setup-test all
	bench/run wal

# TPC-H at scale 1 and single statements.
bench-queries: setup-test all
	bench/run queries

# PL/pgSQL, triggers, GIN indexes, partitions, texts in a locale, procedures.
bench-programs: setup-test all
	bench/run programs

install: all install-files

# As `install`, with the program PROGRAM as it is.
install-files:
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(bindir)/norsu
	for name in $(NAMES); do ln -sf norsu $(DESTDIR)$(bindir)/$$name || exit; done
	install -d $(DESTDIR)$(unitdir) $(DESTDIR)$(sysusersdir) $(DESTDIR)$(docdir)
	sed 's|@bindir@|$(bindir)|' packaging/systemd/norsu.service >$(DESTDIR)$(unitdir)/norsu.service
	install -m 644 packaging/systemd/norsu.sysusers $(DESTDIR)$(sysusersdir)/norsu.conf
	install -m 644 README.md LICENSE-APACHE LICENSE-MIT NOTICE $(DESTDIR)$(docdir)

uninstall:
	rm -f $(addprefix $(DESTDIR)$(bindir)/,norsu $(NAMES))
	rm -f $(DESTDIR)$(unitdir)/norsu.service $(DESTDIR)$(sysusersdir)/norsu.conf
	rm -rf $(DESTDIR)$(docdir)
