#!/bin/sh
# The first program in the guest of `make test ONLY=vm-test`. It mounts file systems, loads modules and starts the agent, which
# runs all further commands for the tests on the host. The kernel's command line names the agent as agent=PROGRAM.
# Without that argument, the script starts a shell on the serial line.
/bin/busybox mkdir -p /usr/bin /usr/sbin /sbin
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
hostname guest
ip link set lo up
while read -r module; do
    # The tests that need ixgbe load it themselves.
    [ "$module" = ixgbe ] || insmod "/lib/modules/$module.ko" || echo "init: cannot load $module"
done </lib/modules/order
agent="$(sed -n 's/.*agent=\([^ ]*\).*/\1/p' /proc/cmdline)"
"${agent:-/bin/sh}"
echo "init: ${agent:-/bin/sh} ended with status $?"
poweroff -f
