# SPDX-License-Identifier: GPL-2.0
#
# The front door for people. The kernel's build does not read this file, its part
# is in Kbuild.
#
# Everything happens in the lab, a Debian root in a cache folder that is made on
# first use (tools/lab). Inside it OVPN_IN_LAB is set and nothing is entered twice.
# With KDIR=/path/to/prepared/tree the module is built on this machine instead.

LAB := tools/lab/lab
VM := tools/testing/selftests/ovpn/vm/run
BENCH := tools/bench/run

ifneq ($(KDIR),)
  BUILD ?= $(CURDIR)/build
  RUN :=
  setup :=
else
  KDIR = $(shell $(LAB) path kernel)
  BUILD ?= $(shell $(LAB) path lab)/build/ovpn
  RUN := $(if $(OVPN_IN_LAB),,$(LAB) run --)
  setup := $(if $(OVPN_IN_LAB),,setup)
endif

# A make of its own: what this one was told about jobs means nothing in the lab.
# Two builds in one place wait for each other.
KMAKE = $(RUN) flock $(BUILD)/.lock env -u MAKEFLAGS -u MAKELEVEL -u MAKEOVERRIDES make --no-print-directory -j$(shell nproc) \
	-C $(KDIR) M=$(CURDIR) MO=$(BUILD) $(if $(V),V=$(V)) $(if $(CLIPPY),CLIPPY=$(CLIPPY)) \
	$(if $(LLVM),LLVM=$(LLVM)) $(if $(KRUSTFLAGS),KRUSTFLAGS=$(KRUSTFLAGS)) $(if $(KCFLAGS),KCFLAGS=$(KCFLAGS))

.DEFAULT_GOAL := help
.PHONY: help setup modules demo bench bench-quick bench-peers bench-profile test test-host test-fuzz fuzz-packets test-vm test-upstream test-mutants test-debug soak check format install uninstall \
	rust-analyzer rustdoc shell clean

help: ## this list
	@echo 'ovpn: the OpenVPN data channel for Linux, in Rust. Targets:'
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo 'Variables:'
	@echo '  KDIR=PATH       build against this prepared kernel tree, without the lab'
	@echo '  BUILD=PATH      where the module is built (outside the checkout by default)'
	@echo '  ARGS=--shell    for demo: leave a shell in the VM'
	@echo '  TESTS="A B"     for test-vm, test-upstream and test-debug: only these'
	@echo '  OVPN_LAB=PATH   where the lab lives (in the environment)'

setup: ## make the lab: toolchain, kernel tree, guest (once, 4 minutes; then at once)
	@$(LAB) setup

modules: $(setup) ## build ovpn.ko
	@mkdir -p $(BUILD)
	@$(KMAKE) modules
	@echo 'built $(BUILD)/ovpn.ko'

demo: modules ## an openvpn server and client through our module, in a VM
	@$(RUN) $(VM) --timeout 300 --module $(BUILD)/ovpn.ko \
		$(if $(findstring --shell,$(ARGS)),--interactive) -- ./demo.sh $(ARGS)

test: ## everything: checks, host tests, build, tests in the VM
	@$(if $(OVPN_IN_LAB),true,$(LAB) setup debug) || { echo '0 passed, 1 failed'; exit 1; }
	@$(RUN) tools/testing/run

test-host: $(setup) ## only the unit and property tests on the host
	@$(RUN) tools/testing/run host

test-fuzz: $(setup) ## the pure rooms against libFuzzer, a minute each (FUZZ_SECONDS=60)
	@FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) $(RUN) tools/testing/run fuzz

fuzz-packets: $(setup) ## datagrams of all kinds beside a model, in a VM (DATAGRAMS=1000000 in each of five cases, SEED=N)
	@$(RUN) tools/testing/run build programs
	@$(RUN) $(VM) --timeout 7200 --env DATAGRAMS=$(or $(DATAGRAMS),1000000) --env SEED=$(or $(SEED),$(shell date +%s)) -- ./packets.py

test-vm: $(setup) ## only the tests in the VM (TESTS="a b" picks some)
	@$(RUN) tools/testing/run build programs vm $(addprefix --only ,$(TESTS))

test-upstream: $(setup) ## the kernel's own selftests, unmodified (MODULE=intree: the C driver)
	@$(RUN) tools/testing/run $(if $(MODULE),--module $(MODULE),build) upstream $(addprefix --only ,$(TESTS))

test-mutants: $(setup) ## the driver broken on purpose, which the tests must notice (half an hour)
	@$(if $(OVPN_IN_LAB),true,$(LAB) setup debug) || { echo '0 passed, 1 failed'; exit 1; }
	@$(RUN) tools/testing/mutants/run $(MUTANTS)

test-debug: $(setup) ## the tests in the VM on a kernel with KASAN and lockdep (more than an hour)
	@$(if $(OVPN_IN_LAB),true,$(LAB) setup debug) || { echo '0 passed, 1 failed'; exit 1; }
	@$(RUN) tools/testing/run programs debug-build debug-vm $(addprefix --only ,$(TESTS))

soak: $(setup) ## half an hour of lifetimes under fire on the debug kernel (SECONDS=1800, SEED=N)
	@$(if $(OVPN_IN_LAB),true,$(LAB) setup debug)
	@$(RUN) tools/testing/run debug-build
	@$(RUN) $(VM) --kernel debug --timeout $(or $(SECONDS),1800) --env SECONDS=$(or $(SECONDS),1800) --env SEED=$(or $(SEED),0) -- \
		/ovpn/vm/suite soak.list

bench: modules ## everything measured, and the report in Documentation/benchmarks (under an hour)
	@$(BENCH) --driver $(or $(DRIVER),$(BUILD)/ovpn.ko) full $(ARGS)

bench-quick: modules ## instructions per byte, ours and C: the main figures (2 to 4 minutes)
	@$(BENCH) --driver $(or $(DRIVER),$(BUILD)/ovpn.ko) quick $(ARGS)

bench-peers: modules ## 100,000 peers in one interface: what one costs, ours and C (5 minutes)
	@$(BENCH) --driver $(or $(DRIVER),$(BUILD)/ovpn.ko) peers $(ARGS)

bench-profile: modules ## the functions that cost most (SIDE=tx|rx SCENARIO=aes|aes-seg|chacha DRIVER=c)
	@$(BENCH) --driver $(or $(DRIVER),$(BUILD)/ovpn.ko) profile --side $(or $(SIDE),tx) \
		--scenario $(or $(SCENARIO),aes) $(ARGS)

check: $(setup) ## rustfmt, clippy, rustdoc, shellcheck, checkpatch and house rules
	@$(RUN) tools/check/check

format: $(setup) ## let rustfmt put the Rust sources in shape
	@$(RUN) tools/check/check --format

install: ## install the built ovpn.ko over the in-tree one (as root)
	@tools/install.sh install $(BUILD)/ovpn.ko

uninstall: ## go back to the in-tree module (as root)
	@tools/install.sh uninstall

rust-analyzer: modules ## write rust-project.json for editors
	@$(RUN) tools/rust/analyzer $(KDIR) $(BUILD) rust-project.json

rustdoc: modules ## the documentation of our crates, as web pages
	@$(RUN) tools/rust/doc $(KDIR) $(BUILD) $(BUILD)/doc

shell: $(setup) ## a shell in the lab
	@$(LAB) shell

clean: ## remove what was built (the lab itself: tools/lab/lab clean)
	@[ ! -d $(BUILD) ] || $(KMAKE) clean
	@rm -f rust-project.json
