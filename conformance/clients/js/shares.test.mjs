// Shares as the official JavaScript client sees them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { advance, collect, refused } from "./target.mjs";
import { byHostName, fileOf, newShare, put, SDDL, shares, text } from "./shares.mjs";

test("create, create again, properties, delete", async (t) => {
  const share = await newShare(t, { metadata: { colour: "blue" }, quota: 3 });
  await refused(409, "ShareAlreadyExists", () => share.create());
  assert.equal((await share.createIfNotExists()).succeeded, false);
  const told = await share.getProperties();
  assert.deepEqual([told.quota, told.metadata, told.accessTier], [3, { colour: "blue" }, "TransactionOptimized"]);
  await share.setQuota(5);
  await share.setProperties({ accessTier: "Cool" });
  await share.setMetadata({ shape: "round" });
  const after = await share.getProperties();
  assert.deepEqual([after.quota, after.accessTier, after.metadata], [5, "Cool", { shape: "round" }]);
  assert.notEqual(after.etag, told.etag);
  await put(share, "file", "12345");
  assert.equal((await share.getStatistics()).shareUsageBytes, 5);
  await share.delete();
  assert.equal(await share.exists(), false);
  await refused(404, "ShareNotFound", () => share.getProperties());
});

test("listing by pages", async (t) => {
  const prefix = "l" + randomUUID().slice(0, 8);
  const names = ["a", "b", "c"].map((letter) => `${prefix}-${letter}`);
  for (const name of names) await shares.createShare(name, { metadata: { own: name } });
  t.after(() => Promise.all(names.map((name) => shares.deleteShare(name, { deleteSnapshots: "include" }))));
  const { snapshot } = await shares.getShareClient(names[1]).createSnapshot();
  const found = await collect(shares.listShares({ prefix, includeMetadata: true }));
  assert.deepEqual(found.map((share) => [share.name, share.metadata.own]), names.map((name) => [name, name]));
  const pages = await collect(shares.listShares({ prefix }).byPage({ maxPageSize: 2 }), (page) => page.shareItems.map((share) => share.name));
  assert.deepEqual(pages, [names.slice(0, 2), names.slice(2)]);
  const all = await collect(shares.listShares({ prefix, includeSnapshots: true }), (share) => [share.name, share.snapshot]);
  assert.equal(all.length, 4);
  assert.ok(all.some(([name, moment]) => name === names[1] && moment === snapshot));
});

test("stored access policies and permissions", async (t) => {
  const share = await newShare(t);
  const policy = { permissions: "rl", startsOn: new Date("2026-01-02T03:04:05Z"), expiresOn: new Date("2027-01-02T03:04:05Z") };
  await share.setAccessPolicy([{ id: "reader", accessPolicy: policy }]);
  const { signedIdentifiers } = await share.getAccessPolicy();
  assert.deepEqual(signedIdentifiers, [{ id: "reader", accessPolicy: policy }]);
  const { filePermissionKey } = await share.createPermission(SDDL);
  assert.ok((await share.getPermission(filePermissionKey)).permission.startsWith(SDDL));
  const binary = await share.getPermission(filePermissionKey, { filePermissionFormat: "Binary" });
  const again = await share.createPermission({ permission: binary.permission, format: "binary" });
  assert.equal(again.filePermissionKey, filePermissionKey);
  await refused(400, "FileInvalidPermission", () => share.createPermission("nonsense"));
});

test("snapshots", async (t) => {
  const share = await newShare(t);
  const file = await put(share, "file", "old");
  const { snapshot } = await share.createSnapshot({ metadata: { kept: "yes" } });
  await put(share, "file", "newer");
  const old = share.withSnapshot(snapshot);
  assert.deepEqual((await old.getProperties()).metadata, { kept: "yes" });
  assert.equal(await text(file.withShareSnapshot(snapshot)), "old");
  assert.equal(await text(file), "newer");
  await refused(409, "ShareHasSnapshots", () => share.delete());
  await old.delete();
  await refused(404, "ShareNotFound", () => old.getProperties());
  await share.delete();
});

test("leases of shares", async (t) => {
  const share = await newShare(t);
  const lease = share.getShareLeaseClient();
  await lease.acquireLease(15);
  await refused(409, "LeaseAlreadyPresent", () => share.getShareLeaseClient().acquireLease(15));
  await lease.changeLease(randomUUID());
  await refused(412, "LeaseIdMissing", () => share.delete());
  assert.deepEqual([(await share.getProperties()).leaseState, (await share.getProperties()).leaseDuration], ["leased", "fixed"]);
  await advance(16);
  assert.equal((await share.getProperties()).leaseState, "expired");
  const other = share.getShareLeaseClient();
  await other.acquireLease(-1);
  await other.releaseLease();
  await other.acquireLease(60);
  await other.breakLease();
  assert.equal((await share.getProperties()).leaseState, "breaking");
  await advance(61);
  assert.equal((await share.getProperties()).leaseState, "broken");
});

test("leases of files", async (t) => {
  const share = await newShare(t);
  const file = await put(share, "file", "content");
  const lease = file.getShareLeaseClient();
  const { leaseId } = await lease.acquireLease();
  assert.deepEqual([(await file.getProperties()).leaseState, (await file.getProperties()).leaseDuration], ["leased", "infinite"]);
  await refused(412, "LeaseIdMissing", () => file.delete());
  await refused(412, "LeaseIdMissing", () => file.uploadRange("x", 0, 1));
  await refused(412, "LeaseIdMismatchWithFileOperation", () => file.resize(3, { leaseAccessConditions: { leaseId: randomUUID() } }));
  await file.resize(3, { leaseAccessConditions: { leaseId } });
  await lease.breakLease();
  await refused(412, "LeaseLost", () => file.resize(4, { leaseAccessConditions: { leaseId } }));
  await file.delete();
});

test("service properties", async (t) => {
  const rule = { allowedOrigins: "http://one.example", allowedMethods: "GET", allowedHeaders: "*", exposedHeaders: "*", maxAgeInSeconds: 9 };
  t.after(() => shares.setProperties({ cors: [], hourMetrics: { version: "1.0", enabled: false, retentionPolicy: { enabled: false } } }));
  const metrics = { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: { enabled: true, days: 3 } };
  await shares.setProperties({ cors: [rule], hourMetrics: metrics, protocol: { smb: { multichannel: { enabled: true } } } });
  const told = await shares.getProperties();
  assert.deepEqual([told.cors, told.hourMetrics], [[rule], metrics]);
  assert.equal(told.protocol.smb.multichannel.enabled, true);
});

test("two clients, one lease, one name", async (t) => {
  const share = await newShare(t);
  const file = await put(share, "file", "content");
  const crowd = (work) => Promise.all(Array.from({ length: 12 }, (_, index) => work(index).then(() => "done", (error) => error.code)));
  const leased = await crowd(() => file.getShareLeaseClient().acquireLease());
  assert.deepEqual(leased.sort(), ["done", ...Array(11).fill("LeaseAlreadyPresent")].sort());
  await file.getShareLeaseClient().breakLease();
  const made = await crowd(() => share.createDirectory("dir"));
  assert.deepEqual(made.sort(), ["done", ...Array(11).fill("ResourceAlreadyExists")].sort());
  const source = fileOf(byHostName().getShareClient(share.name), "file");
  const renamed = await crowd((index) => source.rename(`r${index}`));
  assert.deepEqual(renamed.sort(), ["done", ...Array(11).fill("ResourceNotFound")].sort());
});
