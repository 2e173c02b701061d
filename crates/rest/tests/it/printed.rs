//! docs/operations.md is the printed table.

use lazuli_model::operation::operations_markdown;

#[test]
fn docs_operations_is_printed_from_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    let printed = operations_markdown(lazuli_rest::is_built);
    if std::env::var_os("LAZULI_PRINT").is_some() {
        std::fs::write(path, &printed).expect("write docs/operations.md");
    }
    let kept = std::fs::read_to_string(path).expect("docs/operations.md");
    assert!(
        kept == printed,
        "docs/operations.md is stale: LAZULI_PRINT=1 cargo test -p lazuli-rest --test it printed"
    );
}
