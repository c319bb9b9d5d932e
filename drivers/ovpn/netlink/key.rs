// SPDX-License-Identifier: GPL-2.0

//! Keys of peers.
//!
//! The daemon rotates keys: it installs a new key in the secondary slot, which decrypts only, swaps
//! the slots when the peer has the key, too, and deletes the old one some time later.

use super::{
    explain,
    find,
    number,
    only,
    policy,
    target,
    FAMILY, //
};
use crate::{
    crypto::{
        key::{
            self,
            Cipher,
            KeyMaterial, //
        },
        slots::Slot, //
    },
    wire::KeyId, //
};
use kernel::{
    prelude::*,
    sync::rcu, //
};
use kernel_ext::{
    net::{
        genetlink::{
            Do,
            Request, //
        },
        netlink::{
            Attr,
            ExtAck, //
        },
    },
    sync::rcu::RcuArc,
    uapi::ovpn::*, //
};

/// The slot that an attribute names.
fn slot(attr: &Attr) -> Result<Slot> {
    Slot::from_uapi(number(attr)?).ok_or(ERANGE)
}

/// Key material of one direction, as it is in the request.
fn material<'a>(attr: &'a Attr, extack: ExtAck<'_>) -> Result<KeyMaterial<'a>> {
    let attrs = attr.nested(&policy::KEYDIR, extack)?;
    let key = attrs.require(OVPN_A_KEYDIR_CIPHER_KEY, extack)?;
    let tail = attrs.require(OVPN_A_KEYDIR_NONCE_TAIL, extack)?;
    Ok(KeyMaterial {
        cipher_key: key.data(),
        nonce_tail: tail.data().first_chunk().ok_or(EINVAL)?,
    })
}

/// `key-new`.
pub enum New {}

impl Do for New {
    fn run(request: &Request<'_>) -> Result {
        let extack = request.extack();
        let (dev, attrs) = target(request, OVPN_A_KEYCONF, &policy::KEYCONF)?;
        let peer_id = attrs.require(OVPN_A_KEYCONF_PEER_ID, extack)?;
        let slot = slot(attrs.require(OVPN_A_KEYCONF_SLOT, extack)?)?;
        let id =
            KeyId::new(number(attrs.require(OVPN_A_KEYCONF_KEY_ID, extack)?)?).ok_or(ERANGE)?;
        let cipher = attrs.require(OVPN_A_KEYCONF_CIPHER_ALG, extack)?;
        let encrypt = attrs.require(OVPN_A_KEYCONF_ENCRYPT_DIR, extack)?;
        let decrypt = attrs.require(OVPN_A_KEYCONF_DECRYPT_DIR, extack)?;
        let cipher = Cipher::from_uapi(number(cipher)?)
            .ok_or_else(|| explain!(extack.bad_attr(cipher), EINVAL, "unsupported cipher"))?;
        let encrypt = material(encrypt, extack)?;
        let decrypt = material(decrypt, extack)?;
        let peer = find(&dev, peer_id, extack)?;

        let key = RcuArc::pin_init(key::Key::new(id, cipher, &encrypt, &decrypt), GFP_KERNEL)
            .map_err(|error| {
                let bits = encrypt.cipher_key.len().saturating_mul(8);
                explain!(
                    extack,
                    error,
                    "cannot set up {cipher:?} with a key of {bits} bits"
                )
            })?;
        peer.keys.install(slot, key);
        Ok(())
    }
}

/// `key-get`: what is not secret.
pub enum Get {}

impl Do for Get {
    fn run(request: &Request<'_>) -> Result {
        let extack = request.extack();
        let (dev, attrs) = target(request, OVPN_A_KEYCONF, &policy::KEYCONF_GET)?;
        let peer_id = attrs.require(OVPN_A_KEYCONF_PEER_ID, extack)?;
        let slot = slot(attrs.require(OVPN_A_KEYCONF_SLOT, extack)?)?;
        only(
            &attrs,
            &[OVPN_A_KEYCONF_PEER_ID, OVPN_A_KEYCONF_SLOT],
            extack,
        )?;
        let peer = find(&dev, peer_id, extack)?;
        let (id, cipher) = {
            let guard = rcu::read_lock();
            let key = peer
                .keys
                .get(slot, &guard)
                .ok_or_else(|| explain!(extack, ENOENT, "no key in the {slot:?} slot"))?;
            (key.id(), key.cipher())
        };
        request.reply(&FAMILY, OVPN_CMD_KEY_GET, |message| {
            message.nest(OVPN_A_KEYCONF, |nest| {
                nest.put_u32(OVPN_A_KEYCONF_PEER_ID, peer.id().get())?;
                nest.put_u32(OVPN_A_KEYCONF_SLOT, slot.to_uapi())?;
                nest.put_u32(OVPN_A_KEYCONF_KEY_ID, u32::from(id.get()))?;
                nest.put_u32(OVPN_A_KEYCONF_CIPHER_ALG, cipher.to_uapi())
            })
        })
    }
}

/// `key-swap`.
pub enum Swap {}

impl Do for Swap {
    fn run(request: &Request<'_>) -> Result {
        let extack = request.extack();
        let (dev, attrs) = target(request, OVPN_A_KEYCONF, &policy::KEYCONF_SWAP_INPUT)?;
        let peer_id = attrs.require(OVPN_A_KEYCONF_PEER_ID, extack)?;
        find(&dev, peer_id, extack)?.keys.swap();
        Ok(())
    }
}

/// `key-del`.
pub enum Del {}

impl Do for Del {
    fn run(request: &Request<'_>) -> Result {
        let extack = request.extack();
        let (dev, attrs) = target(request, OVPN_A_KEYCONF, &policy::KEYCONF_DEL_INPUT)?;
        let peer_id = attrs.require(OVPN_A_KEYCONF_PEER_ID, extack)?;
        let slot = slot(attrs.require(OVPN_A_KEYCONF_SLOT, extack)?)?;
        find(&dev, peer_id, extack)?.keys.delete(slot);
        Ok(())
    }
}
