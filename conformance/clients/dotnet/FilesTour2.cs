// The other half of the tour.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Azure;
using Azure.Storage.Files.Shares;
using Azure.Storage.Files.Shares.Models;
using Azure.Storage.Sas;

sealed partial class FilesTour
{
    /// Protected, so that nothing is inherited where it is given to something new.
    const string Sddl = "O:SYG:SYD:PAI(A;;FA;;;SY)(A;;0x1200a9;;;BA)";

    async Task Smb()
    {
        await share.CreateIfNotExistsAsync();
        var key = (await share.CreatePermissionAsync(new ShareFilePermission { Permission = Sddl })).Value.FilePermissionKey;
        Check.Same(true, (await share.GetPermissionAsync(key, FilePermissionFormat.Sddl)).Value.Permission.StartsWith(Sddl), "the permission");
        var moment = new DateTimeOffset(2021, 3, 4, 5, 6, 7, 890, TimeSpan.Zero);
        var file = share.GetRootDirectoryClient().GetFileClient("smb");
        await file.CreateAsync(10, new ShareFileCreateOptions
        {
            SmbProperties = new FileSmbProperties
            {
                FileAttributes = NtfsFileAttributes.Hidden | NtfsFileAttributes.Archive, FileCreatedOn = moment, FileLastWrittenOn = moment,
                FileChangedOn = moment, FilePermissionKey = key,
            },
        });
        var told = (await file.GetPropertiesAsync()).Value.SmbProperties;
        Check.Same(NtfsFileAttributes.Hidden | NtfsFileAttributes.Archive, told.FileAttributes.Value, "attributes");
        Check.Same(moment, told.FileCreatedOn.Value, "its creation");
        Check.Same(moment, told.FileLastWrittenOn.Value, "its last write");
        Check.Same(moment, told.FileChangedOn.Value, "its change");
        Check.Same(key, told.FilePermissionKey, "its permission");
        Check.Same(true, told.FileId != null && told.ParentId != null, "its ids");
        var attributes = new FileSmbProperties { FileAttributes = NtfsFileAttributes.ReadOnly };
        await file.SetHttpHeadersAsync(new ShareFileSetHttpHeadersOptions { SmbProperties = attributes });
        await Fails(409, "ReadOnlyAttribute", () => file.UploadRangeAsync(new HttpRange(0, 1), new MemoryStream(new byte[1])));
        Check.Same(moment, (await file.GetPropertiesAsync()).Value.SmbProperties.FileCreatedOn.Value, "what was not said stays");
    }

    async Task Ranges()
    {
        await share.CreateIfNotExistsAsync();
        var file = share.GetRootDirectoryClient().GetFileClient("sparse");
        const long size = 4L * 1024 * Mib;
        await file.CreateAsync(size);
        await file.UploadRangeAsync(new HttpRange(size - 512, 512), new MemoryStream(Check.Noise(512)));
        await file.UploadRangeAsync(new HttpRange(0, 4 * Kib), new MemoryStream(Check.Noise(4 * Kib)));
        await file.ClearRangeAsync(new HttpRange(Kib, Kib));
        var ranges = (await file.GetRangeListAsync(new ShareFileGetRangeListOptions())).Value.Ranges.Select(range => range.ToString());
        var expected = new[] { new HttpRange(0, Kib), new HttpRange(2 * Kib, 2 * Kib), new HttpRange(size - 512, 512) };
        Check.Same(string.Join(" ", expected.Select(range => range.ToString())), string.Join(" ", ranges), "ranges");
        Check.Bytes(Check.Noise(512), await Get(file, new HttpRange(size - 512, 512)), "the end");
        await file.SetHttpHeadersAsync(new ShareFileSetHttpHeadersOptions { NewSize = 2 * Kib });
        Check.Bytes(Check.Noise(4 * Kib).Take(Kib).Concat(new byte[Kib]).ToArray(), await Get(file), "what is left");
        var source = await Put("source", Check.Noise(8 * Kib));
        var address = source.GenerateSasUri(ShareFileSasPermissions.Read, DateTimeOffset.UtcNow.AddHours(1));
        await file.UploadRangeFromUriAsync(address, new HttpRange(0, Kib), new HttpRange(3 * Kib, Kib));
        Check.Bytes(Check.Noise(8 * Kib).Skip(3 * Kib).Take(Kib).ToArray(), await Get(file, new HttpRange(0, Kib)), "a range of another file");
    }

    async Task Snapshots()
    {
        var file = await Put("kept", Check.Noise(4 * Kib));
        var snapshot = (await share.CreateSnapshotAsync()).Value.Snapshot;
        await file.UploadRangeAsync(new HttpRange(0, Kib), new MemoryStream(new byte[Kib]));
        await file.ClearRangeAsync(new HttpRange(2 * Kib, Kib));
        var old = share.WithSnapshot(snapshot);
        Check.Bytes(Check.Noise(4 * Kib), await Get(old.GetRootDirectoryClient().GetFileClient("kept")), "what was");
        var changed = (await file.GetRangeListDiffAsync(new ShareFileGetRangeListDiffOptions { PreviousSnapshot = snapshot })).Value;
        Check.Same(new HttpRange(0, Kib).ToString(), changed.Ranges.Single().ToString(), "what was written");
        Check.Same(new HttpRange(2 * Kib, Kib).ToString(), changed.ClearRanges.Single().ToString(), "what was cleared");
        await Fails(409, "ShareHasSnapshots", () => share.DeleteAsync(includeSnapshots: false));
        await old.DeleteAsync();
        await Fails(404, "ShareNotFound", () => old.GetPropertiesAsync());
    }

    async Task Renames()
    {
        var file = await Put("before", Check.Noise(Kib));
        await Put("there", Check.Noise(10));
        await Fails(409, "ResourceAlreadyExists", () => file.RenameAsync("there"));
        var renamed = (await file.RenameAsync("there", new ShareFileRenameOptions { ReplaceIfExists = true, ContentType = "text/csv" })).Value;
        Check.Bytes(Check.Noise(Kib), await Get(renamed), "what was renamed");
        Check.Same("text/csv", (await renamed.GetPropertiesAsync()).Value.ContentType, "its type");
        Check.Same(false, (bool)await file.ExistsAsync(), "the old name");
        await share.CreateDirectoryAsync("olddir");
        await share.GetDirectoryClient("olddir").CreateFileAsync("inside", 5);
        var moved = (await share.GetDirectoryClient("olddir").RenameAsync("newdir")).Value;
        Check.Same(5L, (await moved.GetFileClient("inside").GetPropertiesAsync()).Value.ContentLength, "what is inside");
        // Trailing dots, which the library can be told to keep.
        var options = new ShareClientOptions { AllowTrailingDot = true, AllowSourceTrailingDot = true };
        var dotted = new ShareClient(connectionString, share.Name, options).GetRootDirectoryClient();
        await dotted.CreateFileAsync("dot.", 3);
        await dotted.GetFileClient("dot.").RenameAsync("dots..");
        Check.Same(true, (bool)await dotted.GetFileClient("dots..").ExistsAsync(), "a name with dots");
        Check.Same(false, (bool)await share.GetRootDirectoryClient().GetFileClient("dots..").ExistsAsync(), "without them");
    }

    async Task Properties()
    {
        var name = "props-" + Guid.NewGuid().ToString("N");
        var own = service.GetShareClient(name);
        await own.CreateAsync(new ShareCreateOptions { QuotaInGB = 3, Metadata = new Dictionary<string, string> { { "a", "b" } } });
        await own.SetPropertiesAsync(new ShareSetPropertiesOptions { QuotaInGB = 5, AccessTier = ShareAccessTier.Cool });
        var told = (await own.GetPropertiesAsync()).Value;
        Check.Same("5 Cool b", told.QuotaInGB + " " + told.AccessTier + " " + told.Metadata["a"], "properties");
        await own.GetRootDirectoryClient().CreateFileAsync("file", 1000);
        Check.Same(1000L, (await own.GetStatisticsAsync()).Value.ShareUsageInBytes, "usage");
        var identifiers = new[]
        {
            new ShareSignedIdentifier { Id = "reader", AccessPolicy = new ShareAccessPolicy { Permissions = "rl", PolicyExpiresOn = DateTimeOffset.UtcNow.AddHours(1) } },
        };
        await own.SetAccessPolicyAsync(identifiers);
        Check.Same("reader rl", string.Join(" ", (await own.GetAccessPolicyAsync()).Value.Select(one => one.Id + " " + one.AccessPolicy.Permissions)), "policies");
        var found = new List<ShareItem>();
        await Each(service.GetSharesAsync(ShareTraits.Metadata, ShareStates.Snapshots, name), item => found.Add(item));
        Check.Same("b", found.Single().Properties.Metadata["a"], "listed metadata");
        await own.DeleteAsync(new ShareDeleteOptions());
        Check.Same(false, (bool)await own.ExistsAsync(), "after its deletion");
        var properties = (await service.GetPropertiesAsync()).Value;
        properties.Cors = new[] { new ShareCorsRule { AllowedOrigins = "http://one.example", AllowedMethods = "GET", AllowedHeaders = "*", ExposedHeaders = "*", MaxAgeInSeconds = 9 } };
        await service.SetPropertiesAsync(properties);
        Check.Same("http://one.example", (await service.GetPropertiesAsync()).Value.Cors.Single().AllowedOrigins, "rules for browsers");
        properties.Cors = new ShareCorsRule[0];
        await service.SetPropertiesAsync(properties);
    }

    async Task Signatures()
    {
        var file = await Put("signed", Check.Noise(100));
        var until = DateTimeOffset.UtcNow.AddHours(1);
        var read = new ShareFileClient(file.GenerateSasUri(ShareFileSasPermissions.Read, until));
        Check.Bytes(Check.Noise(100), await Get(read), "by the signature of a file");
        await Fails(403, "AuthorizationPermissionMismatch", () => read.DeleteAsync());
        var whole = new ShareClient(share.GenerateSasUri(ShareSasPermissions.Read | ShareSasPermissions.List, until));
        Check.Bytes(Check.Noise(100), await Get(whole.GetRootDirectoryClient().GetFileClient("signed")), "by the signature of a share");
        var account = new ShareServiceClient(service.GenerateAccountSasUri(AccountSasPermissions.All, until, AccountSasResourceTypes.All));
        Check.Bytes(Check.Noise(100), await Get(account.GetShareClient(share.Name).GetRootDirectoryClient().GetFileClient("signed")), "by the account's");
    }

    async Task Links()
    {
        var nfs = service.GetShareClient("nfs-" + Guid.NewGuid().ToString("N"));
        await nfs.CreateAsync(new ShareCreateOptions { Protocols = ShareProtocols.Nfs });
        var root = nfs.GetRootDirectoryClient();
        var posix = new FilePosixProperties { Owner = "3", Group = "4", FileMode = NfsFileMode.ParseOctalFileMode("0640") };
        await root.GetFileClient("file").CreateAsync(10, new ShareFileCreateOptions { PosixProperties = posix });
        var told = (await root.GetFileClient("file").GetPropertiesAsync()).Value.PosixProperties;
        Check.Same("3 4 0640", told.Owner + " " + told.Group + " " + told.FileMode.ToOctalFileMode(), "whose it is");
        var link = (await root.GetFileClient("hard").CreateHardLinkAsync("/file")).Value;
        Check.Same(2L, link.PosixProperties.LinkCount.Value, "its names");
        await nfs.DeleteAsync(new ShareDeleteOptions());
    }

    async Task Copies()
    {
        var source = await Put("tocopy", Check.Noise(100000));
        var copy = share.GetRootDirectoryClient().GetFileClient("copy");
        var started = (await copy.StartCopyAsync(source.Uri)).Value;
        Check.Same(CopyStatus.Success, started.CopyStatus, "the copy");
        Check.Bytes(Check.Noise(100000), await Get(copy), "what was copied");
        Check.Same(started.CopyId, (await copy.GetPropertiesAsync()).Value.CopyId, "its id");
        await Fails(409, "NoPendingCopyOperation", () => copy.AbortCopyAsync(started.CopyId));
        var archived = new ShareFileCopyOptions { Archive = true, Metadata = new Dictionary<string, string> { { "a", "b" } } };
        await copy.StartCopyAsync(source.Uri, archived);
        var told = (await copy.GetPropertiesAsync()).Value;
        Check.Same("b True", told.Metadata["a"] + " " + told.SmbProperties.FileAttributes.Value.HasFlag(NtfsFileAttributes.Archive), "what the copy was told");
        await Fails(404, "ResourceNotFound", () => copy.StartCopyAsync(new Uri(source.Uri + "none")));
    }

    async Task Handles()
    {
        var file = await Put("opened", Check.Noise(10));
        var found = 0;
        await Each(file.GetHandlesAsync(), _ => found++);
        await Each(share.GetRootDirectoryClient().GetHandlesAsync(true), _ => found++);
        Check.Same(0, found, "handles where nobody has opened anything");
        Check.Same(0, (await file.ForceCloseAllHandlesAsync()).ClosedHandlesCount, "closed");
        Check.Same(0, (await share.GetRootDirectoryClient().ForceCloseAllHandlesAsync(true)).ClosedHandlesCount, "closed below");
        Check.Same(0, (await file.ForceCloseHandleAsync("12345")).Value.ClosedHandlesCount, "closed of one that is none");
        await Fails(404, "ResourceNotFound", () => share.GetRootDirectoryClient().GetFileClient("nothing").ForceCloseHandleAsync("12345"));
    }
}
