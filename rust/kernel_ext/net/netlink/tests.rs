// SPDX-License-Identifier: GPL-2.0

//! Attributes as they come from user space, good ones and others.

use kernel::prelude::*;

#[kunit_tests(ovpn_netlink)]
mod cases {
    use super::super::{
        Attr,
        Attrs,
        ExtAck,
        Policy,
        Range,
        Writer, //
    };
    use crate::net::skbuff::SkBuff;
    use core::net::{
        Ipv4Addr,
        Ipv6Addr, //
    };
    use kernel::prelude::*;
    use ovpn_bindings as bindings;

    const NESTED: u16 = bindings::NLA_F_NESTED as u16;

    static SMALL: Range = Range::up_to(1000);
    static INNER: [Policy; 2] = [Policy::unknown(), Policy::u32_max(7)];
    static POLICY: [Policy; 8] = [
        Policy::unknown(),
        Policy::u32_range(&SMALL),
        Policy::be16_min(1),
        Policy::exact_len(16),
        Policy::max_len(5),
        Policy::nested(&INNER),
        Policy::unknown(),
        Policy::u8_range(1, 2),
    ];

    /// A nest with the attributes `(number, value)`, in memory that is aligned as a message's.
    #[repr(C, align(4))]
    struct Nest {
        octets: [u8; 128],
        len: usize,
    }

    impl Nest {
        fn new(attrs: &[(u16, &[u8])]) -> Self {
            let mut nest = Self {
                octets: [0; 128],
                len: 4,
            };
            for (number, value) in attrs {
                nest.add(value.len() as u16 + 4, *number, value);
            }
            nest
        }

        /// Adds an attribute that says of itself that it is `len` bytes long.
        fn add(&mut self, len: u16, number: u16, value: &[u8]) {
            self.octets[self.len..][..2].copy_from_slice(&len.to_ne_bytes());
            self.octets[self.len + 2..][..2].copy_from_slice(&number.to_ne_bytes());
            self.octets[self.len + 4..][..value.len()].copy_from_slice(value);
            self.len += (4 + value.len()).next_multiple_of(4);
        }

        fn attr(&mut self) -> Option<&Attr> {
            let len = self.len as u16;
            self.octets[..2].copy_from_slice(&len.to_ne_bytes());
            // SAFETY: A header and as many bytes as it says.
            unsafe { Attr::from_raw(self.octets.as_ptr().cast()) }
        }

        fn parse(&mut self) -> Result<Attrs<'_, 8>> {
            self.attr().ok_or(EINVAL)?.nested(&POLICY, nowhere())
        }
    }

    fn nowhere<'a>() -> ExtAck<'a> {
        // SAFETY: Null is allowed.
        unsafe { ExtAck::from_raw(core::ptr::null_mut()) }
    }

    #[test]
    fn good_attributes_are_read() -> Result {
        let mut nest = Nest::new(&[
            (1, &1000u32.to_ne_bytes()),
            (2, &0x1234u16.to_be_bytes()),
            (3, &[7; 16]),
            (4, &[1, 2, 3]),
            (5 | NESTED, &[8, 0, 1, 0, 7, 0, 0, 0]),
            (7, &[2]),
        ]);
        let attrs = nest.parse()?;
        assert_eq!(attrs.get(1).and_then(Attr::u32), Some(1000));
        assert_eq!(attrs.get(2).and_then(Attr::be16), Some(0x1234));
        assert_eq!(
            attrs.get(3).and_then(Attr::ipv6),
            Some(Ipv6Addr::from([7; 16]))
        );
        assert_eq!(
            attrs.get(3).and_then(Attr::ipv4),
            Some(Ipv4Addr::from([7; 4]))
        );
        assert!(attrs.get(4).is_some_and(|attr| attr.data() == [1, 2, 3]));
        assert_eq!(attrs.get(4).and_then(Attr::u32), None);
        assert_eq!(attrs.get(7).and_then(Attr::u8), Some(2));
        assert!(attrs.get(6).is_none() && attrs.get(8).is_none() && attrs.get(u32::MAX).is_none());
        assert!(attrs.require(1, nowhere()).is_ok());
        assert_eq!(attrs.require(6, nowhere()).err(), Some(EINVAL));
        let other = attrs.other_than(&[1, 2, 3, 4]).map(|(number, _)| number);
        assert_eq!(other, Some(5));
        let inner = attrs.get(5).ok_or(EINVAL)?.nested(&INNER, nowhere())?;
        assert_eq!(inner.get(1).and_then(Attr::u32), Some(7));
        Ok(())
    }

    #[test]
    fn what_the_policy_forbids_is_refused() {
        let wrong: [(u16, &[u8], Error); 16] = [
            (1, &1001u32.to_ne_bytes(), ERANGE),
            (1, &[1, 0, 0], EINVAL),
            (1, &[1, 0, 0, 0, 0], EINVAL),
            (1, &[], EINVAL),
            (1 | NESTED, &[0; 4], EINVAL),
            (2, &[0, 0], ERANGE),
            (2, &[1], EINVAL),
            (3, &[0; 15], ERANGE),
            (3, &[0; 17], ERANGE),
            (4, &[0; 6], ERANGE),
            (5, &[8, 0, 1, 0, 7, 0, 0, 0], EINVAL),
            (5 | NESTED, &[8, 0, 1, 0, 8, 0, 0, 0], ERANGE),
            (5 | NESTED, &[8, 0, 2, 0, 7, 0, 0, 0], EINVAL),
            (6, &[0; 4], EINVAL),
            (7, &[3], ERANGE),
            (8, &[0; 4], EINVAL),
        ];
        for (number, value, error) in wrong {
            let mut nest = Nest::new(&[(number, value)]);
            assert_eq!(nest.parse().err(), Some(error));
        }
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        for len in [0, 1, 3, 9, 12, 0xffff] {
            let mut nest = Nest::new(&[]);
            nest.add(len, 1, &[1, 0, 0, 0]);
            assert_eq!(nest.parse().err(), Some(EINVAL));
        }
        // Less than a header at the end.
        let mut nest = Nest::new(&[(1, &[1, 0, 0, 0])]);
        nest.len += 2;
        assert_eq!(nest.parse().err(), Some(EINVAL));
    }

    #[test]
    fn of_two_the_last_one_counts() -> Result {
        let mut nest = Nest::new(&[(1, &[1, 0, 0, 0]), (1, &[2, 0, 0, 0])]);
        assert_eq!(nest.parse()?.get(1).and_then(Attr::u32), Some(2));
        Ok(())
    }

    #[test]
    fn what_is_written_can_be_read() -> Result {
        let packet = SkBuff::with_room(0, 256)?;
        // SAFETY: The packet is ours.
        let mut writer = unsafe { Writer::from_raw(packet.as_ptr()) };
        writer.nest(9, |nest| {
            nest.put_u32(1, 5)?;
            nest.put_be16(2, 443)?;
            nest.put_ipv6(3, Ipv6Addr::LOCALHOST)?;
            nest.nest(5, |inner| inner.put_u32(1, 3))?;
            nest.put_u8(7, 1)
        })?;
        // SAFETY: Just written, and the packet is still there.
        let nest = unsafe { Attr::from_raw(packet.head().as_ptr().cast()) }.ok_or(EINVAL)?;
        let attrs = nest.nested(&POLICY, nowhere())?;
        assert_eq!(attrs.get(1).and_then(Attr::u32), Some(5));
        assert_eq!(attrs.get(2).and_then(Attr::be16), Some(443));
        assert_eq!(attrs.get(3).and_then(Attr::ipv6), Some(Ipv6Addr::LOCALHOST));
        assert_eq!(attrs.get(7).and_then(Attr::u8), Some(1));
        assert!(writer.put(4, &[0; 300]).is_err());
        Ok(())
    }
}
