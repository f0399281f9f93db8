#!/bin/sh
# The first program in the guest of `make test ONLY=pmu-test`. It runs the checks, which print a line each, and powers off.
# The kernel's command line names the machine as machine=NAME.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
/bin/pmu-checks "$(sed -n 's/.*machine=\([^ ]*\).*/\1/p' /proc/cmdline)"
echo "init: the checks ended with status $?"
poweroff -f
