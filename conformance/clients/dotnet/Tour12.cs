// Azure.Storage.Blobs: a short tour of what programs do with it.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Azure;
using Azure.Storage;
using Azure.Storage.Blobs;
using Azure.Storage.Blobs.Models;
using Azure.Storage.Blobs.Specialized;
using Azure.Storage.Sas;

sealed class Tour12
{
    readonly BlobServiceClient service;
    readonly BlobContainerClient container;

    public Tour12(string connectionString)
    {
        service = new BlobServiceClient(connectionString);
        container = service.GetBlobContainerClient("tour12-" + Guid.NewGuid().ToString("N"));
    }

    public IEnumerable<(string, Func<Task>)> Stops()
    {
        yield return ("parallel upload and download", Parallel);
        yield return ("streams", Streams);
        yield return ("copies", Copies);
        yield return ("page blob", PageBlob);
        yield return ("append blob", AppendBlob);
        yield return ("shared access signatures", Signatures);
        yield return ("listing and finding", Finding);
        yield return ("batch", Batch);
        yield return ("soft delete", SoftDelete);
        yield return ("versions, with features", Versions);
        yield return ("undelete of a container, with features", RestoreContainer);
    }

    async Task<BlobClient> Put(string name, byte[] bytes)
    {
        await container.CreateIfNotExistsAsync();
        var blob = container.GetBlobClient(name);
        await blob.UploadAsync(new BinaryData(bytes), overwrite: true);
        return blob;
    }

    static async Task<byte[]> Get(BlobBaseClient blob) => (await blob.DownloadContentAsync()).Value.Content.ToArray();

    static async Task Fails(int status, string code, Func<Task> work)
    {
        try
        {
            await work();
        }
        catch (RequestFailedException error)
        {
            Check.Same(status + " " + code, error.Status + " " + error.ErrorCode, "the failure");
            return;
        }
        throw new InvalidOperationException("expected " + status + " " + code + ", but it succeeded");
    }

    async Task Parallel()
    {
        await container.CreateIfNotExistsAsync();
        var bytes = Check.Noise(9 * 1024 * 1024 + 1);
        var transfer = new StorageTransferOptions
        {
            InitialTransferSize = 1 << 20, MaximumTransferSize = 1 << 20, MaximumConcurrency = 4,
        };
        var blob = container.GetBlobClient("large");
        await blob.UploadAsync(new MemoryStream(bytes), new BlobUploadOptions { TransferOptions = transfer });
        var blocks = (await container.GetBlockBlobClient("large").GetBlockListAsync()).Value;
        Check.Same(10, blocks.CommittedBlocks.Count(), "committed blocks");
        var back = new MemoryStream();
        await blob.DownloadToAsync(back, new BlobDownloadToOptions { TransferOptions = transfer });
        Check.Bytes(bytes, back.ToArray(), "the download");
    }

    async Task Streams()
    {
        await container.CreateIfNotExistsAsync();
        var bytes = Check.Noise(3 * 1024 * 1024);
        var blob = container.GetBlockBlobClient("streamed");
        using (var stream = await blob.OpenWriteAsync(true, new BlockBlobOpenWriteOptions { BufferSize = 1 << 20 }))
        {
            await stream.WriteAsync(bytes, 0, bytes.Length);
        }
        var back = new MemoryStream();
        using (var stream = await blob.OpenReadAsync(new BlobOpenReadOptions(false) { BufferSize = 1 << 19 }))
        {
            await stream.CopyToAsync(back);
        }
        Check.Bytes(bytes, back.ToArray(), "what was read");
        using (var stream = await blob.OpenReadAsync(new BlobOpenReadOptions(false) { BufferSize = 1 << 19 }))
        {
            await stream.ReadAsync(new byte[1 << 19], 0, 1 << 19);
            await blob.UploadAsync(new MemoryStream(bytes));
            await Fails(412, "ConditionNotMet", () => stream.CopyToAsync(new MemoryStream()));
        }
    }

    async Task Copies()
    {
        var bytes = Check.Noise(100000);
        var source = await Put("source", bytes);
        var address = source.GenerateSasUri(BlobSasPermissions.Read, DateTimeOffset.UtcNow.AddHours(1));
        var copy = container.GetBlobClient("copy");
        var running = await copy.StartCopyFromUriAsync(address);
        Check.Same(100000L, (await running.WaitForCompletionAsync()).Value, "bytes copied");
        Check.Bytes(bytes, await Get(copy), "the copy");
        Check.Same(CopyStatus.Success, (await copy.GetPropertiesAsync()).Value.CopyStatus, "its status");
        var whole = container.GetBlockBlobClient("whole");
        await whole.SyncUploadFromUriAsync(address, overwrite: true);
        Check.Bytes(bytes, await Get(whole), "Put Blob From URL");
        var parts = container.GetBlockBlobClient("parts");
        var blocks = new[] { "AAAA", "AAAB" };
        await parts.StageBlockFromUriAsync(address, blocks[0], new StageBlockFromUriOptions { SourceRange = new HttpRange(0, 60000) });
        await parts.StageBlockFromUriAsync(address, blocks[1], new StageBlockFromUriOptions { SourceRange = new HttpRange(60000) });
        await parts.CommitBlockListAsync(blocks);
        Check.Bytes(bytes, await Get(parts), "blocks from a URL");
    }

    async Task PageBlob()
    {
        await container.CreateIfNotExistsAsync();
        var blob = container.GetPageBlobClient("disk");
        await blob.CreateAsync(1 << 20);
        var bytes = Check.Noise(4096);
        await blob.UploadPagesAsync(new MemoryStream(bytes), 8192);
        var first = (await blob.CreateSnapshotAsync()).Value.Snapshot;
        await blob.UploadPagesAsync(new MemoryStream(bytes), 65536);
        await blob.ClearPagesAsync(new HttpRange(8192, 512));
        var ranges = blob.GetAllPageRanges().Select(one => one.Range.ToString());
        Check.Same("bytes=8704-12287 bytes=65536-69631", string.Join(" ", ranges), "page ranges");
        var options = new GetPageRangesDiffOptions { PreviousSnapshot = first };
        var changes = blob.GetAllPageRangesDiff(options).Select(one => (one.IsClear ? "-" : "+") + one.Range.Offset);
        Check.Same("+65536 -8192", string.Join(" ", changes.OrderBy(one => one, StringComparer.Ordinal)), "differences");
        var copy = container.GetPageBlobClient("disk-copy");
        var address = blob.GenerateSasUri(BlobSasPermissions.Read, DateTimeOffset.UtcNow.AddHours(1));
        var running = await copy.StartCopyIncrementalAsync(address, first);
        await running.WaitForCompletionAsync();
        Check.Same(true, (await copy.GetPropertiesAsync()).Value.IsIncrementalCopy, "an incremental copy");
    }

    async Task AppendBlob()
    {
        await container.CreateIfNotExistsAsync();
        var blob = container.GetAppendBlobClient("log");
        await blob.CreateIfNotExistsAsync();
        await blob.AppendBlockAsync(new MemoryStream(new byte[] { 1, 2 }));
        using (var stream = await blob.OpenWriteAsync(false))
        {
            await stream.WriteAsync(new byte[] { 3 }, 0, 1);
        }
        Check.Bytes(new byte[] { 1, 2, 3 }, await Get(blob), "what was appended");
        await blob.SealAsync();
        await Fails(409, "BlobIsSealed", () => blob.AppendBlockAsync(new MemoryStream(new byte[] { 4 })));
    }

    async Task Signatures()
    {
        var bytes = Check.Noise(10);
        var blob = await Put("signed", bytes);
        var hour = DateTimeOffset.UtcNow.AddHours(1);
        var reader = new BlobClient(blob.GenerateSasUri(BlobSasPermissions.Read, hour));
        Check.Bytes(bytes, await Get(reader), "the blob, by a signature");
        await Fails(403, "AuthorizationPermissionMismatch", () => reader.DeleteAsync());
        var lister = new BlobContainerClient(container.GenerateSasUri(BlobContainerSasPermissions.List, hour));
        Check.Same(true, lister.GetBlobs(prefix: "signed").Any(), "a listing by a signature");
        await container.SetAccessPolicyAsync(permissions: new[]
        {
            new BlobSignedIdentifier
            {
                Id = "readers",
                AccessPolicy = new BlobAccessPolicy { PolicyExpiresOn = hour, Permissions = "r" },
            },
        });
        var byPolicy = new BlobSasBuilder { BlobContainerName = container.Name, Identifier = "readers", Resource = "c" };
        var policed = new Uri(blob.Uri + "?" + new Uri(container.GenerateSasUri(byPolicy).ToString()).Query.TrimStart('?'));
        Check.Bytes(bytes, await Get(new BlobClient(policed)), "the blob, by a stored policy");
        var account = service.GenerateAccountSasUri(AccountSasPermissions.All, hour, AccountSasResourceTypes.All);
        await new BlobServiceClient(account).GetBlobContainerClient(container.Name).GetPropertiesAsync();
    }

    async Task Finding()
    {
        foreach (var name in new[] { "tree/a", "tree/b/1", "tree/b/2" })
        {
            var blob = await Put(name, Check.Noise(1));
            await blob.SetTagsAsync(new Dictionary<string, string> { { "branch", name.Split('/')[1] } });
        }
        var level = container.GetBlobsByHierarchy(prefix: "tree/", delimiter: "/").Select(one => one.IsPrefix ? one.Prefix : one.Blob.Name);
        Check.Same("tree/a tree/b/", string.Join(" ", level.OrderBy(name => name, StringComparer.Ordinal)), "one level");
        var pages = container.GetBlobs(BlobTraits.Metadata | BlobTraits.Tags, prefix: "tree/").AsPages(null, 2).ToList();
        Check.Same("2 1", string.Join(" ", pages.Select(page => page.Values.Count)), "pages of two");
        Check.Same("b", pages[1].Values[0].Tags["branch"], "tags in the listing");
        var query = "@container = '" + container.Name + "' AND branch = 'b'";
        Check.Same(2, service.FindBlobsByTags(query).Count(), "blobs found by a tag");
    }

    async Task Batch()
    {
        var paths = new List<string>();
        foreach (var name in new[] { "batch 1", "batch/2" }) paths.Add((await Put(name, Check.Noise(1))).Uri.AbsolutePath);
        paths.Add(container.GetBlobClient("not there").Uri.AbsolutePath);
        var all = AccountSasPermissions.All;
        var batch = new Batch12(service.GenerateAccountSasUri(all, DateTimeOffset.UtcNow.AddHours(1), AccountSasResourceTypes.All));
        Check.Same("200 200 404", await batch.Send(paths.Select(batch.CoolTier)), "the parts of the batch of tiers");
        Check.Same("Cool", (await container.GetBlobClient("batch 1").GetPropertiesAsync()).Value.AccessTier, "the tier");
        Check.Same("202 202 404", await batch.Send(paths.Select(batch.Deletion)), "the parts of the batch of deletions");
        Check.Same(false, container.GetBlobs(prefix: "batch").Any(), "what the batch left");
    }

    /// Last of the stops that every server has: the retention goes on for the account.
    async Task SoftDelete()
    {
        var bytes = Check.Noise(20);
        var blob = await Put("deleted", bytes);
        var properties = (await service.GetPropertiesAsync()).Value;
        properties.DeleteRetentionPolicy = new BlobRetentionPolicy { Enabled = true, Days = 3 };
        await service.SetPropertiesAsync(properties);
        try
        {
            await blob.DeleteAsync();
            Check.Same(false, (await blob.ExistsAsync()).Value, "after the deletion");
            var item = container.GetBlobs(BlobTraits.None, BlobStates.Deleted, "deleted").Single();
            Check.Same(true, item.Deleted, "listed as deleted");
            await blob.UndeleteAsync();
            Check.Bytes(bytes, await Get(blob), "after the undelete");
        }
        finally
        {
            properties.DeleteRetentionPolicy = new BlobRetentionPolicy { Enabled = false };
            await service.SetPropertiesAsync(properties);
        }
    }

    async Task Versions()
    {
        var blob = await Put("versioned", new byte[] { 1 });
        var first = (await blob.GetPropertiesAsync()).Value.VersionId;
        await blob.UploadAsync(new BinaryData(new byte[] { 2 }), overwrite: true);
        var versions = container.GetBlobs(BlobTraits.None, BlobStates.Version, "versioned").ToList();
        Check.Same(2, versions.Count, "versions listed");
        Check.Same(first, versions.Single(one => one.IsLatestVersion != true).VersionId, "the one that is not the latest");
        Check.Bytes(new byte[] { 1 }, await Get(blob.WithVersion(first)), "the first version");
        await blob.DeleteAsync();
        Check.Same(false, (await blob.ExistsAsync()).Value, "after the deletion");
        Check.Same(2, container.GetBlobs(BlobTraits.None, BlobStates.Version, "versioned").Count(), "versions that stay");
        await blob.SyncCopyFromUriAsync(blob.WithVersion(first).GenerateSasUri(BlobSasPermissions.Read, DateTimeOffset.UtcNow.AddHours(1)));
        Check.Bytes(new byte[] { 1 }, await Get(blob), "the first version, made the current one");
        await ManyVersions();
        await blob.WithVersion(first).DeleteAsync();
        await Fails(404, "BlobNotFound", () => Get(blob.WithVersion(first)));
    }

    /// An id is told in one way everywhere, also the one in ten that ends in a zero.
    async Task ManyVersions()
    {
        var blob = container.GetBlobClient("many");
        var told = new List<string>();
        for (var i = 0; i < 40; i++)
        {
            told.Add((await blob.UploadAsync(new BinaryData(new[] { (byte)i }), overwrite: true)).Value.VersionId);
            Check.Same(told[i], (await blob.GetPropertiesAsync()).Value.VersionId, "the id that a read tells");
        }
        var listed = container.GetBlobs(BlobTraits.None, BlobStates.Version, "many").Select(one => one.VersionId);
        Check.Same(string.Join(" ", told), string.Join(" ", listed), "the ids that the listing tells");
    }

    async Task RestoreContainer()
    {
        var box = service.GetBlobContainerClient("restored-" + Guid.NewGuid().ToString("N"));
        await box.CreateAsync();
        await box.GetBlobClient("kept").UploadAsync(new BinaryData(new byte[] { 7 }));
        await box.DeleteAsync();
        var found = service.GetBlobContainers(BlobContainerTraits.None, BlobContainerStates.Deleted, box.Name).ToList();
        await service.UndeleteBlobContainerAsync(box.Name, found[0].VersionId);
        Check.Bytes(new byte[] { 7 }, await Get(box.GetBlobClient("kept")), "a blob of the restored container");
    }
}
