// SPDX-License-Identifier: GPL-2.0

//! Delayed work runs once, and lets go of its object.

use kernel::prelude::*;

#[kunit_tests(ovpn_workqueue)]
mod cases {
    use super::super::{
        cancel,
        reschedule,
        schedule,
        DelayedWork,
        Run, //
    };
    use crate::sync::rcu::RcuArc;
    use kernel::{
        prelude::*,
        sync::atomic::{
            Atomic,
            Relaxed, //
        },
        time::{
            delay::fsleep,
            Delta, //
        },
    };

    /// Longer than a test.
    const NEVER: usize = 1 << 30;

    static RUNS: Atomic<u32> = Atomic::new(0);
    static DESTROYED: Atomic<u32> = Atomic::new(0);

    #[pin_data(PinnedDrop)]
    struct Job {
        #[pin]
        work: DelayedWork,
    }

    crate::impl_has_delayed_work!(Job, work);

    impl Run for Job {
        fn run(_this: RcuArc<Self>) {
            RUNS.add(1, Relaxed);
        }
    }

    #[pinned_drop]
    impl PinnedDrop for Job {
        fn drop(self: Pin<&mut Self>) {
            DESTROYED.add(1, Relaxed);
        }
    }

    fn job() -> Result<RcuArc<Job>> {
        let init = try_pin_init!(Job {
            work <- DelayedWork::new::<Job>(),
        }? Error);
        RcuArc::pin_init(init, GFP_KERNEL)
    }

    /// Whether a counter comes to `value`, and stays there.
    fn comes_to(counter: &Atomic<u32>, value: u32) -> bool {
        for _ in 0..1000 {
            if counter.load(Relaxed) == value {
                break;
            }
            fsleep(Delta::from_millis(10));
        }
        fsleep(Delta::from_millis(20));
        counter.load(Relaxed) == value
    }

    #[test]
    fn scheduled_twice_it_runs_once() -> Result {
        let (runs, destroyed) = (RUNS.load(Relaxed), DESTROYED.load(Relaxed));
        let job = job()?;
        schedule(job.clone(), 5);
        schedule(job.clone(), 5);
        assert!(comes_to(&RUNS, runs.wrapping_add(1)));
        reschedule(job.clone(), NEVER);
        reschedule(job.clone(), 1);
        assert!(comes_to(&RUNS, runs.wrapping_add(2)));
        assert_eq!(DESTROYED.load(Relaxed), destroyed);
        drop(job);
        assert!(comes_to(&DESTROYED, destroyed.wrapping_add(1)));
        Ok(())
    }

    #[test]
    fn cancelled_it_does_not_run() -> Result {
        let (runs, destroyed) = (RUNS.load(Relaxed), DESTROYED.load(Relaxed));
        let job = job()?;
        cancel(&job);
        schedule(job.clone(), NEVER);
        cancel(&job);
        cancel(&job);
        drop(job);
        assert!(comes_to(&DESTROYED, destroyed.wrapping_add(1)));
        assert_eq!(RUNS.load(Relaxed), runs);
        Ok(())
    }
}
