// Blob Batch as this client sends it: in path style the batch of the service says `restype=container`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, newContainer, put, service } from "./target.mjs";

const names = (container) => collect(container.listBlobsFlat(), (item) => item.name);

for (const level of ["service", "container"]) {
  test(`many blobs deleted and moved in one request of the ${level}`, async (t) => {
    const container = await newContainer(t);
    const blobs = ["one", "dir/two three", "ü"].map((name) => container.getBlockBlobClient(name));
    for (const blob of blobs) await put(blob, "data");
    const batches = (level === "service" ? service : container).getBlobBatchClient();
    const moved = await batches.setBlobsAccessTier(blobs, "Cool");
    assert.equal(moved.subResponsesSucceededCount, blobs.length);
    for (const blob of blobs) assert.equal((await blob.getProperties()).accessTier, "Cool");
    const missing = container.getBlockBlobClient("missing");
    const deleted = await batches.deleteBlobs([blobs[0], missing, blobs[1]]);
    assert.deepEqual(deleted.subResponses.map((answer) => answer.status), [202, 404, 202]);
    assert.equal(deleted.subResponses[1].errorCode, "BlobNotFound");
    assert.deepEqual(await names(container), ["ü"]);
  });
}

test("blobs are found by their tags", async (t) => {
  const container = await newContainer(t);
  const kind = container.containerName;
  for (const name of ["a", "b", "c"]) {
    await container.getBlockBlobClient(name).upload("", 0, { tags: { kind, name } });
  }
  for (const place of [service, container]) {
    const found = [];
    for await (const page of place.findBlobsByTags(`kind='${kind}' AND name>'a'`).byPage({ maxPageSize: 1 })) {
      found.push(...page.blobs.map((blob) => `${blob.containerName}/${blob.name} ${blob.tags.name}`));
    }
    assert.deepEqual(found, [`${kind}/b b`, `${kind}/c c`]);
  }
});
