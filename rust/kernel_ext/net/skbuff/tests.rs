// SPDX-License-Identifier: GPL-2.0

//! The borders of packets.

use kernel::prelude::*;

#[kunit_tests(ovpn_skbuff)]
mod cases {
    use super::super::{
        Added,
        Aggregate,
        Queue,
        RecordRoom,
        SkBuff, //
    };
    use crate::bh::BhGuard;
    use kernel::{
        page::PAGE_SIZE,
        prelude::*, //
    };

    /// The octets 0, 1, .. in one piece. Any context.
    fn packet(len: u8) -> Result<SkBuff> {
        let mut data = KVec::new();
        for octet in 0..len {
            data.push(octet, GFP_ATOMIC)?;
        }
        SkBuff::with_data(32, &data)
    }

    /// The octets 0, 1, .. in pages, `piece` in each.
    fn in_pages(len: u8, piece: usize) -> Result<SkBuff> {
        let bh = BhGuard::new();
        let like = packet(0)?;
        let mut made = Aggregate::new(32, 0, &like, &bh)?;
        let whole = packet(len)?;
        for part in whole.head().chunks(piece) {
            made.add(part.len(), |room: &mut RecordRoom<'_>| {
                room.bytes_mut().copy_from_slice(part);
                Ok::<(), Error>(())
            })?;
        }
        Ok(made.finish(0))
    }

    #[test]
    fn pull_and_push_keep_to_the_buffer() -> Result {
        let mut packet = packet(10)?;
        assert_eq!((packet.len(), packet.head_len()), (10, 10));
        assert_eq!(packet.first::<3>(), Some([0, 1, 2]));
        assert_eq!(packet.first::<11>(), None);
        assert!(!packet.pull(11));
        assert!(packet.pull(4));
        assert_eq!(packet.first::<2>(), Some([4, 5]));
        assert!(packet.pull(6) && packet.len() == 0);
        assert!(!packet.pull(1));
        packet.cow_head(42)?;
        assert!(packet.push(usize::MAX).is_none());
        assert!(packet.push(42).is_some_and(|room| room.len() == 42));
        assert_eq!(packet.len(), 42);
        Ok(())
    }

    #[test]
    fn what_is_in_pages_can_be_made_linear() -> Result {
        for piece in [1usize, 7, 50, 100] {
            let mut packet = in_pages(100, piece.max(8))?;
            assert_eq!((packet.len(), packet.head_len()), (100, 0));
            assert_eq!(packet.first::<1>(), None);
            assert!(!packet.pull(1));
            assert!(!packet.make_linear(101));
            assert!(!packet.make_linear(usize::MAX));
            assert!(packet.make_linear(0));
            assert!(packet.make_linear(20) && packet.head_len() >= 20);
            assert_eq!(packet.first::<4>(), Some([0, 1, 2, 3]));
            assert!(packet.pull(10));
            assert!(packet.make_linear(90));
            assert!(packet.head().iter().copied().eq(10..100));
        }
        Ok(())
    }

    #[test]
    fn copies_stay_inside() -> Result {
        let packet = in_pages(100, 13)?;
        let mut room = [0; 30];
        for from in 0..=70u8 {
            assert!(packet.copy_to(usize::from(from), &mut room));
            assert!(room.iter().copied().eq(from..from + 30));
        }
        for from in [71, 100, 101, usize::MAX] {
            assert!(!packet.copy_to(from, &mut room));
        }
        assert!(packet.copy_to(100, &mut []));
        Ok(())
    }

    #[test]
    fn records_have_their_limits() -> Result {
        let bh = BhGuard::new();
        let like = packet(0)?;
        let mut made = Aggregate::new(0, 0, &like, &bh)?;
        let nothing = |_: &mut RecordRoom<'_>| Ok::<(), Error>(());
        assert_eq!(made.add(0, nothing).err(), Some(EMSGSIZE));
        assert_eq!(made.add(PAGE_SIZE + 1, nothing).err(), Some(EMSGSIZE));
        assert_eq!(
            made.add(9, |_: &mut RecordRoom<'_>| Err(EIO)).err(),
            Some(EIO)
        );
        assert_eq!(made.records(), 0);
        let mut added = 0;
        while made.add(PAGE_SIZE, nothing)? == Added::Yes {
            added += 1;
            assert!(added < 200);
        }
        assert!(added > 0 && made.records() == added);
        let packet = made.finish(0);
        assert_eq!(packet.len(), added * PAGE_SIZE);
        assert_eq!(packet.is_gso(), added > 1);
        Ok(())
    }

    #[test]
    fn a_queue_keeps_the_order() -> Result {
        let queue = KBox::pin_init(Queue::new(), GFP_KERNEL)?;
        assert!(queue.is_empty() && queue.pop().is_none());
        queue.push(packet(2)?);
        queue.push(packet(3)?);
        queue.push_front(packet(1)?);
        queue.push(packet(4)?);
        assert_eq!(queue.len(), 4);
        for len in 1..=3 {
            assert_eq!(queue.pop().map(|packet| packet.len()), Some(len));
        }
        // The last one goes with the queue.
        Ok(())
    }
}
