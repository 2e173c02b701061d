//! What each operation asks of each kind of credential: auth.md sections 4 to 8, typed a second time. The
//! matrix compares the operation table with this text, so the two must agree.
//!
//! Columns: operation; signed resource types and permissions of an account SAS (`|` between alternatives,
//! letters side by side are needed together); permissions of a service SAS; who may ask without credentials;
//! whether a bearer token will do, or from which version on. `-` is never, `*` is any.

const RULES: &str = "
    ListContainers                   s   l     -    -          yes
    SetBlobServiceProperties         s   w     -    -          yes
    GetBlobServiceProperties         s   r     -    -          yes
    PreflightBlobRequest             *   *     *    everybody  yes
    GetBlobServiceStats              s   r     -    -          yes
    GetAccountInformation            *   *     *    -          yes
    GetAccountInformationOfContainer *   *     *    -          yes
    GetAccountInformationOfBlob      *   *     *    -          yes
    GetUserDelegationKey             -   -     -    -          only
    BlobBatch                        *   *     *    -          yes
    FindBlobsByTags                  s|o f     -    -          yes
    CreateContainer                  c   c|w   -    -          yes
    GetContainerProperties           c   r     -    container  yes
    GetContainerMetadata             c   r     -    container  yes
    SetContainerMetadata             c   w     -    -          yes
    GetContainerAcl                  -   -     -    -          2025-07-05
    SetContainerAcl                  -   -     -    -          2025-07-05
    DeleteContainer                  c   d     -    -          yes
    AcquireContainerLease            c   w     -    -          yes
    RenewContainerLease              c   w     -    -          yes
    ChangeContainerLease             c   w     -    -          yes
    ReleaseContainerLease            c   w     -    -          yes
    BreakContainerLease              c   w|d   -    -          yes
    RestoreContainer                 c   w     -    -          yes
    RenameContainer                  c   w     -    -          yes
    ListBlobs                        c   l     l    container  yes
    FindBlobsByTagsInContainer       c   f     f    -          yes
    ContainerBatch                   *   *     *    -          yes
    PutBlockBlob                     o   c|w   c|w  -          yes
    PutPageBlob                      o   c|w   c|w  -          yes
    PutAppendBlob                    o   c|w   c|w  -          yes
    GetBlob                          o   r     r    blob       yes
    GetBlobProperties                o   r     r    blob       yes
    SetBlobProperties                o   w     w    -          yes
    GetBlobMetadata                  o   r     r    blob       yes
    SetBlobMetadata                  o   w     w    -          yes
    AcquireBlobLease                 o   w     w    -          yes
    RenewBlobLease                   o   w     w    -          yes
    ChangeBlobLease                  o   w     w    -          yes
    ReleaseBlobLease                 o   w     w    -          yes
    BreakBlobLease                   o   w|d   w|d  -          yes
    SnapshotBlob                     o   c|w   c|w  -          yes
    DeleteBlob                       o   d     d    -          yes
    UndeleteBlob                     o   w     w    -          yes
    SetBlobTier                      o   w     w    -          yes
    GetBlobTags                      o   t     t    -          yes
    SetBlobTags                      o   t     t    -          yes
    SetBlobExpiry                    o   w     w    -          yes
    SetBlobImmutabilityPolicy        o   i     i    -          yes
    DeleteBlobImmutabilityPolicy     o   i     i    -          yes
    SetBlobLegalHold                 o   i     i    -          yes
    QueryBlobContents                o   r     r    -          yes
    PutBlock                         o   c|w   c|w  -          yes
    PutBlockList                     o   c|w   c|w  -          yes
    GetBlockList                     o   r     r    blob       yes
    PutPage                          o   w     w    -          yes
    ClearPages                       o   w     w    -          yes
    GetPageRanges                    o   r     r    blob       yes
    AppendBlock                      o   a|w   a|w  -          yes
    AppendBlobSeal                   o   w     w    -          yes
    CopyBlob                         o   c|w   c|w  -          yes
    CopyBlobFromUrl                  o   c|w   c|w  -          yes
    PutBlobFromUrl                   o   c|w   c|w  -          yes
    AbortCopyBlob                    o   w     w    -          yes
    IncrementalCopyBlob              o   c|w   c|w  -          yes
    PutBlockFromUrl                  o   c|w   c|w  -          yes
    PutPageFromUrl                   o   w     w    -          yes
    AppendBlockFromUrl               o   a|w   a|w  -          yes
    ListQueues                       s   l     -    -          yes
    SetQueueServiceProperties        s   w     -    -          yes
    GetQueueServiceProperties        s   r     -    -          yes
    PreflightQueueRequest            *   *     *    everybody  yes
    GetQueueServiceStats             s   r     -    -          yes
    GetQueueUserDelegationKey        -   -     -    -          only
    CreateQueue                      c   c|w   -    -          yes
    DeleteQueue                      c   d     -    -          yes
    GetQueueMetadata                 c   r     r    -          yes
    SetQueueMetadata                 c   w     -    -          yes
    GetQueueAcl                      -   -     -    -          2025-07-05
    SetQueueAcl                      -   -     -    -          2025-07-05
    PutMessage                       o   a     a    -          yes
    GetMessages                      o   p     p    -          yes
    PeekMessages                     o   r     r    -          yes
    ClearMessages                    o   d     -    -          yes
    UpdateMessage                    o   u     u    -          yes
    DeleteMessage                    o   p     p    -          yes
    SetTableServiceProperties        s   w     -    -          yes
    GetTableServiceProperties        s   r     -    -          yes
    PreflightTableRequest            *   *     *    everybody  yes
    GetTableServiceStats             s   r     -    -          yes
    QueryTables                      s   l     -    -          yes
    CreateTable                      c   c|w   -    -          yes
    GetTable                         s   l     -    -          yes
    DeleteTable                      c   d     -    -          yes
    GetTableAcl                      -   -     -    -          no
    SetTableAcl                      -   -     -    -          no
    QueryEntities                    o   r     r    -          yes
    GetEntity                        o   r     r    -          yes
    InsertEntity                     o   a     a    -          yes
    UpdateEntity                     o   u     u    -          yes
    MergeEntity                      o   u     u    -          yes
    InsertOrReplaceEntity            o   au    au   -          yes
    InsertOrMergeEntity              o   au    au   -          yes
    DeleteEntity                     o   d     d    -          yes
    EntityGroupTransaction           *   *     *    -          yes
";

#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub op: &'static str,
    pub types: &'static str,
    pub account: &'static str,
    pub service: &'static str,
    pub anonymous: &'static str,
    pub bearer: &'static str,
}

pub fn rules() -> Vec<Rule> {
    RULES
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let columns: Vec<&'static str> = line.split_whitespace().collect();
            let [op, types, account, service, anonymous, bearer] = columns[..] else { panic!("{line}") };
            Rule { op, types, account, service, anonymous, bearer }
        })
        .collect()
}

/// Whether letters cover a cell.
pub fn covers(cell: &str, letters: &str) -> bool {
    cell == "*"
        || (cell != "-"
            && cell.split('|').any(|needed| needed.chars().all(|letter| letters.contains(letter))))
}
