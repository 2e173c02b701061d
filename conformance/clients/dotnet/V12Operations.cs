// Azure.Storage.Blobs: the call behind each operation of the tables.
using System.Collections.Generic;
using Azure;
using Azure.Storage.Blobs.Models;
using Azure.Storage.Blobs.Specialized;

sealed partial class V12
{
    static readonly Dictionary<string, string> Metadata = new Dictionary<string, string> { { "name", "value" } };

    void Reads()
    {
        Operations["GetBlob"] = at =>
            BlockBlob(at).DownloadContentAsync(new BlobDownloadOptions { Conditions = Blob(at.Target) });
        Operations["GetBlobProperties"] = at => BlockBlob(at).GetPropertiesAsync(Blob(at.Target));
        Operations["GetBlockList"] = at => BlockBlob(at).GetBlockListAsync(BlockListTypes.All, null, Blob(at.Target));
        Operations["GetPageRanges"] = at => PageBlob(at).GetPageRangesAsync(null, null, Page(at.Target));
        Operations["GetPageRangesDiff"] = at =>
            PageBlob(at).GetPageRangesDiffAsync(null, null, at.Snapshot ?? "2020-01-01T00:00:00.0000000Z", Page(at.Target));
        Operations["QueryBlobContents"] = async at =>
        {
            var options = new BlobQueryOptions { Conditions = Blob(at.Target) };
            var answer = await BlockBlob(at).QueryAsync("SELECT _1 FROM BlobStorage", options);
            if (answer.GetRawResponse().Status == 200) answer.Value.Dispose();
        };
        Operations["GetBlobTags"] = at => BlockBlob(at).GetTagsAsync(Blob(at.Target));
    }

    void Writes()
    {
        Operations["PutBlob"] = at =>
            BlockBlob(at).UploadAsync(Content(), new BlobUploadOptions { Conditions = Blob(at.Target) });
        Operations["PutPageBlob"] = at =>
            PageBlob(at).CreateAsync(Pages, new PageBlobCreateOptions { Conditions = Page(at.Target) });
        Operations["PutAppendBlob"] = at =>
            AppendBlob(at).CreateAsync(new AppendBlobCreateOptions { Conditions = Append(at.Target) });
        Operations["PutBlock"] = at => BlockBlob(at).StageBlockAsync(
            Block, Content(), new BlockBlobStageBlockOptions { Conditions = Blob(at.Target) });
        Operations["PutBlockList"] = async at =>
        {
            // A blob that is missing has no blocks either.
            var blocks = at.Staged ? new[] { Block } : new string[0];
            await BlockBlob(at).CommitBlockListAsync(blocks, new CommitBlockListOptions { Conditions = Blob(at.Target) });
        };
        Operations["AppendBlock"] = at => AppendBlob(at).AppendBlockAsync(
            Content(), new AppendBlobAppendBlockOptions { Conditions = Append(at.Target) });
        Operations["AppendBlobSeal"] = at => AppendBlob(at).SealAsync(Append(at.Target));
        Operations["PutPage"] = at => PageBlob(at).UploadPagesAsync(
            Content(512), 512, new PageBlobUploadPagesOptions { Conditions = Page(at.Target) });
        Operations["ClearPages"] = at => PageBlob(at).ClearPagesAsync(new HttpRange(0, 512), Page(at.Target));
        Operations["ResizePageBlob"] = at => PageBlob(at).ResizeAsync(2 * Pages, Page(at.Target));
        Operations["SetSequenceNumber"] = at =>
            PageBlob(at).UpdateSequenceNumberAsync(SequenceNumberAction.Update, 9, Page(at.Target));
        Operations["SetBlobMetadata"] = at => BlockBlob(at).SetMetadataAsync(Metadata, Blob(at.Target));
        Operations["SetBlobProperties"] = at =>
            BlockBlob(at).SetHttpHeadersAsync(new BlobHttpHeaders { ContentType = "text/csv" }, Blob(at.Target));
        Operations["SetBlobTier"] = at => BlockBlob(at).SetAccessTierAsync(AccessTier.Cool, Blob(at.Target));
        Operations["SetBlobTags"] = at => BlockBlob(at).SetTagsAsync(Metadata, Blob(at.Target));
        Operations["SetBlobImmutabilityPolicy"] = at =>
            BlockBlob(at).SetImmutabilityPolicyAsync(Policy(at.PolicyUntil, at.PolicyLocked), Blob(at.Target));
        Operations["DeleteBlobImmutabilityPolicy"] = at => BlockBlob(at).DeleteImmutabilityPolicyAsync();
        Operations["SetBlobLegalHold"] = at => BlockBlob(at).SetLegalHoldAsync(at.Legal);
        Operations["SnapshotBlob"] = at => BlockBlob(at).CreateSnapshotAsync(null, Blob(at.Target));
        Operations["DeleteBlob"] = at => BlockBlob(at).DeleteAsync(DeleteSnapshotsOption.None, Blob(at.Target));
    }

    void Copies()
    {
        Operations["CopyBlob"] = at => BlockBlob(at).StartCopyFromUriAsync(Source(at), Copying(at));
        Operations["CopyBlobFromUrl"] = at => BlockBlob(at).SyncCopyFromUriAsync(Source(at), Copying(at));
        Operations["PutBlobFromUrl"] = at => BlockBlob(at).SyncUploadFromUriAsync(
            Source(at),
            new BlobSyncUploadFromUriOptions { SourceConditions = Blob(at.Source), DestinationConditions = Blob(at.Target) });
        Operations["PutBlockFromUrl"] = at => BlockBlob(at).StageBlockFromUriAsync(
            Source(at), Block,
            new StageBlockFromUriOptions { SourceConditions = Blob(at.Source), DestinationConditions = Blob(at.Target) });
        Operations["AppendBlockFromUrl"] = at => AppendBlob(at).AppendBlockFromUriAsync(
            Source(at),
            new AppendBlobAppendBlockFromUriOptions
            {
                SourceConditions = Append(at.Source), DestinationConditions = Append(at.Target),
            });
        Operations["PutPageFromUrl"] = at => PageBlob(at).UploadPagesFromUriAsync(
            Source(at), new HttpRange(0, 512), new HttpRange(512, 512),
            new PageBlobUploadPagesFromUriOptions
            {
                SourceConditions = Page(at.Source), DestinationConditions = Page(at.Target),
            });
        Operations["IncrementalCopyBlob"] = at =>
            PageBlob(at).StartCopyIncrementalAsync(Source(at), at.Snapshot, Page(at.Target));
    }

    static BlobCopyFromUriOptions Copying(Attempt at) =>
        new BlobCopyFromUriOptions { SourceConditions = Blob(at.Source), DestinationConditions = Blob(at.Target) };

    void Leases()
    {
        foreach (var noun in new[] { "Lease", "ContainerLease" })
        {
            Operations["Acquire" + noun] = at =>
                LeaseOf(at, at.Proposed).AcquireAsync(BlobLeaseClient.InfiniteLeaseDuration, Leasing(at.Target));
            Operations["Renew" + noun] = at => LeaseOf(at, at.Target.Lease).RenewAsync(Leasing(at.Target));
            Operations["Change" + noun] = at => LeaseOf(at, at.Target.Lease).ChangeAsync(at.Proposed, Leasing(at.Target));
            Operations["Release" + noun] = at => LeaseOf(at, at.Target.Lease).ReleaseAsync(Leasing(at.Target));
            Operations["Break" + noun] = async at =>
                at.LeaseTime = (await LeaseOf(at, null).BreakAsync(at.Period, Leasing(at.Target))).Value.LeaseTime;
        }
    }

    void Containers()
    {
        Operations["GetContainerProperties"] = at => Container(at).GetPropertiesAsync(Blob(at.Target));
        Operations["SetContainerMetadata"] = at => Container(at).SetMetadataAsync(Metadata, Blob(at.Target));
        Operations["GetContainerAcl"] = at => Container(at).GetAccessPolicyAsync(Blob(at.Target));
        Operations["SetContainerAcl"] = at =>
            Container(at).SetAccessPolicyAsync(PublicAccessType.None, null, Blob(at.Target));
        Operations["DeleteContainer"] = at => Container(at).DeleteAsync(Blob(at.Target));
    }
}
