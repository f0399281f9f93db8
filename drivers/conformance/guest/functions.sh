# What the scripts of the tests use in the guest. The agent reads it before each script.
# shellcheck shell=sh

# driver PCI, group PCI, net PCI: the driver, the IOMMU group and the network interface of a device.
driver() { basename "$(readlink "/sys/bus/pci/devices/$1/driver")"; }
group() { basename "$(readlink "/sys/bus/pci/devices/$1/iommu_group")"; }
net() { ls "/sys/bus/pci/devices/$1/net"; }

# bind PCI DRIVER: binds a device to a driver, and unbinds its previous one.
bind() {
    echo "$2" >"/sys/bus/pci/devices/$1/driver_override"
    [ ! -e "/sys/bus/pci/devices/$1/driver" ] || echo "$1" >"/sys/bus/pci/devices/$1/driver/unbind"
    echo "$1" >/sys/bus/pci/drivers_probe
    [ "$(driver "$1")" = "$2" ]
}

# load_ixgbe: loads the kernel's driver, unless it is loaded.
load_ixgbe() { grep -q ^ixgbe /proc/modules || insmod /lib/modules/ixgbe.ko; }

# pages NUMBER: reserves huge pages.
pages() { echo "$1" >/proc/sys/vm/nr_hugepages; }

# await SECONDS COMMAND...: runs a command until it succeeds.
await() {
    left=$(($1 * 10))
    shift
    until "$@"; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        sleep 0.1
    done
}
