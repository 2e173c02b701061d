// Copies of all kinds: started and polled, at once, from a URL, in blocks, aborted, with conditions on both sides.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { collect, content, newContainer, put, refused, signed } from "./target.mjs";
import { start, without } from "./server.mjs";

async function newSource(t) {
  const container = await newContainer(t);
  const source = container.getBlockBlobClient("source");
  await put(source, "0123456789", { metadata: { n: "1" }, tags: { colour: "red" }, blobHTTPHeaders: { blobContentType: "text/plain" } });
  return { container, source, copy: container.getBlockBlobClient("copy") };
}

test("begun and polled until done", async (t) => {
  const { container, source, copy } = await newSource(t);
  const done = await (await copy.beginCopyFromURL(source.url)).pollUntilDone();
  assert.equal(done.copyStatus, "success");
  const told = await copy.getProperties();
  assert.deepEqual(
    [told.copyId, told.copyProgress, told.copySource, told.metadata, told.contentType, told.tagCount],
    [done.copyId, "10/10", source.url, { n: "1" }, "text/plain", undefined],
  );
  await source.delete();
  assert.equal(await content(copy), "0123456789");
  const listed = await collect(container.listBlobsFlat({ includeCopy: true }), (item) => item.properties.copyId);
  assert.deepEqual(listed, [done.copyId]);
  await refused(409, "NoPendingCopyOperation", copy.abortCopyFromURL(done.copyId));
});

test("with metadata, tags and a tier of its own", async (t) => {
  const { source, copy } = await newSource(t);
  const own = { metadata: { own: "yes" }, tags: { a: "b" }, tier: "Cool" };
  await (await copy.beginCopyFromURL(source.url, own)).pollUntilDone();
  const told = await copy.getProperties();
  assert.deepEqual([told.metadata, told.accessTier, (await copy.getTags()).tags], [{ own: "yes" }, "Cool", { a: "b" }]);
});

test("at once", async (t) => {
  const { source, copy } = await newSource(t);
  const told = await copy.syncCopyFromURL(await signed(source));
  assert.equal(told.copyStatus, "success");
  assert.equal(await content(copy), "0123456789");
  assert.ok(!(await copy.getProperties()).copySource.includes("sig="));
  await refused(401, "CannotVerifyCopySource", copy.syncCopyFromURL(source.url));
  await refused(403, "CannotVerifyCopySource", copy.syncCopyFromURL(await signed(source, "w")));
});

test("uploaded from a URL", async (t) => {
  const { source, copy } = await newSource(t);
  await copy.syncUploadFromURL(await signed(source));
  const told = await copy.getProperties();
  assert.deepEqual([await content(copy), told.contentType, told.copyId], ["0123456789", "text/plain", undefined]);
  await refused(409, "BlobAlreadyExists", copy.syncUploadFromURL(await signed(source), { conditions: { ifNoneMatch: "*" } }));
  const own = { copySourceBlobProperties: false, blobHTTPHeaders: { blobContentType: "text/csv" } };
  await copy.syncUploadFromURL(await signed(source), own);
  assert.equal((await copy.getProperties()).contentType, "text/csv");
});

test("blocks from a URL", async (t) => {
  const { source, copy } = await newSource(t);
  const blocks = ["one", "two"].map((name) => Buffer.from(name).toString("base64"));
  await copy.stageBlockFromURL(blocks[0], await signed(source), 5, 5);
  await copy.stageBlockFromURL(blocks[1], await signed(source), 0, 2);
  await copy.commitBlockList(blocks);
  assert.equal(await content(copy), "5678901");
  await refused(416, "CannotVerifyCopySource", copy.stageBlockFromURL(blocks[0], await signed(source), 20, 5));
});

test("conditions on either side", async (t) => {
  const { source, copy } = await newSource(t);
  const { etag } = await source.getProperties();
  const begin = (options) => copy.beginCopyFromURL(source.url, options);
  await refused(412, "SourceConditionNotMet", begin({ sourceConditions: { ifNoneMatch: etag } }));
  await refused(412, "SourceConditionNotMet", begin({ sourceConditions: { ifMatch: '"0x1"' } }));
  await (await begin({ sourceConditions: { ifMatch: etag } })).pollUntilDone();
  await refused(412, "TargetConditionNotMet", begin({ conditions: { ifMatch: '"0x1"' } }));
  await refused(409, "BlobAlreadyExists", begin({ conditions: { ifNoneMatch: "*" } }));
  const { etag: own } = await copy.getProperties();
  await (await begin({ conditions: { ifMatch: own } })).pollUntilDone();
});

test("onto a leased blob", async (t) => {
  const { source, copy } = await newSource(t);
  await put(copy, "old");
  const lease = copy.getBlobLeaseClient();
  const { leaseId } = await lease.acquireLease(15);
  await refused(412, "LeaseIdMissing", copy.beginCopyFromURL(source.url));
  await refused(412, "InfiniteLeaseDurationRequired", copy.beginCopyFromURL(source.url, { conditions: { leaseId } }));
  await lease.releaseLease();
  const forever = await copy.getBlobLeaseClient().acquireLease(-1);
  await (await copy.beginCopyFromURL(source.url, { conditions: { leaseId: forever.leaseId } })).pollUntilDone();
  assert.deepEqual([await content(copy), (await copy.getProperties()).leaseState], ["0123456789", "leased"]);
});

test("a snapshot over its base", async (t) => {
  const { source } = await newSource(t);
  const { snapshot } = await source.createSnapshot();
  await put(source, "new");
  await (await source.beginCopyFromURL(source.withSnapshot(snapshot).url)).pollUntilDone();
  assert.equal(await content(source), "0123456789");
});

test("from a host elsewhere: pending, then aborted, then done", { skip: without }, async (t) => {
  const bytes = randomBytes(9 * 1024 * 1024);
  let holds = true;
  const elsewhere = createServer((request, answer) => {
    answer.writeHead(200, { "content-length": bytes.length, etag: '"1"' });
    if (request.method === "HEAD") answer.end();
    else if (holds) answer.write(bytes.subarray(0, 1000));
    else answer.end(bytes);
  });
  await new Promise((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  t.after(() => (elsewhere.closeAllConnections(), elsewhere.close()));
  const host = `127.0.0.1:${elsewhere.address().port}`;
  const { service } = await start(t, ["--copySources", host]);
  const container = service.getContainerClient("box");
  await container.create();
  const copy = container.getBlockBlobClient("copy");
  const begun = await copy.beginCopyFromURL(`http://${host}/file`, { intervalInMs: 50 });
  const { copyId } = begun.getOperationState();
  assert.equal((await copy.getProperties()).copyStatus, "pending");
  await refused(409, "PendingCopyOperation", copy.beginCopyFromURL(`http://${host}/file`));
  await begun.cancelOperation();
  const told = await copy.getProperties();
  assert.deepEqual([told.copyStatus, told.copyId, told.contentLength], ["aborted", copyId, 0]);
  holds = false;
  const done = await (await copy.beginCopyFromURL(`http://${host}/file`, { intervalInMs: 50 })).pollUntilDone();
  assert.equal(done.copyStatus, "success");
  assert.ok(bytes.equals(await copy.downloadToBuffer()));
});
