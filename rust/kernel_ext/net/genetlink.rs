// SPDX-License-Identifier: GPL-2.0

//! Generic netlink families.
//!
//! A driver declares a `static` [`Family`] with its operations, each a type that implements [`Do`]
//! or [`Dump`], and registers it. Requests are checked against the operation's policy before the
//! operation runs; operations of different requests run in parallel.
//!
//! C header: [`include/net/genetlink.h`](srctree/include/net/genetlink.h)

mod message;
mod request;

pub use message::Message;
pub use request::{
    DumpRequest,
    Request, //
};

use super::netlink::Policy;
use core::cell::UnsafeCell;
use kernel::{
    error::{
        from_result,
        to_result, //
    },
    ffi::c_int,
    prelude::*, //
};
use ovpn_bindings as bindings;

/// An operation that answers one request. Process context, may sleep.
pub trait Do {
    /// Runs the operation. An error is sent back to the requester.
    fn run(request: &Request<'_>) -> Result;
}

/// An operation that lists objects, over as many messages as it takes. Process context.
pub trait Dump {
    /// Writes as much as fits into the current message. See [`DumpRequest`].
    fn run(request: &mut DumpRequest<'_>) -> Result;
}

/// One operation of a family. All need `CAP_NET_ADMIN` in the network namespace.
#[repr(transparent)]
pub struct Op(bindings::genl_split_ops);

// SAFETY: Never written.
unsafe impl Sync for Op {}

impl Op {
    const fn new(
        cmd: u32,
        policy: &'static [Policy],
        cap: u32,
        run: bindings::genl_split_ops__bindgen_ty_1,
    ) -> Self {
        // CAST: Commands and flags are 8 bits, attributes a few.
        Self(bindings::genl_split_ops {
            __bindgen_anon_1: run,
            policy: policy.as_ptr().cast(),
            maxattr: policy.len() as u32 - 1,
            cmd: cmd as u8,
            internal_flags: 0,
            flags: (bindings::GENL_ADMIN_PERM | cap) as u8,
            validate: 0,
        })
    }

    /// The operation `T` for command `cmd`.
    pub const fn new_do<T: Do>(cmd: u32, policy: &'static [Policy]) -> Self {
        let run = bindings::genl_split_ops__bindgen_ty_1 {
            __bindgen_anon_1: bindings::genl_split_ops__bindgen_ty_1__bindgen_ty_1 {
                pre_doit: None,
                doit: Some(doit::<T>),
                post_doit: None,
            },
        };
        Self::new(cmd, policy, bindings::GENL_CMD_CAP_DO, run)
    }

    /// The dump `T` for command `cmd`.
    pub const fn new_dump<T: Dump>(cmd: u32, policy: &'static [Policy]) -> Self {
        let run = bindings::genl_split_ops__bindgen_ty_1 {
            __bindgen_anon_2: bindings::genl_split_ops__bindgen_ty_1__bindgen_ty_2 {
                start: None,
                dumpit: Some(dumpit::<T>),
                done: None,
            },
        };
        Self::new(cmd, policy, bindings::GENL_CMD_CAP_DUMP, run)
    }
}

/// A multicast group of a family.
#[repr(transparent)]
pub struct Group(bindings::genl_multicast_group);

// SAFETY: Never written.
unsafe impl Sync for Group {}

impl Group {
    /// A group of that name.
    pub const fn new(name: &CStr) -> Self {
        Self(bindings::genl_multicast_group {
            name: fixed_name(name),
            flags: 0,
        })
    }
}

const fn fixed_name(name: &CStr) -> [kernel::ffi::c_char; 16] {
    let bytes = name.to_bytes_with_nul();
    assert!(bytes.len() <= 16, "the name is too long");
    let mut fixed = [0; 16];
    let mut index = 0;
    while index < bytes.len() {
        fixed[index] = bytes[index] as kernel::ffi::c_char;
        index += 1;
    }
    fixed
}

/// A generic netlink family. To be declared `static`.
pub struct Family(UnsafeCell<bindings::genl_family>);

// SAFETY: Written only by registration and unregistration, which the core serialises.
unsafe impl Sync for Family {}

impl Family {
    /// A family that lives in all network namespaces and whose operations run in parallel.
    pub const fn new(
        name: &'static CStr,
        version: u32,
        module: &'static ThisModule,
        ops: &'static [Op],
        groups: &'static [Group],
    ) -> Self {
        // CAST: A few operations and groups.
        Self(UnsafeCell::new(bindings::genl_family {
            name: fixed_name(name),
            version,
            module: module.as_ptr(),
            split_ops: ops.as_ptr().cast(),
            n_split_ops: ops.len() as u8,
            mcgrps: groups.as_ptr().cast(),
            n_mcgrps: groups.len() as u8,
            ..pin_init::zeroed()
        }))
    }

    fn as_ptr(&self) -> *mut bindings::genl_family {
        self.0.get()
    }
}

/// Keeps a family registered.
///
/// # Invariants
///
/// The family is registered.
pub struct Registration(&'static Family);

impl Registration {
    /// Registers `family`. Process context.
    ///
    /// # Errors
    ///
    /// `EEXIST` if there is a family of that name.
    pub fn new(family: &'static Family) -> Result<Self> {
        // SAFETY: Not registered, or else this fails before anything is changed: the two flags are
        // set to what they are.
        unsafe {
            (*family.as_ptr()).set_netnsok(1);
            (*family.as_ptr()).set_parallel_ops(1);
            to_result(bindings::genl_register_family(family.as_ptr()))?;
        }
        // INVARIANT: Just registered.
        Ok(Self(family))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // SAFETY: By the type invariant. Waits until no operation runs any more.
        unsafe { bindings::genl_unregister_family(self.0.as_ptr()) };
    }
}

/// # Safety
///
/// As the core calls it: attributes parsed and checked, `info` valid.
unsafe extern "C" fn doit<T: Do>(
    _skb: *mut bindings::sk_buff,
    info: *mut bindings::genl_info,
) -> c_int {
    // SAFETY: The caller's promise.
    from_result(|| T::run(&unsafe { Request::from_raw(info) }).map(|()| 0))
}

/// # Safety
///
/// As the core calls it: `skb` is the message being built, `cb` the state of the dump.
unsafe extern "C" fn dumpit<T: Dump>(
    skb: *mut bindings::sk_buff,
    cb: *mut bindings::netlink_callback,
) -> c_int {
    from_result(|| {
        // SAFETY: The caller's promise.
        T::run(&mut unsafe { DumpRequest::from_raw(skb, cb) })?;
        // SAFETY: As above. CAST: A message is a few kB.
        Ok(unsafe { (*skb).len } as c_int)
    })
}
