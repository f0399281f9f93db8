//! What to do with programs that the bridge cannot enter.

/// Where such programs run.
pub const WAY_ROUND: &str =
    "run it in the guest of `make vm-test`, whose own kernel gives it VFIO and the card";
