// What programs do all day: transfer, list, snapshots, metadata, signatures.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { BlobSASPermissions, BlobServiceClient, BlockBlobClient, ContainerSASPermissions } from "@azure/storage-blob";
import { collect, content, newBlob, newContainer, put, refused, service } from "./target.mjs";

test("a large blob in parallel blocks", async (t) => {
  const blob = await newBlob(t);
  const bytes = randomBytes(9 * 1024 * 1024 + 5);
  await blob.uploadData(bytes, { blockSize: 1024 * 1024, maxSingleShotSize: 1024 * 1024, concurrency: 8 });
  assert.equal((await blob.getBlockList("committed")).committedBlocks.length, 10);
  const read = await blob.downloadToBuffer(0, undefined, { blockSize: 1024 * 1024, concurrency: 8 });
  assert.ok(bytes.equals(read));
  const part = await blob.downloadToBuffer(1_000_000, 12_345);
  assert.ok(bytes.subarray(1_000_000, 1_012_345).equals(part));
});

test("listing flat, by hierarchy and by pages", async (t) => {
  const container = await newContainer(t);
  const names = ["a", "a/b", "a/c/d", "b", "ü/x"];
  for (const name of names) await put(container.getBlockBlobClient(name), name);
  assert.deepEqual(await collect(container.listBlobsFlat(), (item) => item.name), names);
  assert.deepEqual(await collect(container.listBlobsFlat({ prefix: "a/" }), (item) => item.name), ["a/b", "a/c/d"]);
  const top = await collect(container.listBlobsByHierarchy("/"), (item) => `${item.kind} ${item.name}`);
  assert.deepEqual(top.sort(), ["blob a", "blob b", "prefix a/", "prefix ü/"]);
  const pages = await collect(container.listBlobsFlat().byPage({ maxPageSize: 2 }), (page) =>
    page.segment.blobItems.map((item) => item.name),
  );
  assert.deepEqual(pages, [["a", "a/b"], ["a/c/d", "b"], ["ü/x"]]);
});

test("snapshots", async (t) => {
  const blob = await newBlob(t, "one");
  const { snapshot } = await blob.createSnapshot();
  await put(blob, "two");
  assert.equal(await content(blob.withSnapshot(snapshot)), "one");
  await refused(409, "SnapshotsPresent", blob.delete());
  await blob.delete({ deleteSnapshots: "include" });
});

test("metadata and content settings", async (t) => {
  const blob = await newBlob(t);
  await put(blob, "x", { metadata: { hello: "world" }, blobHTTPHeaders: { blobContentType: "text/plain" } });
  const told = await blob.getProperties();
  assert.deepEqual([told.metadata, told.contentType, told.contentLength], [{ hello: "world" }, "text/plain", 1]);
});

test("signatures", async (t) => {
  const blob = await newBlob(t, "content");
  const expiresOn = new Date(Date.now() + 3_600_000);
  const read = new BlockBlobClient(await blob.generateSasUrl({ permissions: BlobSASPermissions.parse("r"), expiresOn }));
  assert.equal(await content(read), "content");
  await refused(403, "AuthorizationPermissionMismatch", put(read, "x"));
  const container = service.getContainerClient(blob.containerName);
  const url = await container.generateSasUrl({ permissions: ContainerSASPermissions.parse("rl"), expiresOn });
  assert.match(url, /sr=c/);
  const old = await blob.generateSasUrl({ permissions: BlobSASPermissions.parse("r"), expiresOn: new Date(Date.now() - 1) });
  await refused(403, "AuthenticationFailed", new BlockBlobClient(old).download());
  const account = new BlobServiceClient(service.generateAccountSasUrl(expiresOn));
  assert.ok((await account.getAccountInfo()).skuName);
});

test("CORS rules", async () => {
  const before = await service.getProperties();
  const rule = { allowedOrigins: "http://page.example", allowedMethods: "GET", allowedHeaders: "", exposedHeaders: "", maxAgeInSeconds: 5 };
  await service.setProperties({ cors: [rule] });
  assert.equal((await service.getProperties()).cors[0].allowedOrigins, "http://page.example");
  await service.setProperties({ cors: before.cors ?? [] });
});
