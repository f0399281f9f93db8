# Every command a person needs; `make help` lists them.
#
# Everything that is built lies in build/. The drivers are what is compared, so they are built alike: optimised as
# one program each, for one processor family, C with -flto and Rust with lto = "fat" (profile `driver`, Cargo.toml).

# haswell, not native: Valgrind 3.19 knows no AVX-512, and results stay comparable between machines.
TARGET_CPU ?= haswell
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
# In CI a Cargo.lock that does not belong to the Cargo.toml files is an error.
CARGO_FLAGS := $(if $(CI),--locked)
CARGO_TOOLS := $(CARGO_FLAGS) --target-dir build/cargo
# RUST_EXTRA and C_EXTRA: more flags, after all others.
DRIVER_RUSTFLAGS = $(strip -C target-cpu=$(TARGET_CPU) $(RUST_EXTRA))
DRIVER_TARGET := build/cargo-driver
cargo_driver = RUSTFLAGS='$(DRIVER_RUSTFLAGS)' $(CARGO) $(1) --quiet $(CARGO_FLAGS) --target-dir $(DRIVER_TARGET) --profile
# The compiler, the profile and what the environment changes in it, the flags.
rust_toolchain = { $${RUSTC:-rustc} --version; echo '--profile $(1)'; env | sed -n 's/^CARGO_PROFILE_DRIVER_//p' | sort; \
	echo '$(DRIVER_RUSTFLAGS)'; } | tr '\n' ' ' | sed 's/ *$$//' && echo

# $(call put,FROM,TO): copies if they differ, so that what depends on TO is not made anew for nothing.
put = mkdir -p $(dir $(2)) && { cmp -s $(1) $(2) || { cp $(1) $(2).new && mv $(2).new $(2); }; }
# $(call put_text,TO): the same with what is written to the standard input.
put_text = { mkdir -p $(dir $(1)); cat > $(1).new; cmp -s $(1).new $(1) && rm $(1).new || mv $(1).new $(1); }

##@ Getting results

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

.PHONY: reproduce
reproduce: ## the paper's tables, measured here (installs what is missing)
	@bench/setup/setup.sh reproduce
	@$(MAKE) build variants
	$(BIN)/triptych run
	@$(MAKE) table

# QUICK=1: a little of everything. RESUME=1: go on with the newest run that was interrupted.
MATRIX ?= bench/matrix$(if $(QUICK),-quick).toml

.PHONY: bench
bench: ## the whole matrix, for every table and figure (QUICK=1: in minutes, roughly; RESUME=1: goes on)
	@bench/setup/setup.sh reproduce
	@$(MAKE) build
	@$(MAKE) -j $(shell nproc) variants
	$(BIN)/triptych run $(if $(RESUME),--resume,--config $(MATRIX))

.PHONY: compilers
compilers: ## the drivers as several compilers build them (bench/compilers.toml), 20 minutes; QUICK=1: a few, 5 minutes
	@$(MAKE) nic triptych
	$(BIN)/triptych compare --config bench/compilers$(if $(QUICK),-quick).toml

.PHONY: compilers-deps
compilers-deps: ## install C compilers and Rust toolchains to compare, as far as this system's packages and rustup have them
	@bench/setup/compilers.sh

.PHONY: ladder
ladder: ## what each safety feature costs: steps from the transpiled driver to the safe one, built, tested, measured
	@bench/setup/setup.sh reproduce
	@$(MAKE) build
	@$(MAKE) ladder-conformance
	$(BIN)/triptych ladder
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.report.show results/latest ladder

# BASELINE=name keeps the figures under a name, AGAINST=name compares with them.
datapath = CRITERION_HOME=$(CURDIR)/build/criterion $(CARGO) bench --quiet $(CARGO_TOOLS) --package triptych \
	--bench datapath --

.PHONY: bench-micro
bench-micro: build ## cycles of forward, receive, send and pool alone; BASELINE=name keeps them, AGAINST=name compares
	@$(datapath) $(if $(BASELINE),--save-baseline $(BASELINE)) $(if $(AGAINST),--baseline $(AGAINST))

.PHONY: table
table: ## the tables of the newest run once more
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.table results/latest

RUN ?= results/latest

# Lines of code are counted once for each run, so that they are those of its sources and not of later ones.
.PHONY: paper
paper: ## report.html, report.pdf, all tables and figures of the newest run, or of RUN=results/ID
	@bench/setup/setup.sh paper
	@[ ! -d $(RUN) ] || [ -e $(RUN)/code.json ] || { \
		$(MAKE) code-size && $(BIN)/code-size --output $(RUN)/code.json; }
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.report $(RUN)

.PHONY: paper-example
paper-example: paper ## the same, and a copy of the run and some of its report into paper/example/
	@PYTHONPATH=paper $(PYTHON) -m triptych_paper.example $(RUN) paper/example

.PHONY: hugepages
hugepages: ## reserve 256 huge pages of 2 MiB (512 MiB) for packet buffers until the next reboot; needs root
	@bench/setup/hugepages.sh

##@ Building

.PHONY: build
build: nic triptych c rust rust-unsafe ## the tools and the three drivers, in build/bin/

.PHONY: setup
setup: ## install what building, testing and linting need
	@bench/setup/setup.sh test lint

build_tool = $(CARGO) build --quiet $(CARGO_TOOLS) --release --package $(1) --bin $(1) \
	&& $(call put,build/cargo/release/$(1),$(BIN)/$(1))

.PHONY: nic
nic: ## the software 82599
	@$(call build_tool,nic)

.PHONY: triptych
triptych: ## the benchmark runner
	@$(call build_tool,triptych)

.PHONY: code-size
code-size: ## what counts the drivers' lines
	@$(call build_tool,code-size)

# --- the C driver: build/bin/c/ixgbe-fwd and build/bin/c/libforwarder.so

C_LIBRARY := $(wildcard c/src/*.c)
C_PROGRAM := c/src/apps/fwd.c
C_TESTS := $(wildcard c/tests/*.c)
C_WARNINGS := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla
C_OPT := -O2
C_LTO := -flto
C_FLAGS = -std=gnu11 $(C_OPT) -march=$(TARGET_CPU) $(C_LTO) -Ic/src $(C_WARNINGS) $(C_EXTRA)
# Only the functions marked FORWARDER_API are visible, so that the rest can be inlined as in the program.
C_SHARED := -fPIC -fvisibility=hidden
C_TEST_FLAGS := -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Ic/src $(C_WARNINGS)

C_TEST_OBJECTS := $(patsubst c/src/%.c,build/c/test/%.o,$(C_LIBRARY))
C_TEST_PROGRAMS := $(patsubst c/tests/%.c,build/c/tests/%,$(C_TESTS))

# $(call c_build,OBJECTS,FOLDER,FLAGS): rules that make a C driver in FOLDER, its objects in OBJECTS. With -flto the
# compiler does its work when linking, so that is done with the same flags.
define c_build
$(2)/ixgbe-fwd: $(patsubst c/src/%.c,$(1)/program/%.o,$(C_LIBRARY) $(C_PROGRAM))
	@mkdir -p $$(@D)
	@$$(CC) $(3) $$^ -o $$@

$(2)/libforwarder.so: $(patsubst c/src/%.c,$(1)/shared/%.o,$(C_LIBRARY))
	@mkdir -p $$(@D)
	@$$(CC) $(3) $(C_SHARED) -shared $$^ -o $$@

# The compiler and its flags; the objects depend on it, so that a change of either makes them anew.
$(2)/toolchain.txt: FORCE
	@{ $$(CC) --version | head -n 1 | tr '\n' ' '; echo '$(strip $(3))'; } | $$(call put_text,$$@)

$(1)/program/%.o: c/src/%.c $(2)/toolchain.txt
	@mkdir -p $$(@D)
	@$$(CC) $(3) -MMD -MP -c $$< -o $$@

$(1)/shared/%.o: c/src/%.c $(2)/toolchain.txt
	@mkdir -p $$(@D)
	@$$(CC) $(3) $(C_SHARED) -MMD -MP -c $$< -o $$@

-include $(patsubst c/src/%.c,$(1)/program/%.d,$(C_LIBRARY) $(C_PROGRAM))
-include $(patsubst c/src/%.c,$(1)/shared/%.d,$(C_LIBRARY))
endef

# $(call driver_files,FOLDER): what makes up a driver.
driver_files = $(addprefix $(1)/,ixgbe-fwd libforwarder.so toolchain.txt)

.PHONY: FORCE
.PHONY: c
c: $(call driver_files,$(BIN)/c) ## the C driver
$(eval $(call c_build,build/c,$(BIN)/c,$(C_FLAGS)))

build/c/test/%.o: c/src/%.c $(BIN)/c/toolchain.txt
	@mkdir -p $(@D)
	@$(CC) $(C_TEST_FLAGS) -MMD -MP -c $< -o $@

build/c/tests/%: c/tests/%.c $(C_TEST_OBJECTS)
	@mkdir -p $(@D)
	@$(CC) $(C_TEST_FLAGS) -MMD -MP $^ -o $@

-include $(C_TEST_OBJECTS:.o=.d) $(C_TEST_PROGRAMS:=.d)

# --- the Rust drivers. Cargo knows what has changed, so it is always asked.

# $(call build_rust,PROFILE,FOLDER): also the C interface, which is a crate of its own.
build_rust = $(call cargo_driver,build) $(1) --package ixgbe --package forwarder-abi-rust --lib --bin ixgbe-fwd \
	&& $(call put,$(DRIVER_TARGET)/$(1)/ixgbe-fwd,$(2)/ixgbe-fwd) \
	&& $(call put,$(DRIVER_TARGET)/$(1)/libforwarder_abi_rust.so,$(2)/libforwarder.so) \
	&& { $(call rust_toolchain,$(1)); } | $(call put_text,$(2)/toolchain.txt)
# A library that is for Rust and for C at once is not optimised as a whole; as one for C alone, it is.
build_rust_unsafe = $(call cargo_driver,build) $(1) --package ixgbe-unsafe --bins \
	&& $(call cargo_driver,rustc) $(1) --package ixgbe-unsafe --lib --crate-type cdylib \
	&& $(call put,$(DRIVER_TARGET)/$(1)/ixgbe-fwd-unsafe,$(2)/ixgbe-fwd) \
	&& $(call put,$(DRIVER_TARGET)/$(1)/libixgbe_unsafe.so,$(2)/libforwarder.so) \
	&& { $(call rust_toolchain,$(1)); } | $(call put_text,$(2)/toolchain.txt)

.PHONY: rust
rust: ## the safe Rust driver
	@$(call build_rust,driver,$(BIN)/rust)

.PHONY: rust-unsafe
rust-unsafe: ## the transpiled driver
	@$(call build_rust_unsafe,driver,$(BIN)/rust-unsafe)

# --- the drivers built in other ways, in build/variants/<variant>/<implementation>/

# Indices into arrays of known length, and signed arithmetic, checked by the compiler; a violation is a trap (ud2).
C_FLAGS_sanitized := $(C_FLAGS) -fsanitize=bounds,signed-integer-overflow -fsanitize-undefined-trap-on-error
# What distributions build C with: checked calls of the C library, and canaries before return addresses.
C_FLAGS_fortified := $(C_FLAGS) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
C_FLAGS_no-lto := $(filter-out -flto,$(C_FLAGS))
C_VARIANTS := sanitized fortified no-lto
# Both are profiles in Cargo.toml: driver-overflow-checks, driver-no-lto.
RUST_VARIANTS := overflow-checks no-lto

c_variant = $(call c_build,build/c/$(1),build/variants/$(1)/c,$(C_FLAGS_$(1)))
$(foreach variant,$(C_VARIANTS),$(eval $(call c_variant,$(variant))))

.PHONY: variants
variants: ## the drivers built in other ways, in build/variants/ (overflow-checks, sanitized, fortified, no-lto)
variants: $(foreach variant,$(C_VARIANTS),$(call driver_files,build/variants/$(variant)/c)) \
	$(addprefix rust-,$(RUST_VARIANTS)) $(addprefix rust-unsafe-,$(RUST_VARIANTS))

.PHONY: $(addprefix rust-,$(RUST_VARIANTS)) $(addprefix rust-unsafe-,$(RUST_VARIANTS))
$(addprefix rust-,$(RUST_VARIANTS)): rust-%:
	@$(call build_rust,driver-$*,build/variants/$*/rust)

$(addprefix rust-unsafe-,$(RUST_VARIANTS)): rust-unsafe-%:
	@$(call build_rust_unsafe,driver-$*,build/variants/$*/rust-unsafe)

# --- one driver, built as the command line says, in $(INTO)/<implementation>/: what `triptych compare` and `triptych asm`
# call. CC, C_OPT, C_LTO, C_EXTRA and TARGET_CPU say how for C; RUSTUP_TOOLCHAIN or RUSTC, CARGO_PROFILE_DRIVER_* (in the
# environment), RUST_EXTRA and TARGET_CPU for Rust.
ifdef INTO
.PHONY: into-c into-rust into-rust-unsafe
into-c: $(call driver_files,$(INTO)/c)
$(eval $(call c_build,$(INTO)/objects,$(INTO)/c,$(C_FLAGS)))

into-rust:
	@$(call build_rust,driver,$(INTO)/rust)

into-rust-unsafe:
	@$(call build_rust_unsafe,driver,$(INTO)/rust-unsafe)
endif

##@ Generated sources

.PHONY: registers
registers: ## write the register headers anew from drivers/ixgbe/registers.toml
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package ixgbe-registers --bin generate-registers

.PHONY: registers-check
registers-check: ## are the register headers up to date?
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package ixgbe-registers --bin generate-registers -- --check

.PHONY: transpile
transpile: ## write rust-unsafe/src/gen/ anew from c/src/ (builds c2rust if it is missing)
	@rust-unsafe/transpile.sh

.PHONY: transpile-check
transpile-check: ## is rust-unsafe/src/gen/ up to date?
	@rust-unsafe/transpile.sh --check

.PHONY: c2rust
c2rust: ## build the C2Rust transpiler, in ~/.cache/triptych (some minutes, installs 1 GB of packages)
	@bench/setup/c2rust.sh

##@ Checking

.PHONY: test
test: ## all tests (installs what is missing)
	@bench/setup/setup.sh test
	@$(MAKE) build variants
	@.ci/checks

.PHONY: unit
unit: unit-rust unit-c unit-python ## only the unit tests

.PHONY: unit-rust
unit-rust:
	@$(CARGO) test --quiet $(CARGO_TOOLS) --workspace --exclude conformance --exclude guest --no-fail-fast
	@$(CARGO) test --quiet $(CARGO_TOOLS) --package guest --lib --bins

# One program for each file in c/tests/, with the sanitizers; its exit status says whether it passed.
.PHONY: unit-c
unit-c: $(C_TEST_PROGRAMS)
	@passed=0; failed=0; \
	for test in $^; do \
		if "$$test"; then passed=$$((passed + 1)); else failed=$$((failed + 1)); echo "FAILED: $$test"; fi; \
	done; \
	echo "$$passed passed, $$failed failed"; [ "$$failed" -eq 0 ]

.PHONY: unit-python
unit-python:
	@$(PYTHON) -m pytest paper bench/setup/tests bench/lint/tests

.PHONY: conformance
conformance: build ## the three drivers against the software NIC
	@$(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --no-fail-fast

# Each rung takes the place of the safe driver.
.PHONY: ladder-conformance
ladder-conformance: build ## every step of the ladder against the software NIC: data path, register accesses, empty pool
	@$(BIN)/triptych ladder --build
	@set -- build/ladder/*/bin; [ -d "$$1" ] || { echo "no step of the ladder is built"; exit 1; }; \
	for bin in "$$@"; do \
		echo "$$bin"; \
		TRIPTYCH_BUILD="$(CURDIR)/$${bin%/bin}" $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance \
			--test data_path --test register_trace --test pool_exhaustion --no-fail-fast rust::; \
	done

.PHONY: ladder-check
ladder-check: build ## do all patches of the ladder apply and compile, and is its end the shipped driver, by instructions?
	@$(BIN)/triptych ladder --check

.PHONY: msrv
msrv: ## do the Rust drivers build with the oldest Rust that they are written for?
	@bench/setup/msrv.sh

.PHONY: bench-micro-check
bench-micro-check: build ## does every micro-benchmark run? No figures
	@$(datapath) --test

FUZZ_SECONDS ?= 1800

.PHONY: fuzz
fuzz: ## hostile drivers against the NIC, then hostile devices against the safe driver, FUZZ_SECONDS (1800) each
	@drivers/fuzz.sh vfio_user_peer $(FUZZ_SECONDS)
	@drivers/fuzz.sh hostile_device $(FUZZ_SECONDS)

.PHONY: sanitize
sanitize: ## the safe driver's tests under AddressSanitizer, memcheck and ThreadSanitizer, the NIC's under the last
	@rust/sanitize.sh address memcheck thread

.PHONY: sanitize-check
sanitize-check: ## the driver's under AddressSanitizer and memcheck, in short
	@rust/sanitize.sh --quick address memcheck

.PHONY: miri
miri: ## the safe driver's tests under Miri, in the toolchain TOOLCHAIN (nightly)
	@rust/sanitize.sh miri

.PHONY: vm-test
vm-test: build ## drivers, tools and the stock ixgbe in virtual machines with the software NIC (fetches QEMU, 160 MB)
	@$(CARGO) test --quiet $(CARGO_TOOLS) --release --package guest --test vm

.PHONY: safety
safety: ## hazards against each driver: what they come to, compared with what is recorded, in results/
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package safety-lab --bin safety -- run --results results

.PHONY: safety-check
safety-check: ## the same, compared only
	@$(CARGO) run --quiet $(CARGO_TOOLS) --release --package safety-lab --bin safety -- run

.PHONY: saturation
saturation: build ## does the software NIC keep ahead of every driver? Needs two quiet processors
	@TRIPTYCH_QUIET=1 $(CARGO) test --quiet $(CARGO_TOOLS) --release --package conformance --test saturation \
		--no-fail-fast -- --nocapture

.PHONY: budget
budget: build ## does any driver need more instructions per packet than it may?
	@$(BIN)/triptych budget

.PHONY: lint
lint: ## formatters and linters of all languages, warnings are errors (installs what is missing)
	@bench/setup/setup.sh lint
	@$(MAKE) --keep-going lint-c lint-rust lint-python lint-shell

C_LINTED = $(filter-out c/src/registers.h c/src/device_ids.h,$(wildcard c/src/*.[ch] c/src/apps/*.[ch] c/tests/*.[ch] \
	drivers/conformance/safety/programs/*.c))
PYTHON_LINTED := paper bench/setup/tests bench/lint
SHELL_LINTED = $(wildcard bench/setup/*.sh bench/ladder/*.sh rust-unsafe/*.sh drivers/*.sh rust/*.sh .ci/*)
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
lint-rules: ## check the project's own rules: import circles, sizes, English, weight, licences (CHECKS=circles: only that)
	@PYTHONPATH=bench/lint $(PYTHON) -m triptych_lint $(CHECKS)

.PHONY: circles
circles: ## list the circles of files that import each other
	@$(MAKE) lint-rules CHECKS=circles

.PHONY: format
format: ## format all sources
	@bench/setup/setup.sh lint
	clang-format-$(CLANG) -i $(C_LINTED)
	$(CARGO) fmt
	$(PYTHON) -m ruff check --quiet --fix $(PYTHON_LINTED)
	$(PYTHON) -m ruff format --quiet $(PYTHON_LINTED)

.PHONY: clean
clean: ## remove build/ (not results/)
	rm -rf build
