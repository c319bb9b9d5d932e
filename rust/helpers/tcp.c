// SPDX-License-Identifier: GPL-2.0

#include <linux/sched/signal.h>
#include <net/hotdata.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/strparser.h>
#include <net/tcp.h>

const struct tcp_ulp_ops *ovpn_helper_tcp_ulp(const struct sock *sk)
{
	/* Pairs with ovpn_helper_tcp_set_ulp(): the data is that of the layer. */
	return smp_load_acquire(&inet_csk(sk)->icsk_ulp_ops);
}

void *ovpn_helper_tcp_ulp_data(const struct sock *sk)
{
	return rcu_dereference(inet_csk(sk)->icsk_ulp_data);
}

void ovpn_helper_tcp_set_ulp(struct sock *sk, const struct tcp_ulp_ops *ulp, void *data)
{
	rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, data);
	/* Pairs with ovpn_helper_tcp_ulp(). */
	smp_store_release(&inet_csk(sk)->icsk_ulp_ops, ulp);
}

/* The socket lock is held. */
void ovpn_helper_sk_set_callbacks(struct sock *sk, const struct ovpn_sk_callbacks *callbacks)
{
	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(sk->sk_data_ready, callbacks->data_ready);
	WRITE_ONCE(sk->sk_write_space, callbacks->write_space);
	rcu_assign_sk_user_data(sk, callbacks->user_data);
	write_unlock_bh(&sk->sk_callback_lock);
}

bool ovpn_helper_sock_trylock(struct sock *sk)
{
	return spin_trylock(&sk->sk_lock.slock);
}

void ovpn_helper_sock_unlock(struct sock *sk)
{
	spin_unlock(&sk->sk_lock.slock);
}

bool ovpn_helper_sock_owned_by_user(const struct sock *sk)
{
	return sock_owned_by_user(sk);
}

/* Lets go of the socket lock, sleeps until something happens to the socket, and takes it again. */
int ovpn_helper_sk_wait(struct sock *sk, long *timeout)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sk_wait_event(sk, timeout, false, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	return signal_pending(current) ? sock_intr_errno(*timeout) : 0;
}

int ovpn_helper_sock_error(struct sock *sk)
{
	return sock_error(sk);
}

long ovpn_helper_sock_rcvtimeo(const struct sock *sk, bool noblock)
{
	return sock_rcvtimeo(sk, noblock);
}

long ovpn_helper_sock_sndtimeo(const struct sock *sk, bool noblock)
{
	return sock_sndtimeo(sk, noblock);
}

/* Charges a packet for the socket's reader to the socket, whose lock is held. */
bool ovpn_helper_skb_charge_receiver(struct sk_buff *skb, struct sock *sk)
{
	if (!sk_rmem_schedule(sk, skb, skb->truesize))
		return false;
	skb_set_owner_r(skb, sk);
	return true;
}

int ovpn_helper_memcpy_from_msg(void *to, struct msghdr *msg, size_t len)
{
	return memcpy_from_msg(to, msg, len);
}

int ovpn_helper_skb_copy_datagram_msg(const struct sk_buff *skb, struct msghdr *msg, int len)
{
	return skb_copy_datagram_msg(skb, 0, msg, len);
}

unsigned int ovpn_helper_max_backlog(void)
{
	return READ_ONCE(net_hotdata.max_backlog);
}

void ovpn_helper_strp_msg(struct sk_buff *skb, int *offset, int *full_len)
{
	*offset = strp_msg(skb)->offset;
	*full_len = strp_msg(skb)->full_len;
}
