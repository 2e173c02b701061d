// What the tests of the File service share.
import dns from "node:dns";
import { ShareServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { newName } from "./target.mjs";

const { lookup } = dns;
export const connectionString = process.env.LAZULI_TEST_CONNECTION_STRING;
// A retry would hide what the server answered first.
export const options = { retryOptions: { maxTries: 1 } };
export const shares = ShareServiceClient.fromConnectionString(connectionString, options);

/** Protected, so that nothing is inherited where it is given to something new. */
export const SDDL = "O:SYG:SYD:PAI(A;;FA;;;SY)(A;;0x1200a9;;;BA)";

/** An empty share with a name of its own, gone after the test with its snapshots, leased or not. */
export async function newShare(test, how) {
  const share = shares.getShareClient(newName());
  await share.create(how);
  test.after(async () => {
    const all = { deleteSnapshots: "include-leased" };
    try {
      await share.deleteIfExists(all);
    } catch (refused) {
      if (refused.statusCode !== 412) throw refused;
      await share.getShareLeaseClient().breakLease();
      await share.deleteIfExists(all);
    }
  });
  return share;
}

export const fileOf = (share, path) => share.rootDirectoryClient.getFileClient(path);

/** A file with this content. */
export async function put(share, path, content) {
  const file = fileOf(share, path);
  await file.uploadData(Buffer.from(content));
  return file;
}

export const text = async (file) => (await file.downloadToBuffer()).toString();
export const hour = () => new Date(Date.now() + 3_600_000);

/** A client that addresses the account by the name of the host, as the real service is addressed: rename of this library loses the account of
 * a path. No name server knows the host. */
export function byHostName() {
  const field = (name) => new RegExp(`${name}=([^;]+)`).exec(connectionString)[1];
  const host = `${field("AccountName")}.file.localhost`;
  dns.lookup = (name, ...rest) => lookup(name === host ? "127.0.0.1" : name, ...rest);
  const credential = new StorageSharedKeyCredential(field("AccountName"), field("AccountKey"));
  return new ShareServiceClient(`http://${host}:${new URL(field("FileEndpoint")).port}`, credential, options);
}
