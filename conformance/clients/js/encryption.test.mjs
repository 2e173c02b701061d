// Customer-provided keys, encryption scopes, and content that is validated by CRC-64 on its way.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { collect, content, newContainer, newName, put, refused } from "./target.mjs";
import { start, without } from "./server.mjs";

function key(byte) {
  const secret = Buffer.alloc(32, byte);
  const encryptionKeySha256 = createHash("sha256").update(secret).digest("base64");
  return { customerProvidedKey: { encryptionKey: secret.toString("base64"), encryptionKeySha256, encryptionAlgorithm: "AES256" } };
}

async function newBox(service, options) {
  const container = service.getContainerClient(newName());
  await container.create(options);
  return container;
}

test("a customer's key", { skip: without }, async (t) => {
  const { service } = await start(t, [], { tls: true });
  const container = await newBox(service);
  const blob = container.getBlockBlobClient("blob");
  const bytes = randomBytes(3 * 1024 * 1024 + 1);
  await blob.upload(bytes, bytes.length, key(1));
  assert.ok(bytes.equals(await blob.downloadToBuffer(0, undefined, key(1))));
  assert.ok(bytes.subarray(70_000, 80_000).equals(await blob.downloadToBuffer(70_000, 10_000, key(1))));
  const told = await blob.getProperties(key(1));
  assert.equal(told.encryptionKeySha256, key(1).customerProvidedKey.encryptionKeySha256);
  await refused(409, "BlobUsesCustomerSpecifiedEncryption", blob.download());
  await refused(409, "BlobCustomerSpecifiedEncryptionMismatch", blob.download(0, undefined, key(2)));
  await refused(409, "BlobUsesCustomerSpecifiedEncryption", blob.setMetadata({ a: "b" }));
  await blob.setMetadata({ a: "b" }, key(1));
  const { snapshot } = await blob.createSnapshot(key(1));
  assert.ok(bytes.equals(await blob.withSnapshot(snapshot).downloadToBuffer(0, undefined, key(1))));

  // By hand: `uploadData` of this client does not send the key with its blocks.
  await blob.stageBlock("AAAA", "block", 5, key(1));
  await refused(409, "BlobUsesCustomerSpecifiedEncryption", blob.commitBlockList(["AAAA"]));
  await blob.commitBlockList(["AAAA"], key(1));
  assert.equal((await blob.downloadToBuffer(0, undefined, key(1))).toString(), "block");

  const log = container.getAppendBlobClient("log");
  await log.create(key(1));
  await log.appendBlock("line", 4, key(1));
  await refused(409, "BlobUsesCustomerSpecifiedEncryption", log.appendBlock("line", 4));
  assert.equal((await log.downloadToBuffer(0, undefined, key(1))).toString(), "line");
  const disk = container.getPageBlobClient("disk");
  await disk.create(1024, key(1));
  await disk.uploadPages(Buffer.alloc(512, "p"), 512, 512, key(1));
  const read = await disk.downloadToBuffer(0, undefined, key(1));
  assert.ok(Buffer.concat([Buffer.alloc(512), Buffer.alloc(512, "p")]).equals(read));

  const plain = container.getBlockBlobClient("plain");
  await put(plain, "plain");
  await refused(409, "BlobDoesNotUseCustomerSpecifiedEncryption", plain.download(0, undefined, key(1)));
});

test("encryption scopes", { skip: without }, async (t) => {
  const { service } = await start(t, ["--features", "encryptionScope=red,encryptionScope=blue"]);
  const container = await newBox(service);
  const blob = container.getBlockBlobClient("blob");
  assert.equal((await put(blob, "bytes", { encryptionScope: "red" })).encryptionScope, "red");
  assert.equal((await blob.getProperties()).encryptionScope, "red");
  assert.deepEqual(await collect(container.listBlobsFlat(), (item) => item.properties.encryptionScope), ["red"]);
  assert.equal(await content(blob), "bytes");
  await refused(409, "EncryptionScopeNotAvailable", put(blob, "bytes", { encryptionScope: "green" }));
  const scope = { defaultEncryptionScope: "blue", preventEncryptionScopeOverride: true };
  const blue = await newBox(service, { containerEncryptionScope: scope });
  const told = await blue.getProperties();
  assert.deepEqual([told.defaultEncryptionScope, told.denyEncryptionScopeOverride], ["blue", true]);
  const within = blue.getBlockBlobClient("blob");
  assert.equal((await put(within, "bytes")).encryptionScope, "blue");
  await refused(403, "RequestForbiddenByContainerEncryptionPolicy", put(within, "bytes", { encryptionScope: "red" }));
});

const FORM = "XSM/1.0; properties=crc64";
const checked = { contentChecksumAlgorithm: "StorageCrc64" };

/** That bodies went in this form, in the request and in the answer. */
async function structured(asked) {
  const { _response } = await asked;
  const forms = [_response.request.headers.get("x-ms-structured-body"), _response.headers.get("x-ms-structured-body")];
  assert.deepEqual(forms, [FORM, FORM]);
}

test("structured bodies with CRC-64, both ways", async (t) => {
  const container = await newContainer(t);
  const bytes = randomBytes(5 * 1024 * 1024 + 3);
  const blob = container.getBlockBlobClient("blob");
  await structured(blob.upload(bytes, bytes.length, checked));
  await structured(blob.download(0, undefined, checked));
  assert.ok(bytes.equals(await blob.downloadToBuffer(0, undefined, checked)));
  assert.ok(bytes.subarray(4_100_000, 4_300_000).equals(await blob.downloadToBuffer(4_100_000, 200_000, checked)));
  await structured(blob.stageBlock("AAAA", bytes, bytes.length, checked));
  await blob.commitBlockList(["AAAA"]);
  assert.ok(bytes.equals(await blob.downloadToBuffer()));
  const log = container.getAppendBlobClient("log");
  await log.create();
  await structured(log.appendBlock(bytes.subarray(0, 999), 999, checked));
  assert.ok(bytes.subarray(0, 999).equals(await log.downloadToBuffer()));
  const disk = container.getPageBlobClient("disk");
  await disk.create(1024);
  await structured(disk.uploadPages(bytes.subarray(0, 512), 512, 512, checked));
  assert.ok(bytes.subarray(0, 512).equals(await disk.downloadToBuffer(512, 512)));
});

test("the CRC-64 of a range", async (t) => {
  const container = await newContainer(t);
  const blob = container.getBlockBlobClient("blob");
  await put(blob, "x123456789x");
  const { contentCrc64 } = await blob.download(1, 9, { rangeGetContentCrc64: true });
  // The check value of CRC-64/NVME, little endian.
  assert.equal(Buffer.from(contentCrc64).toString("hex"), "8898790a86148bae");
});
