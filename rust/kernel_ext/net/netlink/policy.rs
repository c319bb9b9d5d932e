// SPDX-License-Identifier: GPL-2.0

//! What values attributes may have.

use ovpn_bindings as bindings;

type Value = bindings::nla_policy__bindgen_ty_1;

/// The policy of one attribute.
#[repr(transparent)]
pub struct Policy(bindings::nla_policy);

// SAFETY: Never written.
unsafe impl Sync for Policy {}

/// Limits of a number.
#[repr(transparent)]
pub struct Range(bindings::netlink_range_validation);

impl Range {
    /// From 0 to `max`.
    pub const fn up_to(max: u64) -> Self {
        Self(bindings::netlink_range_validation { min: 0, max })
    }
}

// CAST (in this file): The enumerators of attribute types and of kinds of validation are small.
impl Policy {
    const fn new(kind: u32, validation: u32, len: u16, value: Value) -> Self {
        Self(bindings::nla_policy {
            type_: kind as u8,
            validation_type: validation as u8,
            len,
            __bindgen_anon_1: value,
        })
    }

    const fn plain(kind: u32) -> Self {
        Self::new(
            kind,
            bindings::nla_policy_validation_NLA_VALIDATE_NONE,
            0,
            pin_init::zeroed(),
        )
    }

    /// Not an attribute of this set: strict parsing refuses it.
    pub const fn unknown() -> Self {
        Self::plain(bindings::NLA_UNSPEC)
    }

    /// 32-bit number.
    pub const fn u32() -> Self {
        Self::plain(bindings::NLA_U32)
    }

    /// 32-bit number, big endian.
    pub const fn be32() -> Self {
        Self::plain(bindings::NLA_BE32)
    }

    /// Signed 32-bit number.
    pub const fn s32() -> Self {
        Self::plain(bindings::NLA_S32)
    }

    /// Number of 32 or 64 bits.
    pub const fn uint() -> Self {
        Self::plain(bindings::NLA_UINT)
    }

    const fn limits(min: i16, max: i16) -> Value {
        Value {
            __bindgen_anon_1: bindings::nla_policy__bindgen_ty_1__bindgen_ty_1 { min, max },
        }
    }

    /// 8-bit number with both limits.
    pub const fn u8_range(min: u8, max: u8) -> Self {
        Self::new(
            bindings::NLA_U8,
            bindings::nla_policy_validation_NLA_VALIDATE_RANGE,
            0,
            Self::limits(min as i16, max as i16),
        )
    }

    /// 32-bit number of at most `max`.
    pub const fn u32_max(max: u8) -> Self {
        Self::new(
            bindings::NLA_U32,
            bindings::nla_policy_validation_NLA_VALIDATE_MAX,
            0,
            Self::limits(0, max as i16),
        )
    }

    /// 32-bit number with limits of any size.
    pub const fn u32_range(range: &'static Range) -> Self {
        Self::new(
            bindings::NLA_U32,
            bindings::nla_policy_validation_NLA_VALIDATE_RANGE_PTR,
            0,
            Value { range: &range.0 },
        )
    }

    /// 16-bit number, big endian, of at least `min`.
    pub const fn be16_min(min: u8) -> Self {
        Self::new(
            bindings::NLA_BE16,
            bindings::nla_policy_validation_NLA_VALIDATE_MIN,
            0,
            Self::limits(min as i16, 0),
        )
    }

    /// Exactly `len` bytes.
    pub const fn exact_len(len: u16) -> Self {
        Self::new(
            bindings::NLA_BINARY,
            // A range of lengths is for binary attributes what a range of values is for numbers.
            bindings::nla_policy_validation_NLA_VALIDATE_RANGE,
            0,
            Self::limits(len as i16, len as i16),
        )
    }

    /// At most `len` bytes.
    pub const fn max_len(len: u16) -> Self {
        Self::new(
            bindings::NLA_BINARY,
            bindings::nla_policy_validation_NLA_VALIDATE_MAX,
            0,
            Self::limits(0, len as i16),
        )
    }

    /// A nest of attributes.
    pub const fn nested(policy: &'static [Policy]) -> Self {
        Self::new(
            bindings::NLA_NESTED,
            bindings::nla_policy_validation_NLA_VALIDATE_NONE,
            policy.len() as u16 - 1,
            Value {
                nested_policy: policy.as_ptr().cast(),
            },
        )
    }
}
