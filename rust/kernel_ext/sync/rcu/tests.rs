// SPDX-License-Identifier: GPL-2.0

//! Objects go when they should, and not before.

use kernel::prelude::*;

#[kunit_tests(ovpn_rcu)]
mod cases {
    use super::super::{
        RcuArc,
        RcuCell,
        RcuIndex,
        RcuMap, //
    };
    use kernel::{
        prelude::*,
        sync::{
            atomic::{
                Atomic,
                Relaxed, //
            },
            rcu, //
        },
        time::{
            delay::fsleep,
            Delta, //
        },
    };

    /// How many objects of this test were destroyed.
    static DESTROYED: Atomic<u32> = Atomic::new(0);

    struct Probe(u32);

    impl Drop for Probe {
        fn drop(&mut self) {
            DESTROYED.add(1, Relaxed);
        }
    }

    fn probe(number: u32) -> Result<RcuArc<Probe>> {
        RcuArc::new(Probe(number), GFP_KERNEL)
    }

    fn destroyed() -> u32 {
        DESTROYED.load(Relaxed)
    }

    /// Whether that many were destroyed since `before`, as soon as the queue has come to it, and
    /// no more a moment later.
    fn destroyed_since(before: u32, count: u32) -> bool {
        for _ in 0..1000 {
            if destroyed().wrapping_sub(before) >= count {
                break;
            }
            fsleep(Delta::from_millis(10));
        }
        rcu::rcu_barrier();
        fsleep(Delta::from_millis(20));
        destroyed().wrapping_sub(before) == count
    }

    #[test]
    fn the_last_reference_decides() -> Result {
        let before = destroyed();
        let first = probe(7)?;
        let second = first.clone();
        assert!(first.is(&second));
        drop(first);
        assert!(destroyed_since(before, 0));
        assert_eq!(second.0, 7);
        drop(second);
        assert!(destroyed_since(before, 1));
        Ok(())
    }

    #[test]
    fn a_reader_keeps_the_object() -> Result {
        let before = destroyed();
        let cell = RcuCell::new(Some(probe(8)?));
        let borrowed = {
            let guard = rcu::read_lock();
            let borrowed = cell.get(&guard).ok_or(ENOENT)?;
            drop(cell.replace(None));
            // Long enough for a grace period, if one could end while we read.
            for _ in 0..200 {
                kernel::time::delay::udelay(Delta::from_micros(100));
            }
            assert_eq!(destroyed(), before);
            assert_eq!(borrowed.0, 8);
            // The last counted reference is gone, there are no new ones.
            borrowed.to_owned().is_some()
        };
        assert!(!borrowed);
        assert!(destroyed_since(before, 1));
        Ok(())
    }

    #[test]
    fn a_borrow_becomes_a_reference() -> Result {
        let before = destroyed();
        let cell = RcuCell::new(Some(probe(9)?));
        let kept = {
            let guard = rcu::read_lock();
            cell.get(&guard).and_then(|borrow| borrow.to_owned())
        };
        let kept = kept.ok_or(ENOENT)?;
        assert!(cell.holds(&kept));
        drop(cell);
        assert!(destroyed_since(before, 0));
        assert_eq!(kept.0, 9);
        drop(kept);
        assert!(destroyed_since(before, 1));
        Ok(())
    }

    #[test]
    fn a_cell_gives_back_what_it_held() -> Result {
        let before = destroyed();
        let (one, two) = (probe(1)?, probe(2)?);
        let cell = RcuCell::new(None);
        assert!(cell.replace(Some(one.clone())).is_none());
        assert!(cell.take_if(&two).is_none());
        assert!(cell
            .replace(Some(two.clone()))
            .is_some_and(|old| old.is(&one)));
        assert!(cell.take_if(&two).is_some_and(|old| old.is(&two)));
        assert!(cell.take_if(&two).is_none());
        drop((one, two));
        // Not while the next one counts.
        assert!(destroyed_since(before, 2));
        Ok(())
    }

    #[test]
    fn an_index_is_in_order() -> Result {
        let before = destroyed();
        {
            let index = KBox::pin_init(RcuIndex::new(), GFP_KERNEL)?;
            for number in [5u32, 0, 0xff_ffff] {
                index.insert(number, probe(number)?)?;
            }
            assert_eq!(index.insert(5, probe(50)?).err(), Some(EEXIST));
            let guard = rcu::read_lock();
            let next = |from| index.next(from, &guard).map(|(at, probe)| (at, probe.0));
            assert_eq!(next(0), Some((0, 0)));
            assert_eq!(next(1), Some((5, 5)));
            assert_eq!(next(6), Some((0xff_ffff, 0xff_ffff)));
            assert_eq!(next(0x100_0000), None);
            assert!(index.get(4, &guard).is_none());
            drop(guard);
            assert!(index.remove(5).is_some_and(|probe| probe.0 == 5));
            assert!(index.remove(5).is_none());
        }
        // Three, and the one that was not inserted.
        assert!(destroyed_since(before, 4));
        Ok(())
    }

    #[test]
    fn a_map_finds_what_was_put_under_a_key() -> Result {
        const KEYS: u32 = 500;
        let before = destroyed();
        {
            let map = KBox::try_pin_init(RcuMap::new(), GFP_KERNEL)?;
            let key = |number: u32| [number, 0, number.swap_bytes(), 0, 1];
            // Enough of them to make the table grow.
            for number in 0..KEYS {
                map.insert(&key(number), probe(number)?, GFP_KERNEL)?;
            }
            let again = map.insert(&key(3), probe(3)?, GFP_KERNEL);
            assert_eq!(again.err(), Some(EEXIST));
            RcuMap::set(&map, &key(3), probe(33)?, GFP_KERNEL)?;
            let found = |number: u32| {
                let guard = rcu::read_lock();
                map.get(&key(number), &guard).map(|probe| probe.0)
            };
            assert!((0..KEYS).all(|number| number == 3 || found(number) == Some(number)));
            assert_eq!(found(3), Some(33));
            assert_eq!(found(KEYS), None);

            let other = probe(4)?;
            map.remove(&key(4), &other);
            assert_eq!(found(4), Some(4));
            let guard = rcu::read_lock();
            let four = map.get(&key(4), &guard).ok_or(ENOENT)?;
            map.remove(&key(4), four.get());
            drop(guard);
            assert_eq!(found(4), None);
        }
        // All of them, the one not inserted, the one set, and the one of another name.
        assert!(destroyed_since(before, KEYS.wrapping_add(3)));
        Ok(())
    }
}
