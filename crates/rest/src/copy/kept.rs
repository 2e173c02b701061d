//! The address of a source elsewhere, as a copy keeps it that may have to ask for it again. The signature that it may have is
//! sealed by the key of the account that copies: neither the store nor its log, which keeps what was deleted for a while,
//! shows it to who has no key. When the key is rotated away, the copy cannot be begun again.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lazuli_service::blob::ForeignAddress;

use crate::auth::accounts::{Account, Accounts, Key};

/// What stands in the query in place of all of it; then the account, and what is sealed.
const SEALED: &str = "lazuli-sealed=";
/// Each address is sealed by a key of its own, which is made of this.
const SALT: usize = 16;

/// None where it cannot be sealed, and so not be kept.
pub(super) fn seal(account: &Account, address: ForeignAddress) -> Option<ForeignAddress> {
    let Some((place, query)) = address.url.split_once('?') else { return Some(address) };
    let mut salt = [0; SALT];
    aws_lc_rs::rand::fill(&mut salt).ok()?;
    let key = sealing_key(account.keys().first()?, &salt)?;
    let mut sealed = query.as_bytes().to_vec();
    key.seal_in_place_append_tag(nonce(), Aad::from(place), &mut sealed).ok()?;
    let sealed = BASE64_URL_SAFE_NO_PAD.encode([&salt[..], &sealed].concat());
    let url = format!("{place}?{SEALED}{}~{sealed}", account.name);
    Some(ForeignAddress { url, ..address })
}

/// None where no account has the key any more.
pub(super) fn open(accounts: &Accounts, address: &ForeignAddress) -> Option<ForeignAddress> {
    let sealed =
        address.url.split_once('?').and_then(|(place, query)| Some((place, query.strip_prefix(SEALED)?)));
    // Without a signature, or kept by a server that did not seal.
    let Some((place, sealed)) = sealed else { return Some(address.clone()) };
    let (account, sealed) = sealed.split_once('~')?;
    let sealed = BASE64_URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let (salt, sealed) = sealed.split_first_chunk::<SALT>()?;
    let account = accounts.get(account)?;
    let query = account.keys().iter().find_map(|key| {
        let mut sealed = sealed.to_vec();
        let opened = sealing_key(key, salt)?.open_in_place(nonce(), Aad::from(place), &mut sealed).ok()?;
        String::from_utf8(opened.to_vec()).ok()
    })?;
    Some(ForeignAddress { url: format!("{place}?{query}"), ..address.clone() })
}

fn sealing_key(key: &Key, salt: &[u8; SALT]) -> Option<LessSafeKey> {
    let derived = key.sign(&[b"the source of a copy".as_slice(), salt].concat());
    UnboundKey::new(&AES_256_GCM, &derived).ok().map(LessSafeKey::new)
}

/// The key is used once.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> ForeignAddress {
        ForeignAddress { url: url.into(), version: "2021-06-08".into(), etag: None }
    }

    #[test]
    fn a_signature_is_opened_by_a_key_of_its_account_only() {
        let (one, two) = (Key::new(b"one"), Key::new(b"two"));
        let account = Account::new("mine", vec![one.clone()]);
        let signed = address("http://there/c/b?snapshot=1&sig=secret");
        let kept = seal(&account, signed.clone()).expect("sealed");
        assert!(kept.url.starts_with("http://there/c/b?") && !kept.url.contains("secret"), "{}", kept.url);
        assert_ne!(seal(&account, signed.clone()).expect("sealed"), kept);
        let with = |name: &str, keys: &[&Key]| {
            Accounts::new([Account::new(name, keys.iter().map(|key| (*key).clone()).collect())])
        };
        assert_eq!(open(&with("mine", &[&one]), &kept), Some(signed.clone()));
        assert_eq!(open(&with("mine", &[&two, &one]), &kept), Some(signed));
        assert_eq!(open(&with("mine", &[&two]), &kept), None);
        assert_eq!(open(&with("other", &[&one]), &kept), None);
        let elsewhere = address(&kept.url.replace("there", "where"));
        assert_eq!(open(&with("mine", &[&one]), &elsewhere), None, "it is sealed for its place");
    }

    #[test]
    fn what_has_no_signature_is_kept_as_it_is() {
        let plain = address("http://there/c/b");
        assert_eq!(seal(&Account::new("mine", Vec::new()), plain.clone()), Some(plain.clone()));
        assert_eq!(open(&Accounts::default(), &plain), Some(plain));
        let before = address("http://there/c/b?sig=x");
        assert_eq!(open(&Accounts::default(), &before), Some(before.clone()));
        for broken in ["lazuli-sealed=", "lazuli-sealed=mine", "lazuli-sealed=mine~", "lazuli-sealed=mine~%%"]
        {
            assert_eq!(open(&Accounts::development(), &address(&format!("http://t/c?{broken}"))), None);
        }
    }
}
