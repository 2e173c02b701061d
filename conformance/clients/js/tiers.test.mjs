// Access tiers and the way out of the archive; immutability policies and legal holds; tags in conditions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, content, newBlob, newName, put, refused } from "./target.mjs";
import { start, without } from "./server.mjs";

test("tiers", async (t) => {
  const blob = await newBlob(t);
  await put(blob, "data", { tier: "Cold" });
  assert.equal((await blob.getProperties()).accessTier, "Cold");
  const { etag } = await blob.getProperties();
  for (const tier of ["Cool", "Hot", "Archive"]) {
    await blob.setAccessTier(tier);
    const told = await blob.getProperties();
    assert.deepEqual([told.accessTier, told.accessTierInferred, told.etag], [tier, undefined, etag]);
    assert.ok(told.accessTierChangedOn);
  }
  await refused(409, "BlobArchived", blob.download());
});

test("rehydration ends by the clock, and can be hurried", { skip: without }, async (t) => {
  const { service, advance } = await start(t, ["--rehydrationTime", "100"]);
  const container = service.getContainerClient(newName());
  await container.create();
  const [slow, fast] = ["slow", "fast"].map((name) => container.getBlockBlobClient(name));
  for (const blob of [slow, fast]) {
    await put(blob, "data");
    await blob.setAccessTier("Archive");
    const { _response } = await blob.setAccessTier("Hot", { rehydratePriority: "Standard" });
    assert.equal(_response.status, 202);
  }
  await fast.setAccessTier("Hot", { rehydratePriority: "High" });
  const told = await fast.getProperties();
  assert.deepEqual([told.accessTier, told.archiveStatus, told.rehydratePriority], ["Archive", "rehydrate-pending-to-hot", "High"]);
  await refused(409, "BlobBeingRehydrated", slow.setAccessTier("Cool"));
  await advance(50);
  assert.equal(await content(fast), "data");
  const listed = await collect(container.listBlobsFlat(), ({ name, properties }) => [name, properties.accessTier, properties.archiveStatus]);
  assert.deepEqual(listed, [["fast", "Hot", undefined], ["slow", "Archive", "rehydrate-pending-to-hot"]]);
  await advance(60);
  assert.equal(await content(slow), "data");
});

test("out of the archive by a copy", { skip: without }, async (t) => {
  const { service } = await start(t);
  const container = service.getContainerClient(newName());
  await container.create();
  const blob = container.getBlockBlobClient("blob");
  await put(blob, "data", { tier: "Archive" });
  const copy = container.getBlockBlobClient("copy");
  await (await copy.beginCopyFromURL(blob.url, { tier: "Hot", rehydratePriority: "High" })).pollUntilDone();
  assert.equal(await content(copy), "data");
  await refused(409, "BlobArchived", blob.download());
});

test("what is held stays", { skip: without }, async (t) => {
  const { service, advance } = await start(t, ["--features", "immutability"]);
  const container = service.getContainerClient(newName());
  await container.create();
  const blob = container.getBlockBlobClient("blob");
  const until = (seconds) => new Date(Date.now() + seconds * 1000);
  await put(blob, "data", { legalHold: true, immutabilityPolicy: { expiriesOn: until(600), policyMode: "unlocked" } });
  const told = await blob.getProperties();
  assert.deepEqual([told.legalHold, told.immutabilityPolicyMode], [true, "unlocked"]);
  const options = { includeLegalHold: true, includeImmutabilityPolicy: true };
  const [listed] = await collect(container.listBlobsFlat(options), (item) => item.properties);
  assert.deepEqual([listed.legalHold, listed.immutabilityPolicyMode], [true, "unlocked"]);
  await refused(409, "BlobImmutableDueToLegalHold", blob.delete());
  assert.equal((await blob.setLegalHold(false)).legalHold, false);
  await refused(409, "BlobImmutableDueToPolicy", blob.delete());
  await blob.deleteImmutabilityPolicy();
  assert.equal((await blob.getProperties()).immutabilityPolicyMode, undefined);

  await blob.setImmutabilityPolicy({ expiriesOn: until(100), policyMode: "Unlocked" });
  const locked = await blob.setImmutabilityPolicy({ expiriesOn: until(200), policyMode: "Locked" });
  assert.equal(locked.immutabilityPolicyMode, "locked");
  await refused(409, "ImmutabilityPolicyDeleteOnLockedPolicy", blob.deleteImmutabilityPolicy());
  await refused(409, "BlobImmutableDueToPolicy", blob.setImmutabilityPolicy({ expiriesOn: until(100), policyMode: "Locked" }));
  await advance(210);
  await blob.delete();
});

test("a plain account takes no hold", async (t) => {
  const blob = await newBlob(t);
  await refused(400, "UnsupportedHeader", put(blob, "data", { legalHold: true }));
  assert.equal(await blob.exists(), false);
});

test("tags, and conditions on them", async (t) => {
  const blob = await newBlob(t);
  await put(blob, "one", { tags: { year: "2026", kind: "a b" } });
  const { etag } = await blob.getProperties();
  assert.deepEqual((await blob.getTags()).tags, { year: "2026", kind: "a b" });
  const when = { conditions: { tagConditions: "\"year\" = '2026' AND kind > 'a'" } };
  assert.equal((await blob.download(0, undefined, when)).tagCount, 2);
  await blob.setTags({ year: "2027" }, when);
  await refused(412, "ConditionNotMet", blob.setTags({ never: "set" }, when));
  await refused(412, "ConditionNotMet", put(blob, "two", when));
  assert.equal((await blob.getProperties()).etag, etag, "tags leave the ETag");
  const tags = Object.fromEntries(Array.from({ length: 11 }, (_, number) => [`n${number}`, "x"]));
  await refused(400, "TagsTooLarge", blob.setTags(tags));
  assert.deepEqual((await blob.getTags()).tags, { year: "2027" });
});
