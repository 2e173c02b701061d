//! The worked examples of MS-NLMP 4.2.4, of the SMB 3.0 and 3.1.1 walkthroughs that Microsoft published, and of RFC 4493.

use lazuli_smb::auth::ntlm::{NtHash, ntowf_v2, proof, session_base_key};
use lazuli_smb::crypto::{Cipher, CipherId, Purpose, Signer, SigningAlgorithm, derive};

pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hex"))
        .collect()
}

fn array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().expect("of this length")
}

#[test]
fn ntlm_version_2_as_in_the_specification() {
    let hash = NtHash::of_password("Password");
    assert_eq!(hash.as_bytes().as_slice(), hex("a4f49c406510bdcab6824ee7c30fd852"));
    let key = ntowf_v2(&hash, "User", "Domain");
    assert_eq!(key.as_slice(), hex("0c868a403bfd7a93a3001ef22ef02e3f"));
    let blob = hex("0101000000000000 0000000000000000 aaaaaaaaaaaaaaaa 00000000
         02000c0044006f006d00610069006e00 01000c00530065007200760065007200 00000000 00000000");
    let proof = proof(&key, &array("0123456789abcdef"), &blob);
    assert_eq!(proof.as_slice(), hex("68cd0ab851e51c96aabc927bebef6a1c"));
    let base = session_base_key(&key, &proof);
    assert_eq!(base.as_slice(), hex("8de40ccadbc14a82f15cb0ad0de95ca3"));
    assert_eq!(ntowf_v2(&hash, "uSER", "Domain"), key, "the case of the user's name does not matter");
    assert_ne!(ntowf_v2(&hash, "User", "DOMAIN"), key, "that of the domain does");
}

/// The walkthroughs are a client's: it encrypts with what the server decrypts with.
#[test]
fn keys_of_3_0_as_in_the_walkthrough() {
    let session_key = hex("7CD451825D0450D235424E44BA6E78CC");
    let key = |label: &[u8], context: &[u8]| derive(&session_key, label, context, 16).to_vec();
    assert_eq!(key(b"SMB2AESCMAC\0", b"SmbSign\0"), hex("0B7E9C5CAC36C0F6EA9AB275298CEDCE"));
    assert_eq!(key(b"SMB2AESCCM\0", b"ServerIn \0"), hex("FAD27796665B313EBB578F388632B4F7"));
    assert_eq!(key(b"SMB2AESCCM\0", b"ServerOut\0"), hex("B0F0427F7CEB416D1D9DCC0CD4F99447"));
}

#[test]
fn keys_of_3_1_1_as_in_the_walkthrough() {
    let session_key = hex("270E1BA896585EEB7AF3472D3B4C75A7");
    let preauth = hex("0DD13628CC3ED218EF9DF9772D436D0887AB9814BFAE63A80AA845F36909DB79
         28622DDDAD522D9751640A459762C5A9D6BB084CBB3CE6BDADEF5D5BCE3C6C01");
    let key = |label: &[u8]| derive(&session_key, label, &preauth, 16).to_vec();
    assert_eq!(key(b"SMBSigningKey\0"), hex("73FE7A9A77BEF0BDE49C650D8CCB5F76"));
    assert_eq!(key(b"SMBC2SCipherKey\0"), hex("629BCBC54422A0F572B97F45989B6073"));
    assert_eq!(key(b"SMBS2CCipherKey\0"), hex("E2AF0DCEFAC68DA71A0DFBD0D1350D74"));
}

#[test]
fn the_answer_that_ends_the_walkthrough_s_logon_is_signed_like_this() {
    let answer = hex("FE534D4240000100000000000100800009000000000000000300000000000000FFFE000000000000
         1900000000100000000000000000000000000000000000000900000048001D00A11B3019A0030A01
         00A3120410010000003B453CDC3524164200000000");
    let signer = Signer::new(SigningAlgorithm::AesCmac, &array("73FE7A9A77BEF0BDE49C650D8CCB5F76"));
    let signer = signer.expect("a key of this length");
    let purpose = Purpose { message_id: 3, from_server: true, cancel: false };
    let signature = signer.sign(&[&answer], purpose).expect("signs");
    assert_eq!(signature.as_slice(), hex("EBE146DA120BA25FC3376A49DFE31BC1"));
    let (head, tail) = answer.split_at(70);
    assert_eq!(signer.sign(&[head, tail], purpose).expect("signs"), signature, "in parts as in one piece");
    assert!(signer.verify(&answer, purpose, &signature));
    assert!(!signer.verify(&answer[1..], purpose, &signature));
}

#[test]
fn encryption_of_3_0_as_in_the_walkthrough() {
    let packet = hex("FE534D4240000100000000000900400008000000000000000400000000000000
         FFFE0000010000001100001400E4080000000000000000000000000000000000
         3100700017000000000000000000000015010000390000020100000039020000
         00000000000000007000000000000000536D623320656E6372797074696F6E20
         74657374696E67");
    let aad = hex("66E69A111892584FB5ED524A744DA3EE87000000000001001100001400E40800");
    let nonce = array("66E69A111892584FB5ED524A744DA3EE");
    let key = hex("261B72350558F2E9DCF613070383EDBF");
    let cipher = Cipher::new(CipherId::Aes128Ccm, &key, &key).expect("keys of this length");
    let mut message = packet.clone();
    let tag = cipher.seal(&nonce, &aad, &mut message).expect("seals");
    assert_eq!(tag.as_slice(), hex("81A286535415445DAE393921E44FA42E"));
    cipher.open(&nonce, &aad, &mut message, &tag).expect("opens");
    assert_eq!(message, packet);
}

#[test]
fn every_cipher_opens_what_it_sealed_and_nothing_else() {
    for id in [CipherId::Aes128Ccm, CipherId::Aes128Gcm, CipherId::Aes256Ccm, CipherId::Aes256Gcm] {
        let (there, back) = (vec![1; id.key_bytes()], vec![2; id.key_bytes()]);
        let server = Cipher::new(id, &there, &back).expect("keys of this length");
        let client = Cipher::new(id, &back, &there).expect("keys of this length");
        let nonces = [server.next_nonce(), server.next_nonce()];
        assert_ne!(nonces[0], nonces[1], "{id:?}: no nonce comes twice");
        let mut message = b"a message".to_vec();
        let tag = server.seal(&nonces[0], b"aad", &mut message).expect("seals");
        assert_ne!(message, b"a message");
        for (nonce, aad, tag) in [
            (nonces[1], &b"aad"[..], tag),
            (nonces[0], &b"aae"[..], tag),
            (nonces[0], &b"aad"[..], tag.map(|byte| byte ^ 1)),
        ] {
            assert!(client.open(&nonce, aad, &mut message.clone(), &tag).is_err(), "{id:?}");
        }
        assert!(
            server.open(&nonces[0], b"aad", &mut message.clone(), &tag).is_err(),
            "{id:?}: another direction"
        );
        client.open(&nonces[0], b"aad", &mut message, &tag).expect("opens");
        assert_eq!(message, b"a message");
    }
}

#[test]
fn gmac_tells_messages_apart_by_id_and_direction() {
    let signer = Signer::new(SigningAlgorithm::AesGmac, &[7; 16]).expect("a key of this length");
    let sign = |message_id, from_server, cancel| {
        signer.sign(&[b"the same message"], Purpose { message_id, from_server, cancel }).expect("signs")
    };
    let all = [sign(1, true, false), sign(1, false, false), sign(2, true, false), sign(1, false, true)];
    for (number, one) in all.iter().enumerate() {
        assert!(all.iter().skip(number + 1).all(|other| one != other));
    }
}
