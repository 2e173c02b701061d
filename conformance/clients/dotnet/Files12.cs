// Azure.Storage.Files.Shares: how the tables' files and shares are made, seen and leased, and the call behind each operation.
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using Azure;
using Azure.Core;
using Azure.Core.Pipeline;
using Azure.Storage.Files.Shares;
using Azure.Storage.Files.Shares.Models;
using Azure.Storage.Files.Shares.Specialized;
using Azure.Storage.Sas;

static class Library
{
    public static Storage Make(string connectionString) => new Files12(connectionString);

    public static IEnumerable<(string, Func<Task>)> Tour(string connectionString) => new FilesTour(connectionString).Stops();
}

/// The library has no place for the period of a break, which the service knows for shares.
sealed class BreakPeriod : HttpPipelineSynchronousPolicy
{
    public static readonly AsyncLocal<string> Seconds = new AsyncLocal<string>();

    public override void OnSendingRequest(HttpMessage message)
    {
        if (Seconds.Value != null) message.Request.Headers.SetValue("x-ms-lease-break-period", Seconds.Value);
    }
}

sealed class Files12 : Storage
{
    const long Length = 2048;
    static readonly Dictionary<string, string> Metadata = new Dictionary<string, string> { { "name", "value" } };
    readonly ShareServiceClient service;
    readonly ShareClient share;
    string snapshot;

    public Files12(string connectionString)
    {
        var options = new ShareClientOptions();
        options.Retry.MaxRetries = 0;
        options.AddPolicy(new BreakPeriod(), HttpPipelinePosition.PerCall);
        options.AddPolicy(new Tap(), HttpPipelinePosition.PerRetry);
        service = new ShareServiceClient(connectionString, options);
        share = service.GetShareClient("files12-" + Guid.NewGuid().ToString("N"));
        Reads();
        Writes();
        Shares();
        Leases();
    }

    public override string Name => "Azure.Storage.Files.Shares";

    public override bool Sends(string operation, string header) => true;

    public override async Task Start()
    {
        await share.CreateAsync();
        snapshot = (await share.CreateSnapshotAsync()).Value.Snapshot;
    }

    ShareFileClient File(string name) => share.GetRootDirectoryClient().GetFileClient(name);
    ShareFileClient File(Attempt attempt) => File(attempt.Name);
    ShareClient Share(Attempt attempt) => service.GetShareClient(attempt.Name);
    static Stream Content() => new MemoryStream(Text);
    static ShareFileRequestConditions Lease(string id) => id == null ? null : new ShareFileRequestConditions { LeaseId = id };
    static ShareFileRequestConditions Lease(Attempt attempt) => Lease(attempt.Target.Lease);

    public override async Task Make(Attempt attempt)
    {
        switch (attempt.Operation.Kind)
        {
            case Kind.File:
                await File(attempt).CreateAsync(Length);
                await File(attempt).UploadRangeAsync(new HttpRange(0, Text.Length), Content());
                break;
            case Kind.Directory:
                await share.GetDirectoryClient(attempt.Name).CreateAsync();
                break;
            default:
                await Share(attempt).CreateAsync();
                break;
        }
    }

    public override Task Stage(Attempt attempt) => throw new NotSupportedException();

    public override Task<string> Snapshot(Attempt attempt) => throw new NotSupportedException();

    public override async Task<Seen> Look(Attempt attempt)
    {
        try
        {
            switch (attempt.Operation.Kind)
            {
                case Kind.File:
                    var file = (await File(attempt).GetPropertiesAsync()).Value;
                    return new Seen { ETag = file.ETag.ToString("H"), LastModified = file.LastModified, LeaseState = Lower(file.LeaseState) };
                case Kind.Directory:
                    var directory = (await share.GetDirectoryClient(attempt.Name).GetPropertiesAsync()).Value;
                    return new Seen { ETag = directory.ETag.ToString("H"), LastModified = directory.LastModified };
                default:
                    var box = (await Share(attempt).GetPropertiesAsync()).Value;
                    return new Seen { ETag = box.ETag?.ToString("H"), LastModified = box.LastModified.Value, LeaseState = Lower(box.LeaseState) };
            }
        }
        catch (RequestFailedException error) when (error.Status == 404 || error.ErrorCode == "ResourceTypeMismatch")
        {
            return null;
        }
    }

    static string Lower(object state) => state?.ToString().ToLowerInvariant();

    ShareLeaseClient LeaseOf(Attempt attempt, string id) =>
        attempt.Operation.Kind == Kind.Share ? Share(attempt).GetShareLeaseClient(id) : File(attempt).GetShareLeaseClient(id);

    public override Task Acquire(Attempt attempt, string id, int seconds) =>
        LeaseOf(attempt, id).AcquireAsync(seconds < 0 ? ShareLeaseClient.InfiniteLeaseDuration : TimeSpan.FromSeconds(seconds));

    public override Task Break(Attempt attempt, int seconds) => BreakWith(attempt, TimeSpan.FromSeconds(seconds));

    async Task<int?> BreakWith(Attempt attempt, TimeSpan? period)
    {
        BreakPeriod.Seconds.Value = period == null || attempt.Operation.Kind == Kind.File ? null : ((int)period.Value.TotalSeconds).ToString();
        var answer = await LeaseOf(attempt, null).BreakAsync();
        BreakPeriod.Seconds.Value = null;
        return LeaseTime(answer.GetRawResponse());
    }

    static int? LeaseTime(Response answer) =>
        answer.Headers.TryGetValue("x-ms-lease-time", out var told) ? int.Parse(told) : (int?)null;

    public override Task Touch(Attempt attempt) =>
        attempt.Operation.Kind == Kind.Share ? Share(attempt).SetMetadataAsync(Metadata) : (Task)File(attempt).SetMetadataAsync(Metadata);

    public override int? StatusOf(Exception error) => (error as RequestFailedException)?.Status;

    Uri Source(Attempt attempt) => File(attempt.SourceName).GenerateSasUri(ShareFileSasPermissions.Read, DateTimeOffset.UtcNow.AddHours(1));

    void Reads()
    {
        Operations["GetFile"] = async at =>
        {
            var answer = await File(at).DownloadAsync(new ShareFileDownloadOptions { Conditions = Lease(at) });
            answer.Value.Dispose();
        };
        Operations["GetFileProperties"] = at => File(at).GetPropertiesAsync(Lease(at));
        Operations["ListRanges"] = at => File(at).GetRangeListAsync(new ShareFileGetRangeListOptions { Conditions = Lease(at) });
        Operations["ListRangesDiff"] = at => File(at).GetRangeListDiffAsync(
            new ShareFileGetRangeListDiffOptions { PreviousSnapshot = snapshot, Conditions = Lease(at) });
    }

    void Writes()
    {
        Operations["CreateFile"] = at => File(at).CreateAsync(Length, new ShareFileCreateOptions(), Lease(at));
        Operations["SetFileProperties"] = at => File(at).SetHttpHeadersAsync(
            new ShareFileSetHttpHeadersOptions { HttpHeaders = new ShareFileHttpHeaders { ContentType = "text/csv" } }, Lease(at));
        Operations["ResizeFile"] = at => File(at).SetHttpHeadersAsync(new ShareFileSetHttpHeadersOptions { NewSize = 2 * Length }, Lease(at));
        Operations["SetFileMetadata"] = at => File(at).SetMetadataAsync(Metadata, Lease(at));
        Operations["PutRange"] = at => File(at).UploadRangeAsync(
            new HttpRange(0, Text.Length), Content(), new ShareFileUploadRangeOptions { Conditions = Lease(at) });
        Operations["ClearRange"] = at => File(at).ClearRangeAsync(new HttpRange(0, 512), Lease(at));
        Operations["PutRangeFromUrl"] = at => File(at).UploadRangeFromUriAsync(
            Source(at), new HttpRange(0, 512), new HttpRange(512, 512), new ShareFileUploadRangeFromUriOptions { Conditions = Lease(at) });
        Operations["CopyFile"] = at => File(at).StartCopyAsync(Source(at), new ShareFileCopyOptions { Conditions = Lease(at) });
        Operations["DeleteFile"] = at => File(at).DeleteAsync(Lease(at));
        Operations["RenameFile"] = at => File(at).RenameAsync(at.Name + "-to", new ShareFileRenameOptions { SourceConditions = Lease(at) });
        Operations["RenameOntoFile"] = at => File(at.SourceName).RenameAsync(at.Name, Onto(at));
        Operations["RenameDirectoryOntoFile"] = at => share.GetDirectoryClient(at.SourceName).RenameAsync(at.Name, Onto(at));
    }

    static ShareFileRenameOptions Onto(Attempt at) => new ShareFileRenameOptions { ReplaceIfExists = true, DestinationConditions = Lease(at) };

    void Shares()
    {
        Operations["GetShareProperties"] = at => Share(at).GetPropertiesAsync(Lease(at));
        Operations["SetShareProperties"] = at =>
            Share(at).SetPropertiesAsync(new ShareSetPropertiesOptions { QuotaInGB = 7, Conditions = Lease(at) });
        Operations["SetShareMetadata"] = at => Share(at).SetMetadataAsync(Metadata, Lease(at));
        Operations["GetShareAcl"] = at => Share(at).GetAccessPolicyAsync(Lease(at));
        Operations["SetShareAcl"] = at => Share(at).SetAccessPolicyAsync(new ShareSignedIdentifier[0], Lease(at));
        Operations["GetShareStats"] = at => Share(at).GetStatisticsAsync(Lease(at));
        Operations["DeleteShare"] = at => Share(at).DeleteAsync(new ShareDeleteOptions { Conditions = Lease(at) });
    }

    void Leases()
    {
        foreach (var noun in new[] { "FileLease", "ShareLease" })
        {
            Operations["Acquire" + noun] = at => LeaseOf(at, at.Proposed).AcquireAsync(ShareLeaseClient.InfiniteLeaseDuration);
            Operations["Change" + noun] = at => LeaseOf(at, at.Target.Lease).ChangeAsync(at.Proposed);
            Operations["Release" + noun] = at => LeaseOf(at, at.Target.Lease).ReleaseAsync();
            Operations["Break" + noun] = async at => at.LeaseTime = await BreakWith(at, at.Period);
        }
        Operations["RenewShareLease"] = at => LeaseOf(at, at.Target.Lease).RenewAsync();
    }
}
