# The project's commands. `make help` lists them.
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
CARGO_FLAGS := $(if $(CI),--locked)
CARGO_TOOLS := $(CARGO_FLAGS) --target-dir build/cargo
# RUST_EXTRA and C_EXTRA add flags after all others.
DRIVER_RUSTFLAGS = $(strip -C target-cpu=$(TARGET_CPU) $(RUST_EXTRA))
# Cargo tells compilers apart by `rustc -vV`, which a patched compiler does not change. A compiler that RUSTC names
# therefore has a folder of its own.
DRIVER_TARGET := build/cargo-driver$(if $(RUSTC),-$(shell sha256sum < "$$(command -v $(RUSTC))" | cut -c 1-12))
# RUST_TARGET, for example aarch64-unknown-linux-gnu, builds for another machine. Cargo then adds a folder.
DRIVER_OUT = $(DRIVER_TARGET)$(addprefix /,$(RUST_TARGET))
cargo_driver = RUSTFLAGS='$(DRIVER_RUSTFLAGS)' $(CARGO) $(1) --quiet $(CARGO_FLAGS) $(addprefix --target ,$(RUST_TARGET)) \
	--target-dir $(DRIVER_TARGET) --profile
# Prints the compiler, the profile, the feature, the environment's changes to the profile, and the flags.
rust_toolchain = { $${RUSTC:-rustc} --version; echo '--profile $(1)$(if $(2), --features $(2))'; env | sed -n 's/^CARGO_PROFILE_DRIVER_//p' | sort; \
	echo '$(DRIVER_RUSTFLAGS)'; } | tr '\n' ' ' | sed 's/ *$$//' && echo

# $(call put,FROM,TO) copies a file only if the two differ, so that make does not rebuild the files that depend on TO.
put = mkdir -p $(dir $(2)) && { cmp -s $(1) $(2) || { cp $(1) $(2).new && mv $(2).new $(2); }; }
# $(call put_text,TO) does the same with the text on standard input.
put_text = { mkdir -p $(dir $(1)); cat > $(1).new; cmp -s $(1).new $(1) && rm $(1).new || mv $(1).new $(1); }

# $(call step,WHAT) at the head of a recipe prints what the recipe builds and how long that took, if it takes long.
step = . bench/setup/step.sh '$(1)'

##@ Getting results

.PHONY: help
help: ## Print this list.
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-24s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

# DEVICES="PORT PORT" measures with a real card instead, as bench/HARDWARE.md describes, and prints the tables of each
# clock, also if some measurements failed. GENERATOR=user@host, FILE.toml or none names the sender. CLOCKS="1.6 3.3" replaces the clocks, CLOCKS=keep keeps
# the machine's. DRY_RUN=1 only prints the plan. RESUME=1 continues the newest run and measures what failed again.
CARD ?= bench/card.toml
words_to_list = $(subst $(eval ) ,$(comma),$(strip $(1)))
comma := ,
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
	@rm -f build/runs.txt
	@status=0; $(BIN)/triptych run $(if $(RESUME),--retry-failed,$(reproduce_options)) --list-runs build/runs.txt || status=$$?; \
	[ ! -e build/runs.txt ] || while read -r run; do \
		PYTHONPATH=paper $(PYTHON) -m triptych_paper.table "$$run"; \
	done < build/runs.txt; \
	exit "$$status"
endif

# QUICK=1 measures a small part of everything. RESUME=1 continues the newest interrupted run.
MATRIX ?= bench/matrix$(if $(QUICK),-quick).toml

.PHONY: bench
bench: ## Measure everything that the report shows (QUICK=1: roughly; RESUME=1: continue a run).
	@bench/setup/setup.sh reproduce
	@$(MAKE) build
	@$(MAKE) -j $(shell nproc) variants
	$(BIN)/triptych run $(if $(RESUME),--resume,--config $(MATRIX))

.PHONY: compilers
compilers: ## Compare the drivers as several compilers build them (20 minutes; QUICK=1: 5 minutes).
	@$(MAKE) nic triptych
	$(BIN)/triptych compare --config bench/compilers$(if $(QUICK),-quick).toml

.PHONY: ladder
ladder: ## Measure what each safety feature costs, from the transpiled to the safe driver.
	@bench/setup/setup.sh reproduce
	@$(MAKE) build
	@$(MAKE) test-ladder-conformance
	@$(MAKE) rust-features
	$(BIN)/triptych ladder
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.table results/latest --section ladder

.PHONY: ladder-limit
ladder-limit: ## Measure each step from the default path to the tuned one, in all three languages.
	@bench/setup/setup.sh reproduce
	@$(MAKE) build
	@$(MAKE) test-ladder-limit
	$(BIN)/triptych ladder --limit

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
	@$(CLIENTS).try_app $(if $(APP),--application $(APP)) $(if $(DRIVER),--driver $(DRIVER)) \
		$(if $(RUN),--run '$(RUN)')

.PHONY: soak-apps
soak-apps: ## Send a million requests to each application over each driver (20 minutes; DRIVER=c: 6).
	@bench/setup/setup.sh apps
	@$(MAKE) nic c rust rust-unsafe applications
	@$(CLIENTS).soak $(if $(DRIVER),--driver $(DRIVER))

# BASELINE=name stores the figures under a name. AGAINST=name compares with the stored figures.
datapath = CRITERION_HOME=$(CURDIR)/build/criterion $(CARGO) bench --quiet $(CARGO_TOOLS) --package triptych \
	--bench datapath --

.PHONY: bench-micro
bench-micro: build ## Time forwarding, receiving, sending and the pool alone (BASELINE=name, AGAINST=name).
	@$(datapath) $(if $(BASELINE),--save-baseline $(BASELINE)) $(if $(AGAINST),--baseline $(AGAINST))

.PHONY: table
table: ## Print the tables of the newest run again.
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.table results/latest

RUN ?= results/latest

# The first report of a run counts the lines of code and stores the counts, so that later changes do not alter them.
.PHONY: paper
paper: ## Write the report of the newest run or of RUN=results/ID: HTML, PDF, tables and figures.
	@bench/setup/setup.sh paper
	@[ ! -d $(RUN) ] || [ -e $(RUN)/code.json ] || $(MAKE) $(RUN)/code.json
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.report $(RUN)

%/code.json: code-size
	@$(BIN)/code-size --output $@

# A test compares the documents with paper/example/.
.PHONY: paper-example
paper-example: ## Archive the newest runs in paper/example/ (RUN=results/ID: only that run).
	@bench/setup/setup.sh paper
	@runs='$(if $(filter file,$(origin RUN)),,$(RUN))'; \
	[ -n "$$runs" ] || runs="$$(PYTHONPATH=paper $(PYTHON) -m triptych_paper.example --newest results)"; \
	for run in $$runs; do \
		[ ! -e "$$run/samples.csv" ] || $(MAKE) paper RUN="$$run" || exit 1; \
		PYTHONPATH=paper $(PYTHON) -m triptych_paper.example "$$run" paper/example || exit 1; \
	done

.PHONY: hugepages
hugepages: ## Reserve 256 huge pages of 2 MiB for packet buffers until the next reboot (needs root).
	@bench/setup/hugepages.sh

##@ Building

.PHONY: build
build: nic bridge triptych c rust rust-unsafe applications ## Build the tools and the three drivers into build/bin/.

# What `make reproduce` measures on the software card. A real card's configuration, or a run that is continued, may name
# any variant, so those build all. Tools and drivers build side by side, because Cargo optimises a driver on one core.
.PHONY: measured measured-tools measured-drivers
measured:
	@printf '%s\n' measured-tools measured-drivers | xargs --max-procs 2 --max-args 1 $(MAKE)
measured-tools: nic bridge triptych
measured-drivers: c rust-forwarder rust-overflow-checks rust-unsafe-forwarder

build_tool = $(CARGO) build --quiet $(CARGO_TOOLS) --release --package $(1) --bin $(1) \
	&& $(call put,build/cargo/release/$(1),$(BIN)/$(1))

.PHONY: nic
nic: ## Build only the software 82599.
	@$(call step,the software 82599); $(call build_tool,nic)

.PHONY: bridge
bridge: ## Build only the library that lets VFIO programs run on the software 82599.
	@$(call step,the VFIO bridge); $(CARGO) build --quiet $(CARGO_TOOLS) --release --package bridge \
		&& $(call put,build/cargo/release/libtriptych_bridge.so,$(BIN)/libtriptych_bridge.so)

.PHONY: triptych
triptych: ## Build only the benchmark runner.
	@$(call step,the benchmark runner); $(call build_tool,triptych)

APPLICATIONS := balancer http kv node node-controller
# smoltcp needs a newer Rust than the drivers do.
APPLICATIONS_RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' bench/apps/Cargo.toml)
rust_is_new = printf '%s\n' "$(APPLICATIONS_RUST)" "$$($${RUSTC:-rustc} --version | cut -d ' ' -f 2)" | sort --version-sort --check=quiet

.PHONY: applications
applications: ## Build only the TCP/IP applications (needs Rust 1.91).
	@$(rust_is_new) || { echo "skipped: the applications need Rust $(APPLICATIONS_RUST)"; exit 0; }; \
	$(call step,the applications); $(CARGO) build --quiet $(CARGO_TOOLS) --release --package apps --bins \
		$(foreach app,$(APPLICATIONS),&& $(call put,build/cargo/release/$(app),$(BIN)/apps/$(app)))

.PHONY: code-size
code-size: ## Build only the tool that counts the drivers' lines of code.
	@$(call step,the counter of code lines); $(call build_tool,code-size)

# --- the C driver: build/bin/c/ixgbe-fwd and build/bin/c/libforwarder.so

C_LIBRARY := $(filter-out c/src/apps/%,$(wildcard c/src/*.c c/src/*/*.c))
C_PROGRAM := $(addprefix c/src/apps/,fwd.c pipeline_threads.c program.c queue_threads.c run.c threads.c)
# The first example is linked without rooms/: the driver needs nothing of it.
C_MINIMAL := $(filter-out c/src/rooms/% c/src/tuned/%,$(C_LIBRARY)) c/src/apps/forward_minimal.c
# The other programs: ixgbe-NAME is made of NAME.c, of what they share, and of these.
C_APPS := capture echo pktgen replay
APPS := forward-minimal $(C_APPS)
C_APP_capture := pcap_writer.c
C_APP_echo := echo_packet.c
C_APP_pktgen := flow_packet.c pcap_file.c token_bucket.c
C_APP_replay := pcap_file.c token_bucket.c
c_app = $(addprefix c/src/apps/,$(1).c port.c program.c run.c $(C_APP_$(1)))
C_PORTS := $(addprefix c/src/apps/,port.c ports.c program.c run.c stack_port.c)
C_TESTS := $(wildcard c/tests/*.c)
# For programs that are compiled at once, without an object for each file.
C_HEADERS := $(wildcard c/src/*.h c/src/*/*.h)
C_WARNINGS := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla
C_OPT := -O2
C_LTO := -flto
# On AArch64, -march takes an architecture, and -mcpu a processor.
C_CPU = $(if $(filter aarch64,$(ARCH)),-mcpu,-march)=$(TARGET_CPU)
# The flags that decide which code the compiler makes.
C_CODE = $(C_OPT) $(C_CPU) $(C_LTO)
C_FLAGS = -std=gnu11 $(C_CODE) -Ic/src $(C_WARNINGS) $(C_EXTRA)
# Only the functions that forwarder.h exports are visible, so that the compiler can inline the others as in the program.
C_SHARED := -fPIC -fvisibility=hidden
C_TEST_FLAGS := -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Ic/src $(C_WARNINGS)

# Prints a hash of the C compiler: of the program that CC names, which may be a wrapper, and of GCC's compiler proper.
# Versions do not tell a patched compiler from an unpatched one.
c_compiler_hash = { cat "$$(command -v $(firstword $(CC)))" "$$($(CC) -print-prog-name=cc1)" 2> /dev/null || true; } | \
	sha256sum | cut -d ' ' -f 1
c_compiler = $(c_compiler_hash) | sed 's/^/compiler /'

C_TEST_OBJECTS := $(patsubst c/src/%.c,build/c/test/%.o,$(C_LIBRARY))
C_TEST_PROGRAMS := $(patsubst c/tests/%.c,build/c/tests/%,$(C_TESTS))

# The project's version, for --version.
C_VERSION := -DTRIPTYCH_VERSION='"$(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"'

# GCC divides a large program at link time, and warns that it compiles the parts one after another. It need not divide.
C_WHOLE := $(if $(findstring clang,$(CC)),,-flto-partition=one)

# $(call c_build,OBJECTS,FOLDER,FLAGS) defines the rules that build a C driver in FOLDER, with its objects in OBJECTS.
# With -flto the compiler optimises at link time, so the link step uses the same flags. In CI a warning in the default
# build is an error. -Werror is not among FLAGS, because the results name those.
c_strict = $(if $(CI),$(if $(filter build/c,$(1)),-Werror))
define c_app_build
$(2)/ixgbe-$(4): $(patsubst c/src/%.c,$(1)/program/%.o,$(C_LIBRARY) $(call c_app,$(4)))
	@mkdir -p $$(@D)
	@$$(CC) $(call c_strict,$(1)) $(3) $(C_WHOLE) $$^ -o $$@


endef
define c_build
$(2)/ixgbe-fwd: $(patsubst c/src/%.c,$(1)/program/%.o,$(C_LIBRARY) $(C_PROGRAM))
	@mkdir -p $$(@D)
	@$$(CC) $(call c_strict,$(1)) $(3) $(C_WHOLE) $$^ -o $$@

$(2)/ixgbe-forward-minimal: $(patsubst c/src/%.c,$(1)/program/%.o,$(C_MINIMAL))
	@mkdir -p $$(@D)
	@$$(CC) $(call c_strict,$(1)) $(3) $(C_WHOLE) $$^ -o $$@

$(foreach app,$(C_APPS),$(call c_app_build,$(1),$(2),$(3),$(app)))
$(2)/libforwarder.so: $(patsubst c/src/%.c,$(1)/shared/%.o,$(C_LIBRARY))
	@mkdir -p $$(@D)
	@$$(CC) $(call c_strict,$(1)) $(3) $(C_SHARED) $(C_WHOLE) -shared $$^ -o $$@

# The ports for `triptych selftest`, apart from the forwarder, so that the forwarder's code stays as it is.
$(2)/libports.so: $(patsubst c/src/%.c,$(1)/shared/%.o,$(C_LIBRARY) $(C_PORTS))
	@mkdir -p $$(@D)
	@$$(CC) $(call c_strict,$(1)) $(3) $(C_SHARED) $(C_WHOLE) -shared $$^ -o $$@

# The file names the compiler and its flags. The objects depend on it, so a change of either rebuilds them.
$(2)/toolchain.txt: FORCE
	@{ $$(CC) --version | head -n 1 | tr '\n' ' '; echo '$(strip $(3))'; $$(c_compiler); } | $$(call put_text,$$@)

$(1)/program/apps/%.o: c/src/apps/%.c $(2)/toolchain.txt Cargo.toml
	@mkdir -p $$(@D)
	@$$(CC) $(call c_strict,$(1)) $(3) $$(C_VERSION) -MMD -MP -c $$< -o $$@

$(1)/program/%.o: c/src/%.c $(2)/toolchain.txt
	@mkdir -p $$(@D)
	@$$(CC) $(call c_strict,$(1)) $(3) -MMD -MP -c $$< -o $$@

$(1)/shared/%.o: c/src/%.c $(2)/toolchain.txt
	@mkdir -p $$(@D)
	@$$(CC) $(call c_strict,$(1)) $(3) $(C_SHARED) -MMD -MP -c $$< -o $$@

-include $(patsubst c/src/%.c,$(1)/program/%.d,$(sort $(C_LIBRARY) $(C_PROGRAM) $(C_MINIMAL) $(foreach app,$(C_APPS),$(call c_app,$(app)))))
-include $(patsubst c/src/%.c,$(1)/shared/%.d,$(C_LIBRARY) $(C_PORTS))
endef

# $(call driver_files,FOLDER) lists the files of a built driver.
driver_files = $(addprefix $(1)/,ixgbe-fwd libforwarder.so toolchain.txt)

.PHONY: FORCE
.PHONY: c c-files
c: ## Build only the C driver.
	@$(call step,the C driver); $(MAKE) c-files
c-files: $(call driver_files,$(BIN)/c) $(BIN)/c/libports.so $(APPS:%=$(BIN)/c/ixgbe-%)
$(eval $(call c_build,build/c,$(BIN)/c,$(C_FLAGS)))

build/c/test/%.o: c/src/%.c $(BIN)/c/toolchain.txt
	@mkdir -p $(@D)
	@$(CC) $(C_TEST_FLAGS) -MMD -MP -c $< -o $@

build/c/tests/%: c/tests/%.c $(C_TEST_OBJECTS)
	@mkdir -p $(@D)
	@$(CC) $(C_TEST_FLAGS) -MMD -MP $^ -o $@

-include $(C_TEST_OBJECTS:.o=.d) $(C_TEST_PROGRAMS:=.d)

# The C driver with sanitizers, for the hostile server.
build/hostile/c/ixgbe-fwd: $(C_PROGRAM) $(C_TEST_OBJECTS) $(C_HEADERS)
	@mkdir -p $(@D)
	@$(CC) $(C_TEST_FLAGS) $(C_VERSION) $(filter-out %.h,$^) -o $@

# The C driver under ThreadSanitizer, for the test of its threads.
build/thread/c/ixgbe-fwd: $(C_PROGRAM) $(C_LIBRARY) $(C_HEADERS)
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 -O1 -g -fsanitize=thread -Ic/src $(C_WARNINGS) $(C_VERSION) $(filter-out %.h,$^) -o $@

# The transpiled driver too. Its threads are those of the C library, which ThreadSanitizer knows. Safe Rust uses those of
# the standard library, which would have to be built with instrumentation (make test-sanitizers).
.PHONY: build/thread/rust-unsafe/ixgbe-fwd
build/thread/rust-unsafe/ixgbe-fwd:
	@mkdir -p $(@D)
	@SANITIZER=thread RUSTC_WORKSPACE_WRAPPER=rust/sanitize-rustc.sh $(CARGO) build --quiet $(CARGO_TOOLS) \
		--release --package ixgbe-unsafe --bin ixgbe-fwd-unsafe
	@$(call put,build/cargo/release/ixgbe-fwd-unsafe,$@)

# --- the Rust drivers: Cargo finds out what changed, so these goals always run it

# $(call build_rust,PROFILE,FOLDER,FEATURE) also builds the C interface, which is a crate of its own.
build_rust = $(call cargo_driver,build) $(1) --package ixgbe --package forwarder-abi-rust --lib --bin ixgbe-fwd \
	$(addprefix --features ixgbe/,$(3)) \
	&& $(call put,$(DRIVER_OUT)/$(1)/ixgbe-fwd,$(2)/ixgbe-fwd) \
	&& $(call put,$(DRIVER_OUT)/$(1)/libforwarder_abi_rust.so,$(2)/libforwarder.so) \
	&& { $(call rust_toolchain,$(1),$(3)); } | $(call put_text,$(2)/toolchain.txt)
# rustc optimises a library as a whole only if C is its only user, hence the separate `--crate-type cdylib`.
build_rust_unsafe = $(call cargo_driver,build) $(1) --package ixgbe-unsafe --bin ixgbe-fwd-unsafe \
	&& $(call cargo_driver,rustc) $(1) --package ixgbe-unsafe --lib --crate-type cdylib \
	&& $(call put,$(DRIVER_OUT)/$(1)/ixgbe-fwd-unsafe,$(2)/ixgbe-fwd) \
	&& $(call put,$(DRIVER_OUT)/$(1)/libixgbe_unsafe.so,$(2)/libforwarder.so) \
	&& { $(call rust_toolchain,$(1)); } | $(call put_text,$(2)/toolchain.txt)

# $(call build_apps,PACKAGE,SUFFIX,FOLDER) builds the other programs, whose names in the target folder end with SUFFIX.
build_apps = $(call cargo_driver,build) driver --package $(1) $(APPS:%=--bin ixgbe-%$(2)) \
	$(foreach app,$(APPS),&& $(call put,$(DRIVER_OUT)/driver/ixgbe-$(app)$(2),$(3)/ixgbe-$(app)))

.PHONY: rust rust-forwarder
rust: rust-forwarder ## Build only the safe Rust driver.
	@$(call step,the safe Rust programs); $(call cargo_driver,build) driver --package ports-abi-rust \
		&& $(call put,$(DRIVER_OUT)/driver/libports_abi_rust.so,$(BIN)/rust/libports.so) \
		&& $(call build_apps,ixgbe,,$(BIN)/rust)
rust-forwarder:
	@$(call step,the safe Rust driver); $(call build_rust,driver,$(BIN)/rust)

.PHONY: rust-unsafe rust-unsafe-forwarder
rust-unsafe: rust-unsafe-forwarder ## Build only the transpiled driver.
	@$(call step,the transpiled programs); $(call build_apps,ixgbe-unsafe,-unsafe,$(BIN)/rust-unsafe)
rust-unsafe-forwarder:
	@$(call step,the transpiled driver); $(call build_rust_unsafe,driver,$(BIN)/rust-unsafe) \
		&& $(call put,$(BIN)/rust-unsafe/libforwarder.so,$(BIN)/rust-unsafe/libports.so)

# --- variants of the drivers, in build/variants/<variant>/<implementation>/

# The compiler checks indices into arrays of known length and signed arithmetic. A violation executes a trap (ud2).
C_FLAGS_trapping-ubsan := $(C_FLAGS) -fsanitize=bounds,signed-integer-overflow -fsanitize-undefined-trap-on-error
# Distributions build C in this way: with checked calls of the C library and canaries before return addresses.
C_FLAGS_fortified := $(C_FLAGS) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
C_FLAGS_no-lto := $(filter-out -flto,$(C_FLAGS))
C_VARIANTS := trapping-ubsan fortified no-lto
# Cargo.toml defines a profile for each: driver-overflow-checks and driver-no-lto.
RUST_VARIANTS := overflow-checks no-lto
# Features of the safe driver that make a packet a slice: of the memory of a device that it trusts, or of a private copy.
RUST_FEATURES := trusted-device untrusted-device-copy

c_variant = $(call c_build,build/c/$(1),build/variants/$(1)/c,$(C_FLAGS_$(1)))
$(foreach variant,$(C_VARIANTS),$(eval $(call c_variant,$(variant))))

.PHONY: variants
variants: ## Build the variants of the drivers: overflow checks, slices, hardening, no LTO.
variants: variants-c rust-features $(addprefix rust-,$(RUST_VARIANTS)) $(addprefix rust-unsafe-,$(RUST_VARIANTS))

.PHONY: variants-c variants-c-files
variants-c:
	@$(call step,$(words $(C_VARIANTS)) variants of the C driver); $(MAKE) variants-c-files
variants-c-files: $(foreach variant,$(C_VARIANTS),$(call driver_files,build/variants/$(variant)/c))

.PHONY: $(addprefix rust-,$(RUST_VARIANTS)) $(addprefix rust-unsafe-,$(RUST_VARIANTS))
$(addprefix rust-,$(RUST_VARIANTS)): rust-%:
	@$(call step,the safe Rust driver (variant $*)); $(call build_rust,driver-$*,build/variants/$*/rust)

# One after the other, because both builds write the same files of one profile, which saves building the libraries twice.
.PHONY: rust-features
rust-features:
	@$(call step,the safe Rust driver ($(words $(RUST_FEATURES)) variants with packets as slices)); \
	$(foreach feature,$(RUST_FEATURES),$(call \
		build_rust,driver-features,build/variants/$(feature)/rust,$(feature)) &&) true

$(addprefix rust-unsafe-,$(RUST_VARIANTS)): rust-unsafe-%:
	@$(call step,the transpiled driver (variant $*)); $(call build_rust_unsafe,driver-$*,build/variants/$*/rust-unsafe)

# The drivers that check overflows, for the applications.
.PHONY: application-variants
application-variants: variants-c
	@$(MAKE) build/variants/trapping-ubsan/c/libports.so
	@$(call step,the checked drivers for the applications); $(MAKE) rust-overflow-checks rust-unsafe-overflow-checks \
		&& $(call cargo_driver,build) driver-overflow-checks --package ports-abi-rust \
		&& $(call put,$(DRIVER_OUT)/driver-overflow-checks/libports_abi_rust.so,build/variants/overflow-checks/rust/libports.so) \
		&& $(call put,build/variants/overflow-checks/rust-unsafe/libforwarder.so,build/variants/overflow-checks/rust-unsafe/libports.so)

# --- the drivers of other projects, in build/peers/
#
# PEERS_FROM=FOLDER takes the sources from git bundles in that folder instead of the public repositories. What cannot be
# had is named and skipped.
.PHONY: peers
peers: ## Build the paper's own drivers and DPDK's (PEERS_FROM=FOLDER: from git bundles).
	@bench/setup/setup.sh peers
	@$(MAKE) triptych
	@$(BIN)/triptych peers $(if $(PEERS_FROM),--from '$(PEERS_FROM)')

# `triptych peers` asks with this goal for the compilers and flags of the project's drivers.
.PHONY: peer-flags
peer-flags:
	@echo 'cc=$(CC)'
	@echo "cc_version=$$($(CC) --version | head -n 1)"
	@echo "cc_hash=$$($(c_compiler_hash))"
	@echo 'c=$(strip $(C_CODE) $(C_EXTRA))'
	@echo "rustc_version=$$($${RUSTC:-rustc} --version)"
	@echo "rustc_hash=$$(sha256sum < "$$(command -v "$${RUSTC:-rustc}")" | cut -d ' ' -f 1)"
	@echo 'rust=$(DRIVER_RUSTFLAGS)'

# --- one driver in $(INTO)/<implementation>/, with the compiler and the flags that the caller chooses
#
# `triptych compare` and `triptych asm` call these goals. For C the caller sets CC, C_OPT, C_LTO, C_EXTRA and TARGET_CPU.
# For Rust the caller sets RUSTUP_TOOLCHAIN or RUSTC, CARGO_PROFILE_DRIVER_* (in the environment), RUST_EXTRA and
# TARGET_CPU.
ifdef INTO
.PHONY: into-c into-rust into-rust-unsafe
into-c: $(call driver_files,$(INTO)/c)
$(eval $(call c_build,$(INTO)/objects,$(INTO)/c,$(C_FLAGS)))

into-rust:
	@$(call build_rust,driver,$(INTO)/rust)

into-rust-unsafe:
	@$(call build_rust_unsafe,driver,$(INTO)/rust-unsafe)
endif

##@ Generating sources

.PHONY: registers
registers: ## Generate the register headers from drivers/ixgbe/registers.toml.
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package ixgbe-registers --bin generate-registers

.PHONY: registers-compared
registers-compared: build ## Write drivers/REGISTERS-COMPARED.md: what Linux writes to the card, and what we write.
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package oracle

.PHONY: registers-compared-archive
registers-compared-archive: build ## Take Linux's register writes in a virtual machine, then compare.
	@TRIPTYCH_WRITE_ARCHIVE=1 $(CARGO) test --quiet $(CARGO_TOOLS) --release --package guest --test vm -- \
		writes_the_registers_that_the_archive_lists
	@$(MAKE) registers-compared

.PHONY: transpile
transpile: ## Generate rust-unsafe/src/gen/ from c/src/ (builds C2Rust if it is missing).
	@rust-unsafe/transpile.sh

##@ Installing

.PHONY: setup
setup: ## Install everything that building, testing and linting need.
	@bench/setup/setup.sh test lint

.PHONY: setup-compilers
setup-compilers: ## Install the C compilers and Rust toolchains that `make compilers` compares.
	@bench/setup/compilers.sh

.PHONY: python-lock
python-lock: ## Write the versions and hashes of all Python packages to paper/requirements*.txt.
	@bench/setup/python-lock.sh

.PHONY: setup-c2rust
setup-c2rust: ## Build the C2Rust transpiler into ~/.cache/triptych (minutes, 1 GB of packages).
	@bench/setup/c2rust.sh

##@ Testing

.PHONY: test
test: ## Run all tests that need neither a card nor a quiet machine.
	@bench/setup/setup.sh test
	@$(MAKE) build variants
	@.ci/checks

.PHONY: test-unit
test-unit: test-unit-rust test-unit-c test-unit-python ## Run only the unit tests of all three languages.

.PHONY: test-unit-rust
test-unit-rust:
	@without="$$($(rust_is_new) || echo '--exclude apps --exclude apps-hostile')"; \
	$(CARGO) test --quiet $(CARGO_TOOLS) --workspace --exclude conformance --exclude oracle \
		$$without --no-fail-fast

# Each file in c/tests/ becomes one program, built with sanitizers. Its exit status is the result of the test.
.PHONY: test-unit-c
test-unit-c: $(C_TEST_PROGRAMS)
	@passed=0; failed=0; \
	for test in $^; do \
		if "$$test"; then passed=$$((passed + 1)); else failed=$$((failed + 1)); echo "FAILED: $$test"; fi; \
	done; \
	echo "$$passed passed, $$failed failed"; [ "$$failed" -eq 0 ]

.PHONY: test-unit-python
test-unit-python:
	@$(PYTHON) -m pytest paper bench/setup/tests bench/lint/tests

.PHONY: test-conformance
test-conformance: build rust-features build/thread/c/ixgbe-fwd build/thread/rust-unsafe/ixgbe-fwd ## Test the three drivers against the software NIC.
	@$(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --package oracle --no-fail-fast

.PHONY: test-differs
test-differs: build ## Run the conformance tests on a NIC that differs from the model, as real cards may.
	@TRIPTYCH_HARDWARE=differs $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --no-fail-fast

# The tests of starting, stopping, links, write-backs and interrupts, one driver each.
.PHONY: test-differs-quick
test-differs-quick: build ## The same for the tests of start, stop and data path (2 minutes).
	@TRIPTYCH_HARDWARE=differs $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --no-fail-fast \
		--test hardware --test ending --test data_path --test selftest

# The tests of the default path that hold for other paths too. tests/paths.rs has what differs: batches end on a multiple
# of four, and the device reports every 32nd packet. Interrupts need a pool. The first accesses of safe Rust have other
# addresses, because it allocates more buffers. The agent drops nothing, and refills a ring only when packets are sent.
PATH_TESTS := $(addprefix --test ,data_path forwarding queues ending hardware failures hostile_server)
PATH_SKIPS := every_batch_size_is_exact a_vector_masks_itself servers_without_interrupts sent_descriptors_are_written_back \
	the_last_descriptors_are
tuned_SKIPS := all_implementations_set_up_rss_alike
agent_SKIPS := a_full_transmit_ring frames_of_every_size no_buffer_is_lost rings_of_every_size one_stalled_direction \
	a_signal_ends_a_run_that_cannot_send
.PHONY: test-paths
test-paths: build build/thread/c/ixgbe-fwd build/thread/rust-unsafe/ixgbe-fwd ## Run the tests of the default path on the tuned path and the agent, too (8 minutes).
	@$(foreach path,tuned agent,TRIPTYCH_PATH=$(path) $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance \
		--no-fail-fast $(PATH_TESTS) -- $(addprefix --skip ,$(PATH_SKIPS) $($(path)_SKIPS)) && ):

hostile_tool = $(CARGO) build --quiet $(CARGO_TOOLS) --release --package apps-hostile

.PHONY: test-apps
test-apps: build ## Test the applications with real clients, over each driver, in name spaces of their own.
	@$(rust_is_new) || { echo "skipped: the applications need Rust $(APPLICATIONS_RUST)"; exit 0; }; \
	$(hostile_tool) && $(PYTHON) -m pytest bench/apps/tests

# SEQUENCES=N sends so many to each application over each driver, and SEED=N the same ones again.
.PHONY: hostile-apps
hostile-apps: ## Send a million random sequences to each application over each driver (15 minutes).
	@bench/setup/setup.sh apps
	@$(MAKE) nic c rust rust-unsafe applications
	@$(hostile_tool)
	@$(CLIENTS).attack $(if $(DRIVER),--driver $(DRIVER)) $(if $(SEQUENCES),--sequences $(SEQUENCES)) $(if $(SEED),--seed $(SEED))

# Three tests write files that others read, so they run first, one at a time.
.PHONY: tour
tour: build ## Draw the ring diagrams of drivers/TOUR.md from a run, and update its lines and tables.
	@TRIPTYCH_UPDATE=1 $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --test rings --test tour -- \
		--test-threads=1 the_diagrams_show every_reference every_hazard
	@$(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --test rings --test tour

.PHONY: vm-test
vm-test: build ## Test drivers, tools and the stock ixgbe in virtual machines (downloads 160 MB once).
	@$(CARGO) test --quiet $(CARGO_TOOLS) --release --package guest --test vm

# The same profile as test-unit-rust, so that both share what cargo builds.
.PHONY: pmu-test
pmu-test: ## Test the perf backend on an emulated Arm processor's counters (downloads 130 MB once).
	@$(CARGO) test --quiet $(CARGO_TOOLS) --package pmu-guest --test pmu

.PHONY: arm-test
arm-test: ## Build for AArch64 and run the tests in an emulator (installs a cross compiler).
	@drivers/arm.sh all

.PHONY: arm-test-quick
arm-test-quick: ## Build for AArch64, check the barriers, and test the data path in an emulator.
	@drivers/arm.sh quick

.PHONY: safety-lab
safety-lab: ## Try every hazard on each driver, compare with the recorded outcomes, write results/.
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package safety-lab --bin safety -- run --results results
	@build/cargo/release/safety false-sharing

.PHONY: safety
safety: safety-lab

.PHONY: safety-lab-check
safety-lab-check: ## Try every hazard and compare the outcomes, without writing results.
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package safety-lab --bin safety -- run

.PHONY: test-verdict
test-verdict: nic triptych ## Check that `triptych verdict` notices a wrong ring wrap in the C driver.
	@status=0; $(BIN)/triptych verdict --quick --driver c \
		--patch drivers/conformance/safety/patches/drv-tx-ring-wrap/c.patch | tee build/verdict.txt || status=$$?; \
	[ "$$status" -eq 3 ] && grep -qE '^(data_path|register_trace): .* c  ' build/verdict.txt

.PHONY: hostile-programs
hostile-programs: build build/hostile/c/ixgbe-fwd
	@$(CARGO) build --quiet $(CARGO_TOOLS) --release --package hostile

# HOSTILE="--row areas --build rust" runs some of the scenarios.
.PHONY: hostile
hostile: hostile-programs ## Hold every driver against a lying card, and the card against a lying driver.
	@build/cargo/release/hostile $(HOSTILE)

.PHONY: test-hostile
test-hostile: hostile-programs ## The same in 90 seconds: each lie meets one driver, and the drivers take turns.
	@build/cargo/release/hostile --turns $(HOSTILE)

# PROGRAM="PATH {port0} {port1}" runs any program, EXPECT says what it does to a frame, FOREIGN gives other options.
.PHONY: foreign
foreign: build $(if $(PROGRAM)$(FOREIGN),,peers) ## Hold ixy, ixy.rs, DPDK or PROGRAM="PATH {port0} {port1}" against the card.
	@$(CARGO) build --quiet $(CARGO_TOOLS) --release --package foreign
	@build/cargo/release/foreign $(if $(PROGRAM),--program '$(PROGRAM)' $(if $(EXPECT),--expect '$(EXPECT)'),$(if \
		$(FOREIGN),,--page drivers/conformance/foreign/README.md)) $(FOREIGN)

.PHONY: registers-up-to-date
registers-up-to-date: ## Check that the register headers match registers.toml.
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package ixgbe-registers --bin generate-registers -- --check

.PHONY: transpile-up-to-date
transpile-up-to-date: ## Check that rust-unsafe/src/gen/ matches c/src/.
	@rust-unsafe/transpile.sh --check

.PHONY: test-oldest-rust
test-oldest-rust: ## Check that the Rust drivers build with the oldest supported Rust.
	@bench/setup/msrv.sh

.PHONY: test-bench-micro
test-bench-micro: build ## Check that every micro-benchmark runs, without measuring.
	@$(datapath) --test

.PHONY: test-ladder
test-ladder: build ## Check that every step of the ladder builds and the last one equals the shipped driver.
	@$(BIN)/triptych ladder --check
ifeq ($(ARCH),x86_64)
	@$(BIN)/triptych ladder --limit --check
endif

# Each step takes the place of the safe driver.
.PHONY: test-ladder-conformance
test-ladder-conformance: build ## Test every step of the ladder against the software NIC.
	@$(BIN)/triptych ladder --build
	@set -- build/ladder/*/bin; [ -d "$$1" ] || { echo "no step of the ladder is built"; exit 1; }; \
	for bin in "$$@"; do \
		echo "$$bin"; \
		TRIPTYCH_BUILD="$(CURDIR)/$${bin%/bin}" $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance \
			--test data_path --test register_trace --test pool_exhaustion --no-fail-fast rust::; \
	done

# Each step takes the place of the drivers that it has.
.PHONY: test-ladder-limit
test-ladder-limit: build ## Test every step of the ladder to the limit against the software NIC.
	@$(BIN)/triptych ladder --limit --build
	@set -- build/limit/*/bin; [ -d "$$1" ] || { echo "no step of the ladder is built"; exit 1; }; \
	for bin in "$$@"; do \
		echo "$$bin"; \
		TRIPTYCH_BUILD="$(CURDIR)/$${bin%/bin}" TRIPTYCH_PATH=tuned $(CARGO) test --quiet $(CARGO_TOOLS) --release \
			--package conformance --test data_path --no-fail-fast -- $(addprefix --skip ,$(PATH_SKIPS)); \
	done

.PHONY: budget
budget: build ## Check that no driver needs more instructions per packet than its budget.
ifeq ($(ARCH),x86_64)
	@$(BIN)/triptych run --budget bench/budget.toml
else
	@echo "skipped: bench/budget.toml has the instructions of x86-64, and this machine is $(ARCH)"
endif

.PHONY: nic-saturation
nic-saturation: build ## Check that the NIC keeps ahead of every driver (needs two idle processors).
	@TRIPTYCH_QUIET=1 $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --test saturation \
		--no-fail-fast -- --nocapture

.PHONY: test-sanitizers
test-sanitizers: ## Run the safe driver's tests under AddressSanitizer, memcheck and ThreadSanitizer.
	@rust/sanitize.sh address memcheck thread

.PHONY: test-sanitizers-quick
test-sanitizers-quick: ## Run the safe driver's tests under AddressSanitizer and memcheck, with few inputs.
	@rust/sanitize.sh --quick address memcheck

.PHONY: test-miri
test-miri: ## Run the safe driver's tests under Miri (TOOLCHAIN=nightly).
	@rust/sanitize.sh miri

FUZZ_SECONDS ?= 1800

.PHONY: fuzz
fuzz: ## Fuzz the NIC, drivers and applications: each of eight targets FUZZ_SECONDS long (1800).
	@drivers/fuzz.sh vfio_user_peer $(FUZZ_SECONDS)
	@drivers/fuzz.sh vfio_user_stream $(FUZZ_SECONDS)
	@drivers/fuzz.sh hostile_device $(FUZZ_SECONDS)
	@drivers/fuzz.sh vfio_user_server_c $(FUZZ_SECONDS)
	@drivers/fuzz.sh vfio_user_server_rust $(FUZZ_SECONDS)
	@drivers/fuzz.sh kv_requests $(FUZZ_SECONDS)
	@drivers/fuzz.sh http_requests $(FUZZ_SECONDS)
	@drivers/fuzz.sh node_frames $(FUZZ_SECONDS)

##@ Keeping the sources tidy

.PHONY: lint
lint: ## Check the formatting and run all linters; a warning is an error.
	@bench/setup/setup.sh lint
	@$(MAKE) --keep-going lint-c lint-rust lint-python lint-shell lint-rules

C_LINTED = $(filter-out c/src/driver/registers.h c/src/driver/device_ids.h,$(wildcard c/src/*.[ch] c/src/*/*.[ch] c/tests/*.[ch] \
	drivers/conformance/safety/programs/*.c))
PYTHON_LINTED := paper bench/setup/tests bench/lint bench/apps
SHELL_LINTED = $(wildcard bench/setup/*.sh perfcounters/pmu-guest/*.sh bench/ladder/*.sh rust-unsafe/*.sh drivers/*.sh rust/*.sh .ci/*)
CLANG := 19

.PHONY: lint-c
lint-c:
	@clang-format-$(CLANG) --dry-run -Werror $(C_LINTED)
	@$(CC) -fsyntax-only -Werror -std=gnu11 -Ic/src $(C_WARNINGS) $(filter %.c,$(C_LINTED))
	@clang-tidy-$(CLANG) --quiet $(filter %.c,$(C_LINTED)) -- -std=gnu11 -Ic/src

.PHONY: lint-rust
lint-rust:
	@$(CARGO) fmt --check
	@$(CARGO) clippy --quiet $(CARGO_TOOLS) --workspace --all-targets -- -D warnings

.PHONY: lint-python
lint-python:
	@$(PYTHON) -m ruff check --quiet $(PYTHON_LINTED)
	@$(PYTHON) -m ruff format --quiet --check $(PYTHON_LINTED)
	@for folder in $(PYTHON_LINTED); do $(PYTHON) -m mypy --no-error-summary "$$folder"; done

.PHONY: lint-shell
lint-shell:
	@shellcheck $(SHELL_LINTED)

# CHECKS: circles, sizes, words, sentences, weight, dependencies; all by default.
.PHONY: lint-rules
lint-rules: ## Check the project's own rules only (CHECKS=circles: one of them).
	@PYTHONPATH=bench/lint $(PYTHON) -m triptych_lint $(CHECKS)

.PHONY: format
format: ## Format all sources.
	@bench/setup/setup.sh lint
	clang-format-$(CLANG) -i $(C_LINTED)
	$(CARGO) fmt
	$(PYTHON) -m ruff check --quiet --fix $(PYTHON_LINTED)
	$(PYTHON) -m ruff format --quiet $(PYTHON_LINTED)

# The limit holds after `make build variants test`.
BUILD_SIZE_MB ?= 3200

.PHONY: build-size
build-size: ## Print how much disk space build/ takes, and fail above BUILD_SIZE_MB (3200).
	@[ -d build ] || { echo "there is no build/: run make build first"; exit 1; }
	@size="$$(du -sm build | cut -f 1)"; du -sm build/* | sort -rn | head -n 12; \
	echo "build/ takes $$size MB"; \
	[ "$$size" -le $(BUILD_SIZE_MB) ] || { \
		echo "build/ takes more than $(BUILD_SIZE_MB) MB: find out what grew, or run make clean"; exit 1; }

.PHONY: clean
clean: ## Remove build/, but keep results/.
	rm -rf build
