//! What programs read of the card in `/sys`.

use super::*;

fn identity() -> PortIdentity {
    let mut config = vec![0; 256];
    config[..12].copy_from_slice(&[0x86, 0x80, 0xfb, 0x10, 7, 0, 0x10, 0, 1, 0, 0, 2]);
    config[0x10] = 4;
    config[0x18] = 1;
    config[0x20] = 4;
    config[0x2c..0x30].copy_from_slice(&[0x86, 0x80, 3, 0]);
    PortIdentity {
        config,
        bars: [512 << 10, 0, 32, 0, 16 << 10, 0],
    }
}

fn made() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let port = |index: usize, group| Port {
        address: format!("0000:{:02x}:00.0", 3 + index),
        group,
        cdev: format!("vfio{index}"),
        socket: "/s".into(),
    };
    let config = Config {
        ports: vec![port(0, 23), port(1, 24)],
        memlock: None,
        placeholders: "/p".into(),
        address_width: 39,
    };
    let tree = Tree {
        bus: folder.path().join("bus/pci"),
        groups: folder.path().join("kernel/iommu_groups"),
    };
    tree.make(&config, &[identity(), identity()]).unwrap();
    folder
}

fn read(folder: &tempfile::TempDir, name: &str) -> String {
    let path = folder
        .path()
        .join("bus/pci/devices/0000:04:00.0")
        .join(name);
    fs::read_to_string(path).unwrap()
}

#[test]
fn ids_are_those_of_the_configuration_space() {
    let folder = made();
    for (name, value) in [
        ("vendor", "0x8086\n"),
        ("device", "0x10fb\n"),
        ("class", "0x020000\n"),
        ("revision", "0x01\n"),
        ("subsystem_device", "0x0003\n"),
        ("iommu/intel-iommu/cap", "260000\n"),
        (
            "modalias",
            "pci:v00008086d000010FBsv00008086sd00000003bc02sc00i00\n",
        ),
    ] {
        assert_eq!(read(&folder, name), value, "{name}");
    }
    assert!(read(&folder, "uevent").contains("PCI_CLASS=20000\nPCI_ID=8086:10FB\n"));
}

#[test]
fn bars_have_the_sizes_and_kinds_of_the_card() {
    let folder = made();
    let text = read(&folder, "resource");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), RESOURCES);
    assert_eq!(
        lines[0],
        "0x00000000f0100000 0x00000000f017ffff 0x0000000000140204"
    );
    assert_eq!(
        lines[2],
        "0x000000000000e020 0x000000000000e03f 0x0000000000040101"
    );
    assert_eq!(
        lines[4],
        "0x00000000f0180000 0x00000000f0183fff 0x0000000000140204"
    );
    let device = folder.path().join("bus/pci/devices/0000:04:00.0");
    assert_eq!(
        fs::metadata(device.join("resource0")).unwrap().len(),
        512 << 10
    );
    let config = fs::read(device.join("config")).unwrap();
    assert_eq!(config[0x10..0x14], 0xf010_0004_u32.to_le_bytes());
    assert_eq!(config[0x18..0x1c], 0xe021_u32.to_le_bytes());
}

#[test]
fn links_lead_to_the_group_and_the_driver() {
    let folder = made();
    let device = folder.path().join("bus/pci/devices/0000:04:00.0");
    let group = fs::canonicalize(device.join("iommu_group")).unwrap();
    assert_eq!(group.file_name().unwrap(), "24");
    let member = fs::canonicalize(group.join("devices/0000:04:00.0")).unwrap();
    assert_eq!(member, fs::canonicalize(&device).unwrap());
    let driver = fs::canonicalize(device.join("driver")).unwrap();
    assert_eq!(driver.file_name().unwrap(), "vfio-pci");
    assert_eq!(
        fs::canonicalize(driver.join("0000:04:00.0")).unwrap(),
        member
    );
}
