//! Replacement policies, by the names of uops.info.

use serde::Deserialize;

/// Which line of a set a new line replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Policy {
    /// `LRU`: the line that was used longest ago.
    Lru,
    /// `PLRU`: a binary tree whose bits point away from the lines that were used last.
    TreePlru,
    /// `LRU3PLRU4`: three trees of four lines each; the tree that was used longest ago gives the victim.
    Lru3Plru4,
    /// `QLRU_…`: two bits of age per line.
    Qlru(Qlru),
}

/// The parameters of a policy with two bits of age per line, in the notation `QLRU_Hxy_Mz_Rr_Uu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qlru {
    /// The age that a hit gives a line of age 3 (`x`).
    pub hit_from_3: u8,
    /// The age that a hit gives a line of age 2 (`y`). Younger lines get age 0.
    pub hit_from_2: u8,
    /// The age of a new line (`z`).
    pub insert: u8,
    /// How the victim is found (`r`).
    pub victim: Victim,
    /// How the ages grow if no line has age 3 (`u`).
    ///
    /// 0: all by the same amount, so that the oldest gets 3. 1: the same without the accessed line. 2: all by 1.
    /// 3: the same without the accessed line.
    pub update: u8,
}

/// How a policy with ages finds the victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// `R0`: the leftmost line of age 3. Ages are updated until there is one.
    Leftmost,
    /// `R1`: the leftmost line of age 3, or the leftmost line if there is none.
    LeftmostOrFirst,
    /// `R2`: the rightmost line of age 3. Ages are updated until there is one.
    Rightmost,
}

/// A text that names no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no policy: give LRU, PLRU, LRU3PLRU4 or QLRU_Hxy_Mz_Rr_Uu (x: 0-2, y: 0-1, z: 0-3, r: 0-2, u: 0-3)")]
pub struct InvalidPolicy(String);

impl TryFrom<String> for Policy {
    type Error = InvalidPolicy;

    fn try_from(text: String) -> Result<Self, InvalidPolicy> {
        match text.as_str() {
            "LRU" => Ok(Policy::Lru),
            "PLRU" => Ok(Policy::TreePlru),
            "LRU3PLRU4" => Ok(Policy::Lru3Plru4),
            name => qlru(name).map(Policy::Qlru).ok_or(InvalidPolicy(text)),
        }
    }
}

fn qlru(name: &str) -> Option<Qlru> {
    let parts: Vec<&[u8]> = name
        .strip_prefix("QLRU_")?
        .split('_')
        .map(str::as_bytes)
        .collect();
    let [[b'H', x, y], [b'M', z], [b'R', r], [b'U', u]] = parts[..] else {
        return None;
    };
    let digit = |text: &u8, most: u8| text.checked_sub(b'0').filter(|digit| *digit <= most);
    Some(Qlru {
        hit_from_3: digit(x, 2)?,
        hit_from_2: digit(y, 1)?,
        insert: digit(z, 3)?,
        victim: match r {
            b'0' => Victim::Leftmost,
            b'1' => Victim::LeftmostOrFirst,
            b'2' => Victim::Rightmost,
            _ => return None,
        },
        update: digit(u, 3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_policies_are_read() {
        assert_eq!(Policy::try_from("LRU".to_owned()), Ok(Policy::Lru));
        assert_eq!(Policy::try_from("PLRU".to_owned()), Ok(Policy::TreePlru));
        let expected = Qlru {
            hit_from_3: 1,
            hit_from_2: 1,
            insert: 3,
            victim: Victim::LeftmostOrFirst,
            update: 2,
        };
        assert_eq!(
            Policy::try_from("QLRU_H11_M3_R1_U2".to_owned()),
            Ok(Policy::Qlru(expected))
        );
    }

    #[test]
    fn other_names_of_policies_are_refused() {
        for name in [
            "",
            "lru",
            "QLRU",
            "QLRU_H31_M1_R0_U0",
            "QLRU_H11_M4_R0_U0",
            "QLRU_H11_M1_R3_U0",
            "QLRU_H11_M1_R0",
        ] {
            assert!(Policy::try_from(name.to_owned()).is_err(), "{name}");
        }
    }
}
