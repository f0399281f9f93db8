//! Which object a descriptor of the program is.

use crate::mmio::bars;
use crate::objects::{Id, Kind, Node};
use crate::say::trace;
use crate::state::State;
use crate::sys::Errno;

/// The object of a descriptor. A placeholder becomes an object at its first use.
pub(crate) fn object(state: &mut State, fd: i32) -> Result<Option<(Id, Kind)>, Errno> {
    if let Some(found) = state.objects.find(fd) {
        return Ok(Some(found));
    }
    match state.objects.placeholder(fd) {
        Some(node) => adopt(state, fd, node).map(Some),
        None => Ok(None),
    }
}

/// Makes the object of an open placeholder.
pub(crate) fn adopt(state: &mut State, fd: i32, node: Node) -> Result<(Id, Kind), Errno> {
    bars::forget_unmapped();
    state.release_closed();
    let (id, kind) = state.objects.adopt(fd, node)?;
    match node {
        Node::Container => state.open_container(id),
        Node::Group(number) => state.open_group(number, id)?,
        Node::Cdev(_) | Node::Iommufd => {}
    }
    trace(format_args!("{node:?} opened as descriptor {fd}"));
    Ok((id, kind))
}
