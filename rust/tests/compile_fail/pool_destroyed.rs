//! A worker thread holds a packet while the program destroys the packet's pool.
//! error[E0505]: cannot move out of `pool` because it is borrowed
mod setup;

use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;
use ixgbe::rooms::pipeline::RemotePacket;
use ixgbe::vfio::Container;

fn destroy() -> Result<()> {
    let pool = Mempool::create(&Container::new(), 64)?;
    let packets: Vec<_> = setup::packets(&pool, 1).into_iter().map(RemotePacket::from).collect();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || packets.into_iter().all(|mut packet| packet.change_at(0, |_| 0xee)));
        #[cfg(mistake)]
        drop(pool);
        assert!(worker.join().unwrap_or(false));
    });
    #[cfg(not(mistake))]
    drop(pool);
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::finish(destroy())
}
