// SPDX-License-Identifier: GPL-2.0

//! What `ethtool` asks of a device.
//!
//! C header: [`include/linux/ethtool.h`](srctree/include/linux/ethtool.h)

use super::device::{
    Device,
    Driver, //
};
use kernel::{
    ffi::{
        c_char,
        c_int, //
    },
    prelude::*, //
};
use ovpn_bindings as bindings;

const STRING_LEN: usize = bindings::ETH_GSTRING_LEN as usize;

/// The operations of a driver's devices.
pub(super) const fn ops<T: Driver>() -> bindings::ethtool_ops {
    bindings::ethtool_ops {
        get_drvinfo: Some(get_drvinfo::<T>),
        get_link: Some(bindings::ethtool_op_get_link),
        get_ts_info: Some(bindings::ethtool_op_get_ts_info),
        get_sset_count: Some(get_sset_count::<T>),
        get_strings: Some(get_strings::<T>),
        get_ethtool_stats: Some(get_stats::<T>),
        ..pin_init::zeroed()
    }
}

/// Copies `text`, cut to fit, with a NUL behind it.
fn copy_text(to: &mut [c_char], text: &str) {
    let end = to.len().saturating_sub(1);
    to.fill(0);
    for (to, from) in to.iter_mut().take(end).zip(text.bytes()) {
        // CAST: `c_char` is a byte.
        *to = from as c_char;
    }
}

/// # Safety
///
/// As the core calls it: `info` may be written to.
unsafe extern "C" fn get_drvinfo<T: Driver>(
    _dev: *mut bindings::net_device,
    info: *mut bindings::ethtool_drvinfo,
) {
    // SAFETY: The caller's promise.
    let info = unsafe { &mut *info };
    copy_text(&mut info.driver, T::NAME);
    copy_text(&mut info.bus_info, T::NAME);
}

/// # Safety
///
/// None beyond being called by the core.
unsafe extern "C" fn get_sset_count<T: Driver>(
    _dev: *mut bindings::net_device,
    set: c_int,
) -> c_int {
    // CAST: A few counters.
    match u32::try_from(set) {
        Ok(bindings::ethtool_stringset_ETH_SS_STATS) => T::COUNTERS.len() as c_int,
        _ => EOPNOTSUPP.to_errno(),
    }
}

/// # Safety
///
/// As the core calls it: `data` has room for as many strings as `get_sset_count` said.
unsafe extern "C" fn get_strings<T: Driver>(
    _dev: *mut bindings::net_device,
    set: u32,
    data: *mut u8,
) {
    if set != bindings::ethtool_stringset_ETH_SS_STATS {
        return;
    }
    for (index, name) in T::COUNTERS.iter().enumerate() {
        // SAFETY: The caller's promise.
        let slot: &mut [c_char; STRING_LEN] =
            unsafe { &mut *data.cast::<[c_char; STRING_LEN]>().add(index) };
        copy_text(slot, name);
    }
}

/// # Safety
///
/// As the core calls it: RTNL held, `data` has room for as many values as `get_sset_count` said.
unsafe extern "C" fn get_stats<T: Driver>(
    dev: *mut bindings::net_device,
    _stats: *mut bindings::ethtool_stats,
    data: *mut u64,
) {
    // SAFETY: Registered, hence with live private data.
    let dev = unsafe { Device::<T>::from_raw(dev) };
    for index in 0..T::COUNTERS.len() {
        // SAFETY: The caller's promise.
        unsafe { data.add(index).write(dev.data().counter(index)) };
    }
}
