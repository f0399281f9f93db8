//! A whole NIC: ports, their sockets and threads, one data plane.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{eventfd, EventfdFlags};

use crate::config::{NicConfig, TraceTo};
use crate::control::ControlSocket;
use crate::data_plane::rounds::DataPlane;
use crate::device::card::Device;
use crate::device::shared::SharedDevice;
use crate::device::trace::{Trace, TraceEntry};
use crate::error::NicError;
use crate::port::Port;
use crate::socket::ListeningSocket;
use crate::threads::alarm::Alarm;
use crate::vfio_user::server;

/// A software 82599 with one or more ports, each served over vfio-user on its own socket.
///
/// Its control threads run from [`Nic::new`] on, so that drivers can connect. Its data plane does
/// not: either step it with [`Nic::data_plane`], or let it run with [`Nic::run_data_plane`].
/// Dropping the NIC disconnects drivers, ends its threads and removes its sockets.
#[derive(Debug)]
pub struct Nic {
    ports: Vec<Port>,
    data_plane: Mutex<Option<DataPlane>>,
    cpu: Option<usize>,
    trace: Option<Arc<Trace>>,
    /// Becomes readable, and stays so, when the control threads are to end.
    stop: OwnedFd,
    threads: Vec<JoinHandle<()>>,
}

impl Nic {
    /// Makes the devices, listens on their sockets and starts their control threads.
    pub fn new(config: NicConfig) -> Result<Self, NicError> {
        let os = |what| move |reason| NicError::Os { what, reason };
        config.check()?;
        std::fs::create_dir_all(&config.socket_dir).map_err(|reason| NicError::SocketDir {
            path: config.socket_dir.clone(),
            reason,
        })?;
        let trace = match &config.trace {
            TraceTo::Off => None,
            TraceTo::Memory => Some(Arc::new(Trace::in_memory())),
            TraceTo::File(path) => {
                let failed = |reason| NicError::Trace {
                    path: path.clone(),
                    reason,
                };
                Some(Arc::new(Trace::to_file(path).map_err(failed)?))
            }
        };
        let alarm = Arc::new(Alarm::default());
        let mut shared = Vec::new();
        for (index, port) in config.ports.iter().enumerate() {
            let device =
                Device::new(index, port.clone(), trace.clone()).map_err(os("register memory"))?;
            shared.push(Arc::new(SharedDevice::new(
                device,
                config.mmio,
                alarm.clone(),
                config.latency,
            )));
        }
        let stop =
            eventfd(0, EventfdFlags::CLOEXEC).map_err(|errno| os("eventfd")(errno.into()))?;
        let mut nic = Self {
            ports: Vec::new(),
            data_plane: Mutex::new(Some(DataPlane::new(&config, &shared))),
            cpu: config.cpu,
            trace,
            stop,
            threads: Vec::new(),
        };
        // All sockets first: a driver that finds one may count on the others.
        let mut sockets = Vec::new();
        for (index, shared) in shared.iter().enumerate() {
            let path = socket_path(&config.socket_dir, index);
            sockets.push(ListeningSocket::bind(&path)?);
            nic.ports.push(Port::new(index, path, shared.clone()));
        }
        for (index, (socket, shared)) in sockets.into_iter().zip(shared).enumerate() {
            let stop = nic.stop.try_clone().map_err(os("eventfd"))?;
            let thread =
                server::spawn(index, socket, shared, stop).map_err(os("control thread"))?;
            nic.threads.push(thread);
        }
        Ok(nic)
    }

    /// The ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// One port; nothing if there are not as many.
    pub fn port(&self, index: usize) -> Option<&Port> {
        self.ports.get(index)
    }

    /// Serves commands on a UNIX socket at `path`, until the handle is dropped: see
    /// [`ControlSocket`].
    pub fn serve_control(&self, path: &Path) -> Result<ControlSocket, NicError> {
        ControlSocket::new(path, self.ports.clone())
    }

    /// The data plane, to be stepped by the caller. There is one: the second time this is an error.
    pub fn data_plane(&self) -> Result<DataPlane, NicError> {
        let mut data_plane = self
            .data_plane
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        data_plane.take().ok_or(NicError::DataPlaneTaken)
    }

    /// Runs the data plane in a thread of its own, on the processor that the configuration names.
    /// It runs until the handle is dropped.
    pub fn run_data_plane(&self) -> Result<RunningDataPlane, NicError> {
        let mut data_plane = self.data_plane()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (told, cpu) = (stop.clone(), self.cpu);
        let (pinned, result) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("nic data plane".to_owned())
            .spawn(move || {
                let outcome = cpu.map_or(Ok(()), pin_to);
                let go = outcome.is_ok();
                // The starter waits for it; if it is gone, there is nobody to run for.
                if pinned.send(outcome).is_ok() && go {
                    data_plane.run(&told);
                }
                data_plane
            })
            .map_err(|reason| NicError::Os {
                what: "data plane thread",
                reason,
            })?;
        let running = RunningDataPlane {
            stop,
            thread: Some(thread),
        };
        match result.recv() {
            Ok(Err(reason)) => Err(NicError::Os {
                what: "pinning the data plane to its processor",
                reason,
            }),
            _ => Ok(running),
        }
    }

    /// The register accesses recorded in memory since the last time; see [`TraceTo::Memory`].
    pub fn take_trace(&self) -> Vec<TraceEntry> {
        self.trace
            .as_ref()
            .map(|trace| trace.take())
            .unwrap_or_default()
    }

    /// Writes the trace file out, as dropping the NIC also does, but without telling of errors.
    pub fn flush_trace(&self) -> Result<(), NicError> {
        match &self.trace {
            Some(trace) => trace
                .flush()
                .map_err(|(path, reason)| NicError::Trace { path, reason }),
            None => Ok(()),
        }
    }

    /// Disconnects drivers and ends the control threads: what dropping does, for who wants to read
    /// reports afterwards.
    pub fn stop(&mut self) {
        // Can only fail if the counter is full, and then it is readable.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        for thread in self.threads.drain(..) {
            // A control thread that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

impl Drop for Nic {
    fn drop(&mut self) {
        self.stop();
        let _ = self.flush_trace();
    }
}

/// A data plane in its own thread. Dropping it stops the thread, and waits for that.
#[derive(Debug)]
pub struct RunningDataPlane {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<DataPlane>>,
}

impl RunningDataPlane {
    /// Stops the thread and hands back the data plane, to be stepped by hand; nothing if the thread
    /// panicked.
    pub fn stop(mut self) -> Option<DataPlane> {
        self.join()
    }

    fn join(&mut self) -> Option<DataPlane> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for RunningDataPlane {
    fn drop(&mut self) {
        self.join();
    }
}

/// Where the socket of a port is.
fn socket_path(directory: &Path, port: usize) -> std::path::PathBuf {
    directory.join(format!("port{port}.sock"))
}

/// Lets the calling thread run on one processor only.
fn pin_to(cpu: usize) -> std::io::Result<()> {
    if cpu >= rustix::thread::CpuSet::MAX_CPU {
        return Err(std::io::Error::other(format!(
            "no processor has number {cpu}"
        )));
    }
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}
