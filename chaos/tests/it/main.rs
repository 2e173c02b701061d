//! The program itself. Its cases need a server and time: `cargo xtask test chaos`.

use std::process::Command;

#[test]
fn the_judge_of_histories_is_awake() {
    let output = Command::new(env!("CARGO_BIN_EXE_lazuli-chaos")).arg("checker").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.ends_with("1 passed, 0 failed\n"), "{text}");
}

#[test]
fn a_case_that_does_not_exist_is_refused() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_lazuli-chaos")).arg("no-such-case").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}
