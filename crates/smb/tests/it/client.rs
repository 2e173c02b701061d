//! A client that sends what it is told to, right or wrong.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lazuli_smb::auth::ntlm::flag as ntlm;
use lazuli_smb::crypto::{Cipher, PreauthHash, Purpose, Signer};
use lazuli_smb::wire::header::{RequestHeader, flag};
use lazuli_smb::wire::negotiate::Dialect;
use lazuli_smb::wire::text::to_utf16;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::proof::{authenticate, keys};

const PATIENCE: Duration = Duration::from_secs(30);

pub mod command {
    pub const NEGOTIATE: u16 = 0;
    pub const SESSION_SETUP: u16 = 1;
    pub const LOGOFF: u16 = 2;
    pub const WRITE: u16 = 9;
    pub const CANCEL: u16 = 12;
    pub const CHANGE_NOTIFY: u16 = 15;
    pub const OPLOCK_BREAK: u16 = 18;
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
    pub signer: Arc<Signer>,
    /// Of the client: what it receives, what it sends.
    pub cipher: Option<Arc<Cipher>>,
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

    /// The beginning of a frame of this length, and nothing of it.
    pub async fn announce(&mut self, length: u32) {
        self.socket.write_all(&length.to_be_bytes()).await.expect("sent");
    }

    /// Closed for the server, too.
    pub async fn cut(&mut self) {
        self.socket.shutdown().await.expect("open until now");
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
                message = sign(message, &session.signer);
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
        self.prove(user, key, None).await
    }

    /// The same, to have this connection for the session of another one, too.
    pub async fn bind(&mut self, of: &Raw, user: &str, key: &str) -> u32 {
        self.prove(user, key, of.session.as_ref()).await
    }

    async fn prove(&mut self, user: &str, key: &str, bind: Option<&Session>) -> u32 {
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
        let (answer, request) = self.session_setup(bind.map_or(0, |of| of.id), &first, bind).await;
        preauth.update(&request);
        let Some(answer) = answer else { return u32::MAX };
        if answer.status != 0xC000_0016 {
            return answer.status;
        }
        preauth.update(&answer.raw);
        let id = answer.header.session_id;
        let challenge = answer.body[8..].to_vec();
        let (token, session_key) = authenticate(&first, &challenge, user, key, flags);
        let (answer, request) = self.session_setup(id, &token, bind).await;
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
            let cipher = bind.map_or(cipher.map(Arc::new), |of| of.cipher.clone());
            self.session = Some(Session { id, signer: Arc::new(signer), cipher, flags });
        }
        answer.status
    }

    async fn session_setup(
        &mut self,
        session: u64,
        token: &[u8],
        bind: Option<&Session>,
    ) -> (Option<Answer>, Vec<u8>) {
        let mut message = self.header(command::SESSION_SETUP);
        message[40..48].copy_from_slice(&session.to_le_bytes());
        message.extend([25, 0, u8::from(bind.is_some()), 1]);
        message.extend([0; 8]);
        message.extend(88u16.to_le_bytes());
        message.extend(u16::try_from(token.len()).expect("short").to_le_bytes());
        message.extend([0; 8]);
        message.extend(token);
        if let Some(of) = bind {
            message = sign(message, &of.signer);
        }
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

    /// Opens the root of the share, and tells the id.
    pub async fn open_root(&mut self) -> [u8; 16] {
        let mut body = create_body("");
        body[36..40].copy_from_slice(&1u32.to_le_bytes());
        // Of a directory.
        body[40..44].copy_from_slice(&1u32.to_le_bytes());
        let answer = self.request(command::CREATE, &body, Seal::Signed).await.expect("an answer");
        assert_eq!(answer.status, 0);
        answer.body[64..80].try_into().expect("sixteen")
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

fn sign(mut message: Vec<u8>, signer: &Signer) -> Vec<u8> {
    let flags = u32::from_le_bytes(message[16..20].try_into().expect("four")) | flag::SIGNED;
    message[16..20].copy_from_slice(&flags.to_le_bytes());
    let message_id = u64::from_le_bytes(message[24..32].try_into().expect("eight"));
    let purpose = Purpose { message_id, from_server: false, cancel: message[12] == 12 };
    let signature = signer.sign(&[&message], purpose).expect("signs");
    message[48..64].copy_from_slice(&signature);
    message
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
