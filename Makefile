# Start with `make demo` and `make test`; `make help` lists all targets.
# Everything works from a clean clone on Debian 12 with a Swift toolchain.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c

SWIFT ?= swift
# Extra arguments for every test run, such as `--filter NAME`.
TESTS ?=
# Data kept outside the repository. Tests that need it are skipped, with a message, if missing.
ifneq ($(wildcard ../shared),)
export WSX_SHARED ?= $(abspath ../shared)
endif

# Number of random documents of `fuzz`.
SEEDS ?= 10000
# Number of worlds of `campaign-attack`, in total and per process (which keeps all results).
ATTACKS ?= 100000
PART = 10000
# Number of worlds in which `campaign-mutants` searches for one where a missing rule shows.
MUTANTS ?= 2000
# Number of lives of `campaign-sim`, in total and per process.
LIVES ?= 100000
LIVES_PART = 200
# Number of nodes of `campaign-crowd`, and about how many links each has; 0: linked to all.
NODES ?= 1000
LINKS ?= 16
# Number of stores that `campaign-rot` damages.
ROTS ?= 1000
# Number of histories of each kind that `campaign-reader` compares.
HISTORIES ?= 2000
# The mutants to try, by number (default: all), and whether survivors run against the whole suite.
ID ?=
WHOLE ?=
# Number of torn images of `campaign-crash`, of random faults of `campaign-disk`, and of kills of
# `campaign-kill`; and number of homes with one flipped bit.
N ?=
FLIPS ?= 1000
# The scene that `trial` and `campaign-files` play (default: all).
SCENE ?=
# For `campaign-files`: MiB of the large file, number of small files, and KiB of each.
SIZE ?= 1024
COUNT ?= 10000
KIB ?= 100
# `fuzz` and most campaigns build here, because their flags differ from the program's.
FUZZ = .build/fuzz
# For `fuzz-NAME`: minutes per target, the targets, and the program that contains them all.
MINUTES ?= 10
FUZZERS = cbor payloads messages frames handshake session control http json links text search \
    backup sealed beacon blobs notes tokens
FUZZER = .build/fuzzers/release/wsx-fuzz
# The library that records and injects disk faults. Campaigns use the program in WSX_NODE, or build
# this one.
SHIM = .build/campaigns/disk_shim.so
READY = $(if $(WSX_NODE),,build)
CAMPAIGN = @WSX_NODE="$(or $(WSX_NODE),$(abspath $(RELEASE)))" WSX_SEED="$(WSX_SEED)"

# A target may import only its dependencies in Package.swift.
CHECKS = --explicit-target-dependency-import-check error
# There are no XCTest cases, so the build need not search an index for them (Tests/XCTMain.swift).
# Because of that entry point, `swift test` has to be told to run Swift Testing.
TESTING = --enable-swift-testing --disable-xctest --disable-index-store $(CHECKS)
RELEASE = .build/release/wsx-node
# The C++ runtime is linked statically: loading it took a third of the time of a short command.
# The C libraries stay dynamic, so that the system keeps them up to date.
STATIC = .build/static
# Link with the toolchain's lld: packed relocations speed up startup, symbols that nobody looks up
# are not exported, and identical functions are merged. Tables for unwinding stay out: an eighth of
# the program, for exceptions that Swift does not have. Backtraces follow frame pointers.
LINK = -Xswiftc -L$(abspath $(STATIC)) -Xswiftc -Xclang-linker -Xswiftc -static-libgcc \
    -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker --icf=safe \
    -Xlinker -z -Xlinker pack-relative-relocs \
    -Xlinker --no-eh-frame-hdr -Xlinker -T -Xlinker $(abspath scripts/no-unwinding.ld)

.DEFAULT_GOAL := help
.PHONY: help setup build demo test fuzz fuzzer fuzz-all fuzz-list fuzz-seeds $(addprefix fuzz-,$(FUZZERS)) campaign-attack campaign-mutants campaign-reader campaign-rot campaign-sim campaign-crowd campaign-crash campaign-disk campaign-kill campaign-files trial mutants lint interop bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 16

setup: ## install missing Debian packages, or list them
	@scripts/setup

build: setup $(STATIC)/libstdc++.a ## build the program: .build/release/wsx-node
	$(SWIFT) build -c release --static-swift-stdlib --product wsx-node $(CHECKS) $(LINK)
	@scripts/split-symbols $(RELEASE)

$(STATIC)/libstdc++.a:
	@mkdir -p $(@D)
	@ln -sf "$$(clang -print-file-name=libstdc++.a)" $@

demo: build ## a conversation between two nodes, one of them off for a while
	@WSX_NODE="$(abspath $(RELEASE))" scripts/demo

test: setup ## all tests; WSX_SEEDS=N: N random cases each, WSX_SEED=N: exactly one
	@SWIFT="$(SWIFT)" scripts/test $(CHECKS) $(TESTS)

fuzz: setup ## all properties on random authority documents, release build; SEEDS=N of each
	WSX_FUZZ=1 WSX_SEEDS=$(SEEDS) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path $(FUZZ) \
	    $(TESTING) --filter 'Authority is one|A channel.s owner|end of a membership'

$(addprefix fuzz-,$(FUZZERS)): fuzz-%: fuzzer
	@MINUTES=$(MINUTES) WSX_SEED="$(WSX_SEED)" scripts/fuzz $(FUZZER) $*

fuzz-all: fuzzer ## fuzz every parser with libFuzzer and address sanitizer; MINUTES=10 each
	@MINUTES=$(MINUTES) WSX_SEED="$(WSX_SEED)" scripts/fuzz $(FUZZER) $(FUZZERS)

fuzz-list: fuzzer ## list the targets of fuzz-NAME
	@$(FUZZER) --list

fuzz-seeds: fuzzer ## copy the inputs that cover most to Tests/corpora; ONLY=NAME: one target
	@scripts/fuzz $(FUZZER) --seeds $(or $(ONLY),$(FUZZERS))

# All targets are instrumented. Uses lld, because gold cannot link what the sanitizers leave out.
fuzzer: setup
	WSX_FUZZ=bytes $(SWIFT) build -c release --product wsx-fuzz --scratch-path .build/fuzzers $(CHECKS) \
	    -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld

campaign-attack: setup ## recombining attackers against the authority rules; ATTACKS=N
	for left in $$(seq $(ATTACKS) -$(PART) 1); do \
	    WSX_FUZZ=attacks WSX_SEEDS=$$((left < $(PART) ? left : $(PART))) $(SWIFT) test -c release \
	        -Xswiftc -enable-testing --scratch-path $(FUZZ) $(TESTING) \
	        --filter 'No recombination of what was seen' \
	        | grep -avE 'Test case passing'; \
	done

campaign-mutants: setup ## find worlds in which a missing rule shows; MUTANTS=N worlds each
	WSX_FUZZ=attacks WSX_SEEDS=$(MUTANTS) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path $(FUZZ) \
	    $(TESTING) --filter 'A rule that is taken away' | grep -aE '^(Mutant|//)'

campaign-reader: setup ## compare the Python reader with the evaluator; HISTORIES=N each
	rm -rf $(FUZZ)/histories
	WSX_SEEDS=$(HISTORIES) WSX_HISTORIES="$(abspath $(FUZZ))/histories" \
	    $(SWIFT) test $(TESTING) --filter 'Histories for the second reader'
	Tests/interop/run_histories $(FUZZ)/histories

campaign-rot: setup ## damage, check and repair stores; ROTS=N stores
	WSX_SEEDS=$(ROTS) $(SWIFT) test $(TESTING) --filter 'A store that rots'

campaign-sim: setup ## teams with faulty disks, clocks and links, and restores; LIVES=N worlds
	for left in $$(seq $(LIVES) -$(LIVES_PART) 1); do \
	    WSX_FUZZ=lives WSX_SEEDS=$$((left < $(LIVES_PART) ? left : $(LIVES_PART))) $(SWIFT) test -c release \
	        -Xswiftc -enable-testing --scratch-path $(FUZZ) $(TESTING) --filter 'Lives (by chance|with backups)' \
	        | grep -avE 'Test case passing'; \
	done

campaign-crowd: setup ## cost of messages and joins among NODES=1000, LINKS=16 each (0: all)
	WSX_FUZZ=crowd WSX_NODES=$(NODES) WSX_LINKS=$(LINKS) $(SWIFT) test -c release -Xswiftc -enable-testing \
	    --scratch-path $(FUZZ) $(TESTING) --filter 'A crowd on the virtual network'

campaign-crash: $(READY) $(SHIM) ## power cuts at every write; N=2000 torn images, LIVE=NAME one life
	$(CAMPAIGN) N=$(or $(N),2000) python3 -B Tests/campaigns/crash.py $(LIVE)

campaign-disk: $(READY) $(SHIM) ## failing and full disks; N=300 random, FLIPS=1000, GROUP=NAME
	$(CAMPAIGN) N=$(or $(N),300) FLIPS=$(FLIPS) python3 -B Tests/campaigns/disk.py $(GROUP)

campaign-kill: $(READY) ## two nodes under load, killed N=300 times
	$(CAMPAIGN) N=$(or $(N),300) python3 -B Tests/campaigns/kill.py

campaign-files: $(READY) ## large and many files; SIZE=1024 (MiB), COUNT=10000, KIB=100, SCENE=NAME
	$(CAMPAIGN) SIZE=$(SIZE) COUNT=$(COUNT) KIB=$(KIB) SCENE=$(SCENE) python3 -B Tests/campaigns/files.py

trial: $(READY) ## common user scenarios with the real program, on terminals; SCENE=NAME: one scene
	$(CAMPAIGN) python3 -B Tests/trial/trial.py $(SCENE)

mutants: setup ## mutations of security checks, each caught by named tests; ID=17: one, WHOLE=1
	@SWIFT="$(SWIFT)" ID="$(ID)" WHOLE="$(WHOLE)" nice -n 10 python3 -B Tests/campaigns/mutants.py

$(SHIM): Tests/campaigns/disk_shim.c
	@mkdir -p $(@D)
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -o $@ $<

lint: ## check the format of every Swift file
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests

interop: ## a Python Noise peer against a running node, and the frozen vectors
	@Tests/interop/run

bench: setup ## run the benchmarks
	@if [ -f Benchmarks/Package.swift ]; then \
	    cd Benchmarks && $(SWIFT) run -c release --static-swift-stdlib; \
	else echo "this checkout has no benchmarks"; fi

clean: ## remove all build products
	rm -rf .build Tests/interop/.venv
