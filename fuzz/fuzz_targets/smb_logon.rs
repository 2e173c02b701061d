#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lazuli_fuzz_targets::drive("smb_logon", data));
