// Microsoft.Azure.Storage.Blob: the call behind each operation of the tables.
using System;
using System.Globalization;
using System.IO;
using System.Threading.Tasks;
using Microsoft.Azure.Storage;
using Microsoft.Azure.Storage.Auth;
using Microsoft.Azure.Storage.Blob;
using Microsoft.Azure.Storage.Shared.Protocol;

sealed partial class V11
{
    void Reads()
    {
        Operations["GetBlob"] = at =>
            AnyBlob(at).DownloadToStreamAsync(new MemoryStream(), Fill(at.Target), Options, Tap(), Never);
        Operations["GetBlobProperties"] = at => AnyBlob(at).FetchAttributesAsync(Fill(at.Target), Options, Tap(), Never);
        Operations["GetBlockList"] = at =>
            BlockBlob(at).DownloadBlockListAsync(BlockListingFilter.All, Fill(at.Target), Options, Tap(), Never);
        Operations["GetPageRanges"] = at => PageBlob(at).GetPageRangesAsync(null, null, Fill(at.Target), Options, Tap(), Never);
        Operations["GetPageRangesDiff"] = at => PageBlob(at).GetPageRangesDiffAsync(
            Moment(at.Snapshot ?? "2020-01-01T00:00:00.0000000Z"), null, null, Fill(at.Target), Options, Tap(), Never);
    }

    static DateTimeOffset Moment(string snapshot) =>
        DateTimeOffset.Parse(snapshot, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal);

    void Writes()
    {
        Operations["PutBlob"] = at =>
            BlockBlob(at).UploadFromStreamAsync(Content(), Fill(at.Target), Options, Tap(), Never);
        Operations["PutPageBlob"] = at => PageBlob(at).CreateAsync(Pages, Fill(at.Target), Options, Tap(), Never);
        Operations["PutAppendBlob"] = at => AppendBlob(at).CreateOrReplaceAsync(Fill(at.Target), Options, Tap(), Never);
        Operations["PutBlock"] = at =>
            BlockBlob(at).PutBlockAsync(Block, Content(), (string)null, Fill(at.Target), Options, Tap(), Never);
        // A blob that is missing has no blocks either.
        Operations["PutBlockList"] = at => BlockBlob(at).PutBlockListAsync(
            at.Staged ? new[] { Block } : new string[0], Fill(at.Target), Options, Tap(), Never);
        Operations["AppendBlock"] = at =>
            AppendBlob(at).AppendBlockAsync(Content(), (string)null, Fill(at.Target), Options, Tap(), Never);
        Operations["PutPage"] = at =>
            PageBlob(at).WritePagesAsync(Content(512), 512, (Checksum)null, Fill(at.Target), Options, Tap(), Never);
        Operations["ClearPages"] = at => PageBlob(at).ClearPagesAsync(0, 512, Fill(at.Target), Options, Tap(), Never);
        Operations["ResizePageBlob"] = at => PageBlob(at).ResizeAsync(2 * Pages, Fill(at.Target), Options, Tap(), Never);
        Operations["SetSequenceNumber"] = at => PageBlob(at).SetSequenceNumberAsync(
            SequenceNumberAction.Update, 9, Fill(at.Target), Options, Tap(), Never);
        Operations["SetBlobMetadata"] = at =>
        {
            var blob = AnyBlob(at);
            blob.Metadata["name"] = "value";
            return blob.SetMetadataAsync(Fill(at.Target), Options, Tap(), Never);
        };
        Operations["SetBlobProperties"] = at =>
        {
            var blob = AnyBlob(at);
            blob.Properties.ContentType = "text/csv";
            return blob.SetPropertiesAsync(Fill(at.Target), Options, Tap(), Never);
        };
        Operations["SetBlobTier"] = at => BlockBlob(at).SetStandardBlobTierAsync(
            StandardBlobTier.Cool, null, Fill(at.Target), Options, Tap(), Never);
        Operations["SnapshotBlob"] = at => AnyBlob(at).SnapshotAsync(null, Fill(at.Target), Options, Tap(), Never);
        Operations["DeleteBlob"] = at =>
            AnyBlob(at).DeleteAsync(DeleteSnapshotsOption.None, Fill(at.Target), Options, Tap(), Never);
    }

    void Copies()
    {
        Operations["CopyBlob"] = at =>
            AnyBlob(at).StartCopyAsync(Source(at), Fill(at.Source), Fill(at.Target), Options, Tap(), Never);
        Operations["CopyBlobFromUrl"] = at => BlockBlob(at).StartCopyAsync(
            new CloudBlockBlob(Source(at)), null, false, true, null, null, Fill(at.Source), Fill(at.Target), Options, Tap(), Never);
        Operations["PutBlockFromUrl"] = at => BlockBlob(at).PutBlockAsync(
            Block, Source(at), 0, 4, (string)null, Fill(at.Target), Options, Tap(), Never);
        Operations["AppendBlockFromUrl"] = at => AppendBlob(at).AppendBlockAsync(
            Source(at), 0, 4, null, Fill(at.Source), Fill(at.Target), Options, Tap(), Never);
        Operations["PutPageFromUrl"] = at => PageBlob(at).WritePagesAsync(
            Source(at), 0, 512, 512, null, Fill(at.Source), Fill(at.Target), Options, Tap(), Never);
        Operations["IncrementalCopyBlob"] = at => PageBlob(at).StartIncrementalCopyAsync(
            new Uri(Source(at) + "&snapshot=" + Uri.EscapeDataString(at.Snapshot)), Fill(at.Target), Options, Tap(), Never);
    }

    void Leases()
    {
        Operations["AcquireLease"] = at =>
            AnyBlob(at).AcquireLeaseAsync(null, at.Proposed, Fill(at.Target), Options, Tap(), Never);
        Operations["RenewLease"] = at => AnyBlob(at).RenewLeaseAsync(Fill(at.Target), Options, Tap(), Never);
        Operations["ChangeLease"] = at => AnyBlob(at).ChangeLeaseAsync(at.Proposed, Fill(at.Target), Options, Tap(), Never);
        Operations["ReleaseLease"] = at => AnyBlob(at).ReleaseLeaseAsync(Fill(at.Target), Options, Tap(), Never);
        Operations["BreakLease"] = async at => at.LeaseTime =
            (int)(await AnyBlob(at).BreakLeaseAsync(at.Period, Fill(at.Target), Options, Tap(), Never)).TotalSeconds;
        Operations["AcquireContainerLease"] = at =>
            Container(at).AcquireLeaseAsync(null, at.Proposed, Fill(at.Target), Options, Tap(), Never);
        Operations["RenewContainerLease"] = at => Container(at).RenewLeaseAsync(Fill(at.Target), Options, Tap(), Never);
        Operations["ChangeContainerLease"] = at =>
            Container(at).ChangeLeaseAsync(at.Proposed, Fill(at.Target), Options, Tap(), Never);
        Operations["ReleaseContainerLease"] = at => Container(at).ReleaseLeaseAsync(Fill(at.Target), Options, Tap(), Never);
        Operations["BreakContainerLease"] = async at => at.LeaseTime =
            (int)(await Container(at).BreakLeaseAsync(at.Period, Fill(at.Target), Options, Tap(), Never)).TotalSeconds;
    }

    void Containers()
    {
        Operations["GetContainerProperties"] = at => Container(at).FetchAttributesAsync(Fill(at.Target), Options, Tap(), Never);
        Operations["SetContainerMetadata"] = at =>
        {
            var box = Container(at);
            box.Metadata["name"] = "value";
            return box.SetMetadataAsync(Fill(at.Target), Options, Tap(), Never);
        };
        Operations["GetContainerAcl"] = at => Container(at).GetPermissionsAsync(Fill(at.Target), Options, Tap(), Never);
        Operations["SetContainerAcl"] = at =>
            Container(at).SetPermissionsAsync(new BlobContainerPermissions(), Fill(at.Target), Options, Tap(), Never);
        Operations["DeleteContainer"] = at => Container(at).DeleteAsync(Fill(at.Target), Options, Tap(), Never);
    }
}
