# Two commands do all set-up: `make run` and `make test`.

SHELL := /bin/bash
CARGO ?= cargo
DATA ?= ./data
PORT ?= 5432
PG_BIN := /usr/lib/postgresql/15/bin

.PHONY: all run test test-long loom bench bench-wal bench-queries install setup setup-test clean-data

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

bench: setup-test all
	bench/run

bench-wal: setup-test all
	bench/run wal

# TPC-H at scale 1 and single statements.
bench-queries: setup-test all
	bench/run queries

install: all
	install -D -m 755 target/release/norsu $(DESTDIR)/usr/local/bin/norsu
