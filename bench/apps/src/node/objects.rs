//! The objects of the node: its profile, and one device.

use super::frame::Object;

/// The node profile object.
pub const NODE_PROFILE: Object = [0x0e, 0xf0, 0x01];

/// A temperature sensor.
const SENSOR: Object = [0x00, 0x11, 0x01];

/// The properties that every node profile object has (specification, part 2, chapter 6.11, and the super class).
pub const MANDATORY: [u8; 12] = [
    0x80, 0x82, 0x83, 0x8a, 0x9d, 0x9e, 0x9f, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7,
];

/// The manufacturer code for those who have none.
const MANUFACTURER: [u8; 3] = [0xff, 0xff, 0xff];

/// An object with its properties: each code with its value. All can be read, and none be set.
struct Described {
    object: Object,
    properties: Vec<(u8, Vec<u8>)>,
}

/// The objects of the node.
pub struct Objects(Vec<Described>);

impl Objects {
    /// The objects of a node whose identity is `number`.
    pub fn new(number: [u8; 13]) -> Self {
        let identity = [&[0xfe], &MANUFACTURER[..], &number].concat();
        let instances = [&[1], &SENSOR[..]].concat();
        let profile = [
            // On.
            (0x80, vec![0x30]),
            // Version 1.14, format 1.
            (0x82, vec![0x01, 0x0e, 0x01, 0x00]),
            (0x83, identity),
            (0x8a, MANUFACTURER.to_vec()),
            // Changes that are announced, properties to set, properties to read: numbers and codes.
            (0x9d, vec![2, 0x80, 0xd5]),
            (0x9e, vec![0]),
            (0x9f, [&[MANDATORY.len() as u8], &MANDATORY[..]].concat()),
            // One instance; its class and that of the profile.
            (0xd3, vec![0, 0, 1]),
            (0xd4, vec![0, 2]),
            (0xd5, instances.clone()),
            (0xd6, instances),
            (0xd7, vec![1, SENSOR[0], SENSOR[1]]),
        ];
        let readable = [0x80, 0x81, 0x82, 0x88, 0x8a, 0x9d, 0x9e, 0x9f, 0xe0];
        let sensor = [
            (0x80, vec![0x30]),
            // Its place is not specified.
            (0x81, vec![0x00]),
            // Release R of the appendix.
            (0x82, vec![0x00, 0x00, b'R', 0x00]),
            // No fault.
            (0x88, vec![0x42]),
            (0x8a, MANUFACTURER.to_vec()),
            (0x9d, vec![3, 0x80, 0x81, 0x88]),
            (0x9e, vec![0]),
            (0x9f, [&[readable.len() as u8], &readable[..]].concat()),
            // 21.5 degrees Celsius, in tenths.
            (0xe0, 215_i16.to_be_bytes().to_vec()),
        ];
        let described = |object, properties: &[(u8, Vec<u8>)]| Described {
            object,
            properties: properties.to_vec(),
        };
        Self(vec![
            described(NODE_PROFILE, &profile),
            described(SENSOR, &sensor),
        ])
    }

    /// The object that a request means: the one, or the first of its class for instance 0.
    pub fn find(&self, wanted: Object) -> Option<Object> {
        let is_meant = |object: &Object| {
            object[..2] == wanted[..2] && (wanted[2] == 0 || object[2] == wanted[2])
        };
        self.0
            .iter()
            .map(|described| described.object)
            .find(is_meant)
    }

    /// The value of a property.
    pub fn read(&self, object: Object, epc: u8) -> Option<&[u8]> {
        let described = self.0.iter().find(|described| described.object == object)?;
        let mut properties = described.properties.iter();
        let found = properties.find(|(code, _)| *code == epc)?;
        Some(&found.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_has_the_mandatory_properties_and_no_other() {
        let objects = Objects::new([7; 13]);
        for epc in 0..=255 {
            let expected = MANDATORY.contains(&epc);
            assert_eq!(
                objects.read(NODE_PROFILE, epc).is_some(),
                expected,
                "{epc:#x}"
            );
        }
        assert_eq!(objects.read(NODE_PROFILE, 0x83).unwrap().len(), 17);
    }

    #[test]
    fn each_map_of_properties_lists_what_can_be_read() {
        let objects = Objects::new([7; 13]);
        for object in [NODE_PROFILE, SENSOR] {
            let map = objects.read(object, 0x9f).unwrap();
            assert_eq!(usize::from(map[0]), map.len() - 1);
            assert!(map[1..]
                .iter()
                .all(|epc| objects.read(object, *epc).is_some()));
        }
    }

    #[test]
    fn instance_0_means_all_of_a_class() {
        let objects = Objects::new([7; 13]);
        assert_eq!(objects.find([0x0e, 0xf0, 0x00]), Some(NODE_PROFILE));
        assert_eq!(objects.find([0x00, 0x11, 0x00]), Some(SENSOR));
        assert_eq!(objects.find([0x00, 0x11, 0x02]), None);
        assert_eq!(objects.find([0x01, 0x11, 0x00]), None);
    }
}
