# make setup       installs clang and a C compiler if they are missing
# make setup-test  also installs what the tests compare with (llvm-cov, Chromium, GoogleTest, a JDK)
# make demo        builds without full optimisation, then generates and replays tests for an example
# make test        formatting, lints and all tests: what CI runs
# make book        renders the book to target/book; installs mdbook
# make bench       the experiments of the papers and the project's own benchmarks
# make csmith      random programs (N=300) in the interpreter, beside gcc; installs csmith
# make install     installs the program, manual pages and completions to PREFIX (/usr/local), below DESTDIR
# make uninstall   removes them
# make dist, deb   an archive, a Debian package: both in target/dist

TOUCHSTONE = target/release/touchstone
# The agent that measures Java programs: beside the program, or in cargo's folder of dependencies.
AGENT = $(firstword $(wildcard $(addsuffix libtouchstone_agent_java.so,$(dir $(TOUCHSTONE)) $(dir $(TOUCHSTONE))deps/)))

# CI builds once, so incremental compilation and line tables only cost time.
ifdef CI
export CARGO_INCREMENTAL = 0
export CARGO_PROFILE_DEV_DEBUG = 0
endif

.PHONY: setup setup-test build demo test test-build test-long book bench csmith lint install install-files uninstall dist deb

setup:
	@./setup.sh

setup-test:
	@./setup.sh test

build: setup
	@cargo build --release --quiet

# A build without optimisation takes a third of the time of an optimised one.
demo: setup
	@cargo build --profile quick --quiet
	target/quick/touchstone generate examples/triangle.c -o target/demo
	@echo
	@sed -n '/^.. Covers/,$$p' target/demo/test_triangle.c | head -32

# A directory of its own, so that the tests can be built at the same time.
lint: setup-test
	cargo fmt --check
	rustfmt --check --edition 2024 crates/criteria/src/criteria/*.rs
	cargo clippy --workspace --all-targets --quiet --target-dir target/lint -- -D warnings

test-build: setup-test
	@cargo test --workspace --quiet --no-run

# One thread more than there are cores: tests wait for compilers and for programs that sleep.
test: setup-test
	@$(MAKE) --no-print-directory --jobs=2 lint test-build
	RUST_TEST_THREADS=$$(($$(nproc) + 1)) cargo test --workspace --quiet --no-fail-fast

test-long: setup-test
	TOUCHSTONE_LONG=1 cargo test --release --workspace --quiet
	TOUCHSTONE_LONG=1 cargo test --workspace --test cli --quiet -- faults::

# The version that the book was written with; cargo skips the build if it is installed.
book:
	@command -v mdbook >/dev/null 2>&1 || cargo install --quiet --locked --version 0.5.4 --no-default-features --features search mdbook
	@mdbook build
	@echo target/book/index.html

bench: build
	$(TOUCHSTONE) bench

N = 300
csmith: build
	@bench/csmith.sh $(N)

PREFIX = /usr/local
DESTDIR =
TO = $(DESTDIR)$(PREFIX)
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
ARCHITECTURE = $(shell uname -m)
NAME = touchstone-$(VERSION)-linux-$(ARCHITECTURE)

install: build install-files

# Installs a program that is built already (TOUCHSTONE), without its symbols. They go to lib/debug, where gdb finds them.
install-files:
	@install -d $(TO)/bin $(TO)/lib/touchstone $(TO)/share/man/man1 $(TO)/share/doc/touchstone/docs \
	    $(TO)/share/bash-completion/completions $(TO)/share/zsh/site-functions $(TO)/share/fish/vendor_completions.d
	@install -d $(TO)/lib/debug/bin $(TO)/lib/debug/lib
	@objcopy --only-keep-debug $(TOUCHSTONE) $(TO)/lib/debug/bin/touchstone.debug
	@objcopy --only-keep-debug $(AGENT) $(TO)/lib/debug/lib/$(notdir $(AGENT)).debug
	@install -m 755 $(TOUCHSTONE) $(TO)/bin/touchstone
	@install -m 644 $(AGENT) $(TO)/lib/touchstone
	@strip $(TO)/bin/touchstone $(TO)/lib/touchstone/$(notdir $(AGENT))
	@chmod 644 $(TO)/lib/debug/bin/touchstone.debug $(TO)/lib/debug/lib/$(notdir $(AGENT)).debug
	@$(TOUCHSTONE) man $(TO)/share/man/man1
	@$(TOUCHSTONE) completions bash > $(TO)/share/bash-completion/completions/touchstone
	@$(TOUCHSTONE) completions zsh > $(TO)/share/zsh/site-functions/_touchstone
	@$(TOUCHSTONE) completions fish > $(TO)/share/fish/vendor_completions.d/touchstone.fish
	@install -m 644 README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE $(TO)/share/doc/touchstone
	@install -m 644 docs/*.md $(TO)/share/doc/touchstone/docs

uninstall:
	@rm -f $(TO)/bin/touchstone $(TO)/lib/debug/bin/touchstone.debug $(TO)/lib/debug/lib/libtouchstone_agent_java.so.debug $(TO)/share/man/man1/touchstone.1 $(TO)/share/man/man1/touchstone-*.1 \
	    $(TO)/share/bash-completion/completions/touchstone $(TO)/share/zsh/site-functions/_touchstone \
	    $(TO)/share/fish/vendor_completions.d/touchstone.fish
	@rm -rf $(TO)/share/doc/touchstone $(TO)/lib/touchstone

dist: build
	@packaging/archive.sh $(TOUCHSTONE) target/dist $(NAME)

deb: build
	@packaging/deb.sh $(TOUCHSTONE) target/dist $(VERSION)
