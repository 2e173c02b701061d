//! A client that sends what it is told to, right or wrong.

use std::net::SocketAddr;
use std::time::Duration;

use lazuli_smb::auth::ntlm::{NtHash, flag as ntlm, ntowf_v2, proof, session_base_key};
use lazuli_smb::crypto::{Cipher, CipherId, PreauthHash, Purpose, Signer, SigningAlgorithm, derive};
use lazuli_smb::wire::header::{RequestHeader, flag};
use lazuli_smb::wire::negotiate::Dialect;
use lazuli_smb::wire::text::to_utf16;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(30);
/// The session keys that the client makes up, where the exchange has one.
const EXPORTED: [u8; 16] = [0x55; 16];

pub mod command {
    pub const NEGOTIATE: u16 = 0;
    pub const SESSION_SETUP: u16 = 1;
    pub const LOGOFF: u16 = 2;
    pub const TREE_CONNECT: u16 = 3;
    pub const CREATE: u16 = 5;
    pub const CLOSE: u16 = 6;
    pub const IOCTL: u16 = 11;
    pub const ECHO: u16 = 13;
}

pub struct Raw {
    socket: TcpStream,
    pub next_message: u64,
    preauth: PreauthHash,
    pub dialect: Dialect,
    pub session: Option<Session>,
    pub tree: u32,
}

pub struct Session {
    pub id: u64,
    pub signer: Signer,
    /// Of the client: what it receives, what it sends.
    pub cipher: Option<Cipher>,
    pub flags: u16,
}

/// How a request is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    None,
    Signed,
    /// Signed, and then changed.
    Forged,
    Encrypted,
}

pub struct Answer {
    pub status: u32,
    pub header: RequestHeader,
    pub body: Vec<u8>,
    pub encrypted: bool,
    raw: Vec<u8>,
}

impl Raw {
    pub async fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).await.expect("connects");
        let preauth = PreauthHash::default();
        Self { socket, next_message: 0, preauth, dialect: Dialect::Smb311, session: None, tree: 0 }
    }

    /// Negotiated, logged on and connected to the share `files`.
    pub async fn ready(address: SocketAddr, dialect: Dialect, user: &str, key: &str) -> Self {
        let mut raw = Self::connect(address).await;
        assert_eq!(raw.negotiate(dialect).await.status, 0);
        assert_eq!(raw.log_on(user, key).await, 0, "{user} logs on");
        let answer = raw.tree_connect("files", Seal::Signed).await;
        assert_eq!(answer.status, 0, "connects to the share");
        raw.tree = answer.header.tree_id;
        raw
    }

    pub fn header(&mut self, command: u16) -> Vec<u8> {
        let mut message = Vec::new();
        message.extend(b"\xFESMB");
        message.extend(64u16.to_le_bytes());
        message.extend(1u16.to_le_bytes());
        message.extend(0u32.to_le_bytes());
        message.extend(command.to_le_bytes());
        message.extend(64u16.to_le_bytes());
        message.extend(0u32.to_le_bytes());
        message.extend(0u32.to_le_bytes());
        message.extend(self.next_message.to_le_bytes());
        message.extend(0u32.to_le_bytes());
        message.extend(self.tree.to_le_bytes());
        message.extend(self.session.as_ref().map_or(0, |session| session.id).to_le_bytes());
        message.extend([0; 16]);
        self.next_message += 1;
        message
    }

    /// In a frame, as it is.
    pub async fn send(&mut self, message: &[u8]) {
        let length = u32::try_from(message.len()).expect("short");
        let frame = [&length.to_be_bytes(), message].concat();
        // A server that has cut the connection takes nothing.
        let _ = self.socket.write_all(&frame).await;
    }

    /// None where the server ended the connection.
    pub async fn receive(&mut self) -> Option<Answer> {
        let frame = timeout(PATIENCE, async {
            let mut length = [0; 4];
            self.socket.read_exact(&mut length).await.ok()?;
            let mut frame = vec![0; u32::from_be_bytes(length) as usize];
            self.socket.read_exact(&mut frame).await.ok()?;
            Some(frame)
        });
        let mut frame = frame.await.expect("an answer in time")?;
        let encrypted = frame.starts_with(b"\xFDSMB");
        if encrypted {
            let cipher = self.session.as_ref().and_then(|session| session.cipher.as_ref()).expect("a cipher");
            let (head, message) = frame.split_at_mut(52);
            let tag = head[4..20].try_into().expect("sixteen");
            let nonce = head[20..36].try_into().expect("sixteen");
            cipher.open(&nonce, &head[20..52], message, &tag).expect("authentic");
            frame.drain(..52);
        }
        let header = RequestHeader::parse(&frame).expect("a header");
        let status = u32::from_le_bytes(frame[8..12].try_into().expect("four"));
        Some(Answer { status, header, body: frame[64..].to_vec(), encrypted, raw: frame })
    }

    pub fn protect(&self, mut message: Vec<u8>, seal: Seal) -> Vec<u8> {
        let Some(session) = &self.session else { return message };
        match seal {
            Seal::None => message,
            Seal::Signed | Seal::Forged => {
                let flags = u32::from_le_bytes(message[16..20].try_into().expect("four")) | flag::SIGNED;
                message[16..20].copy_from_slice(&flags.to_le_bytes());
                let message_id = u64::from_le_bytes(message[24..32].try_into().expect("eight"));
                let purpose = Purpose { message_id, from_server: false, cancel: message[12] == 12 };
                let signature = session.signer.sign(&[&message], purpose).expect("signs");
                message[48..64].copy_from_slice(&signature);
                if seal == Seal::Forged {
                    message[63] ^= 1;
                }
                message
            }
            Seal::Encrypted => {
                let cipher = session.cipher.as_ref().expect("a cipher");
                let nonce = cipher.next_nonce();
                let mut aad = nonce.to_vec();
                aad.extend(u32::try_from(message.len()).expect("short").to_le_bytes());
                aad.extend([0, 0, 1, 0]);
                aad.extend(session.id.to_le_bytes());
                let tag = cipher.seal(&nonce, &aad, &mut message).expect("seals");
                [&b"\xFDSMB"[..], &tag, &aad, &message].concat()
            }
        }
    }

    /// The answer to this very request: those to others that come late, and that it will be answered later, are passed over.
    pub async fn request(&mut self, command: u16, body: &[u8], seal: Seal) -> Option<Answer> {
        const PENDING: u32 = 0x103;
        let id = self.next_message;
        let mut message = self.header(command);
        message.extend(body);
        let message = self.protect(message, seal);
        self.send(&message).await;
        loop {
            let answer = self.receive().await?;
            if answer.header.message_id == id && answer.status != PENDING {
                return Some(answer);
            }
        }
    }

    pub fn negotiate_request(&mut self, dialects: &[u16]) -> Vec<u8> {
        let mut message = self.header(command::NEGOTIATE);
        message.extend(36u16.to_le_bytes());
        message.extend(u16::try_from(dialects.len()).expect("few").to_le_bytes());
        message.extend([1, 0, 0, 0]);
        // Encryption can be had.
        message.extend(0x40u32.to_le_bytes());
        message.extend([9; 16]);
        let list_end = 100 + 2 * dialects.len();
        let contexts = list_end.next_multiple_of(8);
        let newest = dialects.contains(&0x0311);
        message.extend(u32::try_from(if newest { contexts } else { 0 }).expect("near").to_le_bytes());
        message.extend([if newest { 3 } else { 0 }, 0, 0, 0]);
        dialects.iter().for_each(|dialect| message.extend(dialect.to_le_bytes()));
        if newest {
            message.resize(contexts, 0);
            // SHA-512 with a salt of four bytes; AES-128-GCM; AES-GMAC.
            message.extend([1, 0, 10, 0, 0, 0, 0, 0, 1, 0, 4, 0, 1, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0]);
            message.extend([2, 0, 4, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0]);
            message.extend([8, 0, 4, 0, 0, 0, 0, 0, 1, 0, 2, 0]);
        }
        message
    }

    pub async fn negotiate(&mut self, dialect: Dialect) -> Answer {
        let message = self.negotiate_request(&[dialect as u16]);
        self.dialect = dialect;
        self.preauth.update(&message);
        self.send(&message).await;
        let answer = self.receive().await.expect("an answer");
        self.preauth.update(&answer.raw);
        answer
    }

    /// The client hashes what it meant to send.
    pub fn hash_as_meant(&mut self, message: &[u8]) {
        self.preauth.update(message);
    }

    pub async fn receive_negotiated(&mut self) -> Answer {
        let answer = self.receive().await.expect("an answer");
        self.preauth.update(&answer.raw);
        answer
    }

    /// The status of the last answer; a session where it is zero.
    pub async fn log_on(&mut self, user: &str, key: &str) -> u32 {
        let flags = ntlm::UNICODE
            | ntlm::SIGN
            | ntlm::NTLM
            | ntlm::ALWAYS_SIGN
            | ntlm::EXTENDED_SESSION_SECURITY
            | ntlm::KEY_128
            | ntlm::KEY_EXCHANGE;
        let mut first = b"NTLMSSP\0\x01\0\0\0".to_vec();
        first.extend(flags.to_le_bytes());
        first.extend([0; 16]);
        let mut preauth = self.preauth;
        let (answer, request) = self.session_setup(0, &first).await;
        preauth.update(&request);
        let Some(answer) = answer else { return u32::MAX };
        if answer.status != 0xC000_0016 {
            return answer.status;
        }
        preauth.update(&answer.raw);
        let id = answer.header.session_id;
        let challenge = answer.body[8..].to_vec();
        let (token, session_key) = authenticate(&first, &challenge, user, key, flags);
        let (answer, request) = self.session_setup(id, &token).await;
        preauth.update(&request);
        let Some(answer) = answer else { return u32::MAX };
        if answer.status == 0 {
            let flags = u16::from_le_bytes([answer.body[2], answer.body[3]]);
            let (signer, cipher) = keys(self.dialect, &session_key, &preauth);
            let signed = answer.header.has(flag::SIGNED);
            assert!(signed, "the last answer of a logon is signed");
            let mut blank = answer.raw.clone();
            blank[48..64].fill(0);
            let purpose = Purpose { message_id: answer.header.message_id, from_server: true, cancel: false };
            assert!(signer.verify(&blank, purpose, &answer.header.signature), "with the session's key");
            self.session = Some(Session { id, signer, cipher, flags });
        }
        answer.status
    }

    async fn session_setup(&mut self, session: u64, token: &[u8]) -> (Option<Answer>, Vec<u8>) {
        let mut message = self.header(command::SESSION_SETUP);
        message[40..48].copy_from_slice(&session.to_le_bytes());
        message.extend([25, 0, 0, 1]);
        message.extend([0; 8]);
        message.extend(88u16.to_le_bytes());
        message.extend(u16::try_from(token.len()).expect("short").to_le_bytes());
        message.extend([0; 8]);
        message.extend(token);
        self.send(&message).await;
        (self.receive().await, message)
    }

    pub async fn tree_connect(&mut self, share: &str, seal: Seal) -> Answer {
        let path = to_utf16(&format!("\\\\server\\{share}"));
        let mut body = vec![9, 0, 0, 0, 72, 0];
        body.extend(u16::try_from(path.len()).expect("short").to_le_bytes());
        body.extend(path);
        self.request(command::TREE_CONNECT, &body, seal).await.expect("an answer")
    }

    /// Makes or opens a file, and tells its id.
    pub async fn create(&mut self, name: &str) -> Result<[u8; 16], u32> {
        let answer =
            self.request(command::CREATE, &create_body(name), Seal::Signed).await.expect("an answer");
        match answer.status {
            0 => Ok(answer.body[64..80].try_into().expect("sixteen")),
            status => Err(status),
        }
    }
}

pub fn create_body(name: &str) -> Vec<u8> {
    let name = to_utf16(name);
    let mut body = vec![57, 0, 0, 0];
    body.extend(2u32.to_le_bytes());
    body.extend([0; 16]);
    // All of reading and writing, shared with everybody, opened if it is there.
    for number in [0x0012_019Fu32, 0, 7, 3, 0] {
        body.extend(number.to_le_bytes());
    }
    body.extend(120u16.to_le_bytes());
    body.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
    body.extend([0; 8]);
    body.extend(&name);
    body
}

pub fn close_body(id: [u8; 16]) -> Vec<u8> {
    [&[24, 0, 0, 0, 0, 0, 0, 0][..], &id].concat()
}

fn keys(dialect: Dialect, session_key: &[u8; 16], preauth: &PreauthHash) -> (Signer, Option<Cipher>) {
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
fn authenticate(
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
