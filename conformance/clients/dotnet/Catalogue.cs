// The operations of the tables, and what the service says each does to the ETag (contract: what moves it, what does not).
using System.Collections.Generic;
using System.Linq;

static class Catalogue
{
    static readonly Operation[] All =
    {
        new Operation("PutBlob", Kind.Block, Effect.Moves),
        new Operation("PutPageBlob", Kind.Page, Effect.Moves),
        new Operation("PutAppendBlob", Kind.Append, Effect.Moves),
        new Operation("PutBlobFromUrl", Kind.Block, Effect.Moves, Kind.Block),
        new Operation("PutBlock", Kind.Block, Effect.Keeps),
        new Operation("PutBlockFromUrl", Kind.Block, Effect.Keeps, Kind.Block),
        new Operation("PutBlockList", Kind.Block, Effect.Moves),
        new Operation("GetBlockList", Kind.Block, Effect.Keeps),
        new Operation("AppendBlock", Kind.Append, Effect.Moves),
        new Operation("AppendBlockFromUrl", Kind.Append, Effect.Moves, Kind.Block),
        new Operation("AppendBlobSeal", Kind.Append, Effect.Moves),
        new Operation("PutPage", Kind.Page, Effect.Moves),
        new Operation("ClearPages", Kind.Page, Effect.Moves),
        new Operation("PutPageFromUrl", Kind.Page, Effect.Moves, Kind.Page),
        new Operation("GetPageRanges", Kind.Page, Effect.Keeps),
        new Operation("GetPageRangesDiff", Kind.Page, Effect.Keeps),
        new Operation("ResizePageBlob", Kind.Page, Effect.Moves),
        new Operation("SetSequenceNumber", Kind.Page, Effect.Moves),
        new Operation("GetBlob", Kind.Block, Effect.Keeps),
        new Operation("GetBlobProperties", Kind.Block, Effect.Keeps),
        new Operation("QueryBlobContents", Kind.Block, Effect.Keeps),
        new Operation("SetBlobMetadata", Kind.Block, Effect.Moves),
        new Operation("SetBlobProperties", Kind.Block, Effect.Moves),
        new Operation("SetBlobTier", Kind.Block, Effect.Keeps),
        new Operation("GetBlobTags", Kind.Block, Effect.Keeps),
        new Operation("SetBlobTags", Kind.Block, Effect.Keeps),
        new Operation("SetBlobImmutabilityPolicy", Kind.Block, Effect.Keeps),
        new Operation("DeleteBlobImmutabilityPolicy", Kind.Block, Effect.Keeps),
        new Operation("SetBlobLegalHold", Kind.Block, Effect.Keeps),
        new Operation("SnapshotBlob", Kind.Block, Effect.Keeps),
        new Operation("DeleteBlob", Kind.Block, Effect.Deletes),
        new Operation("CopyBlob", Kind.Block, Effect.Moves, Kind.Block),
        new Operation("CopyBlobFromUrl", Kind.Block, Effect.Moves, Kind.Block),
        new Operation("IncrementalCopyBlob", Kind.Page, Effect.Moves, Kind.Page),
        new Operation("AcquireLease", Kind.Block, Effect.Keeps),
        new Operation("RenewLease", Kind.Block, Effect.Keeps),
        new Operation("ChangeLease", Kind.Block, Effect.Keeps),
        new Operation("ReleaseLease", Kind.Block, Effect.Keeps),
        new Operation("BreakLease", Kind.Block, Effect.Keeps),
        new Operation("GetContainerProperties", Kind.Container, Effect.Keeps),
        new Operation("SetContainerMetadata", Kind.Container, Effect.Moves),
        new Operation("GetContainerAcl", Kind.Container, Effect.Keeps),
        new Operation("SetContainerAcl", Kind.Container, Effect.Moves),
        new Operation("DeleteContainer", Kind.Container, Effect.Deletes),
        new Operation("AcquireContainerLease", Kind.Container, Effect.Keeps),
        new Operation("RenewContainerLease", Kind.Container, Effect.Keeps),
        new Operation("ChangeContainerLease", Kind.Container, Effect.Keeps),
        new Operation("ReleaseContainerLease", Kind.Container, Effect.Keeps),
        new Operation("BreakContainerLease", Kind.Container, Effect.Keeps),
    };

    static readonly Dictionary<string, Operation> ByName = All.ToDictionary(operation => operation.Name);

    public static Operation Of(string name) =>
        ByName.TryGetValue(name, out var found) ? found : throw new KeyNotFoundException("no operation " + name);

    public static IEnumerable<string> Names => ByName.Keys;
}
