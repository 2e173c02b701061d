// Azure.Storage.Blobs: how the tables' blobs are made, seen and leased.
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading.Tasks;
using Azure;
using Azure.Core;
using Azure.Core.Pipeline;
using Azure.Storage.Blobs;
using Azure.Storage.Blobs.Models;
using Azure.Storage.Blobs.Specialized;
using Azure.Storage.Sas;

static class Library
{
    public static Storage Make(string connectionString) => new V12(connectionString);

    public static IEnumerable<(string, Func<Task>)> Tour(string connectionString) => new Tour12(connectionString).Stops();
}

sealed partial class V12 : Storage
{
    readonly BlobServiceClient service;
    readonly BlobContainerClient container;

    public V12(string connectionString)
    {
        var options = new BlobClientOptions();
        options.Retry.MaxRetries = 0;
        options.AddPolicy(new Tap(), HttpPipelinePosition.PerRetry);
        service = new BlobServiceClient(connectionString, options);
        container = service.GetBlobContainerClient("v12-" + Guid.NewGuid().ToString("N"));
        Reads();
        Writes();
        Copies();
        Leases();
        Containers();
    }

    public override string Name => "Azure.Storage.Blobs";

    public override bool Sends(string operation, string header) => true;

    public override Task Start() => container.CreateAsync();

    BlockBlobClient BlockBlob(Attempt attempt) => container.GetBlockBlobClient(attempt.Name);
    AppendBlobClient AppendBlob(Attempt attempt) => container.GetAppendBlobClient(attempt.Name);
    PageBlobClient PageBlob(Attempt attempt) => container.GetPageBlobClient(attempt.Name);
    BlobContainerClient Container(Attempt attempt) => service.GetBlobContainerClient(attempt.Name);

    static Stream Content(int length = 4) => new MemoryStream(length == 4 ? Text : new byte[length]);

    public override async Task Make(Attempt attempt)
    {
        var tags = attempt.Tagged ? new Dictionary<string, string> { { "colour", "blue" } } : null;
        switch (attempt.Operation.Kind)
        {
            case Kind.Block:
                await BlockBlob(attempt).UploadAsync(Content(), new BlobUploadOptions { Tags = tags });
                break;
            case Kind.Append:
                await AppendBlob(attempt).CreateAsync(new AppendBlobCreateOptions { Tags = tags });
                await AppendBlob(attempt).AppendBlockAsync(Content());
                break;
            case Kind.Page:
                var options = new PageBlobCreateOptions { Tags = tags, SequenceNumber = Sequence };
                await PageBlob(attempt).CreateAsync(Pages, options);
                await PageBlob(attempt).UploadPagesAsync(Content(512), 0);
                break;
            default:
                await Container(attempt).CreateAsync();
                break;
        }
    }

    public override Task Stage(Attempt attempt) => BlockBlob(attempt).StageBlockAsync(Block, Content());

    public override async Task<string> Snapshot(Attempt attempt) =>
        (await BlockBlob(attempt).CreateSnapshotAsync()).Value.Snapshot;

    public override async Task<Seen> Look(Attempt attempt)
    {
        try
        {
            if (attempt.Operation.Kind == Kind.Container)
            {
                var box = (await Container(attempt).GetPropertiesAsync()).Value;
                return new Seen
                {
                    ETag = box.ETag.ToString("H"), LastModified = box.LastModified, LeaseState = Lower(box.LeaseState),
                };
            }
            var blob = (await BlockBlob(attempt).GetPropertiesAsync()).Value;
            return new Seen
            {
                ETag = blob.ETag.ToString("H"), LastModified = blob.LastModified, LeaseState = Lower(blob.LeaseState),
            };
        }
        catch (RequestFailedException error) when (error.Status == 404)
        {
            return null;
        }
    }

    static string Lower(object state) => state.ToString().ToLowerInvariant();

    BlobLeaseClient LeaseOf(Attempt attempt, string id) =>
        attempt.Operation.Kind == Kind.Container
            ? Container(attempt).GetBlobLeaseClient(id)
            : BlockBlob(attempt).GetBlobLeaseClient(id);

    public override Task Acquire(Attempt attempt, string id, int seconds) =>
        LeaseOf(attempt, id).AcquireAsync(seconds < 0 ? BlobLeaseClient.InfiniteLeaseDuration : TimeSpan.FromSeconds(seconds));

    public override Task Break(Attempt attempt, int seconds) =>
        LeaseOf(attempt, null).BreakAsync(TimeSpan.FromSeconds(seconds));

    public override Task Touch(Attempt attempt)
    {
        var metadata = new Dictionary<string, string> { { "touched", "yes" } };
        return attempt.Operation.Kind == Kind.Container
            ? Container(attempt).SetMetadataAsync(metadata)
            : (Task)BlockBlob(attempt).SetMetadataAsync(metadata);
    }

    public override bool Holds => true;

    static BlobImmutabilityPolicy Policy(DateTimeOffset until, bool locked) => new BlobImmutabilityPolicy
    {
        ExpiresOn = until, PolicyMode = locked ? BlobImmutabilityPolicyMode.Locked : BlobImmutabilityPolicyMode.Unlocked,
    };

    public override Task Protect(Attempt attempt, DateTimeOffset until, bool locked) =>
        BlockBlob(attempt).SetImmutabilityPolicyAsync(Policy(until, locked));

    public override Task Hold(Attempt attempt) => BlockBlob(attempt).SetLegalHoldAsync(true);

    public override int? StatusOf(Exception error) => (error as RequestFailedException)?.Status;

    /// The source of a copy, to be read by anyone who has the address.
    Uri Source(Attempt attempt)
    {
        var blob = container.GetBlobClient(attempt.SourceName);
        return blob.GenerateSasUri(BlobSasPermissions.Read, DateTimeOffset.UtcNow.AddHours(1));
    }

    static T Fill<T>(T made, Conditions from) where T : RequestConditions
    {
        if (from.IfMatch != null) made.IfMatch = new ETag(from.IfMatch);
        if (from.IfNoneMatch != null) made.IfNoneMatch = new ETag(from.IfNoneMatch);
        made.IfModifiedSince = from.IfModifiedSince;
        made.IfUnmodifiedSince = from.IfUnmodifiedSince;
        if (made is BlobLeaseRequestConditions tagged) tagged.TagConditions = from.Tags;
        if (made is BlobRequestConditions blob) blob.LeaseId = from.Lease;
        if (made is PageBlobRequestConditions pages)
        {
            pages.IfSequenceNumberLessThanOrEqual = from.SequenceAtMost;
            pages.IfSequenceNumberLessThan = from.SequenceBelow;
            pages.IfSequenceNumberEqual = from.SequenceIs;
        }
        if (made is AppendBlobRequestConditions append)
        {
            append.IfAppendPositionEqual = from.AppendPosition;
            append.IfMaxSizeLessThanOrEqual = from.MaxSize;
        }
        return made;
    }

    static BlobRequestConditions Blob(Conditions from) => Fill(new BlobRequestConditions(), from);
    static PageBlobRequestConditions Page(Conditions from) => Fill(new PageBlobRequestConditions(), from);
    static AppendBlobRequestConditions Append(Conditions from) => Fill(new AppendBlobRequestConditions(), from);
    static BlobLeaseRequestConditions Leasing(Conditions from) => Fill(new BlobLeaseRequestConditions(), from);
}
