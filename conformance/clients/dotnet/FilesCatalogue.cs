// The operations of the File service's tables, and what the service says each does to the ETag.
using System.Collections.Generic;
using System.Linq;

static class Catalogue
{
    static readonly Operation[] All =
    {
        new Operation("CreateFile", Kind.File, Effect.Moves),
        new Operation("GetFile", Kind.File, Effect.Keeps),
        new Operation("GetFileProperties", Kind.File, Effect.Keeps),
        new Operation("SetFileProperties", Kind.File, Effect.Moves),
        new Operation("ResizeFile", Kind.File, Effect.Moves),
        new Operation("SetFileMetadata", Kind.File, Effect.Moves),
        new Operation("PutRange", Kind.File, Effect.Moves),
        new Operation("ClearRange", Kind.File, Effect.Moves),
        new Operation("PutRangeFromUrl", Kind.File, Effect.Moves, Kind.File),
        new Operation("ListRanges", Kind.File, Effect.Keeps),
        new Operation("ListRangesDiff", Kind.File, Effect.Keeps),
        new Operation("CopyFile", Kind.File, Effect.Moves, Kind.File),
        new Operation("DeleteFile", Kind.File, Effect.Deletes),
        // The file is renamed, replaced by another, and replaced by a directory.
        new Operation("RenameFile", Kind.File, Effect.Deletes),
        new Operation("RenameOntoFile", Kind.File, Effect.Moves, Kind.File),
        new Operation("RenameDirectoryOntoFile", Kind.File, Effect.Deletes, Kind.Directory),
        new Operation("AcquireFileLease", Kind.File, Effect.Keeps),
        new Operation("ChangeFileLease", Kind.File, Effect.Keeps),
        new Operation("ReleaseFileLease", Kind.File, Effect.Keeps),
        new Operation("BreakFileLease", Kind.File, Effect.Keeps),
        new Operation("GetShareProperties", Kind.Share, Effect.Keeps),
        new Operation("SetShareProperties", Kind.Share, Effect.Moves),
        new Operation("SetShareMetadata", Kind.Share, Effect.Moves),
        new Operation("GetShareAcl", Kind.Share, Effect.Keeps),
        new Operation("SetShareAcl", Kind.Share, Effect.Moves),
        new Operation("GetShareStats", Kind.Share, Effect.Keeps),
        new Operation("DeleteShare", Kind.Share, Effect.Deletes),
        new Operation("AcquireShareLease", Kind.Share, Effect.Keeps),
        new Operation("RenewShareLease", Kind.Share, Effect.Keeps),
        new Operation("ChangeShareLease", Kind.Share, Effect.Keeps),
        new Operation("ReleaseShareLease", Kind.Share, Effect.Keeps),
        new Operation("BreakShareLease", Kind.Share, Effect.Keeps),
    };

    static readonly Dictionary<string, Operation> ByName = All.ToDictionary(operation => operation.Name);

    public static Operation Of(string name) =>
        ByName.TryGetValue(name, out var found) ? found : throw new KeyNotFoundException("no operation " + name);

    public static IEnumerable<string> Names => ByName.Keys;
}
