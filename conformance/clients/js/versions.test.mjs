// Versions of blobs, and what can be brought back: blobs, snapshots, versions, containers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, content, newName, put, refused } from "./target.mjs";
import { start, without } from "./server.mjs";

const RETENTION = { deleteRetentionPolicy: { enabled: true, days: 3 } };

async function box(t, flags) {
  const server = await start(t, flags);
  const container = server.service.getContainerClient(newName());
  await container.create();
  return { ...server, container, blob: container.getBlockBlobClient("blob") };
}

const states = (container, options) =>
  collect(container.listBlobsFlat(options), (item) => `${item.name}${item.isCurrentVersion ? " current" : ""}${item.deleted ? " deleted" : ""}`);

test("versions are read, promoted and deleted", { skip: without }, async (t) => {
  const { container, blob } = await box(t, ["--features", "versioning"]);
  const versions = [];
  for (const text of ["one", "two", "three"]) versions.push((await put(blob, text)).versionId);
  const marked = await blob.setMetadata({ n: "4" });
  assert.notEqual(marked.versionId, versions[2]);
  assert.equal(await content(blob.withVersion(versions[0])), "one");
  const listed = await collect(container.listBlobsFlat({ includeVersions: true }), (item) => [item.versionId, item.isCurrentVersion ?? false]);
  assert.deepEqual(listed, [...versions.map((id) => [id, false]), [marked.versionId, true]]);

  await blob.delete();
  assert.equal(await blob.exists(), false);
  assert.deepEqual(await states(container), []);
  assert.deepEqual(await states(container, { includeDeletedWithVersions: true }), ["blob"]);
  await (await blob.beginCopyFromURL(blob.withVersion(versions[1]).url)).pollUntilDone();
  assert.equal(await content(blob), "two");

  await blob.withVersion(versions[0]).delete();
  await refused(404, "BlobNotFound", blob.withVersion(versions[0]).download());
  assert.equal((await blob.withVersion(versions[2]).setAccessTier("Cool"))._response.status, 200);
  assert.equal((await blob.withVersion(versions[2]).getProperties()).accessTier, "Cool");
  await blob.withVersion(versions[2]).setTags({ a: "b" });
  assert.deepEqual((await blob.withVersion(versions[2]).getTags()).tags, { a: "b" });
  assert.deepEqual((await blob.getTags()).tags, {});
});

test("what is deleted can be brought back", { skip: without }, async (t) => {
  const { service, container, blob, advance } = await box(t, []);
  await service.setProperties(RETENTION);
  assert.equal((await service.getProperties()).deleteRetentionPolicy.days, 3);
  await put(blob, "kept", { metadata: { a: "b" } });
  const { snapshot } = await blob.createSnapshot();
  await blob.delete({ deleteSnapshots: "include" });
  await refused(404, "BlobNotFound", blob.download());
  assert.deepEqual(await states(container), []);
  assert.deepEqual(await states(container, { includeDeleted: true, includeSnapshots: true }), ["blob deleted", "blob deleted"]);
  const [shown] = await collect(container.listBlobsFlat({ includeDeleted: true }));
  assert.equal(shown.properties.remainingRetentionDays, 2);
  await blob.undelete();
  assert.deepEqual([await content(blob), (await blob.getProperties()).metadata], ["kept", { a: "b" }]);
  assert.equal(await content(blob.withSnapshot(snapshot)), "kept");

  await put(blob, "replaced");
  const [old] = (await collect(container.listBlobsFlat({ includeDeleted: true, includeSnapshots: true }))).filter((item) => item.deleted);
  assert.ok(old.snapshot, "what was overwritten is a deleted snapshot");
  await blob.undelete();
  assert.equal(await content(blob.withSnapshot(old.snapshot)), "kept");

  await blob.delete({ deleteSnapshots: "include" });
  await advance(840);
  await blob.undelete();
  assert.equal(await content(blob), "replaced");
});

test("a deleted version of an account that has both", { skip: without }, async (t) => {
  const { service, container, blob } = await box(t, ["--features", "versioning"]);
  await service.setProperties(RETENTION);
  const { versionId } = await put(blob, "one");
  await put(blob, "two");
  await blob.withVersion(versionId).delete();
  assert.deepEqual(await states(container, { includeVersions: true }), ["blob current"]);
  assert.deepEqual(await states(container, { includeVersions: true, includeDeleted: true }), ["blob deleted", "blob current"]);
  await blob.undelete();
  assert.equal(await content(blob.withVersion(versionId)), "one");
});

test("containers", { skip: without }, async (t) => {
  const { service, container, blob } = await box(t, ["--features", "containerSoftDelete=7"]);
  await put(blob, "kept");
  await container.delete();
  assert.equal(await container.exists(), false);
  const prefix = container.containerName;
  assert.deepEqual(await collect(service.listContainers({ prefix })), []);
  const [deleted] = await collect(service.listContainers({ prefix, includeDeleted: true }));
  assert.deepEqual([deleted.deleted, deleted.properties.remainingRetentionDays], [true, 6]);
  const { containerClient } = await service.undeleteContainer(deleted.name, deleted.version);
  assert.equal(await content(containerClient.getBlockBlobClient("blob")), "kept");
});
