# make setup   installs what is missing (clang); quiet when there is nothing to do
# make demo    builds, then generates and replays tests for an example
# make test    everything that CI checks
# make bench   the papers' experiments, ours beside theirs
# make csmith  random programs (N=300) in the interpreter, beside gcc; installs csmith

TOUCHSTONE = target/release/touchstone

.PHONY: setup build demo test test-long bench csmith lint

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
