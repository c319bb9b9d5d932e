// SPDX-License-Identifier: GPL-2.0

//! Kinds of links, as in `ip link add type KIND`.
//!
//! C header: [`include/net/rtnetlink.h`](srctree/include/net/rtnetlink.h)

use super::{
    device::{
        self,
        Device,
        Driver,
        Setup, //
    },
    netlink::{
        Attr,
        Policy,
        Writer, //
    },
};
use core::marker::PhantomData;
use kernel::{
    error::{
        from_result,
        to_result, //
    },
    ffi::c_int,
    prelude::*,
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// A driver whose devices are created over rtnetlink.
pub trait Link: Driver {
    /// The kind.
    const KIND: &'static CStr;

    /// Policy of the attributes in `IFLA_INFO_DATA`, by number.
    const POLICY: &'static [Policy];

    /// Bytes that [`Link::fill_info`] needs at most.
    const INFO_SIZE: usize;

    /// The private data of a new device. RTNL, may sleep.
    fn new(attrs: LinkAttrs<'_>) -> impl PinInit<Self, Error>;

    /// Writes the attributes of `IFLA_INFO_DATA` for a dump. RTNL.
    fn fill_info(&self, info: &mut Writer<'_>) -> Result;
}

/// The attributes that a new link was asked for with, checked against [`Link::POLICY`].
pub struct LinkAttrs<'a> {
    attrs: &'a [*mut bindings::nlattr],
}

impl<'a> LinkAttrs<'a> {
    /// The attribute of that number.
    pub fn get(&self, number: u32) -> Option<&'a Attr> {
        let attr = self.attrs.get(number as usize)?;
        // SAFETY: Null, or an attribute in the request.
        unsafe { Attr::from_raw(*attr) }
    }
}

/// Registers a kind of link for as long as it exists.
///
/// # Invariants
///
/// `ops` is registered.
#[pin_data(PinnedDrop)]
pub struct Registration<T: Link> {
    #[pin]
    ops: Opaque<bindings::rtnl_link_ops>,
    _link: PhantomData<fn() -> T>,
}

// SAFETY: Only registered and unregistered, which the core locks.
unsafe impl<T: Link> Send for Registration<T> {}
// SAFETY: As above.
unsafe impl<T: Link> Sync for Registration<T> {}

impl<T: Link> Registration<T> {
    /// Registers the kind. Process context.
    ///
    /// # Errors
    ///
    /// `EEXIST` if there is one of that name.
    pub fn new() -> impl PinInit<Self, Error> {
        // INVARIANT: Registered if this succeeds.
        try_pin_init!(Self {
            ops <- Opaque::try_ffi_init(|ops: *mut bindings::rtnl_link_ops| {
                let table = bindings::rtnl_link_ops {
                    kind: T::KIND.as_char_ptr(),
                    priv_size: device::private_size::<T>(),
                    setup: Some(setup::<T>),
                    // CAST: A few attributes.
                    maxtype: T::POLICY.len().saturating_sub(1) as u32,
                    policy: T::POLICY.as_ptr().cast(),
                    newlink: Some(newlink::<T>),
                    get_size: Some(get_size::<T>),
                    fill_info: Some(fill_info::<T>),
                    ..pin_init::zeroed()
                };
                // SAFETY: The slot is ours to initialise, and does not move until it is
                // unregistered.
                unsafe {
                    ops.write(table);
                    to_result(bindings::rtnl_link_register(ops))
                }
            }),
            _link: PhantomData,
        }? Error)
    }
}

#[pinned_drop]
impl<T: Link> PinnedDrop for Registration<T> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: By the type invariant.
        unsafe { bindings::rtnl_link_unregister(self.ops.get()) };
    }
}

/// # Safety
///
/// As the core calls it: `dev` was allocated with our private size.
unsafe extern "C" fn setup<T: Link>(dev: *mut bindings::net_device) {
    // SAFETY: The caller's promise.
    unsafe { Setup::run::<T>(dev) };
}

/// # Safety
///
/// As the core calls it: RTNL held, attributes checked, `dev` set up and not registered.
unsafe extern "C" fn newlink<T: Link>(
    dev: *mut bindings::net_device,
    params: *mut bindings::rtnl_newlink_params,
    _extack: *mut bindings::netlink_ext_ack,
) -> c_int {
    from_result(|| {
        // SAFETY: `data` is null or has an entry for each attribute of the policy.
        let attrs = unsafe {
            let data = (*params).data;
            if data.is_null() {
                &[]
            } else {
                core::slice::from_raw_parts(data, T::POLICY.len())
            }
        };
        // SAFETY: The caller's promise.
        unsafe { device::register(dev, T::new(LinkAttrs { attrs })) }?;
        Ok(0)
    })
}

/// # Safety
///
/// None beyond being called by the core.
unsafe extern "C" fn get_size<T: Link>(_dev: *const bindings::net_device) -> usize {
    T::INFO_SIZE
}

/// # Safety
///
/// As the core calls it: RTNL held, `skb` is the message being built.
unsafe extern "C" fn fill_info<T: Link>(
    skb: *mut bindings::sk_buff,
    dev: *const bindings::net_device,
) -> c_int {
    from_result(|| {
        // SAFETY: Registered, hence with live private data; the message is the caller's.
        let (dev, mut info) =
            unsafe { (Device::<T>::from_raw(dev.cast_mut()), Writer::from_raw(skb)) };
        dev.data().fill_info(&mut info)?;
        Ok(0)
    })
}
