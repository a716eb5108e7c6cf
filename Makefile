# make setup   installs what is missing (clang); quiet when there is nothing to do
# make demo    builds, then generates and replays tests for an example
# make test    everything that CI checks
# make bench   the papers' experiments, ours beside theirs
# make csmith  random programs (N=300) in the interpreter, beside gcc; installs csmith
# make install the program, its manual pages and completions, under PREFIX (/usr/local), below DESTDIR if there is one
# make uninstall, make dist (an archive), make deb (a Debian package): both in target/dist

TOUCHSTONE = target/release/touchstone
# What measures Java programs: beside the program, or where cargo puts what others need.
AGENT = $(firstword $(wildcard $(addsuffix libtouchstone_agent_java.so,$(dir $(TOUCHSTONE)) $(dir $(TOUCHSTONE))deps/)))

# A clone that is built once has no use for what the next build would start from.
ifdef CI
export CARGO_INCREMENTAL = 0
endif

.PHONY: setup build demo test test-long bench csmith lint install install-files uninstall dist deb

setup:
	@./setup.sh

build: setup
	@cargo build --release --quiet

demo: build
	$(TOUCHSTONE) generate examples/triangle.c -o target/demo
	@echo
	@sed -n '/^.. Covers/,$$p' target/demo/test_triangle.c | head -32

lint: setup
	cargo fmt --check
	rustfmt --check --edition 2024 crates/criteria/src/criteria/*.rs
	cargo clippy --workspace --all-targets --quiet -- -D warnings

test: lint
	cargo test --workspace --quiet --no-fail-fast

test-long: setup
	TOUCHSTONE_LONG=1 cargo test --release --workspace --quiet

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

# Of a program that is built already: TOUCHSTONE says where it is.
install-files:
	@install -d $(TO)/bin $(TO)/lib/touchstone $(TO)/share/man/man1 $(TO)/share/doc/touchstone/docs \
	    $(TO)/share/bash-completion/completions $(TO)/share/zsh/site-functions $(TO)/share/fish/vendor_completions.d
	@install -m 755 $(TOUCHSTONE) $(TO)/bin/touchstone
	@install -m 644 $(AGENT) $(TO)/lib/touchstone
	@$(TOUCHSTONE) man $(TO)/share/man/man1
	@$(TOUCHSTONE) completions bash > $(TO)/share/bash-completion/completions/touchstone
	@$(TOUCHSTONE) completions zsh > $(TO)/share/zsh/site-functions/_touchstone
	@$(TOUCHSTONE) completions fish > $(TO)/share/fish/vendor_completions.d/touchstone.fish
	@install -m 644 README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE $(TO)/share/doc/touchstone
	@install -m 644 docs/*.md $(TO)/share/doc/touchstone/docs

uninstall:
	@rm -f $(TO)/bin/touchstone $(TO)/share/man/man1/touchstone.1 $(TO)/share/man/man1/touchstone-*.1 \
	    $(TO)/share/bash-completion/completions/touchstone $(TO)/share/zsh/site-functions/_touchstone \
	    $(TO)/share/fish/vendor_completions.d/touchstone.fish
	@rm -rf $(TO)/share/doc/touchstone $(TO)/lib/touchstone

dist: build
	@packaging/archive.sh $(TOUCHSTONE) target/dist $(NAME)

deb: build
	@packaging/deb.sh $(TOUCHSTONE) target/dist $(VERSION)
