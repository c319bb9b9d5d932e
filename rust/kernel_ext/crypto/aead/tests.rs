// SPDX-License-Identifier: GPL-2.0

//! Published test vectors, and records that are not authentic.

use kernel::prelude::*;

#[kunit_tests(ovpn_aead)]
mod cases {
    use super::super::{
        Layout,
        SyncAead,
        NONCE_LEN, //
    };
    use crate::{
        bh::BhGuard,
        crypto::wipe,
        net::skbuff::{
            Aggregate,
            RecordRoom,
            SkBuff, //
        }, //
    };
    use kernel::prelude::*;

    const TAG: usize = 16;
    const AES_GCM: &CStr = c"gcm(aes)";
    const CHACHA: &CStr = c"rfc7539(chacha20,poly1305)";

    struct Vector {
        cipher: &'static CStr,
        key: &'static str,
        nonce: &'static str,
        aad: &'static str,
        text: &'static str,
        sealed: &'static str,
        tag: &'static str,
    }

    const GCM_TEXT: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
        1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
    const GCM_NONCE: &str = "cafebabefacedbaddecaf888";
    const GCM_AAD: &str = "feedfacedeadbeeffeedfacedeadbeefabaddad2";

    /// McGrew, Viega: The Galois/Counter Mode of Operation, test cases 4, 10 and 16; RFC 8439,
    /// section 2.8.2.
    const VECTORS: [Vector; 4] = [
        Vector {
            cipher: AES_GCM,
            key: "feffe9928665731c6d6a8f9467308308",
            nonce: GCM_NONCE,
            aad: GCM_AAD,
            text: GCM_TEXT,
            sealed: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
            tag: "5bc94fbc3221a5db94fae95ae7121a47",
        },
        Vector {
            cipher: AES_GCM,
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c",
            nonce: GCM_NONCE,
            aad: GCM_AAD,
            text: GCM_TEXT,
            sealed: "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c\
                7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
            tag: "2519498e80f1478f37ba55bd6d27618c",
        },
        Vector {
            cipher: AES_GCM,
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            nonce: GCM_NONCE,
            aad: GCM_AAD,
            text: GCM_TEXT,
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            tag: "76fc6ece0f4e1768cddf8853bb2d551b",
        },
        Vector {
            cipher: CHACHA,
            key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
            nonce: "070000004041424344454647",
            aad: "50515253c0c1c2c3c4c5c6c7",
            text: "4c616469657320616e642047656e746c656d656e206f662074686520636c6173\
                73206f66202739393a204966204920636f756c64206f6666657220796f75206f\
                6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73\
                637265656e20776f756c642062652069742e",
            sealed: "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6\
                3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36\
                92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc\
                3ff4def08e4b7a9de576d26586cec64b6116",
            tag: "1ae10b594f09e26a7e902ecbd0600691",
        },
    ];

    /// In any context, as all helpers here.
    fn hex(text: &str) -> Result<KVec<u8>> {
        let mut octets = KVec::new();
        for pair in text.as_bytes().chunks_exact(2) {
            let pair = core::str::from_utf8(pair).map_err(|_| EINVAL)?;
            let octet = u8::from_str_radix(pair, 16).map_err(|_| EINVAL)?;
            octets.push(octet, GFP_ATOMIC)?;
        }
        Ok(octets)
    }

    impl Vector {
        fn nonce(&self) -> Result<[u8; NONCE_LEN]> {
            hex(self.nonce)?.first_chunk().copied().ok_or(EINVAL)
        }

        fn layout(&self) -> Layout {
            Layout {
                aad: self.aad.len() / 2,
                tag: TAG,
            }
        }

        fn aead(&self) -> Result<SyncAead> {
            SyncAead::new(self.cipher, &hex(self.key)?, TAG)
        }

        /// Associated data, then `tag`, then `text`.
        fn record(&self, tag: &str, text: &str) -> Result<KVec<u8>> {
            let mut record = hex(self.aad)?;
            record.extend_from_slice(&hex(tag)?, GFP_ATOMIC)?;
            record.extend_from_slice(&hex(text)?, GFP_ATOMIC)?;
            Ok(record)
        }

        fn open_record(&self) -> Result<KVec<u8>> {
            self.record("00000000000000000000000000000000", self.text)
        }

        fn sealed_record(&self) -> Result<KVec<u8>> {
            self.record(self.tag, self.sealed)
        }
    }

    /// A packet of `data` in pages, a piece in each entry but the first `linear` bytes.
    fn in_pieces(data: &[u8], linear: usize, piece: usize) -> Result<SkBuff> {
        let bh = BhGuard::new();
        let like = SkBuff::with_data(0, &[])?;
        let mut packet = Aggregate::new(0, linear, &like, &bh)?;
        let (head, tail) = data.split_at(linear);
        for part in Iterator::chain([head].into_iter(), tail.chunks(piece)) {
            if !part.is_empty() {
                packet.add(part.len(), |room: &mut RecordRoom<'_>| {
                    room.bytes_mut().copy_from_slice(part);
                    Ok::<(), Error>(())
                })?;
            }
        }
        Ok(packet.finish(0))
    }

    fn content(packet: &SkBuff) -> Result<KVec<u8>> {
        let mut octets = KVec::from_elem(0, packet.len(), GFP_ATOMIC)?;
        packet
            .copy_to(0, &mut octets)
            .then_some(octets)
            .ok_or(EINVAL)
    }

    #[test]
    fn vectors_are_sealed_and_opened() -> Result {
        for vector in &VECTORS {
            let aead = vector.aead()?;
            let mut packet = SkBuff::with_data(0, &vector.open_record()?)?;
            let bh = BhGuard::new();
            aead.seal(&mut packet, vector.layout(), vector.nonce()?, &bh)?;
            drop(bh);
            assert!(content(&packet)?[..] == vector.sealed_record()?[..]);
            let bh = BhGuard::new();
            aead.open(&mut packet, vector.layout(), vector.nonce()?, &bh)?;
            drop(bh);
            assert!(content(&packet)?[vector.layout().text_at()..] == hex(vector.text)?[..]);
        }
        Ok(())
    }

    /// The same in packets whose memory is in pieces of every small size.
    #[test]
    fn pieces_make_no_difference() -> Result {
        for vector in &VECTORS {
            let aead = vector.aead()?;
            for piece in [8usize, 9, 16, 31] {
                for linear in [
                    0,
                    5,
                    vector.layout().text_at(),
                    vector.layout().text_at() + 3,
                ] {
                    let mut packet = in_pieces(&vector.open_record()?, linear, piece)?;
                    let bh = BhGuard::new();
                    aead.seal(&mut packet, vector.layout(), vector.nonce()?, &bh)?;
                    drop(bh);
                    assert!(content(&packet)?[..] == vector.sealed_record()?[..]);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn a_batch_seals_like_single_records() -> Result {
        for vector in &VECTORS {
            let aead = vector.aead()?;
            let like = SkBuff::with_data(0, &[])?;
            let (open, nonce) = (vector.open_record()?, vector.nonce()?);
            let bh = BhGuard::new();
            let mut batch = aead.batch(&bh)?;
            let mut packet = Aggregate::new(0, 0, &like, &bh)?;
            for _ in 0..3 {
                packet.add(open.len(), |room: &mut RecordRoom<'_>| {
                    room.bytes_mut().copy_from_slice(&open);
                    batch.seal(room, vector.layout(), nonce)
                })?;
            }
            let packet = packet.finish(0);
            drop(batch);
            drop(bh);
            let expected = vector.sealed_record()?;
            assert!(content(&packet)?
                .chunks(expected.len())
                .all(|record| record == &expected[..]));
        }
        Ok(())
    }

    /// One in each octet: of the associated data, the tag and the text.
    #[test]
    fn a_changed_bit_is_found() -> Result {
        for vector in [&VECTORS[0], &VECTORS[3]] {
            let aead = vector.aead()?;
            let sealed = vector.sealed_record()?;
            for at in 0..sealed.len() {
                let mut record = vector.sealed_record()?;
                record[at] ^= 1 << (at % 8);
                let mut packet = SkBuff::with_data(0, &record)?;
                let bh = BhGuard::new();
                let opened = aead.open(&mut packet, vector.layout(), vector.nonce()?, &bh);
                drop(bh);
                assert_eq!(opened.err(), Some(EBADMSG));
            }
        }
        Ok(())
    }

    #[test]
    fn short_records_are_refused() -> Result {
        let vector = &VECTORS[0];
        let (aead, layout) = (vector.aead()?, vector.layout());
        for len in 0..layout.text_at() {
            let mut packet = SkBuff::with_data(0, &vector.sealed_record()?[..len])?;
            let bh = BhGuard::new();
            let sealed = aead.seal(&mut packet, layout, vector.nonce()?, &bh);
            let opened = aead.open(&mut packet, layout, vector.nonce()?, &bh);
            drop(bh);
            assert_eq!(sealed.err(), Some(EMSGSIZE));
            assert_eq!(opened.err(), Some(EMSGSIZE));
        }
        // Without any text it is a record.
        let mut packet = SkBuff::with_data(0, &vector.sealed_record()?[..layout.text_at()])?;
        let bh = BhGuard::new();
        aead.seal(&mut packet, layout, vector.nonce()?, &bh)?;
        aead.open(&mut packet, layout, vector.nonce()?, &bh)
    }

    #[test]
    fn keys_have_their_lengths() {
        let key = [0; 64];
        for len in [0, 1, 15, 16, 17, 23, 24, 25, 31, 32, 33, 64] {
            let aes = SyncAead::new(AES_GCM, &key[..len], TAG).is_ok();
            assert_eq!(aes, [16, 24, 32].contains(&len));
            let chacha = SyncAead::new(CHACHA, &key[..len], TAG).is_ok();
            assert_eq!(chacha, len == 32);
        }
        assert!(SyncAead::new(c"no such cipher", &key[..32], TAG).is_err());
    }

    #[test]
    fn wiped_is_wiped() {
        let mut secret = [0xa5; 37];
        wipe(&mut secret[1..36]);
        assert!(secret[0] == 0xa5 && secret[36] == 0xa5);
        assert!(secret[1..36].iter().all(|octet| *octet == 0));
    }
}
