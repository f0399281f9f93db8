//! A whole NIC: its ports with their sockets and threads, and its data plane.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

use crate::config::{NicConfig, PortConfig};
use crate::control::ControlSocket;
use crate::data_plane::burst_report::{BurstReport, BurstTask};
use crate::data_plane::plane::DataPlane;
use crate::device::card::Device;
use crate::device::shared_device::SharedDevice;
use crate::device::trace::{Trace, TraceEntry};
use crate::error::NicError;
use crate::pcap::Failure;
use crate::port::Port;
use crate::socket::{ListeningSocket, Servers};
use crate::socket_folder;
use crate::threads::alarm::Alarm;
use crate::vfio_user::server::{Server, MAX_DESCRIPTORS};
use crate::wire::Wire;

/// Descriptors of the process besides those of its clients.
const OWN_DESCRIPTORS: usize = 128;

/// A software 82599 with one or more ports, each served over vfio-user on its own socket.
///
/// The control threads run from [`Nic::new`] on, so that drivers can connect. The data plane does
/// not: either step it with [`Nic::data_plane`], or run it with [`Nic::run_data_plane`]. Dropping
/// the NIC disconnects drivers, ends its threads and removes its sockets.
#[derive(Debug)]
pub struct Nic {
    ports: Vec<Port>,
    /// Each with its processor, until they are taken.
    data_planes: Mutex<Vec<(DataPlane, Option<usize>)>>,
    trace: Option<Arc<Trace>>,
    bursts: Option<BurstTask>,
    /// The first error of a wire.
    failure: Failure,
    /// A thread for each port.
    servers: Servers,
}

impl Nic {
    /// Makes the devices, listens on their sockets and starts their control threads.
    pub fn new(config: NicConfig) -> Result<Self, NicError> {
        config.check()?;
        socket_folder::open(&config.socket_dir)?;
        reserve_descriptors(config.ports.len());
        let trace = config.trace.as_ref().map(Trace::new).transpose()?;
        let trace = trace.map(Arc::new);
        let failure = Failure::default();
        let wires = config.ports.iter().map(|port| {
            let wire = port.wire.as_ref();
            wire.map(|to| Wire::open(to, &failure)).transpose()
        });
        let mut wires = wires.collect::<Result<Vec<_>, _>>()?;
        let devices = devices(&config, trace.as_ref()).map_err(NicError::os("register memory"))?;
        let bursts = config.bursts.clone().map(BurstTask::new);
        let planes = config.planes().into_iter().enumerate();
        let data_planes = planes.map(|(nth, members)| {
            let wires = members.iter().map(|port| wires[*port].take());
            let mut plane = DataPlane::new(&config, &devices, &members, wires.collect());
            plane.bursts.clone_from(&bursts);
            (
                plane,
                config.data_plane_cpus.get(nth).copied().or(config.cpu),
            )
        });
        let mut nic = Self {
            ports: Vec::new(),
            data_planes: Mutex::new(data_planes.collect()),
            trace,
            bursts,
            failure: failure.clone(),
            servers: Servers::new()?,
        };
        // All sockets come first, so that a driver that finds one finds the others too.
        let mut sockets = Vec::new();
        for (index, device) in devices.iter().enumerate() {
            let path = config.socket_dir.join(format!("port{index}.sock"));
            sockets.push(ListeningSocket::bind(&path)?);
            nic.ports.push(Port::new(index, path, device.clone()));
        }
        for (index, (socket, device)) in sockets.into_iter().zip(devices).enumerate() {
            nic.servers
                .start(format!("nic port {index}"), move |stop| {
                    Server::run(&socket, &device, stop);
                })?;
        }
        Ok(nic)
    }

    /// The ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The port with that number, if there is one.
    pub fn port(&self, index: usize) -> Option<&Port> {
        self.ports.get(index)
    }

    /// Serves commands on a UNIX socket at `path` until the handle is dropped; see
    /// [`ControlSocket`].
    pub fn serve_control(&self, path: &Path) -> Result<ControlSocket, NicError> {
        ControlSocket::new(path, self.ports.clone(), None)
    }

    /// Serves commands as [`Nic::serve_control`] does, and takes over the data plane: the card works
    /// only at the command `turn`. From now on it logs its DMA, and keeps the log until the next
    /// turn. The general path, which is slower, moves all frames then.
    pub fn serve_turns(&self, path: &Path) -> Result<ControlSocket, NicError> {
        let plane = self.data_plane()?;
        for port in &self.ports {
            let mut device = port.device();
            device.dma.table.log.switch(true);
            device.interrupts.clockless = true;
        }
        ControlSocket::new(path, self.ports.clone(), Some(plane))
    }

    /// The data plane, for the caller to step. There is only one: a second call is an error. So is a call
    /// if the configuration divides the ports among several.
    pub fn data_plane(&self) -> Result<DataPlane, NicError> {
        let mut data_planes = self.lock_data_planes();
        if data_planes.len() > 1 {
            return Err(NicError::SeveralDataPlanes);
        }
        let (data_plane, _cpu) = data_planes.pop().ok_or(NicError::DataPlaneTaken)?;
        Ok(data_plane)
    }

    fn lock_data_planes(&self) -> MutexGuard<'_, Vec<(DataPlane, Option<usize>)>> {
        self.data_planes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs each data plane in a thread of its own, on the processor that the configuration names.
    /// They run until the handle is dropped.
    pub fn run_data_plane(&self) -> Result<RunningDataPlane, NicError> {
        let data_planes = std::mem::take(&mut *self.lock_data_planes());
        if data_planes.is_empty() {
            return Err(NicError::DataPlaneTaken);
        }
        let mut running = RunningDataPlane {
            stop: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        for (data_plane, cpu) in data_planes {
            running.start(data_plane, cpu)?;
        }
        Ok(running)
    }

    /// The timed bursts so far, if the configuration wants some.
    pub fn bursts(&self) -> Option<BurstReport> {
        self.bursts.as_ref().map(|task| task.report().clone())
    }

    /// Whether all bursts are timed.
    pub fn bursts_done(&self) -> bool {
        self.bursts.as_ref().is_some_and(|task| task.report().done)
    }

    /// The register accesses recorded in memory since the last call; see
    /// [`TraceTo::Memory`](crate::TraceTo::Memory).
    pub fn take_trace(&self) -> Vec<TraceEntry> {
        let trace = self.trace.as_ref();
        trace.map(|trace| trace.take()).unwrap_or_default()
    }

    /// Writes the rest of the trace file. Dropping the NIC does so too, but ignores errors.
    pub fn flush_trace(&self) -> Result<(), NicError> {
        self.trace.as_ref().map_or(Ok(()), |trace| trace.flush())
    }

    /// The first error of a wire's files while frames moved. The files are complete when the data plane
    /// has been dropped.
    pub fn wire_failure(&self) -> Option<&NicError> {
        self.failure.get()
    }

    /// Disconnects drivers and ends the control threads, as dropping the NIC does. Reports remain
    /// readable afterwards.
    pub fn stop(&mut self) {
        self.servers.stop();
    }
}

impl Drop for Nic {
    fn drop(&mut self) {
        self.stop();
        let _ = self.flush_trace();
    }
}

/// Data planes, each in its own thread. Dropping it stops the threads and waits for their end.
#[derive(Debug)]
pub struct RunningDataPlane {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<DataPlane>>,
}

impl RunningDataPlane {
    fn start(&mut self, mut data_plane: DataPlane, cpu: Option<usize>) -> Result<(), NicError> {
        let stopping = self.stop.clone();
        let (pinned, result) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("nic data plane".to_owned());
        let thread = thread.spawn(move || {
            let outcome = cpu.map_or(Ok(()), pin_to);
            let go = outcome.is_ok();
            // The caller waits for the outcome. If it has gone, the data plane need not run.
            if pinned.send(outcome).is_ok() && go {
                data_plane.run(&stopping);
            }
            data_plane
        });
        self.threads
            .push(thread.map_err(NicError::os("data plane thread"))?);
        let pinned = result.recv().unwrap_or(Ok(()));
        pinned.map_err(NicError::os("pinning the data plane to its processor"))
    }

    /// Stops the threads and returns the last data plane, to be stepped by hand; `None` if its thread
    /// panicked.
    pub fn stop(mut self) -> Option<DataPlane> {
        self.join()
    }

    fn join(&mut self) -> Option<DataPlane> {
        self.stop.store(true, Ordering::Relaxed);
        let mut last = None;
        for thread in self.threads.drain(..) {
            last = thread.join().ok();
        }
        last
    }
}

impl Drop for RunningDataPlane {
    fn drop(&mut self) {
        self.join();
    }
}

/// Makes the device of each port. The ports of a data plane share an alarm.
pub(crate) fn devices(
    config: &NicConfig,
    trace: Option<&Arc<Trace>>,
) -> io::Result<Vec<Arc<SharedDevice>>> {
    let planes = config.planes();
    let alarms: Vec<_> = planes.iter().map(|_| Arc::new(Alarm::default())).collect();
    let make = |(index, port): (usize, &PortConfig)| {
        let plane = planes.iter().position(|members| members.contains(&index));
        let alarm = alarms[plane.unwrap_or_default()].clone();
        let device = Device::new(index, port.clone(), trace.cloned())?;
        let shared = SharedDevice::new(device, config.mmio, alarm, config.latency);
        Ok(Arc::new(shared))
    };
    config.ports.iter().enumerate().map(make).collect()
}

/// Raises this process's limit of descriptors, so that the clients of some ports cannot take those
/// that other ports need. Warns if the hard limit is too low.
fn reserve_descriptors(ports: usize) {
    let needed = (OWN_DESCRIPTORS + ports * MAX_DESCRIPTORS) as u64;
    let limit = getrlimit(Resource::Nofile);
    let highest = limit.maximum.unwrap_or(needed);
    if highest < needed {
        tracing::warn!(
            "the limit of open files is {highest}: hostile clients may need {needed}; raise the hard limit (`ulimit -Hn`)"
        );
    }
    let wanted = needed.min(highest);
    if limit.current.is_some_and(|current| current < wanted) {
        let (current, maximum) = (Some(wanted), limit.maximum);
        // Raising it up to the hard limit is always allowed.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}

/// Restricts the calling thread to one processor.
fn pin_to(cpu: usize) -> io::Result<()> {
    if cpu >= rustix::thread::CpuSet::MAX_CPU {
        let reason = format!("there is no processor {cpu}");
        return Err(io::Error::other(reason));
    }
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}
