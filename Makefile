# The project's commands. `make help` lists them; `.ci/part` lists the parts of the tests.
#
# All builds go to build/. The project compares the drivers, so the Makefile builds all three alike: each is optimised
# as one program for one processor family. C uses -flto, Rust uses lto = "fat" (profile `driver` in Cargo.toml).

# The architecture that the drivers are built for. drivers/arm.sh sets another than this machine's.
ARCH ?= $(shell uname -m)
# Not native, because results stay comparable between machines, and because Valgrind 3.19 supports no AVX-512 and no SVE.
# cortex-a72 is ARMv8.0 without later extensions, so its code also runs on a Pi, a Graviton and an Apple processor.
TARGET_CPU_x86_64 := haswell
TARGET_CPU_aarch64 := cortex-a72
TARGET_CPU ?= $(or $(TARGET_CPU_$(ARCH)),$(error the drivers are for x86_64 and aarch64, not for $(ARCH)))
ifeq ($(origin CC),default)
CC := gcc
endif
CARGO ?= cargo

MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

BIN := build/bin
PYTHON := build/venv/bin/python
# CI fails if Cargo.lock does not match the Cargo.toml files.
CARGO_TOOLS := $(if $(CI),--locked) --target-dir build/cargo

# $(call put,FROM,TO) copies a file only if the two differ, so that make does not rebuild the files that depend on TO.
put = install -CD $(1) $(2)
# $(call put_text,TO) does the same with the text on standard input.
put_text = { mkdir -p $(dir $(1)); cat > $(1).new; cmp -s $(1).new $(1) && rm $(1).new || mv $(1).new $(1); }
# $(call step,WHAT) at the head of a recipe prints what the recipe builds and how long that took, if it takes long.
step = . bench/setup/step.sh '$(1)'

##@ Getting results

.PHONY: help
help:
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

# DEVICES="PORT PORT" measures with a real card instead, as bench/HARDWARE.md describes. GENERATOR=user@host, FILE.toml or
# none names the sender. CLOCKS="1.6 3.3" replaces the clocks, CLOCKS=keep keeps the machine's. DRY_RUN=1 only prints the
# plan. RESUME=1 continues the newest run and measures what failed again.
CARD ?= bench/card.toml
comma := ,
words_to_list = $(subst $(eval ) ,$(comma),$(strip $(1)))
card_options = --config $(CARD) --devices $(call words_to_list,$(DEVICES)) $(if $(GENERATOR),--generator $(GENERATOR)) \
	$(if $(CLOCKS),$(if $(filter keep,$(CLOCKS)),--keep-clock,--clock $(call words_to_list,$(CLOCKS))))
reproduce_options = $(strip $(if $(DEVICES),$(card_options)) $(if $(QUICK),--quick))

.PHONY: reproduce
reproduce: ## Measure, and print the paper's tables (DEVICES="PORT PORT": a real card; RESUME=1).
ifdef DRY_RUN
	@$(MAKE) triptych
	@$(BIN)/triptych run $(reproduce_options) --dry-run
else
	@bench/setup/setup.sh reproduce
	@$(MAKE) $(if $(DEVICES)$(RESUME),build variants,measured)
	@$(MAKE) peers || echo 'reproduce: continuing without the peers that failed' >&2
	@rm -f build/runs.txt; status=0; \
	$(BIN)/triptych run $(if $(RESUME),--retry-failed,$(reproduce_options)) --list-runs build/runs.txt || status=$$?; \
	[ ! -e build/runs.txt ] || while read -r run; do $(MAKE) table RUN="$$run"; done < build/runs.txt; \
	exit "$$status"
endif

.PHONY: bench
bench: ## Measure everything that the report shows (QUICK=1: roughly; RESUME=1: continue a run).
	@bench/setup/setup.sh reproduce
	@$(MAKE) build variants
	@$(BIN)/triptych run $(if $(RESUME),--resume,--config $(or $(MATRIX),bench/matrix$(if $(QUICK),-quick).toml))

.PHONY: compilers
compilers: ## Compare the drivers as several compilers build them (20 minutes; QUICK=1: 5 minutes).
	@bench/setup/compilers.sh
	@$(MAKE) nic triptych
	@$(BIN)/triptych compare --config bench/compilers$(if $(QUICK),-quick).toml

.PHONY: ladder
ladder: ## Measure what each safety feature costs, step by step (LIMIT=1: from the default to the tuned path).
	@bench/setup/setup.sh reproduce
	@$(MAKE) build rust-variants
	@.ci/part test-ladder-conformance $(if $(LIMIT),limit)
	@$(BIN)/triptych ladder $(if $(LIMIT),--limit)
	@$(if $(LIMIT),true,$(MAKE) table SECTION=ladder)

.PHONY: safety-lab
safety-lab: ## Try every mistake and attack on each driver, and compare with the recorded outcomes.
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package safety-lab --bin safety -- run --results results
	@build/cargo/release/safety false-sharing

CLIENTS := PYTHONPATH=bench/apps:paper $(PYTHON) -m clients

# QUICK=1 measures one round of small loads. ONLY=kv measures one application.
.PHONY: apps
apps: ## Load the applications with real clients, over each driver (15 minutes; QUICK=1: 2).
	@bench/setup/setup.sh apps
	@$(MAKE) nic c rust rust-unsafe applications application-variants code-size
	@$(CARGO) build --quiet $(CARGO_TOOLS) --release --package record --example facts
	@$(CLIENTS).measure $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) --nginx "$$(bench/setup/nginx.sh)"

.PHONY: try
try: ## Try an application with clients of your own: APP=kv DRIVER=c (RUN="COMMAND": only that).
	@bench/setup/setup.sh apps
	@$(MAKE) nic c rust rust-unsafe applications
	@$(CLIENTS).try_app $(if $(APP),--application $(APP)) $(if $(DRIVER),--driver $(DRIVER)) $(if $(RUN),--run '$(RUN)')

RUN ?= results/latest
RUNS ?= $(RUN)
run_folders = $(foreach run,$(RUNS),$(if $(wildcard $(run)/run.json),$(run),results/$(run)))

.PHONY: table
table: ## Print the tables of the newest run again, or of RUNS="ID ID".
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.table $(run_folders) $(addprefix --section ,$(SECTION))

# The first report of a run counts the lines of code and stores the counts, so that later changes do not alter them.
.PHONY: paper
paper: ## Write the report of the newest run, or of RUNS="ID ID" together: HTML, PDF, tables and figures.
	@bench/setup/setup.sh paper
	@for run in $(run_folders); do [ ! -d "$$run" ] || [ -e "$$run/code.json" ] || $(MAKE) "$$run/code.json"; done
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.report $(run_folders)

%/code.json: code-size
	@$(BIN)/code-size --output $@

# Archives the newest runs in paper/example/, or only RUN. A test compares the documents with that folder.
.PHONY: paper-example
paper-example:
	@bench/setup/setup.sh paper
	@runs='$(if $(filter file,$(origin RUN)),,$(RUN))'; \
	[ -n "$$runs" ] || runs="$$(PYTHONPATH=paper $(PYTHON) -m triptych_paper.example --newest results)"; \
	for run in $$runs; do \
		[ ! -e "$$run/samples.csv" ] || $(MAKE) paper RUN="$$run"; \
		PYTHONPATH=paper $(PYTHON) -m triptych_paper.example "$$run" paper/example; \
	done

# Reserves 256 huge pages of 2 MiB for packet buffers until the next reboot (needs root).
.PHONY: hugepages
hugepages:
	@bench/setup/hugepages.sh

##@ Building

# Tools and drivers build side by side, because Cargo optimises a driver on one core.
side_by_side = printf '%s\n' $(1) | xargs --max-procs 2 --max-args 1 $(MAKE)
.PHONY: build measured tools measured-tools drivers measured-drivers
build: ## Build the tools and the three drivers into build/bin/.
	@$(call side_by_side,tools drivers)
tools: nic bridge triptych applications
drivers: c rust rust-unsafe
# What `make reproduce` measures on the software card. A real card's configuration, or a run that is continued, may name
# any variant, so those build all.
measured:
	@$(call side_by_side,measured-tools measured-drivers)
measured-tools: nic bridge triptych
measured-drivers: c into-rust rust-overflow-checks into-rust-unsafe

build_tool = $(CARGO) build --quiet $(CARGO_TOOLS) --release --package $(1) --bin $(1) \
	&& $(call put,build/cargo/release/$(1),$(BIN)/$(1))

.PHONY: nic bridge triptych code-size
nic:
	@$(call step,the software 82599); $(call build_tool,nic)
bridge:
	@$(call step,the VFIO bridge); $(CARGO) build --quiet $(CARGO_TOOLS) --release --package bridge \
		&& $(call put,build/cargo/release/libtriptych_bridge.so,$(BIN)/libtriptych_bridge.so)
triptych:
	@$(call step,the benchmark runner); $(call build_tool,triptych)
code-size:
	@$(call step,the counter of code lines); $(call build_tool,code-size)

APPLICATIONS := balancer http kv node node-controller

# smoltcp needs a newer Rust than the drivers do.
.PHONY: applications
applications:
	@needed="$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' bench/apps/Cargo.toml)"; \
	printf '%s\n' "$$needed" "$$($${RUSTC:-rustc} --version | cut -d ' ' -f 2)" | sort --version-sort --check=quiet || \
		{ echo "skipped: the applications need Rust $$needed"; exit 0; }; \
	$(call step,the applications); $(CARGO) build --quiet $(CARGO_TOOLS) --release --package apps --bins \
		$(foreach app,$(APPLICATIONS),&& $(call put,build/cargo/release/$(app),$(BIN)/apps/$(app)))

# --- the drivers: into-c, into-rust and into-rust-unsafe build one forwarder and its library in $(INTO)/<implementation>/
#
# The variants below and the runner choose the place, the compiler and the flags. For C they set CC, C_OPT, C_LTO, C_EXTRA
# and TARGET_CPU. For Rust they set RUSTUP_TOOLCHAIN or RUSTC, PROFILE, FEATURE, RUST_EXTRA and TARGET_CPU, and
# CARGO_PROFILE_DRIVER_* in the environment.
INTO ?= $(BIN)
driver_files = $(addprefix $(INTO)/$(1)/,ixgbe-fwd libforwarder.so toolchain.txt)
APPS := forward-minimal capture echo pktgen replay

# One call of the compiler makes a C program or library of all its sources. The first example is linked without rooms/.
C_SOURCES := $(wildcard c/src/*.[ch] c/src/*/*.[ch])
C_LIBRARY := $(filter-out c/src/apps/%,$(filter %.c,$(C_SOURCES)))
c_app = $(C_LIBRARY) $(patsubst %,c/src/apps/%.c,$(1))
C_OF_ixgbe-fwd := $(call c_app,fwd pipeline_threads program queue_threads run threads)
C_OF_ixgbe-forward-minimal := $(filter-out c/src/rooms/% c/src/tuned/%,$(C_LIBRARY)) c/src/apps/forward_minimal.c
C_OF_ixgbe-capture := $(call c_app,capture port program run pcap_writer)
C_OF_ixgbe-echo := $(call c_app,echo port program run echo_packet)
C_OF_ixgbe-pktgen := $(call c_app,pktgen port program run flow_packet pcap_file token_bucket)
C_OF_ixgbe-replay := $(call c_app,replay port program run pcap_file token_bucket)
C_OF_libforwarder.so := $(C_LIBRARY)
# Ports for the applications, apart from the forwarder, so that the forwarder's code stays as it is.
C_OF_libports.so := $(call c_app,port program run stack_port)

C_WARNINGS := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla
C_OPT := -O2
C_LTO := -flto
# On AArch64, -march takes an architecture, and -mcpu a processor.
C_CPU = $(if $(filter aarch64,$(ARCH)),-mcpu,-march)=$(TARGET_CPU)
# The flags that decide which code the compiler makes.
C_CODE = $(C_OPT) $(C_CPU) $(C_LTO)
C_FLAGS = -std=gnu11 $(C_CODE) -Ic/src $(C_WARNINGS) $(C_EXTRA)
# Only the functions that forwarder.h exports are visible, so that the compiler can inline the others as in the program.
C_SHARED := -shared -fPIC -fvisibility=hidden
# The project's version, for --version. GCC divides a large program at link time, and warns that it compiles the parts one
# after another. It need not divide.
C_ALWAYS := -DTRIPTYCH_VERSION='"$(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"' \
	$(if $(findstring clang,$(CC)),,-flto-partition=one)
# Prints a hash of the C compiler: of the program that CC names, which may be a wrapper, and of GCC's compiler proper.
# Versions do not tell a patched compiler from an unpatched one.
c_compiler_hash = { cat "$$(command -v $(firstword $(CC)))" "$$($(CC) -print-prog-name=cc1)" 2> /dev/null || true; } | \
	sha256sum | cut -d ' ' -f 1

.PHONY: FORCE c c-programs into-c
c:
	@$(call step,the C driver); $(MAKE) -j 2 c-programs
c-programs: into-c $(BIN)/c/libports.so $(APPS:%=$(BIN)/c/ixgbe-%)
into-c: $(call driver_files,c)
# A change of compiler or flags rebuilds the programs.
$(INTO)/c/toolchain.txt: FORCE
	@{ $(CC) --version | head -n 1 | tr '\n' ' '; echo '$(strip $(C_FLAGS))'; $(c_compiler_hash) | sed 's/^/compiler /'; } | \
		$(call put_text,$@)
# In CI a warning in the default build is an error. The results do not name that flag. With a folder C_OBJECTS, each source
# becomes an object in it: GCC names profiles after objects, and two sources have the name rx.c.
c_call = $(CC) $(if $(CI),$(if $(filter $(BIN),$(INTO)),-Werror)) $(C_FLAGS) $(C_ALWAYS) $(if $(filter %.so,$*),$(C_SHARED))
c_objects = $(foreach source,$(C_OF_$*),$(C_OBJECTS)/$(subst /,-,$(source)).o)
$(addprefix $(INTO)/c/,ixgbe-fwd libforwarder.so libports.so $(APPS:%=ixgbe-%)): $(INTO)/c/%: $(INTO)/c/toolchain.txt $(C_SOURCES)
	@$(if $(C_OBJECTS),$(foreach source,$(C_OF_$*),$(c_call) -c $(source) -o $(C_OBJECTS)/$(subst /,-,$(source)).o &&)) \
		$(c_call) $(if $(C_OBJECTS),$(c_objects),$(C_OF_$*)) -o $@

# With sanitizers: each file in c/tests/ is a program, and the hostile server meets the forwarder.
C_TEST_FLAGS := -std=gnu11 -O1 -g -Ic/src $(C_WARNINGS) $(C_ALWAYS)
C_CHECKED := -fsanitize=address,undefined -fno-sanitize-recover=all
C_TESTS := $(patsubst c/tests/%.c,build/c/tests/%,$(wildcard c/tests/*.c))
.PHONY: c-tests
c-tests: $(C_TESTS)
build/c/library.o: $(C_SOURCES)
	@mkdir -p $(@D); $(CC) $(C_TEST_FLAGS) $(C_CHECKED) -r $(C_LIBRARY) -o $@
$(C_TESTS): build/c/tests/%: c/tests/%.c c/tests/test.h build/c/library.o
	@mkdir -p $(@D); $(CC) $(C_TEST_FLAGS) $(C_CHECKED) $< build/c/library.o -o $@
build/hostile/c/ixgbe-fwd build/thread/c/ixgbe-fwd: $(C_SOURCES)
	@mkdir -p $(@D); $(CC) $(C_TEST_FLAGS) $(if $(findstring thread,$@),-fsanitize=thread,$(C_CHECKED)) $(C_OF_ixgbe-fwd) -o $@

# Cargo finds out what changed in the Rust drivers, so these goals always run it. RUST_EXTRA adds flags after all others.
PROFILE ?= driver
DRIVER_RUSTFLAGS = $(strip -C target-cpu=$(TARGET_CPU) $(RUST_EXTRA))
# Cargo tells compilers apart by `rustc -vV`, which a patched compiler does not change. A compiler that RUSTC names
# therefore has a folder of its own.
DRIVER_TARGET := build/cargo-driver$(if $(RUSTC),-$(shell sha256sum < "$$(command -v $(RUSTC))" | cut -c 1-12))
# RUST_TARGET, for example aarch64-unknown-linux-gnu, builds for another machine. Cargo then adds a folder.
DRIVER_OUT = $(DRIVER_TARGET)$(addprefix /,$(RUST_TARGET))/$(PROFILE)
cargo_driver = RUSTFLAGS='$(DRIVER_RUSTFLAGS)' $(CARGO) $(1) --quiet $(if $(CI),--locked) --profile $(PROFILE) \
	$(addprefix --target ,$(RUST_TARGET)) --target-dir $(DRIVER_TARGET) $(addprefix --features ixgbe/,$(FEATURE))
# Prints the compiler, the profile, the feature, the environment's changes to the profile, and the flags.
rust_toolchain = { $${RUSTC:-rustc} --version; echo '--profile $(PROFILE)$(if $(FEATURE), --features $(FEATURE))'; \
	env | sed -n 's/^CARGO_PROFILE_DRIVER_//p' | sort; echo '$(DRIVER_RUSTFLAGS)'; } | tr '\n' ' ' | sed 's/ *$$//' && echo
# $(call put_driver,IMPLEMENTATION,PROGRAM,LIBRARY)
put_driver = $(call put,$(DRIVER_OUT)/$(2),$(INTO)/$(1)/ixgbe-fwd) \
	&& $(call put,$(DRIVER_OUT)/$(3),$(INTO)/$(1)/libforwarder.so) \
	&& { $(rust_toolchain); } | $(call put_text,$(INTO)/$(1)/toolchain.txt)
# $(call build_apps,PACKAGE,SUFFIX,FOLDER) builds the other programs, whose names in the target folder end with SUFFIX.
build_apps = $(call cargo_driver,build) --package $(1) $(APPS:%=--bin ixgbe-%$(2)) \
	$(foreach app,$(APPS),&& $(call put,$(DRIVER_OUT)/ixgbe-$(app)$(2),$(3)/ixgbe-$(app)))
build_ports = $(call cargo_driver,build) --package ports-abi-rust \
	&& $(call put,$(DRIVER_OUT)/libports_abi_rust.so,$(INTO)/rust/libports.so)

.PHONY: rust rust-unsafe into-rust into-rust-unsafe rust-ports
rust: into-rust
	@$(call step,the safe Rust programs); $(build_ports) && $(call build_apps,ixgbe,,$(BIN)/rust)
# The C interface is a crate of its own.
into-rust:
	@$(call step,the safe Rust driver$(addprefix $(comma) variant ,$(VARIANT))); \
	$(call cargo_driver,build) --package ixgbe --package forwarder-abi-rust --lib --bin ixgbe-fwd \
		&& $(call put_driver,rust,ixgbe-fwd,libforwarder_abi_rust.so)
rust-ports:
	@$(build_ports)
rust-unsafe: into-rust-unsafe
	@$(call step,the transpiled programs); $(call build_apps,ixgbe-unsafe,-unsafe,$(BIN)/rust-unsafe) \
		&& $(call put,$(BIN)/rust-unsafe/libforwarder.so,$(BIN)/rust-unsafe/libports.so)
# rustc optimises a library as a whole only if C is its only user, hence the separate `--crate-type cdylib`.
into-rust-unsafe:
	@$(call step,the transpiled driver$(addprefix $(comma) variant ,$(VARIANT))); $(call cargo_driver,build) --package ixgbe-unsafe --bin ixgbe-fwd-unsafe \
		&& $(call cargo_driver,rustc) --package ixgbe-unsafe --lib --crate-type cdylib \
		&& $(call put_driver,rust-unsafe,ixgbe-fwd-unsafe,libixgbe_unsafe.so)

# --- variants of the drivers, in build/variants/<variant>/<implementation>/

# $(call variant,NAME,GOAL,SETTINGS)
variant = $(MAKE) $(2) INTO=build/variants/$(1) VARIANT=$(1) $(3)
.PHONY: variants variants-c variants-rust rust-variants rust-overflow-checks rust-unsafe-variants application-variants
variants: ## Build the variants of the drivers: overflow checks, slices, hardening, no LTO.
	@$(call side_by_side,variants-c variants-rust)
variants-rust: rust-variants rust-unsafe-variants
# The compiler checks indices into arrays of known length and signed arithmetic. A violation executes a trap (ud2).
TRAPPING = $(strip $(C_EXTRA) -fsanitize=bounds,signed-integer-overflow -fsanitize-undefined-trap-on-error)
# Distributions build C in this way: with checked calls of the C library and canaries before return addresses.
FORTIFIED = $(strip $(C_EXTRA) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong)
variants-c:
	@$(call step,the variants of the C driver); \
	$(call variant,trapping-ubsan,into-c,C_EXTRA='$(TRAPPING)'); \
	$(call variant,fortified,into-c,C_EXTRA='$(FORTIFIED)'); \
	$(call variant,no-lto,into-c,C_LTO=)
rust-overflow-checks:
	@$(call variant,overflow-checks,into-rust,PROFILE=driver-overflow-checks)
# In the last two a packet is a slice: of the memory of a device that the driver trusts, or of a private copy. Both builds
# write the same files of one profile, which saves building the libraries twice, so one follows the other.
rust-variants: rust-overflow-checks
	@$(call variant,no-lto,into-rust,PROFILE=driver-no-lto)
	@$(call variant,trusted-device,into-rust,PROFILE=driver-features FEATURE=trusted-device)
	@$(call variant,untrusted-device-copy,into-rust,PROFILE=driver-features FEATURE=untrusted-device-copy)
rust-unsafe-variants:
	@$(call variant,overflow-checks,into-rust-unsafe,PROFILE=driver-overflow-checks)
	@$(call variant,no-lto,into-rust-unsafe,PROFILE=driver-no-lto)
# The drivers that check overflows, for the applications.
application-variants: variants-c rust-overflow-checks rust-unsafe-variants
	@$(call variant,trapping-ubsan,build/variants/trapping-ubsan/c/libports.so,C_EXTRA='$(TRAPPING)')
	@$(call variant,overflow-checks,rust-ports,PROFILE=driver-overflow-checks)
	@cd build/variants/overflow-checks/rust-unsafe && $(call put,libforwarder.so,libports.so)

# PEERS_FROM=FOLDER takes the sources from git bundles in that folder instead of the public repositories. What cannot be
# had is named and skipped.
.PHONY: peers
peers: ## Build the paper's own drivers and DPDK's (PEERS_FROM=FOLDER: from git bundles).
	@bench/setup/setup.sh peers
	@$(MAKE) triptych
	@$(BIN)/triptych peers $(if $(PEERS_FROM),--from '$(PEERS_FROM)')

# The runner asks with this goal for the compilers and flags of the project's drivers.
.PHONY: peer-flags
peer-flags:
	@echo 'cc = "$(CC)"'
	@echo "cc_version = '$$($(CC) --version | head -n 1)'"
	@echo 'c = "$(strip $(C_CODE) $(C_EXTRA))"'
	@echo "rustc_version = '$$($${RUSTC:-rustc} --version)'"
	@echo "hashes = '$$($(c_compiler_hash)) $$(sha256sum < "$$(command -v "$${RUSTC:-rustc}")")'"
	@echo 'rust = "$(DRIVER_RUSTFLAGS)"'

##@ Changing the sources

.PHONY: setup
setup: ## Install everything that building, testing and linting need.
	@bench/setup/setup.sh test lint

.PHONY: generate registers transpile tour
generate: registers transpile tour ## Write what is generated: register headers, the transpiled driver, the tour's diagrams.
registers:
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package ixgbe-registers --bin generate-registers
# The first run builds C2Rust.
transpile:
	@rust-unsafe/transpile.sh
# Three tests write files that others read, so they run first, one at a time.
tour: build
	@TRIPTYCH_UPDATE=1 $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --test rings --test tour -- \
		--test-threads=1 the_diagrams_show every_reference every_hazard
	@$(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --test rings --test tour

.PHONY: test
test: ## Run all tests that need neither a card nor a quiet machine (ONLY=PART: one of those of .ci/part).
	@bench/setup/setup.sh test
ifdef ONLY
	@for part in $(ONLY); do .ci/part "$$part"; done
else
	@$(MAKE) build variants
	@.ci/checks
endif

C_LINTED = $(filter-out c/src/driver/registers.h c/src/driver/device_ids.h,$(C_SOURCES)) \
	$(wildcard c/tests/*.[ch] drivers/conformance/safety/programs/*.c)
PYTHON_LINTED := paper bench/setup/tests bench/lint bench/apps
SHELL_LINTED = $(wildcard bench/setup/*.sh bench/src/machine/clocks/*.sh perfcounters/pmu-guest/*.sh bench/ladder/*.sh rust-unsafe/*.sh drivers/*.sh rust/*.sh .ci/*)
CLANG := 19

.PHONY: lint lint-c lint-rust lint-python lint-shell lint-rules
lint: ## Check the formatting and run all linters; a warning is an error.
	@bench/setup/setup.sh lint
	@$(MAKE) --keep-going lint-c lint-rust lint-python lint-shell lint-rules
lint-c:
	@clang-format-$(CLANG) --dry-run -Werror $(C_LINTED)
	@$(CC) -fsyntax-only -Werror -std=gnu11 -Ic/src $(C_WARNINGS) $(filter %.c,$(C_LINTED))
	@clang-tidy-$(CLANG) --quiet $(filter %.c,$(C_LINTED)) -- -std=gnu11 -Ic/src
lint-rust:
	@$(CARGO) fmt --check
	@$(CARGO) clippy --quiet $(CARGO_TOOLS) --workspace --all-targets -- -D warnings
	@said="$$(PATH="$${TRIPTYCH_CACHE:-$$HOME/.cache/triptych}/lint/bin:$$PATH" $(CARGO) machete 2>&1)" || { echo "$$said"; exit 1; }
lint-python:
	@$(PYTHON) -m ruff check --quiet $(PYTHON_LINTED)
	@$(PYTHON) -m ruff format --quiet --check $(PYTHON_LINTED)
	@for folder in $(PYTHON_LINTED); do $(PYTHON) -m mypy --no-error-summary "$$folder"; done
lint-shell:
	@shellcheck $(SHELL_LINTED)
# CHECKS names some of the project's own rules; all by default.
lint-rules:
	@PYTHONPATH=bench/lint $(PYTHON) -m triptych_lint $(CHECKS)

.PHONY: format
format: ## Format all sources.
	@bench/setup/setup.sh lint
	clang-format-$(CLANG) -i $(C_LINTED)
	$(CARGO) fmt
	$(PYTHON) -m ruff check --quiet --fix $(PYTHON_LINTED)
	$(PYTHON) -m ruff format --quiet $(PYTHON_LINTED)

.PHONY: clean
clean: ## Remove build/, but keep results/.
	rm -rf build
