// Microsoft.Azure.Storage.File: a short tour of what programs do with it.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.Azure.Storage;
using Microsoft.Azure.Storage.File;

sealed class FilesTour11
{
    readonly CloudFileClient service;
    readonly CloudFileShare share;

    public FilesTour11(string connectionString)
    {
        service = CloudStorageAccount.Parse(connectionString).CreateCloudFileClient();
        share = service.GetShareReference("tour11-" + Guid.NewGuid().ToString("N"));
    }

    public IEnumerable<(string, Func<Task>)> Stops()
    {
        yield return ("files: shares", Shares);
        yield return ("files: transfers and ranges", Transfers);
        yield return ("files: directories", Directories);
        yield return ("files: what SMB knows", Smb);
        yield return ("files: snapshots", Snapshots);
        yield return ("files: copies", Copies);
        yield return ("files: signatures", Signatures);
    }

    static async Task<byte[]> Get(CloudFile file)
    {
        var back = new MemoryStream();
        await file.DownloadToStreamAsync(back);
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

    async Task<CloudFile> Put(string name, byte[] bytes)
    {
        await share.CreateIfNotExistsAsync();
        var file = share.GetRootDirectoryReference().GetFileReference(name);
        await file.UploadFromByteArrayAsync(bytes, 0, bytes.Length);
        return file;
    }

    async Task Shares()
    {
        await share.CreateIfNotExistsAsync();
        await Fails(409, "ShareAlreadyExists", () => share.CreateAsync());
        share.Properties.Quota = 7;
        share.Metadata["colour"] = "blue";
        await share.SetPropertiesAsync();
        await share.SetMetadataAsync();
        var other = service.GetShareReference(share.Name);
        await other.FetchAttributesAsync();
        Check.Same("7 blue", other.Properties.Quota + " " + other.Metadata["colour"], "properties");
        Check.Same(0L, (await share.GetStatsAsync()).UsageInBytes, "usage");
        var listed = await service.ListSharesSegmentedAsync(share.Name, ShareListingDetails.All, null, null, null, null);
        Check.Same(share.Name, listed.Results.Single().Name, "the list");
        var key = await share.CreateFilePermissionAsync("O:SYG:SYD:(A;;FA;;;SY)");
        Check.Same(true, (await share.GetFilePermissionAsync(key)).StartsWith("O:SYG:SYD:(A;;FA;;;SY)"), "a permission");
        var properties = await service.GetServicePropertiesAsync();
        properties.Cors.CorsRules.Clear();
        await service.SetServicePropertiesAsync(properties);
    }

    async Task Transfers()
    {
        var bytes = Check.Noise(9 * 1024 * 1024 + 1);
        var file = await Put("large", bytes);
        Check.Bytes(bytes, await Get(file), "the download");
        var part = new byte[1000];
        await file.DownloadRangeToByteArrayAsync(part, 0, 5000, 1000);
        Check.Bytes(bytes.Skip(5000).Take(1000).ToArray(), part, "a range");
        await file.WriteRangeAsync(new MemoryStream(new byte[512]), 0, null);
        await file.ClearRangeAsync(1024, 512);
        var ranges = (await file.ListRangesAsync()).Select(range => range.StartOffset + "-" + range.EndOffset).ToList();
        Check.Same("0-1023 1536-" + (bytes.Length - 1), string.Join(" ", ranges), "ranges");
        await file.ResizeAsync(100);
        file.Properties.ContentType = "text/csv";
        await file.SetPropertiesAsync();
        file.Metadata["a"] = "b";
        await file.SetMetadataAsync();
        var again = share.GetRootDirectoryReference().GetFileReference("large");
        await again.FetchAttributesAsync();
        Check.Same("100 text/csv b", again.Properties.Length + " " + again.Properties.ContentType + " " + again.Metadata["a"], "properties");
        using (var stream = await file.OpenWriteAsync(5000)) await stream.WriteAsync(bytes, 0, 5000);
        Check.Bytes(bytes.Take(5000).ToArray(), await Get(file), "what a stream wrote");
        await file.DeleteAsync();
        Check.Same(false, await file.ExistsAsync(), "after its deletion");
    }

    async Task Directories()
    {
        await share.CreateIfNotExistsAsync();
        var directory = share.GetRootDirectoryReference().GetDirectoryReference("dir");
        await directory.CreateAsync();
        await Fails(409, "ResourceAlreadyExists", () => directory.CreateAsync());
        await directory.GetDirectoryReference("sub").CreateAsync();
        await directory.GetFileReference("file").CreateAsync(10);
        var listed = await directory.ListFilesAndDirectoriesSegmentedAsync(null);
        Check.Same("file sub", string.Join(" ", listed.Results.Select(item => item.Uri.Segments.Last().Trim('/')).OrderBy(name => name)), "the list");
        await Fails(409, "DirectoryNotEmpty", () => directory.DeleteAsync());
        var handles = await directory.ListHandlesSegmentedAsync(null, null, true, null, null, null);
        Check.Same(0, handles.Results.Count(), "handles");
        directory.Metadata["a"] = "b";
        await directory.SetMetadataAsync();
        await directory.FetchAttributesAsync();
        Check.Same("b", directory.Metadata["a"], "metadata");
    }

    async Task Smb()
    {
        await share.CreateIfNotExistsAsync();
        var moment = new DateTimeOffset(2021, 3, 4, 5, 6, 7, TimeSpan.Zero);
        var file = share.GetRootDirectoryReference().GetFileReference("smb");
        file.Properties.CreationTime = moment;
        file.Properties.LastWriteTime = moment;
        file.Properties.NtfsAttributes = CloudFileNtfsAttributes.Hidden;
        await file.CreateAsync(10);
        await file.FetchAttributesAsync();
        Check.Same(moment, file.Properties.CreationTime.Value, "its creation");
        Check.Same(moment, file.Properties.LastWriteTime.Value, "its last write");
        Check.Same(CloudFileNtfsAttributes.Hidden | CloudFileNtfsAttributes.Archive, file.Properties.NtfsAttributes.Value, "attributes");
        Check.Same(true, file.Properties.FileId != null && file.Properties.ParentId != null, "ids");
    }

    async Task Snapshots()
    {
        var file = await Put("kept", Check.Noise(1000));
        var snapshot = await share.SnapshotAsync();
        await Put("kept", Check.Noise(10));
        Check.Bytes(Check.Noise(1000), await Get(snapshot.GetRootDirectoryReference().GetFileReference("kept")), "what was");
        Check.Bytes(Check.Noise(10), await Get(file), "what is");
        await snapshot.DeleteAsync();
    }

    async Task Copies()
    {
        var source = await Put("source", Check.Noise(100000));
        var copy = share.GetRootDirectoryReference().GetFileReference("copy");
        await copy.StartCopyAsync(source);
        await copy.FetchAttributesAsync();
        Check.Same(CopyStatus.Success, copy.CopyState.Status, "the copy");
        Check.Bytes(Check.Noise(100000), await Get(copy), "what was copied");
        await Fails(409, "NoPendingCopyOperation", () => copy.AbortCopyAsync(copy.CopyState.CopyId));
    }

    async Task Signatures()
    {
        var file = await Put("signed", Check.Noise(100));
        var policy = new SharedAccessFilePolicy { Permissions = SharedAccessFilePermissions.Read, SharedAccessExpiryTime = DateTimeOffset.UtcNow.AddHours(1) };
        var read = new CloudFile(new Uri(file.Uri + file.GetSharedAccessSignature(policy)));
        Check.Bytes(Check.Noise(100), await Get(read), "by the signature of a file");
        await Fails(403, "AuthorizationPermissionMismatch", () => read.DeleteAsync());
    }
}
