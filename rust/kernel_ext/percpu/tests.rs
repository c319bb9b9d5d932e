// SPDX-License-Identifier: GPL-2.0

//! Memory of a CPU is lent to one at a time.

use kernel::prelude::*;

#[kunit_tests(ovpn_percpu)]
mod cases {
    use super::super::{
        Allocated,
        PerCpu, //
    };
    use crate::bh::BhGuard;
    use kernel::prelude::*;

    static MEMORY: PerCpu<[u64; 4]> = PerCpu::new();

    #[test]
    fn memory_has_to_be_allocated_once() -> Result {
        let bh = BhGuard::new();
        assert_eq!(MEMORY.borrow(&bh).err(), Some(ENODEV));
        drop(bh);
        let allocated = Allocated::new(&MEMORY)?;
        assert_eq!(Allocated::new(&MEMORY).err(), Some(EBUSY));
        let bh = BhGuard::new();
        // The one that was refused has not taken the memory along.
        assert!(MEMORY.borrow(&bh).is_ok());
        drop(bh);
        drop(allocated);
        let bh = BhGuard::new();
        assert_eq!(MEMORY.borrow(&bh).err(), Some(ENODEV));
        Ok(())
    }

    #[test]
    fn nobody_gets_what_is_borrowed() -> Result {
        let _allocated = Allocated::new(&MEMORY)?;
        let bh = BhGuard::new();
        let mut first = MEMORY.borrow(&bh)?;
        first[0] = 1;
        {
            let mut second = MEMORY.borrow(&bh)?;
            assert_eq!(second[0], 0);
            second[0] = 2;
            let third = MEMORY.borrow(&bh)?;
            assert_eq!(third[0], 0);
        }
        assert_eq!(first[0], 1);
        drop(first);
        // The CPU's own again.
        assert_eq!(MEMORY.borrow(&bh)?[0], 1);
        Ok(())
    }
}
