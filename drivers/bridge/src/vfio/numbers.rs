//! Numbers of VFIO and iommufd requests, from `<linux/vfio.h>` and `<linux/iommufd.h>`.

/// The type of both, in bits 8 to 15 of a request.
const TYPE: u64 = (b';' as u64) << 8;

/// Whether a request may be one of VFIO or iommufd: its type is theirs, and it has no size.
pub(crate) fn is_request(request: u64) -> bool {
    request & 0xffff_ff00 == TYPE
}

macro_rules! requests {
    ($($name:ident = $number:literal,)*) => {
        $(pub(crate) const $name: u64 = TYPE | $number;)*
    };
}

requests! {
    GET_API_VERSION = 100,
    CHECK_EXTENSION = 101,
    SET_IOMMU = 102,
    GROUP_GET_STATUS = 103,
    GROUP_SET_CONTAINER = 104,
    GROUP_UNSET_CONTAINER = 105,
    GROUP_GET_DEVICE_FD = 106,
    DEVICE_GET_INFO = 107,
    DEVICE_GET_REGION_INFO = 108,
    DEVICE_GET_IRQ_INFO = 109,
    DEVICE_SET_IRQS = 110,
    DEVICE_RESET = 111,
    // Devices and containers share the numbers 112 to 114.
    IOMMU_GET_INFO = 112,
    DEVICE_GET_PCI_HOT_RESET_INFO = 112,
    IOMMU_MAP_DMA = 113,
    DEVICE_PCI_HOT_RESET = 113,
    IOMMU_UNMAP_DMA = 114,
    DEVICE_BIND_IOMMUFD = 118,
    DEVICE_ATTACH_IOMMUFD_PT = 119,
    DEVICE_DETACH_IOMMUFD_PT = 120,
    IOMMU_DESTROY = 128,
    IOMMU_IOAS_ALLOC = 129,
    IOMMU_IOAS_ALLOW_IOVAS = 130,
    IOMMU_IOAS_COPY = 131,
    IOMMU_IOAS_IOVA_RANGES = 132,
    IOMMU_IOAS_MAP = 133,
    IOMMU_IOAS_UNMAP = 134,
    IOMMU_OPTION = 135,
}

/// Regions of a PCI device: the first that is no BAR.
pub(crate) const ROM_REGION: u32 = 6;
/// The configuration space.
pub(crate) const CONFIG_REGION: u32 = 7;
/// The legacy VGA range, which no network card has.
pub(crate) const VGA_REGION: u32 = 8;

/// Interrupt kinds of a PCI device.
pub(crate) const IRQ_INTX: u32 = 0;
pub(crate) const IRQ_ERR: u32 = 3;
pub(crate) const IRQ_REQ: u32 = 4;
pub(crate) const IRQ_KINDS: u32 = 5;
