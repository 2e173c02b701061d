//! Tokens of logons over SMB: SPNEGO, NTLM inside it, and NTLM bare. Nobody without the key is ever let in.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::OnceLock;

use lazuli_smb::Users;
use lazuli_smb::auth::logon::{Gate, Logon, Step};
use lazuli_smb::auth::ntlm::{Authenticate, Negotiate, NtHash};
use lazuli_smb::auth::spnego::{self, Token};
use lazuli_smb::auth::throttle::Throttle;
use tokio::runtime::{Builder, Runtime};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub fn run(data: &[u8]) {
    let _ = Negotiate::parse(data);
    if let Ok(told) = Authenticate::parse(data) {
        assert!(told.nt_response.len() + told.encrypted_session_key.len() <= 2 * data.len());
    }
    if let Ok(Token::First { mechanisms, ntlm_offered, ntlm_token }) = spnego::parse(data) {
        assert!(mechanisms.len() <= data.len());
        assert!(ntlm_offered || ntlm_token.is_none());
    }
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().enable_time().build().unwrap());
    // Two tokens, as a logon has them: what lies before the first line feed, and what lies behind it.
    let middle = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (first, second) = data.split_at(middle);
    runtime.block_on(async {
        // A gate of its own: what is slowed down is not what is looked for.
        let hash = || NtHash::of_password("nobody's");
        let users = Users::new([("alpha", vec!["a2V5"])]);
        let gate =
            Gate { users, throttle: Throttle::default(), name: "FUZZ".to_owned(), nobody: [hash(), hash()] };
        let mut logon = Logon::default();
        for token in [data, first, second.get(1..).unwrap_or_default()] {
            let step = logon.step(token, &gate, HERE, 0).await;
            assert!(!matches!(step, Ok(Step::Done(_))), "let in without the key");
        }
    });
}
