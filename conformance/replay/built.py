"""Which operations are built, by the reference that is printed from the operation table.

The replayer names an operation after what its request looks like; here each such name meets its row.
"""
import re

LEASE = ('Acquire', 'Renew', 'Change', 'Release', 'Break')

ROWS = {
    'blob': {
        'List Containers': 'ListContainers',
        'Set Service properties': 'SetBlobServiceProperties',
        'Get Service properties': 'GetBlobServiceProperties',
        'Get Service account': 'GetAccountInformation',
        'Get Service stats': 'GetBlobServiceStats',
        'Get Service userdelegationkey': 'GetUserDelegationKey',
        'Blob Batch': 'BlobBatch',
        'Find Blobs By Tags': 'FindBlobsByTags',
        'Find Blobs By Tags In Container': 'FindBlobsByTagsInContainer',
        'Create Container': 'CreateContainer',
        'Get Container Properties': 'GetContainerProperties',
        'Get Container metadata': 'GetContainerMetadata',
        'Set Container metadata': 'SetContainerMetadata',
        'Get Container acl': 'GetContainerAcl',
        'Set Container acl': 'SetContainerAcl',
        'Delete Container': 'DeleteContainer',
        'Set Container undelete': 'RestoreContainer',
        'Set Container rename': 'RenameContainer',
        'Get Container properties': 'GetAccountInformationOfContainer',
        'List Blobs': 'ListBlobs',
        'Put BlockBlob': 'PutBlockBlob',
        'Put PageBlob': 'PutPageBlob',
        'Put AppendBlob': 'PutAppendBlob',
        'Put BlockBlob From URL': 'PutBlobFromUrl',
        'Copy Blob': 'CopyBlob',
        'Copy Blob From URL': 'CopyBlobFromUrl',
        'Abort Copy': 'AbortCopyBlob',
        'Incremental Copy From URL': 'IncrementalCopyBlob',
        'Get Blob': 'GetBlob',
        'Get Blob Properties': 'GetBlobProperties',
        'Get Blob properties': 'GetAccountInformationOfBlob',
        'Set Blob properties': 'SetBlobProperties',
        'Get Blob metadata': 'GetBlobMetadata',
        'Set Blob metadata': 'SetBlobMetadata',
        'Snapshot Blob': 'SnapshotBlob',
        'Delete Blob': 'DeleteBlob',
        'Undelete Blob': 'UndeleteBlob',
        'Set Blob Tier': 'SetBlobTier',
        'Get Blob tags': 'GetBlobTags',
        'Set Blob tags': 'SetBlobTags',
        'Set Blob Expiry': 'SetBlobExpiry',
        'Set Blob immutabilityPolicies': 'SetBlobImmutabilityPolicy',
        'Delete Blob immutabilityPolicies': 'DeleteBlobImmutabilityPolicy',
        'Set Blob legalhold': 'SetBlobLegalHold',
        'Query Blob': 'QueryBlobContents',
        'Put Block': 'PutBlock',
        'Put Block From URL': 'PutBlockFromUrl',
        'Put Block List': 'PutBlockList',
        'Get Block List': 'GetBlockList',
        'Put Page': 'PutPage',
        'Put Page From URL': 'PutPageFromUrl',
        'Clear Pages': 'ClearPages',
        'Get Page Ranges': 'GetPageRanges',
        'Get Page Ranges Diff': 'GetPageRanges',
        'Append Block': 'AppendBlock',
        'Append Block From URL': 'AppendBlockFromUrl',
        'Append Blob Seal': 'AppendBlobSeal',
        **{'%s %s Lease' % (of, act): '%s%sLease' % (act, of) for of in ('Blob', 'Container') for act in LEASE},
    },
    'queue': {
        'List Queues': 'ListQueues',
        'PUT Service Properties': 'SetQueueServiceProperties',
        'GET Service Properties': 'GetQueueServiceProperties',
        'GET service stats': 'GetQueueServiceStats',
        'Create Queue': 'CreateQueue',
        'Delete Queue': 'DeleteQueue',
        'GET Queue metadata': 'GetQueueMetadata',
        'HEAD Queue metadata': 'GetQueueMetadata',
        'PUT Queue metadata': 'SetQueueMetadata',
        'GET Queue acl': 'GetQueueAcl',
        'PUT Queue acl': 'SetQueueAcl',
        'Put Message': 'PutMessage',
        'Get Messages': 'GetMessages',
        'Peek Messages': 'PeekMessages',
        'Clear Messages': 'ClearMessages',
        'Update Message': 'UpdateMessage',
        'Delete Message': 'DeleteMessage',
    },
    'table': {
        'PUT service properties': 'SetTableServiceProperties',
        'GET service properties': 'GetTableServiceProperties',
        'GET service stats': 'GetTableServiceStats',
        'Query Tables': 'QueryTables',
        'Create Table': 'CreateTable',
        'Delete Table': 'DeleteTable',
        'Get Table ACL': 'GetTableAcl',
        'Set Table ACL': 'SetTableAcl',
        'Query Entities': 'QueryEntities',
        'Get Entity': 'GetEntity',
        'Insert Entity': 'InsertEntity',
        'Update Entity': 'UpdateEntity',
        'Merge Entity': 'MergeEntity',
        'Insert Or Replace Entity': 'InsertOrReplaceEntity',
        'Insert Or Merge Entity': 'InsertOrMergeEntity',
        'Delete Entity': 'DeleteEntity',
        'Batch': 'EntityGroupTransaction',
    },
    'file': {
        'List Shares': 'ListShares',
        'Set Service properties': 'SetFileServiceProperties',
        'Get Service properties': 'GetFileServiceProperties',
        'Create Share': 'CreateShare',
        'Get Share Properties': 'GetShareProperties',
        'Get Share metadata': 'GetShareMetadata',
        'Set Share metadata': 'SetShareMetadata',
        'Set Share properties': 'SetShareProperties',
        'Get Share acl': 'GetShareAcl',
        'Set Share acl': 'SetShareAcl',
        'Get Share stats': 'GetShareStats',
        'Delete Share': 'DeleteShare',
        'Set Share undelete': 'RestoreShare',
        'Set Share snapshot': 'SnapshotShare',
        'Set Share filepermission': 'CreatePermission',
        'Get Share filepermission': 'GetPermission',
        'Create Directory': 'CreateDirectory',
        'Get Directory': 'GetDirectoryProperties',
        'Get Directory metadata': 'GetDirectoryMetadata',
        'Create Directory properties': 'SetDirectoryProperties',
        'Create Directory metadata': 'SetDirectoryMetadata',
        'Create Directory rename': 'RenameDirectory',
        'Delete Directory': 'DeleteDirectory',
        'List Directory': 'ListDirectoriesAndFiles',
        'Get File listhandles': 'ListHandles',
        'Set File forceclosehandles': 'ForceCloseHandles',
        'Create File': 'CreateFile',
        'Get File': 'GetFile',
        'Get File Properties': 'GetFileProperties',
        'Get File metadata': 'GetFileMetadata',
        'Set File properties': 'SetFileProperties',
        'Set File metadata': 'SetFileMetadata',
        'Set File rename': 'RenameFile',
        'Delete File': 'DeleteFile',
        'Set File range': 'PutRange',
        'Set File range from URL': 'PutRangeFromUrl',
        'Get File rangelist': 'ListRanges',
        'Copy File': 'CopyFile',
        'Set File copy': 'AbortCopyFile',
        **{'Share %s Lease' % act: '%sShareLease' % act for act in LEASE},
        **{'File %s Lease' % act: '%sFileLease' % act for act in LEASE if act != 'Renew'},
    },
}


class Built:
    def __init__(self, operations_md):
        with open(operations_md, encoding='utf-8') as page:
            rows = [(re.search(r'\(`(\w+)`\)', line), line.rstrip().rstrip('|').rsplit('|', 1)[-1].strip())
                    for line in page if line.startswith('| ')]
        self.rows = {found.group(1): last == 'yes' for found, last in rows if found}
        if not self.rows:
            raise ValueError('%s lists no operation' % operations_md)

    def __call__(self, service, operation):
        """Whether it is built. What the replayer names and the table does not know is taken to be built: a
        difference there must be looked at, not left out."""
        row = ROWS.get(service, {}).get(operation)
        return self.rows[row] if row is not None else True

    def services(self):
        return [service for service, names in ROWS.items() if any(self.rows[row] for row in names.values())]

    def check(self):
        """Names in the map above that the table no longer has."""
        return sorted({row for names in ROWS.values() for row in names.values()} - set(self.rows))
