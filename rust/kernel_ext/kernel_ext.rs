// SPDX-License-Identifier: GPL-2.0

//! Safe abstractions that the `kernel` crate does not have yet.
//!
//! Laid out as they would be below `rust/kernel/`: one module per kernel concept, named after it.
//! All `unsafe` of the project is in this crate, and nothing in it knows OpenVPN.
//!
//! | here | C |
//! |---|---|
//! | [`bh`] | `local_bh_disable()` |
//! | [`crypto::aead`] | `struct crypto_sync_aead` |
//! | [`net::device`], [`net::rtnl`] | `struct net_device`, `struct rtnl_link_ops` |
//! | [`net::genetlink`], [`net::netlink`] | `struct genl_family`, `struct nlattr` |
//! | [`net::skbuff`] | `struct sk_buff` |
//! | [`net::sock`], [`net::udp_tunnel`] | `struct sock`, `struct udp_tunnel_sock_cfg` |
//! | [`net::tcp`], [`net::strparser`] | `struct proto`, `struct strparser` |
//! | [`net::route`] | `struct rtable`, `struct rt6_info`, `struct dst_cache` |
//! | [`percpu`] | scratch memory of each CPU |
//! | [`sync::rcu`] | RCU-protected pointers and tables |
//! | [`workqueue`] | `struct workqueue_struct`, `struct delayed_work` |

pub mod alloc;
pub mod bh;
pub mod crypto;
pub mod net;
pub mod percpu;
pub mod sync;
pub mod time;
pub mod uapi;
pub mod workqueue;
