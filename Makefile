# The project's commands. `make help` lists them; `.ci/part` lists the parts of the tests.
# All builds go to build/. The project compares the drivers, so the Makefile builds all three alike: each is optimised
# as one program for one processor family. C uses -flto, Rust uses lto = "fat" (profile `driver` in Cargo.toml).

MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
# What a goal needs is made in the order of its rule, so that setup-% comes first. Only C's programs compile side by side.
ifneq ($(MAKECMDGOALS),c-programs)
.NOTPARALLEL:
endif
# All goals of plain words, because many are folders, too.
.PHONY: FORCE $(shell sed -nE 's/^([a-z-]+( [a-z-]+)*):.*/\1/p' Makefile)

# drivers/arm.sh sets another architecture than this machine's. The processors are not native, because results stay
# comparable between machines, and because Valgrind 3.19 supports no AVX-512 and no SVE. cortex-a72 is ARMv8.0 without
# later extensions, so its code also runs on a Pi, a Graviton and an Apple processor.
ARCH ?= $(shell uname -m)
TARGET_CPU_x86_64 := haswell
TARGET_CPU_aarch64 := cortex-a72
TARGET_CPU ?= $(or $(TARGET_CPU_$(ARCH)),$(error the drivers are for x86_64 and aarch64, not for $(ARCH)))
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
BIN := build/bin
PYTHON := build/venv/bin/python
# CI fails if Cargo.lock does not match the Cargo.toml files.
CARGO_TOOLS := $(if $(CI),--locked) --target-dir build/cargo
cargo_build = cargo build --quiet $(CARGO_TOOLS) --release --package
# $(call step,WHAT) at the head of a recipe prints what the recipe builds and how long that took, if it takes long.
step = . bench/setup/step.sh '$(1)'
setup-%:
	@bench/setup/setup.sh $*

help:
	@sed -nE 's/^##@ /\n/p; s/^([a-z-]+):.*## /  make \1\t/p' Makefile | expand --tabs 20

##@ Getting results
# DEVICES="PORT PORT" measures with a real card instead, as bench/HARDWARE.md describes.
card_options = --config $(or $(CARD),bench/card.toml) $(DEVICES:%=--devices %) $(GENERATOR:%=--generator %) \
	$(if $(filter keep,$(CLOCKS)),--keep-clock,$(CLOCKS:%=--clock %))
reproduce_options = $(if $(DEVICES),$(card_options)) $(if $(QUICK),--quick)
reproduce: $(if $(DRY_RUN),triptych,measured) ## Measure, and print the paper's tables (DEVICES="PORT PORT": a real card; RESUME=1).
	@$(if $(DRY_RUN),exec $(BIN)/triptych run $(reproduce_options) --dry-run;) \
	$(MAKE) peers || echo 'reproduce: continuing without the peers that failed' >&2; \
	rm -f build/runs.txt; status=0; \
	$(BIN)/triptych run $(if $(RESUME),--retry-failed,$(reproduce_options)) --list-runs build/runs.txt || status=$$?; \
	[ ! -e build/runs.txt ] || while read -r run; do $(MAKE) table RUN="$$run"; done < build/runs.txt; \
	exit "$$status"
bench: setup-reproduce build variants ## Measure all that the report shows (QUICK=1: roughly; RESUME=1: continue a run).
	@$(BIN)/triptych run $(if $(RESUME),--resume,--config $(or $(MATRIX),bench/matrix$(if $(QUICK),-quick).toml))
compilers: ## Compare the drivers as several compilers build them (20 minutes; QUICK=1: 5 minutes).
	@bench/setup/compilers.sh
	@$(MAKE) nic triptych
	@$(BIN)/triptych compare --config bench/compilers$(if $(QUICK),-quick).toml
ladder: setup-reproduce build rust-variants ## Measure the cost of each safety feature (LIMIT=1: up to the tuned path).
	@.ci/part test-ladder-conformance $(if $(LIMIT),limit)
	@$(BIN)/triptych ladder $(if $(LIMIT),--limit)
	@$(if $(LIMIT),true,$(MAKE) table SECTION=ladder)
safety-lab: ## Try every mistake and attack on each driver, and compare with the recorded outcomes.
	@cargo run --quiet $(CARGO_TOOLS) --release --package safety-lab --bin safety -- run --results results
	@build/cargo/release/safety false-sharing
lab: triptych ## See the rings move: record the drivers and all hazards, and open the page (3 minutes).
	@$(BIN)/triptych lab page --output build/lab $(HAZARD:%=--hazard '%')
	@$(if $(CI),true,xdg-open build/lab/index.html 2>/dev/null || echo 'lab: open build/lab/index.html in a browser')
grade: ## Grade an exercise of drivers/exercises: N=3 IMPL=rust (HINT=1, SOLUTION=1, SEED=5).
	@$(if $(and $(N),$(IMPL)),,echo 'grade: which exercise, and in which language? make grade N=3 IMPL=rust' >&2; exit 2;) \
	$(cargo_build) exercises --bin grade && build/cargo/release/grade --exercise '$(N)' --impl '$(IMPL)' \
		$(HINT:%=--hint '%') $(if $(SOLUTION),--solution) $(SEED:%=--seed '%')

CLIENTS := PYTHONPATH=bench/apps:paper $(PYTHON) -m clients
apps_need := setup-apps nic c rust rust-unsafe applications
apps: $(apps_need) application-variants code-size ## Load the applications with real clients (15 minutes; QUICK=1: 2).
	@$(cargo_build) record --example facts
	@$(CLIENTS).measure $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) --nginx "$$(bench/setup/nginx.sh)"
try: $(apps_need) ## Try an application with clients of your own: APP=kv DRIVER=c (RUN="COMMAND": only that).
	@$(CLIENTS).try_app $(if $(APP),--application $(APP)) $(if $(DRIVER),--driver $(DRIVER)) $(if $(RUN),--run '$(RUN)')

PAPER := PYTHONPATH=paper $(PYTHON) -m triptych_paper
RUNS ?= $(or $(RUN),results/latest)
# A run or a machine by its folder, its id, or MACHINE/RUN.
run_folders = $(foreach run,$(RUNS),$(firstword $(wildcard $(run)/. results/$(run)/. results/*/$(run)/.) $(run)))
table: ## Print the tables of the newest run again, or of RUNS="ID ID".
	@$(PAPER).table $(run_folders) $(SECTION:%=--section %)
paper: setup-paper ## Write the report of the newest run, of RUNS="ID ID", or of machines: HTML, PDF, tables.
	@$(MAKE) code-size $(addsuffix /code.json,$(wildcard $(run_folders)))
	@$(PAPER).report $(run_folders)
# The first report of a run counts the lines of code. Later changes of the code do not alter the counts.
%/code.json: | code-size
	@$(BIN)/code-size --output $@
# Archives the newest runs in paper/example/, or only RUN.
paper-example: setup-paper
	@runs="$${RUN:-$$($(PAPER).example --newest results)}"; for run in $$runs; do \
		[ ! -e "$$run/samples.csv" ] || $(MAKE) paper RUN="$$run"; \
		$(PAPER).example "$$run" paper/example; \
	done
hugepages:
	@bench/setup/hugepages.sh

##@ Building
# Tools and drivers build side by side, because Cargo optimises a driver on one core.
side_by_side = printf '%s\n' '$(1)' '$(2)' | xargs --max-procs 2 --max-lines=1 $(MAKE)
build: ## Build the tools and the three drivers into build/bin/.
	@$(call side_by_side,nic bridge triptych applications,c rust rust-unsafe)
# What `make reproduce` measures. A real card's configuration, or a run that is continued, may name any variant.
measured: setup-reproduce $(if $(DEVICES)$(RESUME),build variants)
	@$(if $(DEVICES)$(RESUME),,$(call side_by_side,nic bridge triptych,c into-rust rust-overflow-checks into-rust-unsafe))

nic triptych code-size:
	@$(call step,the program $@); $(cargo_build) $@ --bin $@ && install -CD build/cargo/release/$@ $(BIN)/$@
bridge:
	@$(call step,the VFIO bridge); $(cargo_build) bridge \
		&& install -CD build/cargo/release/libtriptych_bridge.so $(BIN)/libtriptych_bridge.so
# smoltcp needs a newer Rust than the drivers do.
applications:
	@needed="$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' bench/apps/Cargo.toml)"; \
	printf '%s\n' "$$needed" "$$($${RUSTC:-rustc} --version | cut -d ' ' -f 2)" | sort --version-sort --check=quiet || \
		{ echo "skipped: the applications need Rust $$needed"; exit 0; }; \
	$(call step,the applications); $(cargo_build) apps --bins $(foreach app,balancer http kv node node-controller, \
		&& install -CD build/cargo/release/$(app) $(BIN)/apps/$(app))

# The drivers: into-c, into-rust and into-rust-unsafe build one forwarder and its library in $(INTO)/<implementation>/.
# The variants below and the runner set INTO and TARGET_CPU. For C they set CC, C_OPT, C_LTO and C_EXTRA, for Rust
# RUSTUP_TOOLCHAIN or RUSTC, PROFILE, FEATURE and RUST_EXTRA, and CARGO_PROFILE_DRIVER_* in the environment.
INTO ?= $(BIN)
APPS := forward-minimal capture echo pktgen replay
# One call of the compiler makes a C program or library of all its sources. The first example is linked without rooms/.
C_SOURCES := $(wildcard c/src/*.[ch] c/src/*/*.[ch])
C_LIBRARY := $(filter-out c/src/apps/%,$(filter %.c,$(C_SOURCES)))
c_app = $(C_LIBRARY) $(1:%=c/src/apps/%.c)
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
# The flags that decide which code the compiler makes. On AArch64, -march takes an architecture, and -mcpu a processor.
C_CODE = $(C_OPT) $(if $(filter aarch64,$(ARCH)),-mcpu,-march)=$(TARGET_CPU) $(C_LTO)
C_FLAGS = -std=gnu11 $(C_CODE) -Ic/src $(C_WARNINGS) $(C_EXTRA)
# GCC divides a large program at link time, and warns that it compiles the parts one after another. It need not divide.
C_ALWAYS := -DTRIPTYCH_VERSION='"$(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"' \
	$(if $(findstring clang,$(CC)),,-flto-partition=one)
# Versions do not tell a patched C compiler from an unpatched one. CC may be a wrapper of GCC's compiler proper.
c_compiler_hash = { cat "$$(command -v $(firstword $(CC)))" "$$($(CC) -print-prog-name=cc1)" 2> /dev/null || true; } | \
	sha256sum | cut -d ' ' -f 1

c:
	@$(call step,the C driver); $(MAKE) -j 2 c-programs
c-programs: into-c $(BIN)/c/libports.so $(APPS:%=$(BIN)/c/ixgbe-%)
into-c: $(INTO)/c/ixgbe-fwd $(INTO)/c/libforwarder.so
# A change of compiler or flags rebuilds the programs.
$(INTO)/c/toolchain.txt: FORCE
	@mkdir -p $(@D); { $(CC) --version | head -n 1 | tr '\n' ' '; echo '$(strip $(C_FLAGS))'; \
		$(c_compiler_hash) | sed 's/^/compiler /'; } > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
# In CI a warning in the default build is an error. The results do not name that flag. A library shows only its interface,
# so that the compiler can inline the other functions as in the program.
c_call = $(CC) $(if $(CI),$(if $(filter $(BIN),$(INTO)),-Werror)) $(C_FLAGS) $(C_ALWAYS) \
	$(if $(filter %.so,$*),-shared -fPIC -fvisibility=hidden)
# With a folder C_OBJECTS, each source becomes an object: GCC names profiles after objects, and two sources are named rx.c.
c_object = $(C_OBJECTS)/$(subst /,-,$(source)).o
$(addprefix $(INTO)/c/,ixgbe-fwd libforwarder.so libports.so $(APPS:%=ixgbe-%)): $(INTO)/c/%: $(INTO)/c/toolchain.txt $(C_SOURCES)
	@$(if $(C_OBJECTS),$(foreach source,$(C_OF_$*),$(c_call) -c $(source) -o $(c_object) &&)) \
		$(c_call) $(if $(C_OBJECTS),$(foreach source,$(C_OF_$*),$(c_object)),$(C_OF_$*)) -o $@
# With sanitizers: each file in c/tests/ is a program, and the hostile server meets the forwarder.
C_CHECKED := -fsanitize=address,undefined -fno-sanitize-recover=all
c_test = mkdir -p $(@D); $(CC) -std=gnu11 -O1 -g -Ic/src $(C_WARNINGS) $(C_ALWAYS) $(1) -o $@
c-tests: $(patsubst %.c,build/%,$(wildcard c/tests/*.c))
build/c/library.o: $(C_SOURCES)
	@$(call c_test,$(C_CHECKED) -r $(C_LIBRARY))
build/c/tests/%: c/tests/%.c c/tests/test.h build/c/library.o
	@$(call c_test,$(C_CHECKED) $< build/c/library.o)
build/hostile/c/ixgbe-fwd build/thread/c/ixgbe-fwd: $(C_SOURCES)
	@$(call c_test,$(if $(findstring thread,$@),-fsanitize=thread,$(C_CHECKED)) $(C_OF_ixgbe-fwd))

PROFILE ?= driver
DRIVER_RUSTFLAGS = $(strip -C target-cpu=$(TARGET_CPU) $(RUST_EXTRA))
# A compiler that RUSTC names has a folder of its own, because Cargo knows it only by its version, as `rustc -vV` prints it.
DRIVER_TARGET := build/cargo-driver$(if $(RUSTC),-$(shell sha256sum < "$$(command -v $(RUSTC))" | cut -c 1-12))
# RUST_TARGET names another kind of machine. Cargo then adds a folder.
DRIVER_OUT = $(DRIVER_TARGET)$(RUST_TARGET:%=/%)/$(PROFILE)
cargo_driver = RUSTFLAGS='$(DRIVER_RUSTFLAGS)' cargo $(1) --quiet $(if $(CI),--locked) --profile $(PROFILE) \
	$(RUST_TARGET:%=--target %) --target-dir $(DRIVER_TARGET) $(FEATURE:%=--features ixgbe/%)
# $(call put_driver,LIBRARY). toolchain.txt also has the environment's changes to the profile.
put_driver = install -CD $(DRIVER_OUT)/ixgbe-fwd$(UNSAFE) $(INTO)/rust$(UNSAFE)/ixgbe-fwd \
	&& install -CD $(DRIVER_OUT)/$(1) $(INTO)/rust$(UNSAFE)/libforwarder.so \
	&& { $${RUSTC:-rustc} --version; echo '--profile $(PROFILE) $(FEATURE:%=--features %)'; \
		env | sed -n 's/^CARGO_PROFILE_DRIVER_//p' | sort; echo '$(DRIVER_RUSTFLAGS)'; } | xargs \
		> $(INTO)/rust$(UNSAFE)/toolchain.txt \
	&& { cat "$$($${RUSTC:-rustc} --print sysroot)"/lib/librustc_driver-* 2> /dev/null \
		|| cat "$$(command -v "$${RUSTC:-rustc}")"; } | sha256sum | sed 's/ .*//; s/^/compiler /' \
		>> $(INTO)/rust$(UNSAFE)/toolchain.txt

# In the target folder, the names of the transpiled programs end with -unsafe.
rust-unsafe into-rust-unsafe: UNSAFE := -unsafe
rust: into-rust rust-ports
rust-unsafe: into-rust-unsafe
rust rust-unsafe:
	@$(call step,the programs in $(BIN)/$@); $(call cargo_driver,build) --package ixgbe$(UNSAFE) \
		$(APPS:%=--bin ixgbe-%$(UNSAFE)) $(foreach app,$(APPS), \
		&& install -CD $(DRIVER_OUT)/ixgbe-$(app)$(UNSAFE) $(BIN)/$@/ixgbe-$(app))
into-rust:
	@$(call step,the driver in $(INTO)/rust); \
	$(call cargo_driver,build) --package ixgbe --package forwarder-abi-rust --lib --bin ixgbe-fwd \
		&& $(call put_driver,libforwarder_abi_rust.so)
rust-ports:
	@$(call step,the ports in $(INTO)/rust); $(call cargo_driver,build) --package ports-abi-rust \
		&& install -CD $(DRIVER_OUT)/libports_abi_rust.so $(INTO)/rust/libports.so
# rustc optimises a library as a whole only if C is its only user, hence the separate `--crate-type cdylib`.
into-rust-unsafe:
	@$(call step,the driver in $(INTO)/rust-unsafe); \
	$(call cargo_driver,build) --package ixgbe-unsafe --bin ixgbe-fwd-unsafe \
		&& $(call cargo_driver,rustc) --package ixgbe-unsafe --lib --crate-type cdylib \
		&& $(call put_driver,libixgbe_unsafe.so) && install -CD $(INTO)/rust-unsafe/lib{forwarder,ports}.so

# $(call variant,NAME,GOAL,SETTINGS) builds in build/variants/<variant>/<implementation>/.
VARIANTS := build/variants
variant = $(MAKE) $(2) INTO=$(VARIANTS)/$(1) $(3)
# Overflow checks, slices, hardening, no LTO.
variants:
	@$(call side_by_side,variants-c,rust-variants rust-unsafe-variants)
# The compiler checks indices into arrays of known length, and signed arithmetic. A violation executes a trap (ud2).
TRAPPING = $(C_EXTRA) -fsanitize=bounds,signed-integer-overflow -fsanitize-undefined-trap-on-error
# Distributions fortify C in this way: with checked calls of the C library and canaries before return addresses.
variants-c:
	@$(call step,the variants of the C driver); \
	$(call variant,trapping-ubsan,into-c,C_EXTRA='$(TRAPPING)'); \
	$(call variant,fortified,into-c,C_EXTRA='$(C_EXTRA) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong'); \
	$(call variant,no-lto,into-c,C_LTO=)
rust-overflow-checks:
	@$(call variant,overflow-checks,into-rust,PROFILE=driver-overflow-checks)
# In the last two a packet is a slice: of the memory of a device that the driver trusts, or of a private copy.
rust-variants: rust-overflow-checks
	@$(call variant,no-lto,into-rust,PROFILE=driver-no-lto)
	@$(call variant,trusted-device,into-rust,PROFILE=driver-features FEATURE=trusted-device)
	@$(call variant,untrusted-device-copy,into-rust,PROFILE=driver-features FEATURE=untrusted-device-copy)
rust-unsafe-variants:
	@$(call variant,overflow-checks,into-rust-unsafe,PROFILE=driver-overflow-checks)
	@$(call variant,no-lto,into-rust-unsafe,PROFILE=driver-no-lto)
application-variants: variants-c rust-overflow-checks rust-unsafe-variants
	@$(call variant,trapping-ubsan,build/variants/trapping-ubsan/c/libports.so,C_EXTRA='$(TRAPPING)')
	@$(call variant,overflow-checks,rust-ports,PROFILE=driver-overflow-checks)

# bench/cluster/README.md: two boxes of Slurm on this machine, with faults.
cluster-test:
	@.ci/part test-cluster

peers: setup-peers triptych ## Build the paper's own drivers and DPDK's (PEERS_FROM=FOLDER: from git bundles).
	@$(BIN)/triptych peers $(if $(PEERS_FROM),--from '$(PEERS_FROM)')
# The runner asks with this goal for the compilers and flags of the project's drivers.
peer-flags:
	@echo 'cc = "$(CC)"'
	@echo "cc_version = '$$($(CC) --version | head -n 1)'"
	@echo 'c = "$(strip $(C_CODE) $(C_EXTRA))"'
	@echo "rustc_version = '$$($${RUSTC:-rustc} --version)'"
	@echo "hashes = '$$($(c_compiler_hash)) $$(sha256sum < "$$(command -v "$${RUSTC:-rustc}")")'"
	@echo 'rust = "$(DRIVER_RUSTFLAGS)"'

##@ Changing the sources
setup: ## Install everything that building, testing and linting need.
	@bench/setup/setup.sh test lint
generate: registers transpile tour ## Write what is generated: register headers, the transpiled driver, the tour's diagrams.
registers:
	@cargo run --quiet $(CARGO_TOOLS) --release --package ixgbe-registers --bin generate-registers
# Pages for readers, in build/docs/: the register map, and how the drivers differ from Linux.
docs:
	@cargo run --quiet $(CARGO_TOOLS) --release --package ixgbe-registers --bin generate-registers -- --page build/docs/registers.md
	@.ci/part registers-compared
transpile:
	@rust-unsafe/transpile.sh
# Three tests write files that others read, so they run first, one at a time.
conformance_tests = cargo test --quiet $(CARGO_TOOLS) --release --package conformance --test rings --test tour
tour: build
	@TRIPTYCH_UPDATE=1 $(conformance_tests) -- --test-threads=1 the_diagrams_show every_reference every_hazard
	@$(conformance_tests)

test: setup-test $(if $(ONLY),,build variants) ## Run all tests, without a card (ONLY=PART: one part of .ci/part).
	@$(if $(ONLY),for part in $(ONLY); do .ci/part "$$part"; done,.ci/checks)
C_LINTED = $(filter-out c/src/driver/registers.h c/src/driver/device_ids.h,$(C_SOURCES)) \
	$(wildcard c/tests/*.[ch] drivers/conformance/safety/programs/*.c)
CLANG = $(shell . bench/setup/versions.sh; echo $$CLANG)
lint: setup-lint ## Check the formatting and run all linters; a warning is an error.
	@$(MAKE) --keep-going lint-c lint-rust lint-python lint-shell lint-rules
lint-c:
	@clang-format-$(CLANG) --dry-run -Werror $(C_LINTED)
	@$(CC) -fsyntax-only -Werror -std=gnu11 -Ic/src $(C_WARNINGS) $(filter %.c,$(C_LINTED))
	@clang-tidy-$(CLANG) --quiet $(filter %.c,$(C_LINTED)) -- -std=gnu11 -Ic/src
lint-rust:
	@cargo fmt --check
	@cargo clippy --quiet $(CARGO_TOOLS) --workspace --all-targets -- -D warnings
	@said="$$(PATH="$${TRIPTYCH_CACHE:-$$HOME/.cache/triptych}/lint/bin:$$PATH" cargo machete 2>&1)" || { echo "$$said"; exit 1; }
lint-python:
	@$(PYTHON) -m ruff check --quiet
	@$(PYTHON) -m ruff format --quiet --check
	@for folder in paper bench/setup/tests bench/lint bench/apps bench/cluster; do $(PYTHON) -m mypy --no-error-summary "$$folder"; done
lint-shell:
	@shellcheck $$(git ls-files '*.sh' .ci)
lint-rules:
	@PYTHONPATH=bench/lint $(PYTHON) -m triptych_lint $(CHECKS)
# Formats all sources.
format: setup-lint
	clang-format-$(CLANG) -i $(C_LINTED)
	cargo fmt
	$(PYTHON) -m ruff check --quiet --fix
	$(PYTHON) -m ruff format --quiet
clean: ## Remove build/, but keep results/.
	rm -rf build
