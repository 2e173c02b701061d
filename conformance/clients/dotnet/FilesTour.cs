// Azure.Storage.Files.Shares: a short tour of what programs do with it.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Azure;
using Azure.Storage;
using Azure.Storage.Files.Shares;
using Azure.Storage.Files.Shares.Models;
using Azure.Storage.Sas;

sealed partial class FilesTour
{
    const int Kib = 1024, Mib = 1024 * 1024;
    readonly ShareServiceClient service;
    readonly ShareClient share;
    readonly string connectionString;

    public FilesTour(string connectionString)
    {
        this.connectionString = connectionString;
        service = new ShareServiceClient(connectionString);
        share = service.GetShareClient("tour-" + Guid.NewGuid().ToString("N"));
    }

    public IEnumerable<(string, Func<Task>)> Stops()
    {
        yield return ("transfers", Transfers);
        yield return ("streams", Streams);
        yield return ("directories and listing", Listing);
        yield return ("what SMB knows", Smb);
        yield return ("ranges", Ranges);
        yield return ("snapshots of shares", Snapshots);
        yield return ("renames", Renames);
        yield return ("properties of shares", Properties);
        yield return ("signatures", Signatures);
        yield return ("links of NFS", Links);
        yield return ("copies", Copies);
        yield return ("handles", Handles);
    }

    async Task<ShareFileClient> Put(string name, byte[] bytes)
    {
        await share.CreateIfNotExistsAsync();
        var file = share.GetRootDirectoryClient().GetFileClient(name);
        await file.CreateAsync(bytes.Length);
        if (bytes.Length > 0) await file.UploadAsync(new MemoryStream(bytes));
        return file;
    }

    static async Task<byte[]> Get(ShareFileClient file, HttpRange range = default)
    {
        var back = new MemoryStream();
        using (var answer = (await file.DownloadAsync(new ShareFileDownloadOptions { Range = range })).Value)
        {
            await answer.Content.CopyToAsync(back);
        }
        return back.ToArray();
    }

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

    async Task Transfers()
    {
        var bytes = Check.Noise(9 * Mib + 17);
        var file = await Put("large", bytes);
        Check.Bytes(bytes, await Get(file), "the download");
        Check.Bytes(bytes.Skip(4 * Mib - 5).Take(10).ToArray(), await Get(file, new HttpRange(4 * Mib - 5, 10)), "a range");
        await Fails(416, "InvalidRange", () => Get(file, new HttpRange(bytes.Length, 1)));
        var checkedRange = new ShareFileDownloadOptions
        {
            Range = new HttpRange(0, Mib),
            TransferValidation = new DownloadTransferValidationOptions { ChecksumAlgorithm = StorageChecksumAlgorithm.MD5 },
        };
        using (var answer = (await file.DownloadAsync(checkedRange)).Value)
        {
            var back = new MemoryStream();
            await answer.Content.CopyToAsync(back);
            Check.Bytes(bytes.Take(Mib).ToArray(), back.ToArray(), "a range with its MD5");
        }
        await Fails(404, "ParentNotFound", () => share.GetDirectoryClient("no").GetFileClient("such").CreateAsync(1));
    }

    async Task Streams()
    {
        await share.CreateIfNotExistsAsync();
        var bytes = Check.Noise(3 * Mib);
        var file = share.GetRootDirectoryClient().GetFileClient("streamed");
        using (var stream = await file.OpenWriteAsync(true, 0, new ShareFileOpenWriteOptions { MaxSize = bytes.Length, BufferSize = Mib }))
        {
            await stream.WriteAsync(bytes, 0, bytes.Length);
        }
        var back = new MemoryStream();
        using (var stream = await file.OpenReadAsync(new ShareFileOpenReadOptions(false) { BufferSize = Mib / 2 }))
        {
            await stream.CopyToAsync(back);
        }
        Check.Bytes(bytes, back.ToArray(), "what was read");
    }

    async Task Listing()
    {
        await share.CreateIfNotExistsAsync();
        var directory = share.GetDirectoryClient("listed");
        await directory.CreateAsync(new ShareDirectoryCreateOptions { Metadata = new Dictionary<string, string> { { "a", "b" } } });
        Check.Same("b", (await directory.GetPropertiesAsync()).Value.Metadata["a"], "metadata");
        await Fails(409, "ResourceAlreadyExists", () => directory.CreateAsync());
        for (var number = 0; number < 3; number++)
        {
            await directory.CreateSubdirectoryAsync("dir" + number);
            await directory.CreateFileAsync("file" + number, number);
        }
        await Fails(409, "DirectoryNotEmpty", () => directory.DeleteAsync());
        var options = new ShareDirectoryGetFilesAndDirectoriesOptions { Traits = ShareFileTraits.All, IncludeExtendedInfo = true };
        var found = new List<ShareFileItem>();
        var pages = 0;
        await Each(directory.GetFilesAndDirectoriesAsync(options).AsPages(null, 4), page =>
        {
            pages++;
            found.AddRange(page.Values);
        });
        Check.Same(2, pages, "pages");
        Check.Same("dir0 dir1 dir2 file0 file1 file2", string.Join(" ", found.Select(item => item.Name).OrderBy(name => name, StringComparer.Ordinal)), "names");
        Check.Same(true, found.All(item => item.Id != null && item.PermissionKey != null && item.Properties.CreatedOn != null && item.Properties.ETag != null), "traits");
        Check.Same(3L, found.Sum(item => item.FileSize ?? 0), "sizes");
        options.Prefix = "FILE";
        var names = new List<string>();
        await Each(directory.GetFilesAndDirectoriesAsync(options), item => names.Add(item.Name));
        Check.Same("file0 file1 file2", string.Join(" ", names), "those that begin with it, in any case");
    }

    static async Task Each<T>(IAsyncEnumerable<T> items, Action<T> work)
    {
        var one = items.GetAsyncEnumerator();
        try
        {
            while (await one.MoveNextAsync()) work(one.Current);
        }
        finally
        {
            await one.DisposeAsync();
        }
    }
}
