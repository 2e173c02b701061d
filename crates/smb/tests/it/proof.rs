//! How a client proves who it is, and the keys that come of it.

use lazuli_smb::auth::ntlm::{NtHash, ntowf_v2, proof, session_base_key};
use lazuli_smb::crypto::{Cipher, CipherId, PreauthHash, Signer, SigningAlgorithm, derive};
use lazuli_smb::wire::negotiate::Dialect;
use lazuli_smb::wire::text::to_utf16;

/// The session keys that the client makes up, where the exchange has one.
const EXPORTED: [u8; 16] = [0x55; 16];

pub fn keys(dialect: Dialect, session_key: &[u8; 16], preauth: &PreauthHash) -> (Signer, Option<Cipher>) {
    let hash = preauth.as_bytes();
    let key = |label: &[u8], context: &[u8]| derive(session_key, label, context, 16).to_vec();
    let signer = |algorithm, key: &[u8]| {
        Signer::new(algorithm, key.try_into().expect("sixteen")).expect("a key of this length")
    };
    match dialect {
        Dialect::Smb210 => (signer(SigningAlgorithm::HmacSha256, session_key), None),
        Dialect::Smb300 | Dialect::Smb302 => {
            let signing = key(b"SMB2AESCMAC\0", b"SmbSign\0");
            let (receive, send) =
                (key(b"SMB2AESCCM\0", b"ServerOut\0"), key(b"SMB2AESCCM\0", b"ServerIn \0"));
            let cipher = Cipher::new(CipherId::Aes128Ccm, &receive, &send).expect("keys");
            (signer(SigningAlgorithm::AesCmac, &signing), Some(cipher))
        }
        Dialect::Smb311 => {
            let signing = key(b"SMBSigningKey\0", hash);
            let (receive, send) = (key(b"SMBS2CCipherKey\0", hash), key(b"SMBC2SCipherKey\0", hash));
            let cipher = Cipher::new(CipherId::Aes128Gcm, &receive, &send).expect("keys");
            (signer(SigningAlgorithm::AesGmac, &signing), Some(cipher))
        }
    }
}

/// The last message of NTLM, and the key that the session has by it.
pub fn authenticate(
    first: &[u8],
    challenge: &[u8],
    user: &str,
    password: &str,
    flags: u32,
) -> (Vec<u8>, [u8; 16]) {
    use hmac::{Hmac, KeyInit, Mac};
    use rc4::StreamCipher;
    let server_challenge = challenge[24..32].try_into().expect("eight");
    let info_length = usize::from(u16::from_le_bytes([challenge[40], challenge[41]]));
    let info_offset = u32::from_le_bytes(challenge[44..48].try_into().expect("four")) as usize;
    let info = &challenge[info_offset..info_offset + info_length];
    let key = ntowf_v2(&NtHash::of_password(password), user, "AZURE");
    let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
    blob.extend([0; 8]);
    blob.extend([0xAA; 8]);
    blob.extend([0; 4]);
    // What the server said, and that there is an integrity code.
    blob.extend(&info[..info.len() - 4]);
    blob.extend([6, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let proof = proof(&key, &server_challenge, &blob);
    let base = session_base_key(&key, &proof);
    let mut encrypted = EXPORTED;
    rc4::Rc4::new_from_slice(&base).expect("a key").apply_keystream(&mut encrypted);
    let response = [&proof[..], &blob].concat();
    let (domain, user) = (to_utf16("AZURE"), to_utf16(user));
    let fields: [&[u8]; 6] = [&[], &response, &domain, &user, &[], &encrypted];
    let mut message = b"NTLMSSP\0\x03\0\0\0".to_vec();
    let mut offset = 88u32;
    for field in fields {
        let length = u16::try_from(field.len()).expect("short");
        message.extend(length.to_le_bytes());
        message.extend(length.to_le_bytes());
        message.extend(offset.to_le_bytes());
        offset += u32::from(length);
    }
    message.extend(flags.to_le_bytes());
    message.extend([0; 8 + 16]);
    fields.iter().for_each(|field| message.extend(*field));
    let mut mac = Hmac::<md5::Md5>::new_from_slice(&EXPORTED).expect("a key");
    [first, challenge, &message].iter().for_each(|part| mac.update(part));
    message[72..88].copy_from_slice(&mac.finalize().into_bytes());
    (message, EXPORTED)
}
