// SPDX-License-Identifier: GPL-2.0

#include <linux/udp.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

void ovpn_helper_udp_tx(const struct sock *sk, struct ovpn_udp_tx *tx)
{
	tx->mark = READ_ONCE(sk->sk_mark);
	tx->bound_dev = READ_ONCE(sk->sk_bound_dev_if);
	tx->sport = READ_ONCE(inet_sk(sk)->inet_sport);
	tx->no_check4 = sk->sk_no_check_tx;
	tx->no_check6 = udp_get_no_check6_tx(sk);
}

bool ovpn_helper_sk_is_udp(const struct sock *sk)
{
	return sk_is_udp(sk);
}

bool ovpn_helper_sk_is_tcp(const struct sock *sk)
{
	return sk_is_tcp(sk);
}

void ovpn_helper_sock_hold(struct sock *sk)
{
	sock_hold(sk);
}

void ovpn_helper_sock_put(struct sock *sk)
{
	sock_put(sk);
}

struct net *ovpn_helper_sock_net(const struct sock *sk)
{
	return sock_net(sk);
}

void *ovpn_helper_sk_user_data(const struct sock *sk)
{
	return rcu_dereference_sk_user_data(sk);
}

__be16 ovpn_helper_inet_sport(const struct sock *sk)
{
	return READ_ONCE(inet_sk(sk)->inet_sport);
}

u8 ovpn_helper_udp_encap_type(const struct sock *sk)
{
	return READ_ONCE(udp_sk(sk)->encap_type);
}

/*
 * Makes the socket a tunnel's; the socket lock is held. False if it has a GRO hook that is not
 * @config's. The hook stays when the tunnel leaves, since the core reads it more than once without
 * a lock: it is registered once in the life of a socket, and the core takes it back at its end.
 */
bool ovpn_helper_udp_encap_setup(struct sock *sk, struct udp_tunnel_sock_cfg *config)
{
	bool again = udp_sk(sk)->gro_receive;

	if (again && udp_sk(sk)->gro_receive != config->gro_receive)
		return false;
	setup_udp_tunnel_sock(sock_net(sk), sk, config);
	if (again)
		udp_tunnel_update_gro_rcv(sk, false);
	udp_allow_gso(sk);
	return true;
}

/*
 * Makes it a plain socket again, but for the GRO hook; the socket lock is held. Sleeps: what the
 * stack has let through to the tunnel as a list must not get to user space as one datagram.
 */
void ovpn_helper_udp_encap_clear(struct sock *sk)
{
	udp_assign_bit(ACCEPT_L4, sk, udp_test_bit(GRO_ENABLED, sk));
	udp_clear_bit(ACCEPT_FRAGLIST, sk);
	synchronize_net();

	inet_set_bit(MC_LOOP, sk);
	inet_dec_convert_csum(sk);

	WRITE_ONCE(udp_sk(sk)->encap_type, 0);
	WRITE_ONCE(udp_sk(sk)->encap_rcv, NULL);
	WRITE_ONCE(udp_sk(sk)->encap_destroy, NULL);
	rcu_assign_sk_user_data(sk, NULL);
}

/*
 * Keeps @owner loaded until the UDP socket @sk is freed, which is a grace period after the last
 * softirq has found it. The last that the core does for a socket is to put the module of the
 * protocol that created it: from now on that is @owner. False if that protocol is a module's
 * already. The socket lock is held.
 */
bool ovpn_helper_udp_keep_module(struct sock *sk, struct module *owner)
{
	/* Of IPv4 and of IPv6. */
	static struct {
		struct proto *original;
		struct proto kept;
	} protos[2];
	static DEFINE_SPINLOCK(lock);
	struct proto *creator = sk->sk_prot_creator;
	int i;

	if (creator->owner)
		return creator->owner == owner;
	spin_lock(&lock);
	for (i = 0; i < ARRAY_SIZE(protos); i++) {
		if (!protos[i].original) {
			protos[i].kept = *creator;
			protos[i].kept.owner = owner;
			protos[i].original = creator;
		}
		if (protos[i].original == creator)
			break;
	}
	spin_unlock(&lock);
	if (i == ARRAY_SIZE(protos))
		return false;
	__module_get(owner);
	sk->sk_prot_creator = &protos[i].kept;
	/* Bound sockets have it anyway. */
	sock_set_flag(sk, SOCK_RCU_FREE);
	return true;
}
