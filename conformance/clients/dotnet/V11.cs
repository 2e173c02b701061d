// Microsoft.Azure.Storage.Blob: how the tables' blobs are made, seen and leased.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Azure.Storage;
using Microsoft.Azure.Storage.Blob;
using Microsoft.Azure.Storage.RetryPolicies;

static class Library
{
    public static Storage Make(string connectionString) => new V11(connectionString);

    public static IEnumerable<(string, Func<Task>)> Tour(string connectionString) => new Tour11(connectionString).Stops().Concat(new FilesTour11(connectionString).Stops());
}

sealed partial class V11 : Storage
{
    static readonly BlobRequestOptions Options = new BlobRequestOptions();
    static readonly CancellationToken Never = CancellationToken.None;
    readonly CloudBlobClient service;
    readonly CloudBlobContainer container;

    public V11(string connectionString)
    {
        service = CloudStorageAccount.Parse(connectionString).CreateCloudBlobClient();
        service.DefaultRequestOptions.RetryPolicy = new NoRetry();
        container = service.GetContainerReference("v11-" + Guid.NewGuid().ToString("N"));
        Reads();
        Writes();
        Copies();
        Leases();
        Containers();
    }

    public override string Name => "Microsoft.Azure.Storage.Blob";

    public override bool Sends(string operation, string header) =>
        header != "If-Tags"
        && !(operation == "PutBlockFromUrl" && header.StartsWith("source-"))
        && !(operation == "SetBlobTier" && header == "lease");

    /// Sees every answer before the client does.
    static OperationContext Tap()
    {
        var context = new OperationContext();
        context.ResponseReceived += (_, told) =>
        {
            IEnumerable<string> codes = null;
            told.Response?.Headers.TryGetValues("x-ms-error-code", out codes);
            if (told.Response != null) Wire.Note((int)told.Response.StatusCode, codes?.FirstOrDefault());
        };
        return context;
    }

    public override Task Start() => container.CreateAsync();

    CloudBlockBlob BlockBlob(Attempt attempt) => container.GetBlockBlobReference(attempt.Name);
    CloudAppendBlob AppendBlob(Attempt attempt) => container.GetAppendBlobReference(attempt.Name);
    CloudPageBlob PageBlob(Attempt attempt) => container.GetPageBlobReference(attempt.Name);
    CloudBlob AnyBlob(Attempt attempt) => container.GetBlobReference(attempt.Name);
    CloudBlobContainer Container(Attempt attempt) => service.GetContainerReference(attempt.Name);

    static Stream Content(int length = 4) => new MemoryStream(length == 4 ? Text : new byte[length]);

    public override async Task Make(Attempt attempt)
    {
        switch (attempt.Operation.Kind)
        {
            case Kind.Block:
                await BlockBlob(attempt).UploadFromStreamAsync(Content());
                break;
            case Kind.Append:
                await AppendBlob(attempt).CreateOrReplaceAsync();
                await AppendBlob(attempt).AppendBlockAsync(Content());
                break;
            case Kind.Page:
                await PageBlob(attempt).CreateAsync(Pages);
                await PageBlob(attempt).SetSequenceNumberAsync(SequenceNumberAction.Update, Sequence);
                await PageBlob(attempt).WritePagesAsync(Content(512), 0, null);
                break;
            default:
                await Container(attempt).CreateAsync();
                break;
        }
    }

    public override Task Stage(Attempt attempt) => BlockBlob(attempt).PutBlockAsync(Block, Content(), (string)null);

    public override async Task<string> Snapshot(Attempt attempt) =>
        (await AnyBlob(attempt).SnapshotAsync()).SnapshotTime.Value.UtcDateTime.ToString("o");

    public override async Task<Seen> Look(Attempt attempt)
    {
        try
        {
            if (attempt.Operation.Kind == Kind.Container)
            {
                var box = Container(attempt);
                await box.FetchAttributesAsync();
                return See(box.Properties.ETag, box.Properties.LastModified, box.Properties.LeaseState);
            }
            var blob = AnyBlob(attempt);
            await blob.FetchAttributesAsync();
            return See(blob.Properties.ETag, blob.Properties.LastModified, blob.Properties.LeaseState);
        }
        catch (StorageException error) when (error.RequestInformation.HttpStatusCode == 404)
        {
            return null;
        }
    }

    static Seen See(string tag, DateTimeOffset? modified, LeaseState state) =>
        new Seen { ETag = tag, LastModified = modified.Value, LeaseState = state.ToString().ToLowerInvariant() };

    public override Task Acquire(Attempt attempt, string id, int seconds)
    {
        var time = seconds < 0 ? (TimeSpan?)null : TimeSpan.FromSeconds(seconds);
        return attempt.Operation.Kind == Kind.Container
            ? Container(attempt).AcquireLeaseAsync(time, id)
            : AnyBlob(attempt).AcquireLeaseAsync(time, id);
    }

    public override Task Break(Attempt attempt, int seconds)
    {
        var time = TimeSpan.FromSeconds(seconds);
        return attempt.Operation.Kind == Kind.Container
            ? Container(attempt).BreakLeaseAsync(time)
            : AnyBlob(attempt).BreakLeaseAsync(time);
    }

    public override Task Touch(Attempt attempt)
    {
        if (attempt.Operation.Kind == Kind.Container)
        {
            var box = Container(attempt);
            box.Metadata["touched"] = "yes";
            return box.SetMetadataAsync();
        }
        var blob = AnyBlob(attempt);
        blob.Metadata["touched"] = "yes";
        return blob.SetMetadataAsync();
    }

    public override int? StatusOf(Exception error) => (error as StorageException)?.RequestInformation.HttpStatusCode;

    /// The source of a copy, to be read by anyone who has the address.
    Uri Source(Attempt attempt)
    {
        var blob = container.GetBlobReference(attempt.SourceName);
        return new Uri(blob.Uri + blob.GetSharedAccessSignature(new SharedAccessBlobPolicy
        {
            Permissions = SharedAccessBlobPermissions.Read,
            SharedAccessExpiryTime = DateTimeOffset.UtcNow.AddHours(1),
        }));
    }

    static AccessCondition Fill(Conditions from) => new AccessCondition
    {
        IfMatchETag = from.IfMatch,
        IfNoneMatchETag = from.IfNoneMatch,
        IfModifiedSinceTime = from.IfModifiedSince,
        IfNotModifiedSinceTime = from.IfUnmodifiedSince,
        LeaseId = from.Lease,
        IfSequenceNumberLessThanOrEqual = from.SequenceAtMost,
        IfSequenceNumberLessThan = from.SequenceBelow,
        IfSequenceNumberEqual = from.SequenceIs,
        IfAppendPositionEqual = from.AppendPosition,
        IfMaxSizeLessThanOrEqual = from.MaxSize,
    };
}
