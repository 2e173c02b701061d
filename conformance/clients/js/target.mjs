// The server under test, found in the environment; `cargo xtask test js` puts it there.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { BlobSASPermissions, BlobServiceClient } from "@azure/storage-blob";

const { LAZULI_TEST_CONNECTION_STRING: connectionString, LAZULI_TEST_CLOCK_URL: clockUrl } = process.env;
if (!connectionString || !clockUrl) {
  throw new Error("no server: set LAZULI_TEST_CONNECTION_STRING and LAZULI_TEST_CLOCK_URL");
}

// A retry would hide what the server answered first.
export const service = BlobServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } });

/** A name that no container has yet. */
export const newName = () => "t" + randomUUID().replaceAll("-", "");

/** Let time pass for the server at this clock. */
export async function moveClock(url, seconds) {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify({ advance_ms: seconds * 1000 }) });
  assert.ok(answer.ok, await answer.text());
}

/** Let time pass for the server under test. */
export const advance = (seconds) => moveClock(clockUrl, seconds);

/** An empty container with a name of its own, gone after the test, leased or not. */
export async function newContainer(test) {
  const container = service.getContainerClient(newName());
  await container.create();
  test.after(async () => {
    try {
      await container.deleteIfExists();
    } catch (refused) {
      assert.equal(refused.statusCode, 412);
      await container.getBlobLeaseClient().breakLease(0);
      await container.delete();
    }
  });
  return container;
}

/** A blob with this content in a container of its own. */
export async function newBlob(test, content) {
  const blob = (await newContainer(test)).getBlockBlobClient("blob");
  if (content !== undefined) await blob.upload(content, Buffer.byteLength(content));
  return blob;
}

/** Everything that pages of a listing hold. */
export async function collect(pages, pick = (item) => item) {
  const found = [];
  for await (const item of pages) found.push(pick(item));
  return found;
}

/** The address of a blob with a signature to read it. */
export const signed = (blob, letters = "r") =>
  blob.generateSasUrl({ permissions: BlobSASPermissions.parse(letters), expiresOn: new Date(Date.now() + 3_600_000) });

export const put = (blob, content, options) => blob.upload(content, Buffer.byteLength(content), options);
export const content = async (blob) => (await blob.downloadToBuffer()).toString();

/** What the service must refuse, and exactly how. */
export async function refused(status, code, asked) {
  await assert.rejects(asked, (error) => {
    assert.deepEqual([error.statusCode, error.code], [status, code], error.message);
    return true;
  });
}
