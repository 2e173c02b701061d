// Directories and files as the official JavaScript client sees them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import {
  AccountSASPermissions,
  AnonymousCredential,
  FileSASPermissions,
  FileSystemAttributes,
  ShareClient,
  ShareFileClient,
  ShareSASPermissions,
  ShareServiceClient,
} from "@azure/storage-file-share";
import { collect, newContainer, refused, signed } from "./target.mjs";
import { byHostName, connectionString, fileOf, hour, newShare, options, put, SDDL, shares, text } from "./shares.mjs";

const KIB = 1024;
const MIB = 1024 * 1024;
const names = (directory, how) => collect(directory.listFilesAndDirectories(how), (item) => item.name).then((found) => found.sort());

test("directories", async (t) => {
  const share = await newShare(t);
  const { directoryClient: directory } = await share.createDirectory("dir", { metadata: { a: "b" } });
  await refused(409, "ResourceAlreadyExists", () => directory.create());
  assert.equal((await directory.createIfNotExists()).succeeded, false);
  await directory.createSubdirectory("sub");
  await directory.createFile("file", 5);
  await refused(409, "DirectoryNotEmpty", () => directory.delete());
  assert.deepEqual(await names(directory), ["file", "sub"]);
  assert.deepEqual((await directory.getProperties()).metadata, { a: "b" });
  await directory.setMetadata({ c: "d" });
  assert.deepEqual((await directory.getProperties()).metadata, { c: "d" });
  await directory.setProperties({ fileAttributes: FileSystemAttributes.parse("Hidden"), creationTime: new Date("2021-01-02T03:04:05Z") });
  const told = await directory.getProperties();
  assert.equal(told.fileCreatedOn.toISOString(), "2021-01-02T03:04:05.000Z");
  await directory.deleteFile("file");
  await directory.deleteSubdirectory("sub");
  await directory.delete();
  assert.equal(await directory.exists(), false);
});

test("listing", async (t) => {
  const share = await newShare(t);
  for (const name of ["one", "two"]) await share.createDirectory(name);
  for (const name of ["three", "twelve"]) await share.createFile(name, name.length);
  const root = share.rootDirectoryClient;
  assert.deepEqual(await names(root), ["one", "three", "twelve", "two"]);
  assert.deepEqual(await names(root, { prefix: "tw" }), ["twelve", "two"]);
  const pages = await collect(root.listFilesAndDirectories().byPage({ maxPageSize: 3 }), (page) =>
    [...page.segment.directoryItems, ...page.segment.fileItems].map((item) => item.name).sort(),
  );
  assert.deepEqual(pages, [["one", "three", "twelve"], ["two"]]);
  const more = { includeTimestamps: true, includeEtag: true, includeAttributes: true, includePermissionKey: true, includeExtendedInfo: true };
  for (const item of await collect(root.listFilesAndDirectories(more))) {
    assert.ok(item.fileId && item.permissionKey && item.attributes && item.properties.creationTime && item.properties.etag, item.name);
  }
});

test("files there and back", async (t) => {
  const share = await newShare(t);
  const place = await mkdtemp(join(tmpdir(), "lazuli-js-"));
  t.after(() => rm(place, { recursive: true }));
  const content = randomBytes(9 * MIB + 17);
  const file = fileOf(share, "file");
  await file.uploadData(content, { rangeSize: MIB, concurrency: 4, fileHttpHeaders: { fileContentType: "text/plain" }, metadata: { a: "b" } });
  assert.deepEqual(await file.downloadToBuffer(0, undefined, { rangeSize: MIB, concurrency: 4 }), content);
  const told = await file.getProperties();
  assert.deepEqual([told.contentLength, told.contentType, told.metadata], [content.length, "text/plain", { a: "b" }]);
  await writeFile(join(place, "up"), content);
  await file.uploadFile(join(place, "up"), { rangeSize: 2 * MIB });
  await file.downloadToFile(join(place, "down"));
  assert.deepEqual(await readFile(join(place, "down")), content);
  await file.uploadStream(Readable.from([content.subarray(0, 100_000)]), 100_000, MIB, 2);
  assert.deepEqual(await file.downloadToBuffer(), content.subarray(0, 100_000));
  const ranged = await file.download(10, 20, { rangeGetContentMD5: true });
  assert.equal(ranged.contentLength, 20);
  assert.ok(ranged.contentMD5);
  ranged.readableStreamBody.resume();
  await refused(416, "InvalidRange", () => file.download(100_000, 1));
  await file.deleteIfExists();
  await refused(404, "ResourceNotFound", () => file.delete());
});

test("properties of files", async (t) => {
  const share = await newShare(t);
  const file = fileOf(share, "file");
  const moment = new Date("2021-03-04T05:06:07.890Z");
  await file.create(10, { creationTime: moment, lastWriteTime: moment, changeTime: moment, filePermission: SDDL });
  const told = await file.getProperties();
  assert.deepEqual([told.fileCreatedOn, told.fileLastWriteOn, told.fileChangeOn], [moment, moment, moment]);
  assert.equal(told.filePermissionKey, (await share.createPermission(SDDL)).filePermissionKey);
  assert.ok(told.fileId && told.fileParentId);
  await file.setHttpHeaders({ fileContentType: "text/csv", fileCacheControl: "no-cache" });
  await file.setMetadata({ a: "b" });
  await file.resize(3);
  const after = await file.getProperties();
  assert.deepEqual([after.contentType, after.cacheControl, after.metadata, after.contentLength], ["text/csv", "no-cache", { a: "b" }, 3]);
});

test("ranges", async (t) => {
  const share = await newShare(t);
  const file = fileOf(share, "file");
  await file.create(64 * KIB);
  await file.uploadRange(Buffer.alloc(8 * KIB, "a"), 0, 8 * KIB);
  const { snapshot } = await share.createSnapshot();
  await file.uploadRange("b".repeat(KIB), 4 * KIB, KIB);
  await file.clearRange(0, KIB);
  const told = await file.getRangeList();
  assert.deepEqual(told.rangeList, [{ start: KIB, end: 8 * KIB - 1 }]);
  const changed = await file.getRangeListDiff(snapshot);
  assert.deepEqual(changed.ranges, [{ start: 4 * KIB, end: 5 * KIB - 1 }]);
  assert.deepEqual(changed.clearRanges, [{ start: 0, end: KIB - 1 }]);
  const other = fileOf(share, "other");
  await other.create(2 * KIB);
  await other.uploadRangeFromURL(file.generateSasUrl({ permissions: FileSASPermissions.parse("r"), expiresOn: hour() }), 4 * KIB, 0, KIB);
  assert.equal(await text(other), "b".repeat(KIB) + "\0".repeat(KIB));
  await refused(416, "InvalidRange", () => file.uploadRange("xx", 64 * KIB - 1, 2));
  const large = fileOf(share, "sparse");
  await large.create(4 * 1024 ** 3);
  await large.uploadRange("end", 4 * 1024 ** 3 - 3, 3);
  assert.equal((await large.downloadToBuffer(4 * 1024 ** 3 - 4, 4)).toString(), "\0end");
});

test("a range from a blob", async (t) => {
  const share = await newShare(t);
  const blob = (await newContainer(t)).getBlockBlobClient("blob");
  await blob.upload("content of a blob", 17);
  const file = fileOf(share, "file");
  await file.create(17);
  await file.uploadRangeFromURL(await signed(blob), 0, 0, 17);
  assert.equal(await text(file), "content of a blob");
});

test("copies", async (t) => {
  const share = await newShare(t);
  const file = await put(share, "file", "content");
  await file.setMetadata({ a: "b" });
  const copy = fileOf(share, "copy");
  const started = await copy.startCopyFromURL(file.url);
  assert.equal(started.copyStatus, "success");
  assert.equal(await text(copy), "content");
  const told = await copy.getProperties();
  assert.deepEqual([told.copyId, told.metadata], [started.copyId, { a: "b" }]);
  await refused(409, "NoPendingCopyOperation", () => copy.abortCopyFromURL(started.copyId));
  await refused(404, "ResourceNotFound", () => copy.startCopyFromURL(file.url + "none"));
  const blob = (await newContainer(t)).getBlockBlobClient("blob");
  await blob.upload("of a blob", 9);
  await copy.startCopyFromURL(await signed(blob), { metadata: { own: "yes" } });
  assert.equal(await text(copy), "of a blob");
  assert.deepEqual((await copy.getProperties()).metadata, { own: "yes" });
});

test("handles where nobody has opened anything", async (t) => {
  const share = await newShare(t);
  const file = await put(share, "file", "content");
  assert.deepEqual(await collect(file.listHandles()), []);
  assert.deepEqual(await collect(share.rootDirectoryClient.listHandles({ recursive: true })), []);
  assert.equal((await file.forceCloseAllHandles()).closedHandlesCount, 0);
  assert.equal((await file.forceCloseHandle("12345")).closedHandlesCount, 0);
  await refused(404, "ResourceNotFound", () => fileOf(share, "nothing").forceCloseHandle("12345"));
});

test("renames", async (t) => {
  const share = byHostName().getShareClient((await newShare(t)).name);
  await share.createDirectory("dir");
  const file = await put(share, "file", "content");
  await put(share, "there", "replaced");
  await refused(409, "ResourceAlreadyExists", () => file.rename("there"));
  const { destinationFileClient: moved } = await file.rename("there", { replaceIfExists: true });
  assert.equal(await text(moved), "content");
  assert.equal(await file.exists(), false);
  const { destinationFileClient: below } = await moved.rename("dir/below", { metadata: { a: "b" }, contentType: "text/csv" });
  assert.deepEqual((await below.getProperties()).metadata, { a: "b" });
  const { destinationDirectoryClient: renamed } = await share.getDirectoryClient("dir").rename("renamed");
  assert.equal(await text(renamed.getFileClient("below")), "content");
  const lease = renamed.getFileClient("below").getShareLeaseClient();
  const { leaseId } = await lease.acquireLease();
  await refused(412, "LeaseIdMissing", () => renamed.getFileClient("below").rename("out"));
  await renamed.getFileClient("below").rename("out", { sourceLeaseAccessConditions: { leaseId } });
  assert.equal(await text(fileOf(share, "out")), "content");
});

test("names: case, dots, odd ones", async (t) => {
  const share = await newShare(t);
  await put(share, "File.TXT", "content");
  assert.equal(await text(fileOf(share, "fILE.txt")), "content");
  const dotted = ShareServiceClient.fromConnectionString(connectionString, { ...options, allowTrailingDot: true, allowSourceTrailingDot: true });
  const other = dotted.getShareClient(share.name);
  await put(other, "dot.", "dotted");
  assert.equal(await text(fileOf(other, "dot.")), "dotted");
  assert.equal(await fileOf(share, "dot.").exists(), false);
  for (const name of ["with space", "per%20cent", "plus+and&", "ünï文字", "(brackets) [square]", "~!#$@^`{}=,;'"]) {
    await put(share, name, name);
    assert.equal(await text(fileOf(share, name)), name);
  }
  assert.ok((await names(share.rootDirectoryClient)).includes("per%20cent"));
  await refused(400, "InvalidResourceName", () => fileOf(share, "a:b").create(1));
});

test("links of NFS", async (t) => {
  const share = await newShare(t, { protocols: { nfsEnabled: true } });
  const file = fileOf(share, "file");
  await file.create(7, { posixProperties: { owner: "3", group: "4" } });
  await file.uploadRange("content", 0, 7);
  assert.equal((await fileOf(share, "hard").createHardLink("/file")).posixProperties.linkCount, 2);
  assert.equal(await text(fileOf(share, "hard")), "content");
  await fileOf(share, "soft").createSymbolicLink("file");
  assert.equal((await fileOf(share, "soft").getSymbolicLink()).linkText, "file");
  assert.equal((await file.getProperties()).posixProperties.owner, "3");
});

test("signatures", async (t) => {
  const share = await newShare(t);
  await share.createDirectory("dir");
  const file = await put(share, "dir/file", "content");
  const expiresOn = hour();
  const nobody = new AnonymousCredential();
  const read = new ShareFileClient(file.generateSasUrl({ permissions: FileSASPermissions.parse("r"), expiresOn }), nobody, options);
  assert.equal(await text(read), "content");
  await refused(403, "AuthorizationPermissionMismatch", () => read.delete());
  const whole = new ShareClient(share.generateSasUrl({ permissions: ShareSASPermissions.parse("rl"), expiresOn }), nobody, options);
  assert.deepEqual(await names(whole.getDirectoryClient("dir")), ["file"]);
  const account = new ShareServiceClient(shares.generateAccountSasUrl(expiresOn, AccountSASPermissions.parse("rwdlc"), "sco"), nobody, options);
  assert.equal(await text(account.getShareClient(share.name).getDirectoryClient("dir").getFileClient("file")), "content");
  await refused(403, "AuthenticationFailed", () => {
    const wrong = file.generateSasUrl({ permissions: FileSASPermissions.parse("r"), expiresOn }).replace("sp=r", "sp=rw");
    return new ShareFileClient(wrong, nobody, options).delete();
  });
});
