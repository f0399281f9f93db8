//! The project's own C driver, if it is built: two traces are the same, also if the processor executes
//! every instruction of one.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

mod support;

use support::{built, Bench};
use tracer::{trace, Counts, Plan};

#[test]
fn two_traces_of_a_driver_are_the_same() {
    let Some(driver) = built("c/ixgbe-fwd") else {
        return;
    };
    let mut traces = [false, true].into_iter().map(|check| {
        let bench = Bench::start();
        let launch = bench.launch(&driver, &["--batch", "32"]);
        let start = std::time::Instant::now();
        let plan = Plan {
            warm: 0,
            check,
            ..Plan::default()
        };
        let traced = trace(&launch, &plan).unwrap();
        eprintln!("{:?} {:?}", start.elapsed(), Counts::of(&traced));
        traced
    });
    let (first, second) = (traces.next().unwrap(), traces.next().unwrap());
    assert_eq!(Counts::of(&first), Counts::of(&second));
    assert!(first.events == second.events);
    assert!(first.packets >= 1_024);
}
