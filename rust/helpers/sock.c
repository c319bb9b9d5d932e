// SPDX-License-Identifier: GPL-2.0

#include <linux/udp.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/udp.h>

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

/* Undoes setup_udp_tunnel_sock(); the socket lock is held. */
void ovpn_helper_udp_encap_clear(struct sock *sk)
{
	inet_set_bit(MC_LOOP, sk);
	inet_dec_convert_csum(sk);

	WRITE_ONCE(udp_sk(sk)->encap_type, 0);
	WRITE_ONCE(udp_sk(sk)->encap_rcv, NULL);
	WRITE_ONCE(udp_sk(sk)->encap_destroy, NULL);
	rcu_assign_sk_user_data(sk, NULL);
}
