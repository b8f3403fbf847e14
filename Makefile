# The two targets a stranger needs are `demo` and `test`; `make help` lists the rest.
# Everything works from a clean clone on Debian 12 with a Swift toolchain.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c

SWIFT ?= swift
# One more argument for every test run, such as `--filter NAME`.
TESTS ?=
# Data that is kept beside the repository. Tests that need it are skipped, and say so, without it.
ifneq ($(wildcard ../shared),)
export WSX_SHARED ?= $(abspath ../shared)
endif

# How many random documents `fuzz` makes, and where it builds: the flags differ from the program's.
SEEDS ?= 10000
# How many worlds `campaign-attack` makes, and in one process, which keeps the result of each in memory.
ATTACKS ?= 100000
PART = 10000
# In how many `campaign-mutants` looks for what misses a rule.
MUTANTS ?= 2000
# How many lives `campaign-sim` plays.
LIVES ?= 100000
# In how many of them one process does that.
LIVES_PART = 200
# How many nodes `campaign-crowd` has, and about how many links each of them, 0 for all.
NODES ?= 1000
LINKS ?= 16
# How many stores `campaign-rot` damages.
ROTS ?= 1000
# How many histories of each kind `campaign-reader` compares.
HISTORIES ?= 2000
# Which of the breaks `mutants` tries, by number, all without any; and whether who survives its tests
# is run against all others.
ID ?=
WHOLE ?=
# How many torn images `campaign-crash` starts, how many faults by chance `campaign-disk` tries beside
# its table, and how often `campaign-kill` kills; and how many homes get one flipped bit.
N ?=
FLIPS ?= 1000
# Which scene `trial` and `campaign-files` play, all without any.
SCENE ?=
# MiB of the large file of `campaign-files`, how many small ones there are, and KiB of each.
SIZE ?= 1024
COUNT ?= 10000
KIB ?= 100
FUZZ = .build/fuzz
# How long each target of `fuzz-NAME` is fuzzed, the targets, and the one program of all of them.
MINUTES ?= 10
FUZZERS = cbor payloads messages frames handshake session control http json links text search \
    backup sealed beacon blobs notes tokens
FUZZER = .build/fuzzers/release/wsx-fuzz
# The disk that records and fails, and what a campaign on the program itself is given: a program
# that is there already, by WSX_NODE, or this one.
SHIM = .build/campaigns/disk_shim.so
READY = $(if $(WSX_NODE),,build)
CAMPAIGN = @WSX_NODE="$(or $(WSX_NODE),$(abspath $(RELEASE)))" WSX_SEED="$(WSX_SEED)"

# A target may import only what Package.swift names for it.
CHECKS = --explicit-target-dependency-import-check error
# There are no XCTest cases, which the build would look for in an index (Tests/XCTMain.swift). With an
# entry point of our own `swift test` runs nothing unless it is told which library there is.
TESTING = --enable-swift-testing --disable-xctest --disable-index-store $(CHECKS)
RELEASE = .build/release/wsx-node
# The C++ runtime goes into the program: to load it took a third of the time of a short command.
# The C libraries stay outside, where the system keeps them up to date.
STATIC = .build/static
# Of the toolchain's own linker: addresses that are packed are faster to put in at the start, what
# nobody may call by name needs none, and equal functions are there once.
LINK = -Xswiftc -L$(abspath $(STATIC)) -Xswiftc -Xclang-linker -Xswiftc -static-libgcc \
    -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker --icf=safe \
    -Xlinker -z -Xlinker pack-relative-relocs

.DEFAULT_GOAL := help
.PHONY: help setup build demo test fuzz fuzzer fuzz-all fuzz-list fuzz-seeds $(addprefix fuzz-,$(FUZZERS)) campaign-attack campaign-mutants campaign-reader campaign-rot campaign-sim campaign-crowd campaign-crash campaign-disk campaign-kill campaign-files trial mutants lint interop bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 16

setup: ## install the Debian packages that are missing, or say which
	@scripts/setup

build: setup $(STATIC)/libstdc++.a ## build the program: .build/release/wsx-node
	$(SWIFT) build -c release --static-swift-stdlib --product wsx-node $(CHECKS) $(LINK)
	@scripts/split-symbols $(RELEASE)

$(STATIC)/libstdc++.a:
	@mkdir -p $(@D)
	@ln -sf "$$(clang -print-file-name=libstdc++.a)" $@

demo: build ## two nodes, one conversation, part of it while one of them is off
	@WSX_NODE="$(abspath $(RELEASE))" scripts/demo

test: setup ## all tests; WSX_SEEDS=N for N random cases each, WSX_SEED=N for exactly one
	@SWIFT="$(SWIFT)" scripts/test $(CHECKS) $(TESTS)

fuzz: setup ## random authority documents by all their properties, in release; SEEDS=N of each
	WSX_FUZZ=1 WSX_SEEDS=$(SEEDS) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path $(FUZZ) \
	    $(TESTING) --filter 'Authority is one|A channel.s owner|end of a membership'

$(addprefix fuzz-,$(FUZZERS)): fuzz-%: fuzzer
	@MINUTES=$(MINUTES) WSX_SEED="$(WSX_SEED)" scripts/fuzz $(FUZZER) $*

fuzz-all: fuzzer ## coverage-guided bytes, libFuzzer and address sanitizer, at each parser; MINUTES=10 each
	@MINUTES=$(MINUTES) WSX_SEED="$(WSX_SEED)" scripts/fuzz $(FUZZER) $(FUZZERS)

fuzz-list: fuzzer ## the targets of fuzz-NAME, and what each tries
	@$(FUZZER) --list

fuzz-seeds: fuzzer ## what the fuzzers found covers most, back into Tests/corpora; ONLY=NAME
	@scripts/fuzz $(FUZZER) --seeds $(or $(ONLY),$(FUZZERS))

# Everything is instrumented, the layers too. gold cannot link what the sanitizers leave out.
fuzzer: setup
	WSX_FUZZ=bytes $(SWIFT) build -c release --product wsx-fuzz --scratch-path .build/fuzzers $(CHECKS) \
	    -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld

campaign-attack: setup ## recombining attackers against definition and evaluator; ATTACKS=N worlds each
	for left in $$(seq $(ATTACKS) -$(PART) 1); do \
	    WSX_FUZZ=attacks WSX_SEEDS=$$((left < $(PART) ? left : $(PART))) $(SWIFT) test -c release \
	        -Xswiftc -enable-testing --scratch-path $(FUZZ) $(TESTING) \
	        --filter 'No recombination of what was seen' \
	        | grep -avE 'Test case passing'; \
	done

campaign-mutants: setup ## for each rule of authority, a world in which the attackers miss it; MUTANTS=N worlds each
	WSX_FUZZ=attacks WSX_SEEDS=$(MUTANTS) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path $(FUZZ) \
	    $(TESTING) --filter 'A rule that is taken away' | grep -aE '^(Mutant|//)'

campaign-reader: setup ## random histories by the second reader, in Python, and by the evaluator; HISTORIES=N of each kind
	rm -rf $(FUZZ)/histories
	WSX_SEEDS=$(HISTORIES) WSX_HISTORIES="$(abspath $(FUZZ))/histories" \
	    $(SWIFT) test $(TESTING) --filter 'Histories for the second reader'
	Tests/interop/run_histories $(FUZZ)/histories

campaign-rot: setup ## flipped bits and lost pages of a store, then check and repair; ROTS=N stores
	WSX_SEEDS=$(ROTS) $(SWIFT) test $(TESTING) --filter 'A store that rots'

campaign-sim: setup ## teams with faulty disks, clocks and links, machines put back and homes restored; LIVES=N worlds
	for left in $$(seq $(LIVES) -$(LIVES_PART) 1); do \
	    WSX_FUZZ=lives WSX_SEEDS=$$((left < $(LIVES_PART) ? left : $(LIVES_PART))) $(SWIFT) test -c release \
	        -Xswiftc -enable-testing --scratch-path $(FUZZ) $(TESTING) --filter 'Lives (by chance|with backups)' \
	        | grep -avE 'Test case passing'; \
	done

campaign-crowd: setup ## bytes and turns of a message, a return and a join among NODES=1000 with LINKS=16 each (0: all to all)
	WSX_FUZZ=crowd WSX_NODES=$(NODES) WSX_LINKS=$(LINKS) $(SWIFT) test -c release -Xswiftc -enable-testing \
	    --scratch-path $(FUZZ) $(TESTING) --filter 'A crowd on the virtual network'

campaign-crash: $(READY) $(SHIM) ## power cuts at every write of recorded lives; N=2000 torn images, LIVE=NAME one life
	$(CAMPAIGN) N=$(or $(N),2000) python3 -B Tests/campaigns/crash.py $(LIVE)

campaign-disk: $(READY) $(SHIM) ## failing, full and rotting disks under a node; N=300 by chance, FLIPS=1000, GROUP=NAME
	$(CAMPAIGN) N=$(or $(N),300) FLIPS=$(FLIPS) python3 -B Tests/campaigns/disk.py $(GROUP)

campaign-kill: $(READY) ## two homes under load, killed N=300 times
	$(CAMPAIGN) N=$(or $(N),300) python3 -B Tests/campaigns/kill.py

campaign-files: $(READY) ## files at their size: SIZE=1024 MiB, killed, from liars, COUNT=10000 of KIB=100, by a third node
	$(CAMPAIGN) SIZE=$(SIZE) COUNT=$(COUNT) KIB=$(KIB) SCENE=$(SCENE) python3 -B Tests/campaigns/files.py

trial: $(READY) ## what people meet, played once with the real program, on terminals; SCENE=NAME one scene
	$(CAMPAIGN) python3 -B Tests/trial/trial.py $(SCENE)

mutants: setup ## breaks of what SECURITY.md promises, each caught by the tests it names; ID=17 one, WHOLE=1
	@SWIFT="$(SWIFT)" ID="$(ID)" WHOLE="$(WHOLE)" nice -n 10 python3 -B Tests/campaigns/mutants.py

$(SHIM): Tests/campaigns/disk_shim.c
	@mkdir -p $(@D)
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -o $@ $<

lint: ## the format of every Swift file
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests

interop: ## a Noise peer in Python against a running node, and the frozen vectors
	@Tests/interop/run

bench: setup ## the benchmarks, if this checkout has them
	@if [ -f Benchmarks/Package.swift ]; then \
	    cd Benchmarks && $(SWIFT) run -c release --static-swift-stdlib; \
	else echo "there are no benchmarks in this checkout"; fi

clean: ## remove everything that was built
	rm -rf .build Tests/interop/.venv
