#!/bin/sh
# What the guest of `make vm-test` starts first: mounts, modules, and then the agent, through which the tests on the
# host do everything else. The kernel's command line may say agent=PROGRAM, else it is a shell on the serial line.
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
    # ixgbe is loaded by the tests that want it.
    [ "$module" = ixgbe ] || insmod "/lib/modules/$module.ko" || echo "init: no $module"
done </lib/modules/order
agent="$(sed -n 's/.*agent=\([^ ]*\).*/\1/p' /proc/cmdline)"
"${agent:-/bin/sh}"
echo "init: ${agent:-/bin/sh} has ended with $?"
poweroff -f
