// Microsoft.Azure.Storage.Blob: a short tour of what programs do with it.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Azure.Storage;
using Microsoft.Azure.Storage.Auth;
using Microsoft.Azure.Storage.Blob;
using Microsoft.Azure.Storage.Shared.Protocol;

sealed class Tour11
{
    readonly CloudBlobClient service;
    readonly CloudBlobContainer container;

    public Tour11(string connectionString)
    {
        service = CloudStorageAccount.Parse(connectionString).CreateCloudBlobClient();
        container = service.GetContainerReference("tour11-" + Guid.NewGuid().ToString("N"));
    }

    public IEnumerable<(string, Func<Task>)> Stops()
    {
        yield return ("parallel upload and download", Parallel);
        yield return ("copies", Copies);
        yield return ("page blob", PageBlob);
        yield return ("append blob", AppendBlob);
        yield return ("shared access signatures", Signatures);
        yield return ("listing", Listing);
        yield return ("batch", Batch);
        yield return ("soft delete", SoftDelete);
        yield return ("a blob over its versions, with features", OverVersions);
    }

    async Task<CloudBlockBlob> Put(string name, byte[] bytes)
    {
        await container.CreateIfNotExistsAsync();
        var blob = container.GetBlockBlobReference(name);
        await blob.UploadFromByteArrayAsync(bytes, 0, bytes.Length);
        return blob;
    }

    static async Task<byte[]> Get(CloudBlob blob)
    {
        var back = new MemoryStream();
        await blob.DownloadToStreamAsync(back);
        return back.ToArray();
    }

    static async Task Fails(int status, string code, Func<Task> work)
    {
        try
        {
            await work();
        }
        catch (StorageException error)
        {
            var told = error.RequestInformation;
            Check.Same(status + " " + code, told.HttpStatusCode + " " + told.ErrorCode, "the failure");
            return;
        }
        throw new InvalidOperationException("expected " + status + " " + code + ", but it succeeded");
    }

    async Task Parallel()
    {
        await container.CreateIfNotExistsAsync();
        var bytes = Check.Noise(9 * 1024 * 1024 + 1);
        var blob = container.GetBlockBlobReference("large");
        blob.StreamWriteSizeInBytes = 1 << 20;
        var options = new BlobRequestOptions
        {
            ParallelOperationThreadCount = 4,
            SingleBlobUploadThresholdInBytes = 1 << 20,
            ChecksumOptions = new ChecksumOptions { UseTransactionalMD5 = true, StoreContentMD5 = true },
        };
        await blob.UploadFromStreamAsync(new MemoryStream(bytes), null, options, null);
        Check.Same(10, (await blob.DownloadBlockListAsync()).Count(), "committed blocks");
        // Not DownloadToFileParallelAsync: it keeps its tasks as keys of a dictionary, and fails when two of them are done at once,
        // for the runtime has one object for all that are.
        var parts = new byte[bytes.Length];
        const int Part = 3 << 20;
        await Task.WhenAll(Enumerable.Range(0, (bytes.Length + Part - 1) / Part).Select(at =>
            blob.DownloadRangeToByteArrayAsync(parts, at * Part, (long)at * Part, Math.Min(Part, bytes.Length - at * Part))));
        Check.Bytes(bytes, parts, "the parallel download");
        Check.Bytes(bytes, await Get(blob), "the download, with its MD5 checked");
        var back = new MemoryStream();
        using (var stream = await blob.OpenReadAsync()) await stream.CopyToAsync(back);
        Check.Bytes(bytes, back.ToArray(), "the stream");
    }

    static Uri Readable(CloudBlob blob) => new Uri(blob.Uri + blob.GetSharedAccessSignature(new SharedAccessBlobPolicy
    {
        Permissions = SharedAccessBlobPermissions.Read,
        SharedAccessExpiryTime = DateTimeOffset.UtcNow.AddHours(1),
    }));

    async Task Copies()
    {
        var bytes = Check.Noise(100000);
        var source = await Put("source", bytes);
        source.Metadata["kept"] = "yes";
        await source.SetMetadataAsync();
        var copy = container.GetBlockBlobReference("copy");
        await copy.StartCopyAsync(source);
        await copy.FetchAttributesAsync();
        Check.Same(CopyStatus.Success, copy.CopyState.Status, "the status of the copy");
        Check.Same("yes", copy.Metadata["kept"], "its metadata");
        Check.Bytes(bytes, await Get(copy), "the copy");
        var parts = container.GetBlockBlobReference("parts");
        await parts.PutBlockAsync("AAAA", Readable(source), 0, 60000, (string)null);
        await parts.PutBlockAsync("AAAB", Readable(source), 60000, 40000, (string)null);
        await parts.PutBlockListAsync(new[] { "AAAA", "AAAB" });
        Check.Bytes(bytes, await Get(parts), "blocks from a URL");
    }

    async Task PageBlob()
    {
        await container.CreateIfNotExistsAsync();
        var blob = container.GetPageBlobReference("disk");
        await blob.CreateAsync(1 << 20);
        var bytes = Check.Noise(4096);
        await blob.WritePagesAsync(new MemoryStream(bytes), 8192, null);
        var first = await blob.CreateSnapshotAsync();
        await blob.WritePagesAsync(new MemoryStream(bytes), 65536, null);
        await blob.ClearPagesAsync(8192, 512);
        var ranges = (await blob.GetPageRangesAsync()).Select(one => one.StartOffset + "-" + one.EndOffset);
        Check.Same("8704-12287 65536-69631", string.Join(" ", ranges), "page ranges");
        var changes = (await blob.GetPageRangesDiffAsync(first.SnapshotTime.Value)).Select(one => (one.IsClearedPageRange ? "-" : "+") + one.StartOffset);
        Check.Same("+65536 -8192", string.Join(" ", changes.OrderBy(one => one, StringComparer.Ordinal)), "differences");
        await blob.ResizeAsync(2 << 20);
        await blob.FetchAttributesAsync();
        Check.Same(2L << 20, blob.Properties.Length, "the new length");
        using (var stream = await blob.OpenWriteAsync(null)) await stream.WriteAsync(bytes, 0, 512);
        Check.Bytes(bytes.Take(512).ToArray(), (await Get(blob)).Take(512).ToArray(), "what the stream wrote");
    }

    async Task AppendBlob()
    {
        await container.CreateIfNotExistsAsync();
        var blob = container.GetAppendBlobReference("log");
        await blob.CreateOrReplaceAsync();
        await blob.AppendTextAsync("one ");
        await blob.AppendTextAsync("two");
        Check.Same("one two", await blob.DownloadTextAsync(), "what was appended");
        await blob.FetchAttributesAsync();
        Check.Same(2, blob.Properties.AppendBlobCommittedBlockCount.Value, "its blocks");
    }

    async Task Signatures()
    {
        var bytes = Check.Noise(10);
        var blob = await Put("signed", bytes);
        var reader = new CloudBlockBlob(Readable(blob));
        Check.Bytes(bytes, await Get(reader), "the blob, by a signature");
        await Fails(403, "AuthorizationPermissionMismatch", () => reader.DeleteAsync());
        var permissions = new BlobContainerPermissions();
        permissions.SharedAccessPolicies.Add("readers", new SharedAccessBlobPolicy
        {
            Permissions = SharedAccessBlobPermissions.Read, SharedAccessExpiryTime = DateTimeOffset.UtcNow.AddHours(1),
        });
        await container.SetPermissionsAsync(permissions);
        var policed = new CloudBlockBlob(new Uri(blob.Uri + container.GetSharedAccessSignature(null, "readers")));
        Check.Bytes(bytes, await Get(policed), "the blob, by a stored policy");
    }

    async Task Listing()
    {
        foreach (var name in new[] { "tree/a", "tree/b/1", "tree/b/2" }) await Put(name, Check.Noise(1));
        var level = await container.ListBlobsSegmentedAsync("tree/", false, BlobListingDetails.Metadata, null, null, null, null);
        Check.Same("tree/b/", level.Results.OfType<CloudBlobDirectory>().Single().Prefix, "the prefix");
        var first = await container.ListBlobsSegmentedAsync("tree/", true, BlobListingDetails.None, 2, null, null, null);
        Check.Same(2, first.Results.Count(), "the first page");
        var rest = await container.ListBlobsSegmentedAsync(
            "tree/", true, BlobListingDetails.None, 2, first.ContinuationToken, null, null);
        Check.Same("tree/b/2", ((CloudBlob)rest.Results.Single()).Name, "the second page");
    }

    async Task Batch()
    {
        var blobs = new List<CloudBlockBlob>();
        for (var i = 0; i < 5; i++) blobs.Add(await Put("batch" + i, Check.Noise(1)));
        var tiers = new BlobSetTierBatchOperation();
        foreach (var blob in blobs) tiers.AddSubOperation(blob, StandardBlobTier.Cool);
        Check.Same(5, (await service.ExecuteBatchAsync(tiers)).Count, "answers of the batch of tiers");
        await blobs[0].FetchAttributesAsync();
        Check.Same(StandardBlobTier.Cool, blobs[0].Properties.StandardBlobTier.Value, "the tier");
        var deletions = new BlobDeleteBatchOperation();
        foreach (var blob in blobs) deletions.AddSubOperation(blob);
        Check.Same(5, (await service.ExecuteBatchAsync(deletions)).Count, "answers of the batch of deletions");
        Check.Same(false, await blobs[4].ExistsAsync(), "a blob that the batch deleted");
        try
        {
            await service.ExecuteBatchAsync(deletions);
        }
        catch (BlobBatchException error)
        {
            Check.Same(5, error.ErrorResponses.Count, "failures of the second batch");
            return;
        }
        throw new InvalidOperationException("deleting twice did not fail");
    }

    /// Last of the stops that every server has: the retention goes on for the account.
    async Task SoftDelete()
    {
        var bytes = Check.Noise(20);
        var blob = await Put("deleted", bytes);
        var properties = await service.GetServicePropertiesAsync();
        properties.DeleteRetentionPolicy = new DeleteRetentionPolicy { Enabled = true, RetentionDays = 3 };
        await service.SetServicePropertiesAsync(properties);
        try
        {
            await blob.DeleteAsync();
            Check.Same(false, await blob.ExistsAsync(), "after the deletion");
            var listed = await container.ListBlobsSegmentedAsync("deleted", true, BlobListingDetails.Deleted, null, null, null, null);
            Check.Same(true, ((CloudBlob)listed.Results.Single()).IsDeleted, "listed as deleted");
            await blob.UndeleteAsync();
            Check.Bytes(bytes, await Get(blob), "after the undelete");
        }
        finally
        {
            properties.DeleteRetentionPolicy = new DeleteRetentionPolicy { Enabled = false };
            await service.SetServicePropertiesAsync(properties);
        }
    }

    /// The library is older than versions: it must see one blob, the current one.
    async Task OverVersions()
    {
        await Put("versioned", new byte[] { 1 });
        var blob = await Put("versioned", new byte[] { 2 });
        var listed = await container.ListBlobsSegmentedAsync("versioned", true, BlobListingDetails.All & ~BlobListingDetails.Deleted, null, null, null, null);
        Check.Same(1, listed.Results.Count(), "blobs listed");
        Check.Bytes(new byte[] { 2 }, await Get(blob), "the current version");
        await blob.DeleteAsync();
        Check.Same(false, await blob.ExistsAsync(), "after the deletion");
    }
}
