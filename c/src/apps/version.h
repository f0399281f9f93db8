/*
 * The version of the project, for --version. The Makefile passes the version of Cargo.toml as
 * TRIPTYCH_VERSION. Under TRANSPILE, rust-unsafe/src/shim.rs defines the function.
 */
#ifndef IXGBE_VERSION_H
#define IXGBE_VERSION_H

#ifdef TRANSPILE

const char *project_version(void);

#else

#ifndef TRIPTYCH_VERSION
#define TRIPTYCH_VERSION "unknown"
#endif

static inline const char *project_version(void)
{
	return TRIPTYCH_VERSION;
}

#endif

#endif
